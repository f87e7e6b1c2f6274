"""A lock between our own writers, which the kernel takes back when its holder dies.

The gap this closes: sixteen writers that only compare, swap and retry spend
themselves on retries (37 records a second); with a lock around the commit the
same sixteen write 322. The decision: an advisory flock on a file that stays. It
is an optimisation, never the guard: compare-and-swap is, since plain git and
network file systems do not take part.

What it does not do: it never waits for ever, and deletes nothing.
"""

import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from githarness.errors import LockedError, StorageError

# A commit takes about 10 ms; a holder that keeps it this long is stopped or stuck.
PATIENCE = 30.0
_FIRST_NAP = 0.001
_LONGEST_NAP = 0.02


class Lock:
    """Holds `path` locked between enter and exit; `handle` is the open file then."""

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience
        self.handle = -1

    def __enter__(self) -> Self:
        try:
            self.handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"{self._path} cannot be written: {error.strerror}") from error
        if not self._wait():
            self._release()
            raise LockedError(
                f"another githarness has held {self._path} for {self._patience:g} s",
                hint=f"see who it is with: fuser {self._path}",
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _wait(self) -> bool:
        deadline = time.monotonic() + self._patience
        nap = _FIRST_NAP
        while not self._try():
            if time.monotonic() > deadline:
                return False
            time.sleep(nap)
            nap = min(nap * 1.5, _LONGEST_NAP)
        return True

    def _try(self) -> bool:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            # Some network file systems have no flock: the swap alone then decides.
            if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise StorageError(f"{self._path} cannot be locked: {error.strerror}") from error
        return True

    def _release(self) -> None:
        os.close(self.handle)
        self.handle = -1
