"""Proofs: digests of signed entries that held once, so that none is verified twice.

The gap this closes: verifying a thousand signatures for each new one costs whoever
proposes or approves a tenth of a second. The decision: 32 bytes for each entry, in a
file beside `trust.json`, which only this user writes; what cannot be read was never
proven. What this does not do: it keeps no entry, and no verdict.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from githarness import canon
from githarness.errors import StorageError, UnreadableError
from githarness.store import disk, trust

FOLDER = "proofs"
_BYTES = 32


def read(folder: Path, store: Path) -> frozenset[str]:
    """Return what was proven for a store; nothing when that cannot be read."""
    try:
        data = trust.guarded(_path(folder, store)) or b""
    except UnreadableError:
        return frozenset()
    return frozenset(data[at : at + _BYTES].hex() for at in range(0, len(data), _BYTES))


def keep(folder: Path, store: Path, proofs: Iterable[str]) -> None:
    """Remember exactly these; a full disk costs only the next run's time."""
    path, data = _path(folder, store), b"".join(map(bytes.fromhex, sorted(proofs)))
    with suppress(StorageError, OSError):
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        disk.replace(path, data)


def _path(folder: Path, store: Path) -> Path:
    return folder / FOLDER / canon.sha256(trust.key(store).encode("utf-8", "surrogateescape"))
