"""Codex token counts: a running total that repeats, restarts and is inherited.

The gap this closes: summing what each event says counts re-emitted totals twice
(one report: 30 to 67 % too much), and a fork states its parent's total as its
own. The decision: the last total stands; one that fell began again, so the one
before it is added; what a replay states is where our own count begins.

What it does not do: it prices nothing. Cached tokens are inside the input.
"""

from typing import Any

import msgspec

Row = tuple[int, int, int, int]


def row(usage: dict[str, Any]) -> Row:
    """Return input, output, cached and written tokens; what is not a count is 0."""
    keys = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
    counts = [usage.get(key) for key in keys]
    first, second, third, fourth = (n if isinstance(n, int) and n >= 0 else 0 for n in counts)
    return (first, second, third, fourth)


def total(payload: dict[str, Any]) -> Row | None:
    """Return the running total that an event states, or None where it states none."""
    info = payload.get("info")
    usage = info.get("total_token_usage") if isinstance(info, dict) else payload.get("thread_token_usage")
    return row(usage) if isinstance(usage, dict) else None


class Tally(msgspec.Struct, kw_only=True):
    """`now` is the running total seen last, `before` what had run up when it last began."""

    before: Row = (0, 0, 0, 0)
    now: Row = (0, 0, 0, 0)

    def take(self, now: Row) -> Row:
        """Take the next running total; return the tokens of this session so far."""
        if now[0] + now[1] < self.now[0] + self.now[1]:
            self.before = _sum(self.before, self.now)
        self.now = now
        return _sum(self.before, now)

    def inherit(self, now: Row) -> None:
        """Take a total out of a replayed history: our own count begins after it."""
        self.now = now
        self.before = (-now[0], -now[1], -now[2], -now[3])


def _sum(left: Row, right: Row) -> Row:
    return (left[0] + right[0], left[1] + right[1], left[2] + right[2], left[3] + right[3])
