"""The answer of `log` as text."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

from githarness.render.table import table

_UNKNOWN = "unknown"
_RUN = ("RUN", "AGENT", "STARTED", "CALLS", "FAILED", "SURFACE", "MODEL", "PROJECT")
_SURFACE = ("SURFACE", "TOOLS", "KIND", "DIALECT", "FIRST SEEN", "CHANGE", "SOURCE")


class RunLine(Protocol):
    """What is read of one run."""

    id: str
    agent: str
    model: str | None
    started: str | None
    calls: int
    failed: int
    surface: str | None
    project: str | None


class SurfaceLine(Protocol):
    """What is read of one surface."""

    id: str
    tools: int
    kind: str
    source: str
    first: int
    dialect: str
    withheld: bool
    change: str | None


class Result(Protocol):
    """What is read of the whole answer."""

    runs: tuple[RunLine, ...]
    surfaces: tuple[SurfaceLine, ...]
    runs_total: int | None
    surfaces_total: int
    unreadable: int


def text(result: Result) -> str:
    """Render both lists, and how much of the store they are."""
    runs, surfaces = result.runs, result.surfaces
    pieces = [
        table(_RUN, _runs(runs), {1: 20, 2: 19, 6: 30, 7: 60}),
        table(_SURFACE, _surfaces(surfaces), {6: 40}),
        _counted(result),
    ]
    if result.unreadable:
        pieces.append(f"{result.unreadable} manifest(s) could not be read; githarness status names them")
    return "\n\n".join(piece for piece in pieces if piece)


def _counted(result: Result) -> str:
    met = len({one.id for one in result.surfaces})
    surfaces = f"{met} of {result.surfaces_total} surfaces"
    if result.runs_total is None:
        return surfaces
    return f"{len(result.runs)} of {result.runs_total} runs; {surfaces}"


def _runs(runs: Sequence[RunLine]) -> list[tuple[str, ...]]:
    return [
        (
            one.id[:12],
            one.agent,
            (one.started or _UNKNOWN)[:19],
            str(one.calls),
            str(one.failed),
            one.surface[:12] if one.surface else _UNKNOWN,
            one.model or _UNKNOWN,
            one.project or _UNKNOWN,
        )
        for one in runs
    ]


def _surfaces(surfaces: Sequence[SurfaceLine]) -> list[tuple[str, ...]]:
    return [
        (
            one.id[:12],
            str(one.tools),
            one.kind + (", withheld" if one.withheld else ""),
            one.dialect,
            moment(one.first),
            one.change or "-",
            one.source or "-",
        )
        for one in surfaces
    ]


def moment(seconds: int) -> str:
    """Render seconds since 1970 as UTC to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
