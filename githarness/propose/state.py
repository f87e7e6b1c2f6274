"""The state: knobs, guidance and tool descriptions in force, and what names them.

The gap this closes: an approval that names no base is good for ever and from
anywhere, and one that names the whole base is void as soon as anything else lands
(a queue in which accepting one proposal invalidates all others stalls). The
decision: two digests. The whole state's says what was in force; the digest of a part
covers only the keys a patch touches, with their values or their absence, and is what
decisions bind to. A knob that was never set is absent, whatever its default.

What it does not do: it knows no files (`files`) and no patch (`patch`).
"""

import functools
from collections.abc import Iterable
from typing import Any

import msgspec

from githarness import canon
from githarness.errors import RefusedError
from githarness.propose import knobs
from githarness.propose.knobs import Declaration, Value
from githarness.propose.overlay import Entry

STATE = "githarness.state.v1"
PART = "githarness.part.v1"


class State(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is in force at one commit. `harness` is the text of harness.toml."""

    harness: str
    knobs: dict[str, Value] = {}
    overlay: tuple[Entry, ...] = ()
    tools: dict[str, str] = {}

    @property
    def declaration(self) -> Declaration:
        """The declared knobs; UnreadableError when the text declares nothing legal."""
        return knobs.parse(self.harness)

    # a replay asks for it some times for each step of main
    @functools.cached_property
    def texts(self) -> dict[str, str]:
        """Guidance in force by id, in order."""
        return {entry.id: entry.text for entry in self.overlay}


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a state that something changes: knob names, guidance ids, tool names."""

    knobs: tuple[str, ...] = ()
    overlay: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    declaration: bool = False


def effective(state: State, name: str) -> Value | None:
    """Return a knob's value in force: as set, or its default; None for one that has neither."""
    if name in state.knobs:
        return state.knobs[name]
    knob = state.declaration.knob.get(name)
    return None if knob is None else knob.default


def whole(state: State) -> bytes:
    """Return the bytes that the digest of a whole state is over."""
    return canon.encode(
        {
            "type": STATE,
            "knobs": state.knobs,
            "overlay": [{"id": entry.id, "text": entry.text} for entry in state.overlay],
            "tools": state.tools,
            "declaration": declaration_digest(state),
        }
    )


def digest(state: State) -> str:
    """Name everything that is in force."""
    return canon.sha256(whole(state))


def declaration_digest(state: State) -> str:
    """Return the SHA-256 of harness.toml."""
    return canon.sha256(state.harness.encode())


def part(state: State, touched: Touched) -> bytes:
    """Return the bytes that the digest of a part is over: null is absence, and no value."""
    document: dict[str, Any] = {
        "type": PART,
        "knobs": {name: state.knobs.get(name) for name in touched.knobs},
        "overlay": {one: state.texts.get(one) for one in touched.overlay},
        "tools": {name: state.tools.get(name) for name in touched.tools},
        "declaration": declaration_digest(state) if touched.declaration else None,
    }
    return canon.encode(document)


def part_digest(state: State, touched: Touched) -> str:
    """Name the part of a state that a change touches."""
    return canon.sha256(part(state, touched))


def check(state: State) -> State:
    """Return a state whose values its own declaration admits; RefusedError names the others."""
    faults = list(unlawful(state))
    if faults:
        raise RefusedError("; ".join(faults), hint="unset or set these knobs first: githarness propose")
    return state


def unlawful(state: State) -> Iterable[str]:
    """Name each set knob that is not declared, or whose value its declaration does not admit."""
    declared = state.declaration.knob
    for name, value in sorted(state.knobs.items()):
        knob = declared.get(name)
        if knob is None:
            yield f"knob {name} is set to {value!r} and not declared"
        elif not knob.admits(value):
            yield f"knob {name} is set to {value!r} and must be {knob.wanted}"
