"""log: which runs and surfaces are there, newest first.

What it closes: a folder of transcripts has no order, no filter and no idea of what
the model was sent. The decision: one pass over the manifests, which hold every
number shown. What it does not do: it opens no recording.
"""

import msgspec

from githarness.errors import OK
from githarness.formats import surface as surface_format
from githarness.measure.changes.summary import summarise
from githarness.model.manifest import Run
from githarness.model.sighting import Sighting
from githarness.model.surface import Surface
from githarness.store import runs
from githarness.store.objects import Store


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `surface` is the first surface it cites, None when unknown."""

    id: str
    agent: str
    model: str | None
    started: str | None
    calls: int
    failed: int
    surface: str | None
    project: str | None
    parent: str | None
    stop_cause: str | None


class SurfaceLine(msgspec.Struct, frozen=True, kw_only=True):
    """One surface as met at one source; `tools` counts them, `first` is in seconds since 1970.

    `change` is the class of what changed since the surface before it at the same
    source; None where that is unknown or nothing came before.
    """

    id: str
    tools: int
    kind: str
    source: str
    first: int
    dialect: str
    withheld: bool
    change: str | None = None


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """What to list. `since` is the beginning of an ISO time; `surface` a digest prefix."""

    agent: str | None = None
    model: str | None = None
    since: str | None = None
    label: str | None = None
    surface: str | None = None
    project: str | None = None
    limit: int | None = None
    only_surfaces: bool = False


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that pass the filters, and how many there are in all; None was not counted."""

    runs: tuple[RunLine, ...]
    surfaces: tuple[SurfaceLine, ...]
    runs_total: int | None
    surfaces_total: int
    unreadable: int

    @property
    def exit_code(self) -> int:
        """Always 0: an empty list is an answer."""
        return OK


def run(store: Store, filters: Filters) -> Result:
    """List what passes `filters`, newest first."""
    total = 0
    unreadable: list[str] = []
    lines = []
    if not filters.only_surfaces:
        for manifest in runs.manifests(store, unreadable):
            total += 1
            if _passes(manifest, filters):
                lines.append(_run_line(manifest))
    # a run that does not say when it started cannot be called new
    lines.sort(key=lambda line: (line.started or "", line.id), reverse=True)
    sightings = sorted(runs.sightings(store), key=lambda one: (-one.first, one.surface, one.source))
    passing = [one for one in sightings if _surface_passes(one, filters)]
    drift = _drift(store, passing) if filters.only_surfaces else {}
    surfaces = [_surface_line(one, drift.get(id(one))) for one in passing]
    return Result(
        runs=tuple(lines[: filters.limit]),
        surfaces=tuple(surfaces[: filters.limit]),
        runs_total=None if filters.only_surfaces else total,
        surfaces_total=len({one.surface for one in sightings}),
        unreadable=len(unreadable),
    )


def _passes(run: Run, filters: Filters) -> bool:
    recorded = run.recording
    wanted = (
        filters.agent in (None, run.agent),
        filters.model is None or any(filters.model in name for name in recorded.models),
        filters.since is None or (recorded.started or "") >= filters.since,
        filters.label in (None, run.label),
        filters.project is None or filters.project in (recorded.project or ""),
        filters.surface is None or any(digest.startswith(filters.surface) for digest in _digests(run)),
    )
    return all(wanted)


def _surface_passes(one: Sighting, filters: Filters) -> bool:
    return filters.agent in (None, one.source) and one.surface.startswith(filters.surface or "")


def _digests(run: Run) -> list[str]:
    return [cited.digest for cited in run.surfaces] if isinstance(run.surfaces, tuple) else []


def _run_line(run: Run) -> RunLine:
    recorded = run.recording
    return RunLine(
        id=run.id,
        agent=run.agent,
        model=recorded.models[-1] if recorded.models else None,
        started=recorded.started,
        calls=recorded.stats.tool_calls,
        failed=recorded.stats.tool_errors,
        surface=next(iter(_digests(run)), None),
        project=recorded.project,
        parent=run.parent,
        stop_cause=recorded.stats.stop_cause,
    )


def _drift(store: Store, newest_first: list[Sighting]) -> dict[int, str | None]:
    """Classify each step from one surface of a source to its next."""
    classes: dict[int, str | None] = {}
    latest: dict[tuple[str, str], tuple[Sighting, Surface | None]] = {}
    for one in reversed(newest_first):
        data = runs.surface(store, one.surface)
        surface = None if data is None else surface_format.lower(data, kind=one.kind)
        before = latest.get((one.source, one.kind))
        if one.source and before is not None and before[1] is not None and surface is not None:
            classes[id(one)] = summarise(before[1], surface)
        latest[one.source, one.kind] = (one, surface)
    return classes


def _surface_line(one: Sighting, change: str | None) -> SurfaceLine:
    return SurfaceLine(
        id=one.surface,
        tools=len(one.tools),
        kind=one.kind,
        source=one.source,
        first=one.first,
        dialect=one.dialect,
        withheld=bool(one.withheld),
        change=change,
    )
