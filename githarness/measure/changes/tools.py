"""Which tool of the first surface is which of the second, and what shadows what.

The gap this closes: names may stand twice (feature-flag variants do), and a list that is
compared by name alone then loses one. The decision: pair by name in order, equal bodies
first, then find renames among what is left.

What it does not do: it compares no contents beyond equality and likeness.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from githarness.measure.changes import likeness, words
from githarness.measure.changes.change import Edit, Finding
from githarness.measure.changes.edits import ADD, DROP, ORDER, document
from githarness.model.surface import Surface

# Providers refuse tool names over 64 characters; longer ones are compared whole.
LONGEST_NAME = 128


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """Index pairs in the first surface's order, and what stands on one side only."""

    pairs: dict[int, int]
    gone: tuple[int, ...]
    new: tuple[int, ...]


def match(before: Surface, after: Surface) -> Matched:
    """Pair the tools of two surfaces."""
    pairs: dict[int, int] = {}
    for keys in (_by_digest, _by_name):
        _pair_equal(keys(before), keys(after), pairs)
    gone = [at for at in range(len(before.specs)) if at not in pairs]
    taken = set(pairs.values())
    new = [at for at in range(len(after.specs)) if at not in taken]
    pairs |= likeness.tools([(at, before.specs[at]) for at in gone], [(at, after.specs[at]) for at in new])
    taken = set(pairs.values())
    return Matched(
        pairs=dict(sorted(pairs.items())),
        gone=tuple(at for at in gone if at not in pairs),
        new=tuple(at for at in new if at not in taken),
    )


def _by_digest(surface: Surface) -> list[str]:
    return list(surface.digests)


def _by_name(surface: Surface) -> list[str]:
    return [spec.name for spec in surface.specs]


def _pair_equal(before: Sequence[str], after: Sequence[str], pairs: dict[int, int]) -> None:
    waiting: dict[str, list[int]] = {}
    for at in range(len(before) - 1, -1, -1):
        if at not in pairs:
            waiting.setdefault(before[at], []).append(at)
    taken = set(pairs.values())
    for at, key in enumerate(after):
        if at not in taken and waiting.get(key):
            pairs[waiting[key].pop()] = at


def findings(matched: Matched, before: Surface, after: Surface) -> Iterator[Finding]:
    """Yield what happened to whole tools: removed, added, moved."""
    for at in matched.gone:
        was = _shown(document(before.specs[at]))
        yield Finding(id="tool.removed", path=(at,), was=was, edits=(Edit(path=(), op=DROP, key=at),))
    for at in matched.new:
        tool = document(after.specs[at])
        edit = Edit(path=(), op=ADD, value=tool, at=at)
        yield Finding(id="tool.added", path=(at,), now=_shown(tool), edits=(edit,))
    order = sorted(matched.pairs, key=matched.pairs.__getitem__)
    if order != list(matched.pairs):
        names = [[before.specs[at].name for at in side] for side in (matched.pairs, order)]
        edit = Edit(path=(), op=ORDER, value=tuple(order))
        yield Finding(id="tool.reordered", path=(), was=names[0], now=names[1], edits=(edit,))


def _shown(tool: dict[str, object]) -> dict[str, object]:
    rest = tool["rest"]
    return {key: item for key, item in tool.items() if key != "rest"} | (
        rest if isinstance(rest, dict) else {}
    )


class Shadows:
    """Answers whether a name can be taken for another one: equal, one edit away, or drawn alike."""

    def __init__(self, names: Iterable[str]) -> None:
        """Index names by form, so that 5,000 of them are not compared pair by pair."""
        self._seen = [_as_seen(name) for name in names]
        self._near: dict[str, set[int]] = {}
        for at, seen in enumerate(self._seen):
            for form in _forms(seen):
                self._near.setdefault(form, set()).add(at)

    def shadowed(self, name: str, at: int) -> bool:
        """Tell whether any other tool than the one at `at` has a name this one can be taken for."""
        seen = _as_seen(name)
        near = set().union(*(self._near.get(form, ()) for form in _forms(seen))) - {at}
        return any(is_one_edit(seen, self._seen[other]) for other in near)


def _as_seen(name: str) -> str:
    return words.skeleton(name).casefold()


def _forms(seen: str) -> Collection[str]:
    """A name, and itself with each one letter left out: names one edit apart share a form."""
    if len(seen) > LONGEST_NAME:
        return (seen,)
    return {seen, *(seen[:cut] + seen[cut + 1 :] for cut in range(len(seen)))}


def is_one_edit(left: str, right: str) -> bool:
    """Tell whether two names are equal, or one letter added, left out, exchanged or swapped apart."""
    if len(left) > len(right):
        left, right = right, left
    start = next((at for at, letter in enumerate(left) if letter != right[at]), len(left))
    rests = left[start:], right[start:]
    if len(left) < len(right):
        return rests[0] == rests[1][1:]
    swapped = rests[0][:2] == rests[1][:2][::-1] and rests[0][2:] == rests[1][2:]
    return rests[0][1:] == rests[1][1:] or swapped
