"""Main: the files of the governed branch at a commit, and one more commit on it.

The gap this closes: two people who apply at the same time each read a state that the
other one changes, and a merge of the two was seen by neither. The decision: a commit
names the tip that it was made for and lands only there; whoever comes second is told
where main is now, and decides again. Files are read from the objects, each hashed, and
never from a work tree.

What it does not do: it knows no knob, no mutation and no decision, writes no message
of its own, and never tries again on another tip.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from githarness.errors import CorruptError, MissingError, RefusedError, UnreadableError, UsageError
from githarness.store import layout
from githarness.store.batch import Damaged, Large
from githarness.store.edit import edit
from githarness.store.git import EMAIL, IDENTITY
from githarness.store.objects import Store
from githarness.store.publish import Fresh, fresh, publish
from githarness.store.trees import Change, Fault, Trees

# Four times the largest document that a mutation may be.
FILE_LIMIT = 1 << 20


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing landed, since main is at `found` and no longer at `expected`."""

    expected: str
    found: str | None


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """What main holds at a commit: plain files, and what cannot be part of any state."""

    files: Mapping[str, bytes]
    faults: tuple[Fault, ...]


def files(store: Store, commit: str) -> dict[str, bytes]:
    """Return every file of main at a commit; UnreadableError, with commit and path, for a fault."""
    found = survey(store, commit)
    if found.faults:
        first = found.faults[0]
        raise UnreadableError(
            f"commit {commit} holds {first.path!r}, which no state can hold: {first.reason}",
            hint="githarness verify",
        )
    return dict(found.files)


def survey(store: Store, commit: str) -> Files:
    """Return the files of main at a commit with its faults beside them, for whoever judges both."""
    found = Trees(store).differences(None, store.commit(commit).tree)
    there = [(change.path, change.new) for change in found if isinstance(change, Change)]
    read: dict[str, bytes] = {}
    faults = [fault for fault in found if isinstance(fault, Fault)]
    for (path, _), data in zip(there, contents(store, there), strict=True):
        if isinstance(data, Fault):
            faults.append(data)
        elif data is not None:
            read[path] = data
    return Files(files=dict(sorted(read.items())), faults=tuple(faults))


def contents(store: Store, wanted: Iterable[tuple[str, str | None]]) -> Iterator[bytes | Fault | None]:
    """Yield the bytes of many (path, object) in order: None for None, a fault for too many bytes.

    One process reads them all. What is missing or damaged raises CorruptError.
    """
    asked = list(wanted)
    oids = [oid for _, oid in asked if oid is not None]
    answers = iter(store.many(oids, limit=FILE_LIMIT))
    for path, oid in asked:
        if oid is None:
            yield None
            continue
        answer = next(answers)
        if isinstance(answer, Large):
            yield Fault(path=path, reason=f"{answer.size} bytes, of which {FILE_LIMIT} are allowed")
        elif isinstance(answer, Damaged) or answer.kind != "blob":
            why = answer.why if isinstance(answer, Damaged) else f"it is a {answer.kind} and no blob"
            raise CorruptError(
                f"{oid} ({path}) in {store.path} is damaged: {why}",
                hint=f"see what else is: git --git-dir={store.path} fsck --full; then restore a copy",
            )
        else:
            yield answer.data


def land(
    store: Store, *, base: str, writes: Mapping[str, bytes], removes: Iterable[str], message: str, now: int
) -> str | Moved:
    """Put one commit on main, whose tip must be `base`; return it, or `Moved`.

    `removes` are paths that must be there. Raises RefusedError, with nothing done,
    where the commit would change nothing; LockedError and StorageError when it cannot
    be written.
    """
    at = store.tip(layout.MAIN)
    if at != base:
        return Moved(expected=base, found=at)
    objects = draft(store, base=base, writes=writes, removes=removes, message=message, now=now)
    if publish(store, layout.MAIN, objects, old=base):
        return objects[-1].oid
    return Moved(expected=base, found=store.tip(layout.MAIN))


def draft(
    store: Store, *, base: str, writes: Mapping[str, bytes], removes: Iterable[str], message: str, now: int
) -> tuple[Fresh, ...]:
    """Make the objects of one commit on top of `base`, the commit last; nothing is written."""
    gone = frozenset(removes)
    for path in (*writes, *gone):
        layout.check(path)
    if both := gone & writes.keys():
        raise UsageError(f"{min(both)} cannot be written and removed at once")
    tree = store.commit(base).tree
    made = edit(store, tree, writes, gone)
    if made.tree == tree:
        raise RefusedError(f"nothing would change on top of {base[:12]}", hint="githarness export")
    commit = fresh(store, "commit", _commit(made.tree, base, message, now))
    return (*made.objects, commit)


def _commit(tree: str, parent: str, message: str, now: int) -> bytes:
    text = message.encode("utf-8", "replace")
    if b"\0" in text:
        raise UsageError("the message of a commit holds a NUL")
    who = f"{IDENTITY} <{EMAIL}> {now} +0000"
    return f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n".encode() + text


def tip(store: Store) -> str:
    """Return the commit that main is at now; MissingError without one."""
    found = store.tip(layout.MAIN)
    if found is None:
        raise MissingError(f"the store at {store.path} has no branch main", hint="restore it from a copy")
    return found


def named(store: Store, ref: str) -> str:
    """Return the commit that somebody names in any way git knows; MissingError for none."""
    answer = store.git.call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    found = answer.out.decode("utf-8", "replace").split()
    if answer.code != 0 or not found:
        raise MissingError(
            f"{ref[:80]!r} names no commit of the store at {store.path}", hint="githarness verify"
        )
    return found[-1]
