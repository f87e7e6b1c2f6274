"""Git: one way of running it, with nothing inherited.

The gap this closes: inside a hook git exports GIT_DIR and GIT_INDEX_FILE, and a
tool that passes them on writes into the user's repository instead of its own; a
repository's configuration can name programs to run. The decision: the
environment is built from nothing, the directory is always given, hooks, file
monitors, replacement objects and every transport are off, and what is written is
fsynced (git's default fsyncs neither loose objects nor refs).

Git 2.36 is the floor: it is the first with `core.fsync`, and an older one would
ignore the setting and acknowledge what a power cut takes back.

What it does not do: it reads no prose. Exit codes and machine formats only; the
last line of an error message is passed on for a person to read.
"""

import functools
import os
import re
import subprocess
from pathlib import Path

import msgspec

from githarness.errors import MissingError, StorageError

FLOOR = (2, 36)
IDENTITY = "githarness"
EMAIL = "githarness@localhost"

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.useReplaceRefs=false",
    "core.fsync=committed,reference",
    "protocol.allow=never",
    "gc.auto=0",
    # Only directories that are named, never one that is merely stood in.
    "safe.bareRepository=explicit",
)
_SWITCHES = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_VERSION = re.compile(rb"git version (\d+)\.(\d+)")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one git process said; `code` is negative when a signal ended it."""

    code: int
    out: bytes
    err: bytes


class Git:
    """Git on one directory, which need not exist yet."""

    def __init__(self, git_dir: Path) -> None:
        self.dir = git_dir.absolute()
        self._start = (binary(), *_SWITCHES, f"--git-dir={self.dir}")

    def command(self, *args: str) -> tuple[str, ...]:
        """Return the whole command line, for whoever starts it in a way of their own."""
        return (*self._start, *args)

    def popen(self, *args: str, quiet: bool = False) -> subprocess.Popen[bytes]:
        """Start git with pipes on all sides; `quiet` throws its complaints away."""
        return _start(self.command(*args), quiet=quiet)

    def call(self, *args: str, data: bytes | None = None) -> Answer:
        """Run git to its end; any exit code is an answer."""
        return _finish(self.popen(*args), data)

    def run(self, *args: str, data: bytes | None = None) -> bytes:
        """Run git to its end and return its output; StorageError unless it exits 0."""
        answer = self.call(*args, data=data)
        if answer.code:
            raise StorageError(f"git {args[0]} on {self.dir}: {reason(answer.code, answer.err)}")
        return answer.out


def ask(folder: Path, *args: str) -> str | None:
    """Run a question about the repository around `folder`; None when git says no."""
    answer = _finish(_start((binary(), *_SWITCHES, "-C", str(folder), *args)), None)
    return None if answer.code else answer.out.decode("utf-8", "surrogateescape").rstrip("\n")


def reason(code: int, err: bytes) -> str:
    """Render why git failed: its last complaint, or how it ended without one."""
    if code < 0:
        return f"ended by signal {-code}"
    said = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    # What comes after it is about where a crash report lies.
    fatal = [line.removeprefix("fatal: ") for line in said if line.startswith("fatal: ")]
    return (fatal or said or [f"exit code {code} without a word"])[-1]


def environment() -> dict[str, str]:
    """Return the whole environment of every git process of ours."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    fixed = {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    people = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _PERSON}
    return {"PATH": os.defpath} | kept | fixed | people


_PERSON = (("NAME", IDENTITY), ("EMAIL", EMAIL))


@functools.cache
def binary() -> str:
    """Return the absolute path of git, looked up once."""
    return resolve(os.environ.get("PATH", os.defpath))


def resolve(search: str) -> str:
    """Find git on a search path; folders that are not absolute are passed over.

    A relative folder on PATH would let the directory a person stands in choose
    the program.
    """
    found = on_path("git", search)
    if found is not None:
        return found
    floor = ".".join(map(str, FLOOR))
    raise MissingError("git is not on the PATH", hint=f"install git {floor} or newer")


def on_path(name: str, search: str) -> str | None:
    """Find a program in the absolute folders of a search path; None when it is in none."""
    for folder in search.split(os.pathsep):
        candidate = Path(folder, name)
        if candidate.is_absolute() and candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    return None


@functools.cache
def version() -> tuple[int, int]:
    """Return the version of git, asked once; StorageError when it would not fsync."""
    return supported(_finish(_start((binary(), "version")), None).out)


def supported(said: bytes) -> tuple[int, int]:
    """Read what `git version` said; StorageError below the floor or for anything else."""
    found = _VERSION.match(said)
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    floor = ".".join(map(str, FLOOR))
    if numbers < FLOOR:
        words = said.decode("ascii", "replace").strip()[:80]
        raise StorageError(f"{binary()} is too old ({words!r})", hint=f"install git {floor} or newer")
    return numbers


def _start(command: tuple[str, ...], *, quiet: bool = False) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else subprocess.PIPE,
            env=environment(),
            umask=0o077,
            # Ctrl-C is for us: git is told to stop by the end of its input.
            process_group=0,
        )
    except OSError as error:
        raise StorageError(f"{command[0]} could not be started: {error.strerror or error}") from error


def _finish(process: subprocess.Popen[bytes], data: bytes | None) -> Answer:
    with process:
        out, err = process.communicate(data)
    return Answer(code=process.returncode, out=out, err=err or b"")
