"""The chain: which policies were in force, from the pinned one to the newest.

The gap this closes: a list of keys that is believed because it is the newest is
whatever the last person to push says it is. The decision: version 1 is the one whose
digest is pinned; a next version needs the root thresholds of the old version and of
its own, in signatures that descend from the old one's; two such versions are a fork,
and then nothing is chosen: whoever could be right, a person has to say.

What it does not do: it does not judge decisions (`ledger`).
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from githarness.govern.links import Links
from githarness.govern.policy import Policy
from githarness.govern.tag import Tag
from githarness.govern.void import Problem


class InForce(msgspec.Struct, frozen=True, kw_only=True):
    """One version that was or is in force, and the entries that put it there."""

    digest: str
    policy: Policy
    holders: dict[str, str]
    signatures: frozenset[str]
    # What had been seen when it took force: what a removed key signed counts in here only.
    closure: frozenset[str]


class Chain(msgspec.Struct, frozen=True):
    """All versions in order; empty when the pinned one is not there or not signed."""

    versions: tuple[InForce, ...]
    problems: tuple[Problem, ...] = ()


class Offered(msgspec.Struct, frozen=True):
    """A policy that somebody signed: its digest, itself, and every signature of it."""

    digest: str
    policy: Policy
    tags: tuple[Tag, ...]


def follow(pinned: str, offered: Mapping[str, Offered], links: Links) -> Chain:
    """Follow the policies from the pinned ledger id on, as far as they are authorised."""
    if pinned not in offered or offered[pinned].policy.version != 1:
        return _stopped((), pinned, "ledger-missing", "the pinned ledger is not in this repository")
    start = accept(offered[pinned], None, links)
    if start is None:
        return _stopped((), pinned, "policy-unsigned", "its root approvers have not signed the first policy")
    versions = [start]
    while True:
        last = versions[-1]
        found = [new for one in successors(last, offered.values()) if (new := accept(one, last, links))]
        if len(found) > 1:
            names = ", ".join(sorted(one.digest[:12] for one in found))
            words = f"{names} are all signed to follow version {last.policy.version}: a person must say which"
            return _stopped(versions, last.digest, "policy-fork", words)
        if not found:
            return Chain(tuple(versions))
        versions.append(found[0])


def _stopped(versions: Sequence[InForce], path: str, rule: str, message: str) -> Chain:
    return Chain(tuple(versions), (Problem("", path, rule, message),))


def successors(of: InForce, offered: Iterable[Offered]) -> list[Offered]:
    """Return what claims to be the next version, signed by whomever."""
    version = of.policy.version + 1
    return [one for one in offered if one.policy.prev_policy == of.digest and one.policy.version == version]


def accept(new: Offered, last: InForce | None, links: Links) -> InForce | None:
    """Return a version as in force, or None while its signatures do not authorise it."""
    holders = new.policy.holders()
    tags = [tag for tag in new.tags if _counts(tag, new.policy, holders, last, links)]
    if not _agreed(tags, new.policy, holders):
        return None
    if last is not None and not _agreed(tags, last.policy, last.holders):
        return None
    timely = [tag.id for tag in tags if not _is_late(tag, tags, new.policy, holders, last, links)]
    return InForce(
        digest=new.digest,
        policy=new.policy,
        holders=holders,
        signatures=frozenset(tag.id for tag in tags),
        closure=links.behind(timely),
    )


def is_root(tag: Tag, policy: Policy, holders: Mapping[str, str]) -> bool:
    """Tell whether a tag is by a key that this policy gives to one of its root approvers."""
    principal = tag.payload.principal
    return holders.get(tag.payload.key) == principal and principal in policy.root.approvers


def _counts(tag: Tag, policy: Policy, holders: Mapping[str, str], last: InForce | None, links: Links) -> bool:
    by_old = last is not None and is_root(tag, last.policy, last.holders)
    if not (by_old or is_root(tag, policy, holders)) or not links.is_authentic(tag.id):
        return False
    # With a gap behind it the version stands, and the gap is a problem: else a deleted
    # tag would bring an older policy back.
    return last is None or bool(links.behind([tag.id]) & last.signatures or links.gaps(tag.id))


def _agreed(tags: Iterable[Tag], policy: Policy, holders: Mapping[str, str]) -> bool:
    principals = {tag.payload.principal for tag in tags if is_root(tag, policy, holders)}
    return len(principals) >= policy.root.threshold


def _is_late(
    tag: Tag,
    tags: Sequence[Tag],
    policy: Policy,
    holders: Mapping[str, str],
    last: InForce | None,
    links: Links,
) -> bool:
    # A signature added once the policy was in force opens the ledger for nobody: what
    # it lists may hold entries that a removed key made since.
    seen = links.behind(tag.payload.prev)
    earlier = [one for one in tags if one.id in seen]
    return _agreed(earlier, policy, holders) and (last is None or _agreed(earlier, last.policy, last.holders))
