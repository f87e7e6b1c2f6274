"""The patch: what a mutation changes, in a closed set of keys, and how it is applied.

The gap this closes: a patch format that ignores what it does not know applies half of
what was signed, and a rollback that writes "" for what was never set leaves another
state than it found. The decision: eight keys and no ninth; a patch that would change
less than it says is refused; the inverse is computed from the state the patch met
and tells unset from empty. Lists that are sets are sorted, so that the same change
has the same bytes, hence the same fingerprint, however it was written.

`design` is text for a person (a setting that does not exist, a change of structure):
it is kept, it can be decided on, and it never changes anything by itself.

What it does not do: it says nothing of who must agree (`derivation`), and carries
neither reasons nor evidence (`mutation`).
"""

from collections.abc import Iterator
from typing import Annotated, Any, Self, TypeVar

import msgspec
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from githarness import canon
from githarness.errors import RefusedError
from githarness.measure import names
from githarness.propose import fault, files, overlay, text
from githarness.propose import state as states
from githarness.propose.knobs import DECLARATION_LIMIT, KnobName, Value
from githarness.propose.state import State, Touched

TYPE = "githarness.patch.v1"

# A patch is read by a person before it lands; one that lists more is several changes.
MOST_KEYS = 32

V = TypeVar("V")


def _guidance(value: str) -> str:
    return _legal(value, overlay.fault(value))


def _description(value: str) -> str:
    return _legal(value, text.fault(value, text.DESCRIPTION_LIMIT))


def _design(value: str) -> str:
    reason = "must not be empty" if not value.strip() else text.fault(value, text.GUIDANCE_LIMIT)
    return _legal(value, reason)


def _declaration(value: str) -> str:
    return _legal(value, text.fault(value, DECLARATION_LIMIT))


def _tool(value: str) -> str:
    return _legal(value, files.tool_fault(value))


def _knob_value(value: Value) -> Value:
    reason = text.fault(value, text.NAME_LIMIT, lines=False) if isinstance(value, str) else None
    _legal("", reason)
    return value


def _legal(value: str, reason: str | None) -> str:
    if reason is not None:
        raise ValueError(reason)
    return value


def _sorted(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(frozenset(values)) != len(values):
        raise ValueError("holds an entry twice")
    return tuple(sorted(values))


Guidance = Annotated[str, AfterValidator(_guidance)]
Description = Annotated[str, AfterValidator(_description)]
ToolName = Annotated[str, AfterValidator(_tool)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
KnobValue = Annotated[Value, AfterValidator(_knob_value)]


class Patch(BaseModel):
    """One change of the harness. A key that is not used is empty, and not part of its bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    set: dict[KnobName, KnobValue] = {}
    unset: Annotated[tuple[KnobName, ...], AfterValidator(_sorted)] = ()
    add_guidance: tuple[Guidance, ...] = ()
    drop_guidance: Annotated[tuple[Digest, ...], AfterValidator(_sorted)] = ()
    describe: dict[ToolName, Description] = {}
    undescribe: Annotated[tuple[ToolName, ...], AfterValidator(_sorted)] = ()
    declare: Annotated[str, AfterValidator(_declaration)] | None = None
    design: Annotated[str, AfterValidator(_design)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        touched = self.touched
        keys = [*touched.knobs, *touched.overlay, *touched.tools]
        if not keys and self.declare is None and self.design is None:
            raise ValueError("a patch changes something")
        if len(keys) > MOST_KEYS:
            raise ValueError(f"changes {len(keys)} things, of which {MOST_KEYS} fit one mutation")
        for group in (touched.knobs, touched.overlay, touched.tools):
            if len(frozenset(group)) != len(group):
                raise ValueError("changes one thing twice")
        if self.design is not None and (keys or self.declare is not None):
            raise ValueError("a design stands alone")
        return self

    @property
    def added(self) -> dict[str, str]:
        """The guidance that is added, by id."""
        return {overlay.guidance_id(one): one for one in self.add_guidance}

    @property
    def touched(self) -> Touched:
        """The keys of the state that this patch changes."""
        ids = (*(overlay.guidance_id(one) for one in self.add_guidance), *self.drop_guidance)
        return Touched(
            knobs=(*self.set, *self.unset),
            overlay=ids,
            tools=(*self.describe, *self.undescribe),
            declaration=self.declare is not None,
        )

    @property
    def has_text(self) -> bool:
        """Tell whether this patch changes a text that a model reads."""
        touched = self.touched
        return bool(touched.overlay or touched.tools)


def make(**keys: Any) -> Patch:
    """Make a patch of these keys; RefusedError says what is wrong with them."""
    try:
        return Patch(**keys)
    except ValidationError as error:
        raise RefusedError(f"this cannot be proposed: {fault.words(error)}") from error


def plain(patch: Patch) -> dict[str, Any]:
    """Return a patch as JSON that holds only the keys it uses."""
    used: dict[str, Any] = patch.model_dump(exclude_defaults=True)
    return used


def fingerprint(component: str, patch: Patch) -> str:
    """Identify a change by component and patch alone, whatever was said for it."""
    return canon.sha256(canon.encode({"type": TYPE, "component": component, "patch": plain(patch)}))


def obstacles(patch: Patch, of: State) -> Iterator[str]:
    """Say why a patch cannot land on a state as it is written, one reason for each key."""
    if patch.design is not None:
        yield "a design changes nothing by itself: a person turns it into a change"
    yield from _knob_obstacles(patch, of)
    texts = of.texts
    yield from (f"guidance {one[:12]} is already in force" for one in patch.added if one in texts)
    yield from (f"guidance {one[:12]} is not in force" for one in patch.drop_guidance if one not in texts)
    for name, words in patch.describe.items():
        if of.tools.get(name) == words:
            yield f"tool {names.tool(name)} is already described like this"
    yield from (f"tool {names.tool(one)} is not described" for one in patch.undescribe if one not in of.tools)
    if patch.declare == of.harness:
        yield "harness.toml already reads like this"


def _knob_obstacles(patch: Patch, of: State) -> Iterator[str]:
    declared = of.declaration.knob if patch.set else {}
    for name, value in patch.set.items():
        knob = declared.get(name)
        if knob is None:
            yield f"knob {name} is not declared"
        elif not knob.admits(value):
            yield f"knob {name} must be {knob.wanted}, not {value!r}"
        # In Python True equals 1; as settings they are two values.
        elif repr(of.knobs.get(name)) == repr(value):
            yield f"knob {name} is already set to {value!r}"
    yield from (f"knob {one} is not set" for one in patch.unset if one not in of.knobs)


def apply(patch: Patch, of: State) -> State:
    """Return the state after a patch; RefusedError when it would not do all that it says."""
    reasons = tuple(obstacles(patch, of))
    if reasons:
        raise RefusedError("; ".join(reasons), hint="githarness export says what is in force")
    entries = tuple(entry for entry in of.overlay if entry.id not in patch.drop_guidance)
    for guidance in patch.add_guidance:
        entries = overlay.append(entries, guidance)
    return states.check(
        State(
            harness=of.harness if patch.declare is None else patch.declare,
            knobs=_changed(of.knobs, patch.set, patch.unset),
            overlay=entries,
            tools=_changed(of.tools, patch.describe, patch.undescribe),
        )
    )


def _changed(of: dict[str, V], changes: dict[str, V], gone: tuple[str, ...]) -> dict[str, V]:
    return {name: value for name, value in (of | changes).items() if name not in gone}


def inverse(patch: Patch, of: State) -> Patch | None:
    """Return the patch that leads back to `of` once `patch` was applied to it.

    None for a design. A knob that `of` did not have is unset, and never set to some
    empty value. Dropped guidance comes back at the end: `undo` puts it in its place.
    """
    if patch.design is not None:
        return None
    touched = patch.touched
    return make(
        set={name: of.knobs[name] for name in touched.knobs if name in of.knobs},
        unset=tuple(name for name in touched.knobs if name not in of.knobs),
        add_guidance=tuple(entry.text for entry in of.overlay if entry.id in patch.drop_guidance),
        drop_guidance=tuple(patch.added),
        describe={name: of.tools[name] for name in touched.tools if name in of.tools},
        undescribe=tuple(name for name in touched.tools if name not in of.tools),
        declare=of.harness if touched.declaration else None,
    )


def undo(patch: Patch, before: State, now: State) -> State:
    """Take `patch` back out of `now`: everything it touched is as in `before`, order included.

    RefusedError when what it touched is no longer as it left it.
    """
    touched = patch.touched
    if states.part(apply(patch, before), touched) != states.part(now, touched):
        raise RefusedError(
            f"what it did stands there no longer: {', '.join(summary(patch))}",
            hint="githarness verify names whoever changed it since",
        )
    kept = [entry for entry in now.overlay if entry.id not in touched.overlay]
    back = [entry for entry in before.overlay if entry.id in touched.overlay]
    gone = tuple(name for name in touched.knobs if name not in before.knobs)
    bare = tuple(name for name in touched.tools if name not in before.tools)
    restored = msgspec.structs.replace(
        now,
        harness=before.harness if touched.declaration else now.harness,
        knobs=_changed(now.knobs, {n: before.knobs[n] for n in touched.knobs if n in before.knobs}, gone),
        overlay=overlay.ordered([*kept, *back]),
        tools=_changed(now.tools, {n: before.tools[n] for n in touched.tools if n in before.tools}, bare),
    )
    return states.check(restored)


def summary(patch: Patch) -> tuple[str, ...]:
    """Name each change in a few words, without the texts, which are shown elsewhere in full."""
    return (
        *(f"set {name} = {value!r}" for name, value in sorted(patch.set.items())),
        *(f"unset {name}" for name in patch.unset),
        *(f"add guidance {one[:12]}" for one in patch.added),
        *(f"drop guidance {one[:12]}" for one in patch.drop_guidance),
        *(f"describe tool {names.tool(name)}" for name in sorted(patch.describe)),
        *(f"undescribe tool {names.tool(name)}" for name in patch.undescribe),
        *(["declare knobs"] if patch.declare is not None else []),
        *(["design for a person"] if patch.design is not None else []),
    )
