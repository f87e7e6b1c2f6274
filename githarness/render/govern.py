"""The answers of the verbs of governance as text."""

from collections.abc import Sequence
from typing import Any

from githarness.render import escape
from githarness.render.log import moment

# Whoever can push can make a hundred thousand of anything; a screen shows these.
SHOWN = 20


def proposed(result: Any) -> str:
    """Render what was filed, refused and deferred, with the next command."""
    lines = []
    for one in result.proposals:
        state = "proposed" if one.created else "on file"
        standing = "in force" if one.in_force else one.standing
        need = "needs a person" if one.needs_person else "bounded numbers only"
        lines.append(f"{state:<9} {one.id[:12]}  {one.component}  {standing}  {need}")
        lines.append(f"          {escape.line(one.summary)}")
        lines += [f"          {_event(event)}" for event in one.history]
        lines.append(f"          next: {_next(one)}")
    for one in result.refused:
        lines.append(f"refused   {escape.line(one.reason)}")
        lines += [f"          hint: {escape.line(one.hint)}"] if one.hint else []
    lines += [f"deferred  {escape.line(one.reason)}" for one in result.deferred]
    if result.note:
        lines.append(escape.line(result.note))
    return "\n".join(lines) or "nothing to propose"


def _next(one: Any) -> str:
    if one.again:
        return f"githarness propose --again {one.id[:12]}"
    if one.in_force:
        return f"it is in force; githarness rollback {one.id[:12]} takes it back"
    return f"githarness review {one.id[:12]}"


def _event(event: Any) -> str:
    when = "" if event.when is None else moment(event.when)
    parts = (f"{event.what:<11}", escape.line(event.who), when, event.where[-40:], escape.line(event.reason))
    return "  ".join(part for part in parts if part)


def reviewed(result: Any) -> str:
    """Render a review: exactly its text, then what stands outside it."""
    lines = [result.text.rstrip("\n"), "", f"digest    {result.digest}", f"standing  {result.standing}"]
    lines += [f"          {escape.line(one)}" for one in result.reasons]
    return "\n".join([*lines, "judgement unmeasured"])


def decided(result: Any) -> str:
    """Render a decision and where the proposal stands now."""
    lines = [f"{result.decision}  {result.id[:12]}  now {result.standing}", f"tag       {result.tag}"]
    lines += [f"          {escape.line(one)}" for one in result.reasons]
    follow = {"approved": f"githarness apply {result.id[:12]}"}.get(result.standing)
    return "\n".join([*lines, *([f"next      {follow}"] if follow else [])])


def applied(result: Any) -> str:
    """Render every list with its reasons; of what did not land, as much as a screen shows."""
    lines = [f"applied   {one.id[:12]}  {escape.line(one.reason)}" for one in result.applied]
    for name in ("pending", "blocked", "stale", "deferred"):
        found = getattr(result, name)
        lines += [f"{name:<9} {one.id[:12]}  {escape.line(one.reason)}" for one in found[:SHOWN]]
        lines += _more(name, found)
    return "\n".join([*lines, result.note])


def _more(title: str, found: Sequence[Any]) -> list[str]:
    more = len(found) - SHOWN
    return [f"{title:<9} and {more} more; --json lists all of them"] if more > 0 else []


def rolled_back(result: Any) -> str:
    """Render what was taken back."""
    undone = ", ".join(one[:12] for one in result.undone)
    return f"rolled back {undone} in {result.commit[:12]}\nstate {result.state}"


def verified(result: Any) -> str:
    """Render the answer, then each problem by commit, path and rule."""
    words = {True: "verified", False: "NOT verified", None: "unknown: no ledger is pinned"}[result.ok]
    before = "" if result.replayed else " (nothing moved since it was replayed; --all replays it)"
    lines = [f"{words}: {escape.line(result.ref)} at {result.head[:12]}{before}"]
    if result.ledger:
        lines.append(f"ledger    {result.ledger}  ({result.decisions} entries)")
    lines.append(f"state     {result.state or 'unreadable'}")
    if result.ok is not None:
        lines.append(f"in force  {_in_force(result.in_force)}")
    for title, found in (("problem", result.problems), ("cured", result.cured), ("void", result.void)):
        for one in found[:SHOWN]:
            where = " ".join(part for part in (one.commit[:12], escape.line(one.path)) if part)
            lines.append(f"{title:<9} {one.rule}  {where}: {escape.line(one.message)}")
        lines += _more(title, found)
    if result.lost:
        lines.append(f"lost      {len(result.lost)} tags; their copies on main count; apply restores them")
    if result.unread:
        lines.append(f"unread    {result.unread} more refs below the ledger's, which are no entries")
    if result.hint:
        lines.append(f"hint: {result.hint}")
    return "\n".join(lines)


def _in_force(ids: Sequence[str]) -> str:
    """List what landed last."""
    if len(ids) > SHOWN:
        return f"{len(ids)} mutations, the last {_in_force(ids[-SHOWN:])}; --json lists all of them"
    return ", ".join(one[:12] for one in ids) or "nothing but the defaults"


def policy(result: Any) -> str:
    """Render a policy: who holds which key, who may approve what."""
    if result.policy is None:
        return "no policy"
    found, state = result.policy, "in force" if result.in_force else "waiting"
    lines = [
        f"ledger    {result.ledger}",
        f"policy    {result.digest}  version {found['version']}  {state}",
    ]
    for name, held in found["keys"].items():
        lines += [f"key       {escape.line(name)}  {escape.line(one)}" for one in held]
    root = found["root"]
    lines.append(f"root      {root['threshold']} of {', '.join(root['approvers'])}")
    for component, rule in found["rules"].items():
        own = "own proposals too" if rule["self_approval"] else "not their own"
        lines.append(f"rule      {component}: {rule['threshold']} of {', '.join(rule['approvers'])}, {own}")
    lines.append(f"unasked   {', '.join(found['optimistic']) or 'nothing'}")
    lines += [f"revoked   {one}" for one in found["revoked"]]
    if result.note:
        lines.append(escape.line(result.note))
    return "\n".join(lines)


def trusted(result: Any) -> str:
    """Render what is pinned, and what could be."""
    lines = [f"store     {escape.line(result.store)}", f"pinned    {result.ledger or 'nothing'}"]
    for digest, people in result.candidates.items():
        lines.append(f"ledger    {digest}")
        for name, held in people.items():
            lines += [f"          {escape.line(name)}  {one}" for one in held]
    return "\n".join([*lines, *([result.note] if result.note else [])])


def stories(result: Any) -> str:
    """Render each change with what happened to it."""
    lines = []
    for one in result.mutations:
        undone = one.events[-1].what == "rolled back"
        state = "in force" if one.in_force else "rolled back" if undone else one.standing
        lines.append(f"{one.id[:12]}  {state:<11}  {one.component}  {escape.line(one.summary)}")
        lines += [f"    {_event(event)}" for event in one.events]
    lines += [f"unreadable  {escape.line(one)}" for one in result.unreadable[:SHOWN]]
    lines += _more("unreadable", result.unreadable)
    return "\n".join([*lines, f"{len(result.mutations)} mutation(s)"])
