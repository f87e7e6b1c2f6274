"""History: all of main, step by step, and what of it is in force.

The gap this closes: a branch that must be trusted because of how it was written is
lost with the first merge, squash, rebase or hand that writes it otherwise. The
decision: each step is explained from the one before it (`step`). Files that nothing
explains are a problem until they are gone: the state that would stand there without
them is carried along, and a step that leads to it cures.

What it does not do: it asks nobody's agreement (`replay`).
"""

import copy
from collections.abc import Iterable, Mapping

import msgspec

from githarness.errors import HarnessError
from githarness.govern.step import Landing, Move, Step, explain
from githarness.govern.void import Problem
from githarness.propose import files
from githarness.propose.state import State


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
    # Where the last commit holds something else than it would without what is unexplained.
    astray: tuple[str, ...]
    # None where the last commit holds no state.
    state: State | None


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
        # Where something stood after the last step that no state can hold.
        self._faulty: frozenset[str] = frozenset()

    @property
    def root(self) -> str:
        """The commit that was taken as it is; empty before the first step."""
        return self._commits[0] if self._commits else ""

    @property
    def last(self) -> Step | None:
        """The step that was taken last."""
        return self._last

    def copy(self) -> "Walk":
        """Return a walk that has come as far, and goes its own way from there."""
        other = Walk()
        other.__dict__.update({name: copy.copy(value) for name, value in vars(self).items()})
        return other

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
        # What was told at the step that brought it does not spoil the steps after that.
        fresh = [one for one in faults if one.path not in self._faulty]
        self._faulty = frozenset(one.path for one in faults)
        if before is None:
            self._clean = dict(step.files)
            self._open = faults
        elif not (self._open and not faults and step.files == self._clean):
            move = explain(len(self._commits) - 1, before, was, step, self._state, self._force)
            self._settle(move, fresh)
        if self._open and not faults and step.files == self._clean:
            self._cured += self._open
            self._open = []

    def _settle(self, move: Move, faults: list[Problem]) -> None:
        if faults or move.problems:
            self._open += [*faults, *move.problems]
            return
        _follow(self._clean, move.after.files, move.changed)
        for landing in move.removed:
            del self._force[landing.digest]
            self._undone.append(Undoing(landing=landing, commit=move.after.commit))
        self._force.update({landing.digest: landing for landing in move.landed})
        self._landings += move.landed

    def _astray(self) -> tuple[str, ...]:
        if not self._open or self._last is None:
            return ()
        now, clean = self._last.files, self._clean
        paths = (path for path in now.keys() | clean if now.get(path) != clean.get(path))
        return tuple(sorted({*paths, *self._faulty}))

    def history(self) -> History:
        """Return what was found."""
        return History(
            commits=tuple(self._commits),
            landings=tuple(self._landings),
            undone=tuple(self._undone),
            in_force=dict(self._force),
            problems=tuple(self._open),
            cured=tuple(self._cured),
            astray=self._astray(),
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
    except HarnessError:
        return _without_faults(commit, own, faults)


def _without_faults(commit: str, own: Mapping[str, bytes], faults: list[Problem]) -> State | None:
    """Read the state that stands beside files of no state; None where harness.toml is one of them."""
    try:
        odd = files.faults(own)
    except HarnessError as error:
        faults.append(Problem(commit, files.HARNESS, "state-unreadable", error.message))
        return None
    faults += [Problem(commit, path, "state-unreadable", why) for path, why in odd.items()]
    return files.from_files({path: data for path, data in own.items() if path not in odd})
