"""What an input is, found by looking at its content and never at its name.

The gap this closes: recorders that trust a file's name miss copies, pipes and
renamed folders, and misread what is merely lying beside a transcript. The
decision: parse the first records once and ask every format; what nobody claims
is skipped with the true reason. What it does not do: it records nothing.
"""

from typing import Any

import msgspec

from githarness.capture import container
from githarness.capture.source import MAX_LINE, Source
from githarness.errors import UsageError
from githarness.formats import detect, peek, surface, surface_places
from githarness.formats.detect import Format
from githarness.formats.peek import Peek

HEAD = 1 << 18

# A document is parsed whole, at about five times its size in memory.
MAX_DOCUMENT = 64 << 20

_SHOWN = 64

SESSION = "session"
SURFACE = "surface"
TOOL = "tool"
CONTAINER = "container"
SKIP = "skip"


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. `by_line` tells line-based input from one JSON document."""

    kind: str
    format: Format | None = None
    by_line: bool = False
    container: str = ""
    reason: str = ""


def require(name: str | None) -> None:
    """Raise UsageError, naming the formats, for a `--format` that there is not."""
    if name is not None and name not in (*detect.names(), SURFACE):
        names = ", ".join([*detect.names(), SURFACE])
        raise UsageError(f"no format is called {name[:_SHOWN]!r}", hint=f"--format is one of: {names}")


def look(source: Source, forced: str | None = None) -> Look:
    """Tell what `source` is; a `forced` format name skips the guessing, not the reading."""
    if source.size == 0:
        return Look(kind=SKIP, reason="empty file")
    head = _head(source)
    held = container.kind(head)
    if held is not None:
        return Look(kind=CONTAINER, container=held)
    binary = _binary(head)
    if binary:
        return Look(kind=SKIP, reason=binary)
    found, by_line = _peek(source, head)
    if found is None:
        return Look(kind=SKIP, reason=_not_json(source))
    if forced is not None:
        return _forced(forced, by_line=by_line)
    session = detect.session(found)
    if session is not None:
        return Look(kind=SESSION, format=session, by_line=by_line)
    if not by_line and surface.sniff(found):
        return Look(kind=TOOL if surface_places.is_single(found.document) else SURFACE)
    return Look(kind=SKIP, reason=_lines(found) if by_line else _nobody(found.document))


def _head(source: Source) -> bytes:
    """Return the first 256 KiB, or up to the end of the first line where that is longer."""
    head = b""
    for block in source.blocks():
        head += block
        if len(head) >= HEAD and (b"\n" in head or len(head) > MAX_LINE):
            break
    end = max(HEAD, head.find(b"\n") + 1)
    return head[:end]


def _binary(head: bytes) -> str:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "UTF-16 text; transcripts are UTF-8"
    if b"\0" in head[:8192]:
        return "binary data"
    return ""


def _peek(source: Source, head: bytes) -> tuple[Peek | None, bool]:
    """Return the peek and whether the input is line-based; (None, …) when it is no JSON."""
    by_line = peek.lines(head)
    if peek.is_by_line(head, more=source.size > len(head)):
        return by_line, True
    if source.size <= MAX_DOCUMENT:
        whole = peek.document(source.read())
        if whole is not None:
            return whole, False
    if by_line.objects():
        return by_line, True
    return None, False


def _forced(name: str, *, by_line: bool) -> Look:
    require(name)
    if name == SURFACE:
        return Look(kind=SURFACE)
    return Look(kind=SESSION, format=detect.by_name(name), by_line=by_line)


def _not_json(source: Source) -> str:
    if source.size > MAX_DOCUMENT:
        return f"neither JSON lines nor a JSON document under {MAX_DOCUMENT >> 20} MiB"
    return "not JSON"


def _nobody(value: Any) -> str:
    """Say what JSON it is that no reader claims."""
    if isinstance(value, dict):
        keys = ", ".join(sorted(str(key)[:24] for key in value)[:5])
        return f"JSON, but no session or surface (an object with {keys})" if value else "an empty object"
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "a list of names only, which is no surface: descriptions and schemas are what is sent"
    if isinstance(value, list):
        return f"JSON, but no session or surface (a list of {len(value)})"
    return "JSON, but no session or surface"


def _lines(found: Peek) -> str:
    kinds = sorted({str(record["type"])[:24] for record in found.objects() if "type" in record})
    return "JSON lines of no known session" + (f" (types {', '.join(kinds[:5])})" if kinds else "")
