"""Reader of ATIF trajectories (Harbor RFC 0001): one document per run, of any agent.

The gap this closes: the format pairs results to calls by an id that its own largest
producer leaves out, and carries no error flag at all. The decision: a result without
an id belongs to a call only where the step holds exactly one of each; every outcome
is unknown; context that was copied from an earlier run is counted and not read again.

What it does not do: it reads no embedded or referenced trajectory (each subagent is a
run of its own) and guesses no error from the words of a result.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import Session

NAME = "atif"
AGENT = "atif"
READER = 1


class _Ref(msgspec.Struct):
    session_id: str | None = None
    trajectory_id: str | None = None


class _Result(msgspec.Struct):
    source_call_id: str | None = None
    content: Any = None
    subagent_trajectory_ref: list[_Ref] | None = None


class _Observation(msgspec.Struct):
    results: list[_Result] | None = None


class _Call(msgspec.Struct):
    function_name: str
    tool_call_id: str | None = None
    arguments: Any = None


class _Metrics(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class _Totals(msgspec.Struct):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None


class _Step(msgspec.Struct):
    source: str
    timestamp: Any = None
    message: Any = None
    model_name: Any = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    metrics: _Metrics | None = None
    is_copied_context: bool | None = None


class _Agent(msgspec.Struct):
    name: str = AGENT
    version: str | None = None
    model_name: str | None = None
    tool_definitions: Any = None


class _RawAgent(msgspec.Struct):
    tool_definitions: msgspec.Raw = msgspec.Raw()


class _RawTools(msgspec.Struct):
    agent: _RawAgent


def sniff(peek: Peek) -> bool:
    """Claim a document that names its schema and has steps."""
    return _is_trajectory(peek.document)


def _is_trajectory(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        return False
    return str(value.get("schema_version")).startswith("ATIF-")


class Reader(msgspec.Struct, kw_only=True):
    """Reads one trajectory."""

    builder: Builder

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        # Summaries show as runs of their own at best: the format keeps no trace to count.
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take the whole document."""
        try:
            document = canon.read(record)
        except ValueError:
            document = None
        if not _is_trajectory(document):
            self.builder.records += 1
            self.builder.unreadable += 1
            return
        self._head(document)
        self._surface(record, document)
        for step in document["steps"]:
            self._any_step(step)
        self._totals(document.get("final_metrics"))

    def finish(self) -> Session:
        """Return what was understood."""
        return self.builder.finish()

    def _head(self, document: dict[str, Any]) -> None:
        native = document.get("session_id")
        self.builder.native = native if isinstance(native, str) and native else None
        try:
            agent = msgspec.convert(document.get("agent"), type=_Agent)
        except msgspec.ValidationError:
            self.builder.unfamiliar("agent of another shape")
            return
        self.builder.agent = agent.name or AGENT
        self.builder.version(agent.version)
        self.builder.model(agent.model_name)

    def _surface(self, record: bytes, document: dict[str, Any]) -> None:
        """Cite the tool definitions by the bytes they have in the file, where those can be cut out."""
        agent = document.get("agent")
        tools = agent.get("tool_definitions") if isinstance(agent, dict) else None
        if not isinstance(tools, list):
            return
        try:
            raw = bytes(msgspec.json.decode(record, type=_RawTools).agent.tool_definitions)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.builder.surface(canon.compact(tools, sort=False), reconstructed=True)
        else:
            self.builder.surface(raw)

    def _any_step(self, value: Any) -> None:
        self.builder.records += 1
        try:
            step = msgspec.convert(value, type=_Step)
        except msgspec.ValidationError:
            self.builder.unfamiliar("step of another shape")
            return
        if step.is_copied_context:
            self.builder.copied += 1
            return
        self.builder.seen_at(step.timestamp)
        self._step(step)

    def _step(self, step: _Step) -> None:
        if step.source == "user":
            self.builder.turn(_text(step.message))
        elif step.source == "system":
            self.builder.inject()
        elif step.source == "agent":
            self._response(step)
        else:
            self.builder.unfamiliar(f"source {step.source}")

    def _response(self, step: _Step) -> None:
        self.builder.step()
        self.builder.model(step.model_name)
        self.builder.say(_text(step.message))
        if step.metrics is not None:
            read = step.metrics.cached_tokens or 0
            spent = (step.metrics.prompt_tokens or 0, step.metrics.completion_tokens or 0, read)
            self.builder.spend(str(self.builder.steps), *spent)
        ids = [self._call(call) for call in step.tool_calls or []]
        for result in (step.observation and step.observation.results) or []:
            self._result(result, ids, step)

    def _call(self, call: _Call) -> str:
        key = call.tool_call_id or f"#{len(self.builder.calls)}"
        given = call.arguments
        self.builder.call(key, call.function_name, given, malformed=not isinstance(given, dict))
        return key

    def _result(self, result: _Result, ids: list[str], step: _Step) -> None:
        for ref in result.subagent_trajectory_ref or []:
            native = ref.trajectory_id or ref.session_id
            if native and native not in self.builder.subagents:
                self.builder.subagents.append(native)
        key = result.source_call_id
        if key is None and len(ids) == 1 and step.observation and len(step.observation.results or []) == 1:
            key = ids[0]
        if key is not None:
            self.builder.result(key, _text(result.content), is_error=None, cause=None)

    def _totals(self, value: Any) -> None:
        try:
            totals = msgspec.convert(value, type=_Totals | None)
        except msgspec.ValidationError:
            self.builder.unfamiliar("final_metrics of another shape")
            return
        if totals is None or (totals.total_prompt_tokens is None and totals.total_completion_tokens is None):
            return
        sent, written = totals.total_prompt_tokens or 0, totals.total_completion_tokens or 0
        self.builder.spend_total(sent, written, totals.total_cached_tokens or 0)


def _text(value: Any) -> str:
    """Return a text, or the text parts of a message that has several parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
