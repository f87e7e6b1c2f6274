"""Graded by use: how many recorded calls a change would have refused.

The gap this closes: "a parameter became required" is a break for whoever left it out and
nothing for everyone else, and no rule can tell which. The decision: validate every
recorded call, against the schema before, after, and with one change alone. A call counts
against a change when it was accepted before, is refused after, and is refused with that
change alone; a refusal that no change explains alone counts against every change of the
tool that a validator can see, so that none is lost.

What it does not do: it keeps no argument, only counts. It fetches no remote reference,
and it does not run a pattern that could take forever: such a schema answers "unknown".
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jsonschema
import msgspec
import referencing
import referencing.exceptions

from githarness.measure.changes.change import CALLS_BREAK, Change, pointer
from githarness.measure.changes.edits import apply_to
from githarness.model.surface import Surface

# A quantified group with a quantifier or a choice in it can take 2^n steps, and two
# quantifiers n^2: beyond these lengths (a second or so each) nothing is tried.
_EXPONENTIAL = re.compile(r"[+*}|][^()]*\)\s*[+*{]|\)\)+[+*{]")
_EXPONENTIAL_LENGTH = 22
_QUANTIFIER = re.compile(r"[+*]|\{\d*,\d*\}")
_QUADRATIC_LENGTH = 2_000

_UNDECIDABLE = (
    jsonschema.SchemaError,
    jsonschema.exceptions.UnknownType,
    referencing.exceptions.Unresolvable,
    re.error,
    RecursionError,
    TypeError,
    ValueError,
)


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over the recorded calls of one change's tool.

    `refused` is None where a schema cannot be decided. `using` is how many calls gave
    the change's parameter, and None where it has none at the top level. `unread` calls
    have no recorded arguments and are in `total` alone.
    """

    total: int
    refused: int | None
    using: int | None
    unread: int = 0


class _Calls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one tool, equal arguments counted once: (arguments, how often)."""

    distinct: tuple[tuple[Any, int], ...]
    total: int
    unread: int


def usage(
    changes: Sequence[Change], before: Surface, after: Surface, calls: Mapping[str, Sequence[Any]]
) -> tuple[Recorded, ...]:
    """Count for each change, in order; `calls` maps a tool's recorded name to arguments.

    None as arguments means that they were not kept. Changes of the surface as a whole,
    and of tools that were never called, count over nothing.
    """
    known = {name: _counted(given) for name, given in calls.items()}
    nothing = _counted(())
    by_tool: dict[int, list[int]] = {}
    for at, change in enumerate(changes):
        if change.before is not None:
            by_tool.setdefault(change.before, []).append(at)
    found: dict[int, Recorded] = {}
    for index, own in by_tool.items():
        given = known.get(before.specs[index].name, nothing)
        mine = [changes[at] for at in own]
        found.update(zip(own, _of_tool(mine, before, after, given), strict=True))
    return tuple(found.get(at) or Recorded(total=0, refused=0, using=None) for at in range(len(changes)))


def _counted(given: Iterable[Any]) -> _Calls:
    arguments = list(given)
    kept = [one for one in arguments if one is not None]
    by_spelling = {repr(one): one for one in kept}
    counts = Counter(map(repr, kept))
    distinct = tuple((one, counts[spelling]) for spelling, one in by_spelling.items())
    return _Calls(distinct=distinct, total=len(arguments), unread=len(arguments) - len(kept))


def _of_tool(changes: list[Change], before: Surface, after: Surface, calls: _Calls) -> Iterator[Recorded]:
    refused = _newly_refused(changes, before, after, calls)
    alone: list[set[int] | None] = [_refused_alone(change, before, refused) for change in changes]
    explained = set().union(*(found for found in alone if found))
    for change, found in zip(changes, alone, strict=True):
        count: int | None = 0
        if change.calls == CALLS_BREAK:
            count = calls.total
        elif change.call and (refused is None or found is None):
            count = None
        elif change.call and refused:
            count = sum(refused[at][1] for at in (found or set()) | (set(range(len(refused))) - explained))
        yield Recorded(total=calls.total, refused=count, using=_using(change, calls), unread=calls.unread)


def _newly_refused(
    changes: list[Change], before: Surface, after: Surface, calls: _Calls
) -> list[tuple[Any, int]] | None:
    """Return the calls accepted before and refused after; None where that cannot be decided."""
    change = changes[0]
    if change.before is None or change.after is None or not any(one.call for one in changes):
        return []
    old = accepts(before.specs[change.before].input_schema, [one for one, _ in calls.distinct])
    new = accepts(after.specs[change.after].input_schema, [one for one, _ in calls.distinct])
    if old is None or new is None:
        return None
    return [given for given, was, now in zip(calls.distinct, old, new, strict=True) if was and not now]


def _refused_alone(change: Change, before: Surface, refused: list[tuple[Any, int]] | None) -> set[int] | None:
    """Return which of the refused calls this change refuses by itself."""
    if not refused or change.before is None or not change.call:
        return set()
    spec = apply_to([change], before.specs[change.before], change.before)
    verdicts = accepts(spec.input_schema, [one for one, _ in refused])
    return None if verdicts is None else {at for at, accepted in enumerate(verdicts) if not accepted}


def _using(change: Change, calls: _Calls) -> int | None:
    """Count the calls that give a parameter of the top level, which is where calls have names."""
    if change.param is None or change.before is None:
        return None
    top = pointer((change.before, "input_schema", "properties", change.param))
    listed = change.place == pointer((change.before, "input_schema", "required"))
    if not listed and not f"{change.place}/".startswith(f"{top}/"):
        return None
    return sum(times for one, times in calls.distinct if isinstance(one, dict) and change.param in one)


def accepts(schema: Any, arguments: Sequence[Any]) -> list[bool] | None:
    """Validate arguments one by one; None where the schema cannot be decided. No schema accepts all."""
    if schema is None:
        return [True] * len(arguments)
    affordable = min(map(_affordable, _patterns(schema)), default=None)
    if affordable is not None and _longest(list(arguments)) > affordable:
        return None
    try:
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        checking = validator(schema, registry=referencing.Registry())
        return [checking.is_valid(one) for one in arguments]
    except _UNDECIDABLE:
        return None


def _affordable(pattern: str) -> float:
    """How long a string may be for a pattern to be tried on it."""
    if _EXPONENTIAL.search(pattern):
        return _EXPONENTIAL_LENGTH
    return _QUADRATIC_LENGTH if len(_QUANTIFIER.findall(pattern)) > 1 else float("inf")


def _longest(value: Any) -> int:
    """Return the length of the longest string in a value, keys included."""
    return max((len(one) for one in _nested(value) if isinstance(one, str)), default=0)


def _nested(value: Any) -> Iterator[Any]:
    """Yield a value and everything in it, without recursion."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, list | tuple):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend([*one, *one.values()])


def _patterns(schema: Any) -> Iterator[str]:
    """Yield every regular expression of a schema."""
    for one in _nested(schema):
        if isinstance(one, dict):
            if isinstance(one.get("pattern"), str):
                yield one["pattern"]
            if isinstance(one.get("patternProperties"), dict):
                yield from one["patternProperties"]
