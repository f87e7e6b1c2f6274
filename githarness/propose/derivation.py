"""Derivation: component, class and need of a person, from what a patch contains.

The gap this closes: where approval followed the label, a change labelled
`retry_config` that carried prompt text was applied with nobody asked (reproduced in
a published release). The decision: a closed table from the keys of a patch to a
component and a class; the declaration in force says where a knob belongs; a label is
compared with what was derived and can only raise it. Words of confinement make a
change `security` wherever they stand, over-matching on purpose: the cost of a false
match is that a person looks.

    set, unset              the knob's component; not declared: workflow_topology
    add_guidance, drop_…    prompt
    describe, undescribe    tool_schema
    declare                 declaration
    design                  workflow_topology

What it does not do: it knows no policy, so it cannot say that anything may land.
"""

import functools
from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from githarness.errors import RefusedError
from githarness.propose import carryover
from githarness.propose.knobs import Component, Declaration, IntegerKnob
from githarness.propose.patch import Patch, summary

ChangeClass = Literal["config", "prose", "architecture", "security"]

# In the order in which a label may raise what was derived.
CLASSES: tuple[ChangeClass, ...] = get_args(ChangeClass)
COMPONENTS: tuple[Component, ...] = get_args(Component)

# A change of any of these can talk a model, or the harness, out of a rule.
SAFETY_AFFECTING: frozenset[Component] = frozenset(
    {"workflow_topology", "permission_rule", "validator", "prompt", "declaration"}
)

_CLASS: dict[Component, ChangeClass] = {
    "prompt": "prose",
    "workflow_topology": "architecture",
    "declaration": "architecture",
    "permission_rule": "security",
    "validator": "security",
}

# Whatever confines an agent, by the stem of its usual names. Compared squeezed, so
# that no spelling, spacing or look-alike letter keeps one of them out of sight.
GUARDED = (
    "security", "sandbox", "outbox", "permission", "approv", "bypass", "confin", "trifecta", "privateip",
    "alloweddomain", "blockeddomain", "allowlist", "denylist", "whitelist", "blacklist", "untrusted",
    "blocksends", "credential", "password", "secret", "apikey", "privatekey", "sshkey", "sudo", "firewall",
    "egress", "exfiltrat", "guardrail", "safety", "oversight",
)  # fmt: skip
# A note is one line; the whole patch is shown below it.
_SHOWN = 3


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """What a patch is. `notes` say where that differs from its label: show them first."""

    component: Component
    change_class: ChangeClass
    needs_person: bool
    notes: tuple[str, ...] = ()


def components(patch: Patch, declaration: Declaration) -> tuple[Component, ...]:
    """List the components that a patch touches, by the closed table."""
    found: set[Component] = set()
    for name in (*patch.set, *patch.unset):
        knob = declaration.knob.get(name)
        found.add("workflow_topology" if knob is None else knob.component)
    if patch.add_guidance or patch.drop_guidance:
        found.add("prompt")
    if patch.describe or patch.undescribe:
        found.add("tool_schema")
    if patch.declare is not None:
        found.add("declaration")
    if patch.design is not None:
        found.add("workflow_topology")
    return tuple(sorted(found))


def component(patch: Patch, declaration: Declaration) -> Component:
    """Return the one component of a patch; RefusedError when it touches several."""
    found = components(patch, declaration)
    if len(found) > 1:
        raise RefusedError(
            f"one mutation changes one component, and this changes {', '.join(found)}",
            hint="propose them one by one",
        )
    return found[0]


def reasons(patch: Patch, declaration: Declaration) -> tuple[str, ...]:
    """Say why a person must agree, whatever a label says; empty only for bounded numbers."""
    return tuple(dict.fromkeys(_reasons(patch, declaration)))


def _reasons(patch: Patch, declaration: Declaration) -> Iterator[str]:
    if patch.has_text:
        yield "it changes text that a model reads"
    if patch.declare is not None:
        yield "it changes what may be set, and within which bounds"
    if patch.design is not None:
        yield "it is a design, which only a person can turn into a change"
    for name in (*patch.set, *patch.unset):
        yield from _knob_reasons(name, patch, declaration)
    for one in components(patch, declaration):
        if one in SAFETY_AFFECTING:
            yield f"{one} affects safety"
    yield from (f"it names {word!r}" for word in guarded(patch))


def _knob_reasons(name: str, patch: Patch, declaration: Declaration) -> Iterator[str]:
    knob = declaration.knob.get(name)
    if knob is None:
        yield f"knob {name} is not declared"
    elif knob.safety:
        yield f"knob {name} is declared to affect safety"
    elif not isinstance(knob, IntegerKnob):
        yield f"knob {name} is no number"
    # Unset without a default is no value at all, which no bound contains.
    elif name in patch.unset and knob.default is None:
        yield f"knob {name} would have no value, as it has no default"


def needs_person(patch: Patch, declaration: Declaration) -> bool:
    """Tell whether a patch may never land without a person, as far as its content says."""
    return bool(reasons(patch, declaration))


def guarded(patch: Patch) -> tuple[str, ...]:
    """List the words of confinement in everything that a patch holds but a declaration."""
    # A declaration names such words in its comments; it needs a person anyway.
    held = [
        *patch.set, *patch.unset, *(value for value in patch.set.values() if isinstance(value, str)),
        *patch.add_guidance, *patch.describe, *patch.describe.values(), *patch.undescribe, patch.design or "",
    ]  # fmt: skip
    squeezed = "\n".join(carryover.squeeze(one) for one in held)
    return tuple(word for word, found in _guarded() if found in squeezed)


@functools.cache
def _guarded() -> tuple[tuple[str, str], ...]:
    return tuple((word, carryover.squeeze(word)) for word in GUARDED)


def change_class(patch: Patch, declaration: Declaration) -> ChangeClass:
    """Return the highest class that anything in a patch has."""
    found: list[ChangeClass] = [_CLASS.get(one, "config") for one in components(patch, declaration)]
    if patch.has_text:
        found.append("prose")
    if guarded(patch):
        found.append("security")
    return max(found, key=CLASSES.index)


def derive(
    patch: Patch,
    declaration: Declaration,
    *,
    labelled_class: ChangeClass | None = None,
    labelled_component: Component | None = None,
) -> Derived:
    """Derive everything, and say where a label was corrected or was followed upwards."""
    own, own_class = component(patch, declaration), change_class(patch, declaration)
    claimed: list[ChangeClass] = [labelled_class] if labelled_class else []
    if labelled_component:
        claimed.append(_CLASS.get(labelled_component, "config"))
    final = max([own_class, *claimed], key=CLASSES.index)
    raised = labelled_component in SAFETY_AFFECTING or final != "config"
    notes = (
        *_class_notes(own_class, labelled_class, guarded(patch)),
        *_component_note(own, labelled_component),
    )
    return Derived(
        component=own,
        change_class=final,
        needs_person=raised or needs_person(patch, declaration),
        notes=tuple(f"{note} ({_shown(patch)})" for note in notes),
    )


def _shown(patch: Patch) -> str:
    said = summary(patch)
    more = [f"and {len(said) - _SHOWN} more"] if len(said) > _SHOWN else []
    return ", ".join([*said[:_SHOWN], *more])


def _class_notes(own: ChangeClass, label: ChangeClass | None, words: tuple[str, ...]) -> Iterator[str]:
    if label is None or label == own:
        return
    if CLASSES.index(label) > CLASSES.index(own):
        yield f"labelled {label}, and kept there: by what it contains it is {own}"
    else:
        named = f", as it names {', '.join(words)}" if own == "security" and words else ""
        yield f"labelled {label}, raised to {own} by what it contains{named}"


def _component_note(own: Component, label: Component | None) -> Iterator[str]:
    if label is not None and label != own:
        yield f"labelled {label}: by what it contains it is {own}"
