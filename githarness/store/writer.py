"""The writer: files of one call, in one process and one commit, or not at all.

The gap this closes: with an index, four processes that made twelve commits each lost
21 acknowledged ones. The decision: blobs stream into one `git fast-import` outside
every lock; then, under a lock among our own writers, the tip is read, mutable files
are computed from it, and the branch moves only if it still is where it was. Whoever
lost the race writes again on the new tip and names the blobs by id.

Acknowledged means: git fsynced objects and branch, the branch was read back, and the
folders that hold them are fsynced too.

What stands at the tip and is damaged is written again in a pack of its own: git takes
an object that it has for written, whatever its bytes are worth.

What it does not do: it knows no manifest. It never rewinds, takes away only what it is
told to, removes no lock of git's, reads no clock for what is stored, and keeps no file's
bytes in memory but those it repairs.
"""

import time
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from githarness import canon
from githarness.errors import CorruptError, LockedError
from githarness.store import disk, gitobject, layout, stream, tidy
from githarness.store.lock import Lock
from githarness.store.objects import Store
from githarness.store.stream import Import

# Given the bytes at the tip (None: absent) return the new bytes; None leaves them.
Change = Callable[[bytes | None], bytes | None]
# Given the tip return the paths that are to be taken away.
Choice = Callable[[str], Iterable[str]]

# Only programs that do not take the lock can move the branch meanwhile.
ATTEMPTS = 50


class Writer:
    """Collects files for `recordings`; left without `commit`, nothing of it can be seen.

    `known` holds the digests that are stored already; without it the store is asked,
    and what it holds is read back, so that recording again repairs a damaged file.
    `damaged` has the mutable files that could not be read: each was computed as if it
    were absent. `mended` has the paths of files that were written again as they are.
    """

    def __init__(
        self, store: Store, known: Container[str] | None = None, *, attempts: int = ATTEMPTS
    ) -> None:
        self._store = store
        self._attempts = attempts
        self._known = known
        self._import: Import | None = None
        self._added: dict[str, str] = {}
        self._stored: set[str] = set()
        self._changes: dict[str, Change] = {}
        self._choices: list[Choice] = []
        self._repairs: dict[str, bytes] = {}
        self.damaged: set[str] = set()
        self.mended: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def part(self, data: bytes) -> str:
        """Add a part of a recording; return its digest."""
        return self._add(layout.part, data)

    def surface(self, data: bytes) -> str:
        """Add the bytes of a tools array; return their digest."""
        return self._add(layout.surface, data)

    def prompt(self, data: bytes) -> str:
        """Add a system prompt; return its digest."""
        return self._add(layout.prompt, data)

    def drop(self, digests: Iterable[str]) -> None:
        """Leave parts that this call added out of its commit; those of the store stay."""
        for digest in digests:
            self._added.pop(layout.part(digest), None)

    def remove(self, choose: Choice) -> None:
        """Take away what `choose` names when it is committed; it is asked again on every new tip.

        It is asked after the changes of mutable files, and what this call writes stays.
        """
        self._choices.append(choose)

    def revise(self, path: str, change: Change) -> None:
        """Have `change` compute a mutable file from what is there when it is committed.

        It is called again whenever the branch moved, so it must depend on nothing but
        its argument. Two changes of one path follow each other.
        """
        before = self._changes.get(layout.check(path))
        self._changes[path] = change if before is None else _chain(before, change)

    def commit(self, message: str, *, now: int) -> str | None:
        """Commit everything collected; return the commit, or None when nothing is new.

        `now` is the date of the commit in seconds. Raises LockedError for a lock that
        stays and StorageError when the store cannot be written; the branch is then
        where it was.
        """
        try:
            with Lock(self._store.path / layout.WRITE_LOCK):
                made = self._commit(message, now)
        finally:
            self._close()
        self._stored.update(self._added)
        self._added.clear()
        self._changes.clear()
        self._choices.clear()
        if made is not None and tidy.is_due(self._store.git):
            tidy.start(self._store.git)
        return made

    def _add(self, place: Callable[[str], str], data: bytes) -> str:
        digest = canon.sha256(data)
        path = place(digest)
        if path not in self._added and path not in self._stored and not self._is_known(digest, path):
            self._added[path] = oid = self._identify(data)
            if self._store.oid(path) == oid:
                self._repairs[path] = data
            else:
                self._running().blob(data)
        return digest

    def _is_known(self, digest: str, path: str) -> bool:
        if self._known is not None:
            return digest in self._known
        return self._store.is_intact(path)

    def _commit(self, message: str, now: int) -> str | None:
        for turn in range(self._attempts):
            tip = self._store.recordings()
            revised = self._revise(tip)
            files = self._added | {path: self._identify(data) for path, data in revised.items()}
            self._mend(tip, revised)
            gone = sorted({path for choose in self._choices for path in choose(tip)} - files.keys())
            if not gone and all(self._store.oid(path, at=tip) == oid for path, oid in files.items()):
                return None
            for data in revised.values():
                self._running().blob(data)
            made = self._running().commit(layout.RECORDINGS, tip, files, message, now, gone=gone)
            if self._landed(tip, made):
                return made
            # Spread out, and further each time: those that lost together would only meet again.
            time.sleep(time.time_ns() // 1000 % 20_000 / 1e6 * min(turn + 1, 10))
        raise LockedError(
            f"the branch recordings of {self._store.path} moved on {self._attempts} times in a row",
            hint="stop the other program that writes to it, and run the same command again",
        )

    def _revise(self, tip: str) -> dict[str, bytes]:
        """Return the new bytes of every mutable file that changes."""
        found = {}
        for path, change in self._changes.items():
            old = self._old(path, tip)
            new = change(old)
            if new is not None and new != old:
                found[path] = new
        return found

    def _old(self, path: str, tip: str) -> bytes | None:
        """Return what is there; of what is damaged only the name is left, and it is noted."""
        oid = self._store.oid(path, at=tip)
        try:
            return None if oid is None else self._store.get(oid, "blob", path).data
        except CorruptError:
            self.damaged.add(path)
            return None

    def _mend(self, tip: str, revised: dict[str, bytes]) -> None:
        """Write again, beside git's own ways, what git believes to have and cannot read."""
        for path in self.damaged & revised.keys():
            if self._store.oid(path, at=tip) == self._identify(revised[path]):
                self._repairs[path] = revised[path]
        if self._repairs:
            stream.mend(self._store.git, self._store.algorithm, self._repairs.values())
            self.mended |= self._repairs.keys()
            self._repairs.clear()
            self._store.close()  # a git that runs would go on reading the damaged pack

    def _landed(self, tip: str, made: str) -> bool:
        """End the import; False when the branch moved meanwhile, so that it is tried again."""
        answer = self._running().done()
        self._import = None
        at = self._store.recordings()
        if answer.code == 0 and (at == made or self._descends(at, made)):
            self._settle()
            return True
        if answer.code == 0 or at != tip:
            return False
        lock = self._store.path / f"{layout.RECORDINGS}.lock"
        if lock.exists():
            raise stale(lock)
        raise stream.failure(self._store.git, answer)

    def _descends(self, later: str, earlier: str) -> bool:
        return self._store.git.call("merge-base", "--is-ancestor", earlier, later).code == 0

    def _settle(self) -> None:
        """Fsync the folders: git fsyncs files and leaves their names to the file system."""
        objects = self._store.path / "objects"
        disk.settle(objects / "pack")
        disk.settle(self._store.path / "refs/heads")
        if stream.pack_count(self._store.git) >= stream.MANY_PACKS:
            # beyond so many packs git leaves loose objects, in any of 256 folders
            for folder in objects.glob("[0-9a-f][0-9a-f]"):
                disk.settle(folder)
            disk.settle(objects)

    def _running(self) -> Import:
        if self._import is None:
            self._import = Import(self._store.git)
        return self._import

    def _close(self) -> None:
        """End an import without a commit: its objects stay, and nothing names them."""
        running, self._import = self._import, None
        if running is not None:
            running.done()

    def _identify(self, data: bytes) -> str:
        return gitobject.identify("blob", data, self._store.algorithm)


def _chain(first: Change, second: Change) -> Change:
    def both(old: bytes | None) -> bytes | None:
        middle = first(old)
        new = second(old if middle is None else middle)
        return middle if new is None else new

    return both


def stale(lock: Path) -> LockedError:
    """Name a lock of git's that nobody seems to hold, with its age."""
    age = max(0, round(time.time() - lock.stat().st_mtime))
    return LockedError(
        f"{lock} has stood for {age} s, and git waits for it",
        hint=f"when no git process is at work on the store: rm {lock}",
    )
