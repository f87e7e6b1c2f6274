"""Tidying: joining the packs and refs that are left behind, one per commit or entry.

The gap this closes: a record into a store of one pack takes 7 ms, into one of 400
packs 25 ms, and a full `git gc` rewrites everything (`repack -f` 240 s, and the
result is larger); a thousand entries of the ledger in a thousand files are listed in
25 ms, in one file in 3. The decision: a geometric repack, which joins only small packs
with each other and drops no object, also none that nothing names yet; tags are packed,
branches are not, since they move. It runs on its own after a commit that finds many
packs, one at a time, and nobody waits for it.

What it does not do: it prunes nothing and takes no lock that a writer needs; when it
cannot run, recording goes on.
"""

import contextlib
import os

from githarness.errors import HarnessError, LockedError
from githarness.store import layout
from githarness.store.git import Git, environment
from githarness.store.lock import Lock
from githarness.store.stream import pack_count

# Joining 64 small packs takes about 0.1 s of one core, and up to 64 of them a record
# is not measurably slower.
DUE = 64

_REPACK = (
    # One thread: the other cores are for whoever is at work.
    "-c", "pack.threads=1",
    "repack", "--geometric=2", "-d", "-l", "-q", "--no-write-bitmap-index",
)  # fmt: skip
# Without --all: tags, and what is packed already.
_PACK_TAGS = ("pack-refs",)


def is_due(git: Git) -> bool:
    """Tell whether there are so many packs that git will slow down."""
    return pack_count(git) >= DUE


def tidy(git: Git) -> bool:
    """Join small packs, and tags, and wait for it; False when another process is at it already."""
    try:
        with Lock(git.dir / layout.TIDY_LOCK, patience=0):
            git.run(*_REPACK)
            git.run(*_PACK_TAGS)
    except LockedError:
        return False
    return True


def start(git: Git) -> None:
    """Have small packs and tags joined while this process goes on or ends."""
    # Nothing is lost when it cannot be started: the next commit asks again.
    with contextlib.suppress(HarnessError, OSError), Lock(git.dir / layout.TIDY_LOCK, patience=0) as lock:
        # The lock belongs to the open file, so git holds it until it has ended.
        os.set_inheritable(lock.handle, True)
        silence = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        for words in (_REPACK, _PACK_TAGS):
            command = git.command(*words)
            os.posix_spawn(command[0], command, environment(), file_actions=silence, setpgroup=0)
