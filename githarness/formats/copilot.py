"""Reader of Copilot CLI event logs: one event a line, with a dotted type.

The gap this closes: an execution may be logged before the message that asked for it,
without one, or without an end, and a subagent's messages stand in its parent's file.
The decision: a call is issued by whichever record names it first and takes its step
from the response that asked for it; an end without any call is an orphan. What bears
a parent call is a subagent's, which is named and not counted. A truncation drops
messages and is no compaction, since nothing takes their place.

What it does not do: it knows no tool specs (the log holds their size in tokens only),
and claims no token sum that names output alone.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats import copilot_events as events
from githarness.formats.copilot_events import Data, Line, Request
from githarness.formats.payload import arguments, number, shown
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    COMPLETED,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    Session,
)

NAME = "copilot-cli"
AGENT = "copilot-cli"
READER = 1

# How a tool's end and a permission's answer word a refusal.
_DENIALS = {"rejected": DENIED_PERSON, "denied": DENIED_HOOK}
_BY_PERSON = "interactively"
_HEADS = frozenset({"session.start", "session.resume"})


def sniff(peek: Peek) -> bool:
    """Claim lines of events, by the header's own fields or by two names no other client has."""
    return any(_is_ours(record) for record in peek.objects())


def _is_ours(record: dict[str, Any]) -> bool:
    data = record.get("data")
    if not isinstance(data, dict):
        return False
    if record.get("type") == "session.start":
        return "copilotVersion" in data or data.get("producer") == "copilot-agent"
    return "parentId" in record and str(record.get("type")) in events.KNOWN


class Reader(msgspec.Struct, kw_only=True):
    """Reads one log. `early` are calls whose execution was logged before their request.

    `talking` is set between a turn's start and its end. `asked` maps a permission
    request to its call, `denied` a call to who denied it, and `typed` are executions
    that a person asked for. `joined` says that another session's log was put behind
    this one's.
    """

    builder: Builder
    talking: bool = False
    early: set[str] = set()
    asked: dict[str, str] = {}
    denied: dict[str, str] = {}
    typed: set[str] = set()
    joined: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep))

    def feed(self, record: bytes) -> None:
        """Take one line. Never raises; what cannot be read or is unknown is counted."""
        self.builder.records += 1
        line = events.read(record)
        if line is None:
            self.builder.unreadable += 1
        elif line.type not in events.KNOWN:
            self.builder.unfamiliar(line.type or "(no type)")
        elif self._is_own(line, line.data or Data()):
            self.builder.seen_at(line.timestamp)
            self._take(line, line.data or Data())
        else:
            self.builder.copied += 1

    def finish(self) -> Session:
        """Return what was understood so far."""
        return self.builder.finish()

    def _is_own(self, line: Line, data: Data) -> bool:
        """Tell whether an event is this session's; a header of another one opens that one's log."""
        if line.type in _HEADS and data.session_id:
            self.joined = self.builder.native not in (None, data.session_id)
        return not self.joined

    def _take(self, line: Line, data: Data) -> None:
        if line.type in _HEADS:
            self._head(data)
        elif line.agent_id or data.parent_tool_call_id or data.parent_agent_task_id:
            self._note(line.agent_id or data.parent_tool_call_id or data.parent_agent_task_id)
        elif line.type in events.QUIET:
            return
        elif line.type.startswith("tool."):
            self._tool(line.type, data)
        elif line.type.startswith("session."):
            self._session(line.type, data)
        else:
            self._speech(line.type, data)

    def _head(self, data: Data) -> None:
        """Take the header; where a session was resumed, the first one's place stands."""
        builder, context = self.builder, data.context
        builder.native = builder.native or data.session_id
        builder.version(data.copilot_version)
        if data.selected_model != "auto":
            builder.model(data.selected_model)
        if context is not None:
            builder.project = builder.project or context.cwd
            builder.branch = builder.branch or context.branch

    def _note(self, agent: str | None) -> None:
        if agent and agent not in self.builder.subagents:
            self.builder.subagents.append(agent)

    def _session(self, kind: str, data: Data) -> None:
        if kind == "session.model_change":
            self.builder.model(data.new_model)
        elif kind == "session.compaction_complete" and data.success is not False:
            self.builder.compaction()
        elif kind == "session.error":
            self.builder.stop(API_ERROR)
        elif kind == "session.task_complete":
            self.builder.stop(COMPLETED)
        elif kind == "session.shutdown":
            self._shutdown(data)

    def _shutdown(self, data: Data) -> None:
        """Take the totals, which are over all legs of a resumed session."""
        for name in data.model_metrics or {}:
            self.builder.model(name)
        usages = [metric.usage for metric in (data.model_metrics or {}).values() if metric.usage is not None]
        if usages:
            rows = [(one.input_tokens, one.output_tokens, one.cache_read_tokens, one.cache_write_tokens)
                    for one in usages]  # fmt: skip
            self.builder.spend_total(*(sum(column) for column in zip(*rows, strict=True)))
        elif bytes(data.token_details):
            details = events.parse(data.token_details)
            names = ("input", "output", "cache_read", "cache_write")
            fresh, output, read, write = (number(details, name, "tokenCount") for name in names)
            self.builder.spend_total(fresh + read + write, output, read, write)
        if data.shutdown_type == "error":
            self.builder.last = "crash"  # whatever came before it, this was no completion

    def _speech(self, kind: str, data: Data) -> None:
        if kind == "assistant.message":
            self._response(data)
        elif kind == "user.message":
            self._user(data)
        elif kind == "system.message":
            self._system(data)
        elif kind in ("assistant.turn_start", "assistant.turn_end"):
            self.talking = kind == "assistant.turn_start"
            self.builder.model(data.model)
        elif kind == "abort":
            self.talking = False
            self.builder.stop(INTERRUPTED)
        elif kind == "system.notification":
            self.builder.inject()
        elif kind.startswith("subagent."):
            self._note(data.tool_call_id)
        elif kind == "permission.requested":
            self._asked(data)
        elif kind == "permission.completed":
            self._answered(data)

    def _user(self, data: Data) -> None:
        if data.source not in (None, "user"):
            self.builder.inject()
            return
        if data.delivery == "steering" or (self.talking and data.delivery != "queued"):
            self.builder.steer()
        self.builder.turn(shown(events.parse(data.content)))

    def _system(self, data: Data) -> None:
        text = events.parse(data.content)
        if data.role == "system" and isinstance(text, str):
            self.builder.prompt(canon.utf8(text))
        else:
            self.builder.inject()

    def _response(self, data: Data) -> None:
        self.builder.step(data.api_call_id or data.message_id)
        self.builder.model(data.model)
        if data.input_tokens is not None and data.output_tokens is not None:
            key = data.api_call_id or data.message_id or f"#{self.builder.records}"
            self.builder.spend(key, data.input_tokens, data.output_tokens)
        text = events.parse(data.content)
        if isinstance(text, str):
            self.builder.say(text)
        for request in data.tool_requests or []:
            self._request(request)

    def _request(self, request: Request) -> None:
        if request.tool_call_id is None:
            self.builder.unfamiliar("request without an id")
            return
        if request.tool_call_id in self.early:
            self.early.discard(request.tool_call_id)
            self._place(request.tool_call_id)
            return
        self._call(request.tool_call_id, request.name, request.arguments)

    def _place(self, call: str) -> None:
        """Give a call that was logged early the step of the response that asked for it."""
        builder = self.builder
        at = builder.open_calls.get(call, builder.answered.get(call))
        if at is not None:
            builder.calls[at] = msgspec.structs.replace(builder.calls[at], step=builder.steps)

    def _call(self, call: str, name: str | None, body: msgspec.Raw) -> None:
        given, malformed = arguments(events.parse(body))
        self.builder.call(call, name or "", given, malformed=malformed)

    def _tool(self, kind: str, data: Data) -> None:
        call = data.tool_call_id
        if call is None:
            self.builder.unfamiliar(f"{kind} without an id")
        elif kind == "tool.user_requested":
            self.typed.add(call)
        elif call in self.typed:
            return
        elif kind == "tool.execution_complete":
            self._result(call, data)
        elif call not in self.builder.open_calls and call not in self.builder.answered:
            self.early.add(call)
            self._call(call, data.tool_name, data.arguments)

    def _result(self, call: str, data: Data) -> None:
        failed = None if data.success is None else not data.success
        error = data.error
        if failed is None and error is not None:
            failed = True
        output = ""
        if self.builder.keep:
            said = events.parse(data.result.content) if data.result is not None else None
            output = shown(said) if said is not None else (error.message or "" if error is not None else "")
        self.builder.result(call, output, failed, self._cause(call, data) if failed else None)

    def _cause(self, call: str, data: Data) -> str:
        code = data.error.code if data.error is not None else None
        return self.denied.get(call) or _DENIALS.get(code or "", FAILED)

    def _asked(self, data: Data) -> None:
        asked = data.permission_request
        if data.request_id and asked is not None and asked.tool_call_id:
            self.asked[data.request_id] = asked.tool_call_id

    def _answered(self, data: Data) -> None:
        call = self.asked.pop(data.request_id or "", None)
        kind = (data.result.kind or "") if data.result is not None else ""
        if call is not None and kind.startswith("denied"):
            self.denied[call] = DENIED_PERSON if _BY_PERSON in kind else DENIED_HOOK
