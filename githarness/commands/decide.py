"""review, approve, reject: what a person reads, and one signed decision on exactly that.

What it closes: a signature over something else than what the screen showed. The
decision: the proposal is read once, rendered once, and the digest of that text goes
into the signed payload; our own tag is verified in process before its ref is made.
What this does not do: it reads no private key, and it lands nothing.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path

import msgspec

from githarness import canon
from githarness.commands import filed, governed, signed
from githarness.commands.filed import Proposal
from githarness.commands.governed import Harness
from githarness.errors import OK, RefusedError, UsageError
from githarness.govern import payload
from githarness.govern import policy as policies
from githarness.govern.keys import Key
from githarness.govern.ledger import Ledger
from githarness.govern.payload import Base, Decision, Verdict
from githarness.govern.policy import Policy
from githarness.propose.state import State
from githarness.render import review as rendering
from githarness.store.objects import Store

_NONCE = 16


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown: `digest` is of `text`; standing and its reasons stand outside it."""

    id: str
    digest: str
    standing: str
    reasons: tuple[str, ...]
    text: str

    @property
    def exit_code(self) -> int:
        """Always 0: what cannot be shown is raised."""
        return OK


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A decision as it was signed, and where the proposal stands now."""

    id: str
    decision: str
    tag: str
    standing: str
    reasons: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """Always 0: a refusal is raised."""
        return OK


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One proposal, read once: what is signed is this and nothing read later."""

    harness: Harness
    proposal: Proposal
    # The state it is shown on, which the signature names.
    of: State
    review: Review


def read(store: Store, config: Path, prefix: str, now: int | None = None) -> Reading:
    """Read and render one proposal; with `now` its standing knows what has expired."""
    harness = governed.load(store, config)
    one = filed.proposal(store, prefix)
    filed.require_plain(store, one)
    of = filed.stage(harness, one)
    text = rendering.text(one.document, one.commit, of, harness.policy)
    standing = filed.stands(harness, one, now)
    return Reading(
        harness=harness,
        proposal=one,
        of=of,
        review=Review(
            id=one.id,
            digest=canon.sha256(text.encode()),
            standing=standing.verdict,
            reasons=standing.reasons,
            text=text,
        ),
    )


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says: the decision, and what goes into the signature beside it."""

    decision: Verdict
    reason: str = ""
    # Seconds since 1970; 0 is never.
    expires: int = 0
    # Takes back the same person's earlier decisions on this change.
    supersede: bool = False


def decide(
    reading: Reading, said: Said, *, key: Path, now: int, env: Mapping[str, str], config: Path
) -> Decided:
    """Sign a decision on what was read, verify it, and keep it as a tag.

    What can no longer land is not approved, but may be rejected, and a rejection of it
    taken back.
    """
    harness, one = reading.harness, reading.proposal
    ledger, policy, _ = governed.require(harness)
    _require_open(reading, ledger, approves=said.decision == "approve" and not said.supersede)
    _check_words(said.reason, said.expires, now)
    own, principal = _signer(policy, key, env)
    words = _words(reading, said, principal, own, now)
    ref = signed.sign(harness.store, one.commit, words, key=key, now=now, env=env)
    after = governed.load(harness.store, config, before=harness)
    governed.remember(after, config)
    standing = filed.stands(after, one)
    return Decided(
        id=one.id, decision=said.decision, tag=ref, standing=standing.verdict, reasons=standing.reasons
    )


def _words(reading: Reading, said: Said, principal: str, own: Key, now: int) -> Decision:
    harness, one = reading.harness, reading.proposal
    ledger, policy, _ = governed.require(harness)
    asked = filed.question(one, reading.of)
    earlier = [found.id for found, word in ledger.decisions(one.id) if word.principal == principal]
    return Decision(
        ledger=ledger.id,
        policy=policies.digest(policy),
        prev=ledger.prev,
        decision=said.decision,
        mutation=one.id,
        document=one.digest,
        base=Base(commit=harness.tip, state=asked.base),
        result=asked.result,
        target=payload.MAIN,
        principal=principal,
        key=own.fingerprint,
        display=reading.review.digest,
        supersedes=tuple(earlier) if said.supersede else (),
        issued=now,
        expires=said.expires,
        nonce=secrets.token_hex(_NONCE),
        reason=said.reason,
    )


def _require_open(reading: Reading, ledger: Ledger, *, approves: bool) -> None:
    """Raise RefusedError where a decision would not count, whatever it says."""
    one = reading.proposal
    if ledger.problems:
        raise RefusedError(
            f"the ledger has a problem, so nothing may be decided: {ledger.problems[0].message}",
            hint="githarness verify",
        )
    stale = filed.staleness(reading.harness, one) if approves else ""
    if stale:
        way = filed.way_on(reading.harness, one) or "githarness export says what is in force"
        raise RefusedError(f"{one.id[:12]} can no longer land: {stale}", hint=way)


def _check_words(reason: str, expires: int, now: int) -> None:
    fault = payload.reason_fault(reason)
    if fault is not None:
        raise UsageError(f"the reason {fault}", hint="--reason takes one line of plain text")
    if expires and expires <= now:
        raise UsageError(
            f"it would have expired at {expires}, and now is {now}",
            hint="--expires takes seconds since 1970, as `date +%s` prints them",
        )


def _signer(policy: Policy, key: Path, env: Mapping[str, str]) -> tuple[Key, str]:
    own = signed.own_key(key, env)
    principal = policy.holders().get(own.fingerprint)
    if principal is None:
        raise RefusedError(
            f"{own.fingerprint} is no key of the policy, so its word would not count",
            hint="githarness policy show lists the keys; githarness policy add NAME KEYFILE",
        )
    return own, principal
