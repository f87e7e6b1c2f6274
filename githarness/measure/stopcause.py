"""Stop causes that no record states: a run that went in circles, and one that fell silent.

The gap this closes: clients write down that a limit was reached and not that
nothing came of the run, so two of the five ways to be cut short would never be
counted. The decision: two rules over what was called, applied only where the
transcript states no cause and its end explains nothing. What they find is marked
as inferred.

`loop`: since the last thing a person said, the run's last responses asked for the
same calls with equal arguments `REPEATS` times in a row, or went through the same
two or three responses `LAPS` times. `no_output`: the model responded, every call
was answered, and no word to the person was ever written.

What it does not do: it reads no result, so polling that a run ended in looks like a
loop. It says nothing of a run that no model ever responded in.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from githarness.measure import arguments
from githarness.model.session import LOOP, NO_OUTPUT, Call, Session

# Public clients that watch for this stop at the fifth equal call, or at the fourth
# if its result is equal too. Results are not looked at here, so it is the fifth.
REPEATS = 5

# A lap is two or three responses, so three laps are at least six calls: where
# public detectors of two alternating calls stop as well.
LAPS = 3
LONGEST_LAP = 3

_Move = tuple[tuple[str, bytes], ...]


def inferred(session: Session) -> str | None:
    """Name the stop cause that no record states; None when there is one, or none to be told."""
    if session.stop_cause is not None:
        return None
    if _is_circling(_moves(session)):
        return LOOP
    return NO_OUTPUT if _is_silent(session) else None


def _is_silent(session: Session) -> bool:
    answered = all(call.output is not None for call in session.calls)
    return session.steps > 0 and session.final_text is None and answered


def settled(session: Session) -> Session:
    """Return the session with its inferred stop cause, marked as such; else unchanged."""
    cause = inferred(session)
    if cause is None:
        return session
    return msgspec.structs.replace(session, stop_cause=cause, stop_inferred=True)


def _moves(session: Session) -> list[_Move]:
    """List what each response since the last turn asked for, parallel calls as one set.

    Arguments that were not kept begin the list anew: unknown is never equal.
    """
    moves: list[_Move] = []
    for calls in responses(session.calls[session.since :]):
        if any(call.input is None for call in calls):
            moves.clear()
        else:
            moves.append(tuple(sorted((call.name, arguments.loose(call.input)) for call in calls)))
    return moves


def responses(calls: Iterable[Call]) -> Iterator[list[Call]]:
    """Group calls by the model response that issued them."""
    for _, group in groupby(enumerate(calls), key=_response):
        yield [call for _, call in group]


def _response(placed: tuple[int, Call]) -> tuple[int, int]:
    at, call = placed
    # A step of 0 says nothing about parallel calls, so each is a response.
    return (call.step, 0) if call.step > 0 else (0, at)


def _is_circling(moves: Sequence[_Move]) -> bool:
    return _is_repeated(moves, 1, REPEATS) or any(
        _is_repeated(moves, lap, LAPS) for lap in range(2, LONGEST_LAP + 1)
    )


def _is_repeated(moves: Sequence[_Move], lap: int, times: int) -> bool:
    tail = moves[-lap * times :]
    return len(tail) == lap * times and tail[lap:] == tail[:-lap]
