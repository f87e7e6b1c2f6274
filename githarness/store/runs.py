"""Runs and surfaces as they lie in the store, read back and checked.

The gap this closes: whoever asks about a run needs its manifest, its bytes and the
surface it cites, each of them verified, and "not there" apart from "empty". The
decision: every read goes through `Store`, which hashes again; the joined parts of a
recording must hash to the digest in the manifest as well. What this does not do: it
parses no transcript.
"""

import hashlib
from collections.abc import Iterator

from githarness.errors import CorruptError, MissingError, UnreadableError, UsageError
from githarness.model import manifest as manifest_form
from githarness.model import sighting
from githarness.model.manifest import Run
from githarness.model.sighting import Sighting
from githarness.store import layout
from githarness.store.objects import Store

# One digit is a typing error more often than a name, even in a store of few runs.
MIN_PREFIX = 2


def manifests(store: Store, unreadable: list[str] | None = None) -> Iterator[Run]:
    """Yield every manifest, in the order of run ids.

    One that cannot be read, or is of a later version, is passed over: its path is put
    into `unreadable`, and `status` names it.
    """
    listed = list(store.paths(layout.RUNS))
    found = store.blobs(oid for _, oid in listed)
    for (path, _), data in zip(listed, found, strict=True):
        try:
            yield manifest_form.decode(data)
        except UnreadableError:
            if unreadable is not None:
                unreadable.append(path)


def sightings(store: Store) -> Iterator[Sighting]:
    """Yield every sighting of every surface, in the order of digests; unreadable ones are passed over."""
    return _readable(store, layout.SIGHTINGS)


def _readable(store: Store, prefix: str) -> Iterator[Sighting]:
    for data in store.blobs(oid for _, oid in store.paths(prefix)):
        try:
            yield sighting.decode(data)
        except UnreadableError:
            continue  # `status` names it


def resolve(store: Store, prefix: str) -> tuple[str, str]:
    """Resolve a unique prefix, in either case, to (area, full name) among runs, surfaces and prompts.

    Where no id begins so, manifests are read for what they cite: the digest of a recording
    names its run, and a prompt that is withheld is known by its digest alone. Raises
    MissingError when nothing has the prefix, and UsageError when it is none or several
    names have it.
    """
    wanted = prefix.lower()
    if not layout.is_prefix(wanted) or len(wanted) < MIN_PREFIX:
        raise UsageError(
            f"not an id: {prefix[:64]}",
            hint=f"an id is at least {MIN_PREFIX} hex digits; see githarness log",
        )
    matches = _named(store, wanted) or _cited(store, wanted)
    if not matches:
        raise MissingError(f"nothing in the store has an id that begins with {prefix}", hint="githarness log")
    if len(matches) > 1:
        names = ", ".join(name[:16] for _, name in matches[:4])
        raise UsageError(f"{prefix} is the beginning of {len(matches)} ids: {names}", hint="give more digits")
    return matches[0]


def _named(store: Store, prefix: str) -> list[tuple[str, str]]:
    areas = (layout.RUNS, layout.SURFACES, layout.SIGHTINGS, layout.PROMPTS)
    found = {area: set(store.find(prefix, (area,))) for area in areas}
    # a withheld surface has sightings and no bytes; it is a surface all the same
    found[layout.SURFACES] |= found.pop(layout.SIGHTINGS)
    return [(area, name) for area, names in found.items() for name in sorted(names)]


def _cited(store: Store, prefix: str) -> list[tuple[str, str]]:
    found = set()
    for run in manifests(store):
        if run.recording.digest.startswith(prefix):
            found.add((layout.RUNS, run.id))
        prompts = run.prompts if isinstance(run.prompts, tuple) else ()
        found |= {(layout.PROMPTS, one.digest) for one in prompts if one.digest.startswith(prefix)}
    return sorted(found)


def manifest(store: Store, run_id: str) -> Run:
    """Return the manifest of a run; MissingError when there is none."""
    data = store.read(layout.run(run_id))
    if data is None:
        raise MissingError(f"no run {run_id} in the store", hint="githarness log")
    try:
        return manifest_form.decode(data)
    except UnreadableError as error:
        raise CorruptError(
            f"run {run_id}: {error.message}", hint=error.hint or "githarness status"
        ) from error


def parts(store: Store, run: Run) -> Iterator[bytes]:
    """Yield the parts of a run's recording, each checked, and check the whole at the end.

    A recording of any size passes through, so that nobody needs to hold all of it.
    """
    whole = hashlib.sha256()
    for part in run.recording.parts:
        data = store.read(layout.part(part.digest))
        if data is None:
            raise MissingError(
                f"run {run.id}: part {part.digest[:12]} of its recording is not in the store",
                hint="githarness status names everything that is missing; fetch it from a copy of the store",
            )
        whole.update(data)
        yield data
    if whole.hexdigest() != run.recording.digest:
        raise CorruptError(
            f"run {run.id}: its parts do not join to the recording {run.recording.digest[:12]}",
            hint="record the session again, or restore the manifest from a copy of the store",
        )


def recording(store: Store, run: Run) -> bytes:
    """Return the bytes of a run's recording, all parts joined and checked."""
    return b"".join(parts(store, run))


def surface(store: Store, digest: str) -> bytes | None:
    """Return the bytes of a surface; None when they are absent or withheld."""
    return store.read(layout.surface(digest))


def seen(store: Store, digest: str) -> list[Sighting]:
    """Return the sightings of one surface, oldest first."""
    return sorted(
        _readable(store, layout.sightings(digest)), key=lambda one: (one.first, one.kind, one.source)
    )
