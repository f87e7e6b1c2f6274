"""One model call as telemetry tells it: messages in, messages out, tools, tokens, an end.

The gap this closes: the same call is a span with JSON in strings, a span with one event
a message (before 1.37), or a generation with its arguments in base64. The decision: all
lower to one `Inference`; a string that was cut by an attribute limit is no JSON, says
so, and is never guessed at.

What it does not do: it compares no call with another (histories repeat; the reader
knows), and re-encodes a tools array only where none was written as text.
"""

import base64
import binascii
from typing import Any

import msgspec

from githarness import canon
from githarness.formats.cut import Body
from githarness.formats.otel_spans import Span
from githarness.formats.payload import arguments, number, shown, spelled
from githarness.model.session import API_ERROR, COMPLETED, NO_OUTPUT, OUTPUT_BUDGET

_STOPS = {
    "stop": COMPLETED, "end_turn": COMPLETED, "stop_sequence": COMPLETED, "length": OUTPUT_BUDGET,
    "max_tokens": OUTPUT_BUDGET, "content_filter": NO_OUTPUT, "error": API_ERROR,
}  # fmt: skip
# One event a message, in the older convention; the last is the answer.
_SPOKEN = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.tool.message": "tool",
    "gen_ai.assistant.message": "assistant", "gen_ai.choice": "choice",
}  # fmt: skip
_USAGE = "gen_ai.usage."


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of a message: `kind` is text, call or result, or a stranger's own name."""

    kind: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    malformed: bool | None = False
    failed: bool | None = None


class Message(msgspec.Struct, frozen=True):
    """Who said what."""

    role: str
    parts: tuple[Part, ...]


class Inference(msgspec.Struct, frozen=True, kw_only=True):
    """One model call. `tools` are a tools array's bytes; `cut` names what was no JSON any more."""

    id: str
    model: str | None = None
    given: tuple[Message, ...] = ()
    said: tuple[Message, ...] = ()
    system: bytes = b""
    tools: bytes = b""
    reconstructed: bool = False
    tokens: tuple[int, int, int, int] | None = None
    stop: str | None = None
    failed: bool = False
    cut: tuple[str, ...] = ()


def of_span(span: Span) -> Inference:
    """Lower a span that is a model call."""
    found = dict(span.attributes)
    for event in span.events:
        if event.name not in _SPOKEN:
            found |= event.attributes
    read = {name: _json(found.get(f"gen_ai.{name}")) for name in ("input.messages", "output.messages")}
    given, said = _messages(read["input.messages"]), _messages(read["output.messages"])
    if not given and not said:
        given, said = _from_events(span)
    tools, reconstructed = _tools(found.get("gen_ai.tool.definitions"))
    cut = [name for name, value in read.items() if value is _CUT]
    cut += ["tool.definitions"] if tools == b"" and found.get("gen_ai.tool.definitions") else []
    return Inference(
        id=str(found.get("gen_ai.response.id") or span.id),
        model=found.get("gen_ai.response.model") or found.get("gen_ai.request.model"),
        given=given,
        said=said,
        system=_system(found.get("gen_ai.system_instructions"), given),
        tools=tools,
        reconstructed=reconstructed,
        tokens=_span_tokens(found),
        stop=_stop(found.get("gen_ai.response.finish_reasons")),
        failed=span.error is not None,
        cut=tuple(cut),
    )


def of_generation(body: Body) -> Inference:
    """Lower a generation record."""
    model, usage = body.get("model"), body.get("usage")
    named = model.get("name") if isinstance(model, dict) else None
    prompt = body.get("system_prompt")
    raw = body.raw("tools")
    return Inference(
        id=str(body.get("response_id") or body.get("id") or ""),
        model=body.get("response_model") or named,
        given=_messages(body.get("input")),
        said=_messages(body.get("output")),
        system=canon.utf8(prompt) if isinstance(prompt, str) else b"",
        tools=raw if raw.startswith(b"[") and raw.strip(b"[] \n\t\r") else b"",
        tokens=_generation_tokens(usage) if isinstance(usage, dict) else None,
        stop=_STOPS.get(str(body.get("stop_reason"))),
        failed=bool(body.get("call_error")),
    )


_CUT = "(cut)"


def _json(value: Any) -> Any:
    """Parse an attribute that holds JSON as text; `_CUT` when it is none."""
    if not isinstance(value, str):
        return value
    try:
        return canon.read(canon.utf8(value))
    except ValueError:
        return _CUT


def _tools(value: Any) -> tuple[bytes, bool]:
    """Return a tools array and whether it was put together here.

    An attribute that is a text holds the array as it was exported, so its own bytes are
    cited; one that is a list of values was never text.
    """
    parsed = _json(value)
    if not isinstance(parsed, list) or not parsed:
        return b"", False
    if isinstance(value, str):
        return canon.utf8(value.strip()), False
    if canon.depth_exceeds(parsed, canon.MAX_DEPTH):
        return b"", False
    return canon.compact(parsed, sort=False), True


def _system(value: Any, given: tuple[Message, ...]) -> bytes:
    """Return the prompt: instructions that stand apart, then system messages."""
    parsed = _json(value)
    texts = [part.text for part in _parts(parsed)] if isinstance(parsed, list) else []
    texts += [parsed] if isinstance(parsed, str) and parsed != _CUT else []
    texts += [part.text for message in given if message.role == "system" for part in message.parts]
    texts = [text for text in texts if text]
    if len(texts) > 1:
        return canon.compact(texts, sort=False)
    return canon.utf8(texts[0]) if texts else b""


def _messages(value: Any) -> tuple[Message, ...]:
    return tuple(_message(item) for item in _dicts(value))


def _message(item: dict[str, Any]) -> Message:
    role = str(item.get("role") or "").removeprefix("MESSAGE_ROLE_").lower()
    parts = item.get("parts", item.get("content"))
    found = _parts([{"text": parts}] if isinstance(parts, str) else parts)
    return Message("system" if role == "developer" else role, found)


def _parts(value: Any) -> tuple[Part, ...]:
    return tuple(_part(item) for item in _dicts(value))


def _part(item: dict[str, Any]) -> Part:
    """Lower one part, which names its type, or is told by the one member that it has."""
    kind = str(item.get("type") or next((key for key in _MEMBERS if key in item), ""))
    inner = item.get(kind)
    body = inner if isinstance(inner, dict) else item
    if kind == "text":
        text = item.get("content", item.get("text"))
        return Part(kind="text", text=text if isinstance(text, str) else "")
    if kind in ("tool_call", "server_tool_call"):
        return _call(body)
    if kind in _RESULTS:
        return _result(body)
    return Part(kind=kind or "part without a type")


def _call(body: dict[str, Any]) -> Part:
    given, malformed = arguments(body.get("arguments", _decoded(body.get("input_json"))))
    key, name = _text(body.get("id")), _text(body.get("name"))
    return Part(kind="call", id=key, name=name, input=given, malformed=malformed)


def _result(body: dict[str, Any]) -> Part:
    output = next((body[key] for key in _OUTPUTS if body.get(key) is not None), "")
    failed = body.get("is_error")
    key = _text(body.get("id")) or _text(body.get("tool_call_id"))
    text = output if isinstance(output, str) else spelled(output)
    return Part(kind="result", id=key, text=text, failed=failed if isinstance(failed, bool) else None)


_MEMBERS = ("text", "tool_call", "tool_result", "thinking")
_RESULTS = frozenset({"tool_call_response", "tool_result", "server_tool_call_response"})
_OUTPUTS = ("response", "result", "content", "content_json", "server_tool_call_response")


def _decoded(value: Any) -> Any:
    """Return arguments that a protocol buffer keeps as bytes, which are base64 in JSON."""
    if not isinstance(value, str) or value.lstrip().startswith("{"):
        return value
    try:
        return base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return value


def _from_events(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Read the older convention: an event for each message, the last for the answer."""
    given: list[Message] = []
    said: list[Message] = []
    for event in span.events:
        role = _SPOKEN.get(event.name)
        if role is not None:
            inner = _json(event.attributes.get("message"))
            body = inner if role == "choice" and isinstance(inner, dict) else event.attributes
            message = _event_message("assistant" if role == "choice" else role, body)
            (said if role == "choice" else given).append(message)
    return tuple(given), tuple(said)


def _event_message(role: str, body: dict[str, Any]) -> Message:
    content = body.get("content")
    if role == "tool":
        return Message(role, (Part(kind="result", id=_text(body.get("id")), text=shown(content)),))
    parts = [Part(kind="text", text=shown(content))] if content else []
    for call in _dicts(_json(body.get("tool_calls"))):
        function = call.get("function")
        if isinstance(function, dict):
            given, malformed = arguments(function.get("arguments"))
            key, name = _text(call.get("id")), _text(function.get("name"))
            parts.append(Part(kind="call", id=key, name=name, input=given, malformed=malformed))
    return Message(role, tuple(parts))


def _span_tokens(found: dict[str, Any]) -> tuple[int, int, int, int] | None:
    """Return tokens; the convention counts what a cache gave as input."""
    sent = found.get(f"{_USAGE}input_tokens", found.get(f"{_USAGE}prompt_tokens"))
    written = found.get(f"{_USAGE}output_tokens", found.get(f"{_USAGE}completion_tokens"))
    if sent is None and written is None:
        return None
    read = number(found, f"{_USAGE}cache_read.input_tokens")
    write = number(found, f"{_USAGE}cache_creation.input_tokens")
    return number({"n": sent}, "n"), number({"n": written}, "n"), read, write


def _generation_tokens(usage: dict[str, Any]) -> tuple[int, int, int, int]:
    """Return tokens, which are strings; whether input holds the cache's share, the total tells."""
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_write_input_tokens")
    sent, written, read, write = (_count(usage.get(name)) for name in names)
    if _count(usage.get("total_tokens")) == sent + written + read + write:
        sent += read + write
    return sent, written, read, write


def _count(value: Any) -> int:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 16 else 0


def _stop(reasons: Any) -> str | None:
    listed = _json(reasons)
    last = listed[-1] if isinstance(listed, list) and listed else reasons
    return _STOPS.get(str(last))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
