"""Copilot CLI's event shapes: one line of bytes in, the few fields that mean something out.

The gap this closes: results, hook inputs and reasoning are most of a log's bytes and
nobody counts them. The decision: one struct for all events, whose bodies stay
undecoded; a line that msgspec refuses (a lone surrogate, a field of an unforeseen
type) is read again, slower, and keeps those fields that fit.

What it does not do: it gives no event a meaning.
"""

import json
from typing import Annotated, Any

import msgspec

from githarness import canon
from githarness.formats.payload import visible

# A count beyond what any JSON writer keeps exact is no count.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

# Events that hold nothing a count needs.
QUIET = frozenset({
    "session.info", "session.warning", "session.idle", "session.title_changed", "session.mode_changed",
    "session.plan_changed", "session.workspace_file_changed", "session.context_changed",
    "session.usage_info", "session.usage_checkpoint", "session.auto_mode_resolved", "session.handoff",
    "session.snapshot_rewind", "session.compaction_start", "session.truncation",
    "session.remote_steerable_changed", "assistant.intent", "assistant.reasoning",
    "assistant.reasoning_delta", "assistant.message_delta", "assistant.streaming_delta", "assistant.usage",
    "tool.execution_partial_result", "tool.execution_progress", "skill.invoked", "subagent.selected",
    "subagent.deselected", "hook.start", "hook.end", "pending_messages.modified",
})  # fmt: skip
KNOWN = QUIET | frozenset({
    "session.start", "session.resume", "session.model_change", "session.compaction_complete",
    "session.error", "session.task_complete", "session.shutdown", "user.message", "system.message",
    "system.notification", "assistant.turn_start", "assistant.turn_end", "assistant.message",
    "tool.user_requested", "tool.execution_start", "tool.execution_complete", "subagent.started",
    "subagent.completed", "subagent.failed", "permission.requested", "permission.completed", "abort",
})  # fmt: skip


class Request(msgspec.Struct, rename="camel"):
    """One call that a response asks for."""

    tool_call_id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


class Context(msgspec.Struct):
    """Where a session runs."""

    cwd: str | None = None
    branch: str | None = None


class Result(msgspec.Struct):
    """What a tool gave back, or how a permission was answered."""

    content: msgspec.Raw = msgspec.Raw()
    kind: str | None = None


class Failure(msgspec.Struct):
    """Why a tool failed."""

    message: str | None = None
    code: str | None = None


class Asked(msgspec.Struct, rename="camel"):
    """What a permission was asked for."""

    tool_call_id: str | None = None


class Usage(msgspec.Struct, rename="camel"):
    """Tokens of one model; input includes what a cache gave."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0


class Metric(msgspec.Struct):
    """What one model was used for."""

    usage: Usage | None = None


class Data(msgspec.Struct, rename="camel"):
    """Those fields of any event that mean something here."""

    session_id: str | None = None
    copilot_version: str | None = None
    selected_model: str | None = None
    context: Context | None = None
    new_model: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    role: str | None = None
    source: str | None = None
    delivery: str | None = None
    model: str | None = None
    message_id: str | None = None
    api_call_id: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    tool_requests: list[Request] | None = None
    tool_call_id: str | None = None
    parent_tool_call_id: str | None = None
    parent_agent_task_id: str | None = None
    tool_name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    success: bool | None = None
    result: Result | None = None
    error: Failure | None = None
    request_id: str | None = None
    permission_request: Asked | None = None
    shutdown_type: str | None = None
    model_metrics: dict[str, Metric] | None = None
    token_details: msgspec.Raw = msgspec.Raw()


class Line(msgspec.Struct, rename="camel"):
    """One event."""

    type: str = ""
    data: Data | None = None
    timestamp: str | None = None
    agent_id: str | None = None


_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def read(record: bytes) -> Line | None:
    """Decode one record, or None when it is no JSON object."""
    try:
        return _LINE.decode(canon.shallow(record))
    except (ValueError, RecursionError):
        pass  # a lone surrogate, or a field of an unforeseen type: slower, and field by field
    try:
        value = canon.read(record)
        if not isinstance(value, dict):
            return None
        plain = json.loads(visible(value))
    except (ValueError, RecursionError):
        return None
    return _fitted(plain)


def _fitted(value: dict[str, Any]) -> Line:
    """Keep those fields that have the type they should; the others stay unknown."""
    data = value.get("data")
    fields = {field.encode_name: field for field in msgspec.structs.fields(Data)}
    known = (data if isinstance(data, dict) else {}).items()
    found = {fields[key].name: _field(fields[key].type, item) for key, item in known if key in fields}
    rest = {key: value.get(name) for key, name in (("timestamp", "timestamp"), ("agent_id", "agentId"))}
    return Line(
        type=str(value.get("type") or ""),
        data=Data(**{key: item for key, item in found.items() if item is not None}),
        **{key: item for key, item in rest.items() if isinstance(item, str)},
    )


def _field(kind: Any, value: Any) -> Any:
    if kind is msgspec.Raw:
        return msgspec.Raw(json.dumps(value).encode())
    try:
        return msgspec.json.decode(json.dumps(value).encode(), type=kind)
    except msgspec.DecodeError:
        return None


def parse(raw: msgspec.Raw) -> Any:
    """Parse a body; None where it is absent or, on a closer look, no JSON."""
    data = bytes(raw)
    if not data:
        return None
    try:
        return canon.read(data)
    except ValueError:
        return None
