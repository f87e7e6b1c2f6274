"""What single Codex records say, whatever their age: types, names, arguments, texts.

What it does not do: it remembers nothing from one record to the next.
"""

from typing import Any

from githarness import canon

# Types that say nothing we count, so that the others stand out.
QUIET_RECORDS = frozenset({"world_state", "inter_agent_communication_metadata", "session_state"})
QUIET_ITEMS = frozenset({"ghost_snapshot", "compaction", "context_compaction", "compaction_summary"})
QUIET_EVENTS = frozenset(
    {
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "background_event",
        "context_compacted",  # the twin of a `compacted` record
        "deprecation_notice",
        "dynamic_tool_call_request",
        "entered_review_mode",
        "exec_command_begin",
        "exec_command_output_delta",
        "exited_review_mode",
        "guardian_assessment",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "image_generation_end",
        "item_started",
        "mcp_tool_call_begin",
        "model_reroute",
        "patch_apply_begin",
        "plan_delta",
        "plan_update",
        "request_user_input",
        "session_configured",
        "stream_error",  # a retry: the answer comes after it
        "terminal_interaction",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "turn_diff",
        "undo_completed",
        "undo_started",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
# Arguments that were blanked before we saw them: neither well-formed nor malformed.
_REDACTED = "[REDACTED"

_ENVELOPES = frozenset({"response_item", "event_msg", "turn_context", "compacted"})
_SPEAKERS = frozenset({"user", "assistant", "system", "developer"})
_BARE_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "tool_call"})
# Keys that other agents' records have beside a role and a time.
_FOREIGN_KEYS = frozenset({"uuid", "sessionId", "session_id", "parentId", "message_id", "data", "parts"})


def text(value: Any) -> str:
    """Return a string as it is and anything else as nothing."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """Return an object as it is and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def texts(content: Any) -> list[str]:
    """Return the texts of a message's content, without images."""
    if isinstance(content, str):
        return [content]
    items = content if isinstance(content, list) else []
    return [found for item in items if (found := text(table(item).get("text")))]


def name(item: dict[str, Any]) -> str:
    """Return a call's tool name; a namespace is joined as MCP tools used to be spelled."""
    own = text(item.get("name")) or text(table(item.get("function")).get("name"))
    space = text(item.get("namespace"))
    return f"{space.removesuffix('__')}__{own}" if space else own


def arguments(value: Any) -> tuple[Any, bool | None]:
    """Return a call's input and whether it is malformed; None where arguments were not kept.

    Blank arguments are well-formed: some tools take none, and a tool that does
    take some refuses them in its result.
    """
    if value is None or isinstance(value, dict):
        return value, None if value is None else False
    if not isinstance(value, str):
        return value, True
    if value.startswith(_REDACTED):
        return value, None
    if not value.strip():
        return value, False
    try:
        asked = canon.read(canon.utf8(value))
    except ValueError:
        return value, True
    return (asked, False) if isinstance(asked, dict) else (value, True)


def parent(meta: dict[str, Any]) -> str | None:
    """Return the session that a header says it came from: forked, or spawned."""
    spawn = table(table(table(meta.get("source")).get("subagent")).get("thread_spawn"))
    named = (meta.get("forked_from_id"), spawn.get("parent_thread_id"), meta.get("parent_thread_id"))
    return next((found for value in named if (found := text(value))), None)


def is_ours(record: dict[str, Any]) -> bool:
    """Tell whether a record is a rollout's, enveloped or bare."""
    kind, payload = text(record.get("type")), record.get("payload")
    if isinstance(payload, dict):
        return kind == "session_meta" or (kind in _ENVELOPES and "timestamp" in record)
    if not isinstance(record.get("timestamp") or record.get("created_at"), str):
        return False
    if not kind and {"id", "timestamp", "instructions"} <= record.keys():
        return True
    if not _FOREIGN_KEYS.isdisjoint(record):
        return False
    if kind:
        return kind in _BARE_ITEMS and not isinstance(record.get("message"), dict)
    said = record.get("content", record.get("message"))
    return text(record.get("role")) in _SPEAKERS and isinstance(said, str)
