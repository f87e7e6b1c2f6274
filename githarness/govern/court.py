"""The court: which entries count under a chain of policies, and why the others do not.

The gap this closes: a key that was removed, or stolen, can sign today what it dates
yesterday. The decision: no date is looked at. An entry counts if the policy that it
cites gives the key to the principal, if every later policy does so too or had seen the
entry when it took force, and if the newest does not revoke the key. Unknown keys are
turned away before any signature is verified: noise costs nothing.

What it does not do: it does not look for what is missing (`ledger`), but notes where
something must be.
"""

from collections.abc import Collection, Iterator, Mapping

from githarness.govern import chain as chains
from githarness.govern.chain import Chain, Offered
from githarness.govern.links import Links, Reach
from githarness.govern.payload import Decision, PolicySignature
from githarness.govern.tag import Tag
from githarness.govern.void import Problem, VoidError


class Court:
    """Judge entries one by one under a chain of policies."""

    def __init__(
        self,
        pinned: str,
        chain: Chain,
        offered: Mapping[str, Offered],
        here: Collection[str],
        links: Links,
    ) -> None:
        self._pinned = pinned
        self._versions = {one.digest: one for one in chain.versions}
        self._order = chain.versions
        self._offered = offered
        self._here = here
        self._links = links
        self._known = {key for one in chain.versions for key in one.holders}
        last = chain.versions[-1].policy if chain.versions else None
        self._revoked = frozenset(last.revoked) if last is not None else frozenset()
        self._upheld = frozenset(last.upheld) if last is not None else frozenset()
        bits = {entry: 1 << one.policy.version for one in chain.versions for entry in one.signatures}
        self._reach = Reach(links, bits)
        # What is missing behind entries that count all the same.
        self.gaps: set[str] = set()

    def is_known(self, tag: Tag) -> bool:
        """Tell whether some policy lists the key of an entry: only then is its signature verified."""
        return tag.payload.key in self._known and tag.payload.ledger == self._pinned

    def judge(self, tag: Tag) -> None:
        """Return for an entry that counts; VoidError names the first rule it breaks."""
        if tag.payload.ledger != self._pinned:
            raise VoidError("ledger", f"signed for the ledger {tag.payload.ledger[:12]}")
        if isinstance(tag.payload, PolicySignature):
            self._judge_signature(tag, tag.payload)
        else:
            self._judge_decision(tag, tag.payload)

    def _judge_signature(self, tag: Tag, payload: PolicySignature) -> None:
        version = self._versions.get(payload.policy)
        if version is not None:
            if tag.id not in version.signatures:
                raise VoidError("root", "not by a root approver who had seen the policy before it")
            return
        last = self._order[-1] if self._order else None
        waiting = self._offered.get(payload.policy)
        if last is None or waiting is None or not chains.successors(last, [waiting]):
            raise VoidError("policy", "the policy that it agrees to follows none that is in force")
        if not chains.is_root(tag, last.policy, last.holders):
            raise VoidError("root", "not by a root approver of the policy in force")
        self._check_signed(tag)

    def _judge_decision(self, tag: Tag, payload: Decision) -> None:
        if payload.key not in self._known:
            raise VoidError("unknown-key", f"no policy lists {payload.key}")
        cited = self._versions.get(payload.policy)
        if cited is None:
            raise VoidError("policy", f"the policy {payload.policy[:12]} was never in force")
        if cited.holders.get(payload.key) != payload.principal:
            raise VoidError("principal", f"the cited policy does not give this key to {payload.principal}")
        self._check_signed(tag)
        for later in self._order[cited.policy.version :]:
            if later.holders.get(payload.key) != payload.principal and tag.id not in later.closure:
                version = later.policy.version
                raise VoidError("removed", f"version {version} took this key from {payload.principal}")
        if payload.key in self._revoked and tag.id not in self._upheld:
            raise VoidError("revoked", f"the key {payload.key} is revoked")
        if not self._reach.of(tag.id) & 1 << cited.policy.version:
            self._check_gap(tag.id)

    def _check_gap(self, entry: str) -> None:
        gaps = self._links.gaps(entry)
        if not gaps:
            raise VoidError("descent", "it does not descend from a signature of the policy that it cites")
        self.gaps |= gaps

    def _check_signed(self, tag: Tag) -> None:
        if not self._links.is_authentic(tag.id):
            raise VoidError("signature", f"{tag.payload.key} did not sign these bytes")

    def broken(self, found: Collection[Tag], entries: Mapping[str, Tag]) -> Iterator[Problem]:
        """Find what shows that a policy was taken away: somebody in office cites one that is gone."""
        if not self._order:
            return
        last = self._order[-1]
        for tag in found:
            digest = tag.payload.policy
            in_office = last.holders.get(tag.payload.key) == tag.payload.principal
            if tag.id in entries or not in_office or tag.payload.ledger != self._pinned:
                continue
            if self._is_gone(digest) and self._links.is_authentic(tag.id):
                words = f"it cites the policy {digest[:12]}, which is gone"
                yield Problem("", tag.ref, "policy-missing", words)

    def _is_gone(self, digest: str) -> bool:
        """Tell whether a policy, or one before it, is not here at all; one that is here may be void."""
        while digest and digest not in self._versions:
            if digest not in self._here:
                return True
            offered = self._offered.get(digest)
            digest = "" if offered is None else offered.policy.prev_policy
        return False
