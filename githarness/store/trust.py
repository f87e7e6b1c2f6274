"""Trust: which ledger each store of this user is held to, and what was seen of it last.

The gap this closes: a repository cannot vouch for itself. Whoever can push can put a
whole older ledger, or another one, in its place. The decision: one small file in the
user's configuration folder, `trust.json`, from the store's real path to the ledger's
id, its newest entries and main's last verified commit. It is replaced in one step
under a lock. A file that cannot be read, or that somebody else may write, is an error:
taking it for "nothing pinned" is what an attacker would hope for.

What it does not do: it verifies nothing, and is never read from a repository, its
configuration or the environment.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from githarness import canon
from githarness.errors import StorageError, UnreadableError
from githarness.store import disk
from githarness.store.lock import Lock

NAME = "trust.json"
LOCK = "trust.lock"
TYPE = "githarness.trust.v1"

# Some hundred stores with all they remember; more is not a file of ours.
_SIZE_LIMIT = 16 << 20
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Pin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one store is held to.

    `main` is the last commit of main that was verified, None for never; `states` are
    digests of answers that were given after verifying, each with all it rests on.
    """

    ledger: str
    heads: tuple[str, ...] = ()
    main: str | None = None
    states: tuple[str, ...] = ()


class _Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    type: str
    stores: dict[str, Pin]


def read(folder: Path, store: Path) -> Pin | None:
    """Return what the store at `store` is held to; None when nothing was ever pinned for it."""
    return _load(folder / NAME).stores.get(key(store))


def pins(folder: Path) -> dict[str, Pin]:
    """Return every pin, by the key of its store."""
    return dict(_load(folder / NAME).stores)


def update(folder: Path, store: Path, change: Callable[[Pin | None], Pin | None]) -> Pin | None:
    """Have `change` make the new pin from the one that stands; None takes it away.

    Nobody else writes in between. Returns what stands now.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}") from error
    with Lock(folder / LOCK):
        found = _load(folder / NAME)
        name = key(store)
        old = found.stores.get(name)
        new = change(old)
        if new != old:
            stores = {path: pin for path, pin in found.stores.items() if path != name}
            if new is not None:
                stores[name] = _checked(new, "the new pin")
            disk.replace(folder / NAME, canon.encode(_Document(type=TYPE, stores=stores)) + b"\n")
    return new


def key(store: Path) -> str:
    """Name a store by its real path, so that a link to it is held to the same."""
    path = os.fsencode(store.resolve())
    try:
        return path.decode("utf-8")
    except UnicodeDecodeError:
        return f"bytes:{path.hex()}"  # no path begins like this: they begin with a slash


def _load(path: Path) -> _Document:
    data = guarded(path)
    if data is None:
        return _Document(type=TYPE, stores={})
    try:
        found = msgspec.convert(_strict(path, data), type=_Document)
    except (msgspec.ValidationError, UnreadableError) as error:
        raise UnreadableError(f"{path} cannot be read: {error}", hint=_hint(path)) from error
    if found.type != TYPE:
        raise UnreadableError(f"{path} is a {found.type[:40]!r} and no {TYPE}", hint=_hint(path))
    for name, pin in found.stores.items():
        _checked(pin, f"{path}: {name}")
    return found


def _strict(path: Path, data: bytes) -> Any:
    return canon.parse(data, path.name)


def guarded(path: Path) -> bytes | None:
    """Return the bytes of a file that only this user writes, None only when there is no such name.

    UnreadableError for one that somebody else may write, or that is far too large.
    """
    try:
        if not os.path.lexists(path):
            return None
        with path.open("rb") as stream:
            _refuse_foreign(path, os.fstat(stream.fileno()))
            data = stream.read(_SIZE_LIMIT + 1)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}", hint=_hint(path)) from error
    if len(data) > _SIZE_LIMIT:
        raise UnreadableError(f"{path} has more than {_SIZE_LIMIT} bytes", hint=_hint(path))
    return data


def _refuse_foreign(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in {os.geteuid(), 0}:
        raise UnreadableError(f"{path} belongs to user {found.st_uid}", hint=_hint(path))
    if found.st_mode & _OTHERS_WRITE:
        raise UnreadableError(f"{path} can be written by others", hint=f"look at it, then: chmod 600 {path}")


def _hint(path: Path) -> str:
    return f"repair it, or move it away and pin each ledger again: mv {path} {path}.old; githarness trust ID"


def _checked(pin: Pin, what: str) -> Pin:
    """Return `pin` when every id in it has the form of one; UnreadableError otherwise."""
    digests = (pin.ledger, *pin.states)
    if not all(map(canon.is_digest, digests)):
        raise UnreadableError(f"{what} holds a digest that is none")
    return pin
