"""Interventions: what recurs in runs, as a layer of the harness that could answer it.

The gap this closes: a diagnosis made of error texts carries those texts on, into a
proposal and from there into a prompt, and naming a layer after the first of them
makes the diagnosis depend on order. The decision: runs and event logs are reduced
to signs (a trigger, a target, a class of causes), and a diagnosis is made from how
often each sign occurs. The layer is that of the majority of causes. Sentences come
from a table here, with a number and a name that was made fit to be shown.

Successes in between reset nothing: what fails twice in a hundred calls recurs.
Three layers are told apart. A fourth that the literature has, skills a model would
need for a task, shows in no counter, so it is not among them.

What it does not do: it proposes no change (`propose`), and an intervention is no
proof that its layer is the cause.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from githarness.measure import arguments, names
from githarness.measure.counters import DENIED, ERRORS, ended_on_failed_call
from githarness.measure.stopcause import responses
from githarness.model.session import (
    COST_BUDGET,
    LOOP,
    MAX_TURNS,
    NO_OUTPUT,
    OUTPUT_BUDGET,
    REFUSED,
    UNKNOWN_TOOL,
    Call,
    Session,
)

# Once is an accident; the second time is what "recurs" means.
MIN_OCCURRENCES = 2

# Failures before anything ran: what was asked for does not exist in this form.
REALIZATION = frozenset({REFUSED, UNKNOWN_TOOL})

# Targets that are no tool.
PROPOSAL = "proposal:"
TURN_COMPLETION = "turn-completion:"
COMPLETION_CLAIM = "completion-claim"


class Layer(StrEnum):
    """Where a harness could answer: before a call, in how it is made, or after it."""

    ENVIRONMENT_CONTRACT = "environment_contract"
    ACTION_REALIZATION = "action_realization"
    TRAJECTORY_REGULATION = "trajectory_regulation"


class Trigger(StrEnum):
    """What recurs. `retried` alone is answered by a budget of retries."""

    REJECTED = "rejected"
    FAILED = "failed"
    RETRIED = "retried"
    REPLAN_EXHAUSTED = "replan_exhausted"
    TRUNCATED = "truncated"
    MAX_TURNS = "max_turns"
    COST_BUDGET = "cost_budget"
    LOOP = "loop"
    STALLED = "stalled"
    UNGROUNDED = "ungrounded"
    ENDED_ON_FAILED_CALL = "ended_on_failed_call"


class Sign(msgspec.Struct, frozen=True):
    """One occurrence of a trigger. `is_realization` is for failures: name or arguments were wrong."""

    trigger: Trigger
    target: str
    is_realization: bool = False


class Intervention(msgspec.Struct, frozen=True, kw_only=True):
    """One diagnosis: `evidence` counts how often the trigger met this target.

    Raises ValueError for a target that is not fit to be shown. There is no field for
    a sentence: `wording` and `recurring` are read from a table.
    """

    layer: Layer
    trigger: Trigger
    target: str
    evidence: int

    def __post_init__(self) -> None:
        if not _is_target(self.target):
            raise ValueError("a target is a name made fit to be shown")
        if (self.trigger, self.layer) not in _WORDING:
            raise ValueError(f"{self.trigger} is no sign of {self.layer}")

    @property
    def wording(self) -> str:
        """What to tell a model, without any number: a diagnosis made again reads the same."""
        return _WORDING[self.trigger, self.layer].format(target=self.target)

    @property
    def recurring(self) -> str:
        """What was seen, with the number."""
        return _RECURRING[self.trigger].format(target=self.target, n=self.evidence)


_REJECTED = (
    "Calls of {target} are refused before they run: do not ask for a refused call again,"
    " and choose a permitted way or say what is needed."
)
_WRONG_CALL = (
    "Calls of {target} name a tool or arguments that are not accepted:"
    " check the name and the input schema before calling it."
)
_WRONG_WAY = (
    "Calls of {target} fail when they run: after a failure find its reason before the next attempt,"
    " and change the approach."
)
_RETRY = "Failed calls of {target} are made again unchanged: change something, or wait for what was missing."
_REPLAN = "Plans of {target} are used up: make a plan whose steps can be checked one by one."
_TRUNCATED = "Runs are cut off while writing: write shorter, and do the next step instead of announcing it."
_LIMIT = "Runs reach their limit before they are done: take the shortest way, and say early what is missing."
_LOOP = (
    "Runs end repeating the same calls: when two equal calls in a row brought nothing new, stop repeating."
)
_STALLED = "Runs end without a word: always end by saying what was done and what was not."
_UNGROUNDED = "Runs end as done without their outcome being checked: check it before saying that it is done."
_ENDED = "Runs end as done after a call that failed: say what failed, or mend it first."

_WORDING: dict[tuple[Trigger, Layer], str] = {
    (Trigger.REJECTED, Layer.ENVIRONMENT_CONTRACT): _REJECTED,
    (Trigger.FAILED, Layer.ACTION_REALIZATION): _WRONG_CALL,
    (Trigger.FAILED, Layer.TRAJECTORY_REGULATION): _WRONG_WAY,
    (Trigger.RETRIED, Layer.TRAJECTORY_REGULATION): _RETRY,
    (Trigger.REPLAN_EXHAUSTED, Layer.TRAJECTORY_REGULATION): _REPLAN,
    (Trigger.TRUNCATED, Layer.TRAJECTORY_REGULATION): _TRUNCATED,
    (Trigger.MAX_TURNS, Layer.TRAJECTORY_REGULATION): _LIMIT,
    (Trigger.COST_BUDGET, Layer.TRAJECTORY_REGULATION): _LIMIT,
    (Trigger.LOOP, Layer.TRAJECTORY_REGULATION): _LOOP,
    (Trigger.STALLED, Layer.TRAJECTORY_REGULATION): _STALLED,
    (Trigger.UNGROUNDED, Layer.TRAJECTORY_REGULATION): _UNGROUNDED,
    (Trigger.ENDED_ON_FAILED_CALL, Layer.TRAJECTORY_REGULATION): _ENDED,
}

_RECURRING: dict[Trigger, str] = {
    Trigger.REJECTED: "calls of {target} rejected before they ran, {n} times",
    Trigger.FAILED: "calls of {target} failed {n} times",
    Trigger.RETRIED: "failed calls of {target} retried {n} times",
    Trigger.REPLAN_EXHAUSTED: "replanning exhausted {n} times for {target}",
    Trigger.TRUNCATED: "runs cut off at their output budget {n} times",
    Trigger.MAX_TURNS: "runs ended at their turn limit {n} times",
    Trigger.COST_BUDGET: "runs ended at their cost limit {n} times",
    Trigger.LOOP: "runs ended in a loop {n} times",
    Trigger.STALLED: "runs ended without output {n} times",
    Trigger.UNGROUNDED: "runs claimed completion that was not grounded {n} times",
    Trigger.ENDED_ON_FAILED_CALL: "runs ended as done on a failed call {n} times",
}

_STOPS = {
    OUTPUT_BUDGET: Trigger.TRUNCATED,
    MAX_TURNS: Trigger.MAX_TURNS,
    COST_BUDGET: Trigger.COST_BUDGET,
    LOOP: Trigger.LOOP,
    NO_OUTPUT: Trigger.STALLED,
}


def turn_completion(trigger: Trigger) -> Sign:
    """A run that ended in this way rather than by being done."""
    return Sign(trigger, f"{TURN_COMPLETION}{trigger}")


def of_sessions(sessions: Iterable[Session]) -> Counter[Sign]:
    """Count the signs in recorded runs.

    A session that was read without its arguments shows no retry. `settled` of
    `stopcause` comes first where loops and silence are to be seen.
    """
    signs: Counter[Sign] = Counter()
    for session in sessions:
        signs.update(_of_calls(session.calls))
        if session.stop_cause in _STOPS:
            signs[turn_completion(_STOPS[session.stop_cause])] += 1
        # A transcript cannot tell whether the goal was met, only that its end looks bad.
        if ended_on_failed_call(session):
            signs[Sign(Trigger.ENDED_ON_FAILED_CALL, COMPLETION_CLAIM)] += 1
    return signs


def _of_calls(calls: Iterable[Call]) -> Iterator[Sign]:
    failed: frozenset[tuple[str, bytes]] = frozenset()
    for response in responses(calls):
        for call in response:
            target = names.tool(call.name)
            if call.cause in DENIED:
                yield Sign(Trigger.REJECTED, target)
            elif call.cause in ERRORS:
                yield Sign(Trigger.FAILED, target, call.cause in REALIZATION)
            if _key(call) in failed:
                yield Sign(Trigger.RETRIED, target)
        # Only the very next response retries. After anything else, running the same
        # tests again is how work is done.
        failed = frozenset(key for call in response if call.cause in ERRORS and (key := _key(call)))


def _key(call: Call) -> tuple[str, bytes] | None:
    """Say what was asked for; arguments that were not kept are equal to none."""
    return None if call.input is None else (call.name, arguments.loose(call.input))


def diagnose(
    signs: Mapping[Sign, int], *, min_occurrences: int = MIN_OCCURRENCES
) -> tuple[Intervention, ...]:
    """Turn signs into interventions: the most frequent first, then by layer, target and trigger."""
    totals: Counter[tuple[Trigger, str]] = Counter()
    realization: Counter[tuple[Trigger, str]] = Counter()
    for sign, count in signs.items():
        totals[sign.trigger, sign.target] += count
        realization[sign.trigger, sign.target] += count if sign.is_realization else 0
    found = [
        Intervention(
            layer=_layer(key[0], realization[key], total), trigger=key[0], target=key[1], evidence=total
        )
        for key, total in totals.items()
        if total >= max(1, min_occurrences)
    ]
    return tuple(sorted(found, key=lambda one: (-one.evidence, one.layer, one.target, one.trigger)))


def _layer(trigger: Trigger, realization: int, total: int) -> Layer:
    if trigger is Trigger.REJECTED:
        return Layer.ENVIRONMENT_CONTRACT
    # In a tie the layer is the one that a person designs, not the one that has a
    # budget which may be raised without asking.
    if trigger is Trigger.FAILED and 2 * realization >= total:
        return Layer.ACTION_REALIZATION
    return Layer.TRAJECTORY_REGULATION


def document(one: Intervention) -> dict[str, str | int]:
    """Return an intervention as plain JSON, its sentences included."""
    return {
        "layer": str(one.layer),
        "trigger": str(one.trigger),
        "target": one.target,
        "evidence": one.evidence,
        "recurring": one.recurring,
        "wording": one.wording,
    }


def _is_target(text: str) -> bool:
    for place in (PROPOSAL, TURN_COMPLETION):
        text = text.removeprefix(place)
    return names.tool(text) == text
