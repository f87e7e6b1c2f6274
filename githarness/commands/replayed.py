"""The answer of a replay as plain values: what `verify` says, and keeps for the next time.

What it does not do: it is no verb, and it renders nothing.
"""

from pathlib import Path
from typing import Any

from githarness.commands import governed
from githarness.commands.governed import Harness
from githarness.errors import HarnessError
from githarness.govern import void
from githarness.propose import state
from githarness.store.objects import Store

HINT = (
    "githarness rollback ID takes back what landed without leave; git revert COMMIT a hand on main; "
    "an entry that is missing must be fetched from whoever has it"
)


def replayed(store: Store, config: Path, ref: str | None, *, anew: bool) -> dict[str, Any]:
    """Replay main and pin what was verified; or `ref`, as if it were main, and pin nothing."""
    harness = governed.load(store, config, ref, anew=anew)
    if ref is None:
        governed.remember(harness, config)
    return _said(harness)


def _said(harness: Harness) -> dict[str, Any]:
    ledger, verdict = harness.ledger, harness.verdict
    found: dict[str, Any] = {
        "ok": None, "ledger": None, "head": harness.tip, "state": _state(harness), "problems": (),
        "cured": (), "void": (), "in_force": (), "decisions": 0, "unread": harness.unread, "replayed": True,
    }  # fmt: skip
    if ledger is None or verdict is None:
        return {**found, "hint": governed.pin_hint(harness)}
    return {
        **found,
        "ok": verdict.ok,
        "ledger": ledger.id,
        "problems": tuple(map(_problem, verdict.problems)),
        "cured": tuple(map(_problem, verdict.cured)),
        "void": tuple(_words("", one.ref, one.rule, one.reason) for one in ledger.void),
        "in_force": tuple(one.landing.fingerprint for one in verdict.in_force),
        "decisions": len(ledger.entries),
        "hint": "" if verdict.ok else HINT,
    }


def _state(harness: Harness) -> str | None:
    try:
        return state.digest(harness.state)
    except HarnessError:
        return None


def _problem(one: void.Problem) -> dict[str, str]:
    return _words(one.commit, one.path, one.rule, one.message)


def _words(commit: str, path: str, rule: str, message: str) -> dict[str, str]:
    return {"commit": commit, "path": path, "rule": rule, "message": message}
