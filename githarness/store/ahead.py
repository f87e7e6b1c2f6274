"""Ahead: readings that are made in a thread of their own while Python does something else.

The gap this closes: git answers for 40 ms while nothing else happens, and Python then
loads libraries for 90 ms while git is idle. The decision: a reading is begun early and
finished where its answer is needed; one that failed is made again there, since that is
where its error belongs. What this does not do: it starts nothing that writes.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from githarness.errors import HarnessError

T = TypeVar("T")


class Ahead(Generic[T]):
    """One call, begun at once."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._found: list[T] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with suppress(HarnessError, OSError):
            self._found.append(self._call())

    def wait(self) -> None:
        """Return when the call has ended, however it did."""
        self._thread.join()

    def result(self) -> T:
        """Return what the call returned; whatever went wrong goes wrong again, here."""
        self.wait()
        return self._found[0] if self._found else self._call()
