"""The store as a reader sees it: paths at a commit, checked byte by byte.

The gap this closes: `git cat-file` returns a substituted object with exit code 0.
The decision: a path is walked from its commit, and commit, every tree and the blob
are hashed on the way; where the file name is a SHA-256, the bytes must match that
too, since git's own names are only SHA-1. Absent is None, damaged is CorruptError.

What it does not do: it writes nothing, and never guesses between two ids that begin
alike. One reader is for one thread.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

from githarness import canon
from githarness.errors import CorruptError, StorageError
from githarness.store import batch, gitobject, layout, refs
from githarness.store.ahead import Ahead
from githarness.store.batch import Batch, Damaged, Object
from githarness.store.git import Git, reason

# Trees near the root are read again and again; 2,000 of them are about 20 MB.
_TREES_KEPT = 2000
_LISTING = 1 << 16
# Folders between an area and its files: aa/bb.
_FAN_OUT = 2
# What is written again when its source is recorded again; trees and commits are not.
_RECORDED = (*layout.ADDRESSED, layout.RUNS, layout.SIGHTINGS)

T = TypeVar("T")


class Store:
    """Reads one store; a context manager, since it may keep a git process."""

    def __init__(self, path: Path, algorithm: str = "sha1", asking: Batch | None = None) -> None:
        self.git = Git(path)
        self.path = self.git.dir
        self.algorithm = algorithm
        self._batch = asking or Batch(self.git, algorithm)
        self._trees: dict[str, bytes] = {}
        self._begun: dict[Callable[[Store], Any], tuple[Batch, Ahead[Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the git process; reading again starts another."""
        for asking, ahead in self._begun.values():
            ahead.wait()
            asking.close()
        self._begun.clear()
        self._batch.close()

    def begin(self, read: "Callable[[Store], T]") -> None:
        """Start a reading beside whatever is done next, with a reader of its own; once is enough."""
        if read in self._begun:
            return
        asking = Batch(self.git, self.algorithm)
        reader = Store(self.path, self.algorithm, asking)
        self._begun[read] = (asking, Ahead(lambda: read(reader)))

    def is_begun(self, read: "Callable[[Store], T]") -> bool:
        """Tell whether a reading was begun and is not finished."""
        return read in self._begun

    def finish(self, read: "Callable[[Store], T]") -> T:
        """Return what a reading that was begun has found, once; read now when none was."""
        if read not in self._begun:
            return read(self)
        asking, ahead = self._begun.pop(read)
        found: T = ahead.result()
        # its process goes on answering, so that there is one and not two
        self._batch.close()
        self._batch = asking
        return found

    def tip(self, ref: str) -> str | None:
        """Return the commit a branch is at now; None when there is no such branch."""
        try:
            return refs.tip(self.path, ref)
        except OSError as error:
            raise StorageError(f"the store at {self.path} cannot be read: {error.strerror}") from error

    def commit(self, oid: str) -> gitobject.Commit:
        """Read one commit; one that is not there raises CorruptError, since something named it."""
        return self.as_commit(self._object(oid, "as a commit", "commit"))

    def as_commit(self, read: Object) -> gitobject.Commit:
        """Read the commit that an object is; CorruptError for bytes that git would not have written."""
        found = gitobject.commit(read.oid, read.data)
        if found is None:
            self._corrupt(Damaged(oid=read.oid, why="it does not read as a commit"), "as a commit")
        return found

    def get(self, oid: str, kind: str, path: str = "") -> Object:
        """Read one object of a kind; `path` says in the error where it was to stand.

        One that is not there, damaged or of another kind raises CorruptError.
        """
        return self._object(oid, path, kind)

    def gets(self, wanted: Iterable[tuple[str, str]], kind: str) -> Iterator[Object]:
        """Yield many objects of a kind, given as id and path, in order; CorruptError as `get` has it."""
        asked = list(wanted)
        answers = self._batch.many(oid for oid, _ in asked)
        for (_, path), answer in zip(asked, answers, strict=True):
            yield self._checked(answer, path, kind)

    def last_commit_time(self) -> int | None:
        """Return when something was last recorded, in seconds; None for never."""
        commit = self.commit(self.recordings())
        return commit.time if commit.parents else None

    def read(self, path: str, *, at: str | None = None) -> bytes | None:
        """Return the bytes at `path` in a commit (the tip of recordings); None when absent."""
        oid = self.oid(path, at=at)
        if oid is None:
            return None
        data = self._object(oid, path, "blob").data
        self.check(path, data)
        return data

    def check(self, path: str, data: bytes) -> None:
        """Raise CorruptError when the name at the end of `path` is a digest of other bytes."""
        if layout.is_addressed(path) and canon.sha256(data) != layout.stem(path):
            self._corrupt(Damaged(oid=layout.stem(path), why="its bytes have another SHA-256"), path, "blob")

    def is_intact(self, path: str) -> bool:
        """Tell whether `path` stands at the tip of recordings and its bytes are good."""
        try:
            return self.read(path) is not None
        except CorruptError:
            return False

    def oid(self, path: str, *, at: str | None = None) -> str | None:
        """Return git's name of what stands at `path`; None when nothing does."""
        *folders, last = path.split("/")
        tree = self.commit(at or self.recordings()).tree
        for folder in folders:
            entry = self._entry(tree, folder, path)
            if entry is None or not entry.is_folder:
                return None
            tree = entry.oid
        entry = self._entry(tree, last, path)
        return None if entry is None else entry.oid

    def paths(self, prefix: str = "", *, at: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield path and object id of every file at or below `prefix`, in order of path."""
        process = self.git.popen("ls-tree", "-r", "-z", at or self.recordings(), "--", prefix or ".")
        _, stdout = batch.pipes(process)
        rest, ended = b"", False
        try:
            while chunk := stdout.read(_LISTING):
                *lines, rest = (rest + chunk).split(b"\0")
                yield from map(_listed, lines)
            ended = True
        finally:
            if not ended:
                process.kill()
            _, err = process.communicate()
        if process.returncode:
            why = reason(process.returncode, err)
            raise CorruptError(f"the store at {self.path} cannot be listed: {why}", hint=self._hint())

    def blobs(self, oids: Iterable[str]) -> Iterator[bytes]:
        """Yield the bytes of many objects in order, each checked against its id.

        For objects out of `paths`. Whoever reads files that are named by SHA-256
        passes path and bytes to `check` as well.
        """
        for answer in self.many(oids):
            if isinstance(answer, Damaged):
                self._corrupt(answer, "")
            yield answer.data

    def many(self, oids: Iterable[str], *, limit: int | None = None) -> Iterator[Object | Damaged]:
        """Yield an answer for each object, in order, whatever it is; `Large` above `limit` bytes."""
        return self._batch.many(oids, limit=limit)

    def find(self, prefix: str, areas: Iterable[str] = (layout.RUNS, layout.SURFACES)) -> list[str]:
        """Return every id in `areas` that begins with `prefix`, in order; more than one is not unique.

        Only the fan-out folders that can hold such ids are read. In `sightings` an id
        is the digest of a surface.
        """
        if not layout.is_prefix(prefix):
            return []
        root = self.commit(self.recordings()).tree
        top = {entry.name: entry.oid for entry in self._entries(root, "")}
        return [name for area in areas if area in top for name in self._below(top[area], prefix, _FAN_OUT)]

    def _below(self, tree: str, prefix: str, levels: int, folded: str = "") -> Iterator[str]:
        """Walk down where the folders' names, joined, agree with `prefix`."""
        for entry in self._entries(tree, prefix):
            name = entry.name if levels == 0 else folded + entry.name
            if not (name.startswith(prefix) or (levels and prefix.startswith(name))):
                continue
            if levels:
                yield from self._below(entry.oid, prefix, levels - 1, name)
            else:
                yield layout.stem(name)

    def recordings(self) -> str:
        """Return the commit that `recordings` is at now; CorruptError without one."""
        tip = self.tip(layout.RECORDINGS)
        if tip is None:
            self._corrupt(Damaged(oid=layout.RECORDINGS, why="missing"), layout.RECORDINGS)
        return tip

    def _entry(self, tree: str, name: str, path: str) -> gitobject.Entry | None:
        return next((entry for entry in self._entries(tree, path) if entry.name == name), None)

    def _entries(self, oid: str, path: str) -> list[gitobject.Entry]:
        tree = self._trees.get(oid)
        if tree is None:
            tree = self._object(oid, path, "tree").data
            if len(self._trees) >= _TREES_KEPT:
                self._trees.clear()
            self._trees[oid] = tree
        return list(gitobject.entries(tree, self.algorithm))

    def _object(self, oid: str, path: str, kind: str) -> Object:
        return self._checked(self._batch.get(oid), path, kind)

    def _checked(self, answer: Object | Damaged, path: str, kind: str) -> Object:
        if isinstance(answer, Damaged):
            self._corrupt(answer, path, kind)
        if answer.kind != kind:
            self._corrupt(Damaged(oid=answer.oid, why=f"it is a {answer.kind} and no {kind}"), path)
        return answer

    def _corrupt(self, damaged: Damaged, path: str, kind: str = "") -> NoReturn:
        where = f" ({path})" if path else ""
        raise CorruptError(
            f"{damaged.oid}{where} in {self.path} is damaged: {damaged.why}",
            hint=self._hint(recordable=kind == "blob" and path.split("/", 1)[0] in _RECORDED),
        )

    def _hint(self, *, recordable: bool = False) -> str:
        """Say how to look, and promise a repair by recording only where that repairs."""
        looking = f"see what else is: git --git-dir={self.path} fsck --full; then "
        again = "record its source again, which writes it anew, or " if recordable else ""
        return f"{looking}{again}restore the store from a copy"


def _listed(line: bytes) -> tuple[str, str]:
    head, _, path = line.partition(b"\t")
    return path.decode("utf-8", "surrogateescape"), head.rsplit(b" ", 1)[1].decode()
