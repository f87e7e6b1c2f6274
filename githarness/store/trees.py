"""Trees of the governed branch: what stands in one, and what differs between two.

The gap this closes: a branch that others can push to may hold links, programs,
submodules and names such as `..` that leave the folder they are checked out to. The
decision: a file is a plain file under a plain name; anything else is a `Fault` with its
path, and is neither read nor followed. Every tree is hashed on the way.

Two trees are compared by their lines, and only folders that differ are opened: a step
of a history costs what it changed.

What it does not do: it reads no file's bytes and knows no name that a file ought to have.
"""

import functools
import re
from collections.abc import Mapping

import msgspec

from githarness.store import gitobject, layout
from githarness.store.objects import Store

FILE_MODE = b"100644"
FOLDER_MODE = b"40000"

# The deepest honest path, decisions/<fingerprint>/<id>, has two folders.
MAX_DEPTH = 8
# A tree of a few hundred bytes can spell out more paths than any memory holds.
MAX_PATHS = 100_000
# Few folders are read in turn, and one of them can be large.
_TREES_KEPT = 32

_MODES = {
    b"100755": "it is a program",
    b"120000": "it is a symbolic link",
    b"160000": "it is a submodule",
}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

Lines = Mapping[bytes, tuple[bytes, bytes]]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Something at a path that no state can hold, and why; `path` is for display alone."""

    path: str
    reason: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A plain file whose object differs between two trees; None where there is none."""

    path: str
    old: str | None
    new: str | None


class Trees:
    """Reads trees of one store; each is parsed once for its neighbours in time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        width = len(gitobject.digest(b"", store.algorithm))
        self._line = re.compile(rb"([0-7]{1,6}) ([^\0]+)\0(.{%d})" % width, re.DOTALL)
        self._width = width
        self.lines = functools.lru_cache(maxsize=_TREES_KEPT)(self._read)

    def _read(self, oid: str, path: str) -> Lines | None:
        """Return the lines of a tree by name; None for one that git would not have written."""
        data = self._store.get(oid, "tree", path).data
        found = self._line.findall(data)
        lines = {name: (mode, target) for mode, name, target in found}
        size = sum(len(mode) + len(name) + 2 + self._width for mode, name, _ in found)
        return lines if size == len(data) and len(lines) == len(found) else None

    def differences(self, old: str | None, new: str | None) -> list[Change | Fault]:
        """Return what differs between two trees, a folder before those in it; None is the empty tree.

        A fault is told where it stands in `new`; one in `old` alone is gone, and what
        replaces it is new. Of too many paths nothing is told but that.
        """
        todo: list[tuple[str, str | None, str | None]] = [("", old, new)]
        found: list[Change | Fault] = []
        while todo:
            files, folders = self._compare(*todo.pop())
            found += files
            todo += reversed(folders)
            if len(found) + len(todo) > MAX_PATHS:
                return [Fault(path="", reason=f"more than {MAX_PATHS} paths")]
        return found

    def _compare(
        self, path: str, old: str | None, new: str | None
    ) -> tuple[list[Change | Fault], list[tuple[str, str | None, str | None]]]:
        """Compare one folder; return its files and the folders to go into."""
        before, after = self._lines(old, path), self._lines(new, path)
        if after is None or path.count("/") >= MAX_DEPTH:
            why = f"deeper than {MAX_DEPTH} folders" if after is not None else "not a tree that git writes"
            return [Fault(path=path, reason=why)], []
        before = before or {}
        files: list[Change | Fault] = []
        folders = []
        for name in sorted({name for name, _ in before.items() ^ after.items()}):
            was, now = before.get(name), after.get(name)
            where = path + name.decode("utf-8", "backslashreplace")
            if now is not None and (fault := _fault(where, path, now[0])):
                files.append(fault)
                now = None
            files += _change(where, oid_of(was, FILE_MODE), oid_of(now, FILE_MODE))
            inside = oid_of(was, FOLDER_MODE), oid_of(now, FOLDER_MODE)
            if inside != (None, None):
                folders.append((f"{where}/", *inside))
        return files, folders

    def _lines(self, oid: str | None, path: str) -> Lines | None:
        return {} if oid is None else self.lines(oid, path)


def _change(path: str, old: str | None, new: str | None) -> list[Change | Fault]:
    return [] if old == new else [Change(path=path, old=old, new=new)]


def oid_of(line: tuple[bytes, bytes] | None, mode: bytes) -> str | None:
    """Return the object that a line of a tree names, when it has this mode."""
    return line[1].hex() if line is not None and line[0] == mode else None


def _fault(where: str, folder: str, mode: bytes) -> Fault | None:
    name = where.removeprefix(folder)
    if _NAME.fullmatch(name) is None and where != layout.ATTRIBUTES:
        return Fault(path=where, reason="no file of main has such a name")
    if mode in {FILE_MODE, FOLDER_MODE}:
        return None
    return Fault(path=where, reason=_MODES.get(mode, f"it has the mode {mode.decode()}"))
