"""One `git fast-import` process: blobs as they come, then one commit, then `done`.

The gap this closes: `git add` and `git commit` rewrite an index of the whole store
(243 ms per record at 100,000 runs), one process per object costs ten spawns, and a
writer that moves the ref by itself must know every format a repository can have.
The decision: stream into one process that moves the branch at the very end, by
comparing. It runs with `--done`, so that a stream that just stops commits nothing.

When it fails it takes its own unfinished pack away: on a full disk that is the room that
others need. What it does not do: it takes no lock, decides nothing about retrying, and
never deletes what another process left behind.
"""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from githarness.errors import StorageError
from githarness.store import disk
from githarness.store import git as program
from githarness.store.batch import end, pipes
from githarness.store.git import Answer, Git

# A pack per record is half the size and half the time of eight loose objects (7
# against 17 ms, all fsynced), but every git process opens every pack: at 400 packs a
# record takes 25 ms. `tidy` joins them long before this many; where it cannot run,
# objects are left loose from here on, which stays as fast as it is.
MANY_PACKS = 256
_MARK = ":1"


class Import:
    """A running import; `done` must be called, whatever happened before."""

    def __init__(self, git: Git) -> None:
        program.version()
        self._git = git
        self._others = _unfinished(git)
        limit = 0 if pack_count(git) < MANY_PACKS else 100
        self._process = git.popen(
            "-c", f"fastimport.unpackLimit={limit}",
            # Level 1 is 1.24 times as fast for 7 % more bytes.
            "-c", "core.compression=1",
            # Long enough for any git that is at work, so that what stays is stale.
            "-c", "core.filesRefLockTimeout=1000",
            "fast-import", "--quiet", "--done", "--date-format=raw",
        )  # fmt: skip
        self._stdin, self._stdout = pipes(self._process)
        self._answer: Answer | None = None

    def blob(self, data: bytes) -> None:
        """Send one file's bytes; StorageError when git has given up."""
        self._send(b"blob\ndata %d\n" % len(data), data, b"\n")

    def commit(
        self,
        ref: str,
        parent: str,
        files: Mapping[str, str],
        message: str,
        now: int,
        *,
        gone: Iterable[str] = (),
    ) -> str:
        """Put `files` (path to blob id) on top of `parent` without `gone`; return the id of the commit.

        The branch has not moved when this returns: that is what `done` does.
        """
        text = message.encode("utf-8", "replace")
        who = f"{program.IDENTITY} <{program.EMAIL}> {now} +0000"
        self._send(f"commit {ref}\nmark {_MARK}\ncommitter {who}\ndata {len(text)}\n".encode(), text)
        self._send(f"\nfrom {parent}\n".encode())
        for path in sorted(files):
            self._send(f"M 100644 {files[path]} {path}\n".encode())
        for path in gone:
            self._send(f"D {path}\n".encode())
        self._send(f"\nget-mark {_MARK}\n".encode())
        return self._reply()

    def done(self) -> Answer:
        """End the stream and wait: with exit code 0 objects and branch are on the disk."""
        if self._answer is None:
            try:
                self._stdin.write(b"done\n")
                self._stdin.close()
            except BrokenPipeError:
                pass  # it died before; the exit code and its last words say why
            self._answer = self._finish()
        return self._answer

    def _finish(self) -> Answer:
        err = self._process.stderr.read() if self._process.stderr else b""
        end(self._process)
        code = self._process.returncode
        if code:
            # Ours by its number; those of others are named by `check`.
            (self._git.dir / f"fast_import_crash_{self._process.pid}").unlink(missing_ok=True)
            for left in _unfinished(self._git) - self._others:
                # The name does not say whose it is, so whatever somebody still writes to stays.
                if not _is_open(left):
                    left.unlink(missing_ok=True)
        return Answer(code=code, out=b"", err=err)

    def _send(self, *pieces: bytes) -> None:
        try:
            for piece in pieces:
                self._stdin.write(piece)
        except BrokenPipeError:
            self._fail()

    def _reply(self) -> str:
        try:
            self._stdin.flush()
        except BrokenPipeError:
            self._fail()
        line = self._stdout.readline().decode("ascii", "replace").strip()
        if not line:
            self._fail()
        return line

    def _fail(self) -> NoReturn:
        raise failure(self._git, self.done())


def failure(git: Git, answer: Answer) -> StorageError:
    """Say that git could not write, in git's words."""
    return StorageError(
        f"the store at {git.dir} could not be written: {program.reason(answer.code, answer.err)}",
        hint="nothing was changed; make room or make it writable, and run the same command again",
    )


def pack_count(git: Git) -> int:
    """Count the packs of a store."""
    return len(_packs(git, "*.pack"))


def mend(git: Git, algorithm: str, blobs: Iterable[bytes]) -> None:
    """Lay whole copies of damaged blobs beside them, in a pack that is made elsewhere.

    Every command of git's own finds the name of an object in an index and writes nothing.
    Git reads the newest pack first, and another one when that is damaged.
    """
    packs = git.dir / "objects" / "pack"
    data = b"".join(b"blob\ndata %d\n%s\n" % (len(blob), blob) for blob in blobs) + b"done\n"
    # loaded here, since hardly any call repairs and it costs every one 3 ms
    tempfile = importlib.import_module("tempfile")
    try:
        with tempfile.TemporaryDirectory(prefix="tmp_mend_", dir=git.dir) as folder:
            aside = Git(Path(folder))
            aside.run("init", "--bare", "--quiet", "--template=", f"--object-format={algorithm}")
            aside.run("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--done", data=data)
            # The index comes last: a pack without one is not seen.
            for made in (*_packs(aside, "*.pack"), *_packs(aside, "*.idx")):
                made.replace(packs / made.name)
    except OSError as error:
        raise StorageError(f"the store at {git.dir} could not be repaired: {error.strerror}") from error
    disk.settle(packs)


def _packs(git: Git, pattern: str) -> list[Path]:
    try:
        return list((git.dir / "objects" / "pack").glob(pattern))
    except OSError as error:
        raise StorageError(f"the store at {git.dir} cannot be read: {error.strerror}") from error


def _unfinished(git: Git) -> set[Path]:
    return set(_packs(git, "tmp_*"))


def _is_open(path: Path) -> bool:
    """Tell whether a process has `path` open; where the system does not say, one may."""
    opened = Path("/proc").glob("[0-9]*/fd/*")
    return not Path("/proc/self/fd").is_dir() or any(_leads_to(link, path) for link in opened)


def _leads_to(link: Path, path: Path) -> bool:
    try:
        return link.readlink() == path
    except OSError:
        return False  # the process or the file is gone, or another user's
