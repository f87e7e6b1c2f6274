"""log --mutations: the story of every change: proposed, decided by whom, applied, rolled back.

What it closes: a harness whose history is a list of file edits. The decision: one line
per change and one per thing that happened to it, out of ledger and main. What it does
not do: it is part of `log`, and judges nothing.
"""

from pathlib import Path

import msgspec

from githarness.commands import filed, governed, story
from githarness.commands.filed import Proposal
from githarness.commands.governed import Harness
from githarness.commands.story import Event
from githarness.errors import OK
from githarness.propose import patch
from githarness.store.objects import Store


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
    for one in filed.every(store):
        if isinstance(one, str):
            unreadable.append(one)
        else:
            stories.append(_story(harness, one))
    return Result(mutations=tuple(stories), unreadable=tuple(unreadable))


def _story(harness: Harness, one: Proposal) -> Story:
    return Story(
        id=one.id,
        summary="; ".join(patch.summary(one.document.patch)),
        component=one.document.contract.component,
        standing=filed.stands(harness, one).verdict,
        in_force=filed.is_in_force(harness, one),
        events=story.tell(harness, one),
    )
