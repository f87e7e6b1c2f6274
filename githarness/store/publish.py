"""Publishing: a few objects written, and one ref moved to the last of them, or not at all.

The gap this closes: `git fast-import` checks ancestry and not the old value, so a
branch that was set back meanwhile is moved forward again without a word; and
`hash-object` costs a process for each object. The decision: one pack through
`index-pack --strict`, which keeps the very bytes it is given and refuses links to
nothing, then `update-ref` with the old value. `None` as the old value means that the
ref must not exist.

Acknowledged means: git fsynced objects and ref, all of it was read back and hashed,
and the folders that hold the names are fsynced.

What it does not do: it decides nothing about what to do when the ref was elsewhere, and
cannot keep what `git gc --prune=now` deletes at that very moment; no git can.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence

import msgspec

from githarness.errors import CorruptError
from githarness.store import batch, disk, gitobject, layout, refs, stream, tidy
from githarness.store.batch import Object
from githarness.store.lock import Lock
from githarness.store.objects import Store
from githarness.store.writer import stale

# Somebody's `git prune` can take new objects away before a ref names them.
ATTEMPTS = 5

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}


class Fresh(msgspec.Struct, frozen=True, kw_only=True):
    """One object to be written, under the name that its bytes have."""

    oid: str
    kind: str
    data: bytes


def fresh(store: Store, kind: str, data: bytes) -> Fresh:
    """Name an object without writing it."""
    return Fresh(oid=gitobject.identify(kind, data, store.algorithm), kind=kind, data=data)


def publish(store: Store, ref: str, objects: Sequence[Fresh], *, old: str | None) -> bool:
    """Write `objects` and move `ref` from `old` to the last one; False when it was not at `old`.

    Raises LockedError for a lock of git's that stays, StorageError when the store
    cannot be written; the ref is then where it was.
    """
    with Lock(store.path / layout.WRITE_LOCK):
        moved = _publish(store, ref, objects, old)
    if moved and tidy.is_due(store.git):
        tidy.start(store.git)
    return moved


def _publish(store: Store, ref: str, objects: Sequence[Fresh], old: str | None) -> bool:
    for _ in range(ATTEMPTS):
        if refs.tip(store.path, ref) != old:
            return False
        write(store, objects)
        if _swap(store, ref, objects[-1].oid, old):
            _keep(store, objects)
            return True
    raise CorruptError(
        f"what was written to {store.path} was gone {ATTEMPTS} times in a row",
        hint="stop the other program that prunes it, and run the same command again",
    )


def write(store: Store, objects: Sequence[Fresh]) -> None:
    """Write objects that no ref names yet, and have them on the disk when this returns."""
    # A pack is one file to fsync, and `git prune` leaves it alone.
    into_pack = stream.pack_count(store.git) < stream.MANY_PACKS
    words = ("index-pack", "--stdin", "--strict") if into_pack else ("unpack-objects", "-q", "--strict")
    packed = pack(objects, store.algorithm)
    for _ in range(ATTEMPTS):
        # It takes half-written files away as well.
        answer = store.git.call(*words, data=packed)
        if answer.code == 0:
            break
    else:
        raise stream.failure(store.git, answer)
    folder = store.path / "objects"
    for name in ["pack"] if into_pack else {item.oid[:2] for item in objects}:
        disk.settle(folder / name)
    disk.settle(folder)


def pack(objects: Sequence[Fresh], algorithm: str) -> bytes:
    """Join objects to one pack, the form in which a single process takes many."""
    once = {item.oid: item for item in objects}.values()
    found = [b"PACK", struct.pack(">II", 2, len(once))]
    for item in once:
        found += [_head(_KINDS[item.kind], len(item.data)), zlib.compress(item.data, 1)]
    body = b"".join(found)
    return body + gitobject.digest(body, algorithm)


def _head(kind: int, size: int) -> bytes:
    """Write type and size as packs do: four bits of size, then seven to a byte."""
    first, size = kind << 4 | size & 15, size >> 4
    found = bytearray()
    while size:
        found.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    found.append(first)
    return bytes(found)


def _swap(store: Store, ref: str, new: str, old: str | None) -> bool:
    """Move `ref` by comparing; False when it is to be looked at again."""
    answer = store.git.call(
        # Long enough for any git that is at work, so that a lock that stays is stale.
        "-c", "core.filesRefLockTimeout=1000",
        "update-ref", "--no-deref", ref, new, old or "0" * len(new),
    )  # fmt: skip
    if answer.code == 0:
        disk.settle((store.path / ref).parent, up_to=store.path / "refs")
        return True
    lock = store.path / f"{ref}.lock"
    if refs.tip(store.path, ref) == old:
        if lock.exists():
            raise stale(lock)
        if not _lacks(store, [new]):
            raise stream.failure(store.git, answer)
    return False


def _keep(store: Store, objects: Sequence[Fresh]) -> None:
    """Read back everything that the ref now needs, and write again what was pruned before it moved."""
    names = [item.oid for item in objects]
    if _lacks(store, names):
        write(store, objects)
        if missing := _lacks(store, names):
            raise CorruptError(
                f"{', '.join(missing)} in {store.path} cannot be read back",
                hint=f"see what else is: git --git-dir={store.path} fsck --full",
            )


def _lacks(store: Store, oids: Iterable[str]) -> list[str]:
    answers = batch.stream(store.git, oids, store.algorithm)
    return [answer.oid for answer in answers if not isinstance(answer, Object)]
