"""Reader of opencode sessions: row lines from its database, or an exported document.

The gap this closes: opencode has two stores and an export, and counts that differ
between them. A call and its result are one part, a failed call has no event after
it (4 calls, 2 results in a driven run), and what the harness wrote into the user's
place is told apart by one flag. The decision: the parts are the truth; a message's
steps, tokens and end come from the message, a call's outcome from its state.

What it does not do: it opens no database (rows arrive as lines of JSON), reads no
single file of the older storage tree, and sees no tool specs: opencode keeps none.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec

from githarness import canon
from githarness.formats import opencode_shapes as shapes
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    CANCELLED,
    COMPLETED,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    OUTPUT_BUDGET,
    REFUSED,
    UNKNOWN_TOOL,
    Session,
)

NAME = "opencode"
AGENT = "opencode"
READER = 1

TABLES = frozenset({"session", "message", "part"})

# How opencode words what is no plain failure; its state has one flag for all of them.
_REASONS = (
    ("Tool execution aborted", CANCELLED),
    ("The user rejected permission", DENIED_PERSON),
    ("The user dismissed this question", DENIED_PERSON),
    ("The user has specified a rule which prevents", DENIED_HOOK),
    ("tool was called with invalid arguments", REFUSED),
    ("tried to call unavailable tool", UNKNOWN_TOOL),
)
# A rejection that carries words of the person is also steering.
_FEEDBACK = "with the following feedback"
# Reasons stand at the head of an error; further down it may quote anything.
_HEAD = 240

# A call that no tool could take is handed to this one, which repeats why.
_INVALID = "invalid"

# Put in the user's place when a person ran a command of their own: no model call follows.
_OWN_COMMAND = "The following tool was executed by the user"

_ERRORS = {
    "MessageAbortedError": INTERRUPTED,
    "MessageOutputLengthError": OUTPUT_BUDGET,
    "APIError": API_ERROR,
    "ProviderAuthError": API_ERROR,
    "ContextOverflowError": API_ERROR,
}
_FINISHES = {"stop": COMPLETED, "length": OUTPUT_BUDGET, "error": API_ERROR}

# Ends after which the harness asks again, or which cut a text short.
_UNENDED = frozenset({"tool-calls", "content-filter"})

# In milliseconds: later times have no four-digit year.
_YEAR_10000 = 253_402_300_800_000

# Parts that hold nothing a count needs.
_QUIET = frozenset({"file", "patch", "snapshot", "agent", "retry"})


def sniff(peek: Peek) -> bool:
    """Claim row lines of an opencode database, or an exported session."""
    first = next(iter(peek.objects()), None)
    if first is None:
        return False
    return _is_row(first) or (peek.document is not None and _is_export(first))


def _is_row(record: dict[str, Any]) -> bool:
    row = record.get("row")
    return record.get("table") == "session" and isinstance(row, dict) and {"directory", "version"} <= set(row)


def _is_export(document: dict[str, Any]) -> bool:
    info, messages = document.get("info"), document.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return False
    if not isinstance(info.get("id"), str) or "directory" not in info:
        return False
    return all(isinstance(m, dict) and "info" in m and "parts" in m for m in messages[:3])


class Reader(msgspec.Struct, kw_only=True):
    """Reads one session. `roles` says of each message whose it is, and whether it has begun.

    `cut` is set while the last response bears a mark that it did not end by itself;
    `going` while the harness would have asked the model again.
    """

    builder: Builder
    roles: dict[str, str] = {}
    typed: str = ""
    closed: str = ""
    going: bool = False
    busy_until: float = 0
    stop: str | None = None
    cut: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep))

    def feed(self, record: bytes) -> None:
        """Take one row line, or one exported document."""
        try:
            line: shapes.Line = shapes.LINE.decode(canon.shallow(record))
        except shapes.REFUSALS:
            self._other(record)
            return
        self.builder.records += 1
        self._line(line)

    def finish(self) -> Session:
        """Return what was understood so far."""
        self.builder.stop(self.stop)
        if self.cut:
            self.builder.last = "cut"
        return self.builder.finish()

    def _other(self, record: bytes) -> None:
        """Read what is no plain row line: an export, odd strings, an unknown shape, or no JSON."""
        try:
            export = shapes.EXPORT.decode(canon.shallow(record))
        except shapes.REFUSALS:
            self._slowly(record)
            return
        self._session(export.info)
        for raw in export.messages:
            self.builder.records += 1
            try:
                self._item(shapes.ITEM.decode(raw))
            except shapes.REFUSALS:
                self._convert(canon.read(bytes(raw)), shapes.Item)

    def _slowly(self, record: bytes) -> None:
        """Read what msgspec refuses, such as a string that was cut in half."""
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            self.builder.records += 1
            self.builder.unreadable += 1
        elif _is_export(value):
            self._convert(value["info"], shapes.Info)
            self.builder.records += len(value["messages"])
            for item in value["messages"]:
                self._convert(item, shapes.Item)
        else:
            self.builder.records += 1
            self._convert(value, shapes.Line)

    def _convert(self, value: Any, shape: Any) -> None:
        try:
            found = msgspec.convert(value, type=shape)
        except msgspec.ValidationError:
            self.builder.unfamiliar(_kind(value))
            return
        if isinstance(found, shapes.Item):
            self._item(found)
        elif isinstance(found, shapes.Info):
            self._session(found)
        else:
            self._line(found)

    def _line(self, line: shapes.Line) -> None:
        if isinstance(line, shapes.PartLine):
            self._part(line.row.message_id, line.row.data)
        elif isinstance(line, shapes.MessageLine):
            self._message(line.row.id, line.row.data)
        else:
            self._session(line.row)

    def _item(self, item: shapes.Item) -> None:
        owner = item.info.id or f"#{self.builder.records}"
        self._message(owner, item.info)
        for part in item.parts:
            self._part(owner, part)

    def _session(self, session: shapes.SessionRow | shapes.Info) -> None:
        self.builder.native = session.id
        self.builder.parent = session.parent_id
        self.builder.project = session.directory
        self.builder.version(session.version)

    def _message(self, id: str, message: shapes.Message) -> None:
        self.builder.seen_at(_moment(message.time.created))
        self.builder.seen_at(_moment(message.time.completed))
        if message.role == "user":
            between = self.going or (message.time.created or 0) < self.busy_until
            self.roles[id] = "between" if between else "user"
        elif message.role == "assistant":
            self._response(id, message)
        else:
            self.builder.unfamiliar(f"message {message.role}")

    def _response(self, id: str, message: shapes.Message) -> None:
        asked = self.roles.get(message.asked or "")
        if message.tokens is not None:
            self.builder.spend(id, *_spent(message.tokens))
        if asked == "own":
            self.roles[id] = "own"
        elif message.summary is True:
            self.roles[id] = "summary"
            if asked != "compaction":  # older versions leave no other trace
                self.builder.compaction()
        else:
            self.roles[id] = "waiting"
            self.builder.model(message.model)
            self._end(message)

    def _end(self, message: shapes.Message) -> None:
        """Note how a response ended; whether it stands is known at the end of the file."""
        failed, done = message.error is not None, message.time.completed is not None
        if message.error is not None:
            self.stop = _ERRORS.get(message.error.name)
        else:
            self.stop = _FINISHES.get(message.finish or "") if done else None
        self.cut = failed or not done or message.finish in _UNENDED
        self.going = done and not failed and message.finish == "tool-calls"
        self.busy_until = max(self.busy_until, message.time.completed or 0)

    def _part(self, owner: str, part: shapes.Part) -> None:
        role = self.roles.get(owner)
        if part.type in _QUIET or role in {"own", "summary"}:
            return
        if role in {"user", "between", "compaction"}:
            self._asked(owner, part)
        elif role is not None:
            self._answered(owner, part)
        else:
            self.builder.unfamiliar(f"part {part.type} without its message")

    def _asked(self, owner: str, part: shapes.Part) -> None:
        if part.type == "text" and (part.synthetic or part.ignored):
            self.builder.inject()
            if part.text == _OWN_COMMAND:
                self.roles[owner] = "own"
        elif part.type in {"text", "subtask"}:
            self._said(owner, part.text or part.prompt or "")
        elif part.type == "compaction":
            self.roles[owner] = "compaction"
            self.builder.compaction()
        else:
            self.builder.unfamiliar(f"part {part.type}")

    def _said(self, owner: str, text: str) -> None:
        """A message is one turn, in however many pieces it was typed."""
        if owner != self.typed:
            self.typed, self.stop, self.cut = owner, None, False
            self.builder.turn(text)
            if self.roles[owner] == "between":
                self.builder.steer()
        elif self.builder.keep:
            turn = self.builder.turns[-1]
            self.builder.turns[-1] = msgspec.structs.replace(turn, text=f"{turn.text}\n{text}")

    def _answered(self, owner: str, part: shapes.Part) -> None:
        if self.roles[owner] == "waiting":
            self.roles[owner] = "answering"
            self.builder.step(owner)
        if part.type == "step-finish":
            self.closed = owner
        elif part.type == "step-start":
            if self.closed == owner:  # older versions put a whole turn in one message
                self.builder.step()
        elif part.type == "tool":
            self._call(part)
        elif part.type == "text" and not part.synthetic:
            self.builder.say(part.text or "")
        elif part.type not in {"reasoning", "text"}:
            self.builder.unfamiliar(f"part {part.type}")

    def _call(self, part: shapes.Part) -> None:
        state, key = part.state, part.call or part.id or f"#{len(self.builder.calls)}"
        name, fault = _fault(part)
        cause = None if fault is None else _cause(fault, part)
        self.builder.call(key, name, state.input, malformed=cause == REFUSED)
        if state.metadata is not None and isinstance(state.metadata.child, str):
            self._child(state.metadata.child)
        if fault is not None:
            self.builder.result(key, fault, is_error=True, cause=cause)
        elif state.status == "completed":
            self.builder.result(key, state.output or "", is_error=False, cause=None)
        if cause == DENIED_PERSON:
            self._denied(fault or "")

    def _child(self, native: str) -> None:
        if native not in self.builder.subagents:
            self.builder.subagents.append(native)

    def _denied(self, words: str) -> None:
        """A bare rejection ends the turn; one with feedback is the person speaking within it."""
        if _FEEDBACK in words[:_HEAD]:
            self.builder.steer()
        else:
            self.going = False


def _fault(part: shapes.Part) -> tuple[str, str | None]:
    """Return the tool the model meant, and what went wrong; a refused call names both in its input."""
    given = part.state.input
    if part.tool == _INVALID and isinstance(given, dict):
        return str(given.get("tool") or _INVALID), str(given.get("error") or "")
    return part.tool, (part.state.error or "") if part.state.status == "error" else None


def _cause(fault: str, part: shapes.Part) -> str:
    head = fault[:_HEAD]
    for words, cause in _REASONS:
        if words in head:
            return cause
    if part.state.metadata is not None and part.state.metadata.interrupted is True:
        return CANCELLED
    return REFUSED if part.tool == _INVALID else FAILED


def _spent(tokens: shapes.Tokens) -> tuple[int, int, int, int]:
    """Return input, output, cache read and write; opencode's input leaves out both cache counts."""
    read, write = tokens.cache.read, tokens.cache.write
    sent, output = tokens.input + read + write, tokens.output
    # Some versions count reasoning inside the output, some beside it: the total tells.
    if tokens.total == sent + output + tokens.reasoning:
        output += tokens.reasoning
    return sent, output, read, write


def _moment(milliseconds: float | None) -> str | None:
    if milliseconds is None or not 0 <= milliseconds < _YEAR_10000:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _kind(value: Any) -> str:
    """Name what was not understood, by its place and never by its content."""
    table = value.get("table") if isinstance(value, dict) else None
    if isinstance(table, str):
        return f"{table} of another shape" if table in TABLES else f"table {table}"
    return "message of another shape" if isinstance(value, dict) and "info" in value else "no row"
