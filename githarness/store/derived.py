"""What can be computed again: a cache beside the user's other caches, never in the store.

The gap this closes: counting a corpus again for every question reads every recording
again. The decision: one small file per key in the user's cache folder; whatever
cannot be read is not there. What this does not do: it is no record, and deleting it
changes no answer.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path


class Derived:
    """Keys to bytes; with `folder` None nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        """Return what was kept under `key`, None when nothing was or it cannot be read."""
        if self._folder is None:
            return None
        try:
            return self._path(self._folder, key).read_bytes()
        except OSError:
            return None

    def put(self, key: str, data: bytes) -> None:
        """Keep `data`; a full disk costs only the next run's time."""
        if self._folder is None:
            return
        path = self._path(self._folder, key)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh.write_bytes(data)
            fresh.chmod(0o600)
            fresh.replace(path)
        except OSError:
            # what stands in the way may also be a file where a folder should be
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def _path(self, folder: Path, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return folder / name[:2] / name
