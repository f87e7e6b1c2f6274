"""The command line: parse, call one command, render, exit.

The gap this closes: where a codebase of this kind rots, it rots here. The decision:
a verb is parsed into plain values, one command is called, its result is rendered
and its exit code passed on; nothing is looped or decided. A command's module is
loaded when it runs, since start-up time is what a hook pays. What this does not
do: it knows no store layout, no format and no git.
"""

import codecs
import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from githarness import __version__
from githarness.errors import INTERRUPTED, UNABLE, USAGE, HarnessError, MissingError, StorageError, UsageError

# How a device says that it takes no more of what is written to it.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A path may be 4096 letters long, and a sentence should not.
_SHOWN = 200

EXIT_CODES = (
    "Exit codes: 0 yes, or nothing to report; 1 the answer is no; 2 usage; "
    "3 could not answer; 4 unknown; 130 interrupted."
)


class Invocation:
    """What every verb is given: where the store is, and how to answer."""

    def __init__(self, store: str | None, as_json: bool) -> None:
        self._store = store
        self.as_json = as_json

    def locate(self) -> Path:
        """Return where the store is, or would be."""
        found: Path = load("store.find").locate(self._store, os.environ, _standing())
        return found

    def is_found(self, place: Path) -> bool:
        """Tell whether the store at `place` is the one that a call without --store would use."""
        unnamed: Path = load("store.find").locate(None, os.environ, _standing())
        return unnamed.absolute() == place

    @contextmanager
    def store(self) -> Iterator[Any]:
        """Open the store for the length of a command."""
        with load("store.find").open_store(self.locate()) as opened:
            yield opened

    def answer(self, command: str, result: Any, text: Callable[[], str]) -> NoReturn:
        """Write the answer to standard output and leave with its exit code."""
        self.say(load("render.answer").as_json(command, result) if self.as_json else text())
        sys.exit(result.exit_code)

    def say(self, text: str, *, ends: bool = True) -> None:
        """Write a text to standard output, in the encoding that it has; `ends` adds a line feed."""
        with _heard():
            # without the file click writes UTF-8 where the stream says that it is ASCII
            click.echo(text, file=sys.stdout, nl=ends)

    def write(self, pieces: Iterable[bytes]) -> None:
        """Write exact bytes to standard output, as they come."""
        with _heard():
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.flush()

    def note(self) -> Callable[[str], None]:
        """Return what shows progress: a line on a terminal, nothing in a pipe."""
        if self.as_json or not sys.stderr.isatty():
            return lambda _: None
        shown = load("render.escape").short
        return lambda name: click.echo(f"\r\x1b[K{shown(name, 70)}\r", err=True, nl=False)


class _GoneError(Exception):
    """Whoever read the answer has had enough; click would take the system's word for it for a no."""


@contextmanager
def _heard() -> Iterator[None]:
    """Tell an output that nobody reads from one that was closed from the start."""
    if sys.stdout is None:
        hint = "run it with a standard output: > FILE, or | cat"
        raise StorageError("there is nowhere to write the answer to", hint=hint)
    try:
        yield
    except BrokenPipeError as error:
        raise _GoneError from error


def _standing() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        hint = "change to a folder that exists, and run it again"
        raise MissingError("the folder that this was started in is no longer there", hint=hint) from error


def load(name: str) -> Any:
    """Import a module of githarness at the moment it is needed."""
    return importlib.import_module(f"githarness.{name}")


# Every verb, in the order in which a person meets them, and the module that declares it.
VERBS = {
    "init": "cli_record",
    "record": "cli_record",
    "log": "cli_record",
    "show": "cli_record",
    "status": "cli_record",
    "fidelity": "cli_measure",
    "diff": "cli_measure",
    "evidence": "cli_measure",
    "doctor": "cli_measure",
    "propose": "cli_propose",
    "review": "cli_govern",
    "approve": "cli_govern",
    "reject": "cli_govern",
    "apply": "cli_govern",
    "rollback": "cli_govern",
    "verify": "cli_govern",
    "export": "cli_govern",
    "policy": "cli_policy",
    "trust": "cli_policy",
    "demo": "cli_record",
}


class Verbs(click.Group):
    """A group that loads the module of a verb when the verb is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one verb; None for a word that is none."""
        del ctx
        if cmd_name not in VERBS:
            return None
        found: click.Command = getattr(load(VERBS[cmd_name]), cmd_name)
        return found


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="githarness", message="%(prog)s %(version)s")
@click.option(
    "--store", metavar="PATH", help="The store to use; else GITHARNESS_STORE, git config, user data."
)
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object, errors included.")
@click.pass_context
def verbs(ctx: click.Context, store: str | None, as_json: bool) -> None:
    """Keep a git-native record of what AI agents were sent and what they did."""
    ctx.obj = Invocation(store, as_json)


def verb(codes: str, example: str) -> Callable[[Callable[..., None]], click.Command]:
    """Declare a verb with an example and its own exit codes at the end of its help."""
    epilog = f"\b\nExample:\n  {example}\n\n{codes}"

    def declare(function: Callable[..., None]) -> click.Command:
        name = function.__name__.removesuffix("_")
        return click.command(name, epilog=epilog)(click.pass_obj(function))

    return declare


def main(args: list[str] | None = None) -> None:
    """Run the program. `--json` may also stand after the verb."""
    # no package that merely happens to be installed takes part in a verdict, and looking
    # for such plugins costs 15 ms
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    words = _hoisted(sys.argv[1:] if args is None else args)
    _never_raise_for_a_letter()
    try:
        verbs.main(args=words, prog_name="githarness", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except (_GoneError, BrokenPipeError):
        _silence(sys.stdout)
        sys.exit(UNABLE)
    except HarnessError as error:
        _fail(error, words)
    except click.ClickException as error:
        _fail(_usage(error), words)
    except MemoryError:
        hint = "name something smaller; show ID --raw needs little memory whatever the size"
        _fail(HarnessError("this needs more memory than there is", hint=hint), words)
    except OSError as error:
        _fail(_of_system(error), words)
    except Exception as error:  # noqa: BLE001 - a person is owed a sentence, whatever we did not think of
        said = f"githarness failed in an unexpected way: {type(error).__name__}: {error}"
        hint = "this is a mistake of ours: report it, with the command and what it says here"
        _fail(HarnessError(said, hint=hint), words)


def _never_raise_for_a_letter() -> None:
    """Let both streams spell out what their encoding cannot write, the way our escaper does."""
    codecs.register_error("githarness", _spelled)
    if sys.stdout is not None and isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        # PYTHONUNBUFFERED: the system may take a part of a write, and Python drops the rest
        whole = io.BufferedWriter(sys.stdout.buffer)
        sys.stdout = io.TextIOWrapper(whole, encoding=sys.stdout.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="githarness")


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(f"\\u{{{ord(letter):x}}}" for letter in letters), error.end


def _silence(stream: TextIO) -> None:
    """Point an output at nothing, so that the interpreter does not flush into it again."""
    # a stream that was closed from the start has no number, and nothing to flush
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _of_system(error: OSError) -> HarnessError:
    """Say what the system refused, and on which file."""
    why = error.strerror or str(error)
    if error.filename is None and error.errno in _FULL:
        hint = "make room, or send the output to another place"
        return StorageError(f"the answer could not be written: {why}", hint=hint)
    if error.filename is None:
        return StorageError(f"the system refused: {why}", hint="githarness status says how the store is")
    place = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    hint = "check that it exists, and that you may read and write it"
    return StorageError(f"{place[:_SHOWN]}: {why}", hint=hint)


def _hoisted(words: list[str]) -> list[str]:
    """Move a `--json` that stands after the verb to the front, up to a bare `--`."""
    end = words.index("--") if "--" in words else len(words)
    if "--json" not in words[:end]:
        return words
    return ["--json", *(word for word in words[:end] if word != "--json"), *words[end:]]


def _usage(error: click.ClickException) -> HarnessError:
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "githarness"
    hint = f"{command} --help"
    if isinstance(error, click.NoSuchOption):
        hint += "; a name that begins with a dash stands after a bare --"
    return UsageError(error.format_message(), hint=hint)


def _fail(error: HarnessError, words: list[str]) -> None:
    """Say in one line what happened, in another what to run next, and leave."""
    as_json = "--json" in words[:1]
    if not (as_json and _said(load("render.answer").error_as_json(error), err=False)):
        shown = load("render.escape").line
        hint = f"\nhint: {shown(error.hint)}" if error.hint else ""
        _said(f"error: {shown(error.message)}{hint}", err=True)
    sys.exit(USAGE if error.kind == "usage" else error.exit_code)


def _said(text: str, *, err: bool) -> bool:
    """Write a last line; where that fails too, the exit code still says it."""
    try:
        click.echo(text, file=sys.stderr if err else sys.stdout)
    except OSError:
        return False
    finally:
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)
    return True


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except (OSError, AttributeError):
        _silence(stream)
