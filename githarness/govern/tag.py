"""Tags: the one form in which a signed entry stands in git.

The gap this closes: git accepts a tag whose header names another ref, whose target is
another tag, that has no tagger, or text after its signature that nobody signed, and
shows that text as the message. The decision: exactly these lines, read from the raw
bytes by one expression, and every line that can follow from the payload must.

    object <oid>
    type commit                                    (blob for a policy)
    tag githarness/v1/decision/<mutation>/<id>     (policy/<policy>/<id>)
    tagger githarness <githarness@localhost> <seconds> +0000

    githarness approve <12 hex> by <principal>     (githarness policy <12 hex> by …)

    <payload>
    <SSH signature of everything above>

What it does not do: it signs nothing (`ssh-keygen -Y sign -n git` does, so that no
private key is ever read), and the name of a tag object proves nothing here.
"""

import hashlib
import re

import msgspec

from githarness import canon
from githarness.govern import payload as payloads
from githarness.govern import sshsig
from githarness.govern.payload import Decision, Payload
from githarness.govern.sshsig import Signature
from githarness.govern.void import VoidError

PREFIX = "refs/tags/"
LEDGER = "refs/tags/githarness/v1/"
# The longest honest tag, 256 links and a long reason, is a third of this.
TAG_LIMIT = 64 * 1024
_SHA256_HEX = 64
# Where the bytes of decisions stand on main.
ON_MAIN = "decisions/"

_NAME = re.compile(r"refs/tags/githarness/v1/(decision|policy)/([0-9a-f]{64})/([0-9a-f]{32})")
_FILE = re.compile(r"decisions/([0-9a-f]{64})/([0-9a-f]{32})")
_TAG = re.compile(
    rb"object ([0-9a-f]{40}|[0-9a-f]{64})\n"
    rb"type (commit|blob)\n"
    rb"tag ([!-~]{1,200})\n"
    rb"tagger githarness <githarness@localhost> (0|[1-9][0-9]{0,11}) \+0000\n"
    rb"\n"
    rb"([ -~]{1,200})\n"
    rb"\n"
    rb"([^\n]+)\n"
)


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """One entry as it was read. Its lines agree with each other; its signature is not checked."""

    ref: str
    target: str
    seconds: int
    id: str
    payload: Payload
    signed: bytes
    signature: Signature
    data: bytes

    @property
    def proof(self) -> str:
        """Names signature and signed bytes together, to remember that the one is of the other."""
        return canon.sha256(self.data)


def is_name(ref: str) -> bool:
    """Tell whether `ref` is a name that an entry can have."""
    return _NAME.fullmatch(ref) is not None


def id_of(ref: str) -> str:
    """Return the id of the entry that stands at a ref."""
    return ref.rpartition("/")[2]


def ref_of_file(path: str) -> str | None:
    """Return the ref whose tag a file of main holds; None for a path that is no such file."""
    match = _FILE.fullmatch(path)
    return None if match is None else f"{LEDGER}decision/{match[1]}/{match[2]}"


def file_of_ref(ref: str) -> str:
    """Return where on main the bytes of a decision's tag stand."""
    return ON_MAIN + ref.removeprefix(f"{LEDGER}decision/")


def ref_of(payload: Payload) -> str:
    """Return the one ref that an entry with this payload has."""
    identity = payloads.identity(payloads.encode(payload))
    return _ref(payload, identity)


def _ref(payload: Payload, identity: str) -> str:
    kind, about = _about(payload)
    return f"{LEDGER}{kind}/{about}/{identity}"


def _about(payload: Payload) -> tuple[str, str]:
    if isinstance(payload, Decision):
        return "decision", payload.mutation
    return "policy", payload.policy


def subject(payload: Payload) -> str:
    """Return the line that git shows for an entry: a function of what is signed."""
    _, about = _about(payload)
    word = payload.decision if isinstance(payload, Decision) else "policy"
    return f"githarness {word} {about[:12]} by {payload.principal}"


def unsigned(target: str, payload: Payload, seconds: int) -> bytes:
    """Return the bytes to sign. `target` is the proposal commit, or the blob of the policy."""
    kind = "commit" if isinstance(payload, Decision) else "blob"
    data = payloads.encode(payload)
    name = _ref(payload, payloads.identity(data)).removeprefix(PREFIX)
    lines = (
        f"object {target}\ntype {kind}\ntag {name}\n"
        f"tagger githarness <githarness@localhost> {seconds} +0000\n\n{subject(payload)}\n\n"
    )
    return lines.encode("ascii") + data + b"\n"


def assemble(unsigned: bytes, signature: bytes) -> bytes:
    """Join the signed bytes and their armored signature; VoidError unless the result verifies."""
    sshsig.verify(signature, unsigned)
    return unsigned + signature


def object_id(kind: str, data: bytes, like: str) -> str:
    """Return git's name for an object, in the hash that the name `like` is of."""
    # SHA-1 is git's own naming; what is believed here rests on SHA-256 and signatures.
    hasher = hashlib.new("sha256" if len(like) == _SHA256_HEX else "sha1", usedforsecurity=False)
    hasher.update(b"%s %d\0" % (kind.encode("ascii"), len(data)))
    hasher.update(data)
    return hasher.hexdigest()


def parse(ref: str, data: bytes) -> Tag:
    """Read the tag that stands at `ref`; VoidError names the first rule it breaks."""
    head, armor = _halves(data)
    match = _TAG.fullmatch(head)
    if match is None:
        raise VoidError("grammar", "the lines of the tag are not exactly those of a ledger entry")
    target, kind, name, seconds, line, body = match.groups()
    if f"{PREFIX}{name.decode('ascii')}" != ref:
        raise VoidError("name", "the tag names itself differently than its ref")
    payload = payloads.decode(body)
    identity = payloads.identity(body)
    if _ref(payload, identity) != ref:
        raise VoidError("name", "the name is not the one that the payload has")
    tag = Tag(
        ref=ref,
        target=target.decode("ascii"),
        seconds=int(seconds),
        id=identity,
        payload=payload,
        signed=head,
        signature=sshsig.read(armor),
        data=data,
    )
    _check_lines(tag, kind.decode("ascii"), line.decode("ascii"))
    return tag


def _check_lines(tag: Tag, kind: str, line: str) -> None:
    payload = tag.payload
    decides = isinstance(payload, Decision)
    if kind != ("commit" if decides else "blob"):
        raise VoidError("target", f"the target is a {kind}")
    if line != subject(payload):
        raise VoidError("subject", "the subject line says something else than the payload")
    if isinstance(payload, Decision) and payload.issued != tag.seconds:
        raise VoidError("time", "the tagger line has another time than the payload")
    if payload.key != tag.signature.key.fingerprint:
        raise VoidError("key", f"the payload names {payload.key}, and another key signed")


def _halves(data: bytes) -> tuple[bytes, bytes]:
    if len(data) > TAG_LIMIT:
        raise VoidError("size", f"{len(data)} bytes, of which {TAG_LIMIT} are allowed")
    if b"\0" in data or b"\r" in data:
        raise VoidError("grammar", "the tag holds a NUL or a carriage return")
    if data.count(sshsig.BEGIN) != 1:
        raise VoidError("signature", "there is not exactly one SSH signature")
    at = data.index(sshsig.BEGIN)
    return data[:at], data[at:]
