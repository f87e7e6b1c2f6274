"""The answer of `status` as text."""

from typing import Any

from githarness.render import escape
from githarness.render.log import moment


def text(result: Any) -> str:
    """Render counts, coverage, the last write, and every problem with its way out."""
    when = "never" if result.last_recorded is None else moment(result.last_recorded)
    agents = ", ".join(f"{escape.line(name)} {count}" for name, count in sorted(result.agents.items()))
    lines = [
        f"store     {escape.line(result.store)}",
        f"runs      {result.runs}" + (f" ({agents})" if agents else ""),
        f"surfaces  {result.surfaces}",
        f"coverage  {result.with_surface} of {result.runs} runs have a known surface",
        f"recorded  {when}",
        f"files     {result.files}, "
        + ("each hashed again" if result.complete else "not read; --full hashes them again"),
    ]
    if result.governed:
        lines += _governed(result)
    lines += [
        f"problem   {one.rule}  {escape.line(one.path)}: {escape.line(one.message)}"
        for one in result.problems
    ]
    if not result.problems and result.verified is not False:
        lines.append("nothing is wrong")
    elif result.problems:
        lines.append(f"{len(result.problems)} problem(s)")
    return "\n".join(lines)


def _governed(result: Any) -> list[str]:
    words = {
        True: "verified: what was decided, and nothing else",
        False: "NOT verified; githarness verify names each problem",
        None: "unknown: no ledger is pinned; githarness trust ID",
    }[result.verified]
    lines = [f"main      {words}"]
    if result.newest is not None:
        lines.append(f"ledger    its newest decision was signed {moment(result.newest)}")
    if result.alone:
        parts = ", ".join("everything" if name == "*" else escape.line(name) for name in result.alone)
        lines.append(f"alone     a proposer may approve their own: {parts}; githarness policy add ends it")
    lines.append(f"waiting   {result.waiting} proposal(s) that nobody has landed or rejected")
    return lines
