"""The disk: a name that is acknowledged is a name that survives a power cut.

The gap this closes: git and rename fsync what a file holds and leave its name to the
file system. The decision: the folders are fsynced too, from the file up. What this
does not do: it knows no git and no format.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from githarness.errors import StorageError


def settle(folder: Path, *, up_to: Path | None = None) -> None:
    """Fsync a folder, and with `up_to` every folder above it as far as that one."""
    while True:
        _fsync(folder)
        if up_to is None or folder == up_to:
            return
        folder = folder.parent


def _fsync(folder: Path) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return  # git packed the refs or objects in it meanwhile, and fsynced the pack
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror}") from error
    try:
        os.fsync(handle)
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror}") from error
    finally:
        os.close(handle)


def replace(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step, readable by its owner alone; StorageError leaves the old file."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    settle(path.parent)


def fingerprint(folder: Path) -> str:
    """Digest which files are below a folder, and when each was written last.

    A file that is written again in place has another time of change, which nobody sets back.
    """
    found = hashlib.sha256()
    for path, stat in sorted(_stats(str(folder))):
        where = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        found.update(os.fsencode(path) + repr(where).encode())
    return found.hexdigest()


def _stats(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _stats(entry.path)
            else:
                with suppress(FileNotFoundError):
                    yield entry.path, entry.stat()
