"""Public keys: the four kinds that may sign, their names, and the points nobody should list.

The gap this closes: for a curve point of small order a signature can be written down
that verifies for a share of all texts, or for every text, and no library says so when
it verifies. And a key that can be spelled in two ways counts twice. The decision:
four key types in one spelling each, no certificates; a point that is weak, not
canonical or not on its curve is refused when a key is listed (`weakness`), in plain
arithmetic that runs once for each key of a policy.

What it does not do: it says nothing of who holds a key (`policy`).
"""

import base64
import binascii
import functools
import hashlib
import re

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from githarness.govern.sshwire import Reader
from githarness.govern.void import VoidError

ED25519 = "ssh-ed25519"
ECDSA = "ecdsa-sha2-nistp256"
SK_ED25519 = "sk-ssh-ed25519@openssh.com"
SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"
TYPES = (ED25519, ECDSA, SK_ED25519, SK_ECDSA)
ON_TOKEN = frozenset({SK_ED25519, SK_ECDSA})

_CURVE = b"nistp256"
_ED25519_POINT = 32
_P256_POINT = 65
# A token signs for web sites as well; what it signs for SSH begins with this.
_APPLICATION = b"ssh:"

_PRIME = 2**255 - 19
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME
# The points whose order divides eight, by their y: 0, 1, -1 and the two of order eight.
_ORDER_EIGHT = 2707385501144840649318225287225658788936804267575313519463743609750303402022
_SMALL = frozenset({0, 1, _PRIME - 1, _ORDER_EIGHT, _PRIME - _ORDER_EIGHT})

_LINE = re.compile(r"([a-z0-9@.-]{1,64}) ([A-Za-z0-9+/]{1,1000}={0,2})")


class Key(msgspec.Struct, frozen=True):
    """One public key. Two keys are the same key when their blobs are the same bytes."""

    type: str
    point: bytes
    # What a token's key was made for; empty for a key that is no token's.
    application: bytes
    blob: bytes
    fingerprint: str

    @property
    def text(self) -> str:
        """The one spelling of this key: type and base64, no comment."""
        return f"{self.type} {base64.b64encode(self.blob).decode('ascii')}"


def parse(text: str) -> Key:
    """Read a key from its one spelling; VoidError says what is wrong with it."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise VoidError("key", "not a public key of one type and one base64 text")
    try:
        blob = base64.b64decode(match[2], validate=True)
    except binascii.Error as error:
        raise VoidError("key", "the base64 of a public key is not valid") from error
    key = read(blob)
    if key.text != text:
        raise VoidError("key", f"the public key {key.fingerprint} is not spelled in its one form")
    return key


def from_file(text: str) -> Key:
    """Read the line of a .pub file, whose comment is dropped."""
    return parse(" ".join(text.split()[:2]))


# Every entry of a ledger carries its key, and a ledger has few keys.
@functools.lru_cache(maxsize=1024)
def read(blob: bytes) -> Key:
    """Read a key from the bytes of SSH's own encoding."""
    reader = Reader(blob, "public key")
    kind = reader.string().decode("ascii", "replace")
    if kind not in TYPES:
        raise VoidError("key", f"keys of type {kind[:40]!r} cannot sign; {', '.join(TYPES)} can")
    if kind in {ECDSA, SK_ECDSA} and reader.string() != _CURVE:
        raise VoidError("key", "the key names another curve than its type")
    point = reader.string()
    if len(point) != (_P256_POINT if kind in {ECDSA, SK_ECDSA} else _ED25519_POINT):
        raise VoidError("key", "the public key has the wrong length")
    application = reader.string() if kind in ON_TOKEN else b""
    if kind in ON_TOKEN and not application.startswith(_APPLICATION):
        raise VoidError("key", "the token's key was made for something else than SSH")
    reader.end()
    return Key(kind, point, application, blob, _fingerprint(blob))


def _fingerprint(blob: bytes) -> str:
    digest = hashlib.sha256(blob).digest()
    return f"SHA256:{base64.b64encode(digest).decode('ascii').rstrip('=')}"


def weakness(key: Key) -> str | None:
    """Say why nobody may be bound to this key; None for an honest one."""
    if key.type in {ECDSA, SK_ECDSA}:
        return None if _ecdsa(key.point) is not None else "is no point of its curve"
    y = int.from_bytes(key.point, "little") & (1 << 255) - 1
    if y >= _PRIME:
        return "is not in canonical form"
    if y in _SMALL:
        return "is a point of small order, for which anybody can sign"
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _PRIME) % _PRIME
    return None if pow(square, (_PRIME - 1) // 2, _PRIME) == 1 else "is no point of its curve"


def is_signed(key: Key, numbers: bytes | tuple[int, int], message: bytes) -> bool:
    """Tell whether `numbers` is this key's signature of exactly these bytes.

    An ed25519 signature is its 64 bytes, an ECDSA signature its two numbers.
    """
    if isinstance(numbers, bytes):
        return _ed25519_signed(key.point, numbers, message)
    public = _ecdsa(key.point)
    if public is None:
        return False
    try:
        public.verify(utils.encode_dss_signature(*numbers), message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def _ed25519_signed(point: bytes, signature: bytes, message: bytes) -> bool:
    try:
        _ed25519(point).verify(signature, message)
    except (InvalidSignature, ValueError, UnsupportedAlgorithm):
        return False
    return True


@functools.lru_cache(maxsize=1024)
def _ed25519(point: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(point)


@functools.lru_cache(maxsize=1024)
def _ecdsa(point: bytes) -> ec.EllipticCurvePublicKey | None:
    # The form byte 4 is checked as the library also takes compressed points, a second
    # spelling of the same key.
    if point[0] != 4:
        return None
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        return None
