"""The first look at an input: enough to tell what it is, never its name.

The gap this closes: transcripts are copied, renamed and piped, so a file name or
a folder says nothing. The decision: parse the first records once and let every
format look at the same parsed values.

What it does not do: it opens no file, and it decides nothing.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from githarness import canon

# Editors on Windows put it in front of UTF-8. It is no part of the first record.
BOM = b"\xef\xbb\xbf"

# Clients put their headers first; forty records see past the noise records that
# some write before them (57-72 % of lines in long sessions are progress noise).
PEEK_RECORDS = 40


class Peek(msgspec.Struct, frozen=True, kw_only=True):
    """Parsed first records, or the whole input where it is one JSON document.

    `document` is None for line-based input. For a document `records` is the one
    value. `unreadable` counts lines among the first that are no JSON.
    """

    records: tuple[Any, ...]
    document: Any = None
    unreadable: int = 0

    def objects(self) -> list[dict[str, Any]]:
        """Return those of the first records that are JSON objects."""
        return [record for record in self.records if isinstance(record, dict)]


def lines(head: bytes) -> Peek:
    """Peek at line-based input; a last line that is cut is only tried."""
    records: list[Any] = []
    bad = 0
    for line in head.removeprefix(BOM).split(b"\n")[:PEEK_RECORDS]:
        if not line.strip():
            continue
        try:
            records.append(canon.read(line))
        except ValueError:
            bad += 1
    return Peek(records=tuple(records), unreadable=bad)


def document(data: bytes) -> Peek | None:
    """Peek at one JSON document; None when `data` is not exactly one JSON value."""
    try:
        value = canon.read(data.removeprefix(BOM))
    except ValueError:
        return None
    return Peek(records=(value,), document=value)


def is_by_line(data: bytes, *, more: bool = False) -> bool:
    """Tell line-based input from one document: a first line that is whole JSON, and more after it.

    `more` says that bytes follow `data`.
    """
    first, _, rest = data.partition(b"\n")
    return bool(more or rest.strip()) and document(first) is not None


def records(data: bytes) -> list[bytes]:
    """Split a whole recording as its reader wants it: lines, or the one document."""
    data = data.removeprefix(BOM)
    if not is_by_line(data) and document(data) is not None:
        return [data]
    return [line for line in data.split(b"\n") if line.strip()]


def split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Split a recording that comes in pieces as `records` splits it when it is whole.

    Only a first line that is no JSON of its own, as in a document of many lines, makes
    it necessary to hold all of it.
    """
    rest = iter(pieces)
    head = b""
    for piece in rest:
        head += piece
        if b"\n" in head:
            break
    head = head.removeprefix(BOM)
    if document(head.partition(b"\n")[0]) is None:
        yield from records(b"".join([head, *rest]))
    else:
        yield from _split(head, rest)


def _split(head: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    torn: list[bytes] = []
    for piece in chain((head,), rest):
        *whole, last = piece.split(b"\n")
        if whole:
            whole[0] = b"".join([*torn, whole[0]])
            torn = []
            yield from (line for line in whole if line.strip())
        torn.append(last)
    line = b"".join(torn)
    if line.strip():
        yield line
