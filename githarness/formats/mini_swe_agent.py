"""Reader of mini-swe-agent trajectories: a bare list of messages, or a document with info.

The gap this closes: one agent, two dialects. Text models write a command in a fence
and get its output back in the user's place, so that a naive reader counts a turn per
command; tool-calling models have ids. The decision: one turn, the task; a user message
after a command is its output, any other is a nudge of the harness. The command that
submits is answered by the end of the run, and is a success exactly when that says so.

What it does not do: it holds no tool spec (the single tool's lives in the agent's
source) and keeps the shell's verdict: a grep that finds nothing exits with 1.
"""

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import joined, parsed
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    COMPLETED,
    COST_BUDGET,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    MAX_TURNS,
    NO_OUTPUT,
    Session,
)

NAME = "mini-swe-agent"
AGENT = "mini-swe-agent"
READER = 1

# The one tool there is; text models never name it.
TOOL = "bash"

_FENCE = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL)
_RETURNCODE = re.compile(r"\s*<returncode>\s*(-?\d{1,10})\s*</returncode>")
_DENIED = "The user rejected your command"

_STOPS = {
    "submitted": COMPLETED,
    "userinterruption": INTERRUPTED,
    "keyboardinterrupt": INTERRUPTED,
    "repeatedformaterror": NO_OUTPUT,
    "timeout": API_ERROR,
}
_LIMIT = "limitsexceeded"


class _Function(msgspec.Struct):
    name: str = TOOL
    arguments: Any = None


class _ToolCall(msgspec.Struct):
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None


class _Response(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class _Extra(msgspec.Struct):
    returncode: int | None = None
    timestamp: float | None = None
    response: _Response | None = None
    exit_status: str | None = None
    interrupt_type: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: Any = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None
    extra: _Extra | None = None


def sniff(peek: Peek) -> bool:
    """Claim a document that names the agent, or a bare list with its return codes."""
    value = peek.document
    if isinstance(value, list):
        return _is_bare(value)
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    info = value.get("info")
    named = isinstance(info, dict) and "mini_version" in info
    return named or str(value.get("trajectory_format")).startswith(NAME)


def _is_bare(messages: list[Any]) -> bool:
    """Tell the list of a first-generation run: only this harness wraps outputs so."""
    roles = [m.get("role") if isinstance(m, dict) else None for m in messages[:3]]
    if roles != ["system", "user", "assistant"]:
        return False
    users = [m.get("content") for m in messages[3:] if isinstance(m, dict) and m.get("role") == "user"]
    return any(isinstance(text, str) and _RETURNCODE.match(text) for text in users)


class Reader(msgspec.Struct, kw_only=True):
    """Reads one run. `waiting` holds the calls of the last response that have no output yet."""

    builder: Builder
    waiting: list[str] = []
    asked: bool = False
    limit: str | None = None

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take the whole document."""
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        messages = value.get("messages") if isinstance(value, dict) else value
        if not isinstance(messages, list):
            self.builder.records += 1
            self.builder.unreadable += 1
            return
        info = value.get("info") if isinstance(value, dict) else None
        if isinstance(info, dict):
            self._info(info)
        for message in messages:
            self._any_message(message)
        if isinstance(info, dict) and isinstance(info.get("exit_status"), str):
            self._stop(info["exit_status"], info.get("submission"))

    def finish(self) -> Session:
        """Return what was understood."""
        return self.builder.finish()

    def _info(self, info: dict[str, Any]) -> None:
        self.builder.version(info.get("mini_version"))
        model, place = _at(info, "config", "model", "model_name"), _at(info, "config", "environment", "cwd")
        self.builder.model(model)
        self.builder.project = place if isinstance(place, str) and place else None
        steps, allowed = _at(info, "model_stats", "api_calls"), _at(info, "config", "agent", "step_limit")
        if isinstance(steps, int) and isinstance(allowed, int):
            # One status stands for both limits; the steps tell which was reached.
            self.limit = MAX_TURNS if 0 < allowed <= steps else COST_BUDGET

    def _any_message(self, value: Any) -> None:
        self.builder.records += 1
        try:
            message = msgspec.convert(value, type=_Message)
        except msgspec.ValidationError:
            self.builder.unfamiliar("message of another shape")
            return
        if message.extra is not None:
            self.builder.seen_at(_moment(message.extra.timestamp))
        self._message(message)

    def _message(self, message: _Message) -> None:
        text = joined(message.content)
        if message.role == "system":
            self.builder.prompt(_sent(message.content))
        elif message.role == "assistant":
            self._response(message, text)
        elif message.role == "tool":
            self._result(message.tool_call_id or "", text, message.extra)
        elif message.role == "user":
            self._user(message, text)
        elif message.role == "exit":
            status = message.extra.exit_status if message.extra is not None else None
            self._stop(status or "", text)
        else:
            self.builder.unfamiliar(f"role {message.role}")

    def _response(self, message: _Message, text: str) -> None:
        self.waiting = []
        self.builder.step()
        self.builder.say(text)
        if message.extra is not None and message.extra.response is not None:
            self._spent(message.extra.response)
        for call in message.tool_calls or []:
            self._call(call.id, call.function.name, call.function.arguments)
        found = [] if message.tool_calls else _FENCE.findall(text)
        if len(found) == 1:  # the harness runs exactly one, and nudges otherwise
            self._call(None, TOOL, {"command": found[0]})

    def _call(self, given: str | None, name: str, arguments: Any) -> None:
        key = given or f"#{len(self.builder.calls)}"
        found = parsed(arguments)
        self.builder.call(key, name, found, malformed=not isinstance(found, dict))
        self.waiting.append(key)

    def _spent(self, response: _Response) -> None:
        self.builder.model(response.model if not self.builder.models else None)
        usage = response.usage
        if usage is not None:
            read = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else None
            key = response.id or f"#{self.builder.steps}"
            self.builder.spend(key, usage.prompt_tokens or 0, usage.completion_tokens or 0, read or 0)

    def _user(self, message: _Message, text: str) -> None:
        interrupt = message.extra.interrupt_type if message.extra is not None else None
        if not self.asked:
            self.asked = True
            self.builder.turn(text)
        elif _DENIED in text[:200] or interrupt == "UserRejection":
            self.builder.steer()
            self._deny(text)
        elif interrupt == "UserInterruption":
            self.builder.steer()
        elif len(self.waiting) == 1 and interrupt is None:
            self._result(self.waiting[0], text, message.extra)
        else:
            self.builder.inject()

    def _deny(self, text: str) -> None:
        for key in self.waiting:
            self.builder.result(key, text, is_error=True, cause=DENIED_PERSON)
        self.waiting = []

    def _result(self, key: str, text: str, extra: _Extra | None) -> None:
        code = extra.returncode if extra is not None else None
        written = _RETURNCODE.match(text)
        if code is None and written is not None:
            code = int(written[1])
        failed = None if code is None else code != 0
        self.builder.result(key, text, is_error=failed, cause=FAILED if failed else None)
        if key in self.waiting:
            self.waiting.remove(key)

    def _stop(self, status: str, words: Any) -> None:
        """Note the end; a submission is the success of the command that made it."""
        name = status.lower()
        cause = self.limit if name == _LIMIT else _STOPS.get(name)
        if cause is None and name.endswith("error"):
            cause = API_ERROR
        if cause == COMPLETED and len(self.waiting) == 1:
            self.builder.result(
                self.waiting.pop(), words if isinstance(words, str) else "", is_error=False, cause=None
            )
        if cause is None:
            self.builder.last = "exit"  # an end that is told and not understood is no completion
        self.builder.stop(cause)


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _sent(content: Any) -> bytes:
    """Return a system prompt as bytes: a text as it is, blocks as JSON."""
    return canon.utf8(content) if isinstance(content, str) else canon.compact(content, sort=False)


def _moment(seconds: float | None) -> str | None:
    if seconds is None or not 0 <= seconds < 253_402_300_800:  # later times have no four-digit year
        return None
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
