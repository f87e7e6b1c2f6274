"""The local cache of intake states: private, outside every store, safe to delete.

The gap this closes: without it a session of 300 MB that grew by one line is read,
redacted and cut again from the start. The decision: one file per source path in
the user's cache folder, 0600, holding positions, marker texts and keyed digests,
and no byte of a transcript; the key never leaves the folder. Whatever cannot be
read is treated as not there. What this does not do: it is never an authority, since
a state counts only when the raw prefix still hashes to what it says.
"""

import hashlib
import importlib
import os
from pathlib import Path

import msgspec

from githarness.capture.intake import Resume

# States of long sessions hold a record per call: 300 MB of transcript make about 10 MB.
KEY_BYTES = 32


class Cache:
    """A folder of states, looked for when it is first needed; None means that none is kept."""

    def __init__(self, folder: Path | None = None, *, default: bool = False) -> None:
        """With `default` the folder is the user's own."""
        self._default = default
        self._folder = folder
        self._key = b""

    @property
    def key(self) -> bytes:
        """Return the folder's key, or a fresh one where nothing is kept."""
        if not self._key:
            self._key = os.urandom(KEY_BYTES)
            if self._default:
                self._folder = default_folder()
            if self._folder is not None:
                self._prepare(self._folder)
        return self._key

    def _prepare(self, folder: Path) -> None:
        """Make the folder and its key; a folder that cannot be made means no cache."""
        path = folder / "key"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                _write(path, self._key)
            stored = path.read_bytes()
        except OSError:
            self._folder = None
            return
        if len(stored) == KEY_BYTES:
            self._key = stored
        else:
            self._folder = None

    def load(self, name: str) -> Resume | None:
        """Return the state last saved for the source called `name`, or None."""
        path = self._path(name)
        if path is None:
            return None
        try:
            return msgspec.msgpack.decode(path.read_bytes(), type=Resume)
        except (OSError, msgspec.MsgspecError):
            return None

    def save(self, name: str, state: Resume) -> None:
        """Keep `state`; a full disk costs only the next run's time."""
        path = self._path(name)
        if path is not None:
            try:
                _write(path, msgspec.msgpack.encode(state))
            except OSError:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path | None:
        key = self.key
        if self._folder is None:
            return None
        digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), key=key, digest_size=16)
        return self._folder / digest.hexdigest()


def default_folder(kind: str = "intake") -> Path:
    """Return this user's cache folder for one kind of state; it need not exist."""
    # loaded here, since only long sessions have a state worth keeping
    platformdirs = importlib.import_module("platformdirs")
    folder: Path = platformdirs.user_cache_path("githarness")
    return folder / kind


def _write(path: Path, data: bytes) -> None:
    """Replace `path` in one step, readable by its owner alone."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(data)
    fresh.replace(path)
