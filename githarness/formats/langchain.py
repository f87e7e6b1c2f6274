"""Reader of LangChain message lists, in all three ways they are written down.

The gap this closes: the same messages come as constructor envelopes, as pairs of type
and data, or as chat dictionaries, and the last one loses both the status of a result
and every call whose arguments were no JSON. The decision: the first two lower to one
shape; a result's status is its flag, a result without one is unknown, and an invalid
call is refused with malformed arguments, answered by the reason beside it (a tool never
answers it).

What it does not do: it knows no tool specs and no session id, since lists of messages
hold neither, and it claims no list in which another agent has left its mark.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import arguments, number, shown, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import COMPLETED, FAILED, OUTPUT_BUDGET, REFUSED, UNKNOWN_TOOL, Session

NAME = "langchain"
AGENT = "langchain"
READER = 1

_TYPES = ("system", "human", "ai", "tool", "function", "chat", "remove", "developer")
_CHAT_ROLES = {
    "system": "system", "developer": "system", "user": "human", "assistant": "ai", "tool": "tool",
    "function": "tool",
}  # fmt: skip
_CHUNK = "MessageChunk"
# A client's own fields in a message of a bare list: it is another agent's.
_FOREIGN = frozenset({
    "message", "extra", "message_type", "parts", "timestamp", "source", "type", "uuid", "id",
})  # fmt: skip
_STOPS = {
    "stop": COMPLETED, "end_turn": COMPLETED, "STOP": COMPLETED, "length": OUTPUT_BUDGET,
    "max_tokens": OUTPUT_BUDGET, "MAX_TOKENS": OUTPUT_BUDGET,
}  # fmt: skip
_NO_TOOL = " is not a valid tool, try one of "
_BAD_CALL = "Error invoking tool "
# Where the framework's words stand; further down a result may quote anything.
_HEAD = 200
# How many messages tell what a list is.
_LOOKED_AT = 40


def sniff(peek: Peek) -> bool:
    """Claim a document that is a list of messages in one of the three forms."""
    items = _listed(peek.document)
    if not items:
        return False
    head = items[:_LOOKED_AT]
    return all(_lowered(item) is not None for item in head) or _is_chat(items)


def _listed(document: Any) -> list[Any]:
    """Return the messages of a bare list, or of the state of a graph."""
    if isinstance(document, dict):
        inner = document.get("messages")
        listed = inner if isinstance(inner, list) else []
        return listed if all(_lowered(item) is not None for item in listed) else []
    return document if isinstance(document, list) else []


def _is_chat(items: list[Any]) -> bool:
    """Tell whether chat dictionaries are an agent's: nothing in a chat without tools says so."""
    roles = [str(item.get("role")) for item in items if isinstance(item, dict)]
    if len(roles) != len(items) or not set(roles) <= _CHAT_ROLES.keys() or "assistant" not in roles:
        return False
    if any(_FOREIGN & item.keys() or "content" not in item for item in items):
        return False
    return "tool" in roles or any(item.get("tool_calls") for item in items)


def _lowered(item: Any) -> tuple[str, dict[str, Any]] | None:
    """Return (type, fields) of an envelope or a pair; None for anything else."""
    if not isinstance(item, dict):
        return None
    fields = item.get("kwargs") if item.get("type") == "constructor" and "lc" in item else item.get("data")
    if not isinstance(fields, dict) or "content" not in fields:
        return None
    kind = str(fields.get("type") or item.get("type"))
    if item.get("type") == "constructor":
        named = item.get("id")
        name = str(named[-1]) if isinstance(named, list) and named else ""
        kind = kind if kind != "constructor" else name.removesuffix("Chunk").removesuffix("Message").lower()
    kind = kind.removesuffix(_CHUNK).lower()
    return (kind, fields) if kind in _TYPES else None


class Reader(msgspec.Struct, kw_only=True):
    """Reads one list of messages. `refused` are calls that no tool was given."""

    builder: Builder
    refused: set[str] = set()

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take the whole document."""
        try:
            items = _listed(canon.read(record))
        except ValueError:
            items = []
        if not items:
            self.builder.records += 1
            self.builder.unreadable += 1
        for item in items:
            self.builder.records += 1
            self._message(item)

    def finish(self) -> Session:
        """Return what was understood."""
        return self.builder.finish()

    def _message(self, item: Any) -> None:
        lowered = _lowered(item) or _chat(item)
        if lowered is None:
            self.builder.unfamiliar("message of another shape")
            return
        kind, fields = lowered
        if kind == "human":
            self._human(fields)
        elif kind == "ai":
            self._response(fields)
        elif kind in ("tool", "function"):
            self._result(fields)
        elif kind in ("system", "developer"):
            self._system(fields.get("content"))
        else:
            self.builder.unfamiliar(f"{kind} message")

    def _human(self, fields: dict[str, Any]) -> None:
        if self.builder.last == "result":
            self.builder.steer()  # the model had not yet answered what its tools gave back
        self.builder.turn("\n".join(texts(fields.get("content"))))

    def _system(self, content: Any) -> None:
        if isinstance(content, str):
            self.builder.prompt(canon.utf8(content))
        elif not canon.depth_exceeds(content, canon.MAX_DEPTH):
            self.builder.prompt(canon.compact(content, sort=False))

    def _response(self, fields: dict[str, Any]) -> None:
        native = fields.get("id")
        self.builder.step(native if isinstance(native, str) and native else None)
        about = fields.get("response_metadata")
        about = about if isinstance(about, dict) else {}
        self.builder.model(about.get("model_name") or about.get("model"))
        self._spend(fields.get("usage_metadata"))
        self.builder.say("\n".join(texts(fields.get("content"))))
        for call in _dicts(fields.get("tool_calls")):
            self._call(call)
        for call in _dicts(fields.get("invalid_tool_calls")):
            self._invalid(call)
        self.builder.stop(_STOPS.get(str(about.get("finish_reason") or about.get("stop_reason"))))

    def _spend(self, usage: Any) -> None:
        if isinstance(usage, dict):
            read = number(usage, "input_token_details", "cache_read")
            write = number(usage, "input_token_details", "cache_creation")
            row = (number(usage, "input_tokens"), number(usage, "output_tokens"), read, write)
            self.builder.spend(str(self.builder.steps), *row)

    def _call(self, call: dict[str, Any]) -> None:
        given, malformed = arguments(call.get("args"))
        self.builder.call(_text(call.get("id")), _text(call.get("name")), given, malformed=malformed)

    def _invalid(self, call: dict[str, Any]) -> None:
        key = _text(call.get("id")) or f"#{len(self.builder.calls)}"
        self.builder.call(key, _text(call.get("name")), call.get("args"), malformed=True)
        self.builder.result(key, _text(call.get("error")), is_error=True, cause=REFUSED)
        self.refused.add(key)
        self.builder.last = "call"

    def _result(self, fields: dict[str, Any]) -> None:
        key, status = _text(fields.get("tool_call_id")), fields.get("status")
        output = shown(fields.get("content"))
        failed = {"error": True, "success": False}.get(str(status))
        cause = (REFUSED if key in self.refused else _cause(output)) if failed else None
        if cause == REFUSED:
            self.builder.malformed(key)
        self.builder.result(key, output, failed, cause)


def _chat(item: Any) -> tuple[str, dict[str, Any]] | None:
    """Lower a chat dictionary; its calls keep their arguments as text."""
    kind = _CHAT_ROLES.get(str(item.get("role"))) if isinstance(item, dict) else None
    if kind is None:
        return None
    functions = [(call.get("id"), call.get("function")) for call in _dicts(item.get("tool_calls"))]
    calls = [
        {"id": key, "name": function.get("name"), "args": function.get("arguments")}
        for key, function in functions
        if isinstance(function, dict)
    ]
    kept = {key: item.get(key) for key in ("content", "tool_call_id")}
    return kind, {**kept, "tool_calls": calls}


def _cause(output: str) -> str:
    """Say why a result is an error, in the framework's own words at its head."""
    head = output[:_HEAD]
    if _NO_TOOL in head:
        return UNKNOWN_TOOL
    return REFUSED if head.startswith(_BAD_CALL) else FAILED


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
