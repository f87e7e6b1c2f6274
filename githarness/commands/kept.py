"""Kept answers: what a replay found, for as long as nothing that it rests on has moved.

The gap this closes: an answer that is computed anew each time costs a third of a second
for a thousand decisions; one that is merely cached can be put there by somebody else.
The decision: the answer lies in the user's cache under everything it depends on, and
its digest, together with that, in the user's trust file. What this does not do: it
looks at no commit, and keeps no answer that was a "no".
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from githarness import canon
from githarness.errors import StorageError
from githarness.store import layout, refs, trust
from githarness.store.derived import Derived
from githarness.store.objects import Store
from githarness.store.trust import Pin

# Marks that are remembered per store: an answer of `verify` and one of `export`, now and of late.
MOST_STATES = 8


def moving(store: Store) -> str:
    """Say where everything is that can move: main, and every ref of the ledger."""
    return f"{refs.tip(store.path, layout.MAIN)}-{refs.fingerprint(store.path, layout.LEDGER)}"


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """Where one kind of answer is kept for one store.

    `place` says where all of it is that the answer rests on; None when that cannot be told.
    """

    kind: str
    place: Callable[[], str | None]
    store: Store
    config: Path
    derived: Derived

    def recall(self) -> bytes | None:
        """Return what was kept for exactly this; None for anything that this user did not keep."""
        place, pin = self.place(), self._pin()
        if pin is None or place is None:
            return None
        key = self._key(place, pin)
        data = self.derived.get(key)
        return data if data is not None and _mark(key, data) in pin.states else None

    def keep(self, before: str | None, data: bytes) -> None:
        """Keep an answer that was found when all was as `before` said, if nothing has moved since."""
        place, pin = self.place(), self._pin()
        if pin is None or place is None or place != before:
            return
        key = self._key(place, pin)
        mark = _mark(key, data)
        # also where the mark is there: the cache may have been emptied since
        self.derived.put(key, data)
        if mark not in pin.states:
            # where the configuration cannot be written, the answer is found anew each time
            with suppress(StorageError):
                trust.update(self.config, self.store.path, lambda old: _with(old, mark))

    def forget(self) -> None:
        """Believe no answer that was kept for this store: something was found to be wrong."""
        if (pin := self._pin()) is not None and pin.states:
            trust.update(
                self.config, self.store.path, lambda old: old and msgspec.structs.replace(old, states=())
            )

    def _pin(self) -> Pin | None:
        return trust.read(self.config, self.store.path)

    def _key(self, place: str, pin: Pin) -> str:
        return f"{self.kind}-{self.store.path}-{place}-{(pin.ledger, pin.heads, pin.main)}"


def _mark(key: str, data: bytes) -> str:
    """Digest what is kept together with what it depends on: an older answer is no newer one."""
    return canon.sha256(key.encode() + b"\0" + data)


def _with(pin: Pin | None, mark: str) -> Pin | None:
    if pin is None or mark in pin.states:
        return pin
    return msgspec.structs.replace(pin, states=(*pin.states, mark)[-MOST_STATES:])
