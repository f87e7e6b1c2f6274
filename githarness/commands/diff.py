"""diff: two runs call by call, or two surfaces change by change.

What it closes: "it behaves differently now" has a cause only if it is known what was
sent, and one divergent replay is a sample and no regression. The decision: fidelity
first, then what diverged, then what that shows given how many replays there are; for
surfaces every change has a class, a severity, and the recorded calls that it would
break. What it does not do: it runs nothing, and blames nothing that it cannot know.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

from githarness.commands import gather, inputs
from githarness.commands.inputs import Named, NamedRun, NamedSurface
from githarness.errors import NO, OK, UNKNOWN, UsageError
from githarness.measure import cause, divergence, fidelity, replays, trajectory
from githarness.measure.changes import change as changes
from githarness.measure.changes.change import Change, Span
from githarness.measure.changes.compare import compare as compare_surfaces
from githarness.measure.changes.usage import Recorded, usage
from githarness.measure.divergence import Comparison, Divergence, Folded
from githarness.measure.fidelity import Verdict
from githarness.measure.replays import Summary
from githarness.model.surface import Surface
from githarness.store.objects import Store

# Calls are read out of this many runs, newest first: their number decides how long it takes.
RUNS_READ = 500


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to compare.

    `served` says that the second run was served recorded results; `same` are replays
    of an unchanged harness.
    """

    strict: bool = False
    content_free: bool = False
    served: bool = False
    same: tuple[str, ...] = ()
    fail_on: str | None = None


class RunDiff(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded run against its replays. `comparison` is the first replay's."""

    names: tuple[str, ...]
    verdict: Verdict
    cause: str
    comparisons: tuple[Comparison, ...]
    folded: Folded
    summary: Summary
    strict: bool
    content: bool

    @property
    def comparison(self) -> Comparison:
        """The first replay's comparison, which is shown in full."""
        return self.comparisons[0]

    @property
    def exit_code(self) -> int:
        """0 the same, 1 they differ (in arguments alone too), 4 unknown fidelity under `--strict`."""
        if self.strict and self.verdict.overall == fidelity.UNKNOWN:
            return UNKNOWN
        return NO if any(one.divergences for one in self.comparisons) else OK

    def document(self) -> dict[str, Any]:
        """Return the JSON answer."""
        return {
            "kind": "run",
            "fidelity": self.verdict.overall,
            "parts": {name: part.state if part else None for name, part in self.verdict.parts.items()},
            "class": self.verdict.cls,
            "caveat": self.verdict.caveat,
            "cause": self.cause,
            "recorded_calls": self.comparison.recorded,
            "replayed_calls": self.comparison.replayed,
            "divergences": [self.shown(one) for one in self.comparison.divergences],
            "verdict": None if self.comparison.verdict is None else self.shown(self.comparison.verdict),
            "unknown_arguments": self.comparison.unknown_arguments,
            "unknown_outcomes": self.comparison.unknown_outcomes,
            "outcomes_changed": self.comparison.outcomes_changed,
            "final_text_same": self.comparison.final_text_same,
            "caveats": list(self.comparison.caveats),
            "each": [_each(*one) for one in self.each()],
            "replays": msgspec.to_builtins(self.summary, enc_hook=_number),
            "note": self.summary.note,
        }

    def each(self) -> list[tuple[str, Comparison]]:
        """Return every replay with its name, in the order given."""
        return list(zip(self.names[1:], self.comparisons, strict=True))

    def shown(self, one: Divergence) -> dict[str, Any]:
        """Return one divergence, its content withheld where that was asked for."""
        return divergence.document(one, content=self.content)


class SurfaceDiff(msgspec.Struct, frozen=True, kw_only=True):
    """Every change from one surface to the next, with the recorded calls it concerns."""

    names: tuple[str, ...]
    changes: tuple[Change, ...]
    recorded: tuple[Recorded, ...]
    fail_on: str | None

    @property
    def exit_code(self) -> int:
        """0 nothing changed, or nothing as severe as `--fail-on`; 1 something did."""
        return NO if changes.fails_on(self.changes, self.fail_on) else OK

    def document(self) -> dict[str, Any]:
        """Return the JSON answer."""
        pairs = zip(self.changes, self.recorded, strict=True)
        return {
            "kind": "surface",
            "worst": changes.worst(self.changes),
            "changes": [_change(one, recorded) for one, recorded in pairs],
        }


def run(store: Store, words: Sequence[str], options: Options) -> RunDiff | SurfaceDiff:
    """Compare what the words name: one run with its replays, or two surfaces."""
    if len(words) < 2:
        raise UsageError("a diff needs two runs or two surfaces", hint="githarness diff --help")
    found = [inputs.named(store, one) for one in words]
    surfaces = [one for one in found if isinstance(one, NamedSurface)]
    if len(surfaces) == len(found):
        return _surfaces(store, surfaces, options)
    return _runs(store, found, options)


def _runs(store: Store, found: Sequence[Named], options: Options) -> RunDiff:
    named = [_as_run(one) for one in found]
    same = [_as_run(inputs.named(store, one)) for one in options.same]
    recorded, first = named[0], named[1]
    # both were sent something of each part, whether or not it was written down
    verdict = fidelity.compare(recorded.side, msgspec.structs.replace(first.side, complete=True))
    tape = trajectory.of(recorded.session)
    compared = tuple(_compare(tape, one, options) for one in named[1:])
    return RunDiff(
        names=tuple(one.name for one in named),
        verdict=verdict,
        cause=cause.label(verdict.parts, _changed_tools(recorded, first)),
        comparisons=compared,
        folded=divergence.fold(tape, trajectory.of(first.session), compared[0]),
        summary=replays.summarise(compared, same=[_compare(tape, one, options) for one in same]),
        strict=options.strict,
        content=not options.content_free,
    )


def _as_run(one: Named) -> NamedRun:
    if isinstance(one, NamedRun):
        return one
    raise UsageError(f"{one.name} is no run", hint="compare runs with runs, and surfaces with surfaces")


def _compare(tape: trajectory.Trajectory, replay: NamedRun, options: Options) -> Comparison:
    return divergence.compare(tape, trajectory.of(replay.session), served=options.served)


def _changed_tools(recorded: NamedRun, replay: NamedRun) -> list[str]:
    """Name the tools that differ between the first surfaces of both sides, where bytes are there."""
    before, after = _first(recorded), _first(replay)
    if before is None or after is None:
        return []
    found = compare_surfaces(before, after)
    return list(dict.fromkeys(one.tool for one in found if one.tool is not None))


def _first(one: NamedRun) -> Surface | None:
    tools = one.side.tools
    return one.side.surfaces.get(tools[0].digest) if isinstance(tools, tuple) and tools else None


def _surfaces(store: Store, found: Sequence[NamedSurface], options: Options) -> SurfaceDiff:
    if len(found) != 2:
        raise UsageError(f"a diff of surfaces takes two, not {len(found)}", hint="name the older one first")
    before, after = found[0].surface, found[1].surface
    changed = compare_surfaces(before, after)
    concerned = {before.specs[one.before].name for one in changed if one.before is not None}
    calls: dict[str, list[Any]] = {}
    for tool, arguments in gather.calls(store, concerned, RUNS_READ) if concerned else ():
        calls.setdefault(tool, []).append(arguments)
    return SurfaceDiff(
        names=(found[0].name, found[1].name),
        changes=changed,
        recorded=usage(changed, before, after, calls),
        fail_on=options.fail_on,
    )


def _change(one: Change, recorded: Recorded) -> dict[str, Any]:
    return {
        "id": one.id,
        "place": one.place,
        "tool": one.tool,
        "was": _differing(one.was),
        "now": _differing(one.now),
        "severity": one.severity,
        "notes": list(one.notes),
        "visible": {"wire": one.wire, "model": one.model, "call": one.call},
        "replay": one.replay,
        "calls": one.calls,
        "param": one.param,
        "recorded_calls": msgspec.to_builtins(recorded),
    }


def _each(name: str, one: Comparison) -> dict[str, Any]:
    return {
        "name": name,
        "divergences": len(one.divergences),
        "structural": one.structural,
        "outcomes_changed": one.outcomes_changed,
        "final_text_same": one.final_text_same,
    }


def _differing(span: Span | None) -> dict[str, Any] | None:
    return None if span is None else msgspec.to_builtins(span)


def _number(value: Any) -> float:
    if isinstance(value, Fraction):
        return float(value)
    raise NotImplementedError(type(value).__name__)
