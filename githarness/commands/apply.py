"""apply: land what may land, one commit each, and say of everything else why not.

What it closes: a change that lands because somebody wrote "approved" somewhere. The
decision: each proposal is asked again, here and now, against the ledger and what is in
force; what lands brings its document and the bytes of the decisions that allowed it.
What this does not do: it signs nothing and measures nothing.
"""

from pathlib import Path
from typing import Literal

import msgspec

from githarness.commands import filed, governed, signed
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


class Leave(msgspec.Struct, frozen=True):
    """What a landing rests on: the standing that approves it, or None where nobody was asked."""

    standing: Standing | None

    @property
    def approved_by(self) -> tuple[str, ...]:
        """Whose words allow it."""
        return self.standing.approved_by if self.standing is not None else ()

    @property
    def entries(self) -> tuple[str, ...]:
        """The decisions that allow it, which land beside the change."""
        return self.standing.decisions if self.standing is not None else ()

    @property
    def said(self) -> str:
        """The ground in words."""
        if self.standing is None:
            return "optimistic: bounded numbers that the policy lists"
        return f"approved by {', '.join(self.approved_by)}"


class Held(msgspec.Struct, frozen=True):
    """Why something does not land: the name of the list it goes to, and the reason."""

    where: Literal["pending", "blocked", "stale", "deferred"]
    reason: str


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

    def hold(self, one: Proposal, held: Held | None) -> None:
        """List what does not land, if there is a word to be said of it."""
        if held is not None:
            where: list[Line] = getattr(self, held.where)
            where.append(Line(id=one.id, commit=one.commit, reason=held.reason))

    def result(self) -> Result:
        """Close the lists with one honest sentence."""
        counts = {name: len(found) for name, found in vars(self).items()}
        note = ", ".join(f"{count} {name}" for name, count in counts.items())
        return Result(note=note, **{name: tuple(found) for name, found in vars(self).items()})


def run(store: Store, config: Path, prefixes: list[str], *, optimistic: bool, now: int) -> Result:
    """Land the named proposals, or every proposal on file."""
    harness = governed.load(store, config)
    _require_sound(harness)
    signed.restore(harness)
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
        found = _asked(harness, one, call)
        if not isinstance(found, Leave):
            lists.hold(one, found)
            return harness
        landed = _land(harness, one, found, call.now)
        harness = governed.load(harness.store, call.config, before=harness)
        if not isinstance(landed, Moved):
            governed.remember(harness, call.config)
            lists.applied.append(Line(id=one.id, commit=landed, reason=found.said))
            return harness
        _require_sound(harness)
    raise LockedError(
        f"main moved {ATTEMPTS} times while {one.id[:12]} was landing", hint=f"githarness apply {one.id[:12]}"
    )


def _asked(harness: Harness, one: Proposal, call: _Call) -> Leave | Held | None:
    """Say on what ground a proposal may land, or why it may not; None for what needs no word."""
    ledger, _, _ = governed.require(harness)
    if filed.is_in_force(harness, one):
        return Held("stale", "it is in force already") if call.named else None
    if one.document.patch.design is not None:
        return Held("deferred", "a design: a person turns it into a change")
    # A clock that was set back must not revive an approval: no entry is from the future.
    now = max([call.now, *(entry.seconds for entry in ledger.entries.values())])
    standing = filed.stands(harness, one, now)
    if standing.verdict == "rejected":
        return Held("blocked", "; ".join(standing.reasons))
    stale = filed.staleness(harness, one)
    if stale:
        way = filed.way_on(harness, one)
        return Held("stale", f"{stale}; {way}" if way else stale)
    return _ground(harness, one, standing, call)


def _ground(harness: Harness, one: Proposal, standing: Standing, call: _Call) -> Leave | Held:
    ledger, policy, _ = governed.require(harness)
    ground = landing.ground(ledger, policy, one.document, harness.state.declaration, standing)
    if ground == "approved":
        return Leave(standing)
    if ground == "optimistic":
        waits = "it may land unasked: githarness apply --optimistic"
        return Leave(None) if call.optimistic else Held("pending", waits)
    return Held("pending", "; ".join(standing.reasons) or "nobody has decided")


def _land(harness: Harness, one: Proposal, leave: Leave, now: int) -> str | Moved:
    ledger, policy, _ = governed.require(harness)
    of = harness.state
    before, after = state_files.files(of), state_files.files(patch.apply(one.document.patch, of))
    writes = {path: data for path, data in after.items() if before.get(path) != data}
    writes[layout.mutation(one.digest)] = one.data
    writes |= _decisions(ledger, leave.entries)
    return branch.land(
        harness.store,
        base=harness.tip,
        writes=writes,
        removes=[path for path in before if path not in after],
        message=_message(one, leave, policy),
        now=now,
    )


def _decisions(ledger: Ledger, names: tuple[str, ...]) -> dict[str, bytes]:
    """Return the tags that allow a landing, as files: a lost tag can be restored from them."""
    entries = [ledger.entries[name] for name in names]
    return {tag.file_of_ref(entry.ref): entry.data for entry in entries}


def _message(one: Proposal, leave: Leave, policy: Policy) -> str:
    summary = "; ".join(patch.summary(one.document.patch))[:200]
    trailers = [
        f"Mutation: {one.id}",
        f"Document: {one.digest}",
        f"Component: {one.document.contract.component}",
    ]
    trailers += [f"Approved-by: {name}" for name in leave.approved_by]
    trailers.append(f"Policy-version: {policy.version}")
    return f"apply: {summary}\n\n{chr(10).join(trailers)}\n"
