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

from githarness import canon
from githarness.errors import OK
from githarness.store import layout, refs, trust
from githarness.store.derived import Derived
from githarness.store.objects import Store
from githarness.store.trust import Pin

# Verified states that are remembered per store: main and a few branches of late.
MOST_STATES = 8


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
    pin = trust.read(config, store.path)
    key = _key(store, pin)
    kept = derived.get(key)
    if kept is not None and pin is not None and _mark(key, kept) in pin.states:
        return msgspec.json.decode(kept, type=Result)
    before = _moving(store)
    # pydantic and cryptography are loaded here, when something must be verified
    found = importlib.import_module("githarness.commands.settled").settled(store, config)
    result = Result(**found)
    # What moved meanwhile was not what was verified.
    if _moving(store) == before:
        _keep(store, config, derived, result)
    return result


def _keep(store: Store, config: Path, derived: Derived, result: Result) -> None:
    data = msgspec.json.encode(result, order="sorted")
    key = _key(store, trust.read(config, store.path))
    derived.put(key, data)
    trust.update(config, store.path, lambda old: _with(old, _mark(key, data)))


def _mark(key: str, data: bytes) -> str:
    """Digest what is kept together with what it depends on: an older state is no newer one."""
    return canon.sha256(key.encode() + b"\0" + data)


def _with(pin: Pin | None, digest: str) -> Pin | None:
    if pin is None or digest in pin.states:
        return pin
    return msgspec.structs.replace(pin, states=(*pin.states, digest)[-MOST_STATES:])


def _moving(store: Store) -> str:
    """Say where everything is that can move: main, and every ref of the ledger."""
    return f"{refs.tip(store.path, layout.MAIN)}-{refs.fingerprint(store.path, layout.LEDGER)}"


def _key(store: Store, pin: Pin | None) -> str:
    """Name everything that a verdict depends on."""
    held = (pin.ledger, pin.heads, pin.main) if pin is not None else None
    return f"export-2-{store.path}-{_moving(store)}-{held}"
