"""Builders for tests of the ledger: people with keys, signed entries, and a book of them."""

import base64
import os
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from githarness import canon
from githarness.govern import keys, ledger, payload, policy, sshsig, succession, tag
from githarness.govern.reading import Found
from githarness.govern.sshwire import number, string
from githarness.govern.succession import Place

ROOT_COMMIT = "1" * 40
COMMIT = "c" * 40
MUTATION = "a" * 64
DOCUMENT = "d" * 64
BASE = "b" * 64
RESULT = "e" * 64
DISPLAY = "f" * 64
NOW = 1_700_000_000
PLACE = Place(ROOT_COMMIT, "00")


class Person:
    """A principal with one key that lives in this process. The same seed is the same key."""

    def __init__(self, name, seed=None):
        self.name = name
        self.private = Ed25519PrivateKey.from_private_bytes(
            canon.sha256((seed or name).encode())[:32].encode()
        )
        raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.blob = string(b"ssh-ed25519") + string(raw)
        self.key = keys.read(self.blob).text
        self.fingerprint = keys.read(self.blob).fingerprint

    def proof(self, data):
        return string(b"ssh-ed25519") + string(self.private.sign(data))

    def sign(self, message, **fields):
        return signed(self, message, **fields)

    def private_file(self, folder):
        """Write the key as ssh-keygen keeps it."""
        path = Path(folder) / f"{self.name}.key"
        path.write_bytes(self.private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        path.chmod(0o600)
        return path


class Curve(Person):
    """A principal with a key on P-256."""

    def __init__(self, name, seed=1):
        self.name = name
        self.private = ec.derive_private_key(seed, ec.SECP256R1())
        self.point = self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self._set(string(b"ecdsa-sha2-nistp256") + string(b"nistp256") + string(self.point))

    def _set(self, blob):
        self.blob = blob
        self.key = keys.read(blob).text
        self.fingerprint = keys.read(blob).fingerprint

    def numbers(self, data):
        pair = utils.decode_dss_signature(self.private.sign(data, ec.ECDSA(hashes.SHA256())))
        return b"".join(string(number(one)) for one in pair)

    def proof(self, data):
        return string(b"ecdsa-sha2-nistp256") + string(self.numbers(data))


class Token(Person):
    """A principal whose ed25519 key acts as if it lived on a security key."""

    def __init__(self, name, *, touched=True, application=b"ssh:"):
        super().__init__(name)
        self.tail = bytes([1 if touched else 0]) + (7).to_bytes(4, "big")
        self.application = application
        raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.blob = string(keys.SK_ED25519.encode()) + string(raw) + string(application)
        self.fingerprint = keys._fingerprint(self.blob)
        self.key = f"{keys.SK_ED25519} {base64.b64encode(self.blob).decode()}"

    def proof(self, data):
        signature = self.private.sign(token_bytes(self, data))
        return string(keys.SK_ED25519.encode()) + string(signature) + self.tail


class CurveToken(Curve):
    """The same for P-256."""

    def __init__(self, name, *, touched=True):
        super().__init__(name)
        self.tail = bytes([5 if touched else 4]) + (1).to_bytes(4, "big")
        self.application = b"ssh:"
        head = string(keys.SK_ECDSA.encode()) + string(b"nistp256")
        self._set(head + string(self.point) + string(self.application))

    def proof(self, data):
        numbers = self.numbers(token_bytes(self, data))
        return string(keys.SK_ECDSA.encode()) + string(numbers) + self.tail


def token_bytes(token, data):
    """What a security key signs, by its own protocol."""
    return bytes.fromhex(canon.sha256(token.application)) + token.tail + bytes.fromhex(canon.sha256(data))


def signed(
    person, message, *, version=1, namespace=b"git", reserved=b"", hash_name=b"sha512", tail=b"", proof=None
):
    """Sign as ssh-keygen does, or with one field as it should not be."""
    digest = sshsig._HASHES.get(hash_name, sshsig._HASHES[b"sha256"])(message)
    # The reserved field is signed as empty: that is what makes it malleable.
    to_sign = b"SSHSIG" + string(namespace) + string(b"") + string(hash_name) + string(digest)
    blob = b"".join(
        [
            b"SSHSIG",
            version.to_bytes(4, "big"),
            string(person.blob),
            string(namespace),
            string(reserved),
            string(hash_name),
            string(person.proof(to_sign) if proof is None else proof),
        ]
    )
    return sshsig.enarmor(blob + tail)


def decision(person, of, **fields):
    """A decision by this person; `of` is the book it is for."""
    known = {
        "ledger": of.id,
        "policy": of.policy_digest,
        "prev": of.heads,
        "decision": "approve",
        "mutation": MUTATION,
        "document": DOCUMENT,
        "base": payload.Base(ROOT_COMMIT, BASE),
        "result": RESULT,
        "target": payload.MAIN,
        "principal": person.name,
        "key": person.fingerprint,
        "display": DISPLAY,
        "supersedes": (),
        "issued": NOW,
        "expires": 0,
        "nonce": of.nonce(),
        "reason": "",
    }
    return payload.Decision(**{**known, **fields})


class Book:
    """A ledger in the making: what a repository holds below refs/tags/githarness/v1/."""

    def __init__(self, first, *people):
        self.refs, self.blobs, self.main = {}, {}, {}
        self.count = 0
        self.heads = ()
        self.policy = first
        self.policy_digest = self.id = policy.digest(first)
        self.adopt(first, *people)

    def nonce(self):
        self.count += 1
        return f"{self.count:032x}"

    def put(self, data, ref=None):
        """Stand raw bytes at a ref, as a push would."""
        ref = ref or f"refs/tags/{data.split(b'tag ', 1)[1].splitlines()[0].decode()}"
        self.refs[ref] = Found(tag.object_id("tag", data, "0" * 40), "tag", data)
        return ref

    def add(self, person, what, points_to=COMMIT, seconds=NOW, *, seen=True):
        """Sign a payload and stand it where it belongs; return its id."""
        unsigned = tag.unsigned(points_to, what, seconds)
        ref = self.put(unsigned + person.sign(unsigned))
        if seen:
            self.heads = (ref.rsplit("/", 1)[1],)
        return ref.rsplit("/", 1)[1]

    def decide(self, person, verdict="approve", *, seen=True, commit=COMMIT, **fields):
        what = decision(person, self, decision=verdict, **fields)
        return self.add(person, what, commit, what.issued, seen=seen)

    def approve(self, person, **fields):
        return self.decide(person, "approve", **fields)

    def reject(self, person, **fields):
        return self.decide(person, "reject", **fields)

    def agree(self, person, new, *, seen=True, **fields):
        """Sign a policy, without taking it for the one in force."""
        data = policy.encode(new)
        target = tag.object_id("blob", data, "0" * 40)
        self.blobs[target] = data
        known = {
            "ledger": self.id,
            "policy": policy.digest(new),
            "prev": self.heads,
            "principal": person.name,
            "key": person.fingerprint,
            "nonce": self.nonce(),
        }
        return self.add(person, payload.PolicySignature(**{**known, **fields}), target, seen=seen)

    def adopt(self, new, *people):
        """Sign a policy by all of these people and go on under it."""
        ids = [self.agree(person, new) for person in people]
        self.policy, self.policy_digest = new, policy.digest(new)
        return ids

    def ref(self, entry):
        return next(ref for ref in self.refs if ref.endswith(entry))

    def data(self, entry):
        return self.refs[self.ref(entry)].data

    def drop(self, entry):
        del self.refs[self.ref(entry)]

    def load(self, **options):
        known = {"blob": self.blobs.get, "pinned": self.id, "main": self.main}
        return ledger.load(self.refs, **{**known, **options})


def alone(name="ada"):
    """A book of one person, who may approve their own proposals."""
    person = Person(name)
    return person, Book(succession.first(name, person.key, PLACE), person)


def pair():
    """A book under version 2, with a second approver."""
    ada, book = alone()
    ben = Person("ben")
    book.adopt(succession.add(book.policy, "ben", ben.key, place(2)), ada)
    return ada, ben, book


def place(number, main=ROOT_COMMIT):
    return Place(main, f"{number:032x}")


def rules(book):
    """The rule that each void entry breaks, by id."""
    return {void.ref.rsplit("/", 1)[1]: void.rule for void in book.load().void}


def ssh_keygen(*args, data=None):
    """Run the real program; raises when it says no."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
    command = ["ssh-keygen", *map(str, args)]
    return subprocess.run(command, input=data, capture_output=True, check=True, env=env).stdout


def sign_with_ssh_keygen(private, message):
    """Let ssh-keygen sign for git."""
    return ssh_keygen("-q", "-Y", "sign", "-n", "git", "-f", private, data=message)
