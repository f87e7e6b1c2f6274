"""The fields of one tool: words, schema, annotations, output schema and the rest.

The gap this closes: an annotation is what clients read to decide whether to ask a
person, and 112 of them were once spelled out in one public commit without changing
anything. The decision: a hint is compared by what it means with its default filled in,
so that spelling out a default is its own class, and asking for less care is another.

What it does not do: it does not grade. Whether a loosened hint stands alone is seen
over the whole tool.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from githarness import canon
from githarness.measure.changes.change import Edit, Finding
from githarness.measure.changes.edits import ADD, PRUNE, document
from githarness.measure.changes.site import Site, put, reordered, unlike, value
from githarness.measure.changes.walk import walk
from githarness.model.surface import ToolSpec

# What each hint is when it is absent, and the value that asks clients for less care,
# by the protocol that defines them.
HINTS = {
    "readOnlyHint": (False, True),
    "destructiveHint": (True, False),
    "idempotentHint": (False, True),
    "openWorldHint": (True, False),
}
_CLASSES = {"title": "title", "icons": "icons", "_meta": "meta", "meta": "meta", "cache_control": "meta"}
_OUTPUT = frozenset({"outputSchema", "output_schema"})


def findings(before: ToolSpec, after: ToolSpec, index: int) -> Iterator[Finding]:
    """Yield everything that differs between two specs of one tool; `index` is in the first surface."""
    left, right = document(before), document(after)
    site = Site(path=(index,), roots=(before.input_schema, after.input_schema), told={})
    if before.name != after.name:
        yield site.finding(
            "tool.renamed", "name", was=before.name, now=after.name, edits=put(site.path, left, right, "name")
        )
    if before.description != after.description:
        yield _field("tool.redescribed", site, left, right, "description")
    if isinstance(before.input_schema, dict | bool) and isinstance(after.input_schema, dict | bool):
        yield from walk(before.input_schema, after.input_schema, site.at("input_schema"))
    elif unlike(value(left, "input_schema"), value(right, "input_schema")):
        yield _field("other.changed", site, left, right, "input_schema")
    yield from _rest(before.rest, after.rest, site.at("rest"))


def _field(id: str, site: Site, before: dict[str, Any], after: dict[str, Any], key: str) -> Finding:
    edits = put(site.path, before, after, key)
    return site.finding(id, key, was=value(before, key), now=value(after, key), edits=edits)


def _rest(before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    for key in dict.fromkeys([*before, *after]):
        was, now = value(before, key), value(after, key)
        if not unlike(was, now):
            continue
        if key == "annotations" and all(one is UNSET or isinstance(one, dict) for one in (was, now)):
            yield from _annotations(before, after, site)
        else:
            yield _field(_rest_class(key, was, now), site, before, after, key)
    yield from reordered(
        site, [key for key in before if key in after], [key for key in after if key in before]
    )


def _rest_class(key: str, was: Any, now: Any) -> str:
    if key not in _OUTPUT:
        return _CLASSES.get(key, "other.changed")
    if UNSET in (was, now) or canon.compact(was, sort=True) != canon.compact(now, sort=True):
        return "output_schema.changed"
    return "key.order"


def _annotations(before: dict[str, Any], after: dict[str, Any], site: Site) -> Iterator[Finding]:
    was, now = before.get("annotations", {}), after.get("annotations", {})
    inner = site.at("annotations")
    around: tuple[Edit, ...] = ()
    if "annotations" not in before:
        at = list(after).index("annotations")
        around = (Edit(path=site.path, op=ADD, key="annotations", value={}, at=at),)
    elif "annotations" not in after:
        around = (Edit(path=site.path, op=PRUNE, key="annotations"),)
    for key in dict.fromkeys([*was, *now]):
        left, right = value(was, key), value(now, key)
        if unlike(left, right):
            edits = (*around, *put(inner.path, was, now, key))
            yield inner.finding(_hint_class(key, left, right), key, was=left, now=right, edits=edits)
    if not was and not now:
        yield _field("format.only", site, before, after, "annotations")
    yield from reordered(inner, [key for key in was if key in now], [key for key in now if key in was])


def _hint_class(key: str, was: Any, now: Any) -> str:
    if key not in HINTS:
        return "title" if key == "title" else "other.changed"
    default, loose = HINTS[key]
    meant = [default if one is UNSET else one for one in (was, now)]
    if not all(isinstance(one, bool) for one in meant):
        return "other.changed"
    if meant[0] == meant[1]:
        return "annotation.explicit_default"
    return "annotation.loosened" if meant[1] is loose else "annotation.tightened"
