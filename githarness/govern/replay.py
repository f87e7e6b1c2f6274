"""Replay: is main what was decided? Every landing asked again, under the policy of its place.

The gap this closes: a verdict on a branch that depends on today's keys calls yesterday's
honest work unauthorised, and one that depends on the order of pushes lets an old "yes"
land twice. The decision: a step is judged by the version of the policy whose `main` lies
before it; a proposal commit lands once; a mutation that is no longer in force is not
judged again, so that `rollback` cures. There is no clock.

What it does not do: it repairs nothing and remembers nothing.
"""

from collections.abc import Collection

import msgspec

from githarness.govern import landing as landings
from githarness.govern import standing as standings
from githarness.govern.history import History, Undoing
from githarness.govern.landing import Ground
from githarness.govern.ledger import Ledger
from githarness.govern.policy import Policy
from githarness.govern.standing import Question, Standing
from githarness.govern.step import Landing
from githarness.govern.void import Problem
from githarness.propose.state import State


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """A landing and the ground it stands on, with the decisions that say so."""

    landing: Landing
    ground: Ground
    standing: Standing


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a reading of main and ledger together found."""

    ok: bool
    head: str
    state: State | None
    # Everything that is in force, in the order in which it landed.
    in_force: tuple[Allowed, ...]
    problems: tuple[Problem, ...]
    cured: tuple[Problem, ...]
    # Proposal commits that have landed: no approval of them counts again.
    spent: frozenset[str]
    # All that ever landed, and what of it was taken back.
    landings: tuple[Landing, ...]
    undone: tuple[Undoing, ...]


def judge(history: History, ledger: Ledger) -> Verdict:
    """Judge an explained history; with any problem left, the answer is no."""
    timeline, problems = _timeline(history, ledger)
    problems += [*ledger.problems, *history.problems]
    cured = list(history.cured)
    in_force: list[Allowed] = []
    spent: dict[str, int] = {}
    for landing in history.landings:
        policy = _in_force_at(timeline, landing.index)
        if policy is None:
            continue
        allowed = _allowed(ledger, policy, landing, spent)
        stands = history.in_force.get(landing.digest) is landing
        if allowed.ground not in {"approved", "optimistic"}:
            (problems if stands else cured).append(_unallowed(allowed))
        if stands:
            in_force.append(allowed)
    return Verdict(
        ok=not problems,
        head=history.commits[-1] if history.commits else "",
        state=history.state,
        in_force=tuple(in_force),
        problems=tuple(problems),
        cured=tuple(cured),
        spent=frozenset(spent),
        landings=history.landings,
        undone=history.undone,
    )


def rewound(seen: str, contained: Collection[str]) -> tuple[Problem, ...]:
    """Return the problem of a main that does not contain what was verified here before."""
    if not seen or seen in contained:
        return ()
    words = f"main does not contain {seen}, which was verified here before"
    return (Problem(seen, "", "main-rewound", words),)


def _timeline(history: History, ledger: Ledger) -> tuple[list[tuple[int, Policy]], list[Problem]]:
    """Return from which place on each policy judges."""
    places = {commit: index for index, commit in enumerate(history.commits)}
    timeline: list[tuple[int, Policy]] = []
    problems: list[Problem] = []
    for version in ledger.versions:
        main = version.policy.main
        place = places.get(main)
        least = timeline[-1][0] if timeline else 0
        if place is None or place < least or (not timeline and place != 0):
            what = "is not the root of main" if not timeline else "is not on main after the version before it"
            words = f"version {version.policy.version} of the policy takes force at {main}, which {what}"
            problems.append(Problem(main, "", "policy-place", words))
            place = least
        timeline.append((place, version.policy))
    return timeline, problems


def _in_force_at(timeline: list[tuple[int, Policy]], index: int) -> Policy | None:
    """Return the policy that judges a step: the newest whose place lies before it."""
    found = [policy for place, policy in timeline if place < index]
    return found[-1] if found else None


def _allowed(ledger: Ledger, policy: Policy, landing: Landing, spent: dict[str, int]) -> Allowed:
    """Find the ground of a landing, and mark the proposal commit that it uses up."""
    unspent = [
        commit for commit in _named(ledger, landing) if spent.get(commit, landing.index) == landing.index
    ]
    asked = [(commit, _standing(ledger, policy, landing, commit)) for commit in unspent]
    asked.append(("", _standing(ledger, policy, landing, "")))
    # The first of the best: with equal words, the one that was signed first landed first.
    commit, standing = max(asked, key=lambda one: (one[1].verdict == "approved", len(one[1].approved_by)))
    # Approved or not, it has landed, and lands once.
    if commit:
        spent[commit] = landing.index
    ground = landings.ground(ledger, policy, landing.document, landing.declaration, standing)
    return Allowed(landing=landing, ground=ground, standing=standing)


def _named(ledger: Ledger, landing: Landing) -> list[str]:
    """Return the proposal commits for which somebody approved this document, in the order of signing."""
    found: dict[str, int] = {}
    for tag, payload in ledger.decisions(landing.fingerprint):
        if payload.decision == "approve" and payload.document == landing.digest:
            found[tag.target] = min(payload.issued, found.get(tag.target, payload.issued))
    return sorted(found, key=lambda commit: (found[commit], commit))


def _standing(ledger: Ledger, policy: Policy, landing: Landing, commit: str) -> Standing:
    document = landing.document
    question = Question(
        mutation=landing.fingerprint,
        document=landing.digest,
        component=document.contract.component,
        proposer=document.proposer,
        base=landing.base,
        result=landing.result,
        commit=commit,
    )
    return standings.standing(ledger, policy, question)


def _unallowed(allowed: Allowed) -> Problem:
    landing = allowed.landing
    rule = "rejected" if allowed.ground == "rejected" else "not-approved"
    words = "; ".join(allowed.standing.reasons) or "nobody approved it"
    return Problem(landing.commit, landing.path, rule, words)
