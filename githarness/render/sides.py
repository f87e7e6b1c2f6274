"""Two columns: what was recorded and what came instead, aligned to be read."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from githarness.render import escape

# Narrower than this two columns cut every name.
WIDE = 72


def folded(one: Any, width: int) -> list[str]:
    """Render what follows the verdict: side by side where it fits, else one below the other."""
    if not any(row.expected or row.actual for row in one.rows):
        return []
    lines = [f"from call {one.start + 1} on, aligned to be read and not counted:"]
    for row in one.rows:
        lines += _wide(row, width) if width >= WIDE else _narrow(row)
    if one.omitted:
        lines.append(f"  … {one.omitted} more calls")
    return lines


def _wide(row: Any, width: int) -> Iterator[str]:
    column = (width - 6) // 2
    mark = " " if row.same else "|"
    if row.same and len(row.expected) > 2:
        yield f"    {len(row.expected)} equal calls, {escape.short(row.expected[0], column)} and on"
        return
    for want, got in zip_longest(row.expected, row.actual, fillvalue=""):
        left, right = escape.short(want, column - 4), escape.short(got, column - 4)
        yield f"  {left:<{column}} {mark} {right}".rstrip()


def _narrow(row: Any) -> Iterator[str]:
    if row.same:
        yield f"    {len(row.expected)} equal call(s)"
        return
    yield from (f"  - {escape.line(name)}" for name in row.expected)
    yield from (f"  + {escape.line(name)}" for name in row.actual)
