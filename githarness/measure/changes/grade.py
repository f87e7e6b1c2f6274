"""Severity: what a change of each class asks of whoever reviews it.

The gap this closes: the same class is harmless on one parameter and an attack on the
next (a wider enum of colours, a wider enum of folders). The decision: a severity per
class, raised for stated reasons only, and every reason is a note beside the change.

What it does not do: it never lowers a severity, and it does not look at recorded calls;
`usage` does.
"""

from collections.abc import Collection
from typing import Any

import msgspec

from githarness.measure.changes import words
from githarness.measure.changes.change import (
    CALLS_BREAK,
    CALLS_MAY_BREAK,
    CALLS_OK,
    CRITICAL,
    HIGH,
    INFO,
    LEVELS,
    LOW,
    NONE,
    REVIEW,
    Finding,
)
from githarness.measure.changes.likeness import parts


class Rule(msgspec.Struct, frozen=True):
    """What is true of a class before anything is known of the one change."""

    severity: str
    calls: str = CALLS_OK
    call: bool = False
    replay: str = "differs"


_SAME_BYTES = "differs; equal calls may do something else"
_RESULTS = "differs; recorded results may not be legal"

RULES = {
    "tool.removed": Rule(REVIEW, CALLS_BREAK, True),
    "tool.renamed": Rule(REVIEW, CALLS_BREAK, True),
    "tool.added": Rule(REVIEW, CALLS_OK, True),
    "tool.redescribed": Rule(REVIEW),
    "tool.reordered": Rule(INFO),
    "param.added.optional": Rule(INFO, CALLS_OK, True),
    "param.added.required": Rule(REVIEW, CALLS_MAY_BREAK, True),
    "param.became_required": Rule(REVIEW, CALLS_MAY_BREAK, True),
    "param.became_optional": Rule(REVIEW, CALLS_OK, True),
    "param.removed": Rule(INFO, CALLS_MAY_BREAK, True),
    "param.renamed": Rule(INFO, CALLS_MAY_BREAK, True),
    "type.widened": Rule(REVIEW, CALLS_OK, True),
    "enum.added": Rule(REVIEW, CALLS_OK, True),
    "constraint.loosened": Rule(REVIEW, CALLS_OK, True),
    "type.narrowed": Rule(INFO, CALLS_MAY_BREAK, True),
    "enum.removed": Rule(INFO, CALLS_MAY_BREAK, True),
    "constraint.tightened": Rule(INFO, CALLS_MAY_BREAK, True),
    "type.changed": Rule(REVIEW, CALLS_MAY_BREAK, True),
    "default.added": Rule(REVIEW, CALLS_OK, False, _SAME_BYTES),
    "default.changed": Rule(REVIEW, CALLS_OK, False, _SAME_BYTES),
    "default.removed": Rule(REVIEW, CALLS_OK, False, _SAME_BYTES),
    "annotation.tightened": Rule(HIGH),
    "annotation.loosened": Rule(CRITICAL),
    "annotation.explicit_default": Rule(NONE),
    "title": Rule(LOW),
    "icons": Rule(LOW),
    "meta": Rule(LOW),
    "key.order": Rule(INFO),
    "format.only": Rule(INFO),
    "output_schema.changed": Rule(REVIEW, CALLS_OK, False, _RESULTS),
    # Nothing is known of these, so each answer is the worse one.
    "other.changed": Rule(REVIEW, CALLS_MAY_BREAK, True),
}

# Parameters that decide what is reached: a file, a host, a program.
_REACHING = frozenset(
    {
        "path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "root", "url",
        "urls", "uri", "href", "link", "endpoint", "host", "hostname", "domain", "webhook", "command",
        "commands", "cmd", "shell", "script", "exec", "program", "binary", "args", "argv",
    }
)  # fmt: skip
_REACHING_FORMATS = frozenset(
    {"uri", "uri-reference", "url", "path", "file-path", "directory-path", "hostname"}
)
# Parameters whose default is what stands between a call and harm.
_SAFETY = frozenset(
    {
        "force", "recursive", "dry", "dryrun", "overwrite", "private", "public", "visibility", "confirm",
        "confirmed", "unsafe", "safe", "sudo", "delete", "purge", "prune", "hard", "verify", "insecure",
        "sandbox", "approve", "allow", "draft",
    }
)  # fmt: skip

_WIDER = frozenset(
    {"param.became_optional", "type.widened", "enum.added", "constraint.loosened", "other.changed"}
)
# Changes whose new text is one more thing that a model is told.
_TELLING = frozenset({"tool.redescribed", "param.added.optional", "param.added.required"})
# A loosened hint beside nothing but these stands alone: none of them changes what the tool does.
_COSMETIC = frozenset(
    {
        "annotation.explicit_default",
        "annotation.loosened",
        "title",
        "icons",
        "meta",
        "key.order",
        "format.only",
    }
)


class Neighbours(msgspec.Struct, frozen=True, kw_only=True):
    """What else there is: the names of all tools and this one's own, and every class found on it."""

    names: Collection[str]
    own: str | None
    classes: Collection[str]


def reasons(finding: Finding, neighbours: Neighbours) -> tuple[tuple[str, ...], str]:
    """Return the notes of a finding and its severity."""
    rule = RULES[finding.id]
    notes, severity = _text_notes(finding, neighbours)
    severity = max(severity, rule.severity, key=LEVELS.index)
    if finding.id in _WIDER and _reaches(finding):
        notes, severity = (*notes, "widens a path, URL or command parameter"), _at_least(severity, HIGH)
    if finding.id.startswith("default.") and parts(finding.param or "") & _SAFETY:
        notes, severity = (*notes, "changes a default that guards against harm"), _at_least(severity, HIGH)
    if finding.id == "param.added.optional" and is_sink(finding.now):
        notes, severity = (*notes, "adds a free-text parameter"), _at_least(severity, REVIEW)
    if finding.id == "annotation.loosened":
        alone = set(neighbours.classes) <= _COSMETIC
        notes = (*notes, "asks clients to ask less" + (", and nothing else changed" if alone else ""))
        severity = CRITICAL if alone else HIGH
    return notes, severity


def _at_least(severity: str, floor: str) -> str:
    return max(severity, floor, key=LEVELS.index)


def _text_notes(finding: Finding, neighbours: Neighbours) -> tuple[tuple[str, ...], str]:
    """Look at added text: what cannot be seen counts everywhere, instructions where a model is told."""
    was, now = _text(finding.was), _text(finding.now)
    if words.looks_the_same(was, now):
        hidden = tuple(words.hidden(was, now)) + tuple(words.hidden(now, was))
        return ("looks the same to a reader", *hidden), HIGH
    if finding.id in _TELLING:
        notes = words.added(was, now, neighbours.names, neighbours.own)
    else:
        notes = tuple(words.hidden(was, now))
    return notes, HIGH if notes else NONE


def _text(value: Any) -> str:
    """Join every string of a value, keys included: any of them may hide something."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{_text(item)}" for key, item in value.items())
    return "\n".join(map(_text, value)) if isinstance(value, list) else ""


def _reaches(finding: Finding) -> bool:
    """Tell whether a parameter decides what is reached, by its name or its declared format."""
    sides = (finding.was, finding.now)
    formats = {
        side.get("format") if isinstance(side, dict) else side for side in sides if _may_be_format(side)
    }
    return bool(parts(finding.param or "") & _REACHING or formats & _REACHING_FORMATS)


def _may_be_format(side: Any) -> bool:
    return isinstance(side, str) or (isinstance(side, dict) and isinstance(side.get("format"), str))


def is_sink(schema: Any) -> bool:
    """Tell whether a parameter takes any text: the way out for what a model was asked to pass on."""
    if not isinstance(schema, dict):
        return schema is True
    if any(key in schema for key in ("enum", "const", "pattern", "format")):
        return False
    branches = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(branches, list) and branches:
        return any(map(is_sink, branches))
    declared = schema.get("type", "string")
    names = declared if isinstance(declared, list) else [declared]
    if "string" in names or ("object" in names and "properties" not in schema):
        return True
    return "array" in names and is_sink(schema.get("items", True))
