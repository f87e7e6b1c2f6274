"""Builders of counts, rows and corpora for tests."""

from itertools import count

from githarness.measure import corpus
from githarness.measure.corpus import Row
from githarness.model.manifest import Recorded, Run, Stats

IDS = count()


def stats(**fields):
    """Counts of one run in which nothing went wrong and everything is known."""
    plain = {
        "turns": 1,
        "steps": 3,
        "tool_calls": 0,
        "tool_errors": 0,
        "tool_denied": 0,
        "tool_cancelled": 0,
        "tool_unknown": 0,
        "malformed_args": 0,
        "compactions": 0,
        "ended_on_failed_call": False,
        "stop_cause": "completed",
    }
    return Stats(**plain | fields)


def row(*, run=None, agent="agent", model="m", started="2026-11-01T10:00:00Z", counts=None, **fields):
    """One row of a run of its own; `counts` are fields of its stats."""
    run = run or f"{next(IDS):032x}"
    return Row(run=run, agent=agent, model=model, started=started, stats=stats(**counts or {}), **fields)


def rows(number, **fields):
    return [row(**fields) for _ in range(number)]


def gathered(*some, **options):
    return corpus.gather(some, **options)


def manifest(*, models=("m",), copied=0, surfaces=(), state=None, counts=None, **fields):
    recorded = Recorded(
        format="made",
        reader=1,
        digest="d" * 64,
        bytes=1,
        parts=(),
        records=9,
        source_bytes=1,
        unreadable=3,
        unfamiliar={},
        copied=copied,
        redacted=True,
        rules=1,
        redactions={},
        container=None,
        project="/home/p",
        branch=None,
        started="2026-11-01T10:00:00Z",
        ended=None,
        models=models,
        versions=(),
        steered=False,
        stats=stats(**counts or {}),
    )
    return Run(
        id="a" * 32,
        agent="agent",
        native="n",
        parent=None,
        recording=recorded,
        surfaces=surfaces,
        state=state,
    )
