"""Lists inside a schema: the values of an `enum` and the branches of a union.

The gap this closes: compared by position, one value put first makes every later one
"changed". The decision: equal items are paired wherever they stand, what is left is
paired by likeness (branches only), and a mere move is told as order.

What it does not do: it does not look into branches that are paired; the walk does.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from githarness import canon
from githarness.measure.changes.change import Edit, Finding
from githarness.measure.changes.edits import ADD, DROP
from githarness.measure.changes.site import Site, reordered
from githarness.measure.changes.summary import wordless


def enum(before: Sequence[Any], after: Sequence[Any], site: Site) -> Iterator[Finding]:
    """Yield the values that came and went; `site` is the list itself."""
    pairs = _equal([_exact(item) for item in before], [_exact(item) for item in after], {})
    yield from members(before, after, pairs, site, ("enum.added", "enum.removed"))


def branches(before: Sequence[Any], after: Sequence[Any]) -> dict[int, int]:
    """Pair the branches of two unions: equal, then equal but for words, then of one type."""
    pairs: dict[int, int] = {}
    for key in (_exact, _plain, _kind):
        pairs = _equal([key(item) for item in before], [key(item) for item in after], pairs)
    return pairs


def members(
    before: Sequence[Any], after: Sequence[Any], pairs: dict[int, int], site: Site, classes: tuple[str, str]
) -> Iterator[Finding]:
    """Yield what is on one side only, and the order of what stayed; `classes` are added, removed."""
    for at, item in enumerate(before):
        if at not in pairs:
            yield site.at(at).finding(classes[1], was=item, edits=(Edit(path=site.path, op=DROP, key=at),))
    known = set(pairs.values())
    for at, item in enumerate(after):
        if at not in known:
            edit = Edit(path=site.path, op=ADD, value=item, at=at)
            yield site.at(at).finding(classes[0], now=item, edits=(edit,))
    yield from reordered(site, sorted(pairs), sorted(pairs, key=pairs.__getitem__), before)


def _equal(before: list[bytes | None], after: list[bytes | None], pairs: dict[int, int]) -> dict[int, int]:
    """Add pairs of equal keys in order to those that are made; None is equal to nothing."""
    waiting: dict[bytes, list[int]] = {}
    for at, key in enumerate(before):
        if at not in pairs and key is not None:
            waiting.setdefault(key, []).append(at)
    for queue in waiting.values():
        queue.reverse()
    taken = set(pairs.values())
    made = dict(pairs)
    for at, key in enumerate(after):
        if at not in taken and key is not None and waiting.get(key):
            made[waiting[key].pop()] = at
    return made


def _exact(item: Any) -> bytes | None:
    return canon.compact(item, sort=False)


def _plain(item: Any) -> bytes | None:
    return canon.compact(wordless(item), sort=True)


def _kind(item: Any) -> bytes | None:
    """What a branch is about: its reference or type. One with neither is like no other."""
    if not isinstance(item, dict):
        return None
    about = item.get("$ref", item.get("type"))
    return None if about is None else canon.compact(about, sort=True)
