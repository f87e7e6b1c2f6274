"""History: each first-parent step of main, explained by the mutations it adds or takes back.

The gap this closes: a branch that must be trusted because of how it was written is
lost with the first merge, squash, rebase or hand that writes it otherwise. The
decision: it is the state that is explained. A step is applied again: what it takes
away is undone as it was landed, what it adds is applied as its document says, and the
files must then be those that stand there. What does not follow is a problem with its
path. Base, inverse and order are computed and never read from a document.

Files that nothing explains are a problem until they are gone: the state that would
stand there without them is carried along, and a step that leads to it cures.

What it does not do: it asks nobody's agreement (`replay`).
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from githarness import canon
from githarness.errors import HarnessError
from githarness.govern import tag as tags
from githarness.govern.void import Problem, VoidError
from githarness.propose import derivation, files, overlay
from githarness.propose import mutation as mutations
from githarness.propose import patch as patches
from githarness.propose import state as states
from githarness.propose.mutation import Mutation
from githarness.propose.state import State

MUTATIONS = "mutations/"
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

    @property
    def path(self) -> str:
        """Where its document stands."""
        return f"{MUTATIONS}{self.digest}.json"


class Undoing(msgspec.Struct, frozen=True, kw_only=True):
    """A landing that was taken back, and by which commit."""

    landing: Landing
    commit: str


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All of main. `cured` were problems once, and nothing of them is in force."""

    commits: tuple[str, ...]
    landings: tuple[Landing, ...]
    undone: tuple[Undoing, ...]
    in_force: dict[str, Landing]
    problems: tuple[Problem, ...]
    cured: tuple[Problem, ...]
    # None where the last commit holds no state.
    state: State | None


class _Move(msgspec.Struct):
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
        self.problems.append(Problem(self.after.commit, path, rule, message))


def read(steps: Iterable[Step]) -> History:
    """Explain every step after the first, which is taken as it is."""
    walk = Walk()
    for step in steps:
        walk.take(step)
    return walk.history()


class Walk:
    """Where a reading of main has come to; it can go on from there."""

    def __init__(self) -> None:
        self._commits: list[str] = []
        self._landings: list[Landing] = []
        self._undone: list[Undoing] = []
        self._force: dict[str, Landing] = {}
        self._open: list[Problem] = []
        self._cured: list[Problem] = []
        self._last: Step | None = None
        self._state: State | None = None
        # The files as they would be without anything that is unexplained.
        self._clean: dict[str, bytes] = {}
        # The files that make up the state.
        self._own: dict[str, bytes] = {}

    @property
    def root(self) -> str:
        """The commit that was taken as it is; empty before the first step."""
        return self._commits[0] if self._commits else ""

    @property
    def last(self) -> Step | None:
        """The step that was taken last."""
        return self._last

    def take(self, step: Step) -> None:
        """Go one step further."""
        before, was = self._last, self._state
        faults = [Problem(step.commit, path, "not-a-file", "it is no plain file") for path in step.irregular]
        if step.changed is None:
            self._own = {path: data for path, data in step.files.items() if files.belongs(path)}
        else:
            _follow(self._own, step.files, filter(files.belongs, step.changed))
        self._last, self._state = step, _state(step.commit, self._own, faults)
        self._commits.append(step.commit)
        if before is None:
            self._clean = dict(step.files)
            self._open = faults
        elif not (self._open and not faults and step.files == self._clean):
            move = _explain(len(self._commits) - 1, before, was, step, self._state, self._force)
            self._settle(move, faults)
        if self._open and not faults and step.files == self._clean:
            self._cured += self._open
            self._open = []

    def _settle(self, move: _Move, faults: list[Problem]) -> None:
        if faults or move.problems:
            self._open += [*faults, *move.problems]
            return
        _follow(self._clean, move.after.files, move.changed)
        for landing in move.removed:
            del self._force[landing.digest]
            self._undone.append(Undoing(landing=landing, commit=move.after.commit))
        self._force.update({landing.digest: landing for landing in move.landed})
        self._landings += move.landed

    def history(self) -> History:
        """Return what was found."""
        return History(
            commits=tuple(self._commits),
            landings=tuple(self._landings),
            undone=tuple(self._undone),
            in_force=dict(self._force),
            problems=tuple(self._open),
            cured=tuple(self._cured),
            state=self._state,
        )


def _follow(held: dict[str, bytes], now: Mapping[str, bytes], paths: Iterable[str]) -> None:
    """Take over what stands at some paths now."""
    for path in paths:
        if path in now:
            held[path] = now[path]
        else:
            held.pop(path, None)


def _state(commit: str, own: Mapping[str, bytes], faults: list[Problem]) -> State | None:
    try:
        return files.from_files(own)
    except HarnessError as error:
        named = (path for path in sorted(own) if path in error.message)
        faults.append(Problem(commit, next(named, ""), "state-unreadable", error.message))
        return None


def _explain(
    index: int, before: Step, was: State | None, after: Step, now: State | None, force: Mapping[str, Landing]
) -> _Move:
    changed = after.changed if after.changed is not None else _changed(before.files, after.files)
    move = _Move(index=index, before=before, after=after, changed=changed)
    _read_beside(move, force)
    if was is None or now is None:
        move.fault("", "state-unknown", "a step from or to an unreadable state cannot be explained")
    elif not move.problems:
        _compare(move, _added(move, _undone(move, was)), now)
    return move


def _changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[str, ...]:
    return tuple(sorted(path for path in before.keys() | after if before.get(path) != after.get(path)))


def _read_beside(move: _Move, force: Mapping[str, Landing]) -> None:
    """Read what changed and is no part of a state: documents first, which explain decisions."""
    for path in move.changed:
        if path.startswith(MUTATIONS):
            _read_document(move, path, force)
    for path in move.changed:
        if path.startswith(tags.ON_MAIN):
            _check_decision(move, path)
        elif not path.startswith(MUTATIONS) and not files.belongs(path):
            move.fault(path, "attributes", "no mutation changes how git treats files")


def _read_document(move: _Move, path: str, force: Mapping[str, Landing]) -> None:
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


def _check_decision(move: _Move, path: str) -> None:
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
    else:
        try:
            tags.parse(ref, data)
        except VoidError as error:
            move.fault(path, "decision-unreadable", error.reason)


def _undone(move: _Move, state: State) -> State:
    for landing in sorted(move.removed, key=lambda one: (one.index, one.commit), reverse=True):
        try:
            state = patches.undo(landing.document.patch, landing.was, state)
        except HarnessError as error:
            move.fault(landing.path, "not-an-inverse", error.message)
    return state


def _added(move: _Move, state: State) -> State:
    waiting = dict(move.added)
    while waiting:
        digest = _next(waiting, state)
        document = waiting.pop(digest)
        landing, state = _landed(move, digest, document, state)
        move.landed += [landing] if landing is not None else []
    return state


def _next(waiting: Mapping[str, Mutation], state: State) -> str:
    # Of several mutations of one key in one step, the one made on this state comes first.
    fitting = (one for one in sorted(waiting) if _fits(waiting[one], state))
    return next(fitting, min(waiting))


def _fits(document: Mutation, state: State) -> bool:
    return document.base.state == states.part_digest(state, document.patch.touched)


def _landed(move: _Move, digest: str, document: Mutation, state: State) -> tuple[Landing | None, State]:
    path = f"{MUTATIONS}{digest}.json"
    touched = document.patch.touched
    try:
        after = patches.apply(document.patch, state)
        component = derivation.component(document.patch, state.declaration)
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
    )
    return landing, after


def _compare(move: _Move, expected: State, now: State) -> None:
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
