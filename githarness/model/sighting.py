"""A sighting: where and when a surface was first met, and what it consists of.

The gap this closes: a surface's bytes say nothing about who was sent them, and a
surface that holds a secret may not be stored at all. The decision: one small
document per (surface, kind, source) holds the digests that comparing needs, so
that a withheld surface still answers "matches" or "differs". What this does not
do: it holds no description and no schema.
"""

import hashlib

import msgspec

from githarness.errors import UnreadableError

SCHEMA = "githarness/sighting/1"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a surface: its name, and the digest of its lowered spec."""

    name: str
    digest: str


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """`source` is the agent or server the surface belongs to, "" when nobody said.

    `first` is in seconds since 1970. `withheld` names the redaction rules that
    fired; when it is not empty the bytes are not stored.
    """

    schema: str = SCHEMA
    surface: str
    kind: str
    source: str
    first: int
    dialect: str
    bytes: int
    reconstructed: bool
    semantic: str
    fnv: str
    tools: tuple[Tool, ...]
    withheld: tuple[str, ...] = ()


def decode(data: bytes) -> Sighting:
    """Read a sighting; UnreadableError for bytes that are none, or of a later version."""
    try:
        found = msgspec.json.decode(data, type=Sighting)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UnreadableError(f"not a sighting of a surface: {error}") from error
    if found.schema != SCHEMA:
        raise UnreadableError(f"a sighting of the form {found.schema[:40]}, and this version reads {SCHEMA}")
    return found


def key(kind: str, source: str) -> str:
    """Name a sighting within its surface: 32 hex of SHA-256(kind NUL source)."""
    return hashlib.sha256(f"{kind}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def merge(left: Sighting, right: Sighting) -> Sighting:
    """Join two sightings of one surface, kind and source: the earlier one stands."""
    return min(left, right, key=lambda s: (s.first, msgspec.json.encode(s)))
