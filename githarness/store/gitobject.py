"""Git objects: how one is named, and what a tree holds.

The gap this closes: git returns a substituted loose object with exit code 0. The
decision: names are computed here, for writing (a retry names blobs without
sending them again) and for reading (nothing is handed out unchecked).

What it does not do: it reads no repository.
"""

import hashlib
from collections.abc import Iterator

import msgspec

FOLDER_MODE = "40000"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a tree."""

    mode: str
    name: str
    oid: str

    @property
    def is_folder(self) -> bool:
        """Tell whether the entry is a tree in its turn."""
        return self.mode == FOLDER_MODE


def identify(kind: str, data: bytes, algorithm: str) -> str:
    """Return the name git gives to an object; `algorithm` is the repository's, sha1 or sha256."""
    # SHA-1 is git's own naming; what proves content here is the SHA-256 in the path.
    hasher = hashlib.new(algorithm, b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    hasher.update(data)
    return hasher.hexdigest()


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
