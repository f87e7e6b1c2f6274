"""One word for how two surfaces differ: the class that a fidelity verdict names.

The gap this closes: "differs" alone sends a reader to look for a bug where only
keys moved, or to shrug where a description was rewritten. The decision: the per-tool
semantic digests find the tools that differ, and only those are looked into, so that
a verdict over two surfaces of 5,000 tools costs what their difference costs. Where
several classes hold, the one that reaches furthest is named.

What it does not do: it names no place and no words; that is what `compare` is for.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from githarness import canon
from githarness.model.surface import Surface, ToolSpec

ADDED_REMOVED = "added/removed"
SCHEMA = "schema"
REDESCRIBED = "re-described"
ANNOTATIONS = "annotations"
OTHER = "other"
ORDER_ONLY = "order-only"
FORMAT_ONLY = "format-only"

# Furthest reach first: what can be called, what a call may say, what the model is
# told, then what only a client reads.
REACH = (ADDED_REMOVED, SCHEMA, REDESCRIBED, OTHER, ANNOTATIONS, ORDER_ONLY, FORMAT_ONLY)

# Keywords that hold words for a reader and leave what a validator accepts alone.
_WORDS = frozenset({"description", "title", "examples", "example", "$comment"})
# Keywords whose value maps names of the schema's author to schemas, so that a
# parameter called "description" is not taken for a description.
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
# What a client reads and a validator does not.
_CLIENT = frozenset({"annotations", "title", "icons", "_meta", "cache_control", "outputSchema"})


def summarise(before: Surface, after: Surface) -> str | None:
    """Name the furthest-reaching class, or None when the wire bytes are equal."""
    if before.wire == after.wire:
        return None
    if before.semantic == after.semantic:
        return FORMAT_ONLY
    if Counter(before.digests) == Counter(after.digests):
        return ORDER_ONLY
    if Counter(_names(before)) != Counter(_names(after)):
        return ADDED_REMOVED
    found = {_between(*pair) for pair in _unequal(before, after)}
    return next(name for name in REACH if name in found)


def _names(surface: Surface) -> list[str]:
    return [spec.name for spec in surface.specs]


def _unequal(before: Surface, after: Surface) -> Iterator[tuple[ToolSpec, ToolSpec]]:
    """Pair the tools that have no equal on the other side, by name and then by place."""
    waiting: dict[str, list[ToolSpec]] = {}
    for spec in _without(before, Counter(after.digests)):
        waiting.setdefault(spec.name, []).append(spec)
    for spec in _without(after, Counter(before.digests)):
        yield waiting[spec.name].pop(0), spec


def _without(surface: Surface, equal: Counter[str]) -> Iterator[ToolSpec]:
    for spec, digest in zip(surface.specs, surface.digests, strict=True):
        if equal[digest]:
            equal[digest] -= 1
        else:
            yield spec


def _between(before: ToolSpec, after: ToolSpec) -> str:
    if _canonical(wordless(before.input_schema)) != _canonical(wordless(after.input_schema)):
        return SCHEMA
    if before.description != after.description:
        return REDESCRIBED
    if _canonical(before.input_schema) != _canonical(after.input_schema):
        return REDESCRIBED
    return ANNOTATIONS if _differing(before.rest, after.rest) <= _CLIENT else OTHER


def _canonical(value: Any) -> bytes:
    return canon.compact(value, sort=True)


def _differing(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {
        key
        for key in {*before, *after}
        if (key in before) != (key in after) or _canonical(before.get(key)) != _canonical(after.get(key))
    }


def wordless(schema: Any) -> Any:
    """Return a schema without the keywords that only describe; parameter names stay."""
    if isinstance(schema, list):
        return [wordless(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _named(value) if key in _NAMED else wordless(value)
        for key, value in schema.items()
        if key not in _WORDS
    }


def _named(table: Any) -> Any:
    if not isinstance(table, dict):
        return wordless(table)
    return {name: wordless(schema) for name, schema in table.items()}
