"""Where a schema walk stands, and the edits that can be made there.

The gap this closes: every rule that compares two values needs the same three answers
(is the key on both sides, where does it go, has the order changed), and a rule that
answers them by itself forgets one. The decision: they are answered here once, for
objects and for lists.

What it does not do: it classifies nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from githarness.measure.changes.change import Edit, Finding, Path
from githarness.measure.changes.edits import ADD, DROP, ORDER, SET

# A path of this length is some 60 nested schemas; the deepest seen in public has 12.
# Deeper ones are compared whole, so that no input exhausts the stack.
DEEPEST = 120


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a schema: the path to it and the parameter it belongs to.

    `roots` are the two whole schemas, which references are resolved in. `told` holds
    the pairs of references that were compared, and whether they differed.
    """

    path: Path
    roots: tuple[Any, Any]
    param: str | None = None
    told: dict[tuple[Any, Any], bool]

    def at(self, *segments: str | int) -> "Site":
        """Step down; the parameter stays the same."""
        return msgspec.structs.replace(self, path=(*self.path, *segments))

    def named(self, param: str, *segments: str | int) -> "Site":
        """Step down into a parameter."""
        return msgspec.structs.replace(self, path=(*self.path, *segments), param=param)

    def finding(self, id: str, key: str | None = None, **fields: Any) -> Finding:
        """Make a finding here, or at `key` below here."""
        path = self.path if key is None else (*self.path, key)
        return Finding(id=id, path=path, **{"param": self.param, **fields})

    def whole(self, id: str, was: Any, now: Any) -> Finding:
        """Make a finding that puts the second side's value in the place of the first's."""
        edit = Edit(path=self.path[:-1], op=SET, key=self.path[-1], value=now)
        return self.finding(id, was=was, now=now, edits=(edit,))


def same(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are equal down to key order and the spelling of numbers.

    By `repr`, which tells 1 from 1.0 and from true as `==` does not, at ten times the
    speed of rendering both.
    """
    return left is right or repr(left) == repr(right)


def unlike(was: Any, now: Any) -> bool:
    """Tell whether two values differ; UNSET stands for absent and is equal to itself alone."""
    if was is UNSET or now is UNSET:
        return was is not now
    return not same(was, now)


def put(path: Path, before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> tuple[Edit, ...]:
    """Return the edit that brings one key of an object to the second side's value."""
    if key not in after:
        return (Edit(path=path, op=DROP, key=key),)
    if key not in before:
        return (Edit(path=path, op=ADD, key=key, value=after[key], at=list(after).index(key)),)
    return (Edit(path=path, op=SET, key=key, value=after[key]),)


def value(table: Mapping[str, Any], key: str) -> Any:
    """Return the value at `key`, or UNSET."""
    return table.get(key, UNSET)


def reordered(
    site: Site, before: Sequence[Any], after: Sequence[Any], items: Sequence[Any] | None = None
) -> Iterator[Finding]:
    """Yield a finding where what stays on both sides stands in another order.

    Both are the survivors, one name each: keys as the second side spells them, or
    indices into the first side's list, which is then given as `items`.
    """
    if list(before) == list(after):
        return
    edit = Edit(path=site.path, op=ORDER, value=tuple(after))
    was, now = ([one if items is None else items[one] for one in side] for side in (before, after))
    yield site.finding("key.order", was=was, now=now, edits=(edit,))
