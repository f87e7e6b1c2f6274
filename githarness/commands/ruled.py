"""Governance in a few values, for `status`: is main verified, who decides alone, what waits.

What it does not do: it is no verb, pins nothing and renders nothing.
"""

from pathlib import Path
from typing import Any

from githarness.commands import filed, governed
from githarness.commands.filed import Proposal
from githarness.commands.governed import Harness
from githarness.govern.payload import Decision
from githarness.store import proposals
from githarness.store.objects import Store


def ruled(store: Store, config: Path) -> dict[str, Any]:
    """Return the answer of one replay; `waiting` is what has neither landed nor been rejected."""
    harness = governed.load(store, config)
    if harness.ledger is None or harness.verdict is None:
        return {"waiting": len(proposals.every(store)), "verified": None, "newest": None, "alone": ()}
    payloads = (one.payload for one in harness.ledger.entries.values())
    rules = harness.policy.rules if harness.policy is not None else {}
    return {
        "waiting": sum(_waits(harness, one) for one in filed.every(store)),
        "verified": harness.verdict.ok,
        "newest": max((said.issued for said in payloads if isinstance(said, Decision)), default=None),
        "alone": tuple(sorted(name for name, rule in rules.items() if rule.self_approval)),
    }


def _waits(harness: Harness, one: Proposal | str) -> bool:
    if isinstance(one, str) or filed.has_landed(harness, one):
        return False
    return filed.stands(harness, one).verdict != "rejected"
