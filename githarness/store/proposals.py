"""Proposals: a branch for each fingerprint, holding one commit on main.

The gap this closes: a proposal that exists only as a file on one machine cannot be
reviewed on another, and two of one change would be decided apart. The decision: the
branch is named by the fingerprint and created only once, so that the second one to
propose the same change is given the first one's commit. `replace` puts a new commit in
its place, by comparing; the old commit stays in the store, and a decision on it still
names it.

What it does not do: it knows no mutation, and deletes no branch.
"""

from collections.abc import Iterable, Mapping

import msgspec

from githarness.store import layout, main, refs
from githarness.store.objects import Store
from githarness.store.publish import publish


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """The commit of a proposal; `created` is False when somebody else's stands there."""

    commit: str
    created: bool


def file(
    store: Store,
    fingerprint: str,
    *,
    base: str,
    writes: Mapping[str, bytes],
    removes: Iterable[str],
    message: str,
    now: int,
    replace: bool = False,
) -> Filed:
    """Put one commit on top of `base` and name it by the fingerprint.

    With a proposal there already, it is returned and nothing is written, unless
    `replace`; of two that replace at once, one is told of the other's commit.
    """
    ref = layout.proposal_ref(fingerprint)
    old = store.tip(ref)
    if old is not None and not replace:
        return Filed(commit=old, created=False)
    objects = main.draft(store, base=base, writes=writes, removes=removes, message=message, now=now)
    commit = objects[-1].oid
    if commit == old:
        return Filed(commit=commit, created=False)
    if publish(store, ref, objects, old=old):
        return Filed(commit=commit, created=True)
    return Filed(commit=store.tip(ref) or commit, created=False)


def every(store: Store) -> list[tuple[str, str]]:
    """Return fingerprint and commit of every proposal, in order of fingerprint."""
    listed = refs.listed(store.git, layout.PROPOSALS)
    named = ((layout.proposal_of(ref), commit) for ref, commit in listed)
    return [(fingerprint, commit) for fingerprint, commit in named if fingerprint is not None]
