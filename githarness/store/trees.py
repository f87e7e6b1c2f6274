"""Trees of the governed branch: what stands in one, and what differs between two.

The gap this closes: a branch that others can push to may hold links, programs,
submodules and names such as `..` that leave the folder they are checked out to. The
decision: a file is a plain file under a plain name; anything else is a `Fault` with its
path, and is neither read nor followed. Every tree is hashed on the way.

Two trees are compared by their lines, and only folders that differ are opened: a step
of a history costs what it changed. Many pairs are compared level by level, so that git
is asked once for all folders of a level and not once for each.

What it does not do: it reads no file's bytes and knows no name that a file ought to have.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

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
# Pairs whose folders are in memory at once, for the same reason.
_PAIRS = 64

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


# A folder to compare: its path, and the trees that it is before and after.
Folder = tuple[str, str | None, str | None]


class _Pair:
    """Two trees on the way: what was found of them, and the folders still to go into."""

    def __init__(self, old: str | None, new: str | None) -> None:
        self.found: list[Change | Fault] = []
        self.todo: list[Folder] = [("", old, new)]

    def go(self, opened: Mapping[str, Lines | None]) -> None:
        """Compare the folders of one level, all of which are opened."""
        level, self.todo = self.todo, []
        for path, old, new in level:
            self._compare(path, {} if old is None else opened[old], {} if new is None else opened[new])
        if len(self.found) + len(self.todo) > MAX_PATHS:
            self.found, self.todo = [Fault(path="", reason=f"more than {MAX_PATHS} paths")], []

    def _compare(self, path: str, before: Lines | None, after: Lines | None) -> None:
        if after is None or path.count("/") >= MAX_DEPTH:
            why = f"deeper than {MAX_DEPTH} folders" if after is not None else "not a tree that git writes"
            self.found.append(Fault(path=path, reason=why))
            return
        before = before or {}
        for name in sorted({name for name, _ in before.items() ^ after.items()}):
            was, now = before.get(name), after.get(name)
            where = path + name.decode("utf-8", "backslashreplace")
            if now is not None and (fault := _fault(where, path, now[0])):
                self.found.append(fault)
                now = None
            self.found += _change(where, oid_of(was, FILE_MODE), oid_of(now, FILE_MODE))
            inside = oid_of(was, FOLDER_MODE), oid_of(now, FOLDER_MODE)
            if inside != (None, None):
                self.todo.append((f"{where}/", *inside))


class Trees:
    """Reads trees of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        width = len(gitobject.digest(b"", store.algorithm))
        self._line = re.compile(rb"([0-7]{1,6}) ([^\0]+)\0(.{%d})" % width, re.DOTALL)
        self._whole = re.compile(rb"(?:[0-7]{1,6} [^\0]+\0.{%d})*" % width, re.DOTALL)
        self.lines = functools.lru_cache(maxsize=_TREES_KEPT)(self._read)

    def _read(self, oid: str, path: str) -> Lines | None:
        """Return the lines of a tree by name; None for one that git would not have written."""
        return self._parsed(self._store.get(oid, "tree", path).data)

    def _parsed(self, data: bytes) -> Lines | None:
        if self._whole.fullmatch(data) is None:
            return None
        found = self._line.findall(data)
        lines = {name: (mode, target) for mode, name, target in found}
        return lines if len(lines) == len(found) else None

    def differences(self, old: str | None, new: str | None) -> list[Change | Fault]:
        """Return what differs between two trees, a folder before those in it; None is the empty tree.

        A fault is told where it stands in `new`; one in `old` alone is gone, and what
        replaces it is new. Of too many paths nothing is told but that.
        """
        return next(self.compared([(old, new)]))

    def compared(self, pairs: Iterable[tuple[str | None, str | None]]) -> Iterator[list[Change | Fault]]:
        """Yield the differences of many pairs of trees, in order."""
        asked = iter(pairs)
        while some := [_Pair(old, new) for old, new in itertools.islice(asked, _PAIRS)]:
            while level := [folder for pair in some for folder in pair.todo]:
                opened = self._opened(level)
                for pair in some:
                    pair.go(opened)
            yield from (pair.found for pair in some)

    def _opened(self, level: Iterable[Folder]) -> dict[str, Lines | None]:
        paths = {oid: path for path, *both in level for oid in both if oid is not None}
        objects = self._store.gets(paths.items(), "tree")
        return {found.oid: self._parsed(found.data) for found in objects}


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
