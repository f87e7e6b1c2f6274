"""log --mutations: the story of every change: proposed, decided by whom, applied, rolled back.

What it closes: a harness whose history is a list of file edits. The decision: one line
per change and one per thing that happened to it, out of ledger and main. What it does
not do: it is part of `log`, and judges nothing.
"""

from pathlib import Path

import msgspec

from githarness.commands import governed
from githarness.commands.governed import Harness, Proposal
from githarness.errors import OK
from githarness.propose import patch
from githarness.store.objects import Store


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened; `when` is in seconds since 1970, None where nobody wrote it down."""

    what: str
    who: str
    when: int | None
    where: str


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """One change from its proposal on."""

    id: str
    summary: str
    component: str
    standing: str
    in_force: bool
    events: tuple[Event, ...]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Every change on file, and those that cannot be read."""

    mutations: tuple[Story, ...]
    unreadable: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """Always 0: an empty list is an answer."""
        return OK


def run(store: Store, config: Path) -> Result:
    """Tell every story, in the order of fingerprints."""
    harness = governed.load(store, config)
    stories, unreadable = [], []
    for one in governed.every(store):
        if isinstance(one, str):
            unreadable.append(one)
        else:
            stories.append(_story(harness, one))
    return Result(mutations=tuple(stories), unreadable=tuple(unreadable))


def _story(harness: Harness, one: Proposal) -> Story:
    landings = [
        allowed.landing
        for allowed in (harness.verdict.in_force if harness.verdict is not None else ())
        if allowed.landing.fingerprint == one.id
    ]
    events = [
        Event(
            what="proposed",
            who=one.document.proposer or one.document.source,
            when=harness.store.commit(one.commit).time,
            where=one.commit,
        )
    ]
    if harness.ledger is not None:
        events += [
            Event(what=said.decision, who=said.principal, when=said.issued, where=entry.ref)
            for entry, said in harness.ledger.decisions(one.id)
        ]
    events += [
        Event(what="applied", who="", when=harness.store.commit(landing.commit).time, where=landing.commit)
        for landing in landings
    ]
    spent = harness.verdict is not None and one.commit in harness.verdict.spent
    if spent and not landings:
        events.append(Event(what="rolled back", who="", when=None, where=""))
    return Story(
        id=one.id,
        summary="; ".join(patch.summary(one.document.patch)),
        component=one.document.contract.component,
        standing=governed.stands(harness, one).verdict,
        in_force=bool(landings),
        events=tuple(events),
    )
