"""The reply: a model's PROPOSAL block, read strictly, refused with the field at fault.

The gap this closes: searching a reply for the word PROPOSAL finds it in prose and in
rationales and drops the block that was meant; and a reader that makes something of
every reply teaches a model to propose for the sake of proposing. The decision: the
token stands alone on its line, the last such block is the answer, no block is an
answer too, and a block that could not be measured is refused by field. What was
derived from the change wins over what the block calls itself. A proposal that
reproduces what its author read is refused, with the words.

    PROPOSAL
    class: config | prose | architecture | security
    change: one line; KEY=VALUE for config
    metric: one of the six
    rationale: one line

What it does not do: it asks no model, and measures nothing.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from githarness.errors import RefusedError
from githarness.measure.metrics import Metric
from githarness.propose import carryover, change, knobs
from githarness.propose.derivation import CLASSES, ChangeClass
from githarness.propose.knobs import Declaration
from githarness.propose.mutation import Draft
from githarness.propose.patch import Patch

HEADING = "PROPOSAL"

_FIELDS = ("class", "change", "metric", "rationale")
# What models put around a heading, a key or a value by habit. A line that begins with `>`
# is somebody else's, and no answer.
_AROUND = " \t\r#*_`:-"
_FENCE = re.compile(r"\s*(?:```|~~~)")
_WRAPPED = re.compile(r"(`+|\*\*)(.*)\1")
# The words shown to a person; a word with digits in it can be of any length.
_SHOWN = 300


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One block as it was written; `change_class` is what its author called it."""

    change_class: ChangeClass
    change: str
    metric: Metric
    rationale: str = ""


class Declined(msgspec.Struct, frozen=True):
    """No block: nothing is proposed, which is a legitimate answer."""


class Malformed(msgspec.Struct, frozen=True, kw_only=True):
    """A block that cannot be measured, with the field at fault."""

    field: str
    reason: str


def parse(text: str) -> Proposal | Declined | Malformed:
    """Read the last block of a reply."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts = [index for index, line in enumerate(lines) if line.strip(_AROUND) == HEADING]
    if not starts:
        return Declined()
    fields = _fields(lines[starts[-1] + 1 :])
    return fields if isinstance(fields, Malformed) else _proposal(fields)


def _fields(lines: Iterable[str]) -> dict[str, str] | Malformed:
    found: dict[str, str] = {}
    for line in lines:
        # What follows an empty line or the end of a code block is prose again.
        if found and (not line.strip() or _FENCE.match(line)):
            break
        key, colon, value = line.partition(":")
        key = key.strip(_AROUND).lower()
        if not colon or key not in _FIELDS:
            continue
        if key in found:
            return Malformed(field=key, reason="is given twice")
        found[key] = _unwrapped(value)
    return found


def _unwrapped(value: str) -> str:
    # `**class:** config` leaves the closing stars on this side of the colon.
    value = value.strip().removeprefix("**").strip()
    wrapped = _WRAPPED.fullmatch(value)
    return wrapped[2].strip() if wrapped else value


def _proposal(fields: Mapping[str, str]) -> Proposal | Malformed:
    for name in ("class", "change", "metric"):
        if not fields.get(name):
            return Malformed(field=name, reason="is empty" if name in fields else "is missing")
    called = next((one for one in CLASSES if one == fields["class"].lower()), None)
    if called is None:
        return Malformed(field="class", reason=f"must be one of {', '.join(CLASSES)}")
    metric = next((one for one in Metric if one == fields["metric"].lower()), None)
    if metric is None:
        return Malformed(field="metric", reason=f"must be one of {', '.join(Metric)}")
    return Proposal(
        change_class=called, change=fields["change"], metric=metric, rationale=fields.get("rationale", "")
    )


def draft(proposal: Proposal, declaration: Declaration, sources: Iterable[str]) -> Draft:
    """Turn a block into a draft; `sources` is everything its author read but our own brief.

    RefusedError when it reproduces a source, or when its change is of no legal form.
    """
    refuse_quoted(proposal, sources)
    return Draft(
        patch=patch_of(proposal, declaration),
        metric=proposal.metric,
        rationale=proposal.rationale,
        source="reply",
        labelled_class=proposal.change_class,
    )


def refuse_quoted(proposal: Proposal, sources: Iterable[str]) -> None:
    """Raise RefusedError with the words when change or rationale reproduce a source."""
    # Both orders, so that eight words cannot be split over the two fields.
    whole = f"{proposal.change}\n{proposal.rationale}\n{proposal.change}"
    found = carryover.find(whole, sources)
    if found is not None:
        raise RefusedError(
            f"the proposal reproduces what its author read (source {found.source + 1}):"
            f' "{found.words[:_SHOWN]}"',
            hint="have it written again in its author's own words",
        )


def patch_of(proposal: Proposal, declaration: Declaration) -> Patch:
    """Give the typed change of a block.

    A declared knob is set whatever the block calls itself; a setting that nobody
    declared is kept as a design, which changes nothing. Any other value than the
    knob's type admits is refused.
    """
    pair = knobs.assignment(proposal.change)
    if pair is not None and pair[0] in declaration.knob:
        return change.setting([proposal.change], declaration)
    if proposal.change_class == "prose":
        return change.guidance(proposal.change)
    if proposal.change_class == "config" and pair is None:
        raise RefusedError(
            "change: class config needs KEY=VALUE, on one line",
            hint=f"declared knobs: {', '.join(sorted(declaration.knob)) or 'none'}",
        )
    return change.design(proposal.change)
