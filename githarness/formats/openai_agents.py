"""Reader of OpenAI Agents SDK sessions: a list of items, a saved run state, or session rows.

The gap this closes: a tool that raised and arguments that were no JSON come back as one
and the same sentence, with no flag anywhere; and a saved state tells the run three
times over. The decision: outcomes are unknown, except where the state itself records
that a person refused; malformed comes from the arguments alone; of a state's tellings
the longest is read, after the input it began with.

What it does not do: a state describes the tools it called and holds no schema, so those
are names and no surface; models are named nowhere.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats.openai_responses_items import CLIENT_CALLS, SYSTEM
from githarness.formats.payload import arguments, number, shown, spelled, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import DENIED_PERSON, FAILED, MAX_TURNS, Session
from githarness.model.surface import OFFERED

NAME = "openai-agents"
AGENT = "openai-agents"
READER = 1

_SESSIONS, _MESSAGES = "agent_sessions", "agent_messages"
_VERSION = "$schemaVersion"
_ENDED_CALLS = frozenset({
    "mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
    "tool_search_call",
})  # fmt: skip
_CALLS = CLIENT_CALLS | _ENDED_CALLS
_WRITTEN = _CALLS | {"reasoning"}
# Lists of tools that reach the model beside the agent's own.
_LISTINGS = frozenset({"mcp_list_tools", "tool_search_output", "additional_tools"})
_QUIET = frozenset({"reasoning", "item_reference", "mcp_approval_request", "mcp_approval_response"})
_ITEMS = _CALLS | _LISTINGS | _QUIET | {"function_call_output", "compaction"}
_INPUTS = ("arguments", "input", "action", "operation", "queries", "code")
# A state tells the run's items under these names; a filter at a handoff may shorten the first.
_TELLINGS = ("generated_items", "session_items")


def sniff(peek: Peek) -> bool:
    """Claim a list of items with a call or an item's type, a run state, or session rows."""
    document = peek.document
    if isinstance(document, list):
        return all(map(_is_item, document)) and any(map(_is_typed, document))
    first = next(iter(peek.objects()), None)
    return first is not None and (_is_row(first) or (document is not None and _is_state(first)))


def _is_typed(item: dict[str, Any]) -> bool:
    kind = str(item.get("type"))
    return kind in _ITEMS or (kind == "message" and isinstance(item.get("content"), list))


def _is_item(item: Any) -> bool:
    if not isinstance(item, dict) or "message" in item or "payload" in item:
        return False
    spoken = str(item.get("role")) in ("user", "assistant", *SYSTEM) and "content" in item
    return (spoken and item.get("type") in (None, "message")) or str(item.get("type")) in _ITEMS


def _is_state(document: dict[str, Any]) -> bool:
    return _VERSION in document and "original_input" in document


def _is_row(record: dict[str, Any]) -> bool:
    return record.get("table") in (_SESSIONS, _MESSAGES) and isinstance(record.get("row"), dict)


class Reader(msgspec.Struct, kw_only=True):
    """Reads one session. `replying` is set within a row of items that the model wrote."""

    builder: Builder
    replying: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take one row, or the whole document. Never raises."""
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        if isinstance(value, list):
            self._items(value)
        elif isinstance(value, dict) and _is_row(value):
            self.builder.records += 1
            self._row(str(value["table"]), value["row"])
        elif isinstance(value, dict) and _is_state(value):
            self._state(value)
        else:
            self.builder.records += 1
            self.builder.unreadable += 1

    def finish(self) -> Session:
        """Return what was understood so far."""
        return self.builder.finish()

    def _row(self, table: str, row: dict[str, Any]) -> None:
        builder = self.builder
        native = row.get("session_id")
        builder.native = builder.native or (native if isinstance(native, str) else None)
        builder.seen_at(row.get("created_at"))
        if table == _MESSAGES:
            self._item(row.get("message_data"))

    def _items(self, items: list[Any]) -> None:
        self.builder.records += len(items)
        for item in items:
            self._item(item)

    def _state(self, state: dict[str, Any]) -> None:
        began = state["original_input"]
        self._items([{"role": "user", "content": began}] if isinstance(began, str) else _listed(began))
        told = [_listed(state.get(name)) for name in _TELLINGS]
        wrapped = [item for item in max(told, key=len) if isinstance(item, dict)]
        self._items([item.get("raw_item", item) for item in wrapped])
        self.builder.partial_names = any("description" in item for item in wrapped)
        self._ending(state)

    def _ending(self, state: dict[str, Any]) -> None:
        """Take what a state says about the run as a whole."""
        native = state.get("conversation_id")
        self.builder.native = native if isinstance(native, str) else None
        context = state.get("context")
        context = context if isinstance(context, dict) else {}
        self._spend(context.get("usage"))
        for call in _refused(context.get("approvals")):
            self.builder.outcome(call, is_error=True, cause=DENIED_PERSON)
        done, most = state.get("current_turn"), state.get("max_turns")
        # The count passes the bound exactly when the run was stopped by it.
        if isinstance(done, int) and isinstance(most, int) and done > most:
            self.builder.stop(MAX_TURNS)

    def _spend(self, usage: Any) -> None:
        if not isinstance(usage, dict) or not number(usage, "requests"):
            return
        details = _first(usage.get("input_tokens_details"))
        read, write = number(details, "cached_tokens"), number(details, "cache_write_tokens")
        self.builder.spend_total(number(usage, "input_tokens"), number(usage, "output_tokens"), read, write)

    def _item(self, item: Any) -> None:
        kind = str(item.get("type") or "message") if isinstance(item, dict) else ""
        if not kind or (kind == "message" and "content" not in item):
            self.replying = False
            self.builder.unfamiliar("item of another shape")
            return
        self._replies(kind in _WRITTEN or (kind == "message" and item.get("role") == "assistant"))
        if kind == "message":
            self._message(item.get("role"), item["content"])
        elif kind in _CALLS:
            self._call(item, kind)
        elif kind in _LISTINGS:
            self._listing(item)
        else:
            self._other(item, kind)

    def _replies(self, written: bool) -> None:
        """A response begins with the first item that a model wrote."""
        if written and not self.replying:
            self.builder.step()
        self.replying = written

    def _other(self, item: dict[str, Any], kind: str) -> None:
        if kind.endswith("_output"):
            self.builder.result(_id(item), shown(item.get("output")), is_error=None, cause=None)
        elif kind == "compaction":
            self.builder.compaction()
        elif kind not in _QUIET:
            self.builder.unfamiliar(kind)

    def _listing(self, item: dict[str, Any]) -> None:
        """Note what a server listed: it is beside the agent's own tools, so it was offered."""
        if _listed(item.get("tools")) and not canon.depth_exceeds(item["tools"], canon.MAX_DEPTH):
            raw = canon.compact(item["tools"], sort=False)
            self.builder.surface(raw, kind=OFFERED, reconstructed=True)
            self.builder.partial_names = True

    def _message(self, role: Any, content: Any) -> None:
        said = texts(content)
        if role == "assistant":
            self.builder.say("".join(said))
        elif role == "user":
            if self.builder.last == "result":
                self.builder.steer()  # the model had not yet answered what its tools gave back
            self.builder.turn("\n".join(said))
        elif role in SYSTEM:
            self.builder.prompt(canon.utf8("\n".join(said)))
        else:
            self.builder.unfamiliar(f"role {role}")

    def _call(self, item: dict[str, Any], kind: str) -> None:
        """Take a call; one that the provider ran itself ends where it stands."""
        given = next((item[key] for key in _INPUTS if key in item), None)
        if "arguments" in item:
            given, malformed = arguments(given)
        else:
            malformed = None if given is None or isinstance(given, str) else False
        name = item.get("name")
        key = _id(item) or f"#{len(self.builder.calls)}"
        self.builder.call(key, name if isinstance(name, str) else kind, given, malformed=malformed)
        if kind in _ENDED_CALLS:
            self._outcome(key, item)

    def _outcome(self, key: str, item: dict[str, Any]) -> None:
        failed = {"completed": False, "failed": True}.get(str(item.get("status")))
        failed = True if item.get("error") is not None else failed
        output = item.get("output", item.get("results"))
        text = output if isinstance(output, str) else "" if output is None else spelled(output)
        self.builder.result(key, text, failed, FAILED if failed else None)


def _id(item: dict[str, Any]) -> str:
    native = item.get("call_id") or item.get("id")
    return native if isinstance(native, str) else ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _first(value: Any) -> Any:
    """Return the one object that the state keeps in a list."""
    return value[0] if isinstance(value, list) and value else value


def _refused(approvals: Any) -> list[str]:
    """Return the ids of the calls that a person refused; the rest of the record is by tool."""
    entries = approvals.values() if isinstance(approvals, dict) else []
    rejected = [entry.get("rejected") for entry in entries if isinstance(entry, dict)]
    return [call for calls in rejected if isinstance(calls, list) for call in calls if isinstance(call, str)]
