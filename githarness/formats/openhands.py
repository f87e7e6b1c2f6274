"""Reader of OpenHands conversations: a list of events, or one event per line.

The gap this closes: two generations of one agent share nothing but the word event,
and both hold what most transcripts lack, the full tool specs that were sent. The
decision: one reader, an event read by its own generation; results are paired by call
id, and by the causing event's id where a call had none; several calls of one model
response are one step.

What it does not do: it follows no delegate (its events stand in the same list) and
guesses nothing where an observation carries neither flag nor exit code.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats import openhands_shapes as shapes
from githarness.formats.payload import joined, parsed
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    COMPLETED,
    COST_BUDGET,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    LOOP,
    MAX_TURNS,
    REFUSED,
    UNKNOWN_TOOL,
    Session,
)

NAME = "openhands"
AGENT = "openhands"
READER = 1

_SOURCES = frozenset({"user", "agent", "environment"})
_SPOKEN = frozenset({"SystemPromptEvent", "MessageEvent", "ActionEvent", "ConversationStateUpdateEvent"})

# Actions and observations of the harness itself, which no model asked for.
_QUIET_ACTIONS = frozenset(
    {"change_agent_state", "recall", "null", "condensation_request", "start", "pause", "resume"}
)
_QUIET_OBSERVATIONS = frozenset({"recall", "null", "loop_detection"})
_QUIET_KINDS = frozenset(
    {
        "CondensationRequest",
        "CondensationSummaryEvent",
        "TokenEvent",
        "StreamingDeltaEvent",
        "HookExecutionEvent",
    }
    | {"LLMCompletionLogEvent"}
)

# Tools whose failure is an observation of another kind, so that theirs is a success.
_PLAIN = frozenset({"read", "write", "edit", "think", "task_tracking", "delegate"})

# A command that is still running has this code, which says neither yes nor no.
_RUNNING = -1

_STATES = {
    "finished": COMPLETED,
    "stopped": INTERRUPTED,
    "paused": INTERRUPTED,
    "stuck": LOOP,
    "error": None,
    "rejected": None,
    "awaiting_user_input": None,
    "idle": None,
}
_REASONS = (
    ("AgentStuckInLoop", LOOP),
    ("maximum iteration", MAX_TURNS),
    ("MaxIterations", MAX_TURNS),
    ("maximum budget", COST_BUDGET),
    ("LLM", API_ERROR),
    ("APIError", API_ERROR),
)
# How an agent error words what never ran.
_NEVER_RAN = (("rror validating", REFUSED), ("not found", UNKNOWN_TOOL))


def sniff(peek: Peek) -> bool:
    """Claim a list of events, or lines of them; one event alone is no conversation."""
    if isinstance(peek.document, dict):
        return False
    events = peek.document if isinstance(peek.document, list) else peek.records
    return bool(events) and all(_is_event(event) for event in events[:3])


def _is_event(event: Any) -> bool:
    if not isinstance(event, dict) or event.get("source") not in _SOURCES or "id" not in event:
        return False
    old = "timestamp" in event and ("action" in event or "observation" in event)
    return event.get("kind") in _SPOKEN or (old and "kind" not in event)


class Reader(msgspec.Struct, kw_only=True):
    """Reads one conversation. `causes` maps an event's id to the call it made.

    `busy` is set from a turn's start until the agent waits, so that words in between
    are known as steering.
    """

    builder: Builder
    causes: dict[str, str] = {}
    busy: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep))

    def feed(self, record: bytes) -> None:
        """Take one event, or the whole list of them."""
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        events = value if isinstance(value, list) else [value]
        for index, event in enumerate(events):
            self.builder.records += 1
            if isinstance(event, dict):
                self._any(event, record, index)
            else:
                self.builder.unreadable += 1

    def finish(self) -> Session:
        """Return what was understood so far."""
        return self.builder.finish()

    def _any(self, event: dict[str, Any], record: bytes, index: int) -> None:
        shape: type[shapes.New | shapes.Old] = shapes.New if "kind" in event else shapes.Old
        present = {name: value for name, value in event.items() if value is not None}
        try:
            found = msgspec.convert(present, type=shape)
        except msgspec.ValidationError:
            self.builder.unfamiliar("event of another shape")
            return
        self.builder.seen_at(found.timestamp)
        if isinstance(found, shapes.New):
            self._new(found, record, index)
        elif found.observation is not None:
            self._observed(found)
        else:
            self._acted(found, record, index)

    def _surface(self, tools: Any, record: bytes, index: int) -> None:
        """Cite tools by the bytes they have in the record, where those can be cut out."""
        if not isinstance(tools, list):
            return
        if not all(isinstance(tool, dict) and "function" in tool for tool in tools):
            self.builder.partial_names = True  # the agent's own descriptions, not what was sent
            return
        try:
            cut = shapes.RAW.decode(record)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.builder.surface(canon.compact(tools, sort=False), reconstructed=True)
            return
        event = cut[index] if isinstance(cut, list) else cut
        self.builder.surface(bytes(event.tools) or bytes(event.args.tools))

    def _asked(self, text: str) -> None:
        if self.busy:
            self.builder.steer()
        self.busy = True
        self.builder.turn(text)

    def _state(self, state: Any, reason: str = "") -> None:
        """The agent came to rest, or goes on."""
        if state not in _STATES:
            return
        self.busy = False
        cause = _STATES[state] or next((cause for words, cause in _REASONS if words in reason), None)
        if cause is not None:
            self.builder.stop(cause)
        elif state in {"error", "rejected"}:
            self.builder.last = "error"  # an end that is told and not understood is no completion

    def _acted(self, event: shapes.Old, record: bytes, index: int) -> None:
        if event.llm_metrics is not None and event.llm_metrics.accumulated_token_usage is not None:
            used = event.llm_metrics.accumulated_token_usage
            spent = (
                used.prompt_tokens,
                used.completion_tokens,
                used.cache_read_tokens,
                used.cache_write_tokens,
            )
            self.builder.spend_total(*spent)
        if event.action == "system":
            self._system(event, record, index)
        elif event.action == "condensation":
            self.builder.compaction()
        elif event.action == "message" and event.source == "user":
            self._asked(_text(event.args.get("content")))
        elif event.source == "agent" and event.action not in _QUIET_ACTIONS:
            self._response(event)
        elif event.action not in _QUIET_ACTIONS:
            self.builder.unfamiliar(f"action {event.action}")

    def _system(self, event: shapes.Old, record: bytes, index: int) -> None:
        content = event.args.get("content")
        if isinstance(content, str):
            self.builder.prompt(canon.utf8(content))
        self._surface(event.args.get("tools"), record, index)

    def _response(self, event: shapes.Old) -> None:
        call = event.tool_call_metadata
        response = call.model_response if call is not None else None
        self.builder.step(response.id if response is not None else None)
        self.builder.model(response.model if response is not None else None)
        self.builder.say(_text(event.args.get("thought")))
        if event.action == "message":
            self.busy = not event.args.get("wait_for_response")
            self.builder.say(_text(event.args.get("content")))
            return
        key = (call.tool_call_id if call is not None else None) or f"#{event.id}"
        name = (call.function_name if call is not None else None) or str(event.action)
        given = _given(call, event.args)
        self.causes[str(event.id)] = key
        self.builder.call(key, name, given, malformed=not isinstance(given, dict))
        if event.action == "finish":
            self._finished(key, event)

    def _finished(self, key: str, event: shapes.Old) -> None:
        """The harness took the call by ending the run: it has no observation, and did not fail."""
        self.builder.result(key, "", is_error=False, cause=None)
        self.builder.say(_text(event.args.get("final_thought") or event.args.get("message")))
        self.builder.stop(COMPLETED)
        self.busy = False

    def _observed(self, event: shapes.Old) -> None:
        kind, extras = event.observation or "", event.extras
        if kind == "agent_state_changed":
            self._state(extras.get("agent_state"), str(extras.get("reason") or ""))
            return
        meta = event.tool_call_metadata
        key = (meta.tool_call_id if meta is not None else None) or self.causes.get(str(event.cause))
        if key is not None:
            self.builder.result(key, _text(event.content), *_outcome(kind, extras))
        elif kind not in _QUIET_OBSERVATIONS and kind != "error":
            self.builder.unfamiliar(f"observation {kind} of no call")

    def _new(self, event: shapes.New, record: bytes, index: int) -> None:
        kind = event.kind
        if kind == "ActionEvent":
            self._call(event)
        elif kind in {"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}:
            self._answer(event)
        elif kind == "MessageEvent":
            self._message(event)
        elif kind == "SystemPromptEvent":
            text = _text(event.system_prompt)
            if text and event.dynamic_context is None:  # with a context it was sent as two blocks
                self.builder.prompt(canon.utf8(text))
            self._surface(event.tools, record, index)
        elif kind == "Condensation":
            self.builder.compaction()
        elif not self._mark(event):
            self.builder.unfamiliar(kind)

    def _mark(self, event: shapes.New) -> bool:
        """Note a mark of the conversation's state; False when the kind is not known."""
        if event.kind in {"PauseEvent", "InterruptEvent"}:
            self._state("paused")
        elif event.kind == "ConversationErrorEvent":
            self._state("error", str(event.code))
        elif event.kind == "ConversationStateUpdateEvent":
            self._update(event)
        else:
            return event.kind in _QUIET_KINDS
        return True

    def _update(self, event: shapes.New) -> None:
        if event.key == "execution_status" and isinstance(event.value, str):
            self._state(event.value)
        elif event.key == "full_state" and isinstance(event.value, dict):
            native, place = event.value.get("id"), _at(event.value, "workspace", "working_dir")
            self.builder.native = native if isinstance(native, str) and native else self.builder.native
            self.builder.project = place if isinstance(place, str) and place else self.builder.project
            self.builder.model(_at(event.value, "agent", "llm", "model"))

    def _message(self, event: shapes.New) -> None:
        text = _text(event.llm_message.content if event.llm_message is not None else None)
        if event.source == "user":
            self._asked(text)
        elif event.source == "agent":
            self.builder.step(event.llm_response_id)
            self.builder.say(text)
            self.busy = False
        else:
            self.builder.inject()

    def _call(self, event: shapes.New) -> None:
        self.builder.step(event.llm_response_id)
        self.builder.say(_text(event.thought))
        key = event.tool_call_id or f"#{len(self.builder.calls)}"
        written = event.tool_call
        given: Any = None
        if written is not None:
            given = parsed(written.function.arguments if written.function is not None else written.arguments)
        given = event.action if given is None else given
        self.builder.call(key, event.tool_name, given, malformed=not isinstance(given, dict))
        if event.tool_name == "finish" and isinstance(event.action, dict):
            self.builder.say(_text(event.action.get("message")))
            self.builder.stop(COMPLETED)

    def _answer(self, event: shapes.New) -> None:
        key = event.tool_call_id or ""
        if event.kind == "UserRejectObservation":
            cause = DENIED_HOOK if event.rejection_source == "hook" else DENIED_PERSON
            self.builder.result(key, event.rejection_reason or "", is_error=True, cause=cause)
        elif event.kind == "AgentErrorEvent":
            head = (event.error or "")[:240]
            cause = next((cause for words, cause in _NEVER_RAN if words in head), FAILED)
            self.builder.result(key, event.error or "", is_error=True, cause=cause)
            if cause == REFUSED:
                self.builder.malformed(key)
        else:
            seen = event.observation
            text = _text(seen.get("content")) or _text(seen.get("output"))
            self.builder.result(key, text, *_flag(seen.get("is_error"), seen.get("exit_code")))


def _outcome(kind: str, extras: dict[str, Any]) -> tuple[bool | None, str | None]:
    """Tell how an observation of the first generation went."""
    if kind == "error":
        return True, FAILED
    if kind == "user_rejected":
        return True, DENIED_PERSON
    if kind in _PLAIN:
        return False, None
    return _flag(extras.get("error"), _at(extras, "metadata", "exit_code"))


def _flag(error: Any, code: Any) -> tuple[bool | None, str | None]:
    """Join an error flag and an exit code; None where neither says anything."""
    if error is True or (isinstance(code, int) and code not in {0, _RUNNING}):
        return True, FAILED
    known = code == 0 or (error is False and code != _RUNNING)
    return (False if known else None), None


def _given(call: shapes.Metadata | None, args: dict[str, Any]) -> Any:
    """Return a call's arguments as the model wrote them, else as the harness kept them."""
    response = call.model_response if call is not None else None
    for choice in (response.choices if response is not None else None) or []:
        for written in (choice.message.tool_calls if choice.message is not None else None) or []:
            if call is not None and written.id == call.tool_call_id and written.function is not None:
                return parsed(written.function.arguments)
    return args


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return joined(value.get("text") if isinstance(value, dict) else value)
