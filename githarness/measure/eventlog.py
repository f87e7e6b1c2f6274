"""An event log of an agent runtime, reduced to the same signs as recorded runs.

The gap this closes: a runtime that logs events, one JSON object each with `kind`,
`action_id`, `proposal_id` and `data`, knows what no transcript shows: retries of its
own, plans used up, a goal that was claimed and not met. The decision: each event
becomes at most one sign at once. The text of an error is looked at to tell a wrong
call from a failing one and goes no further; each failure is judged by its own text,
so order decides nothing.

What it does not do: it parses no JSON. Records that are no event are counted by
`read`; kinds that are no sign of anything are not an error.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from githarness.measure import names
from githarness.measure.interventions import COMPLETION_CLAIM, PROPOSAL, Sign, Trigger, turn_completion

# What runtimes say when a call could not be made as asked, rather than did not work.
WRONG_CALL = (
    "no tool",
    "not registered",
    "unknown tool",
    "schema",
    "param",
    "type mismatch",
    "required",
    "invalid argument",
)

UNKNOWN_ID = "unknown"

_ACTIONS = {
    "action_rejected": Trigger.REJECTED,
    "action_failed": Trigger.FAILED,
    "action_retrying": Trigger.RETRIED,
}
_ENDS = {
    "was_truncated": Trigger.TRUNCATED,
    "max_turns": Trigger.MAX_TURNS,
    "stalled": Trigger.STALLED,
}


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """The signs in a log. `unreadable` counts records that are no event."""

    signs: dict[Sign, int]
    events: int
    unreadable: int


def read(records: Iterable[Any]) -> Log:
    """Count the signs in parsed records, in any order."""
    signs: Counter[Sign] = Counter()
    events = unreadable = 0
    for record in records:
        if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
            unreadable += 1
            continue
        events += 1
        found = sign(record)
        if found is not None:
            signs[found] += 1
    return Log(signs=dict(signs), events=events, unreadable=unreadable)


def sign(event: Mapping[str, Any]) -> Sign | None:
    """Return what one event is a sign of, or None."""
    kind = event.get("kind")
    data = event.get("data")
    data = data if isinstance(data, dict) else {}
    if kind in _ACTIONS:
        is_wrong = kind == "action_failed" and _is_wrong_call(data)
        return Sign(_ACTIONS[kind], _shown(event.get("action_id")), is_wrong)
    if kind == "replan_exhausted":
        return Sign(Trigger.REPLAN_EXHAUSTED, PROPOSAL + _shown(event.get("proposal_id")))
    if kind == "turn_completed":
        return _end(data)
    if kind == "goal_evaluated" and data.get("met") is True and data.get("grounded") is False:
        return Sign(Trigger.UNGROUNDED, COMPLETION_CLAIM)
    return None


def _end(data: Mapping[str, Any]) -> Sign | None:
    """Read why a turn ended: a flag of that name, or that name as the value of any field."""
    for name, trigger in _ENDS.items():
        if data.get(name) is True or name in [value for value in data.values() if isinstance(value, str)]:
            return turn_completion(trigger)
    return None


def _is_wrong_call(data: Mapping[str, Any]) -> bool:
    said = " ".join(str(data.get(name, "")) for name in ("error", "message", "reason")).lower()
    return any(words in said for words in WRONG_CALL)


def _shown(id: object) -> str:
    return names.tool(id) if isinstance(id, str) and id else UNKNOWN_ID
