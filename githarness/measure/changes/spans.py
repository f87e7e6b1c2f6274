"""The differing span of two texts, with context.

The gap this closes: a fixed prefix of both sides shows the same words twice when the
change stands further down. The decision: trim what both sides share from either end,
keep everything between whole, and show forty characters around it.

What it does not do: it finds one span; two small edits far apart come out as one long
span, which is complete and longer than it could be.
"""

from bisect import bisect_left
from typing import Any

from msgspec import UNSET

from githarness import canon
from githarness.measure.changes.change import Span

# Enough to recognise a sentence, little enough for one terminal line with both sides.
CONTEXT = 40


def spans(was: Any, now: Any) -> tuple[Span | None, Span | None]:
    """Return the differing span of both sides; None for a side that is UNSET."""
    left = None if was is UNSET else shown(was)
    right = None if now is UNSET else shown(now)
    if left is None or right is None:
        return _whole(left), _whole(right)
    head = _shared(left, right)
    tail = _shared(left[head:][::-1], right[head:][::-1])
    return _span(left, head, len(left) - tail), _span(right, head, len(right) - tail)


def shown(value: Any) -> str:
    """Return a string as it is and anything else as minimal JSON in its own order."""
    return value if isinstance(value, str) else canon.compact(value, sort=False).decode("utf-8")


def _shared(left: str, right: str) -> int:
    """Count the characters that both begin with, by halving: slices compare faster than a loop."""
    lengths = range(1, min(len(left), len(right)) + 1)
    return bisect_left(lengths, True, key=lambda length: left[:length] != right[:length])


def _whole(text: str | None) -> Span | None:
    return None if text is None else _span(text, 0, len(text))


def _span(text: str, start: int, end: int) -> Span:
    first, last = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
    window = text[first:last]
    return Span(text=window, start=start - first, end=end - first, offset=first, length=len(text))
