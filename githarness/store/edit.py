"""Editing: the tree of a commit with some files put in and some taken out.

The gap this closes: an index is a file that two processes share, and a work tree is
where filters and line ends change bytes. The decision: only the folders on the way to
what changes are made anew, from lines that were hashed when they were read; all others
are named as they were, whatever they hold.

What it does not do: it writes nothing (`publish` does), and never puts a file where a
folder stands or the other way round.
"""

from collections.abc import Mapping

import msgspec

from githarness.errors import CorruptError, RefusedError, UsageError
from githarness.store.objects import Store
from githarness.store.publish import Fresh, fresh
from githarness.store.trees import FILE_MODE, FOLDER_MODE, Lines, Trees, oid_of

# Path to the id of what is to stand there; None takes it away.
Wanted = Mapping[str, str | None]


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """A tree made from another one, and every object that it needs beside those of the other."""

    tree: str
    objects: tuple[Fresh, ...]


def edit(store: Store, tree: str, writes: Mapping[str, bytes], removes: frozenset[str]) -> Edit:
    """Return `tree` with `writes` put in and `removes` taken out.

    Raises RefusedError for a path to remove that is not there, and where a file would
    take the place of a folder or the other way round.
    """
    blobs = {path: fresh(store, "blob", data) for path, data in writes.items()}
    wanted = {path: blob.oid for path, blob in blobs.items()} | dict.fromkeys(removes)
    made = _Rebuilding(store)
    # The empty tree is the root when everything was removed.
    root = made.folder(tree, "", wanted) or made.keep(b"")
    return Edit(tree=root.oid, objects=(*blobs.values(), *made.trees))


class _Rebuilding:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines = Trees(store).lines
        self.trees: list[Fresh] = []

    def folder(self, tree: str | None, path: str, wanted: Wanted) -> Fresh | None:
        """Make a folder anew, those in it first; None when nothing is left in it."""
        lines = {} if tree is None else self._present(tree, path)
        for name, inside in _grouped(wanted).items():
            line = self._line(path + name, lines.pop(name.encode(), None), inside)
            if line is not None:
                lines[name.encode()] = line
        return self.keep(_spelled(lines)) if lines else None

    def _line(self, path: str, old: tuple[bytes, bytes] | None, inside: Wanted) -> tuple[bytes, bytes] | None:
        """Return the new line of one name; None when it goes."""
        mode = FILE_MODE if "" in inside else FOLDER_MODE
        if old is not None and old[0] != mode:
            raise RefusedError(f"{path} stands on main as something else than is to be put there")
        if mode == FOLDER_MODE:
            child = self.folder(oid_of(old, mode), f"{path}/", inside)
            oid = child.oid if child else None
        elif inside[""] is None and old is None:
            raise RefusedError(f"{path} is to be removed and is not there", hint="githarness status")
        else:
            oid = inside[""]
        return None if oid is None else (mode, bytes.fromhex(oid))

    def keep(self, data: bytes) -> Fresh:
        """Take a tree into what is to be written."""
        self.trees.append(fresh(self._store, "tree", data))
        return self.trees[-1]

    def _present(self, tree: str, path: str) -> dict[bytes, tuple[bytes, bytes]]:
        lines = self._lines(tree, path)
        if lines is None:
            raise CorruptError(f"{tree} ({path or 'the root of main'}) is not a tree that git writes")
        return dict(lines)


def _grouped(wanted: Wanted) -> dict[str, dict[str, str | None]]:
    """Sort paths by their first folder; what ends there is under the empty name."""
    found: dict[str, dict[str, str | None]] = {}
    for path, oid in wanted.items():
        name, _, rest = path.partition("/")
        found.setdefault(name, {})[rest] = oid
    for name, inside in found.items():
        if "" in inside and len(inside) > 1:
            raise UsageError(f"{name} cannot be a file and a folder at once")
    return found


def _spelled(lines: Lines) -> bytes:
    # Git sorts a folder as if its name ended in a slash.
    order = sorted(lines, key=lambda name: name + b"/" if lines[name][0] == FOLDER_MODE else name)
    return b"".join(b"%s %s\0%s" % (lines[name][0], name, lines[name][1]) for name in order)
