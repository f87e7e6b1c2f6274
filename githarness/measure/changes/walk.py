"""The walk over two JSON schemas: every keyword that differs becomes a finding.

The gap this closes: eight kinds of change, compared at the top level only, miss a
value removed from an enum three objects down and everything behind a reference. The
decision: one recursive walk with a rule per keyword; a keyword without a rule is
`other.changed` with both values, so nothing is silent. Where a reference differs, what
it stands for is compared, each pair of targets once, so that recursive and wide schemas
end.

What it does not do: it fetches no remote reference, and it grades nothing.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from githarness.measure.changes import constraints, kinds, lists, parameters
from githarness.measure.changes.change import Finding
from githarness.measure.changes.site import DEEPEST, Site, put, reordered, same, unlike, value

_WORDS = {"description": "tool.redescribed", "title": "title"}
_META = dict.fromkeys(("$comment", "$schema", "$id", "$anchor"), "meta")
# Schemas by name whose names are no parameters; both spellings of definitions.
_TABLES = frozenset({"$defs", "definitions", "patternProperties", "dependentSchemas"})
_DEFINED = frozenset({"$defs", "definitions"})
# Keywords that hold one schema each, and mean more of it when it accepts more. The
# parts of a condition and `not` do not, so they are told whole.
_INNER = frozenset(
    {
        "items", "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems",
        "contains", "propertyNames", "contentSchema",
    }
)  # fmt: skip
_BRANCHES = {
    "anyOf": ("type.widened", "type.narrowed"),
    "oneOf": ("type.widened", "type.narrowed"),
    "allOf": (constraints.TIGHTENED, constraints.LOOSENED),
}
_LISTS = frozenset({*_BRANCHES, "enum"})
_OBJECTS = _TABLES | _INNER


def walk(before: Any, after: Any, site: Site) -> Iterator[Finding]:
    """Yield a finding for everything that differs between two schemas."""
    if same(before, after):
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield site.whole(_bare(before, after), before, after)
    elif len(site.path) > DEEPEST:
        yield site.whole(constraints.OTHER, before, after)
    elif before.get("$ref") != after.get("$ref"):
        yield from _reference(before, after, site)
    else:
        yield from _keywords(before, after, site)


def _bare(before: Any, after: Any) -> str:
    """Classify schemas of which one is `true`, `false` or no schema at all."""
    if not all(isinstance(one, bool | dict) for one in (before, after)):
        return constraints.OTHER
    return constraints.moved("additionalProperties", before, after)


def _keywords(before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    wrapped = kinds.wrapped(before, after, site)
    settled: set[str] = set()
    if wrapped is not None:
        yield wrapped.finding
        settled = {str(edit.key) for edit in wrapped.finding.edits}
        if wrapped.mates is not None:
            yield from _aside(*wrapped.mates, site)
    elif _has_lists(before) and _has_lists(after):
        yield from _parameters(before, after, site)
        yield from kinds.type_findings(before, after, site)
        settled = {"properties", "required", "type", "nullable"}
    for key in dict.fromkeys([*before, *after]):
        if key not in settled:
            yield from _keyword(key, before, after, site)
    shared = [key for key in before if key in after]
    yield from reordered(site, shared, [key for key in after if key in before])


def _has_lists(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("properties", {}), dict)


def _parameters(before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    pairing = parameters.paired(before, after)
    yield from parameters.findings(pairing, site)
    for was, now in pairing.kept.items():
        inner = site.named(now, "properties", was)
        yield from walk(pairing.before.properties[was], pairing.after.properties[now], inner)


def _keyword(key: str, before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    was, now = value(before, key), value(after, key)
    if not unlike(was, now):
        return
    if isinstance(was, list) and isinstance(now, list) and key in _LISTS:
        inner = site.at(key)
        yield from (
            lists.enum(was, now, inner) if key == "enum" else _branches(was, now, inner, _BRANCHES[key])
        )
    elif isinstance(was, dict) and isinstance(now, dict) and key in _OBJECTS:
        inner = site.at(key)
        yield from walk(was, now, inner) if key in _INNER else _table(key, was, now, inner)
    else:
        edits = put(site.path, before, after, key)
        yield site.finding(_class(key, was, now), key, was=was, now=now, edits=edits)


def _class(key: str, was: Any, now: Any) -> str:
    """Classify a keyword that is compared as one value."""
    if key in _WORDS:
        return _WORDS[key]
    if key in _META:
        return _META[key]
    if key == "default":
        return "default.added" if was is UNSET else "default.removed" if now is UNSET else "default.changed"
    if key == "const" and UNSET not in (was, now):
        return "type.changed"
    return constraints.moved(key, was, now) if key in constraints.KEYWORDS else constraints.OTHER


def _branches(was: list[Any], now: list[Any], site: Site, classes: tuple[str, str]) -> Iterator[Finding]:
    pairs = lists.branches(was, now)
    for left, right in pairs.items():
        yield from walk(was[left], now[right], site.at(left))
    yield from lists.members(was, now, pairs, site, classes)


def _table(key: str, was: dict[str, Any], now: dict[str, Any], site: Site) -> Iterator[Finding]:
    """Compare schemas by name. A definition enforces nothing until a reference names it."""
    for name in dict.fromkeys([*was, *now]):
        left, right = value(was, name), value(now, name)
        if left is not UNSET and right is not UNSET:
            yield from walk(left, right, site.at(name))
        elif key in _DEFINED:
            yield site.finding(
                constraints.OTHER, name, was=left, now=right, edits=put(site.path, was, now, name)
            )
        else:
            cls = constraints.moved(key, left, right)
            yield site.finding(cls, name, was=left, now=right, edits=put(site.path, was, now, name))
    yield from reordered(site, [name for name in was if name in now], [name for name in now if name in was])


def _reference(before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    """Compare what two references stand for; the edit puts the second in place of the first."""
    whole = site.whole(constraints.FORMAT, before, after)
    left, right = resolved(before, site.roots[0]), resolved(after, site.roots[1])
    if left is None or right is None:
        yield msgspec.structs.replace(whole, id=constraints.OTHER)
        return
    pair = (before.get("$ref"), after.get("$ref"))
    if None not in pair and pair in site.told:
        yield msgspec.structs.replace(whole, id=constraints.OTHER if site.told[pair] else constraints.FORMAT)
        return
    site.told[pair] = False
    found = list(_aside(left, right, site))
    site.told[pair] = bool(found)
    if not found:
        yield whole
    else:
        yield msgspec.structs.replace(found[0], edits=whole.edits)
        yield from found[1:]


def _aside(before: Any, after: Any, site: Site) -> Iterator[Finding]:
    """Yield what differs without edits, where another finding makes the whole of it true."""
    for finding in walk(before, after, site):
        if finding.id != "key.order":
            yield msgspec.structs.replace(finding, edits=())


def resolved(schema: dict[str, Any], root: Any) -> dict[str, Any] | None:
    """Follow the references of a schema inside its document, keys beside them kept.

    None for a reference that leaves the document, names nothing or goes in a circle.
    """
    followed: set[str] = set()
    while "$ref" in schema:
        reference = schema["$ref"]
        if not isinstance(reference, str) or reference in followed:
            return None
        followed.add(reference)
        target = _target(reference, root)
        if not isinstance(target, dict):
            return None
        schema = target | {key: item for key, item in schema.items() if key != "$ref"}
    return schema


def _target(reference: str, root: Any) -> Any:
    if reference != "#" and not reference.startswith("#/"):
        return None
    target = root
    for segment in reference.split("/")[1:]:
        name = segment.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict):
            target = target.get(name)
        elif isinstance(target, list) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target
