"""The mutation: the document that is proposed, reviewed, signed and kept.

The gap this closes: a change that lands without its reason, its falsifier and its way
back is a change that nobody can judge or undo; and a document that two readers parse
differently is signed by one and applied by the other. The decision: one strict
document of canonical bytes, named by their SHA-256, in which the change (patch) is
apart from what is said for it, so that the fingerprint survives new evidence. It is
read only if writing it again gives the same bytes, which leaves no room for unknown
or repeated fields, other orders, floats or spaces.

Base and inverse are kept so that a reader sees them. `apply` and `verify` compute them
again and believe that; a review names where the document says something else
(`disagreements`).

What it does not do: it lands nothing, and holds neither time nor signature.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import (
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from githarness import canon
from githarness.errors import RefusedError, UnreadableError
from githarness.measure.metrics import Metric
from githarness.propose import derivation, fault, text
from githarness.propose import patch as patches
from githarness.propose import state as states
from githarness.propose.derivation import ChangeClass
from githarness.propose.knobs import Component, Declaration, Integer
from githarness.propose.patch import Digest, Patch
from githarness.propose.state import State

# Four times the largest declaration; what is reviewed is shorter by far.
DOCUMENT_LIMIT = 256 * 1024

# Where a proposal came from: measured runs, a model that was asked, or a person.
Source = Literal["evidence", "reply", "hand"]

# Of the tasks that change at all, how many a proposal claims to make better.
DEFAULT_SHARE = (3, 4)
_TASKS = 1_000

_Oid = Annotated[str, StringConstraints(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]
_Principal = Annotated[str, StringConstraints(pattern="^([a-z0-9][a-z0-9._-]{0,62})?$")]
_Counter = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_.]{0,63}$")]
_Words = Annotated[str, StringConstraints(max_length=text.RATIONALE_LIMIT)]


class _Document(BaseModel):
    """What all parts of the document share."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    @field_validator("*")
    @classmethod
    def _visible(cls, value: Any) -> Any:
        for one in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            if isinstance(one, str) and (reason := text.fault(one, text.RATIONALE_LIMIT)):
                raise ValueError(reason)
        return value


class Contract(_Document):
    """What is promised, in words that a measurement can prove wrong."""

    component: Component
    target_failure: _Words
    predicted_improvement: _Words
    metric: Metric
    # (3, 4): of four tasks that change, three get better. What refuting is tested against.
    win_share: tuple[int, int] = DEFAULT_SHARE
    invariants: tuple[_Words, ...]
    falsifying_evaluation: _Words
    rollback: _Words

    @model_validator(mode="after")
    def _claims_something(self) -> Self:
        better, of = self.win_share
        if not (0 < better < of <= _TASKS and 2 * better > of):
            raise ValueError("win_share is a share of tasks above one half and below all")
        return self


class Cited(_Document):
    """The counters a proposal rests on, and the corpus they are of.

    `corpus` is the digest of what was counted; None when nothing was, which is not an
    empty corpus. A counter of None is unknown.
    """

    corpus: Digest | None = None
    counters: dict[_Counter, Integer | None] = {}


class Base(_Document):
    """The commit of main a proposal was made on, and the part of its state that it touches."""

    commit: _Oid
    state: Digest


class Mutation(_Document):
    """One proposed change and everything said for it. Identity is `fingerprint` and `digest`."""

    type: Literal["githarness.mutation.v1"] = "githarness.mutation.v1"
    patch: Patch
    inverse: Patch | None
    contract: Contract
    change_class: ChangeClass
    # Where the label differed from the content: what a person should read first.
    rederived: tuple[_Words, ...]
    raised: bool
    rationale: _Words
    evidence: Cited
    base: Base
    source: Source
    proposer: _Principal


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A change and what is said for it, before it is tied to a state and a proposer.

    `target_failure` and `predicted_improvement` are written from the metric when they
    are empty. The labels are what somebody called it.
    """

    patch: Patch
    metric: Metric
    rationale: str
    source: Source
    target_failure: str = ""
    predicted_improvement: str = ""
    invariants: tuple[str, ...] = ()
    counters: dict[str, int | None] = {}
    win_share: tuple[int, int] = DEFAULT_SHARE
    labelled_class: ChangeClass | None = None
    labelled_component: Component | None = None


# What a cost is in a sentence, and what its falling is.
_SAID: dict[Metric, tuple[str, str]] = {
    Metric.ENDED_ON_FAILED_CALL: ("runs end on a failed call", "fewer runs end on a failed call"),
    Metric.TOOL_ERROR_RATE: ("tool calls fail", "a smaller share of tool calls fails"),
    Metric.CUT_SHORT: ("runs are cut short", "fewer runs are cut short"),
    Metric.COMPACTIONS: ("history is replaced by a summary", "history is replaced by a summary less often"),
    Metric.TURNS: ("runs take many model responses", "runs take fewer model responses"),
    Metric.MALFORMED_ARGS: ("calls have malformed arguments", "fewer calls have malformed arguments"),
}

_INVARIANTS = (
    "nothing but the keys of this patch changes",
    "no tool, permission or validator is added",
)


def build(
    draft: Draft, of: State, *, commit: str, proposer: str = "", evidence: Cited | None = None
) -> Mutation:
    """Make the document of a draft on the state of `commit`.

    RefusedError when the patch would not do what it says there. A design is made into
    a document too, though it can never land.
    """
    text.check(draft.rationale, "the rationale", text.RATIONALE_LIMIT)
    found = derivation.derive(
        draft.patch,
        of.declaration,
        labelled_class=draft.labelled_class,
        labelled_component=draft.labelled_component,
    )
    if draft.patch.design is None:
        patches.apply(draft.patch, of)
    try:
        return Mutation(
            patch=draft.patch,
            inverse=patches.inverse(draft.patch, of),
            contract=_contract(draft, found.component),
            change_class=found.change_class,
            rederived=found.notes,
            raised=found.needs_person and not derivation.needs_person(draft.patch, of.declaration),
            rationale=draft.rationale,
            evidence=Cited(
                corpus=evidence.corpus if evidence else None,
                counters=(evidence.counters if evidence else {}) | draft.counters,
            ),
            base=Base(commit=commit, state=states.part_digest(of, draft.patch.touched)),
            source=draft.source,
            proposer=proposer,
        )
    except ValidationError as error:
        raise RefusedError(f"this cannot be proposed: {fault.words(error)}") from error


def failure(metric: Metric) -> str:
    """Say what is wrong, where nobody said it better."""
    return _SAID[metric][0]


def promise(metric: Metric) -> str:
    """Say what a change predicts, in a sentence that names the metric."""
    return f"{_SAID[metric][1]} (metric {metric})"


def _contract(draft: Draft, component: Component) -> Contract:
    metric = draft.metric
    return Contract(
        component=component,
        target_failure=draft.target_failure or failure(metric),
        predicted_improvement=draft.predicted_improvement or promise(metric),
        metric=metric,
        win_share=draft.win_share,
        invariants=draft.invariants or _INVARIANTS,
        falsifying_evaluation=(
            f"an A/B trial on tasks drawn after this proposal, in which the metric {metric} does not fall"
        ),
        rollback="apply the inverse patch: it restores what was set before, and unsets what was not",
    )


def encode(document: Mutation) -> bytes:
    """Return the bytes of a document, which are its only form."""
    plain = document.model_dump(mode="python")
    plain["patch"] = patches.plain(document.patch)
    plain["inverse"] = None if document.inverse is None else patches.plain(document.inverse)
    return canon.encode(plain)


def decode(data: bytes, what: str = "mutation document") -> Mutation:
    """Read a document; UnreadableError unless writing it again gives the same bytes."""
    if len(data) > DOCUMENT_LIMIT:
        raise UnreadableError(f"{what}: {len(data)} bytes, of which {DOCUMENT_LIMIT} are allowed")
    # For its words: it names repeated keys, bad UTF-8, NaN and absurd nesting.
    canon.parse(data, what)
    try:
        document = Mutation.model_validate_json(data)
    except ValidationError as error:
        raise UnreadableError(f"{what}: {fault.words(error)}") from error
    if encode(document) != data:
        raise UnreadableError(f"{what}: not in canonical form")
    return document


def digest(document: Mutation) -> str:
    """Name a document: the SHA-256 of its bytes."""
    return canon.sha256(encode(document))


def fingerprint(document: Mutation) -> str:
    """Identify the change, which a reject sticks to."""
    return patches.fingerprint(document.contract.component, document.patch)


def needs_person(document: Mutation, declaration: Declaration) -> bool:
    """Tell whether a person must agree: by content, or because a label raised it."""
    by_label = document.raised or document.change_class != "config"
    return by_label or derivation.needs_person(document.patch, declaration)


def disagreements(document: Mutation, of: State) -> Iterator[str]:
    """Say where a document differs from what its patch is on the state it meets.

    Empty means that it may be taken at its word there. Obstacles to landing are not
    among these (`patch.obstacles`).
    """
    declaration = of.declaration
    found = derivation.components(document.patch, declaration)
    if found != (document.contract.component,):
        yield f"names component {document.contract.component}, and changes {', '.join(found)}"
    own = derivation.change_class(document.patch, declaration)
    if derivation.CLASSES.index(own) > derivation.CLASSES.index(document.change_class):
        yield f"names class {document.change_class}, and is {own}"
    if document.base.state != states.part_digest(of, document.patch.touched):
        yield "was made on another state of what it changes"
    elif document.inverse != patches.inverse(document.patch, of):
        yield "names an inverse that does not lead back"
