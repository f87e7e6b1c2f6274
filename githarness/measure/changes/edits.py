"""Applying changes: the first surface and a complete list of changes give the second.

The gap this closes: nobody can tell a diff that missed something from one that had
nothing to say. The decision: every change carries its edits, and a property test
applies them. Edits speak of the first surface alone (its keys, its indices), so their
order among changes does not matter.

Within one container the steps are: edits further down, `set`, `drop` and `prune` (drop
what is empty by then), `rename`, `order`, `add` in ascending place. Since what stays is
first brought into the second surface's order and additions carry the place they have
there, the outcome is exact, also for key order.

What it does not do: it judges nothing, and a part of the changes gives a surface in
between, which is how calls are graded change by change.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from githarness.measure.changes.change import Change, Edit
from githarness.model.surface import ToolSpec

SET, RENAME, DROP, ORDER, ADD, PRUNE = "set", "rename", "drop", "order", "add", "prune"


class _Node:
    """The edits of one container, and those of the containers in it."""

    def __init__(self) -> None:
        self.own: dict[str, list[Edit]] = {}
        self.below: dict[str | int, _Node] = {}

    def take(self, op: str) -> list[Edit]:
        return self.own.get(op, [])


def document(spec: ToolSpec) -> dict[str, Any]:
    """Lay a tool out as the object that paths and edits speak of."""
    fields = {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}
    return {key: value for key, value in fields.items() if value is not None} | {"rest": spec.rest}


def apply(changes: Iterable[Change], before: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Apply changes to the tools of the first surface; all of them give the second."""
    root = _grown(edit for change in changes for edit in change.edits)
    documents: list[dict[str, Any]] = _rebuilt([document(spec) for spec in before], root)
    return tuple(ToolSpec(**one) for one in documents)


def apply_to(changes: Iterable[Change], spec: ToolSpec, at: int) -> ToolSpec:
    """Apply to one tool, at index `at` of the first surface, what changes say of it alone."""
    own = (edit for change in changes for edit in change.edits if edit.path[:1] == (at,))
    root = _grown(msgspec.structs.replace(edit, path=edit.path[1:]) for edit in own)
    return ToolSpec(**_rebuilt(document(spec), root))


def _grown(edits: Iterable[Edit]) -> _Node:
    root = _Node()
    for edit in edits:
        node = root
        for segment in edit.path:
            node = node.below.setdefault(segment, _Node())
        node.own.setdefault(edit.op, []).append(edit)
    return root


def _rebuilt(value: Any, node: _Node | None) -> Any:
    if node is None:
        return value
    return _rebuilt_object(value, node) if isinstance(value, dict) else _rebuilt_list(value, node)


def _rebuilt_object(value: dict[str, Any], node: _Node) -> dict[str | int, Any]:
    """SET and ADD may name a container made by another change; what is below is applied to it."""
    items: dict[str | int, Any] = {key: _rebuilt(item, node.below.get(key)) for key, item in value.items()}
    items |= {edit.key: edit.value for edit in node.take(SET)}
    renames = {edit.key: edit.value for edit in node.take(RENAME)}
    gone = {edit.key for edit in node.take(DROP)}
    gone |= {edit.key for edit in node.take(PRUNE) if not items.get(edit.key)}
    items = {renames.get(key, key): item for key, item in items.items() if key not in gone}
    for edit in node.take(ORDER):
        items = {key: items[key] for key in edit.value if key in items} | items
    entries = list(items.items())
    added = {edit.key: edit for edit in node.take(ADD) if edit.key not in items}
    for key, edit in sorted(added.items(), key=lambda one: one[1].at):
        entries.insert(edit.at, (key, _rebuilt(edit.value, node.below.get(key))))
    return dict(entries)


def _rebuilt_list(value: list[Any], node: _Node) -> list[Any]:
    """Items are named by their index in the first surface; what was dropped leaves no gap."""
    items: dict[str | int, Any] = {
        index: _rebuilt(item, node.below.get(index)) for index, item in enumerate(value)
    }
    items |= {edit.key: edit.value for edit in node.take(SET)}
    gone = {edit.key for edit in node.take(DROP)}
    kept = {index: item for index, item in items.items() if index not in gone}
    for edit in node.take(ORDER):
        kept = {index: kept[index] for index in edit.value if index in kept} | kept
    out = list(kept.values())
    for edit in sorted(node.take(ADD), key=lambda one: one.at):
        out.insert(edit.at, edit.value)
    return out
