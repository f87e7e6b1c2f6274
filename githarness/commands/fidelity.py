"""fidelity: whether a replay of a run can send what the run was sent.

What it closes: a replay that diverges says nothing while nobody knows whether it
was sent the same tools and prompt. The decision: each run is compared part by part
with one other side (a file, a digest, another run, or what was last recorded for
the same agent), and "unknown" is an answer of its own. What it does not do: it runs
nothing, and never reads absent as equal.
"""

from collections.abc import Callable
from functools import cache

import msgspec

from githarness.commands import inputs
from githarness.errors import NO, OK, UNKNOWN, MissingError, UsageError
from githarness.measure import fidelity
from githarness.measure.fidelity import Part, Side, Verdict
from githarness.model.manifest import Run
from githarness.model.sighting import Sighting
from githarness.store import layout, runs
from githarness.store.objects import Store

LAST = "last"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One run's verdict. `recorded` and `live` are the digests that were compared, if any."""

    id: str
    fidelity: str
    parts: dict[str, str | None]
    cls: str | None = msgspec.field(name="class")
    caveat: str | None
    reason: dict[str, str | None]
    recorded: dict[str, list[str]]
    live: dict[str, list[str]]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """All verdicts; for one run its own verdict stands at the top as well."""

    against: str
    fidelity: str
    parts: dict[str, str | None]
    cls: str | None = msgspec.field(name="class")
    caveat: str | None
    runs: tuple[Line, ...]

    @property
    def exit_code(self) -> int:
        """0 matches, 1 differs, 4 unknown; for several runs the worst."""
        return {fidelity.MATCHES: OK, fidelity.DIFFERS: NO, fidelity.UNKNOWN: UNKNOWN}[self.fidelity]


def run(store: Store, prefixes: list[str], against: str) -> Result:
    """Compare each named run (all runs when none is named) with `against`."""
    chosen = [_chosen(store, prefix) for prefix in prefixes] or list(runs.manifests(store))
    if not chosen:
        raise MissingError("the store holds no run to compare", hint="githarness record PATH")
    sides = inputs.Sides(store)
    live = _live(store, against, sides.of)
    lines = tuple(_line(one, sides.of(one), live(one)) for one in chosen)
    worst = next(state for state in fidelity.WORST if any(line.fidelity == state for line in lines))
    single = lines[0] if len(lines) == 1 else None
    return Result(
        against=against,
        fidelity=worst,
        parts=single.parts if single else {},
        cls=single.cls if single else None,
        caveat=single.caveat if single else None,
        runs=lines,
    )


def _chosen(store: Store, prefix: str) -> Run:
    area, name = runs.resolve(store, prefix)
    if area != layout.RUNS:
        raise UsageError(f"{prefix[:64]} is no run", hint="githarness log lists the runs")
    return runs.manifest(store, name)


def _line(manifest: Run, recorded: Side, live: Side) -> Line:
    verdict: Verdict = fidelity.compare(recorded, live)
    return Line(
        id=manifest.id,
        fidelity=verdict.overall,
        parts={name: part.state if part else None for name, part in verdict.parts.items()},
        cls=verdict.cls,
        caveat=verdict.caveat,
        reason={name: _reason(part) for name, part in verdict.parts.items()},
        recorded=_digests(recorded),
        live=_digests(live),
    )


def _reason(part: Part | None) -> str | None:
    return None if part is None else part.reason


def _digests(side: Side) -> dict[str, list[str]]:
    def digests(cited: object) -> list[str]:
        return [one.digest for one in cited] if isinstance(cited, tuple) else []

    return {"tools": digests(side.tools), "system": digests(side.system), "model": list(side.models or ())}


def _live(store: Store, against: str, sides: Callable[[Run], Side]) -> Callable[[Run], Side]:
    """Resolve `--against` once; what comes back gives the other side for each run."""
    if against == LAST:
        return _last(store, sides)
    if not inputs.is_there(against) and layout.is_prefix(against.lower()):
        area, name = runs.resolve(store, against)
        if area == layout.SURFACES:
            # by digest alone, so that a withheld surface still answers
            kept = inputs.surface_side(store, name)
            return lambda _: kept
    side = inputs.side_of(inputs.named(store, against))
    return lambda _: side


def _last(store: Store, sides: Callable[[Run], Side]) -> Callable[[Run], Side]:
    """Give each run the surface last recorded for its agent: by the newest other run that knows one.

    Everything is read once: with 1,500 runs, reading it for each took 24 s.
    """
    known: dict[str, list[Run]] = {}
    for one in runs.manifests(store):
        if one.surfaces:
            known.setdefault(one.agent, []).append(one)
    for group in known.values():
        # only the newest is asked for, and the one before it when it is that very run
        group.sort(key=lambda one: (one.recording.started or "", one.id))
        del group[:-2]

    @cache
    def met(agent: str) -> Side:
        mine = [one for one in sightings() if one.source == agent]
        if not mine:
            return Side()
        return inputs.surface_side(store, max(mine, key=lambda one: (one.first, one.surface)).surface)

    @cache
    def sightings() -> list[Sighting]:
        return list(runs.sightings(store))

    def side(manifest: Run) -> Side:
        others = [one for one in known.get(manifest.agent, ()) if one.id != manifest.id]
        if not others:
            return met(manifest.agent)
        newest = sides(others[-1])
        return Side(tools=newest.tools, surfaces=newest.surfaces)

    return side
