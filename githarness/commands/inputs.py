"""What a person named: a run or a surface, by id in the store or by file.

The gap this closes: a diff, a fidelity check and a review all begin with "this one
and that one", and each would resolve them in its own way. The decision: one place
that turns words into a run with its session and what it states, or into a surface.
A file is looked at by content, and what it holds counts as sent. What this does not
do: it is no verb, and it records nothing.
"""

import errno
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import msgspec

from githarness import canon
from githarness.capture import source as sources
from githarness.capture import walk
from githarness.capture.look import CONTAINER, SESSION, SKIP, SURFACE, TOOL, look
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

# Bodies of requests: they state what they send, and leave out what goes another way. Any
# other session was sent something of each part, whether or not its client wrote it down.
_REQUESTS = frozenset({"openai-responses", "anthropic-messages", "openai-chat", "gemini-api"})

# A server has some hundred tools at most; a folder of more files is something else.
_FILES = 2000

_SHOWN = 64


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
    if is_there(words):
        return _file(Path(words))
    if not layout.is_prefix(words.lower()):
        raise MissingError(
            f"no such file or id: {words[:_SHOWN]}", hint="githarness log lists the ids of runs and surfaces"
        )
    area, name = runs.resolve(store, words)
    if area == layout.RUNS:
        return stored_run(store, runs.manifest(store, name))
    if area == layout.PROMPTS:
        return NamedPrompt(name=name[:12], digest=name, data=store.read(layout.prompt(name)))
    return NamedSurface(name=name[:12], surface=stored_surface(store, name))


def is_there(words: str) -> bool:
    """Tell whether a file or folder has this name. What may not be looked at is there."""
    try:
        return Path(words).exists()
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG


def stored_run(store: Store, manifest: Run) -> NamedRun:
    """Read a run of the store back, texts kept."""
    return NamedRun(
        name=manifest.id[:12], session=stored_session(store, manifest), side=stored_side(store, manifest)
    )


def stored_session(store: Store, manifest: Run) -> Session:
    """Read the session of a run of the store, part by part: its bytes are never held as a whole."""
    return stopcause.settled(detect.read_pieces(manifest.recording.format, runs.parts(store, manifest)))


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
    return Sides(store).of(manifest)


class Sides:
    """What runs of a store state. A surface or prompt that many runs cite is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._surfaces: dict[tuple[str, str], Surface | None] = {}
        self._prompts: dict[str, bytes | None] = {}

    def of(self, manifest: Run) -> Side:
        """Return what one run's manifest states."""
        surfaces = {one.digest: self._surface(one) for one in _cited(manifest.surfaces)}
        prompts = {one.digest: self._prompt(one) for one in _cited(manifest.prompts)}
        return Side(
            tools=manifest.surfaces,
            names_only=manifest.partial_names,
            complete=True,
            system=manifest.prompts,
            models=manifest.recording.models,
            surfaces={digest: one for digest, one in surfaces.items() if one is not None},
            prompts={digest: one for digest, one in prompts.items() if one is not None},
        )

    def _surface(self, cited: Cited) -> Surface | None:
        key = (cited.digest, cited.kind)
        if key not in self._surfaces:
            data = runs.surface(self._store, cited.digest)
            self._surfaces[key] = None if data is None else surface_format.lower(data, kind=cited.kind)
        return self._surfaces[key]

    def _prompt(self, cited: Cited) -> bytes | None:
        if cited.digest not in self._prompts:
            self._prompts[cited.digest] = self._store.read(layout.prompt(cited.digest))
        return self._prompts[cited.digest]


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
    if path.is_dir():
        return NamedSurface(name=path.name, surface=_folder(path))
    source = sources.file(path)
    seen = look(source)
    if seen.kind in (SKIP, CONTAINER):
        reason = seen.reason or "a container of many sessions; record it and name one"
        raise UnreadableError(f"{path}: {reason}", hint="name a session, a tools array or a request body")
    if seen.kind == SESSION and seen.format is not None:
        session = stopcause.settled(detect.read_pieces(seen.format.name, source.blocks()))
        return NamedRun(name=path.name, session=session, side=_session_side(session))
    found = surface_format.read(source.read())
    if len(found) != 1:
        raise UnreadableError(
            f"{path}: holds {len(found)} tools arrays, not one", hint="give each its own file"
        )
    return NamedSurface(name=path.name, surface=msgspec.structs.replace(found[0], kind=SENT))


def _folder(path: Path) -> Surface:
    """Join a folder of one-tool files to one surface, in file name order, as `record` does."""
    found = [one.path for one in islice(walk.files([path]), _FILES + 1) if not one.reason]
    opened = [sources.file(one, one.name) for one in found[:_FILES]]
    kinds = [look(source).kind for source in opened]
    if len(found) > _FILES or TOOL not in kinds or set(kinds) & {SESSION, SURFACE, CONTAINER}:
        raise UnreadableError(
            f"{path}: a folder, and not one of one-tool files alone",
            hint="name one file of it; or githarness record it, and name what githarness log lists",
        )
    tools = sorted(
        (source.name, source.read()) for source, kind in zip(opened, kinds, strict=True) if kind == TOOL
    )
    raw = surface_format.join(
        [tool for _, data in tools if (tool := surface_format.read_tool(data)) is not None]
    )
    return surface_format.lower(raw, kind=SENT, reconstructed=True)


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
        complete=session.format not in _REQUESTS,
        system=tuple(Cited(position=prompt.position, digest=digest) for digest, prompt in prompts),
        models=session.models,
        surfaces={one.wire: one for _, one in surfaces},
        prompts={digest: prompt.raw for digest, prompt in prompts},
    )
