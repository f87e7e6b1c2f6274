"""Reader of OpenTelemetry GenAI records: OTLP batches, spans, and generations.

The gap this closes: spans come unordered and partial, every model call tells the whole
conversation again, an agent's span tells it once more, and most exporters leave the
messages out altogether, so that only the tools' own spans show that anything was
called. The decision: spans are taken by their end; a model call is a step and its
history counts once; a tool's span gives the outcome its result lacks, and is a call
itself where no message told it. A span that ended without an error is a success, as the
convention has it. What ran under an inner agent is that agent's.

What it does not do: it separates no two conversations (those after the first are
counted as unfamiliar), and over lines it knows no inner agents, since a child's line
stands before its parent's. It reads the names of one convention only.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats import otel_messages, otel_spans
from githarness.formats.cut import Body, elements
from githarness.formats.history import BY_ID, History, Walk
from githarness.formats.otel_messages import Inference, Message, Part
from githarness.formats.otel_spans import Span
from githarness.formats.payload import arguments, shown, spelled
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, CANCELLED, FAILED, UNKNOWN, Session

NAME = "otel-genai"
AGENT = "otel-genai"
READER = 1

_PREFIX = "gen_ai."
_TOOL, _AGENTS = "execute_tool", frozenset({"invoke_agent", "invoke_workflow"})
_ASIDE = frozenset({"create_agent", "embeddings", "retrieval"})
_MODELS = ("gen_ai.request.model", "gen_ai.response.model")
# A list of exports of lists, and nothing writes more.
_MAX_DEPTH = 3
_QUIET = frozenset({"reasoning", "thinking", "blob", "file", "uri"})


def sniff(peek: Peek) -> bool:
    """Claim spans of which one bears an attribute of the convention, or generations."""
    values = [peek.document] if peek.document is not None else list(peek.records)
    if any(map(_is_told, values)):
        return True
    spans = [span for value in values for span in otel_spans.find(value) or []]
    return any(key.startswith(_PREFIX) for span in spans for key in span.attributes)


def _is_told(value: Any, depth: int = 0) -> bool:
    """Tell whether a value is a generation, an export of some, or a list of either."""
    inner = value.get("generations") if isinstance(value, dict) else value
    if isinstance(inner, list):
        return depth < _MAX_DEPTH and bool(inner) and all(_is_told(one, depth + 1) for one in inner[:3])
    if not isinstance(value, dict):
        return False
    spoken = isinstance(value.get("output"), list) or isinstance(value.get("input"), list)
    return spoken and "operation_name" in value and isinstance(value.get("model"), dict)


class Reader(msgspec.Struct, kw_only=True):
    """Reads one conversation. `outcomes` are what tools' spans said of a call ("" a success).

    `told` is what the histories so far held, `lone` the calls that only a tool's span
    told, and `traced` is set while a trace stands in for a conversation's id.
    """

    builder: Builder
    told: History
    outcomes: dict[str, str] = {}
    lone: set[str] = set()
    traced: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None), told=History())

    def feed(self, record: bytes) -> None:
        """Take one span, batch, generation, or a document of them. Never raises."""
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        spans = otel_spans.find(value)
        if spans is not None:
            self._spans(spans)
        elif _is_told(value):
            self._told(record.strip())
        elif isinstance(value, dict | list):
            self.builder.records += 1
            self.builder.unfamiliar("record without spans")
        else:
            self._unread()

    def finish(self) -> Session:
        """Return what was understood so far."""
        for call, cause in self.outcomes.items():
            self.builder.outcome(call, cause != "", cause or None)
        return self.builder.finish()

    def _unread(self) -> None:
        self.builder.records += 1
        self.builder.unreadable += 1

    def _spans(self, spans: list[Span]) -> None:
        agents = frozenset(span.id for span in spans if _operation(span) in _AGENTS)
        inner = otel_spans.nested(spans, agents)
        for span in spans:
            self.builder.records += 1
            if span.id in inner:
                self._note(inner[span.id])
            elif not any(key.startswith(_PREFIX) for key in span.attributes):
                self.builder.unfamiliar("span of something else")
            elif self._is_ours(span.attributes.get("gen_ai.conversation.id"), span.trace):
                self._span(span)

    def _note(self, agent: str) -> None:
        if agent not in self.builder.subagents:
            self.builder.subagents.append(agent)

    def _is_ours(self, conversation: object, trace: str) -> bool:
        """Name the session, and tell whether a record belongs to it."""
        builder = self.builder
        if isinstance(conversation, str) and conversation:
            if builder.native is None or self.traced:
                builder.native, self.traced = conversation, False
            if conversation != builder.native:
                builder.unfamiliar("another conversation")
                return False
        elif builder.native is None and trace:
            builder.native, self.traced = trace, True
        return True

    def _span(self, span: Span) -> None:
        found = span.attributes
        for moment in otel_spans.when(span):
            self.builder.seen_at(moment)
        self._agent(found.get("gen_ai.agent.name"), found.get("gen_ai.agent.version"))
        operation = _operation(span)
        if operation == _TOOL:
            self._tool(span)
        elif operation in _AGENTS:
            self._retold(otel_messages.of_span(span))
        elif operation in _ASIDE or not any(key in found for key in _MODELS):
            self.builder.unfamiliar(operation or "span without an operation")
        else:
            self._inference(otel_messages.of_span(span))

    def _agent(self, name: object, version: object) -> None:
        if self.builder.agent == AGENT and isinstance(name, str) and name:
            self.builder.agent = name
        self.builder.version(version)

    def _told(self, record: bytes) -> None:
        """Open lists and exports of generations, of which one that is none costs no other."""
        if record.startswith(b"["):
            for raw in elements(record):
                self._told(raw.strip())
            return
        try:
            body = Body.read(record)
            if "generations" in body:
                self._told(body.raw("generations").strip())
            else:
                self._generation(body)
        except ValueError:
            self._unread()

    def _generation(self, body: Body) -> None:
        self.builder.records += 1
        if not self._is_ours(body.get("conversation_id"), str(body.get("trace_id") or "")):
            return
        self.builder.seen_at(body.get("started_at"))
        self.builder.seen_at(body.get("completed_at"))
        self._agent(body.get("agent_name"), body.get("agent_version"))
        self._inference(otel_messages.of_generation(body))

    def _inference(self, one: Inference) -> None:
        walk = Walk(self.builder, self.told)
        self._given(walk, one)
        self.builder.model(one.model)
        if one.failed and not one.said:
            self.builder.stop(API_ERROR)
            return
        walk.reply(one.id)
        for message in one.said:
            self._parts(walk, message.parts)
        walk.close(API_ERROR if one.failed else one.stop)
        if one.tokens is not None:
            self.builder.spend(one.id, *one.tokens)

    def _retold(self, one: Inference) -> None:
        """Take an agent's own span: what it tells was mostly told by the model calls in it."""
        walk = Walk(self.builder, self.told)
        self._given(walk, one)
        for message in one.said:
            walk.reply()
            self._parts(walk, message.parts)
        walk.settle(one.id)
        if one.failed:
            self.builder.stop(API_ERROR)

    def _given(self, walk: Walk, one: Inference) -> None:
        for message in one.given:
            self._heard(walk, message)
        walk.settle(one.id)
        for name in one.cut:
            self.builder.unfamiliar(f"{name} cut short")
        if one.system:
            self.builder.prompt(one.system)
        if one.tools:
            self.builder.surface(one.tools, reconstructed=one.reconstructed)

    def _heard(self, walk: Walk, message: Message) -> None:
        if message.role == "assistant":
            walk.reply()
            self._parts(walk, message.parts)
        elif message.role in ("user", "tool"):
            rest = tuple(part for part in message.parts if part.kind != "text")
            self._parts(walk, rest)
            walk.hear(part.text for part in message.parts if part.kind == "text")
        elif message.role != "system":
            self.builder.unfamiliar(f"role {message.role}")

    def _parts(self, walk: Walk, parts: tuple[Part, ...]) -> None:
        for part in parts:
            if part.kind == "text":
                walk.say(part.text)
            elif part.kind == "call":
                if part.id not in self.lone:
                    walk.call(part.id, part.name, part.input, by=BY_ID, malformed=part.malformed)
            elif part.kind == "result":
                self._result(walk, part)
            elif part.kind not in _QUIET and walk.is_new("part", part.kind):
                self.builder.unfamiliar(f"part {part.kind}")

    def _result(self, walk: Walk, part: Part) -> None:
        told = self.outcomes.get(part.id)
        cause = UNKNOWN if told is None else told or None
        if told is None and part.failed is not None:
            cause = FAILED if part.failed else None
        if part.id not in self.lone:
            walk.result(part.id, part.text, cause=cause)
        elif all(call.output is None for call in self.builder.calls if call.id == part.id):
            flag = None if cause == UNKNOWN else cause is not None
            self.builder.result(part.id, part.text, flag, cause)

    def _tool(self, span: Span) -> None:
        """Take a tool's span: the outcome of a call that was told, or a call that only it tells."""
        found, builder = span.attributes, self.builder
        name = str(found.get("gen_ai.tool.name") or span.name.removeprefix("execute_tool "))
        call = self._named(found.get("gen_ai.tool.call.id"), name)
        if call is None:
            call = str(found.get("gen_ai.tool.call.id") or span.id)
            given, malformed = arguments(found.get("gen_ai.tool.call.arguments"))
            builder.call(call, name, given, malformed=malformed)
            self.lone.add(call)
        cause = _cause(span) if span.error is not None else None
        if span.end is not None or cause is not None:
            self.outcomes[call] = cause or ""
        self._returned(call, found.get("gen_ai.tool.call.result"), cause)

    def _returned(self, call: str, output: object, cause: str | None) -> None:
        """Take what a tool's span says came back; a call that only the span tells has no other result."""
        if call in self.builder.open_calls and (output is not None or call in self.lone):
            text = output if output is None or isinstance(output, str) else spelled(output)
            unknown = call not in self.outcomes
            flag = None if unknown else cause is not None
            self.builder.result(call, text, flag, UNKNOWN if unknown else cause)

    def _named(self, native: object, name: str) -> str | None:
        """Find the call a tool's span is of: by its id, else the first open one of its name."""
        builder = self.builder
        if isinstance(native, str) and native:
            return native if native in builder.open_calls or native in builder.answered else None
        return next((key for key, at in builder.open_calls.items() if builder.calls[at].name == name), None)


def _operation(span: Span) -> str:
    return str(span.attributes.get("gen_ai.operation.name") or "")


def _cause(span: Span) -> str:
    return CANCELLED if "cancel" in shown(span.error).lower() else FAILED
