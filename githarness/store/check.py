"""Checking a whole store: what is damaged, what is missing, what is in the way.

The gap this closes: `git fsck` knows nothing of SHA-256 names or of manifests, and
says nothing about a lock that has stood since Tuesday. The decision: findings are
values and come one at a time, so that whoever asks can stop early; cheap ones first.

What it does not do: it repairs nothing, deletes nothing, and reads of a manifest only
which files it cites.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from githarness import canon
from githarness.errors import LockedError, StorageError
from githarness.store import batch, layout
from githarness.store.batch import Damaged
from githarness.store.lock import Lock
from githarness.store.objects import Store

STALE_LOCK = "stale-lock"
LEFTOVER = "leftover"
GIT = "git-fsck"
DAMAGED = "damaged"
MISNAMED = "misnamed"
UNREADABLE = "unreadable-manifest"
DANGLING = "missing-file"


# What a git process that is at work writes looks like what a killed one left. An hour
# is far longer than the largest recording takes.
LEFT_AFTER = 3600.0
_LEFTOVERS = ("fast_import_crash_*", "tmp_mend_*", "objects/pack/tmp_*", "objects/*/tmp_obj_*")


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, where, and in words; `rule` is for scripts."""

    rule: str
    path: str
    message: str


def fsck(store: Store, *, now: float) -> Iterator[Problem]:
    """Yield every problem of the store; `now` dates the locks."""
    yield from obstacles(store, now=now)
    yield from _objects(store)
    yield from contents(store)


def obstacles(store: Store, *, now: float) -> Iterator[Problem]:
    """Yield git's lock files and what killed processes left: cheap, no object is read."""
    for lock in sorted(_locks(store.path)):
        age = _age(lock, now)
        if age is None:
            continue  # whoever held it is done
        path = str(lock.relative_to(store.path))
        message = f"has stood for {age} s; when no git process is at work on the store: rm {lock}"
        yield Problem(rule=STALE_LOCK, path=path, message=message)
    if _nobody_writes(store.path):
        yield from _leftovers(store.path, now)


def _nobody_writes(folder: Path) -> bool:
    """Tell whether no writer of ours commits; a store that may not be written has none."""
    try:
        with Lock(folder / layout.WRITE_LOCK, patience=0):
            return True
    except LockedError:
        return False
    except StorageError:
        return True


def _leftovers(folder: Path, now: float) -> Iterator[Problem]:
    for left in sorted(path for pattern in _LEFTOVERS for path in folder.glob(pattern)):
        age = _age(left, now)
        if age is not None and age > LEFT_AFTER:
            remove = "rm -r" if left.is_dir() else "rm"
            message = f"left by a killed git {age} s ago; when no git process is at work: {remove} {left}"
            yield Problem(rule=LEFTOVER, path=str(left.relative_to(folder)), message=message)


def _age(path: Path, now: float) -> int | None:
    """Return how many seconds ago a file was written; None when it is gone meanwhile."""
    try:
        return max(0, round(now - path.stat().st_mtime))
    except FileNotFoundError:
        return None


def _locks(folder: Path) -> Iterator[Path]:
    ours = {layout.WRITE_LOCK, layout.TIDY_LOCK}
    yield from (lock for lock in folder.glob("*.lock") if lock.name not in ours)
    yield from (folder / "refs").rglob("*.lock")


def _objects(store: Store) -> Iterator[Problem]:
    answer = store.git.call("fsck", "--full", "--no-dangling", "--no-progress")
    if answer.code:
        for line in (answer.out + answer.err).decode("utf-8", "replace").splitlines():
            yield Problem(rule=GIT, path="", message=line)


def contents(store: Store) -> Iterator[Problem]:
    """Yield files that are not what their name says, and citations of files that are not there."""
    listed = dict(store.paths())
    answers = batch.stream(store.git, listed.values(), store.algorithm)
    for path, answer in zip(listed, answers, strict=True):
        if isinstance(answer, Damaged):
            yield Problem(rule=DAMAGED, path=path, message=f"object {answer.oid}: {answer.why}")
        elif layout.is_addressed(path) and canon.sha256(answer.data) != layout.stem(path):
            yield Problem(rule=MISNAMED, path=path, message="the SHA-256 of the file is not its name")
        elif path.startswith(f"{layout.RUNS}/"):
            yield from _manifest(path, answer.data, listed)


def _manifest(path: str, data: bytes, listed: dict[str, str]) -> Iterator[Problem]:
    try:
        cited = list(cites(canon.read(data)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        yield Problem(rule=UNREADABLE, path=path, message=f"no manifest of a run: {error!r}")
        return
    for place, digest in cited:
        if not (isinstance(digest, str) and canon.is_digest(digest)):
            yield Problem(
                rule=UNREADABLE, path=path, message=f"cites {str(digest)[:80]!r}, which is no digest"
            )
        elif place(digest) not in listed and layout.purged(digest) not in listed:
            yield Problem(rule=DANGLING, path=path, message=f"cites {place(digest)}, which is not there")


def cites(manifest: Any) -> Iterator[tuple[Callable[[str], str], Any]]:
    """Yield how each file that a parsed manifest cites is named, and its digest.

    Withheld surfaces and prompts were never stored, so they are not cited.
    """
    for part in manifest["recording"]["parts"]:
        yield layout.part, part["digest"]
    for key, place in (("surfaces", layout.surface), ("prompts", layout.prompt)):
        for cited in _flat(manifest.get(key, ())):
            if not cited.get("withheld", False):
                yield place, cited["digest"]


def _flat(cited: Any) -> Iterator[dict[str, Any]]:
    """Yield the citations of a list, or of every side where two machines disagree."""
    sides = cited["conflict"] if isinstance(cited, dict) else [cited]
    for side in sides:
        yield from side
