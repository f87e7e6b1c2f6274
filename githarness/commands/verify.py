"""verify: is main exactly what was decided, from object bytes and the pinned ledger id alone.

What it closes: a branch that is believed because of where it lies. The decision: every
step is explained by a mutation and its decisions, or is named with commit, path and
rule. Without a pin the answer is unknown. What this does not do: it repairs nothing.
"""

from pathlib import Path

import msgspec

from githarness.commands import governed
from githarness.commands.governed import Harness
from githarness.errors import NO, OK, UNKNOWN, HarnessError
from githarness.govern import ledger as ledgers
from githarness.govern import void
from githarness.propose import state
from githarness.store.objects import Store

HINT = (
    "githarness rollback ID takes back what landed without leave; git revert COMMIT a hand on main; "
    "an entry that is missing must be fetched from whoever has it"
)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that must be put right; `commit` is empty for a problem of the ledger."""

    commit: str
    path: str
    rule: str
    message: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: `ok` is None when no ledger is pinned. `void` lists entries that do not count.

    `unread` are refs below the ledger's that no entry can have, past the limit on count.
    """

    ok: bool | None
    ledger: str | None
    head: str
    state: str | None
    problems: tuple[Problem, ...]
    cured: tuple[Problem, ...]
    void: tuple[Problem, ...]
    in_force: tuple[str, ...]
    decisions: int
    unread: int
    hint: str

    @property
    def exit_code(self) -> int:
        """0 explained, 1 a problem, 4 nothing is pinned."""
        return UNKNOWN if self.ok is None else OK if self.ok else NO


def run(store: Store, config: Path) -> Result:
    """Replay main from the pinned root; remember what was verified."""
    harness = governed.load(store, config)
    governed.remember(harness, config)
    return result(harness)


def result(harness: Harness) -> Result:
    """Say what one reading found."""
    ledger, verdict = harness.ledger, harness.verdict
    if ledger is None or verdict is None:
        roots = ledgers.roots(harness.refs, blob=harness.blob)
        hint = f"githarness trust {next(iter(roots))}" if roots else "githarness policy init --key FILE"
        return Result(
            ok=None, ledger=None, head=harness.tip, state=_state(harness), problems=(), cured=(), void=(),
            in_force=(), decisions=0, unread=harness.unread, hint=hint,
        )  # fmt: skip
    return Result(
        ok=verdict.ok,
        ledger=ledger.id,
        head=harness.tip,
        state=_state(harness),
        problems=tuple(map(_problem, verdict.problems)),
        cured=tuple(map(_problem, verdict.cured)),
        void=tuple(
            Problem(commit="", path=one.ref, rule=one.rule, message=one.reason) for one in ledger.void
        ),
        in_force=tuple(one.landing.fingerprint for one in verdict.in_force),
        decisions=len(ledger.entries),
        unread=harness.unread,
        hint="" if verdict.ok else HINT,
    )


def _state(harness: Harness) -> str | None:
    try:
        return state.digest(harness.state)
    except HarnessError:
        return None


def _problem(one: void.Problem) -> Problem:
    return Problem(commit=one.commit, path=one.path, rule=one.rule, message=one.message)
