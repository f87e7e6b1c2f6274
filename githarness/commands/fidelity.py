"""fidelity: whether a replay of a run can send what the run was sent.

What it closes: a replay that diverges says nothing while nobody knows whether it
was sent the same tools and prompt. The decision: each run is compared part by part
with one other side (a file, a digest, another run, or what was last recorded for
the same agent), and "unknown" is an answer of its own. What it does not do: it runs
nothing, and never reads absent as equal.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from githarness import canon
from githarness.capture import source as sources
from githarness.capture.look import DATABASE, SESSION, SKIP, look
from githarness.errors import NO, OK, UNKNOWN, MissingError, UnreadableError, UsageError
from githarness.formats import detect
from githarness.formats import surface as surface_format
from githarness.measure import fidelity
from githarness.measure.fidelity import Part, Side, Verdict
from githarness.model.manifest import Cited, Run
from githarness.model.session import Session
from githarness.model.surface import SENT
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
    live = _live(store, against)
    lines = tuple(_line(one, _recorded(store, one), live(one)) for one in chosen)
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


def _recorded(store: Store, manifest: Run) -> Side:
    """Return what a run's manifest states, with whatever bytes the store holds."""
    return Side(
        tools=manifest.surfaces,
        names_only=manifest.partial_names,
        system=manifest.prompts,
        models=manifest.recording.models,
        surfaces={
            digest: surface_format.lower(data)
            for digest in _cited(manifest.surfaces)
            if (data := runs.surface(store, digest)) is not None
        },
        prompts={
            digest: data
            for digest in _cited(manifest.prompts)
            if (data := store.read(layout.prompt(digest))) is not None
        },
    )


def _cited(cited: object) -> set[str]:
    return {one.digest for one in cited} if isinstance(cited, tuple) else set()


def _live(store: Store, against: str) -> Callable[[Run], Side]:
    """Resolve `--against` once; what comes back gives the other side for each run."""
    if against == LAST:
        manifests = list(runs.manifests(store))
        return lambda manifest: _last(store, manifest, manifests)
    if Path(against).exists():
        side = _file(Path(against))
        return lambda _: side
    area, name = runs.resolve(store, against)
    if area == layout.RUNS:
        side = _recorded(store, runs.manifest(store, name))
    elif area == layout.SURFACES:
        side = _surface(store, name)
    else:
        side = Side(
            system=(Cited(position=0, digest=name),), prompts={name: store.read(layout.prompt(name)) or b""}
        )
    return lambda _: side


def _surface(store: Store, digest: str) -> Side:
    """Return the side that a kept surface states: sent, if it was ever met as sent."""
    kinds = {one.kind for one in runs.seen(store, digest)}
    kind = SENT if SENT in kinds or not kinds else kinds.pop()
    data = runs.surface(store, digest)
    surfaces = {} if data is None else {digest: surface_format.lower(data, kind=kind)}
    return Side(tools=(Cited(position=0, digest=digest, kind=kind),), surfaces=surfaces)


def _last(store: Store, manifest: Run, manifests: list[Run]) -> Side:
    """Return the surface last recorded for the same agent, by the newest other run that knows one."""
    known = [
        one for one in manifests if one.agent == manifest.agent and one.id != manifest.id and one.surfaces
    ]
    known.sort(key=lambda one: (one.recording.started or "", one.id))
    if known:
        newest = _recorded(store, known[-1])
        return Side(tools=newest.tools, surfaces=newest.surfaces)
    met = [one for one in runs.sightings(store) if one.source == manifest.agent]
    if not met:
        return Side()
    return _surface(store, max(met, key=lambda one: (one.first, one.surface)).surface)


def _file(path: Path) -> Side:
    """Return what a file states; a person who gives it says that this is what would be sent."""
    source = sources.file(path)
    seen = look(source)
    if seen.kind in (SKIP, DATABASE):
        reason = seen.reason or "a database of many sessions"
        raise UnreadableError(
            f"{path}: {reason}", hint="--against takes a tools array, a request body, a digest or a run"
        )
    if seen.kind == SESSION and seen.format is not None:
        return _session(detect.read(seen.format.name, source.read()))
    found = surface_format.read(source.read())
    if len(found) != 1:
        raise UnreadableError(
            f"{path}: holds {len(found)} tools arrays, not one", hint="give one of them in a file"
        )
    return fidelity.cite(msgspec.structs.replace(found[0], kind=SENT))


def _session(session: Session) -> Side:
    surfaces = [
        (seen.position, surface_format.lower(seen.raw, kind=seen.kind, reconstructed=seen.reconstructed))
        for seen in session.surfaces
    ]
    prompts = {canon.sha256(prompt.raw): prompt for prompt in session.prompts}
    return Side(
        tools=tuple(
            Cited(position=at, digest=one.wire, kind=one.kind, reconstructed=one.reconstructed)
            for at, one in surfaces
        ),
        names_only=session.partial_names,
        system=tuple(Cited(position=prompt.position, digest=digest) for digest, prompt in prompts.items()),
        models=session.models,
        surfaces={one.wire: one for _, one in surfaces},
        prompts={digest: prompt.raw for digest, prompt in prompts.items()},
    )
