"""Counters: deterministic counts over one run.

The gap this closes: "36 tool errors" in real transcripts were 15 failures, 14
denials and 7 calls that never ran. The decision: every call falls in exactly one
of error, denied, cancelled, unknown or success, and a count that cannot be known
is None. Denials are the harness working, so they are never averaged in.

What it does not do: it never looks at the content of a tool result, and it judges
nothing.
"""

from collections.abc import Iterable

from githarness.model.manifest import Stats
from githarness.model.session import (
    CANCELLED,
    COMPLETED,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    REFUSED,
    UNKNOWN,
    UNKNOWN_TOOL,
    Call,
    Session,
)

ERRORS = frozenset({FAILED, REFUSED, UNKNOWN_TOOL})
DENIED = frozenset({DENIED_PERSON, DENIED_HOOK})


def count(session: Session) -> Stats:
    """Reduce a session to its counts."""
    causes = [call.cause for call in session.calls]
    return Stats(
        turns=session.turn_count,
        steps=session.steps,
        tool_calls=len(causes),
        tool_errors=sum(cause in ERRORS for cause in causes),
        tool_denied=sum(cause in DENIED for cause in causes),
        tool_cancelled=causes.count(CANCELLED),
        tool_unknown=causes.count(UNKNOWN),
        malformed_args=_malformed(session.calls),
        compactions=session.compactions,
        ended_on_failed_call=ended_on_failed_call(session),
        stop_cause=session.stop_cause,
        stop_inferred=session.stop_inferred,
    )


def _malformed(calls: Iterable[Call]) -> int | None:
    """Count refused or unparsable arguments; unknown where no call kept its arguments."""
    flags = [call.malformed for call in calls]
    if flags and all(flag is None for flag in flags):
        return None
    return sum(flag is True for flag in flags)


def ended_on_failed_call(session: Session) -> bool | None:
    """Tell whether a completed run's last call that ran had failed.

    Runs that were cut, or whose end is unrecorded, are False: that is another
    finding. None when the deciding call's outcome is unknown.
    """
    if session.stop_cause != COMPLETED:
        return False
    for call in reversed(session.calls):
        if call.cause in DENIED or call.cause == CANCELLED:
            continue
        return None if call.cause == UNKNOWN else call.cause in ERRORS
    return False
