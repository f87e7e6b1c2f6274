"""policy and trust: who may decide what, signed by those who may say so; and what is pinned.

What it closes: a list of signers that its own subjects can edit. The decision: every
version is a document that the root approvers of the old and of the new one sign; the
first one's digest is the ledger id, pinned in the user's own configuration. What this
does not do: it reads no configuration of the store.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from githarness.commands import governed, picked, signed
from githarness.commands.governed import Harness
from githarness.errors import OK, UNKNOWN, RefusedError, UsageError
from githarness.govern import keys, succession
from githarness.govern import ledger as ledgers
from githarness.govern import policy as policies
from githarness.govern.ledger import Ledger
from githarness.govern.payload import PolicySignature
from githarness.govern.policy import Policy
from githarness.govern.succession import Place
from githarness.propose.derivation import COMPONENTS
from githarness.store import main as branch
from githarness.store import signing, tags, trust
from githarness.store.objects import Store
from githarness.store.trust import Pin

_NONCE = 16
_PRINCIPAL = re.compile("[a-z0-9][a-z0-9._-]{0,62}")
# How ssh-keygen writes a key's fingerprint, and no principal can be called.
_FINGERPRINT = "SHA256:"

# Problems of what was decided, and not of what stands there.
_OF_DECISIONS = frozenset({"not-approved", "rejected"})

Change = Callable[[Policy, Place], Policy]


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    """With what is signed, and when."""

    key: Path
    now: int
    env: Mapping[str, str]
    config: Path


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A policy, and whether it is in force: a next version waits for its root approvers."""

    ledger: str | None
    policy: dict[str, Any] | None
    digest: str | None
    in_force: bool
    tag: str | None = None
    note: str = ""

    @property
    def exit_code(self) -> int:
        """Always 0: it was signed, or shown; `in_force` says what came of it."""
        return OK


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """What is pinned for the store, and what could be: ledger ids with their keys."""

    store: str
    ledger: str | None
    candidates: dict[str, dict[str, list[str]]]
    note: str

    @property
    def exit_code(self) -> int:
        """0 pinned, 4 nothing is."""
        return OK if self.ledger is not None else UNKNOWN


def begin(store: Store, principal: str, signer: Signer) -> Result:
    """Make and sign the first policy, and pin the ledger that it begins."""
    if trust.read(signer.config, store.path) is not None:
        raise RefusedError("this store has a pinned ledger already", hint="githarness policy show")
    found = governed.load(store, signer.config)
    roots = ledgers.roots(found.refs, blob=found.blob)
    if roots:
        raise RefusedError(
            "this store has a ledger already, and it is not pinned here",
            hint=f"compare its id with what its owner tells you: githarness trust {next(iter(roots))}",
        )
    key = signing.public_key(signer.key, env=signer.env)
    place = Place(branch.tip(store), secrets.token_hex(_NONCE))
    policy = succession.first(principal, succession.read_key(key), place)
    ref = _publish(store, policy, policies.digest(policy), principal, (), signer)
    pin(store, policies.digest(policy), signer.config)
    harness = governed.load(store, signer.config)
    governed.remember(harness, signer.config)
    return _result(harness, policy, ref)


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger that a new store is held to; `key` is None where none was made."""

    ledger: str
    key: str | None = None


def founded(store: Store, principal: str, signer: Signer, *, make: bool) -> Begun:
    """Give a store its first policy, with `make` by a key that is made now; a pinned one has it already.

    RefusedError where a key was to be made for a ledger that is there.
    """
    pinned = trust.read(signer.config, store.path)
    if pinned is not None:
        if make and not signer.key.exists():
            raise RefusedError(
                "this store has a pinned ledger already, so no key was made for it",
                hint="ssh-keygen -t ed25519, then: githarness policy add NAME KEYFILE",
            )
        return Begun(ledger=pinned.ledger)
    key = signing.new_key(signer.key, env=signer.env) if make else None
    first = begin(store, principal, signer)
    return Begun(ledger=first.ledger or "", key=None if key is None else str(key))


def change(store: Store, made: Change, signer: Signer) -> Result:
    """Make the next version by `made` from the one in force, and sign it."""
    harness = governed.load(store, signer.config)
    ledger, policy, _ = governed.require(harness)
    _require_explained(harness)
    after = made(policy, Place(harness.tip, secrets.token_hex(_NONCE)))
    found = _sign(harness, after, ledger.prev, signer)
    if found.in_force and ledger.waiting:
        names = ", ".join(digest[:12] for digest in ledger.waiting)
        note = f"{names} waited for signatures and can no longer take force; make that change again"
        return msgspec.structs.replace(found, note=note)
    return found


def _require_explained(harness: Harness) -> None:
    """Raise RefusedError where main's tip is no place at which a policy can take force.

    What landed without leave is no obstacle: a policy that upholds more is its cure.
    """
    _, _, verdict = governed.require(harness)
    worse = [one for one in verdict.problems if one.rule not in _OF_DECISIONS]
    if worse:
        raise RefusedError(
            f"main or the ledger is not what was decided, so no policy is changed: {governed.said(worse[0])}",
            hint="githarness verify",
        )


def _component(name: str) -> str:
    """Return what a rule can be about; UsageError for any other word."""
    known = (policies.EVERY, succession.ROOT, *COMPONENTS)
    if name not in known:
        raise UsageError(f"there is no component {name[:64]!r}", hint=f"one of: {', '.join(known)}")
    return name


def adding(principal: str, public: Path, env: Mapping[str, str]) -> Change:
    """Make the change that gives a key to a principal."""
    if _PRINCIPAL.fullmatch(principal) is None:
        raise UsageError(
            f"nobody can be called {principal[:64]!r} here",
            hint="small letters, digits, dots, dashes and underlines, at most 63",
        )
    text = succession.read_key(signing.public_key(public, env=env))
    return lambda of, place: succession.add(of, principal, text, place)


def removing(name: str) -> Change:
    """Make the change that takes off a principal, or one key by its fingerprint."""
    if name.startswith(_FINGERPRINT):
        return lambda of, place: succession.remove_key(of, name, place)
    return lambda of, place: succession.remove(of, name, place)


def seating(component: str, approvers: tuple[str, ...]) -> Change:
    """Make the change of who may approve a component's changes."""
    about = _component(component)
    return lambda of, place: succession.set_approvers(of, about, approvers, place)


def thresholding(component: str, count: int) -> Change:
    """Make the change of how many must agree."""
    about = _component(component)
    return lambda of, place: succession.set_threshold(of, about, count, place)


def revoking(fingerprint: str, upheld: tuple[str, ...]) -> Change:
    """Make the change that voids what a key signed, but what is upheld."""
    return lambda of, place: succession.revoke(of, fingerprint, place, upheld=upheld)


def listing(components: tuple[str, ...]) -> Change:
    """Make the change of which components' bounded numbers may land unasked."""
    return lambda of, place: succession.set_optimistic(of, components, place)


def cosign(store: Store, prefix: str, signer: Signer) -> Result:
    """Sign a next version that somebody else made."""
    harness = governed.load(store, signer.config)
    ledger, _, _ = governed.require(harness)
    _require_explained(harness)
    return _sign(harness, _waiting(ledger, prefix), ledger.prev, signer)


def _waiting(ledger: Ledger, prefix: str) -> Policy:
    """Return the one next version whose digest begins with `prefix`."""
    picked.check(prefix, "digest of a policy", "githarness policy show")
    return ledger.waiting[picked.pick(prefix, ledger.waiting, "next version", "githarness policy show")]


def _sign(harness: Harness, after: Policy, heads: tuple[str, ...], signer: Signer) -> Result:
    own = signed.own_key(signer.key, signer.env).fingerprint
    _, policy, _ = governed.require(harness)
    principal = after.holders().get(own) or policy.holders().get(own)
    if principal is None:
        raise RefusedError(f"{own} is no key of the policy", hint="githarness policy show")
    ledger = harness.pin.ledger if harness.pin is not None else ""
    ref = _publish(harness.store, after, ledger, principal, heads, signer)
    read = governed.load(harness.store, signer.config, before=harness)
    governed.remember(read, signer.config)
    return _result(read, after, ref)


def _publish(
    store: Store, policy: Policy, ledger: str, principal: str, heads: tuple[str, ...], signer: Signer
) -> str:
    target = tags.put_blob(store, policies.encode(policy))
    own = signed.own_key(signer.key, signer.env).fingerprint
    words = PolicySignature(
        ledger=ledger,
        policy=policies.digest(policy),
        prev=heads,
        principal=principal,
        key=own,
        nonce=secrets.token_hex(_NONCE),
    )
    return signed.sign(store, target, words, key=signer.key, now=signer.now, env=signer.env)


def _result(harness: Harness, policy: Policy, ref: str | None) -> Result:
    digest = policies.digest(policy)
    in_force = harness.policy is not None and policies.digest(harness.policy) == digest
    root = policy.root
    note = (
        ""
        if in_force
        else (
            f"signed, and waiting: the root thresholds of both versions must agree "
            f"({root.threshold} of {', '.join(root.approvers)}); githarness policy sign {digest[:12]}"
        )
    )
    return Result(
        ledger=harness.pin.ledger if harness.pin is not None else None,
        policy=policy.model_dump(mode="json"),
        digest=digest,
        in_force=in_force,
        tag=ref,
        note=note,
    )


def show(store: Store, config: Path, prefix: str | None = None) -> Result:
    """Return the policy in force, or a next version that waits for signatures."""
    harness = governed.load(store, config)
    ledger, policy, _ = governed.require(harness)
    if prefix is not None:
        return _result(harness, _waiting(ledger, prefix), None)
    waiting = [digest[:12] for digest in ledger.waiting]
    found = _result(harness, policy, None)
    read = f"githarness policy show {waiting[0]}, then policy sign" if waiting else ""
    note = f"next versions wait for signatures: {', '.join(waiting)}; {read}" if waiting else ""
    return msgspec.structs.replace(found, note=note)


def signers(store: Store, config: Path) -> str:
    """Return the allowed-signers file of the policy in force; it is never an input of ours."""
    _, policy, _ = governed.require(governed.load(store, config))
    return policies.allowed_signers(policy)


def pin(store: Store, ledger: str, config: Path, *, forget: bool = False) -> None:
    """Hold the store to a ledger from here on; what was remembered of another one is dropped."""

    def new(old: Pin | None) -> Pin:
        return old if old is not None and old.ledger == ledger and not forget else Pin(ledger=ledger)

    trust.update(config, store.path, new)


def trusted(store: Store, config: Path, prefix: str | None, *, forget: bool = False) -> Trusted:
    """Pin the ledger whose id begins with `prefix`, or say what is pinned. Nothing is verified.

    With `forget` what was seen of it here before is given up.
    """
    if prefix is not None:
        picked.check(prefix, "ledger id", "githarness trust")
    harness = governed.load(store, config)
    roots = ledgers.roots(harness.refs, blob=harness.blob)
    pinned = harness.pin.ledger if harness.pin is not None else None
    note = ""
    if prefix is not None:
        pinned = picked.pick(prefix, roots, "ledger here", "githarness trust")
        pin(store, pinned, config, forget=forget)
        note = "pinned, and not verified by that: githarness verify"
    elif pinned is None and roots:
        note = "compare the id with what its owner tells you, then: githarness trust ID"
    candidates = {digest: _keys(policy) for digest, policy in roots.items()}
    return Trusted(store=str(store.path), ledger=pinned, candidates=candidates, note=note)


def _keys(policy: Policy) -> dict[str, list[str]]:
    return {name: [keys.parse(one).fingerprint for one in held] for name, held in policy.keys.items()}
