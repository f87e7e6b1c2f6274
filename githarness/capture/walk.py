"""Which files a person meant: named ones as they are, folders walked in a fixed order.

The gap this closes: a folder of transcripts holds locks, sockets, link loops and
files that may not be read, and one of them must not stop the rest. The decision:
yield every regular file once, in sorted order, and every obstacle with its reason.
What it does not do: it opens nothing.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One file. `named` is False for what walking found; `reason` says why it cannot be read.

    `identity` tells two names of one file.
    """

    path: Path
    named: bool
    reason: str = ""
    identity: tuple[int, int] = (0, 0)


def files(paths: list[Path]) -> Iterator[Found]:
    """Yield the files of `paths` in the order given, folders walked, each file once."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for found in _walk(path) if _is_folder(path) else [_check(path, named=True)]:
            if found.reason:
                yield found
            elif found.identity not in seen:
                seen.add(found.identity)
                yield found


def _is_folder(path: Path) -> bool:
    """Tell whether `path` is a folder; what cannot be looked at is none, and `_check` says why."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _check(path: Path, *, named: bool) -> Found:
    try:
        status = path.stat()
    except OSError as error:
        return Found(path=path, named=named, reason=(error.strerror or str(error)).lower())
    except ValueError:
        return Found(path=path, named=named, reason="a name that no file can have")
    if not stat.S_ISREG(status.st_mode):
        return Found(path=path, named=named, reason="not a regular file")
    return Found(path=path, named=named, identity=(status.st_dev, status.st_ino))


def _walk(top: Path) -> Iterator[Found]:
    """Walk without following links to folders, so a loop of links ends at once."""
    blocked: list[Found] = []

    def note(error: OSError) -> None:
        where = Path(error.filename or top)
        blocked.append(Found(path=where, named=where == top, reason=(error.strerror or str(error)).lower()))

    for folder, folders, names in os.walk(top, onerror=note):
        folders.sort()
        yield from blocked
        blocked.clear()
        for name in sorted(names):
            yield _check(Path(folder, name), named=False)
    yield from blocked
