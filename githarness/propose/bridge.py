"""The bridge: what recurs in runs, as changes that could answer it.

The gap this closes: a diagnosis that has no setting to turn goes nowhere, and a bump
that is relative to the last one has no end. The decision, for each layer:

    trajectory, retried         max_retries + evidence, by 1 to 4
    trajectory, anything else   planning_max_replans + evidence, by 1 to 4
    environment contract        one line of guidance
    anything else               a person designs it

Every bump is clamped at the bound its knob declares; at the bound nothing is
proposed. All distinct bumps are proposed, since which one lands is decided later.
The guidance line is made of fixed words, so a person judges what was seen and not a
paraphrase of it, and it holds no count: counted again, it is the same line, and what
was rejected stays rejected.

What it does not do: it applies nothing. A line of guidance always needs a person.
"""

from collections.abc import Iterable

import msgspec

from githarness.measure.interventions import Intervention, Layer, Trigger
from githarness.measure.metrics import Metric
from githarness.propose import derivation, mutation, overlay, patch, state
from githarness.propose.knobs import Declaration, IntegerKnob
from githarness.propose.mutation import Draft
from githarness.propose.patch import Patch
from githarness.propose.state import State

RETRIES = "max_retries"
REPLANS = "planning_max_replans"

# One noisy signal must not blow up a budget.
MOST = 4

NEEDS_DESIGN = "needs a person's design: no knob answers it"
IN_FORCE = "the guidance is already in force"

_INVARIANTS = (
    "no new tool, permission or validator",
    "what a run must achieve, and who checks it, stays as it is",
)

# What should fall when the trigger is answered. A denied call is no failed call, so
# what it costs is the response it took.
_METRICS = {
    Trigger.REJECTED: Metric.TURNS,
    Trigger.RETRIED: Metric.TOOL_ERROR_RATE,
    Trigger.FAILED: Metric.ENDED_ON_FAILED_CALL,
    Trigger.UNGROUNDED: Metric.ENDED_ON_FAILED_CALL,
    Trigger.ENDED_ON_FAILED_CALL: Metric.ENDED_ON_FAILED_CALL,
}


class Deferred(msgspec.Struct, frozen=True, kw_only=True):
    """An intervention that proposes nothing, and why."""

    intervention: Intervention
    reason: str


class Bridged(msgspec.Struct, frozen=True, kw_only=True):
    """What was made of interventions: drafts that differ, and what was left to a person."""

    drafts: tuple[Draft, ...]
    deferred: tuple[Deferred, ...]

    @property
    def note(self) -> str:
        """One sentence for a person."""
        design = sum(one.reason == NEEDS_DESIGN for one in self.deferred)
        other = len(self.deferred) - design
        return f"{len(self.drafts)} proposed, {design} need human design, {other} have nothing left to change"


def bridge(interventions: Iterable[Intervention], of: State) -> Bridged:
    """Turn interventions into drafts relative to what is in force, equal ones once."""
    declaration = of.declaration
    drafts: dict[str, Draft] = {}
    deferred: list[Deferred] = []
    for one in interventions:
        made = _draft(one, of, declaration)
        if isinstance(made, str):
            deferred.append(Deferred(intervention=one, reason=made))
        else:
            drafts.setdefault(_fingerprint(made.patch, declaration), made)
    return Bridged(drafts=tuple(drafts.values()), deferred=tuple(deferred))


def _fingerprint(change: Patch, declaration: Declaration) -> str:
    return patch.fingerprint(derivation.component(change, declaration), change)


def _draft(one: Intervention, of: State, declaration: Declaration) -> Draft | str:
    if one.layer == Layer.ENVIRONMENT_CONTRACT:
        return _guidance(one, of)
    if one.layer != Layer.TRAJECTORY_REGULATION:
        return NEEDS_DESIGN
    name = RETRIES if one.trigger == Trigger.RETRIED else REPLANS
    return _bump(one, name, of, declaration)


def _bump(one: Intervention, name: str, of: State, declaration: Declaration) -> Draft | str:
    knob, value = declaration.knob.get(name), state.effective(of, name)
    if not isinstance(knob, IntegerKnob):
        return f"{NEEDS_DESIGN} ({name} is not declared as a number)"
    if not isinstance(value, int):
        return f"{name} has no value to start from"
    target = knob.clamp(value + min(max(one.evidence, 1), MOST))
    if target == value:
        return f"{name} is at its bound of {value}"
    return _drafted(one, patch.make(set={name: target}), f"raise {name} from {value} to {target}")


def _guidance(one: Intervention, of: State) -> Draft | str:
    line = guidance_line(one)
    if overlay.guidance_id(line) in of.texts:
        return IN_FORCE
    return _drafted(one, patch.make(add_guidance=(line,)), f"add guidance about {one.target}")


def guidance_line(one: Intervention) -> str:
    """Write the line that answers an intervention; the same at any count."""
    return f"- {one.wording} (recurring: {one.trigger} {one.target})"


def _drafted(one: Intervention, change: Patch, predicted: str) -> Draft:
    metric = _METRICS.get(one.trigger, Metric.CUT_SHORT)
    return Draft(
        patch=change,
        metric=metric,
        rationale=f"recorded runs show {one.recurring}",
        source="evidence",
        target_failure=one.recurring,
        predicted_improvement=f"{predicted}: {mutation.promise(metric)}",
        invariants=_INVARIANTS,
        counters={"occurrences": one.evidence},
    )
