"""History: what each first-parent step of main changed, from a root to a tip.

The gap this closes: `git log` reads a commit graph that is a mere cache and trees that
nobody hashed, and a process for each commit makes a thousand steps four seconds. The
decision: one process whatever the length, for commits and trees, whose parents and
lines are read from hashed bytes, and for the files that differ. A merge is one step,
judged by what it did to its first parent.

What it does not do: it explains nothing. What a step means is for whoever knows
mutations.
"""

import itertools
from collections.abc import Iterable, Iterator

import msgspec

from githarness.errors import MissingError
from githarness.store.gitobject import Commit
from githarness.store.main import contents
from githarness.store.objects import Store
from githarness.store.trees import Change, Fault, Trees


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of one file before and after a step; None where there was no file."""

    path: str
    old: bytes | None
    new: bytes | None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One commit against its first parent.

    `changed` is in order of path. What cannot be a file of any state is in `faults`
    and not in `changed`, and only at the step that brought it.
    """

    commit: str
    parent: str
    changed: tuple[Difference, ...]
    faults: tuple[Fault, ...]
    message: str
    time: int


def steps(store: Store, root: str, tip: str) -> Iterator[Step]:
    """Return the steps after `root` up to `tip`, oldest first; none when they are the same.

    Raises MissingError, before the first step, when `root` is not among the first
    parents of `tip`.
    """
    chain = _chain(store, root, tip)
    return _read(store, chain)


def step(store: Store, commit: str) -> Step:
    """Return one commit against its first parent; MissingError for one without a parent."""
    found = store.commit(commit)
    if not found.parents:
        raise MissingError(f"commit {commit} has no parent, so it is no step", hint="githarness verify")
    return next(_read(store, [store.commit(found.parents[0]), found]))


def several(store: Store, commits: Iterable[str]) -> dict[str, Step]:
    """Return many commits against their first parents, by commit; those without a parent are left out.

    Git is asked a few times, whatever their number. CorruptError where one cannot be read.
    """
    read = _commits(store, commits)
    parents = _commits(store, (one.parents[0] for one in read.values() if one.parents))
    pairs = [(parents[one.parents[0]], one) for one in read.values() if one.parents]
    return {step.commit: step for step in _steps(store, pairs)}


def _commits(store: Store, oids: Iterable[str]) -> dict[str, Commit]:
    wanted = [(oid, "as a commit") for oid in dict.fromkeys(oids)]
    return {found.oid: store.as_commit(found) for found in store.gets(wanted, "commit")}


def _chain(store: Store, root: str, tip: str) -> list[Commit]:
    """Walk the first parents down from `tip`; return them from `root` on."""
    found = [store.commit(tip)]
    while found[-1].oid != root:
        parents = found[-1].parents
        if not parents:
            raise MissingError(
                f"{root} is not in the first-parent history of {tip}",
                hint="githarness verify says what that means",
            )
        found.append(store.commit(parents[0]))
    return found[::-1]


def _read(store: Store, chain: list[Commit]) -> Iterator[Step]:
    return _steps(store, list(itertools.pairwise(chain)))


def _steps(store: Store, pairs: list[tuple[Commit, Commit]]) -> Iterator[Step]:
    trees = Trees(store).compared((before.tree, after.tree) for before, after in pairs)
    found = list(zip((after for _, after in pairs), trees, strict=True))
    files = contents(
        store,
        (
            (change.path, oid)
            for _, differences in found
            for change in differences
            if isinstance(change, Change)
            for oid in (change.old, change.new)
        ),
    )
    for commit, differences in found:
        yield _step(commit, differences, files)


def _step(commit: Commit, differences: list[Change | Fault], files: Iterator[bytes | Fault | None]) -> Step:
    changed = []
    faults = []
    for found in differences:
        if isinstance(found, Fault):
            faults.append(found)
            continue
        old, new = next(files), next(files)
        if isinstance(new, Fault):
            faults.append(new)
            new = None
        changed.append(Difference(path=found.path, old=None if isinstance(old, Fault) else old, new=new))
    return Step(
        commit=commit.oid,
        parent=commit.parents[0],
        changed=tuple(sorted(changed, key=lambda difference: difference.path)),
        faults=tuple(faults),
        message=commit.message,
        time=commit.time,
    )
