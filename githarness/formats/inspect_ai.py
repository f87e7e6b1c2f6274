"""Reader of evaluation runs of Inspect: the lines of one sample and epoch of a log.

The gap this closes: one log is many runs, the graders' model calls stand among the
agent's, and what the dataset said, what an operator said and what a solver nudged with
are all user messages. The decision: the messages are the run; a model event counts only
where it produced one of them, and gives its tools, tokens and end. A user message of
the dataset or an operator is a turn, any other is the harness's. What limits a sample
says why it stopped, and a sample that nothing stopped ran to its end.

What it does not do: it opens no log (the lines come from a container), and it keeps no
inner agent's calls; agents that ran inside another are named. `permission` is the
operating system's answer to a tool that ran, so it is a failure and no denial.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import shown, texts, visible
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    CANCELLED,
    COMPLETED,
    COST_BUDGET,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    MAX_TURNS,
    NO_OUTPUT,
    OUTPUT_BUDGET,
    REFUSED,
    UNKNOWN_TOOL,
    Session,
)

NAME = "inspect-ai"
AGENT = "inspect-ai"
READER = 1

# Any other type of error is a tool's that ran.
_CAUSES = {"parsing": REFUSED, "approval": DENIED_HOOK, "cancelled": CANCELLED}
_LIMITS = {
    "message": MAX_TURNS, "turn": MAX_TURNS, "token": OUTPUT_BUDGET, "cost": COST_BUDGET,
    "context": API_ERROR, "time": INTERRUPTED, "working": INTERRUPTED, "operator": INTERRUPTED,
    "custom": INTERRUPTED,
}  # fmt: skip
_REASONS = {
    "stop": COMPLETED, "max_tokens": OUTPUT_BUDGET, "model_length": API_ERROR, "content_filter": NO_OUTPUT,
}  # fmt: skip
_NOT_FOUND = " not found"
_PEOPLE = ("human", "operator")
_INNER = frozenset({"agent", "tool", "handoff"})


class _Failure(msgspec.Struct):
    type: str | None = None
    message: str | None = None


class _Call(msgspec.Struct):
    id: str | None = None
    function: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    parse_error: str | None = None


class _Message(msgspec.Struct):
    role: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    source: str | None = None
    id: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    error: _Failure | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_cache_read: int | None = None
    input_tokens_cache_write: int | None = None


class _Choice(msgspec.Struct):
    stop_reason: str | None = None


class _Output(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


class _Asked(msgspec.Struct):
    id: str | None = None


class _Event(msgspec.Struct):
    event: str = ""
    timestamp: str | None = None
    model: str | None = None
    tools: msgspec.Raw = msgspec.Raw()
    output: _Output | None = None
    id: str | None = None
    parent_id: str | None = None
    type: str | None = None
    call: _Asked | None = None
    approver: str | None = None
    decision: str | None = None
    failed: bool | None = None


class _Line(msgspec.Struct):
    header: msgspec.Raw = msgspec.Raw()
    message: _Message | None = None
    event: _Event | None = None
    own: bool = False


_LINE: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


def sniff(peek: Peek) -> bool:
    """Claim lines of which the first is a run's header."""
    first = next(iter(peek.objects()), None)
    header = first.get("header") if first is not None else None
    return isinstance(header, dict) and {"run", "eval", "sample"} <= header.keys()


class Reader(msgspec.Struct, kw_only=True):
    """Reads one run. `reason` is why the response that comes next ended, `ending` why the run did.

    `denied` are calls that a person did not approve, `spans` the kind and parent of each
    span, and `seen` counts messages, so that a response without an id has one.
    """

    builder: Builder
    reason: str | None = None
    ending: str | None = None
    denied: set[str] = set()
    spans: dict[str, tuple[str, str]] = {}
    seen: int = 0

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        # Only newer logs note compactions, so none seen is not none made.
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take one line. Never raises; what cannot be read or is unknown is counted."""
        self.builder.records += 1
        try:
            line = _LINE.decode(canon.shallow(record))
        except (ValueError, RecursionError):
            self._odd(record)
            return
        self._line(line)

    def finish(self) -> Session:
        """Return what was understood; a run that something stopped did not end by itself."""
        if self.ending is not None:
            self.builder.stop(self.ending)
        return self.builder.finish()

    def _odd(self, record: bytes) -> None:
        """Take a line that msgspec refuses: for a lone surrogate it is read again."""
        try:
            value = canon.read(record)
            self._line(_LINE.decode(visible(value)))
        except msgspec.DecodeError:
            known = isinstance(value, dict)
            self.builder.unreadable += not known
            if known:
                self.builder.unfamiliar("line of another shape")
        except (ValueError, RecursionError):
            self.builder.unreadable += 1

    def _line(self, line: _Line) -> None:
        if bytes(line.header):
            self._head(_value(line.header))
        elif line.message is not None:
            self._message(line.message)
        elif line.event is not None:
            self._event(line.event, own=line.own)
        else:
            self.builder.unfamiliar("line of another shape")

    def _head(self, header: Any) -> None:
        run, task, sample = (_member(header, name) for name in ("run", "eval", "sample"))
        self.builder.native = run if isinstance(run, str) else None
        self.builder.seen_at(_member(task, "created"))
        self.builder.seen_at(_member(sample, "completed_at"))
        self.builder.model(_member(task, "model"))
        self.builder.version(_member(_member(task, "packages"), "inspect_ai"))
        limit = _member(_member(sample, "limit"), "type")
        if _member(sample, "error") is not None:
            self.ending = API_ERROR
        elif limit is not None:
            self.ending = _LIMITS.get(str(limit), INTERRUPTED)

    def _message(self, message: _Message) -> None:
        self.seen += 1
        content = _value(message.content)
        if message.role == "assistant":
            self._response(message, content)
        elif message.role == "tool":
            self._result(message, content)
        elif message.role == "user":
            self._user(message, content)
        elif message.role == "system":
            self._system(content)
        else:
            self.builder.unfamiliar(f"role {message.role}")

    def _user(self, message: _Message, content: Any) -> None:
        """Take what a person said: the dataset in a person's place, or an operator."""
        asked = message.source in ("input", "operator")
        if asked or (message.source is None and not self.builder.turn_count):
            if message.source == "operator" and self.builder.steps:
                self.builder.steer()
            self.builder.turn("\n".join(texts(content)))
        else:
            self.builder.inject()

    def _system(self, content: Any) -> None:
        if isinstance(content, str):
            self.builder.prompt(canon.utf8(content))
        elif not canon.depth_exceeds(content, canon.MAX_DEPTH):
            self.builder.prompt(canon.compact(content, sort=False))

    def _response(self, message: _Message, content: Any) -> None:
        self.builder.step(message.id or f"#{self.seen}")
        self.builder.say("\n".join(texts(content)))
        for call in message.tool_calls or []:
            given = _value(call.arguments)
            malformed = call.parse_error is not None or not isinstance(given, dict)
            self.builder.call(call.id or "", call.function or "", given, malformed=malformed)
        self.builder.stop(self.reason)
        self.reason = None

    def _result(self, message: _Message, content: Any) -> None:
        call, error = message.tool_call_id or "", message.error
        cause = None if error is None else self._cause(call, error)
        output = shown(content) or (error.message or "" if error is not None else "")
        if cause == REFUSED:
            self.builder.malformed(call)
        self.builder.result(call, output, cause is not None, cause)

    def _cause(self, call: str, error: _Failure) -> str:
        if error.type == "parsing" and (error.message or "").rstrip(".").endswith(_NOT_FOUND):
            return UNKNOWN_TOOL
        if error.type == "approval" and call in self.denied:
            return DENIED_PERSON
        return _CAUSES.get(error.type or "", FAILED)

    def _event(self, event: _Event, *, own: bool) -> None:
        self.builder.seen_at(event.timestamp)
        match event.event:
            case "model" if own:
                self._model(event)
            case "model":
                pass  # a model that another agent asked says nothing of this one
            case "span_begin":
                self._span(event)
            case "approval":
                self._approval(event)
            case "compaction":
                self.builder.compaction()
            case "interrupt":
                self.builder.stop(INTERRUPTED)
            case "tool":
                self._tool(event)
            case "sample_limit":
                self.ending = self.ending or _LIMITS.get(event.type or "", INTERRUPTED)
            case kind:
                self.builder.unfamiliar(f"event {kind}")

    def _approval(self, event: _Event) -> None:
        if event.decision in ("reject", "terminate") and event.approver in _PEOPLE and event.call:
            self.denied.add(event.call.id or "")

    def _tool(self, event: _Event) -> None:
        """A tool that raised ends its sample, and no message tells of it."""
        if event.failed and event.id in self.builder.open_calls:
            self.builder.outcome(event.id, is_error=True, cause=FAILED)

    def _model(self, event: _Event) -> None:
        """Take what the call that produces the next message was sent, and how it ended."""
        self.builder.model(event.model)
        raw = bytes(event.tools)
        if raw.strip(b"[] \n\t\r") and raw.startswith(b"["):
            self.builder.surface(raw, reconstructed=True)
        output = event.output or _Output()
        reasons = [choice.stop_reason for choice in output.choices or []]
        self.reason = _REASONS.get(reasons[0] or "") if reasons else None
        if output.usage is not None:
            self._spend(output.usage)

    def _spend(self, usage: _Usage) -> None:
        """Note the tokens; whether input holds the cache's share, the total tells."""
        read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
        sent, written = usage.input_tokens or 0, usage.output_tokens or 0
        if usage.total_tokens == sent + written + read + write:
            sent += read + write
        self.builder.spend(f"#{self.builder.records}", sent, written, read, write)

    def _span(self, event: _Event) -> None:
        """Name an agent that runs inside another agent, or inside a tool."""
        if event.id is None:
            return
        self.spans[event.id] = (event.type or "", event.parent_id or "")
        if event.type == "agent" and self._is_inside(event.parent_id or ""):
            self.builder.subagents.append(event.id)

    def _is_inside(self, span: str) -> bool:
        passed: set[str] = set()
        while span in self.spans and span not in passed:
            passed.add(span)
            kind, span = self.spans[span]
            if kind in _INNER:
                return True
        return False


def _value(raw: msgspec.Raw) -> Any:
    """Parse a body; None where it is absent."""
    data = bytes(raw)
    try:
        return canon.read(data) if data else None
    except ValueError:
        return None


def _member(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else None
