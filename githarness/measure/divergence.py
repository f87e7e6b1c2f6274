"""Divergences: how one run departed from another, and where that began.

The gap this closes: after the first call that differs, two runs look at different
results, so everything that follows differs for that one reason (same model, same
tools, same task: 7 % of 300 public pairs went the same way to the end). The
decision: runs are compared from the start, the first structural divergence is the
verdict, and the comparison stops there. What follows can be aligned to be read
(`fold`) and is never counted.

Only differing arguments are not structural. They are reported with the place and
class of each difference, and the caller decides which of them matter.

What cannot be compared is counted as unknown: arguments a client did not keep, and
an outcome nobody wrote down beside a call that was denied.

What it does not do: it computes no fidelity and names no cause (`cause`), calls nothing a
regression (`replays`), and makes no divergence of what came back or of what a model
wrote to a person. That an outcome flipped, or the last text is another, is counted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from githarness.measure import arguments, trajectory
from githarness.measure.arguments import Delta, Renaming
from githarness.measure.trajectory import Block, Pair, Trajectory
from githarness.model.session import (
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    REFUSED,
    UNKNOWN,
    UNKNOWN_TOOL,
    Call,
)

TOOL = "tool"  # another tool entirely: the strongest signal there is
ARGUMENTS = "arguments"  # the same tool, asked something else
EXTRA = "extra"  # went on where the recording had ended
MISSING = "missing"  # ended where the recording went on
BLOCKED = "blocked"  # the same call, let through on one side only
OFF_TAPE = "off_tape"  # a replay asked for a result that was never recorded

# Nothing ran for these. A cancelled call is not among them: it was let through.
BLOCKS = frozenset({DENIED_PERSON, DENIED_HOOK, REFUSED, UNKNOWN_TOOL})

# What the other side of a `blocked` divergence shows.
LET_THROUGH = "let_through"

# Aligning is quadratic when few names repeat, and nobody reads further than this.
FOLD = 400

_PLAIN_NAME = re.compile("[A-Za-z0-9_.-]{1,64}")


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """One departure. `index` is the place among the recorded calls, from 0.

    `expected` and `actual` are tool names, but for `arguments` the arguments
    themselves and for `blocked` the cause or `let_through`; None is "no call".
    `tool` is the name both sides share, or the one side there is.
    """

    kind: str
    index: int
    tool: str | None = None
    expected: Any = None
    actual: Any = None
    deltas: tuple[Delta, ...] = ()

    @property
    def structural(self) -> bool:
        """Whether this changes what the run did rather than what it asked for."""
        return self.kind != ARGUMENTS

    @property
    def cosmetic(self) -> bool:
        """Whether every difference has a harmless spelling as its class; never for structural ones."""
        return not self.structural and all(delta.cls != arguments.VALUE for delta in self.deltas)


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All divergences up to the verdict, and what could not be compared.

    `recorded` and `replayed` count calls. `unknown_arguments` and `unknown_outcomes`
    count pairs that are neither equal nor different. `outcomes_changed` counts calls
    that succeeded on one side and failed on the other; `final_text_same` is None where a
    side has no text. Neither is a divergence. `caveats` are sentences.
    """

    divergences: tuple[Divergence, ...]
    recorded: int
    replayed: int
    unknown_arguments: int = 0
    unknown_outcomes: int = 0
    outcomes_changed: int = 0
    final_text_same: bool | None = None
    caveats: tuple[str, ...] = ()

    @property
    def verdict(self) -> Divergence | None:
        """The first structural divergence; None says only that there is none."""
        return next((one for one in self.divergences if one.structural), None)

    @property
    def structural(self) -> int:
        """How many of the divergences are structural."""
        return sum(one.structural for one in self.divergences)

    @property
    def agreed(self) -> int:
        """How many calls went the recorded way before the verdict."""
        verdict = self.verdict
        return self.recorded if verdict is None else verdict.index

    @property
    def is_cut(self) -> bool:
        """Whether the recording, not the replay, is why the comparison had to stop."""
        verdict = self.verdict
        return verdict is not None and verdict.kind == OFF_TAPE and verdict.expected is not None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of an alignment: tool names of either side, `same` when they are equal."""

    same: bool
    expected: tuple[str, ...]
    actual: tuple[str, ...]


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    """What came after the verdict, for reading only; `omitted` calls of either side are left out."""

    start: int
    rows: tuple[Row, ...]
    omitted: int


class _Tally:
    """What a comparison has found so far."""

    def __init__(self, *, served: bool, schemas: Mapping[str, Any]) -> None:
        self.served = served
        self.schemas = schemas
        self.renaming = Renaming()
        self.found: list[Divergence] = []
        self.unknown_arguments = 0
        self.unknown_outcomes = 0
        self.outcomes_changed = 0
        self.extra = 0


def compare(
    recorded: Trajectory,
    replayed: Trajectory,
    *,
    served: bool = False,
    schemas: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare two runs from their first call to the first structural divergence.

    `served` says that the second was served recorded results: a call that has none
    takes it off the tape. `schemas` are input schemas by tool name, and only name
    defaults. Calls beyond the other run's end are all listed, since they have one
    cause and their number is the news.
    """
    tally = _Tally(served=served, schemas=schemas or {})
    want, got = recorded.calls, replayed.calls
    for block in trajectory.blocks(want, got):
        if _is_plain(block, want, got):
            continue
        structural = _block(tally, trajectory.pairs(block, want, got), want, got)
        tally.found += structural
        if any(one.kind not in (EXTRA, MISSING) for one in structural):
            break
    return Comparison(
        divergences=tuple(tally.found),
        recorded=len(want),
        replayed=len(got),
        unknown_arguments=tally.unknown_arguments,
        unknown_outcomes=tally.unknown_outcomes,
        outcomes_changed=tally.outcomes_changed,
        final_text_same=_same_text(recorded.final_text, replayed.final_text),
        caveats=tuple(caveats(recorded, replayed)),
    )


def _same_text(want: str | None, got: str | None) -> bool | None:
    """Compare last texts but for white space at their ends; None where one side has none."""
    return None if want is None or got is None else want.strip() == got.strip()


def _is_plain(block: Block, recorded: Sequence[Call], replayed: Sequence[Call]) -> bool:
    """Tell the blocks that need no looking into, which in a good replay are nearly all.

    False decides nothing. Calls that are the same place by place are a best pairing
    of a set as well.
    """
    return len(block.recorded) == len(block.replayed) and all(
        _is_repeated(recorded[at], replayed[on])
        for at, on in zip(block.recorded, block.replayed, strict=True)
    )


def _is_repeated(want: Call, got: Call) -> bool:
    if want.name != got.name or want.cause != got.cause or want.output is None:
        return False
    return _kept(want) and _kept(got) and arguments.identical(want.input, got.input)


def _block(
    tally: _Tally, pairs: list[Pair], recorded: Sequence[Call], replayed: Sequence[Call]
) -> list[Divergence]:
    """Note what is not structural, and return what is: one that stops, or all beyond an end."""
    found: dict[str, list[Divergence]] = {kind: [] for kind in (TOOL, OFF_TAPE, BLOCKED, MISSING, EXTRA)}
    for pair in sorted(pairs, key=_place):
        want = None if pair.recorded is None else recorded[pair.recorded]
        got = None if pair.replayed is None else replayed[pair.replayed]
        at = len(recorded) + len(found[EXTRA]) + tally.extra if pair.recorded is None else pair.recorded
        one = _pair(tally, at, want, got)
        if one is not None:
            found[one.kind].append(one)
    tally.extra += len(found[EXTRA])
    for kind in (TOOL, OFF_TAPE, BLOCKED):
        if found[kind]:
            return found[kind][:1]
    return found[MISSING] + found[EXTRA]


def _place(pair: Pair) -> tuple[bool, int]:
    return (pair.recorded is None, (pair.replayed or 0) if pair.recorded is None else pair.recorded)


def _pair(tally: _Tally, index: int, want: Call | None, got: Call | None) -> Divergence | None:
    if want is None or got is None:
        return _alone(tally, index, want, got)
    if want.name != got.name:
        return Divergence(kind=TOOL, index=index, expected=want.name, actual=got.name)
    _arguments(tally, index, want, got)
    if tally.served and want.output is None:
        return Divergence(kind=OFF_TAPE, index=index, tool=got.name, expected=want.name, actual=got.name)
    return _outcome(tally, index, want, got)


def _alone(tally: _Tally, index: int, want: Call | None, got: Call | None) -> Divergence | None:
    if want is not None:
        return Divergence(kind=MISSING, index=index, tool=want.name, expected=want.name)
    if got is None:
        return None
    # Nothing is recorded past the end, so whatever a served replay was told there
    # is invented, and one such call is all that can be said.
    kind = OFF_TAPE if tally.served else EXTRA
    return Divergence(kind=kind, index=index, tool=got.name, actual=got.name)


def _arguments(tally: _Tally, index: int, want: Call, got: Call) -> None:
    if not _kept(want) or not _kept(got):
        tally.unknown_arguments += 1
        return
    schema = tally.schemas.get(want.name)
    deltas = arguments.deltas(want.input, got.input, schema, tally.renaming)
    if arguments.differ(deltas):
        tally.found.append(
            Divergence(
                kind=ARGUMENTS,
                index=index,
                tool=want.name,
                expected=want.input,
                actual=got.input,
                deltas=deltas,
            )
        )


def _kept(call: Call) -> bool:
    return call.malformed is not None or call.input is not None


def _outcome(tally: _Tally, index: int, want: Call, got: Call) -> Divergence | None:
    is_blocked = (want.cause in BLOCKS, got.cause in BLOCKS)
    if is_blocked[0] == is_blocked[1]:
        tally.outcomes_changed += {want.cause, got.cause} == {None, FAILED}
        return None
    if UNKNOWN in (want.cause, got.cause):
        tally.unknown_outcomes += 1
        return None
    expected, actual = (
        call.cause if blocked else LET_THROUGH for call, blocked in zip((want, got), is_blocked, strict=True)
    )
    return Divergence(kind=BLOCKED, index=index, tool=want.name, expected=expected, actual=actual)


def caveats(recorded: Trajectory, replayed: Trajectory) -> Iterator[str]:
    """Say, in sentences, why a comparison of these two is less than it looks."""
    sides = (("first", recorded), ("second", replayed))
    if recorded.agent != replayed.agent:
        yield f"The runs are of two agents ({recorded.agent}, {replayed.agent})."
    if recorded.format != replayed.format:
        yield (
            f"The runs were read from two formats ({recorded.format}, {replayed.format}), "
            "which may name tools and group calls differently."
        )
    for name, side in sides:
        if side.steered:
            yield f"A person steered the {name} run as it worked, so the comparison is approximate."
        if side.unreadable:
            yield f"{side.unreadable} records of the {name} run could not be read, so calls may be missing."
        if not side.calls:
            yield f"The {name} run made no calls."


def fold(recorded: Trajectory, replayed: Trajectory, comparison: Comparison) -> Folded:
    """Align the tool names from the verdict on; no row of it is a divergence."""
    start = comparison.agreed
    want, got = ([call.name for call in side.calls[start:]] for side in (recorded, replayed))
    matcher = SequenceMatcher(None, want[:FOLD], got[:FOLD], autojunk=False)
    rows = tuple(
        Row(same=kind == "equal", expected=tuple(want[a:b]), actual=tuple(got[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
    )
    return Folded(start=start, rows=rows, omitted=sum(max(0, len(side) - FOLD) for side in (want, got)))


def document(divergence: Divergence, *, content: bool = True) -> dict[str, Any]:
    """Return the JSON form; without `content` it has nowhere to put an argument.

    Then values are size and digest, places are left out (their keys are written by
    a model), and so is a tool name that is no plain name.
    """
    shown = {
        "kind": divergence.kind,
        "index": divergence.index,
        "tool": divergence.tool,
        "expected": divergence.expected,
        "actual": divergence.actual,
        "structural": divergence.structural,
        "classes": _classes(divergence.deltas),
    }
    if content:
        return shown | {"deltas": [_delta(delta) for delta in divergence.deltas]}
    withhold = arguments.content_free if divergence.kind == ARGUMENTS else _withheld_name
    values = {side: withhold(shown[side]) for side in ("expected", "actual")}
    return shown | values | {"tool": _withheld_name(divergence.tool)}


def _classes(deltas: tuple[Delta, ...]) -> dict[str, int]:
    names = [delta.cls for delta in deltas]
    return {name: names.count(name) for name in sorted(set(names))}


def _delta(delta: Delta) -> dict[str, Any]:
    return {
        "pointer": delta.pointer,
        "class": delta.cls,
        "change": delta.change,
        "expected": delta.expected,
        "actual": delta.actual,
    }


def _withheld_name(name: str | None) -> Any:
    return name if name is None or _PLAIN_NAME.fullmatch(name) else arguments.content_free(name)
