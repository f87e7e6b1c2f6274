"""Payloads: what is signed, as one line of canonical JSON.

The gap this closes: a signature over a tag says nothing of the repository, branch,
base or result it was given for, so an old "yes" can be carried elsewhere; and two
readers of one JSON text may find two values in it (repeated keys, spaces, 1.0). The
decision: everything a decision is about stands in the payload, the entries its
signer had seen included; bytes are read only if writing them again gives the same
bytes; an entry is named by its payload, as signatures can be altered and stay valid.

What it does not do: it verifies nothing, and knows no tag.
"""

import unicodedata
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from githarness import canon
from githarness.govern.void import VoidError
from githarness.propose import text
from githarness.propose.knobs import LARGEST

MAIN = "refs/heads/main"
# Hex digits of a payload's digest that name an entry: 128 bits.
ID_LENGTH = 32
# Heads join in the next entry; more than this at once is no ledger that people keep.
MOST_LINKS = 256
# The text beside a decision is read in one look.
REASON_LIMIT = 2_000

# \A and \Z: a dollar sign would let a line feed through.
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Oid = Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")]
Id = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
Principal = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9._-]{0,62}\Z")]
Fingerprint = Annotated[str, Meta(pattern=r"\ASHA256:[A-Za-z0-9+/]{43}\Z")]
Nonce = Annotated[str, Meta(pattern=r"\A[0-9a-f]{1,128}\Z")]
Branch = Annotated[str, Meta(pattern=r"\Arefs/heads/[!-~]{1,200}\Z")]
Seconds = Annotated[int, Meta(ge=0, le=LARGEST)]
Links = Annotated[tuple[Id, ...], Meta(max_length=MOST_LINKS)]

Verdict = Literal["approve", "reject"]


class Base(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where main was, and the digest of the part of its state that the patch touches."""

    commit: Oid
    state: Digest


class Decision(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag="githarness.decision.v1",
):
    """One approve or reject. `expires` of 0 is never; `display` names the text that was read."""

    ledger: Digest
    policy: Digest
    prev: Links
    decision: Verdict
    mutation: Digest
    document: Digest
    base: Base
    result: Digest
    target: Branch
    principal: Principal
    key: Fingerprint
    display: Digest
    supersedes: Links
    issued: Seconds
    expires: Seconds
    nonce: Nonce
    reason: str

    def __post_init__(self) -> None:
        """Refuse what the types cannot say."""
        _once(self.prev)
        _once(self.supersedes)
        fault = reason_fault(self.reason)
        if fault is not None:
            raise ValueError(f"the reason {fault}")


class PolicySignature(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag="githarness.policysig.v1",
):
    """One root approver's agreement to one policy."""

    ledger: Digest
    policy: Digest
    prev: Links
    principal: Principal
    key: Fingerprint
    nonce: Nonce

    def __post_init__(self) -> None:
        """Refuse what the types cannot say."""
        _once(self.prev)


Payload = Decision | PolicySignature
_DECODER = msgspec.json.Decoder(Payload)


def _once(links: tuple[str, ...]) -> None:
    if len(frozenset(links)) != len(links):
        raise ValueError("an entry is named twice")


def encode(payload: Payload) -> bytes:
    """Return the bytes that are signed; ValueError for a payload that could not be read back."""
    data = _canonical(payload)
    try:
        decode(data)
    except VoidError as error:
        raise ValueError(error.reason) from error
    return data


def decode(data: bytes) -> Payload:
    """Read a payload; VoidError unless these bytes are the only ones for what they say."""
    try:
        payload = _DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise VoidError("payload", f"no payload of a ledger entry: {error}") from error
    except RecursionError:
        raise VoidError("payload", "no payload of a ledger entry: nested too deeply") from None
    if _canonical(payload) != data:
        raise VoidError("payload", "the payload is not in canonical form")
    return payload


def _canonical(payload: Payload) -> bytes:
    # What canon.encode gives, without its search for floats, which these types cannot hold.
    return msgspec.json.encode(payload, order="sorted")


def identity(data: bytes) -> str:
    """Name an entry by the bytes of its payload."""
    return canon.sha256(data)[:ID_LENGTH]


def reason_fault(reason: str) -> str | None:
    """Say why a text cannot stand as a reason; None when it can, on every Python alike."""
    fault = text.fault(reason, REASON_LIMIT, lines=False)
    if fault is not None or reason.isascii():
        return fault
    unknown = [f"U+{ord(one):04X}" for one in reason if not _is_assigned(one)]
    return f"holds characters outside what all readers know ({', '.join(unknown[:8])})" if unknown else None


def _is_assigned(character: str) -> bool:
    # The table of the running Python would make one ledger valid here and void there.
    # Unicode 3.2 is in all of them, and these blocks are full since Unicode 14.
    point = ord(character)
    pictures = 0x1F300 <= point <= 0x1F64F or 0x1F900 <= point <= 0x1F9FF
    return pictures or unicodedata.ucd_3_2_0.category(character) != "Cn"
