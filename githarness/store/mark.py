"""The mark of a store: `githarness.store = 1` in its configuration, and two branches.

The gap this closes: any bare repository could be mistaken for a store, and asking
git costs a process at every start. The decision: the mark is set last, so that a
store that carries it is complete, and it is recognised by reading files.

What it does not do: it never writes, and a store whose refs are not kept as files
is not recognised.
"""

import os
import re
from pathlib import Path

import msgspec

from githarness.errors import CorruptError, StorageError, UnreadableError
from githarness.store import layout, refs

KEY = "githarness.store"
VERSION = "1"

_SECTION = re.compile(r'\[([A-Za-z0-9.-]+)(?: "((?:[^"\\]|\\.)*)")?\]\s*(.*)')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*=\s*([^#;]*)")


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What the configuration of a store says: the hash its objects are named with."""

    algorithm: str


def read(path: Path) -> Mark | None:
    """Return the mark of the store at `path`; None when it is no complete store."""
    settings, missing = _look(path)
    if KEY not in settings or missing:
        return None
    _check(path, settings)
    return Mark(algorithm=settings.get("extensions.objectformat", "sha1"))


def lost(path: Path) -> str:
    """Name the branches that a store has lost; empty where it is whole, or was never completed.

    A repository that only names its store has a path there, and no version.
    """
    settings, missing = _look(path)
    return " and ".join(missing) if settings.get(KEY, "").isdigit() else ""


def _look(path: Path) -> tuple[dict[str, str], list[str]]:
    """Return the settings of the store at `path`, and its branches that are not there."""
    try:
        settings = parse((path / "config").read_bytes().decode("utf-8", "replace"))
        return settings, [ref for ref in (layout.MAIN, layout.RECORDINGS) if refs.tip(path, ref) is None]
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as error:
        raise StorageError(f"the store at {path} cannot be read: {error.strerror}") from error


def refuse_lost(path: Path) -> None:
    """Raise CorruptError, saying how to look, for a store that was complete and lost a branch."""
    missing = lost(path)
    if missing:
        raise CorruptError(
            f"the store at {path} has lost {missing}; it was complete, so nothing is made in its place",
            hint=f"look for its last commit: git --git-dir={path} fsck --lost-found, or git --git-dir={path} "
            f"reflog --all; then put it back: git --git-dir={path} update-ref {missing.split()[0]} COMMIT",
        )


def _check(path: Path, settings: dict[str, str]) -> None:
    if settings[KEY] != VERSION:
        raise UnreadableError(
            f"the store at {path} has version {settings[KEY][:20]!r}, and this program knows {VERSION}",
            hint="use the newer githarness that made it",
        )
    owner = path.stat().st_uid
    if owner != os.geteuid():
        # Git says the same of such a folder, but not when it is named outright, as we do.
        raise StorageError(
            f"the store at {path} belongs to user {owner}, and you are user {os.geteuid()}",
            hint=f"clone it to a place of your own, or give it to yourself with chown -R {os.geteuid()}",
        )


def parse(text: str) -> dict[str, str]:
    """Read `section.key` (lower case) of git's configuration; the last value wins.

    Just enough for files that git wrote: no includes, quotes or continued lines.
    """
    found: dict[str, str] = {}
    section = ""
    for line in map(str.strip, text.splitlines()):
        if header := _SECTION.match(line):
            section = header[1].lower() + (f".{header[2]}" if header[2] is not None else "")
            line = header[3]
        if setting := _SETTING.match(line):
            found[f"{section}.{setting[1].lower()}"] = setting[2].strip().strip('"')
    return found
