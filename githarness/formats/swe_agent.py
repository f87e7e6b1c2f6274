"""Reader of SWE-agent trajectories: the `.traj` document.

The gap this closes: the file tells the run twice, and neither telling is whole. The
history has the roles, call ids and demonstrations, and may lack the last step; the
trajectory has every action with its observation, and may be empty. Text models get
observations in the user's place: 21 user records in a run of one turn. The decision:
actions come from the trajectory, calls and the task from the history, and where the
trajectory is empty the history alone is read.

What it does not do: no outcome is recorded per call, so none is claimed. A command
without call ids is named by its first word, as the model wrote it.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import joined, parsed
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, COMPLETED, COST_BUDGET, NO_OUTPUT, Session

NAME = "swe-agent"
AGENT = "swe-agent"
READER = 1

# A status in brackets is why the harness submitted in the model's place: the run was cut.
_STOPS = (
    ("exit_cost", COST_BUDGET),
    ("exit_format", NO_OUTPUT),
    ("exit_context", API_ERROR),
    ("exit_api", API_ERROR),
    ("exit_forfeit", COMPLETED),
    ("(", None),
    ("submitted", COMPLETED),
)


class _Function(msgspec.Struct):
    name: str = ""
    arguments: Any = None


class _ToolCall(msgspec.Struct):
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Entry(msgspec.Struct):
    """One record of the history."""

    role: str
    content: Any = None
    action: str | None = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_ids: list[str] | None = None
    is_demo: bool | None = None


class _Step(msgspec.Struct):
    """One record of the trajectory: an action and what came of it."""

    action: str | None = None
    observation: str | None = None
    response: str | None = None
    thought: str | None = None


def sniff(peek: Peek) -> bool:
    """Claim a document with a trajectory of actions and info."""
    return _is_run(peek.document)


def _is_run(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
        return False
    steps, history = value.get("trajectory"), value.get("history")
    if not isinstance(steps, list) or not (steps or isinstance(history, list)):
        return False
    return all(isinstance(step, dict) and "action" in step for step in steps[:3])


class Reader(msgspec.Struct, kw_only=True):
    """Reads one run. `waiting` is the call whose observation comes next."""

    builder: Builder
    waiting: list[str] = []
    asked: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take the whole document."""
        try:
            document = canon.read(record)
        except ValueError:
            document = None
        if not _is_run(document):
            self.builder.records += 1
            self.builder.unreadable += 1
            return
        history = self._all(document.get("history") or [], _Entry)
        steps = self._all(document["trajectory"], _Step)
        for entry in history:
            self._opening(entry)
        if steps:
            self._steps(
                steps, [entry for entry in history if entry.role == "assistant" and not entry.is_demo]
            )
        else:
            for entry in history:
                self._entry(entry)
        self._ending(document)

    def finish(self) -> Session:
        """Return what was understood."""
        return self.builder.finish()

    def _all(self, values: Any, shape: Any) -> list[Any]:
        found = []
        for value in values if isinstance(values, list) else []:
            self.builder.records += 1
            try:
                found.append(msgspec.convert(value, type=shape))
            except msgspec.ValidationError:
                self.builder.unfamiliar("record of another shape")
        return found

    def _opening(self, entry: _Entry) -> None:
        """Take the system prompt and the task; a demonstration is another run's, shown to the model."""
        if entry.is_demo:
            self.builder.inject()
        elif entry.role == "system":
            content = entry.content
            self.builder.prompt(
                canon.utf8(content) if isinstance(content, str) else canon.compact(content, sort=False)
            )
        elif entry.role == "user" and not self.asked:
            self.asked = True
            self.builder.turn(joined(entry.content))

    def _steps(self, steps: list[_Step], responses: list[_Entry]) -> None:
        """Follow the trajectory, and take each step's calls from the response of the same action."""
        at = 0
        for step in steps:
            calls: list[_ToolCall] = []
            if at < len(responses) and responses[at].action == step.action:
                calls = responses[at].tool_calls or []
                at += 1
            if step.action or step.response:
                self._response(step.thought or step.response or "", step.action or "", calls)
            self._observed(step.observation or "")

    def _entry(self, entry: _Entry) -> None:
        if entry.is_demo:
            return
        if entry.role == "assistant":
            self._response(joined(entry.content), entry.action or "", entry.tool_calls or [])
        elif entry.role == "tool":
            for key in entry.tool_call_ids or self.waiting:
                self.builder.result(key, joined(entry.content), is_error=None, cause=None)
            self.waiting = []
        elif entry.role == "user":
            self._observed(joined(entry.content))
        elif entry.role != "system":
            self.builder.unfamiliar(f"role {entry.role}")

    def _response(self, text: str, action: str, calls: list[_ToolCall]) -> None:
        self.waiting = []
        self.builder.step()
        self.builder.say(text)
        for call in calls:
            arguments = parsed(call.function.arguments)
            self._call(call.id, call.function.name, arguments, malformed=not isinstance(arguments, dict))
        if not calls and action.strip():
            # Text has no schema to break, so whether it was well formed is not known.
            self._call(None, action.split(maxsplit=1)[0][:64], action, malformed=None)

    def _call(self, given: str | None, name: str, value: Any, *, malformed: bool | None) -> None:
        key = given or f"#{len(self.builder.calls)}"
        self.builder.call(key, name, value, malformed=malformed)
        self.waiting.append(key)

    def _observed(self, text: str) -> None:
        """One observation answers one call; several calls of one step cannot share it."""
        if len(self.waiting) == 1:
            self.builder.result(self.waiting.pop(), text, is_error=None, cause=None)

    def _ending(self, document: dict[str, Any]) -> None:
        info = document["info"]
        self.builder.version(info.get("swe_agent_version"))
        self.builder.model(_model(document.get("replay_config")))
        stats = info.get("model_stats")
        sent, written = (_count(stats, name) for name in ("tokens_sent", "tokens_received"))
        if sent or written:  # both are zero where the model's cost was not tracked
            self.builder.spend_total(sent, written)
        status = info.get("exit_status")
        if status == "submitted" and self.builder.calls and self.builder.calls[-1].name == "submit":
            self.builder.outcome(self.builder.calls[-1].id, is_error=False, cause=None)
        cause = next((cause for part, cause in _STOPS if part in str(status)), None)
        self.builder.stop(cause)
        if cause is None:
            self.builder.last = "exit"  # an end that is missing or not understood is no completion


def _model(config: Any) -> Any:
    """Return the model's name from the configuration, which some versions keep as JSON text."""
    if isinstance(config, str):
        config = parsed(config)
    for name in ("agent", "model", "name"):
        config = config.get(name) if isinstance(config, dict) else None
    return config


def _count(stats: Any, name: str) -> int:
    value = stats.get(name) if isinstance(stats, dict) else None
    return value if isinstance(value, int) else 0
