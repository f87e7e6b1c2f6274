"""The words of a comparison: a change, the span it shows, the edit that makes it true.

The gap this closes: a diff tool that prints "changed" with the first 60 characters of
both sides shows two equal texts for one finding in five. The decision: a change holds
the span that differs, with context and offsets and nothing cut from its middle, and the
exact edits that turn the first surface into the second, so that a list of changes can
be proven complete by applying it.

What it does not do: it escapes nothing. Spans are raw text of a stranger, and whoever
renders them makes invisible characters visible.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET

NONE, INFO, LOW, REVIEW, HIGH, CRITICAL = "none", "info", "low", "review", "high", "critical"
LEVELS = (NONE, INFO, LOW, REVIEW, HIGH, CRITICAL)

# What a class does to a call that was recorded before the change.
CALLS_OK, CALLS_MAY_BREAK, CALLS_BREAK = "ok", "may break", "break"

# Keys and list indices from the list of tools down, in the first surface's terms. A
# tool is {"name", "description", "input_schema", "rest"}; keys that stand for what was
# absent are left out.
Path = tuple[str | int, ...]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A window on one side: `text[start:end]` differs, the rest is context.

    `offset` is where the window starts in the whole text, and `length` how long that
    is, so a reader sees whether something stands before or after it. A value that is
    no string is shown as minimal JSON.
    """

    text: str
    start: int
    end: int
    offset: int
    length: int


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One step on the container at `path`; see `edits.apply` for what each `op` does."""

    path: Path
    op: str
    key: str | int = ""
    value: Any = None
    at: int = 0


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A classified difference before it is graded.

    `was` and `now` are the values (UNSET for absent). `param` is the nearest parameter,
    by its name in the second surface, and `param_was` the name that recorded calls use.
    """

    id: str
    path: Path
    was: Any = UNSET
    now: Any = UNSET
    edits: tuple[Edit, ...] = ()
    param: str | None = None
    param_was: str | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change, ready to be shown, graded and applied.

    `place` is a JSON pointer into the first surface, or into the second for what was
    added. `tool` is the name in the first surface, or the added one; `before` and
    `after` are its indices. `was` or `now` is None where there is nothing on that side.
    `wire`, `model` and `call` say who can see it: the bytes, what a renderer shows the
    model (an unknown renderer shows everything), what a validator enforces. `notes` are
    reasons for the severity, in fixed words without any text of the surface.
    """

    id: str
    place: str
    tool: str | None
    was: Span | None
    now: Span | None
    severity: str
    notes: tuple[str, ...] = ()
    wire: bool = True
    model: bool = True
    call: bool = False
    replay: str
    calls: str
    param: str | None = None
    before: int | None = None
    after: int | None = None
    edits: tuple[Edit, ...] = ()


def pointer(path: Path) -> str:
    """Render a path as a JSON pointer; the part that holds a tool's other keys has no segment."""
    shown = [segment for depth, segment in enumerate(path) if not (depth == 1 and segment == "rest")]
    return "".join(f"/{str(segment).replace('~', '~0').replace('/', '~1')}" for segment in ("tools", *shown))


def worst(changes: Iterable[Change]) -> str | None:
    """Return the highest severity, or None when nothing changed."""
    return max((change.severity for change in changes), key=LEVELS.index, default=None)


def fails_on(changes: Iterable[Change], level: str | None) -> bool:
    """Tell whether any change is at least `level`; without a level every change counts."""
    floor = LEVELS.index(level) if level is not None else 0
    return any(LEVELS.index(change.severity) >= floor for change in changes)
