"""Snapshot: where main is, and every entry of the ledger, in this order.

The gap this closes: entries that were read before main lack what somebody signed and
landed in between, and an honest store looks broken. The decision: one reading, main
first. It can be begun while Python still loads what judges it (`Store.begin`).

What it does not do: it judges nothing.
"""

import msgspec

from githarness.store import main, tags
from githarness.store.objects import Store
from githarness.store.tags import Listing


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that main is at, and what stood at the ledger's refs after that."""

    tip: str
    listing: Listing


def read(store: Store) -> Snapshot:
    """Read both; MissingError in a store without main."""
    return Snapshot(tip=main.tip(store), listing=tags.every(store))
