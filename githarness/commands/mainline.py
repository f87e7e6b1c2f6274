"""The line of main: its first-parent steps with all their files, explained from the root on.

The gap this closes: after each landing the whole of main was explained again, to judge
one step more. The decision: an explanation goes on from where an earlier one of the same
command ended, when main still contains that place. What this does not do: it judges
nothing, and remembers nothing beyond the command.
"""

from collections.abc import Iterator

from githarness.errors import MissingError
from githarness.govern.history import Walk
from githarness.govern.step import Step
from githarness.store import history
from githarness.store import main as branch
from githarness.store.objects import Store


def explained(store: Store, root: str, tip: str, before: Walk | None = None) -> Walk:
    """Return main explained from `root` to `tip`, by `before` as far as it goes.

    MissingError when `root` is not among the first parents of `tip`.
    """
    if before is not None and before.root == root and before.last is not None:
        try:
            return _taken(before.copy(), onward(store, before.last, tip))
        except MissingError:
            pass  # main was set back meanwhile, and is explained from the root
    steps = history.steps(store, root, tip)
    start, walk = first(store, root), Walk()
    walk.take(start)
    return _taken(walk, _full(store, start, steps))


def _taken(walk: Walk, steps: Iterator[Step]) -> Walk:
    for step in steps:
        walk.take(step)
    return walk


def first(store: Store, root: str) -> Step:
    """Return the step that is taken as it is."""
    survey = branch.survey(store, root)
    return Step(commit=root, files=dict(survey.files), irregular=tuple(one.path for one in survey.faults))


def onward(store: Store, last: Step, tip: str) -> Iterator[Step]:
    """Return the steps after one up to `tip`; MissingError when it is not on the way there."""
    return _full(store, last, history.steps(store, last.commit, tip))


def _full(store: Store, last: Step, found: Iterator[history.Step]) -> Iterator[Step]:
    for step in found:
        files = dict(last.files)
        for change in step.changed:
            if change.new is None:
                files.pop(change.path, None)
            else:
                files[change.path] = change.new
        irregular = last.irregular
        if irregular or step.faults:
            # what is no file is told at the step that brought it; whether it left, only a look tells
            irregular = tuple(one.path for one in branch.survey(store, step.commit).faults)
        changed = tuple(change.path for change in step.changed)
        last = Step(commit=step.commit, files=files, irregular=irregular, changed=changed)
        yield last
