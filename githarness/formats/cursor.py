"""Reader of Cursor's agent transcripts: one message a line, and a line where a turn ends.

The gap this closes: no result is ever written, most calls have no id, and what a person
typed stands in wrappers of the client's. A reader that takes missing results for
failures, or for successes, is wrong about every call. The decision: each call is named
by its place and its outcome is unknown; tokens, model, version and times are unknown
too, never zero. The typed text is what stands in the client's wrapper, where it has one.

What it does not do: it opens no database of the editor, and follows no subagent, whose
transcript is a file of its own that nothing here names.
"""

import re
from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import visible
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, COMPLETED, INTERRUPTED, Session

NAME = "cursor"
AGENT = "cursor"
READER = 1

_ROLES = ("user", "assistant")
_END = "turn_ended"
_STOPS = {"success": COMPLETED, "error": API_ERROR, "aborted": INTERRUPTED, "cancelled": INTERRUPTED}

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_STAMP = re.compile(r"\s*<timestamp>[^<]*</timestamp>\s*")
# Elements with compound names are the client's: its notes about the machine and the rules.
_NOTE = re.compile(r"\s*<([a-z]+_[a-z_]+)>.*</\1>\s*\Z", re.DOTALL)


class _Block(msgspec.Struct):
    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()


class _Message(msgspec.Struct):
    content: str | list[_Block] | None = None


class _Line(msgspec.Struct):
    role: str | None = None
    type: str | None = None
    status: str | None = None
    message: _Message | None = None


_LINE: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


def sniff(peek: Peek) -> bool:
    """Claim lines whose first record is a bare message, or a turn's end."""
    first = next(iter(peek.objects()), None)
    return first is not None and _is_ours(first)


def _is_ours(record: dict[str, Any]) -> bool:
    if record.get("type") == _END:
        return "status" in record
    message = record.get("message")
    bare = set(record) <= {"role", "message", "type", "timestamp"}
    return bare and str(record.get("role")) in _ROLES and isinstance(message, dict) and "content" in message


class Reader(msgspec.Struct, kw_only=True):
    """Reads one transcript.

    `open_turn` is set from a turn's first response to the line that ends it, and `marked`
    by the first such line.
    """

    builder: Builder
    open_turn: bool = False
    marked: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take one line. Never raises; what cannot be read or is unknown is counted."""
        self.builder.records += 1
        line: _Line | None
        try:
            line = _LINE.decode(canon.shallow(record))
        except (ValueError, RecursionError):
            line = _again(record)
        if line is None:
            self.builder.unreadable += 1
        elif line.type == _END:
            self._ended(line.status)
        elif line.role == "user" and line.message is not None:
            self._user(line.message)
        elif line.role == "assistant" and line.message is not None:
            self._response(line.message)
        else:
            self.builder.unfamiliar(line.type or line.role or "(no role)")

    def finish(self) -> Session:
        """Return what was understood so far."""
        return self.builder.finish()

    def _ended(self, status: str | None) -> None:
        self.open_turn = False
        self.marked = True
        self.builder.last = "end"  # with a status that is not known nothing is inferred
        self.builder.stop(_STOPS.get(status or ""))

    def _user(self, message: _Message) -> None:
        blocks = _blocks(message)
        texts = [block.text for block in blocks if block.type == "text" and block.text]
        self._count_strangers(blocks, {"text", "image"})
        typed = [said for said in map(_typed, texts) if said.strip()]
        if not typed and (texts or not blocks):
            self.builder.inject()
            return
        # Only a file that marks the ends of turns can show that one was still open.
        if self.open_turn and self.marked:
            self.builder.steer()
        self.builder.turn("\n".join(typed))

    def _response(self, message: _Message) -> None:
        self.open_turn = True
        self.builder.step()
        blocks = _blocks(message)
        for block in blocks:
            if block.type == "text":
                self.builder.say(block.text or "")
            elif block.type == "tool_use":
                self._call(block)
        self._count_strangers(blocks, {"text", "tool_use", "thinking"})

    def _call(self, block: _Block) -> None:
        raw = bytes(block.input)
        malformed = None if raw in (b"", b"null") else not raw.startswith(b"{")
        given = _parsed(raw) if self.builder.keep else None
        self.builder.call(block.id or "", block.name or "", given, malformed=malformed)

    def _count_strangers(self, blocks: list[_Block], known: set[str]) -> None:
        for block in blocks:
            if block.type not in known:
                self.builder.unfamiliar(f"block {block.type}")


def _blocks(message: _Message) -> list[_Block]:
    if isinstance(message.content, str):
        return [_Block(type="text", text=message.content)]
    return message.content or []


def _typed(text: str) -> str:
    """Return what a person typed: the query in its wrapper, or the text without its time."""
    queries = _QUERY.findall(text)
    if queries:
        return "\n".join(str(query) for query in queries)
    bare = _STAMP.sub("", text)
    return "" if _NOTE.match(bare) else bare


def _again(record: bytes) -> _Line | None:
    """Read a line that msgspec refuses; blocks of another shape keep their type."""
    try:
        value = canon.read(record)
        if not isinstance(value, dict):
            return None
        return _LINE.decode(visible(_fitted(value)))
    except (ValueError, RecursionError):
        return None


def _fitted(value: dict[str, Any]) -> dict[str, Any]:
    """Keep the fields that have the type they should."""
    found: dict[str, Any] = {key: value.get(key) for key in ("role", "type", "status")}
    found = {key: item for key, item in found.items() if isinstance(item, str)}
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = [_fitted_block(block) for block in content if isinstance(block, dict)]
    if isinstance(content, str | list):
        found["message"] = {"content": content}
    return found


def _fitted_block(block: dict[str, Any]) -> dict[str, Any]:
    texts = {key: block[key] for key in ("type", "text", "id", "name") if isinstance(block.get(key), str)}
    return texts | ({"input": block["input"]} if "input" in block else {})


def _parsed(raw: bytes) -> Any:
    try:
        return canon.read(raw) if raw else None
    except ValueError:
        return None
