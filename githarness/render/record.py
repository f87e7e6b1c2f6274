"""The answer of `record` as text: one line per recording, one summary.

What a person named and did not get is an error with its way out. What walking found and
passed over is counted by reason: a folder of projects holds thousands of other files.
"""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from githarness.render import escape

_PATH = 60
# An error names its file in full, but for names that nobody can read.
_NAMED = 200
# Enough to see what kind of file it is.
_EXAMPLES = 3


class Skip(Protocol):
    """What is read of one input that was not recorded."""

    path: str
    reason: str
    named: bool
    hint: str


class Result(Protocol):
    """What is read of the whole answer."""

    store: str
    recorded: "tuple[Item, ...]"
    skipped: tuple[Skip, ...]


class Item(Protocol):
    """What is read of one recorded item."""

    kind: str
    id: str
    path: str
    format: str
    status: str
    calls: int | None
    failed: int | None
    malformed: int | None
    redacted: int
    surface: str | None
    agent: str | None
    unreadable: int
    unfamiliar: int
    tools: int | None
    notes: list[str]


def item(one: Item) -> str:
    """Render one line, and one indented line per note."""
    words = [f"{one.status:<9} {one.id[:12]}", one.agent or f"surface ({one.format})"]
    if one.kind == "session":
        words += [f"{one.calls} calls", f"{one.failed} failed"]
        words += [f"{one.malformed} malformed"] if one.malformed else []
        words += [f"{one.redacted} redacted"] if one.redacted else []
        words.append(f"surface {one.surface[:12]}" if one.surface else "surface unknown")
    else:
        words.append(f"{one.tools} tools")
    lines = ["  ".join(words) + "  " + tail(one.path)]
    if one.unreadable:
        lines.append(f"          {_count(one.unreadable, 'record')} could not be read")
    if one.unfamiliar:
        lines.append(
            f"          {_count(one.unfamiliar, 'record')} of a type that this version does not know"
        )
    return "\n".join([*lines, *(f"          {escape.line(note)}" for note in one.notes)])


def skipped(skips: Iterable[Skip], *, verbose: bool = False) -> list[str]:
    """Render what walking passed over: a line per reason with some examples, or per file."""
    if verbose:
        return [f"skipped   {tail(one.path)}: {escape.line(one.reason)}" for one in skips]
    by_reason = attrgetter("reason")
    groups = groupby(sorted(skips, key=by_reason), key=by_reason)
    return [_group(reason, [one.path for one in group]) for reason, group in groups]


def _group(reason: str, paths: list[str]) -> str:
    shown = [tail(path) for path in paths[:_EXAMPLES]]
    more = ["…"] if len(paths) > _EXAMPLES else []
    return f"skipped   {_count(len(paths), 'file')}: {escape.line(reason)} ({', '.join(shown + more)})"


def errors(result: Result) -> str:
    """Render what was named and could not be recorded, an error and a hint each; empty when nothing."""
    lines = []
    for one in result.skipped:
        if one.named:
            lines.append(f"error: {tail(one.path, _NAMED)}: {escape.line(one.reason)}")
            lines += [f"hint: {escape.line(one.hint)}"] if one.hint else []
    return "".join(f"{line}\n" for line in lines)


def summary(items: tuple[Item, ...], skips: int, store: str) -> str:
    """Render the closing line."""
    sessions = sum(one.kind == "session" for one in items)
    parts = [_count(sessions, "session"), _count(len(items) - sessions, "surface")]
    states = ", ".join(
        f"{count} {state}"
        for state in ("new", "updated", "unchanged")
        if (count := sum(one.status == state for one in items))
    )
    known = sum(one.kind == "session" and one.surface is not None for one in items)
    words = f"{' and '.join(parts)}" + (f" ({states})" if states else "")
    if sessions:
        words += f"; {known} of {sessions} with a known surface"
    return f"{words}; {_count(skips, 'file')} skipped; store {escape.line(store)}"


def tail(path: str, limit: int = _PATH) -> str:
    """Escape a path and keep its end, where the difference is."""
    shown = escape.line(path)
    return shown if len(shown) <= limit else "…" + shown[-limit + 1 :]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def text(result: Result, *, verbose: bool = False) -> str:
    """Render the whole answer but for what `errors` says."""
    lines = [item(one) for one in result.recorded]
    lines += skipped((one for one in result.skipped if not one.named), verbose=verbose)
    return "\n".join([*lines, summary(result.recorded, len(result.skipped), result.store)])
