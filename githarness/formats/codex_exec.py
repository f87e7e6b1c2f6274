"""The event stream of `codex exec --json`: what a script saw of a Codex run.

The gap this closes: in CI the stream is often all that is kept of a run. The
decision: read it as the same agent and the same session id as the rollout, which
has more records and therefore wins where both are there. A call is one item, with
its status.

What it does not do: it cannot know what the stream leaves out. An unknown tool
and unparsable arguments give no event at all (4 calls driven, 2 in the stream),
and the prompt is not in it: a turn is counted and its words are unknown.
"""

from typing import Any

import msgspec

from githarness.formats import codex_evidence as evidence
from githarness.formats import codex_tokens
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, COMPLETED

_ITEM_EVENTS = frozenset({"item.started", "item.updated", "item.completed"})
EVENTS = _ITEM_EVENTS | {"thread.started", "turn.started", "turn.completed", "turn.failed", "error"}

# Items that are calls, and the field or fields that hold what was asked for.
_CALLS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("arguments",),
    "web_search": ("query",),
    "collab_tool_call": ("prompt", "receiver_thread_ids"),
}
# Items that are neither text nor call; an "error" item is a warning, not an end.
_QUIET = frozenset({"reasoning", "todo_list", "error"})


class Stream(msgspec.Struct, kw_only=True):
    """Where in the stream we are: `fresh` says that the next model item opens a step.

    `joined` says that another thread's stream was put behind this one's.
    """

    fresh: bool = True
    joined: bool = False

    def take(self, builder: Builder, kind: str, value: dict[str, Any]) -> None:
        """Take one event of the stream."""
        if kind == "thread.started":
            thread = value.get("thread_id")
            builder.native = builder.native or (thread if isinstance(thread, str) else None)
            self.joined = thread != builder.native
        if self.joined:
            builder.copied += 1
        elif kind == "turn.started":
            builder.turn_count += 1
            builder.last, builder.stop_cause, self.fresh = "turn", None, True
        elif kind in {"turn.failed", "error"}:
            builder.stop(API_ERROR)
        elif kind == "turn.completed":
            self._complete(builder, value.get("usage"))
        elif isinstance(item := value.get("item"), dict):
            self._item(builder, kind, item)

    def _complete(self, builder: Builder, usage: Any) -> None:
        builder.stop(COMPLETED)
        if isinstance(usage, dict):
            builder.spend(str(builder.turn_count), *codex_tokens.row(usage))

    def _item(self, builder: Builder, kind: str, item: dict[str, Any]) -> None:
        what = str(item.get("type"))
        done = kind == "item.completed"
        if what == "agent_message" and done:
            self._step(builder)
            builder.say(str(item.get("text") or ""))
        elif what in _CALLS:
            self._call(builder, what, item, done=done)
        elif done and what not in _QUIET and what != "agent_message":
            builder.unfamiliar(f"item/{what}")

    def _step(self, builder: Builder) -> None:
        if self.fresh:
            builder.step()
            self.fresh = False

    def _call(self, builder: Builder, what: str, item: dict[str, Any], *, done: bool) -> None:
        call = str(item.get("id") or "")
        if call not in builder.open_calls:
            self._step(builder)
            asked = {key: item.get(key) for key in _CALLS[what]}
            # None: arguments that could not be parsed give no event, so none is known good or bad.
            builder.call(call, _name(what, item), asked, malformed=None)
        if done:
            output = item.get("aggregated_output", item.get("result"))
            builder.result(call, evidence.text_of(output) or "", *evidence.of_item(item))
            self.fresh = True


def _name(what: str, item: dict[str, Any]) -> str:
    """Name a call after its MCP server and tool, or after the item's own type."""
    parts = (item.get("server"), item.get("tool"))
    return "__".join(["mcp", *map(str, parts)]) if all(parts) else what


def is_ours(record: dict[str, Any]) -> bool:
    """Tell whether a record opens such a stream, or is one of its items."""
    if record.get("type") == "thread.started":
        return isinstance(record.get("thread_id"), str)
    item = record.get("item")
    return str(record.get("type")) in _ITEM_EVENTS and isinstance(item, dict) and "id" in item
