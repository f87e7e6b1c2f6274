"""The story of one change: proposed, decided by whom, applied, rolled back, each with its place.

What it closes: a change that is on file and is proposed again is decided by people who
do not know what became of it the last time. The decision: one list of events out of
ledger and main, shown by whoever meets the change. What this does not do: it is no
verb, and it judges nothing.
"""

from collections.abc import Iterator

import msgspec

from githarness.commands.filed import Proposal
from githarness.commands.governed import Harness


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened; `when` is in seconds since 1970, None where nobody wrote it down.

    `where` is a commit, or the ref of a decision; `reason` is what was signed with that.
    """

    what: str
    who: str
    when: int | None
    where: str
    reason: str = ""


def tell(harness: Harness, one: Proposal) -> tuple[Event, ...]:
    """Tell what happened to a proposal, in the order in which it is dated; a date is its writer's word."""
    first = Event(
        what="proposed",
        who=one.document.proposer or one.document.source,
        when=_time(harness, one.commit),
        where=one.commit,
    )
    rest = [*_decided(harness, one.id), *_landed(harness, one.id)]
    return (first, *sorted(rest, key=lambda event: event.when or 0))


def _decided(harness: Harness, mutation: str) -> Iterator[Event]:
    if harness.ledger is None:
        return
    for entry, said in harness.ledger.spoken(mutation):
        word = f"{said.decision} (taken back)" if entry.id in harness.ledger.superseded else said.decision
        yield Event(what=word, who=said.principal, when=said.issued, where=entry.ref, reason=said.reason)


def _landed(harness: Harness, mutation: str) -> Iterator[Event]:
    if harness.verdict is None:
        return
    for landing in harness.verdict.landings:
        if landing.fingerprint == mutation:
            yield _event(harness, "applied", landing.commit)
    for undoing in harness.verdict.undone:
        if undoing.landing.fingerprint == mutation:
            yield _event(harness, "rolled back", undoing.commit)


def _event(harness: Harness, what: str, commit: str) -> Event:
    return Event(what=what, who="", when=_time(harness, commit), where=commit)


def _time(harness: Harness, commit: str) -> int:
    return harness.store.commit(commit).time
