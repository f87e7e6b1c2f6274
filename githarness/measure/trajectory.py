"""A trajectory: one run reduced to what it decided, and which call answers which.

The gap this closes: calls of one model response are parallel, so their order in a
file is chance. Comparing results as they arrive, or calls by place alone, reports a
changed tool where two reads merely swapped. The decision: calls stand in the order
they were issued; those of one response are a group and are paired as a set, groups
follow each other by place. Set comparison goes no further than that: reading the
same files in another order over several responses is another run.

Clients cut groups differently (some write one record per call), so two recordings
are laid over each other in blocks: the smallest stretches at whose ends both sides
end a group. A block in which either side is one group has no order to compare.

What it does not do: it judges no pair (`divergence`) and reads no result.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import zip_longest

import msgspec

from githarness.errors import UnreadableError
from githarness.measure import arguments
from githarness.model.session import Call, Session

# An exact assignment of eight calls looks at 8 x 2^8 steps, and each further call
# doubles that. Responses with more than eight calls to one tool that changed all
# their arguments are rare enough for a greedy pairing, which has the same width.
EXACT = 8


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs of a run; `calls` stand in the order they were issued.

    `unreadable` counts records of the transcript that could not be read: calls may
    be missing for that reason alone.
    """

    agent: str
    format: str
    turns: tuple[str, ...]
    calls: tuple[Call, ...]
    final_text: str | None
    steered: bool
    unreadable: int


class Block(msgspec.Struct, frozen=True):
    """A stretch of calls on both sides; `is_set` says that it has no order to compare."""

    recorded: range
    replayed: range
    is_set: bool


class Pair(msgspec.Struct, frozen=True):
    """A recorded call and the replayed one that answers it, by place; None is nobody."""

    recorded: int | None
    replayed: int | None


def of(session: Session) -> Trajectory:
    """Reduce a session; refuse one that was read for its counts alone.

    A session without content has None for every argument, and a comparison of two
    of those would call any two runs the same.
    """
    if session.turn_count > len(session.turns):
        raise UnreadableError(
            "the session was read without its content, so it cannot be compared",
            hint="read the recording with its content kept",
        )
    return Trajectory(
        agent=session.agent,
        format=session.format,
        turns=tuple(turn.text for turn in session.turns),
        calls=session.calls,
        final_text=session.final_text,
        steered=session.steered,
        unreadable=session.unreadable,
    )


def blocks(recorded: Sequence[Call], replayed: Sequence[Call]) -> Iterator[Block]:
    """Lay two runs over each other, from the first call to the last of either.

    All blocks but the last ones hold equally many calls of both, so a place means
    the same on both sides. What only one side has left comes out in blocks of its own.
    """
    left, right = _ends(recorded), _ends(replayed)
    start = at = on = 0
    while at < len(left) and on < len(right):
        first = (at, on)
        at, on = _meet(left, right, at, on)
        yield Block(range(start, left[at]), range(start, right[on]), at == first[0] or on == first[1])
        start, at, on = left[at], at + 1, on + 1
    alone = range(left[at - 1] if at else 0, len(recorded)), range(right[on - 1] if on else 0, len(replayed))
    if any(alone):
        yield Block(*alone, is_set=False)


def _meet(left: list[int], right: list[int], at: int, on: int) -> tuple[int, int]:
    """Go on to where both sides end a group, or as far as the side that ends first goes."""
    while left[at] != right[on]:
        if left[at] < right[on]:
            if at + 1 == len(left):
                break
            at += 1
        else:
            if on + 1 == len(right):
                break
            on += 1
    return at, on


def _ends(calls: Sequence[Call]) -> list[int]:
    """Say where groups end. A step of 0 is no step, so such a call is a group of its own."""
    following = [call.step for call in calls[1:]]
    return [
        at
        for at, (call, after) in enumerate(zip_longest(calls, following), 1)
        if call.step != after or call.step < 1
    ]


def pairs(block: Block, recorded: Sequence[Call], replayed: Sequence[Call]) -> list[Pair]:
    """Pair the calls of one block: by place, or as a set where it has no order."""
    if not block.is_set or len(block.recorded) == len(block.replayed) == 1:
        return [Pair(one, other) for one, other in zip_longest(block.recorded, block.replayed)]
    left = sorted((_item(at, recorded[at]) for at in block.recorded), key=_rank)
    right = sorted((_item(at, replayed[at]) for at in block.replayed), key=_rank)
    found = [
        *_alike(left, right, _rank),
        *_alike(left, right, lambda item: (item.name, item.loose)),
        *_nearest(left, right),
    ]
    found += [
        Pair(one.at if one else None, other.at if other else None) for one, other in zip_longest(left, right)
    ]
    return found


class _Item(msgspec.Struct, frozen=True):
    """A call of a set. Its place takes no part in the pairing, so that order cannot."""

    at: int
    call: Call
    name: str
    loose: bytes


def _item(at: int, call: Call) -> _Item:
    return _Item(at, call, call.name, arguments.loose(call.input))


def _rank(item: _Item) -> tuple[str, bytes, str]:
    # The cause decides between equal calls: one denied and one allowed on both
    # sides must meet their own kind.
    return (item.name, item.loose, item.call.cause or "")


def _alike(left: list[_Item], right: list[_Item], key: Callable[[_Item], Hashable]) -> list[Pair]:
    """Take out and return the pairs with equal keys; the rest stays, in order."""
    waiting: dict[Hashable, list[_Item]] = {}
    for item in reversed(right):
        waiting.setdefault(key(item), []).append(item)
    found, alone = [], []
    for item in left:
        others = waiting.get(key(item))
        if others:
            found.append(Pair(item.at, others.pop().at))
        else:
            alone.append(item)
    taken = {pair.replayed for pair in found}
    left[:] = alone
    right[:] = [item for item in right if item.at not in taken]
    return found


def _nearest(left: list[_Item], right: list[_Item]) -> list[Pair]:
    """Take out and return the pairs of one name whose arguments are nearest in sum."""
    found: list[Pair] = []
    names = _by_name(right)
    for name, some in _by_name(left).items():
        others = names.get(name, [])
        if max(len(some), len(others)) <= EXACT:
            found += _assigned(some, others)
        else:
            found += _greedy(some, others)
    taken = ({pair.recorded for pair in found}, {pair.replayed for pair in found})
    left[:] = [item for item in left if item.at not in taken[0]]
    right[:] = [item for item in right if item.at not in taken[1]]
    return found


def _by_name(items: list[_Item]) -> dict[str, list[_Item]]:
    found: dict[str, list[_Item]] = {}
    for item in items:
        found.setdefault(item.name, []).append(item)
    return found


def _assigned(left: list[_Item], right: list[_Item]) -> list[Pair]:
    """Find the assignment of least total distance, over the subsets of the longer side."""
    if len(left) > len(right):
        return [Pair(pair.replayed, pair.recorded) for pair in _assigned(right, left)]
    best: dict[int, tuple[tuple[int, int, int], tuple[int, ...]]] = {0: ((0, 0, 0), ())}
    for item in left:
        step: dict[int, tuple[tuple[int, int, int], tuple[int, ...]]] = {}
        costs = [arguments.distance(item.call.input, other.call.input) for other in right]
        for taken, (total, chosen) in best.items():
            for at, cost in enumerate(costs):
                if not taken >> at & 1:
                    sums = (total[0] + cost[0], total[1] + cost[1], total[2] + cost[2])
                    mine = (sums, (*chosen, at))
                    step[taken | 1 << at] = min(mine, step.get(taken | 1 << at, mine))
        best = step
    chosen = min(best.values())[1]
    return [Pair(item.at, right[at].at) for item, at in zip(left, chosen, strict=True)]


def _greedy(left: list[_Item], right: list[_Item]) -> list[Pair]:
    """Give each call the nearest of the next `EXACT` that are free, in canonical order."""
    free = right[::-1]
    found: list[Pair] = []
    for item in left[: len(right)]:
        costs = [arguments.distance(item.call.input, other.call.input) for other in free[: -EXACT - 1 : -1]]
        found.append(Pair(item.at, free.pop(-1 - costs.index(min(costs))).at))
    return found
