"""The answer of `record` as text: one line per recording, one summary."""

from typing import Protocol

from githarness.render import escape

_PATH = 60


class Skip(Protocol):
    """What is read of one input that was not recorded."""

    path: str
    reason: str


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


def skipped(path: str, reason: str) -> str:
    """Render one input that was not recorded."""
    return f"skipped   {tail(path)}: {escape.line(reason)}"


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


def tail(path: str) -> str:
    """Escape a path and keep its end, where the difference is."""
    shown = escape.line(path)
    return shown if len(shown) <= _PATH else "…" + shown[-_PATH + 1 :]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def text(result: Result) -> str:
    """Render the whole answer."""
    lines = [item(one) for one in result.recorded]
    lines += [skipped(one.path, one.reason) for one in result.skipped]
    return "\n".join([*lines, summary(result.recorded, len(result.skipped), result.store)])
