"""Comparing two surfaces: every change, classified, graded and applicable.

The gap this closes: 70 % of the changes in a public history of 154 leave the list of
tool names alone, and a diff that sorts and shortens loses some of the rest. The
decision: pair the tools, compare each pair field by field and schema by schema, and
hand out changes that carry their own edits: `edits.apply` on the first surface gives the
second, and a property test holds that.

Key order is one change for each tool, however many objects are reordered: 137 edits in
that history are nothing else.

What it does not do: it reads no store, looks at no recorded call (`usage`) and renders
nothing.
"""

from collections.abc import Iterable, Iterator

from githarness.measure.changes import fields, grade, layout, tools
from githarness.measure.changes.change import HIGH, LEVELS, Change, Finding, pointer
from githarness.measure.changes.edits import document
from githarness.measure.changes.site import same
from githarness.measure.changes.spans import spans
from githarness.model.surface import Surface

# Keys that no provider hands on to a model.
_TRANSPORT = frozenset({"cache_control", "_meta"})


def compare(before: Surface, after: Surface) -> tuple[Change, ...]:
    """Return what changed, in the order of the first surface; nothing when the bytes are equal."""
    if before.wire == after.wire:
        return ()
    matched = tools.match(before, after)
    by_tool = _by_tool(before, after, matched)
    grader = _Grader(before, after, matched)
    changes = [*grader.changes(layout.dialect(before, after), None)]
    for at, found in by_tool.items():
        changes.extend(grader.changes(_folded(found), at))
    changes.extend(grader.changes(tools.findings(matched, before, after), None))
    if not changes:
        changes.extend(grader.changes(layout.white_space(before, after), None))
    return tuple(changes)


def _by_tool(before: Surface, after: Surface, matched: tools.Matched) -> dict[int, list[Finding]]:
    found: dict[int, list[Finding]] = {}
    for was, now in matched.pairs.items():
        left, right = before.specs[was], after.specs[now]
        if not same(document(left), document(right)):
            found[was] = list(fields.findings(left, right, was))
    for finding in layout.key_order(before, after, matched.pairs):
        found.setdefault(int(finding.path[0]), []).append(finding)
    return dict(sorted(found.items()))


def _folded(found: list[Finding]) -> Iterator[Finding]:
    """Yield findings with all of key order as one: which objects, and their keys on both sides."""
    moved = [one for one in found if one.id == "key.order"]
    yield from (one for one in found if one.id != "key.order")
    if not moved:
        return
    was, now = ({pointer(one.path): getattr(one, side) for one in moved} for side in ("was", "now"))
    yield Finding(
        id="key.order",
        path=moved[0].path if len(moved) == 1 else moved[0].path[:1],
        was=was,
        now=now,
        edits=tuple(edit for one in moved for edit in one.edits),
    )


class _Grader:
    """Turns findings into changes, with what is known of both surfaces as wholes."""

    def __init__(self, before: Surface, after: Surface, matched: tools.Matched) -> None:
        self._before, self._after, self._matched = before, after, matched
        self._names = frozenset(spec.name for one in (before, after) for spec in one.specs)
        fresh = bool(matched.new) or any(
            before.specs[i].name != after.specs[j].name for i, j in matched.pairs.items()
        )
        self._shadows = tools.Shadows(spec.name for spec in after.specs) if fresh else None

    def changes(self, found: Iterable[Finding], at: int | None) -> Iterator[Change]:
        """Grade the findings of one tool (or of the whole, with None) together."""
        found = list(found)
        own = None if at is None else self._before.specs[at].name
        neighbours = grade.Neighbours(names=self._names, own=own, classes={one.id for one in found})
        for finding in found:
            yield self._change(finding, neighbours)

    def _change(self, finding: Finding, neighbours: grade.Neighbours) -> Change:
        notes, severity = grade.reasons(finding, neighbours)
        before, after = self._indices(finding)
        if finding.id in {"tool.added", "tool.renamed"} and after is not None and self._is_shadow(after):
            notes, severity = (
                (*notes, "can be taken for another tool's name"),
                max(severity, HIGH, key=LEVELS.index),
            )
        rule = grade.RULES[finding.id]
        was, now = spans(finding.was, finding.now)
        side = self._before.specs[before] if before is not None else None
        side = self._after.specs[after] if side is None and after is not None else side
        return Change(
            id=finding.id,
            place=pointer(finding.path),
            tool=None if side is None else side.name,
            was=was,
            now=now,
            severity=severity,
            notes=notes,
            model=not _TRANSPORT & set(map(str, finding.path)),
            call=rule.call,
            replay=rule.replay,
            calls=rule.calls,
            param=finding.param_was or finding.param,
            before=before,
            after=after,
            edits=finding.edits,
        )

    def _is_shadow(self, after: int) -> bool:
        return self._shadows is not None and self._shadows.shadowed(self._after.specs[after].name, after)

    def _indices(self, finding: Finding) -> tuple[int | None, int | None]:
        if not finding.path:
            return None, None
        at = int(finding.path[0])
        if finding.id == "tool.added":
            return None, at
        return at, self._matched.pairs.get(at)
