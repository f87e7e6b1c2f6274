"""Governance in a few values, for `status`: is main verified, who decides alone, what waits.

What it does not do: it is no verb, pins nothing and renders nothing.
"""

from pathlib import Path
from typing import Any

from githarness.commands import governed
from githarness.govern.payload import Decision
from githarness.store import proposals
from githarness.store.objects import Store


def ruled(store: Store, config: Path) -> dict[str, Any]:
    """Return the answer of one replay; `waiting` is what has neither landed nor been rejected."""
    harness = governed.load(store, config)
    ledger, verdict, policy = harness.ledger, harness.verdict, harness.policy
    on_file = proposals.every(store)
    if ledger is None or verdict is None:
        return {"waiting": len(on_file), "verified": None, "newest": None, "alone": ()}
    payloads = (one.payload for one in ledger.entries.values())
    signed = (said.issued for said in payloads if isinstance(said, Decision))
    rejected = {
        name for name, _ in on_file if any(said.decision == "reject" for _, said in ledger.decisions(name))
    }
    done = rejected | {one.landing.fingerprint for one in verdict.in_force}
    rules = policy.rules if policy is not None else {}
    return {
        "waiting": sum(name not in done and commit not in verdict.spent for name, commit in on_file),
        "verified": verdict.ok,
        "newest": max(signed, default=None),
        "alone": tuple(sorted(name for name, rule in rules.items() if rule.self_approval)),
    }
