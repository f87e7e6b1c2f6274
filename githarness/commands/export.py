"""export: the state in force, for an agent to use, and only from a verified commit.

What it closes: an agent that reads a harness nobody decided. The decision: a state that
was verified is kept in the user's cache under what it depends on (main, every ref of the
ledger, the pin), and its digest in the user's trust file; while all of that is unchanged
nothing is verified twice and nothing heavy is loaded. Guidance is appended and the base
prompt never touched: no overlay gives no bytes. What this does not do: it starts no agent.
"""

# what follows by name is loaded only when something must be verified: pydantic and
# cryptography alone take 0.1 s
import importlib
from pathlib import Path
from typing import Any

import msgspec

from githarness.commands import kept
from githarness.commands.kept import Slot
from githarness.errors import OK
from githarness.store.derived import Derived
from githarness.store.objects import Store

# What a state is kept as; another number when another version answers otherwise.
KIND = "export-2"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The state in force: effective knobs, the overlay as one text, described tools."""

    commit: str
    state: str
    knobs: dict[str, Any]
    overlay: str
    tools: dict[str, str]

    @property
    def exit_code(self) -> int:
        """Always 0: an unverified state is raised."""
        return OK


def run(store: Store, config: Path, derived: Derived) -> Result:
    """Return the verified state; RefusedError when main is not what was decided."""
    slot = Slot(kind=KIND, place=lambda: kept.moving(store), store=store, config=config, derived=derived)
    known = slot.recall()
    if known is not None:
        return msgspec.json.decode(known, type=Result)
    before = slot.place()
    store.begin(importlib.import_module("githarness.store.snapshot").read)
    found = importlib.import_module("githarness.commands.settled").settled(store, config)
    result = Result(**found)
    slot.keep(before, msgspec.json.encode(result, order="sorted"))
    return result
