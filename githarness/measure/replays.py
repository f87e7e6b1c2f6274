"""Replays: what several replays of one recording say together.

The gap this closes: a replay against a sampling model is one draw. On public runs of
one model, one prompt and one set of tools, 27 % of pairs part at the first call and
three in four have parted after the third, so a single difference says nothing. The
decision: rates over n replays with their intervals, a curve of how long they agree,
a table of where they fork, and the same numbers held against replays of an
unchanged harness. Only a departure beyond that band is called one.

All numbers are exact: integers and fractions, rounded outwards where a root is
taken, so that two machines print the same report. "Passes" here is a replay that
takes no structural divergence to the end of its recording; the estimators serve any
other meaning as well.

What it does not do: it runs no replay, and it pools no recordings (replays of
several recordings are not draws of one thing).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, isqrt

import msgspec

from githarness.measure import divergence
from githarness.measure.divergence import Comparison

# The two-sided 95 % point of the normal distribution, to the digits of a double.
Z = Fraction(1959963984540054, 10**15)

# What a report may be wrong about, one time in twenty: one-sided floors and the band.
ALPHA = Fraction(1, 20)

# Bounds are multiples of this, rounded outwards: no sample of replays says more.
GRID = 10**6

# The exact test sums over all ways to draw labels, in integers that grow with the
# square of their number: 50 and 50 take 0.1 s, twice as many twenty times that.
LABELS = 50

# Rates over more replays than this are asked for by name.
KS = 8

MATCHES = "matches"
WITHIN_BAND = "within_band"
EXCEEDS_BAND = "exceeds_band"
OFF_TAPE = divergence.OFF_TAPE
UNKNOWN = "unknown"


class Interval(msgspec.Struct, frozen=True):
    """Two bounds of a rate, both multiples of one millionth."""

    low: Fraction
    high: Fraction


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Chances over k replays: that one of them passes, and that all do.

    The rates are None where fewer than k replays were decided, and so are the bounds.
    A rate is unbiased, the bounds are those of the passing rate carried over: near
    k = n the rate is 0 or 1 and may lie outside them.
    """

    k: int
    any_passes: Fraction | None
    any_bounds: Interval | None
    all_pass: Fraction | None
    all_bounds: Interval | None


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The share of replays still on the recorded way after `after` calls.

    `at_risk` replays got as far as that call. Between points the share stays as it is.
    """

    after: int
    at_risk: int
    share: Fraction


class Fork(msgspec.Struct, frozen=True, kw_only=True):
    """How many replays left at this call in this way. Names are None for "no call"."""

    index: int
    kind: str
    expected: str | None
    actual: str | None
    count: int


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """The replays against those of an unchanged harness.

    `chance` is how often labels drawn by lot make these replays leave as early as
    they did; `least` is the smallest value it could take with so few replays.
    """

    replays: int
    same: int
    chance: Fraction
    least: Fraction

    @property
    def exceeded(self) -> bool | None:
        """Whether the replays leave earlier than chance explains; None when too few to tell."""
        return None if self.least > ALPHA else self.chance <= ALPHA


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything said of n replays of one recording.

    `undecided` replays were cut where the recording has no result to serve, and are
    in no rate. `other_arguments` of those on tape asked for something else in the same
    calls, which is no departure. `floor` is what the passing rate is at least, one-sided.
    """

    verdict: str
    replays: int
    on_tape: int
    other_arguments: int
    undecided: int
    bounds: Interval | None
    floor: Fraction | None
    estimates: tuple[Estimate, ...]
    curve: tuple[Point, ...]
    forks: tuple[Fork, ...]
    band: Band | None
    note: str


def pass_at(n: int, passed: int, k: int) -> Fraction | None:
    """Chance that at least one of k passes, unbiased from n (Chen et al. 2021); None for k > n."""
    _check(n, passed, k)
    return 1 - Fraction(comb(n - passed, k), comb(n, k)) if k <= n else None


def pass_all(n: int, passed: int, k: int) -> Fraction | None:
    """Chance that all of k pass, unbiased from n; None for k > n, which n cannot tell."""
    _check(n, passed, k)
    return Fraction(comb(passed, k), comb(n, k)) if k <= n else None


def _check(n: int, passed: int, k: int) -> None:
    if not 0 <= passed <= n or k < 1:
        raise ValueError(f"no such sample: {passed} of {n} passed, asked for {k}")


def mean(
    cases: Sequence[tuple[int, int]], k: int, rate: Callable[[int, int, int], Fraction | None]
) -> Fraction | None:
    """Average a rate over tasks given as (n, passed); tasks with fewer than k runs say nothing."""
    known = [found for n, passed in cases if (found := rate(n, passed, k)) is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def wilson(n: int, passed: int) -> Interval | None:
    """Bound the passing rate on both sides at 95 %; None without a replay."""
    if n == 0:
        return None
    _check(n, passed, 1)
    square = Z * Z
    middle = 2 * passed + square
    inside = square * (square + Fraction(4 * passed * (n - passed), n))
    root = _root_above(inside)
    below = 2 * (n + square)
    low = Fraction(0) if passed == 0 else _down((middle - root) / below)
    high = Fraction(1) if passed == n else _up((middle + root) / below)
    return Interval(low, high)


def _root_above(value: Fraction) -> Fraction:
    scale = 10**24
    return Fraction(isqrt(value.numerator * scale * scale // value.denominator) + 1, scale)


def _down(value: Fraction) -> Fraction:
    return max(Fraction(0), Fraction(value.numerator * GRID // value.denominator, GRID))


def _up(value: Fraction) -> Fraction:
    return min(Fraction(1), Fraction(-(-value.numerator * GRID // value.denominator), GRID))


def floor(n: int, passed: int) -> Fraction | None:
    """Bound the passing rate from below at 95 %, one-sided and exact; None without a replay.

    Twenty passes of twenty leave room for a rate of 0.860: "it always works" is
    never what a few replays show.
    """
    if n == 0:
        return None
    _check(n, passed, 1)
    low, high = 0, GRID
    while high - low > 1:
        tried = (low + high) // 2
        # P(at least this many pass), times GRID^n so that it stays whole.
        tail = sum(comb(n, x) * tried**x * (GRID - tried) ** (n - x) for x in range(passed, n + 1))
        low, high = (tried, high) if tail <= ALPHA * GRID**n else (low, tried)
    return Fraction(low, GRID) if passed else Fraction(0)


def estimate(n: int, passed: int, k: int) -> Estimate:
    """Both rates for k with their bounds: those of the passing rate, carried through the power."""
    bounds = wilson(n, passed) if k <= n else None
    return Estimate(
        k=k,
        any_passes=pass_at(n, passed, k),
        any_bounds=bounds and Interval(_down(1 - (1 - bounds.low) ** k), _up(1 - (1 - bounds.high) ** k)),
        all_pass=pass_all(n, passed, k),
        all_bounds=bounds and Interval(_down(bounds.low**k), _up(bounds.high**k)),
    )


class _Life(msgspec.Struct, frozen=True):
    """How many calls a replay agreed for, and whether it then left (or was only no longer seen)."""

    calls: int
    left: bool


def _life(comparison: Comparison) -> _Life:
    if comparison.is_cut:
        # It made the recorded call; what it would have done next was never seen.
        return _Life(comparison.agreed + 1, left=False)
    return _Life(comparison.agreed, left=comparison.verdict is not None)


def curve(comparisons: Sequence[Comparison]) -> tuple[Point, ...]:
    """Say which share still agrees after each call at which any replay left (Kaplan-Meier).

    A replay that reached the end of its recording, or was cut by it, counts as
    agreeing for as long as it was seen and not beyond.
    """
    lives = [_life(comparison) for comparison in comparisons]
    points = [Point(after=0, at_risk=len(lives), share=Fraction(1))] if lives else []
    for after in sorted({life.calls + 1 for life in lives if life.left}):
        at_risk = sum(life.calls + life.left >= after for life in lives)
        left = sum(life.left and life.calls + 1 == after for life in lives)
        share = points[-1].share * Fraction(at_risk - left, at_risk)
        points.append(Point(after=after, at_risk=at_risk, share=share))
    return tuple(points)


def share_after(points: Sequence[Point], calls: int) -> Fraction | None:
    """Read a curve at a number of calls; None for a curve of no replay."""
    return next((point.share for point in reversed(points) if point.after <= calls), None)


def forks(comparisons: Sequence[Comparison]) -> tuple[Fork, ...]:
    """Count where and how replays left, the most frequent first, then by place."""
    verdicts = [one.verdict for one in comparisons if one.verdict is not None and not one.is_cut]
    counts = Counter((one.index, one.kind, one.expected, one.actual) for one in verdicts)
    found = [
        Fork(index=index, kind=kind, expected=expected, actual=actual, count=count)
        for (index, kind, expected, actual), count in counts.items()
    ]
    return tuple(sorted(found, key=_frequent))


def _frequent(fork: Fork) -> tuple[int, int, str, str, str]:
    return (-fork.count, fork.index, fork.kind, fork.expected or "", fork.actual or "")


def band(replays: Sequence[Comparison], same: Sequence[Comparison]) -> Band | None:
    """Hold replays against those of an unchanged harness; None when either is absent.

    A permutation test of who agrees longer than whom (Gehan), exact over all ways
    to draw the labels, so it assumes nothing about how replays fork. Past `LABELS`
    of a kind the first ones given are used: a choice that does not see the outcome.
    """
    ours, theirs = ([_life(one) for one in side[:LABELS]] for side in (replays, same))
    if not ours or not theirs:
        return None
    lives = ours + theirs
    scores = [sum(_outlasts(one, other) - _outlasts(other, one) for other in lives) for one in lives]
    lowest = min(scores)
    weights = [score - lowest for score in scores]
    ways = _ways(weights, len(ours))
    observed = sum(weights[: len(ours)])
    return Band(
        replays=len(ours),
        same=len(theirs),
        chance=Fraction(sum(ways[: observed + 1]), sum(ways)),
        least=Fraction(1, comb(len(lives), len(ours))),
    )


def _outlasts(one: _Life, other: _Life) -> int:
    """Tell whether `one` is known to have agreed for longer, or as long; mutual ones cancel out."""
    return int(other.left and one.calls >= other.calls)


def _ways(weights: Sequence[int], size: int) -> list[int]:
    """Count, for each sum, the subsets of that many weights: index is the sum.

    A polynomial per size, kept as one integer with a slot of bytes per sum: the
    interpreter then adds a whole row at once.
    """
    width = comb(len(weights), size).bit_length() // 8 + 1
    rows = [1] + [0] * size
    for weight in weights:
        for chosen in range(size, 0, -1):
            rows[chosen] += rows[chosen - 1] << 8 * width * weight
    data = rows[size].to_bytes(width * (sum(weights) + 1), "little")
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


def summarise(
    replays: Sequence[Comparison], *, same: Sequence[Comparison] = (), ks: Sequence[int] | None = None
) -> Summary:
    """Say what the replays show together; `same` are replays of an unchanged harness."""
    decided = [one for one in replays if not one.is_cut]
    n, on_tape = len(decided), sum(one.verdict is None for one in decided)
    other = sum(one.verdict is None and bool(one.divergences) for one in decided)
    found = band(replays, same)
    verdict = _verdict(replays, on_tape, found)
    return Summary(
        verdict=verdict,
        replays=len(replays),
        on_tape=on_tape,
        other_arguments=other,
        undecided=len(replays) - n,
        bounds=wilson(n, on_tape),
        floor=floor(n, on_tape),
        estimates=tuple(estimate(n, on_tape, k) for k in (range(1, min(n, KS) + 1) if ks is None else ks)),
        curve=curve(replays),
        forks=forks(replays),
        band=found,
        note=_kept(n, other) if n and on_tape == n else _note(verdict, n, on_tape, found),
    )


def _verdict(replays: Sequence[Comparison], on_tape: int, found: Band | None) -> str:
    if not replays:
        return UNKNOWN
    if on_tape == len(replays):
        # An outcome nobody wrote down may hide a call that was blocked.
        return UNKNOWN if any(one.unknown_outcomes for one in replays) else MATCHES
    if all(one.is_cut for one in replays):
        return OFF_TAPE
    if found is not None and found.exceeded is not None:
        return EXCEEDS_BAND if found.exceeded else WITHIN_BAND
    kinds = {one.verdict.kind for one in replays if one.verdict is not None}
    return OFF_TAPE if kinds == {OFF_TAPE} else UNKNOWN


def _kept(n: int, other: int) -> str:
    """Say what it means that no replay left: which may be luck, and may be with other arguments."""
    least = _percent(floor(n, n) or Fraction(0))
    asked = f", {other} of them with other arguments" if other else ""
    return (
        f"{n} of {n} replays made the recorded calls{asked}. From so many it follows, nineteen "
        f"times in twenty, that at least {least} of all replays would."
    )


def _note(verdict: str, n: int, on_tape: int, found: Band | None) -> str:
    """Say in words what the numbers allow to be said, and no more."""
    left = n - on_tape
    if n == 0:
        return "No replay could be followed to a call that decides anything."
    said = [f"{left} of {n} replays left the recording."]
    if left == 1:
        said.append("One replay that leaves is one draw of a sampling model, and no regression by itself.")
    if verdict == EXCEEDS_BAND:
        said.append("They leave earlier than replays of the unchanged harness do, beyond chance.")
    elif verdict == WITHIN_BAND:
        said.append("Replays of the unchanged harness leave about as early, so nothing is shown.")
    elif found is None:
        said.append("Without replays of the unchanged harness, chance is not ruled out.")
    else:
        said.append("There are too few replays to tell this from chance.")
    return " ".join(said)


def _percent(rate: Fraction) -> str:
    tenths = rate.numerator * 1000 // rate.denominator
    return f"{tenths // 10}.{tenths % 10} %"
