"""Builders of runs for tests: calls, sessions and trajectories in one line each."""

from itertools import count

from githarness.measure import divergence, trajectory
from githarness.measure.divergence import Comparison, Divergence
from githarness.model.session import Call, Session, Turn

IDS = count()


def call(name="read", step=0, output="ok", cause=None, malformed=False, **arguments):
    """One call; without a `step` it is a response of its own, `cause` None is a success."""
    is_error = None if cause == "unknown" else cause is not None
    return Call(
        id=f"c{next(IDS)}",
        step=step,
        name=name,
        input=arguments.pop("raw", arguments),
        output=output,
        is_error=is_error,
        cause=cause,
        malformed=malformed,
    )


def at(step, *calls):
    """The same calls as one model response: a group."""
    return [call(one.name, step, one.output, one.cause, one.malformed, raw=one.input) for one in calls]


def session(*calls, turns=("go",), agent="agent", format="made", **fields):
    said = tuple(Turn(text=text, calls=0) for text in turns)
    return Session(agent=agent, format=format, calls=tuple(calls), turns=said, turn_count=len(said), **fields)


def run(*calls, **fields):
    return trajectory.of(session(*calls, **fields))


def kinds(comparison):
    return [(one.kind, one.index) for one in comparison.divergences]


def compared(first, second, **options):
    """Compare two lists of calls."""
    return divergence.compare(run(*first), run(*second), **options)


def replay(left_at=None, kind="tool", calls=10, **fields):
    """A finished comparison: a replay that left at a call, or never."""
    expected = None if kind == "extra" else "read"
    actual = None if kind == "missing" else "shell"
    found = (
        () if left_at is None else (Divergence(kind=kind, index=left_at, expected=expected, actual=actual),)
    )
    return Comparison(divergences=found, recorded=calls, replayed=calls, **fields)
