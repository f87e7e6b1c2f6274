"""Parts that wait until it is decided whether their recording is kept.

The gap this closes: a writer that takes parts as they come has stored raw secrets, or a
shorter copy, by the time somebody asks whether they are wanted. The decision: parts are
held in memory until the session is known. Where they become too many, they are streamed
if nothing of the run is stored, and only counted otherwise: then the recording is taken
in once more when it is kept after all. What this does not do: it decides nothing.
"""

from collections.abc import Callable

from githarness import canon

# Memory that a recording may take before it is decided; a session of a day is smaller.
HELD = 8 << 20


class Held:
    """Takes parts; `is_new` is asked once, when more than `HELD` bytes would wait."""

    def __init__(self, send: Callable[[bytes], str], is_new: Callable[[], bool]) -> None:
        self._send = send
        self._is_new = is_new
        self._parts: list[bytes] = []
        self._size = 0
        self._streams = False
        self.whole = True
        self.sent: list[str] = []

    def put(self, part: bytes) -> str:
        """Take the next part; return its digest."""
        if self._streams:
            return self._sent(part)
        if self.whole:
            self._parts.append(part)
            self._size += len(part)
            if self._size > HELD:
                self._overflow()
        return canon.sha256(part)

    def release(self) -> None:
        """Send what waits. Without `whole` that is not all, and the source must be read again."""
        parts, self._parts = self._parts, []
        for part in parts:
            self._sent(part)

    def _overflow(self) -> None:
        if self._is_new():
            self._streams = True
            self.release()
        else:
            self.whole = False
            self._parts.clear()

    def _sent(self, part: bytes) -> str:
        digest = self._send(part)
        self.sent.append(digest)
        return digest
