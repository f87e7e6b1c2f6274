"""Order: how the documents of one step can have followed each other.

The gap this closes: a host that squashes three changes of one knob leaves three
documents and no order, and one that is guessed by name explains half of all squashes.
The decision: of those that touch the same keys, an order is looked for in which each
meets the state that it was made on and the last leaves what stands there; those that
touch different keys follow in any order. What this does not do: it lands nothing, and
where no order fits it leaves saying so to whoever compares.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from githarness.propose import state as states
from githarness.propose.mutation import Mutation
from githarness.propose.state import State

# Squashes of some dozen changes of one key are found in as many steps; more is a puzzle
# that somebody set.
_MOST = 5_000

# Gives the state after a document; None where it does not apply.
Land = Callable[[Mutation, State], State | None]


def ordered(documents: Mapping[str, Mutation], before: State, now: State, land: Land) -> tuple[str, ...]:
    """Return the names of the documents in an order that leads from one state to the other, if any does."""
    if len(documents) == 1:
        return tuple(documents)
    found: list[str] = []
    state = before
    for group in _groups(documents):
        order = _fitting(group, documents, state, now, land) or _by_name(group, documents, state, land)
        for name in order:
            state = land(documents[name], state) or state
        found += order
    return tuple(found)


def _groups(documents: Mapping[str, Mutation]) -> list[list[str]]:
    """Join documents that share a key, also by way of others."""
    groups: list[tuple[set[object], list[str]]] = []
    for name in sorted(documents):
        keys, names = _keys(documents[name]), [name]
        apart = []
        for other, held in groups:
            if keys & other:
                keys, names = keys | other, [*held, *names]
            else:
                apart.append((other, held))
        groups = [*apart, (keys, sorted(names))]
    return sorted(names for _, names in groups)


def _keys(document: Mutation) -> set[object]:
    touched = document.patch.touched
    keys: set[object] = {("knob", one) for one in touched.knobs}
    keys |= {("overlay", one) for one in touched.overlay} | {("tool", one) for one in touched.tools}
    return keys | ({"declaration"} if touched.declaration else set())


def _fitting(
    group: Sequence[str], documents: Mapping[str, Mutation], before: State, now: State, land: Land
) -> Sequence[str]:
    """Return an order in which every document fits; empty when none was found."""
    waiting: list[tuple[tuple[str, ...], State]] = [((), before)]
    for _ in range(_MOST):
        if not waiting:
            break
        taken, state = waiting.pop()
        if len(taken) == len(group):
            if all(_is_same(documents[name], state, now) for name in group):
                return taken
            continue
        for name in reversed([one for one in group if one not in taken]):
            after = land(documents[name], state) if _fits(documents[name], state) else None
            if after is not None:
                waiting.append(((*taken, name), after))
    return ()


def _by_name(
    group: Iterable[str], documents: Mapping[str, Mutation], state: State, land: Land
) -> Sequence[str]:
    """Return the documents that fit one after the other, the first by name first, then the others."""
    left, found = sorted(group), list[str]()
    while left:
        name = next((one for one in left if _fits(documents[one], state)), left[0])
        state = land(documents[name], state) or state
        left.remove(name)
        found.append(name)
    return found


def _fits(document: Mutation, state: State) -> bool:
    return document.base.state == states.part_digest(state, document.patch.touched)


def _is_same(document: Mutation, state: State, now: State) -> bool:
    touched = document.patch.touched
    return states.part_digest(state, touched) == states.part_digest(now, touched)
