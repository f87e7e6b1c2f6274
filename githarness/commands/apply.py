"""apply: land what may land, one commit each, and say of everything else why not.

What it closes: a change that lands because somebody wrote "approved" somewhere. The
decision: each proposal is asked again, here and now, against the ledger and what is in
force; what lands brings its document and the bytes of the decisions that allowed it.
What this does not do: it signs nothing and measures nothing.
"""

from pathlib import Path

import msgspec

from githarness.commands import filed, governed
from githarness.commands.filed import Proposal
from githarness.commands.governed import Harness
from githarness.errors import NO, OK, LockedError, RefusedError
from githarness.govern import landing, tag
from githarness.govern.ledger import Ledger
from githarness.govern.policy import Policy
from githarness.govern.standing import Standing
from githarness.propose import files as state_files
from githarness.propose import patch
from githarness.store import layout
from githarness.store import main as branch
from githarness.store.main import Moved
from githarness.store.objects import Store

# Whoever lands at the same time moves main; each try reads everything anew.
ATTEMPTS = 10


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One proposal; `commit` is its landing, or its proposal commit while it has none."""

    id: str
    commit: str
    reason: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What landed, and why the rest did not."""

    applied: tuple[Line, ...]
    pending: tuple[Line, ...]
    blocked: tuple[Line, ...]
    stale: tuple[Line, ...]
    deferred: tuple[Line, ...]
    note: str

    @property
    def exit_code(self) -> int:
        """0 when something landed, 1 when nothing did."""
        return OK if self.applied else NO


class _Call(msgspec.Struct, frozen=True):
    """What was asked for. Of `named` ids something is always said."""

    config: Path
    named: bool
    optimistic: bool
    now: int


class _Lists:
    """Where each proposal came to."""

    def __init__(self) -> None:
        self.applied: list[Line] = []
        self.pending: list[Line] = []
        self.blocked: list[Line] = []
        self.stale: list[Line] = []
        self.deferred: list[Line] = []

    def result(self) -> Result:
        """Close the lists with one honest sentence."""
        counts = {name: len(found) for name, found in vars(self).items()}
        note = ", ".join(f"{count} {name}" for name, count in counts.items())
        return Result(note=note, **{name: tuple(found) for name, found in vars(self).items()})


def run(store: Store, config: Path, prefixes: list[str], *, optimistic: bool, now: int) -> Result:
    """Land the named proposals, or every proposal on file."""
    harness = governed.load(store, config)
    _require_sound(harness)
    lists = _Lists()
    named = [filed.proposal(store, prefix) for prefix in prefixes]
    waiting: list[Proposal] = []
    for one in named or filed.every(store):
        if isinstance(one, str):
            lists.blocked.append(Line(id="", commit="", reason=one))
        else:
            waiting.append(one)
    call = _Call(config, bool(named), optimistic, now)
    for one in sorted(waiting, key=_largest_first):
        harness = _take(harness, one, lists, call)
    return lists.result()


def _require_sound(harness: Harness) -> None:
    _, _, verdict = governed.require(harness)
    if not verdict.ok:
        first = governed.said(verdict.problems[0])
        raise RefusedError(f"main is not verified, so nothing lands on it: {first}", hint="githarness verify")


def _largest_first(one: Proposal) -> tuple[list[int], str]:
    """Order bumps of one knob so that the largest is asked first."""
    numbers = [value for value in one.document.patch.set.values() if type(value) is int]
    return ([-number for number in numbers], one.id)


def _take(harness: Harness, one: Proposal, lists: _Lists, call: _Call) -> Harness:
    """Try to land one proposal; return the reading that holds afterwards."""
    for _ in range(ATTEMPTS):
        standing = _may_land(harness, one, lists, call)
        if standing is None:
            return harness
        landed = _land(harness, one, standing, call.now)
        harness = governed.load(harness.store, call.config, before=harness)
        if not isinstance(landed, Moved):
            governed.remember(harness, call.config)
            lists.applied.append(Line(id=one.id, commit=landed, reason=_ground(standing)))
            return harness
        _require_sound(harness)
    raise LockedError(
        f"main moved {ATTEMPTS} times while {one.id[:12]} was landing", hint=f"githarness apply {one.id[:12]}"
    )


def _ground(standing: Standing) -> str:
    names = ", ".join(standing.approved_by)
    return f"approved by {names}" if names else "optimistic: bounded numbers that the policy lists"


def _may_land(harness: Harness, one: Proposal, lists: _Lists, call: _Call) -> Standing | None:
    """Return the standing a landing rests on; None when it may not land, with the reason listed."""
    ledger, policy, _ = governed.require(harness)

    def put(where: list[Line], reason: str) -> None:
        where.append(Line(id=one.id, commit=one.commit, reason=reason))

    if filed.is_in_force(harness, one):
        if call.named:
            put(lists.stale, "it is in force already")
        return None
    if one.document.patch.design is not None:
        put(lists.deferred, "a design: a person turns it into a change")
        return None
    # A clock that was set back must not revive an approval: no entry is from the future.
    now = max([call.now, *(entry.seconds for entry in ledger.entries.values())])
    standing = filed.stands(harness, one, now)
    if standing.verdict == "rejected":
        put(lists.blocked, "; ".join(standing.reasons))
        return None
    stale = filed.staleness(harness, one)
    if stale:
        put(lists.stale, f"{stale}; githarness propose --again {one.id[:12]}")
        return None
    ground = landing.ground(ledger, policy, one.document, harness.state.declaration, standing)
    if ground == "approved" or (ground == "optimistic" and call.optimistic):
        return standing
    waits = "it may land unasked: githarness apply --optimistic" if ground == "optimistic" else ""
    put(lists.pending, waits or "; ".join(standing.reasons) or "nobody has decided")
    return None


def _land(harness: Harness, one: Proposal, standing: Standing, now: int) -> str | Moved:
    ledger, policy, _ = governed.require(harness)
    of = harness.state
    before, after = state_files.files(of), state_files.files(patch.apply(one.document.patch, of))
    writes = {path: data for path, data in after.items() if before.get(path) != data}
    writes[layout.mutation(one.digest)] = one.data
    writes |= _decisions(ledger, standing)
    return branch.land(
        harness.store,
        base=harness.tip,
        writes=writes,
        removes=[path for path in before if path not in after],
        message=_message(one, standing, policy),
        now=now,
    )


def _decisions(ledger: Ledger, standing: Standing) -> dict[str, bytes]:
    """Return the tags that allow a landing, as files: a lost tag can be restored from them."""
    entries = [ledger.entries[name] for name in standing.decisions]
    return {tag.file_of_ref(entry.ref): entry.data for entry in entries}


def _message(one: Proposal, standing: Standing, policy: Policy) -> str:
    summary = "; ".join(patch.summary(one.document.patch))[:200]
    trailers = [
        f"Mutation: {one.id}",
        f"Document: {one.digest}",
        f"Component: {one.document.contract.component}",
    ]
    trailers += [f"Approved-by: {name}" for name in standing.approved_by]
    trailers.append(f"Policy-version: {policy.version}")
    return f"apply: {summary}\n\n{chr(10).join(trailers)}\n"
