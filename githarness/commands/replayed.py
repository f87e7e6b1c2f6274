"""The answer of a replay as plain values: what `verify` says, and keeps for the next time.

What it does not do: it is no verb, and it renders nothing.
"""

from pathlib import Path
from typing import Any

from githarness.commands import governed
from githarness.commands.governed import Harness
from githarness.errors import HarnessError
from githarness.govern import void
from githarness.govern.replay import Verdict
from githarness.propose import state
from githarness.store.objects import Store

# What to do about a problem of the ledger, by its rule; one of main is cured where it stands.
_WAYS = {
    "policy-fork": "ask the root approvers which is meant, and delete the last signature of the other",
    "ledger-missing": "githarness trust shows which ledgers are here; ask the owner of the pinned one",
    "too-many": "delete the refs below refs/tags/githarness that nobody signed",
    "size": "delete the refs below refs/tags/githarness that nobody signed",
    "main-rewound": "push main again from a clone that has the commit which was verified here",
    "other-root": "push main again from a clone that has the root of this ledger",
}
_FETCH = (
    "git --git-dir={store} fetch REMOTE 'refs/tags/githarness/*:refs/tags/githarness/*', from whoever "
    "has it; where people agreed to delete it: githarness trust {ledger} --forget"
)
_REVERT = "in a clone: git revert {commit}, and push; githarness verify says when it is cured"


def replayed(store: Store, config: Path, ref: str | None, *, anew: bool) -> dict[str, Any]:
    """Replay main and pin what was verified; or `ref`, as if it were main, and pin nothing."""
    harness = governed.load(store, config, ref, anew=anew)
    if ref is None:
        governed.remember(harness, config)
    return _said(harness, is_main=ref is None)


def _said(harness: Harness, *, is_main: bool) -> dict[str, Any]:
    ledger, verdict = harness.ledger, harness.verdict
    found: dict[str, Any] = {
        "ok": None, "ledger": None, "head": harness.tip, "state": _state(harness), "problems": (),
        "cured": (), "void": (), "lost": (), "in_force": (), "decisions": 0, "unread": harness.unread,
        "replayed": True,
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
        "lost": tuple(ledger.entries[one].ref for one in ledger.lost),
        "in_force": tuple(one.landing.fingerprint for one in verdict.in_force),
        "decisions": len(ledger.entries),
        "hint": _way(harness, verdict, ledger.id, is_main=is_main),
    }


def _worst(harness: Harness, verdict: Verdict) -> void.Problem:
    """Return the problem to cure first: of those on main the newest that still shows."""
    astray = harness.walk.history().astray if harness.walk is not None else ()
    shown = [one for one in verdict.problems if one.commit and one.path in astray]
    return verdict.problems[0] if not shown or not verdict.problems[0].commit else shown[-1]


def _way(harness: Harness, verdict: Verdict, ledger: str, *, is_main: bool) -> str:
    """Say what cures the first problem; empty where there is none."""
    if not verdict.problems:
        return ""
    first = _worst(harness, verdict)
    landed = [one.landing.fingerprint for one in verdict.in_force if one.landing.path == first.path]
    if landed and not is_main:
        return f"githarness review {landed[0][:12]} shows what would land"
    if landed and first.rule in {"not-approved", "rejected"}:
        return f"githarness rollback {landed[0][:12]}, with --cascade where later changes rest on it"
    if first.rule in _WAYS:
        return _WAYS[first.rule]
    if first.commit:
        return _REVERT.format(commit=first.commit[:12])
    return _FETCH.format(store=harness.store.path, ledger=ledger[:12])


def _state(harness: Harness) -> str | None:
    try:
        return state.digest(harness.state)
    except HarnessError:
        return None


def _problem(one: void.Problem) -> dict[str, str]:
    return _words(one.commit, one.path, one.rule, one.message)


def _words(commit: str, path: str, rule: str, message: str) -> dict[str, str]:
    # a ref can have any bytes in its name, and an answer has not
    told = path.encode("utf-8", "backslashreplace").decode()
    return {"commit": commit, "path": told, "rule": rule, "message": message}
