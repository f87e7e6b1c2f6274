"""One step of main, explained by the mutations it adds or takes back.

The gap this closes: a commit says what somebody wanted to be seen in it. The decision:
it is the state that is explained. A step is applied again: what it takes away is undone
as it was landed, what it adds is applied as its document says, and the files must then
be those that stand there. What does not follow is a problem with its path. Base,
inverse and order are computed and never read from a document.

What it does not do: it remembers nothing of other steps (`history`).
"""

import re
from collections.abc import Mapping

import msgspec

from githarness import canon
from githarness.errors import HarnessError
from githarness.govern import order as orders
from githarness.govern import tag as tags
from githarness.govern.void import Problem, VoidError
from githarness.propose import derivation, files, overlay
from githarness.propose import mutation as mutations
from githarness.propose import patch as patches
from githarness.propose import state as states
from githarness.propose.knobs import Declaration
from githarness.propose.mutation import Mutation
from githarness.propose.state import State

MUTATIONS = "mutations/"
ATTRIBUTES = ".gitattributes"
_DOCUMENT = re.compile(r"mutations/([0-9a-f]{64})[.]json")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One first-parent commit of main and all its files, by path, with their bytes."""

    commit: str
    files: Mapping[str, bytes]
    # What stands there and is no plain file, or cannot be read.
    irregular: tuple[str, ...] = ()
    # Where its files are others than in the step before it, in order; None where nobody looked.
    changed: tuple[str, ...] | None = None


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """One mutation as it took force: where, on which state, and the two digests that names."""

    digest: str
    fingerprint: str
    document: Mutation
    commit: str
    # The place of its step on main; the root is 0.
    index: int
    base: str
    result: str
    was: State
    # In force at the parent of its step: what it is judged by.
    declaration: Declaration

    @property
    def path(self) -> str:
        """Where its document stands."""
        return f"{MUTATIONS}{self.digest}.json"


class Move(msgspec.Struct):
    """What one step does, as far as it could be explained."""

    index: int
    before: Step
    after: Step
    changed: tuple[str, ...]
    added: dict[str, Mutation] = {}
    removed: list[Landing] = []
    landed: list[Landing] = []
    problems: list[Problem] = []

    def fault(self, path: str, rule: str, message: str) -> None:
        """Note what does not follow from the documents of the step."""
        self.problems.append(Problem(self.after.commit, path, rule, message))


def explain(
    index: int, before: Step, was: State | None, after: Step, now: State | None, force: Mapping[str, Landing]
) -> Move:
    """Say what the step from `before` to `after` lands and takes back; `force` is what stands before it.

    `was` and `now` are the two states, None for one that cannot be read.
    """
    changed = after.changed if after.changed is not None else _changed(before.files, after.files)
    move = Move(index=index, before=before, after=after, changed=changed)
    _read_beside(move, force)
    if was is None or now is None:
        move.fault("", "state-unknown", "a step from or to an unreadable state cannot be explained")
    elif not move.problems:
        _compare(move, _added(move, was, _undone(move, was), now), now)
    return move


def _changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[str, ...]:
    return tuple(sorted(path for path in before.keys() | after if before.get(path) != after.get(path)))


def _read_beside(move: Move, force: Mapping[str, Landing]) -> None:
    """Read what changed and is no part of a state: documents first, which explain decisions."""
    for path in move.changed:
        if path.startswith(MUTATIONS):
            _read_document(move, path, force)
    for path in move.changed:
        if path.startswith(tags.ON_MAIN):
            _check_decision(move, path)
        elif path == ATTRIBUTES:
            move.fault(path, "attributes", "no mutation changes how git treats files")
        elif not path.startswith(MUTATIONS) and not files.belongs(path) and path in move.after.files:
            move.fault(path, "unexplained", "it is no file of a harness, and no mutation makes it")


def _read_document(move: Move, path: str, force: Mapping[str, Landing]) -> None:
    match = _DOCUMENT.fullmatch(path)
    data = move.after.files.get(path)
    if match is None:
        move.fault(path, "path", "no name that a mutation document can have")
    elif data is None and match[1] in force:
        move.removed.append(force[match[1]])
    elif data is None:
        move.fault(path, "not-in-force", "it takes back a document that never took force")
    elif canon.sha256(data) != match[1]:
        move.fault(path, "document-digest", "the document is not the one that its name says")
    else:
        try:
            move.added[match[1]] = mutations.decode(data, path)
        except HarnessError as error:
            move.fault(path, "document-unreadable", error.message)


def _check_decision(move: Move, path: str) -> None:
    ref = tags.ref_of_file(path)
    data = move.after.files.get(path)
    if ref is None:
        move.fault(path, "path", "no name that a decision can have")
    elif path in move.before.files and data is not None:
        move.fault(path, "decision-changed", "the bytes of a decision were changed")
    elif data is None:
        gone = {landing.fingerprint for landing in move.removed}
        if path.split("/")[1] not in gone:
            move.fault(path, "decision-removed", "a decision was removed, and its mutation was not")
    elif path.split("/")[1] not in {mutations.fingerprint(one) for one in move.added.values()}:
        move.fault(path, "decision-stray", "it comes with no mutation that it decides on")
    else:
        try:
            tags.parse(ref, data)
        except VoidError as error:
            move.fault(path, "decision-unreadable", error.reason)


def _undone(move: Move, state: State) -> State:
    for landing in sorted(move.removed, key=lambda one: (one.index, one.commit), reverse=True):
        try:
            state = patches.undo(landing.document.patch, landing.was, state)
        except HarnessError as error:
            move.fault(landing.path, "not-an-inverse", error.message)
    return state


def _added(move: Move, was: State, state: State, now: State) -> State:
    """Land what the step adds, judged by the declaration at its parent, whatever else it lands."""
    parent = was.declaration

    def land(document: Mutation, on: State) -> State | None:
        try:
            return _after(document, on, was)
        except HarnessError:
            return None

    for digest in orders.ordered(move.added, state, now, land):
        landing, state = _landed(move, digest, state, was, parent)
        move.landed += [landing] if landing is not None else []
    return state


def _after(document: Mutation, on: State, was: State) -> State:
    """Return the state after a document, within the bounds that were declared at the step's parent."""
    if document.patch.touched.declaration:
        return patches.apply(document.patch, on)
    after = patches.apply(document.patch, msgspec.structs.replace(on, harness=was.harness))
    return msgspec.structs.replace(after, harness=on.harness)


def _landed(
    move: Move, digest: str, state: State, was: State, parent: Declaration
) -> tuple[Landing | None, State]:
    document, path = move.added[digest], f"{MUTATIONS}{digest}.json"
    touched = document.patch.touched
    try:
        after = _after(document, state, was)
        component = derivation.component(document.patch, parent)
    except HarnessError as error:
        move.fault(path, "not-applicable", error.message)
        return None, state
    if component != document.contract.component:
        words = f"it names component {document.contract.component}, and changes {component}"
        move.fault(path, "component", words)
    landing = Landing(
        digest=digest,
        fingerprint=patches.fingerprint(component, document.patch),
        document=document,
        commit=move.after.commit,
        index=move.index,
        base=states.part_digest(state, touched),
        result=states.part_digest(after, touched),
        was=state,
        declaration=parent,
    )
    return landing, after


def _compare(move: Move, expected: State, now: State) -> None:
    added = {one for document in move.added.values() for one in document.patch.added}
    seated = _seated(expected, now, added)
    if seated == now:
        return
    want, have = files.files(seated), files.files(now)
    for path in sorted(want.keys() | have.keys()):
        if want.get(path) != have.get(path):
            move.fault(path, "unexplained", _words(path, want, have))


def _seated(expected: State, now: State, added: set[str]) -> State:
    # A host may merge two additions into any order; everything else keeps its place.
    seats = {entry.id: entry for entry in now.overlay if entry.id in added}
    entries = overlay.ordered(seats.get(entry.id, entry) for entry in expected.overlay)
    return msgspec.structs.replace(expected, overlay=entries)


def _words(path: str, want: Mapping[str, bytes], have: Mapping[str, bytes]) -> str:
    if path not in have:
        return "the mutations of this step leave this file, and it is gone"
    if path not in want:
        return "no mutation of this step makes this file"
    return "no mutation of this step explains what this file holds now"
