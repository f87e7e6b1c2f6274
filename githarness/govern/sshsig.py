"""SSHSIG: one signature by one SSH key, read in its one form and verified in process.

The gap this closes: `git verify-tag` takes its verifier program, its list of signers
and even the family of the signature from configuration, environment and PATH, and
costs 11.7 ms for what is 0.13 ms here. `ssh-keygen -Y verify` accepts a version 0, a
filled reserved field, text after the footer and a token nobody touched. The decision:
what `ssh-keygen -Y sign -n git` writes, and no other spelling of it.

Even so an ECDSA signature has a twin that verifies too, so nothing is ever named by
bytes that a signature is part of.

What it does not do: it knows no principal, no policy, no clock.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable

import msgspec

from githarness.govern import keys
from githarness.govern.keys import Key
from githarness.govern.sshwire import Reader, string
from githarness.govern.void import VoidError

# What git signs with, so that plain git can check our tags as well.
NAMESPACE = b"git"
BEGIN = b"-----BEGIN SSH SIGNATURE-----\n"
END = b"-----END SSH SIGNATURE-----\n"

_MAGIC = b"SSHSIG"
_VERSION = 1
_COLUMNS = 70
_ED25519_SIGNATURE = 64
_TOUCHED = 1

_ARMOR = re.compile(
    re.escape(BEGIN) + rb"((?:[A-Za-z0-9+/]{70}\n)*[A-Za-z0-9+/]{1,70}={0,2}\n)" + re.escape(END)
)
_HASHES: dict[bytes, Callable[[bytes], bytes]] = {
    b"sha256": lambda data: hashlib.sha256(data).digest(),
    b"sha512": lambda data: hashlib.sha512(data).digest(),
}


class Signature(msgspec.Struct, frozen=True):
    """A signature as it was read: by whom it says it is, and over which hash. Not verified."""

    key: Key
    hash: bytes
    proof: bytes


def verify(armor: bytes, message: bytes) -> Key:
    """Return the key that signed exactly `message`; VoidError when none did."""
    found = read(armor)
    check(found, message)
    return found.key


def read(armor: bytes) -> Signature:
    """Read an armored signature, from its first byte to its last."""
    reader = Reader(unarmor(armor), "signature")
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise VoidError("signature", "this is no SSH signature")
    version = reader.number()
    if version != _VERSION:
        raise VoidError("signature", f"version {version} of SSHSIG, and only 1 is read")
    key = keys.read(reader.string())
    namespace, reserved = reader.string(), reader.string()
    if namespace != NAMESPACE:
        raise VoidError("namespace", f"signed for {namespace[:40]!r}, and not for git")
    if reserved:
        raise VoidError("signature", "the reserved field is filled, and no signature covers it")
    hash_name = reader.string()
    if hash_name not in _HASHES:
        raise VoidError("signature", f"hashed with {hash_name[:40]!r}, and not with sha256 or sha512")
    proof = reader.string()
    reader.end()
    return Signature(key, hash_name, proof)


def unarmor(armor: bytes) -> bytes:
    """Return the bytes inside an armor that is spelled as ssh-keygen spells it."""
    match = _ARMOR.fullmatch(armor)
    if match is None:
        raise VoidError("signature", "not one SSH signature in lines of 70 characters, and nothing else")
    try:
        data = binascii.a2b_base64(match[1])
    except binascii.Error as error:
        raise VoidError("signature", "the base64 of the signature is not valid") from error
    if enarmor(data) != armor:
        raise VoidError("signature", "the base64 of the signature is not in its one form")
    return data


def enarmor(data: bytes) -> bytes:
    """Write bytes in the armor of an SSH signature."""
    text = base64.b64encode(data)
    lines = [text[at : at + _COLUMNS] + b"\n" for at in range(0, len(text), _COLUMNS)]
    return b"".join([BEGIN, *lines, END])


def signed_bytes(message: bytes, hash_name: bytes) -> bytes:
    """Return what the key itself signs: the message only as a hash, tied to the namespace."""
    digest = _HASHES[hash_name](message)
    return _MAGIC + string(NAMESPACE) + string(b"") + string(hash_name) + string(digest)


def check(found: Signature, message: bytes) -> None:
    """Raise VoidError unless the signature is its key's own, of exactly `message`."""
    reader = Reader(found.proof, "signature")
    kind, numbers = reader.string(), reader.string()
    if kind.decode("ascii", "replace") != found.key.type:
        raise VoidError("signature", f"a signature of type {kind[:40]!r} by a key of another type")
    signed = signed_bytes(message, found.hash)
    if found.key.type in keys.ON_TOKEN:
        signed = _token_bytes(found.key, reader.take(5), signed)
    reader.end()
    if not keys.is_signed(found.key, _numbers(found.key, numbers), signed):
        raise VoidError("signature", f"{found.key.fingerprint} did not sign these bytes")


def _token_bytes(key: Key, tail: bytes, signed: bytes) -> bytes:
    # One byte of flags, four of a counter: both are signed by the token.
    if not tail[0] & _TOUCHED:
        raise VoidError("touch", "the security key signed without being touched")
    return hashlib.sha256(key.application).digest() + tail + hashlib.sha256(signed).digest()


def _numbers(key: Key, data: bytes) -> bytes | tuple[int, int]:
    if key.type in {keys.ED25519, keys.SK_ED25519}:
        if len(data) != _ED25519_SIGNATURE:
            raise VoidError("signature", "an ed25519 signature of the wrong length")
        return data
    reader = Reader(data, "signature")
    pair = (reader.positive(), reader.positive())
    reader.end()
    return pair
