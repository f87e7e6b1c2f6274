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
        f"waiting   {result.waiting} session(s) that a hook left for the next run",
        f"files     {result.files}, "
        + ("each hashed again" if result.complete else "not read; --full hashes them again"),
    ]
    lines += [
        f"problem   {one.rule}  {escape.line(one.path)}: {escape.line(one.message)}"
        for one in result.problems
    ]
    lines.append("nothing is wrong" if not result.problems else f"{len(result.problems)} problem(s)")
    return "\n".join(lines)
