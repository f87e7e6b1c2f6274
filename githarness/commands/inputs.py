"""What a person named: a run or a surface, by id in the store or by file.

The gap this closes: a diff, a fidelity check and a review all begin with "this one
and that one", and each would resolve them in its own way. The decision: one place
that turns words into a run with its session and what it states, or into a surface.
A file is looked at by content, and what it holds counts as sent. What this does not
do: it is no verb, and it records nothing.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from githarness import canon
from githarness.capture import source as sources
from githarness.capture.look import CONTAINER, SESSION, SKIP, look
from githarness.errors import MissingError, UnreadableError
from githarness.formats import detect
from githarness.formats import surface as surface_format
from githarness.measure import fidelity, stopcause
from githarness.measure.fidelity import Side
from githarness.model.manifest import Cited, Run
from githarness.model.session import Session
from githarness.model.surface import SENT, Surface
from githarness.store import layout, runs
from githarness.store.objects import Store


class NamedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run: `name` as it is shown, its session with texts, and what it states it was sent."""

    name: str
    session: Session
    side: Side


class NamedSurface(msgspec.Struct, frozen=True, kw_only=True):
    """A surface with its bytes."""

    name: str
    surface: Surface


class NamedPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A system prompt of the store."""

    name: str
    digest: str
    data: bytes | None


Named = NamedRun | NamedSurface | NamedPrompt


def named(store: Store, words: str) -> Named:
    """Resolve a file that exists, else the beginning of an id or digest of the store."""
    if Path(words).exists():
        return _file(Path(words))
    area, name = runs.resolve(store, words)
    if area == layout.RUNS:
        return stored_run(store, runs.manifest(store, name))
    if area == layout.PROMPTS:
        return NamedPrompt(name=name[:12], digest=name, data=store.read(layout.prompt(name)))
    return NamedSurface(name=name[:12], surface=stored_surface(store, name))


def stored_run(store: Store, manifest: Run) -> NamedRun:
    """Read a run of the store back, texts kept."""
    data = runs.recording(store, manifest)
    session = stopcause.settled(detect.read(manifest.recording.format, data))
    return NamedRun(name=manifest.id[:12], session=session, side=stored_side(store, manifest))


def stored_surface(store: Store, digest: str) -> Surface:
    """Read a surface of the store back; sent, if it was ever met as sent.

    Raises MissingError where only the digest is kept.
    """
    data = runs.surface(store, digest)
    if data is None:
        raise MissingError(
            f"the bytes of surface {digest[:12]} are withheld, since a secret was found in them",
            hint=f"githarness show {digest[:12]} lists its tools and their digests",
        )
    return surface_format.lower(data, kind=kind_of(store, digest))


def kind_of(store: Store, digest: str) -> str:
    """Tell whether a surface was sent or only offered; what nobody met counts as sent."""
    kinds = {one.kind for one in runs.seen(store, digest)}
    return SENT if SENT in kinds or not kinds else kinds.pop()


def stored_side(store: Store, manifest: Run) -> Side:
    """Return what a run's manifest states, with whatever bytes the store holds."""
    surfaces = {
        cited.digest: surface_format.lower(data, kind=cited.kind)
        for cited in _cited(manifest.surfaces)
        if (data := runs.surface(store, cited.digest)) is not None
    }
    prompts = {
        cited.digest: data
        for cited in _cited(manifest.prompts)
        if (data := store.read(layout.prompt(cited.digest))) is not None
    }
    return Side(
        tools=manifest.surfaces,
        names_only=manifest.partial_names,
        complete=True,
        system=manifest.prompts,
        models=manifest.recording.models,
        surfaces=surfaces,
        prompts=prompts,
    )


def side_of(one: Named) -> Side:
    """Return what a named thing states."""
    if isinstance(one, NamedRun):
        return one.side
    if isinstance(one, NamedSurface):
        return fidelity.cite(one.surface)
    data = {} if one.data is None else {one.digest: one.data}
    return Side(system=(Cited(position=0, digest=one.digest),), prompts=data)


def surface_side(store: Store, digest: str) -> Side:
    """Return the side that a kept surface states, its bytes included if they are there."""
    kind = kind_of(store, digest)
    data = runs.surface(store, digest)
    surfaces = {} if data is None else {digest: surface_format.lower(data, kind=kind)}
    return Side(tools=(Cited(position=0, digest=digest, kind=kind),), surfaces=surfaces)


def _cited(cited: object) -> Iterable[Cited]:
    return cited if isinstance(cited, tuple) else ()


def _file(path: Path) -> Named:
    source = sources.file(path)
    seen = look(source)
    if seen.kind in (SKIP, CONTAINER):
        reason = seen.reason or "a container of many sessions; record it and name one"
        raise UnreadableError(f"{path}: {reason}", hint="name a session, a tools array or a request body")
    if seen.kind == SESSION and seen.format is not None:
        session = stopcause.settled(detect.read(seen.format.name, source.read()))
        return NamedRun(name=path.name, session=session, side=_session_side(session))
    found = surface_format.read(source.read())
    if len(found) != 1:
        raise UnreadableError(
            f"{path}: holds {len(found)} tools arrays, not one", hint="give each its own file"
        )
    return NamedSurface(name=path.name, surface=msgspec.structs.replace(found[0], kind=SENT))


def _session_side(session: Session) -> Side:
    surfaces = [
        (seen.position, surface_format.lower(seen.raw, kind=seen.kind, reconstructed=seen.reconstructed))
        for seen in session.surfaces
    ]
    prompts = [(canon.sha256(prompt.raw), prompt) for prompt in session.prompts]
    return Side(
        tools=tuple(
            Cited(position=at, digest=one.wire, kind=one.kind, reconstructed=one.reconstructed)
            for at, one in surfaces
        ),
        names_only=session.partial_names,
        system=tuple(Cited(position=prompt.position, digest=digest) for digest, prompt in prompts),
        models=session.models,
        surfaces={one.wire: one for _, one in surfaces},
        prompts={digest: prompt.raw for digest, prompt in prompts},
    )
