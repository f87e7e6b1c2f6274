"""Kept answers: what a replay found, for as long as nothing that it rests on has moved.

The gap this closes: an answer that is computed anew each time costs half a second for a
thousand decisions; one that is merely cached can be put there by somebody else. The
decision: the answer lies in the user's cache under everything it depends on, and its
digest, together with that, in the user's trust file. What this does not do: it looks at
no commit, and keeps no answer that was a "no".
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from githarness import canon
from githarness.store import layout, refs, trust
from githarness.store.derived import Derived
from githarness.store.objects import Store
from githarness.store.trust import Pin

# Marks that are remembered per store: two answers on main and a few branches of late.
MOST_STATES = 8

# Says where all of it is that an answer rests on; None when that cannot be told.
Place = Callable[[Store], str | None]


def moving(store: Store) -> str:
    """Say where everything is that can move: main, and every ref of the ledger."""
    return f"{refs.tip(store.path, layout.MAIN)}-{refs.fingerprint(store.path, layout.LEDGER)}"


def recall(kind: str, place: str | None, store: Store, config: Path, derived: Derived) -> bytes | None:
    """Return what was kept for exactly this; None for anything that this user did not keep."""
    pin = trust.read(config, store.path)
    if pin is None or place is None:
        return None
    key = _key(kind, place, store, pin)
    data = derived.get(key)
    return data if data is not None and _mark(key, data) in pin.states else None


def keep(kind: str, place: str | None, store: Store, config: Path, derived: Derived, data: bytes) -> None:
    """Keep an answer for as long as `place` says the same."""
    pin = trust.read(config, store.path)
    if pin is None or place is None:
        return
    key = _key(kind, place, store, pin)
    mark = _mark(key, data)
    if mark not in pin.states:
        derived.put(key, data)
        trust.update(config, store.path, lambda old: _with(old, mark))


def _mark(key: str, data: bytes) -> str:
    """Digest what is kept together with what it depends on: an older answer is no newer one."""
    return canon.sha256(key.encode() + b"\0" + data)


def _with(pin: Pin | None, mark: str) -> Pin | None:
    if pin is None or mark in pin.states:
        return pin
    return msgspec.structs.replace(pin, states=(*pin.states, mark)[-MOST_STATES:])


def _key(kind: str, place: str, store: Store, pin: Pin) -> str:
    return f"{kind}-{store.path}-{place}-{(pin.ledger, pin.heads, pin.main)}"
