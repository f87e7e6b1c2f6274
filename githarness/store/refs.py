"""Reading where a branch is, from the files that git keeps it in.

The gap this closes: a git process that stays open remembers `packed-refs` and tells
by its size, inode and whole seconds whether it changed, so that a branch that moves
and is packed twice within a second is read as it was (seen with two writers beside
`git pack-refs`). The decision: two small files are read afresh each time. Loose first,
then packed: git writes the packed file before it removes the loose one.

Many at once are `listed` by a process of their own, which remembers nothing.

What it does not do: it moves nothing, follows no symbolic ref, and does not know
reftables; a store is made without them.
"""

import hashlib
import os
import re
from collections.abc import Container, Iterator
from pathlib import Path

from githarness.store.git import Git

_OID = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\n?")
# An object id and a line feed have 41 or 65; a symbolic ref is longer and told by its beginning.
_REF_BYTES = 256
_NAME = re.compile(r"refs(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")


def tip(git_dir: Path, ref: str) -> str | None:
    """Return what `ref` points at; None when there is no such ref, or one that cannot be read.

    A file that holds no object id hides what is packed, as it does for git.
    """
    if _NAME.fullmatch(ref) is None:
        return None
    found = _loose(git_dir / ref)
    if found is None:
        # Packed and unpacked again between two looks: the second loose look sees it.
        found = _packed(git_dir / "packed-refs", ref) or _loose(git_dir / ref)
    return found or None


def listed(git: Git, prefix: str) -> list[tuple[str, str]]:
    """Return name and object id of every ref below `prefix`, in order of name.

    No object is opened, so that one that is missing or huge cannot stop the list.
    """
    out = git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
    lines = (line.partition(" ") for line in out.decode("utf-8", "surrogateescape").splitlines())
    return [(name, oid) for oid, _, name in lines]


def fingerprint(git_dir: Path, prefix: str) -> str:
    """Digest where every ref below `prefix` is, from the files alone: no process, no object.

    Equal means that nothing moved; packing refs may change it without a move.
    """
    found = hashlib.sha256()
    try:
        packed = (git_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        packed = b""
    found.update(b"".join(line for line in packed.splitlines(True) if prefix.encode() in line))
    for path in sorted(_files(str(git_dir / prefix))):
        found.update(os.fsencode(path) + b"\0" + _bytes(path))
    return found.hexdigest()


def _files(folder: str) -> Iterator[str]:
    """Yield every path below a folder that is no folder; os.scandir, since there may be thousands."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        else:
            yield entry.path


def _bytes(path: str) -> bytes:
    """Return the first bytes of what should be a ref; nothing for what cannot be opened."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(handle, _REF_BYTES)
    except OSError:
        return b""
    finally:
        os.close(handle)


def broken(git_dir: Path, prefix: str, known: Container[str]) -> list[str]:
    """Return the refs below `prefix` that have a file and cannot be read: git lists them nowhere.

    `known` are the names that were listed; one that came after them is not broken.
    """
    top = len(str(git_dir)) + 1
    names = (path[top:] for path in _files(str(git_dir / prefix)))
    unlisted = (name for name in names if not name.endswith(".lock") and name not in known)
    return sorted(name for name in unlisted if tip(git_dir, name) is None)


def _loose(path: Path) -> str | None:
    """Return what a file holds: an object id, "" for anything else, None where there is no file."""
    try:
        found = _OID.fullmatch(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return found[1].decode() if found else ""


def _packed(path: Path, ref: str) -> str | None:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    found = re.search(rb"^([0-9a-f]+) %s$" % re.escape(ref.encode()), text, re.MULTILINE)
    return found[1].decode() if found else None
