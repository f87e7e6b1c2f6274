"""A source: one input that can be opened more than once, with a name to call it by.

The gap this closes: a transcript on disk grows while it is read, standard input
can be read once, and a database yields many recordings. The decision: each is a
`Source` with a size fixed when it was found, so that reading ends, and an `open`
that starts at the front. What it does not do: it never writes, and it does not
look at what the bytes mean.
"""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from githarness.errors import UnreadableError

BLOCK = 1 << 20

# No client writes such a line; a host refuses a file of 100 MB only at push time.
MAX_LINE = 50_000_000


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """`name` is what a person sees. `size` bytes count; what is appended later does not."""

    name: str
    size: int
    open: Callable[[], BinaryIO]
    container: str | None = None

    def blocks(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` to `end` (default: `size`) in blocks of 1 MiB."""
        left = (self.size if end is None else end) - start
        with self.open() as stream:
            stream.seek(start)
            while left > 0:
                block = stream.read(min(BLOCK, left))
                if not block:
                    return
                left -= len(block)
                yield block

    def read(self) -> bytes:
        """Return all `size` bytes."""
        return b"".join(self.blocks())


def file(path: Path, name: str | None = None) -> Source:
    """Make a source of a regular file; raise UnreadableError when it cannot be opened."""
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    return Source(name=name or str(path), size=size, open=lambda: path.open("rb"))


def memory(name: str, data: bytes, container: str | None = None) -> Source:
    """Make a source of bytes at hand. Nothing of them touches the disk."""
    return Source(name=name, size=len(data), open=lambda: io.BytesIO(data), container=container)


def refuse_long_lines(source: Source) -> None:
    """Raise UnreadableError naming the first line over 50 MB, before anything is written."""
    if source.size <= MAX_LINE:
        return
    length, number = 0, 1
    for block in source.blocks():
        first = block.find(b"\n")
        if first < 0:
            length += len(block)
        else:
            length += first
        if length > MAX_LINE:
            raise UnreadableError(f"{source.name}: line {number} is over {MAX_LINE // 1_000_000} MB")
        if first >= 0:
            number += block.count(b"\n")
            length = len(block) - block.rfind(b"\n") - 1
