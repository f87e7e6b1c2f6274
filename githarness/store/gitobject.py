"""Git objects: how one is named, and what a tree holds.

The gap this closes: git returns a substituted loose object with exit code 0. The
decision: names are computed here, for writing (a retry names blobs without
sending them again) and for reading (nothing is handed out unchecked).

What it does not do: it reads no repository.
"""

import hashlib
import re
from collections.abc import Iterator

import msgspec

FOLDER_MODE = "40000"

_ID = rb"(?:[0-9a-f]{40}|[0-9a-f]{64})"
_COMMIT = re.compile(
    rb"tree (?P<tree>" + _ID + rb")\n"
    rb"(?P<parents>(?:parent " + _ID + rb"\n)*)"
    rb"author [^\n]*\n"
    rb"committer [^\n]*> (?P<time>[0-9]{1,15}) [+-][0-9]{4}\n"
    rb"(?P<more>(?:[^\n]+\n)*)"
    rb"(?:\n(?P<message>.*))?",
    re.DOTALL,
)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a tree."""

    mode: str
    name: str
    oid: str

    @property
    def is_folder(self) -> bool:
        """Tell whether the entry is a tree in its turn."""
        return self.mode == FOLDER_MODE


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A whole commit, as its bytes say; `time` is the committer's, in seconds."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    time: int
    message: str


def commit(oid: str, data: bytes) -> Commit | None:
    """Read a commit; None for bytes that git would not have written as one."""
    match = _COMMIT.fullmatch(data)
    if match is None:
        return None
    parents = tuple(line.decode() for line in match["parents"].split()[1::2])
    message = (match["message"] or b"").decode("utf-8", "replace")
    return Commit(
        oid=oid, tree=match["tree"].decode(), parents=parents, time=int(match["time"]), message=message
    )


def identify(kind: str, data: bytes, algorithm: str) -> str:
    """Return the name git gives to an object; `algorithm` is the repository's, sha1 or sha256."""
    # SHA-1 is git's own naming; what proves content here is the SHA-256 in the path.
    hasher = hashlib.new(algorithm, b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    hasher.update(data)
    return hasher.hexdigest()


def digest(data: bytes, algorithm: str) -> bytes:
    """Return the plain hash of some bytes, in the repository's algorithm."""
    return hashlib.new(algorithm, data, usedforsecurity=False).digest()


def entries(tree: bytes, algorithm: str) -> Iterator[Entry]:
    """Yield the lines of a tree object; ValueError when it is cut short."""
    width = hashlib.new(algorithm, usedforsecurity=False).digest_size
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + width
        if at > len(tree):
            raise ValueError("a tree that is cut short")
        oid = tree[end + 1 : at].hex()
        yield Entry(mode=mode.decode(), name=name.decode("utf-8", "surrogateescape"), oid=oid)
