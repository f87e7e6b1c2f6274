"""export: the state in force, for an agent to use, and only from a verified commit.

What it closes: an agent that reads a harness nobody decided. The decision: a state that
was verified is kept in the user's cache under what it depends on (main, every ref of the
ledger, the pin), and its digest in the user's trust file; while all of that is unchanged
nothing is verified twice and nothing heavy is loaded. Guidance is appended and the base
prompt never touched: no overlay gives no bytes. What this does not do: it starts no agent.
"""

import importlib
from pathlib import Path
from typing import Any

import msgspec

from githarness.commands import kept
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
    before = kept.moving(store)
    known = kept.recall(KIND, before, store, config, derived)
    if known is not None:
        return msgspec.json.decode(known, type=Result)
    store.begin(importlib.import_module("githarness.store.snapshot").read)
    # pydantic and cryptography are loaded here, when something must be verified
    found = importlib.import_module("githarness.commands.settled").settled(store, config)
    result = Result(**found)
    # What moved meanwhile was not what was verified.
    if kept.moving(store) == before:
        kept.keep(KIND, before, store, config, derived, msgspec.json.encode(result, order="sorted"))
    return result
