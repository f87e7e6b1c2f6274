"""Types of a schema: wider, narrower or other, in all the ways a generator writes them.

The gap this closes: making a parameter nullable is written `["string","null"]` by one
library and `anyOf: [{…}, {"type":"null"}]` by the next, and the same schema may go from
one to the other between two releases. The decision: a schema without a union is a union
of one, so that both spellings answer the same question.

What it does not do: it does not prove that one schema is within another. It compares
the sets of types, and branches as they are written.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from githarness import canon
from githarness.measure.changes.change import Finding
from githarness.measure.changes.site import Site, put, unlike, value
from githarness.measure.changes.summary import wordless

WIDENED, NARROWED, CHANGED, FORMAT = "type.widened", "type.narrowed", "type.changed", "format.only"
UNIONS = ("anyOf", "oneOf")
_ASIDE = frozenset({"default", "$schema", "$defs", "definitions", "$id"})


def compared(before: set[str] | None, after: set[str] | None) -> str:
    """Return the class of two sets of types; None stands for any type."""
    if before == after:
        return FORMAT
    if after is None or (before is not None and _within(before, after)):
        return WIDENED
    if before is None or _within(after, before):
        return NARROWED
    return CHANGED


def _within(left: set[str], right: set[str]) -> bool:
    return left <= (right | {"integer"} if "number" in right else right)


def types(declared: Any) -> set[str] | None:
    """Read the `type` keyword; None for any type, also where it is no type at all."""
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    return set(names)


def type_findings(before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    """Compare `type` and `nullable`."""
    was, now = value(before, "type"), value(after, "type")
    if unlike(was, now):
        yield site.finding(
            compared(types(was), types(now)),
            "type",
            was=was,
            now=now,
            edits=put(site.path, before, after, "type"),
        )
    was, now = value(before, "nullable"), value(after, "nullable")
    if unlike(was, now):
        cls = FORMAT if (was is True) == (now is True) else WIDENED if now is True else NARROWED
        edits = put(site.path, before, after, "nullable")
        yield site.finding(cls, "nullable", was=was, now=now, edits=edits)


class Wrapped(msgspec.Struct, frozen=True, kw_only=True):
    """A schema that became a union of itself and more, or the reverse.

    `mates` are the schema and the branch that stands for it, where they are not equal.
    """

    finding: Finding
    mates: tuple[Any, Any] | None = None


def wrapped(before: dict[str, Any], after: dict[str, Any], site: Site) -> Wrapped | None:
    """Compare a schema that is a union with one that is none; None for two of a kind."""
    was, now = _union(before), _union(after)
    if (was is None) == (now is None):
        return None
    left = _keys(_spread(before) if was is None else was)
    right = _keys(_spread(after) if now is None else now)
    mates = None
    if not (left <= right or right <= left):
        mates = _mates(_core(before) if was is None else was, _core(after) if now is None else now)
        if mates is None:
            return None
    return Wrapped(finding=_finding(before, after, site, len(right) - len(left)), mates=mates)


def _finding(before: dict[str, Any], after: dict[str, Any], site: Site, growth: int) -> Finding:
    """Make the finding of a union that has `growth` branches more than the schema it stands for."""
    left, right = _core(before), _core(after)
    edits = (
        edit
        for key in dict.fromkeys([*left, *right])
        if unlike(value(before, key), value(after, key))
        for edit in put(site.path, before, after, key)
    )
    return Finding(
        id=WIDENED if growth > 0 else NARROWED if growth < 0 else FORMAT,
        path=site.path,
        was=left,
        now=right,
        edits=tuple(edits),
        param=site.param,
    )


def _mates(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Find the branch with the type of the schema that is no union; one side is a list of branches."""
    branches, single = (left, right) if isinstance(left, list) else (right, left)
    for branch in branches:
        if isinstance(branch, dict) and "type" in branch and branch["type"] == single.get("type"):
            return (branch, single) if branches is left else (single, branch)
    return None


def _core(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what a schema accepts, without its words, its default and its definitions."""
    plain: dict[str, Any] = wordless(schema)
    return {key: schema[key] for key in plain if key not in _ASIDE}


def _union(schema: dict[str, Any]) -> list[Any] | None:
    """Return the branches of a schema that is nothing but a union, else None."""
    core = _core(schema)
    if len(core) != 1 or next(iter(core)) not in UNIONS:
        return None
    branches = next(iter(core.values()))
    return branches if isinstance(branches, list) else None


def _spread(schema: dict[str, Any]) -> list[Any]:
    """Return a schema without a union as a union: one branch for each of its types."""
    core = _core(schema)
    names = types(core.get("type"))
    return [core] if names is None or len(core) > 1 else [{"type": name} for name in names]


def _keys(branches: list[Any]) -> set[bytes]:
    return {canon.compact(branch, sort=True) for branch in branches}
