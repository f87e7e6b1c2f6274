"""Standing: what the signed decisions say of one mutation, in one place.

The gap this closes: "approved" that is stored is a word somebody wrote; computed from
whatever is signed, it follows from who signed what. The decision: three answers, and
the reason for each word that does not count. A "no" by an approver sticks to the
change itself, whatever base or commit it was given for, until that person takes it
back; a "yes" counts for exactly the document, base, result, branch and commit it
names. Principals are counted, not keys.

What it does not do: it lands nothing, and has no clock: expiry is checked when a time
is given (`apply`), and never when history is verified.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from githarness.govern.ledger import Ledger
from githarness.govern.payload import MAIN, Decision
from githarness.govern.policy import Policy, Rule
from githarness.govern.tag import Tag


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about. `proposer` is what the proposal says, and "" excludes nobody."""

    mutation: str
    document: str
    component: str
    proposer: str
    base: str
    result: str
    commit: str
    target: str = MAIN


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `reasons` say what is missing, or why a word that was given does not count."""

    verdict: Literal["pending", "approved", "rejected"]
    approved_by: tuple[str, ...] = ()
    rejected_by: tuple[str, ...] = ()
    # How many must agree; None when nobody may.
    needed: int | None = None
    # The decisions that carry the verdict: what is kept beside a change that lands.
    decisions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def standing(ledger: Ledger, policy: Policy, question: Question, *, now: int | None = None) -> Standing:
    """Answer under one policy; approved only by a ledger without problems."""
    given = ledger.decisions(question.mutation)
    rule = policy.rule(question.component)
    rejects = [one for one in given if _is_no(ledger, policy, question.component, one[1])]
    if rejects:
        return _rejected(rejects, rule)
    problems = [problem.message for problem in ledger.problems]
    if rule is None:
        return Standing(verdict="pending", reasons=(*problems, f"nobody may approve {question.component}"))
    return _counted(given, rule, question, problems, now)


def _counted(
    given: list[tuple[Tag, Decision]], rule: Rule, question: Question, problems: list[str], now: int | None
) -> Standing:
    obstacles = {tag.id: tuple(_obstacles(tag, word, rule, question, now)) for tag, word in given}
    approvals = [one for one in given if one[1].decision == "approve" and not obstacles[one[0].id]]
    names = _principals(approvals)
    missing = [] if len(names) >= rule.threshold else [f"{len(names)} of {rule.threshold} approvals"]
    unheard = [reason for reasons in obstacles.values() for reason in reasons]
    return Standing(
        verdict="pending" if missing or problems else "approved",
        approved_by=names,
        needed=rule.threshold,
        decisions=_ids(approvals),
        reasons=tuple(dict.fromkeys([*missing, *problems, *unheard])),
    )


def _rejected(rejects: list[tuple[Tag, Decision]], rule: Rule | None) -> Standing:
    names = _principals(rejects)
    return Standing(
        verdict="rejected",
        rejected_by=names,
        needed=None if rule is None else rule.threshold,
        decisions=_ids(rejects),
        reasons=tuple(dict.fromkeys(_rejection(payload) for _, payload in rejects)),
    )


def _rejection(payload: Decision) -> str:
    return f"{payload.principal} rejected it" + (f": {payload.reason}" if payload.reason else "")


def _principals(given: list[tuple[Tag, Decision]]) -> tuple[str, ...]:
    return tuple(sorted({payload.principal for _, payload in given}))


def _ids(given: list[tuple[Tag, Decision]]) -> tuple[str, ...]:
    return tuple(sorted(tag.id for tag, _ in given))


def _is_no(ledger: Ledger, policy: Policy, component: str, payload: Decision) -> bool:
    # An approver who has left since was one when they said no: taking their seat does
    # not take back their word.
    cited = ledger.version(payload.policy)
    then = cited is not None and cited.policy.may_approve(payload.principal, component)
    return payload.decision == "reject" and (then or policy.may_approve(payload.principal, component))


def _obstacles(tag: Tag, payload: Decision, rule: Rule, question: Question, now: int | None) -> Iterator[str]:
    who = payload.principal
    if who not in rule.approvers:
        yield f"{who} is no approver of {question.component}"
    if payload.decision == "reject":
        return
    if who == question.proposer and not rule.self_approval:
        yield f"{who} proposed it, and cannot approve it"
    for what, named, wanted in (
        ("document", payload.document, question.document),
        ("base", payload.base.state, question.base),
        ("result", payload.result, question.result),
        ("branch", payload.target, question.target),
        ("proposal commit", tag.target, question.commit),
    ):
        if named != wanted:
            yield f"{who} approved another {what}"
    if now is not None and payload.expires and now >= payload.expires:
        yield f"the approval of {who} has expired"
