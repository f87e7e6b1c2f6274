"""Containers: inputs that hold many recordings, each taken out as lines of its own.

What it closes: a database and an archive of runs are not transcripts, and most inputs
are neither, so their readers must cost nothing until one is met. The decision: a few
bytes tell; the module that reads one is loaded then. What this does not do: it
understands no row and no sample.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from githarness.capture.source import Source
from githarness.errors import UnreadableError
from githarness.formats.peek import BOM

DATABASE = "database"
ARCHIVE = "archive"
LOG = "log"

_SQLITE = b"SQLite format 3\0"
_ZIP = b"PK\x03\x04"
# An evaluation log begins with these two members; the reader itself makes sure.
_LOG_SIGNS = (b'"status"', b'"eval"')
_LOG_HEAD = 400


def kind(head: bytes) -> str | None:
    """Tell which container begins with `head`; None for anything else."""
    if head.startswith(_SQLITE):
        return DATABASE
    if head.startswith(_ZIP):
        return ARCHIVE
    head = head.removeprefix(BOM)
    maybe = all(sign in head[:_LOG_HEAD] for sign in _LOG_SIGNS)
    return LOG if maybe and _module("evallog").is_log(head) else None


def recordings(which: str, source: Source, path: Path | None) -> Iterator[tuple[str, str, bytes]]:
    """Yield (container's name, native id, bytes) of each recording; UnreadableError says why not."""
    if which != LOG and path is None:
        raise UnreadableError(f"{source.name}: a {which} can only be read from its file")
    if which == DATABASE:
        module = _module("sqlite")
        found = module.sessions(path)
    else:
        module = _module("evallog")
        found = (
            module.sessions(path)
            if which == ARCHIVE
            else module.sessions_of_log(source.read().removeprefix(BOM), source.name)
        )
    for taken in found:
        yield module.CONTAINER, taken.native, b"".join(line + b"\n" for line in taken.lines)


def _module(name: str) -> Any:
    return importlib.import_module(f"githarness.capture.{name}")
