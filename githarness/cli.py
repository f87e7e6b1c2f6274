"""The command line: parse, call one command, render, exit.

The gap this closes: where a codebase of this kind rots, it rots here. The decision:
a verb is parsed into plain values, one command is called, its result is rendered
and its exit code passed on; nothing is looped or decided. A command's module is
loaded when it runs, since start-up time is what a hook pays. What this does not
do: it knows no store layout, no format and no git.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from githarness import __version__
from githarness.errors import INTERRUPTED, UNABLE, USAGE, HarnessError, UsageError

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
        found: Path = load("store.find").locate(self._store, os.environ, Path.cwd())
        return found

    @contextmanager
    def store(self) -> Iterator[Any]:
        """Open the store for the length of a command."""
        with load("store.find").open_store(self.locate()) as opened:
            yield opened

    def answer(self, command: str, result: Any, text: Callable[[], str]) -> None:
        """Write the answer to standard output and leave with its exit code."""
        if self.as_json:
            click.echo(load("render.answer").as_json(command, result))
        else:
            click.echo(text())
        sys.exit(result.exit_code)

    def note(self) -> Callable[[str], None]:
        """Return what shows progress: a line on a terminal, nothing in a pipe."""
        if self.as_json or not sys.stderr.isatty():
            return lambda _: None
        shown = load("render.escape").short
        return lambda name: click.echo(f"\r\x1b[K{shown(name, 70)}\r", err=True, nl=False)


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
    "propose": "cli_govern",
    "review": "cli_govern",
    "approve": "cli_govern",
    "reject": "cli_govern",
    "apply": "cli_govern",
    "rollback": "cli_govern",
    "verify": "cli_govern",
    "export": "cli_govern",
    "policy": "cli_govern",
    "trust": "cli_govern",
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
    words = _hoisted(sys.argv[1:] if args is None else args)
    try:
        verbs.main(args=words, prog_name="githarness", standalone_mode=False)
    except HarnessError as error:
        _fail(error, words)
    except click.exceptions.Abort:
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        _fail(_usage(error), words)
    except BrokenPipeError:
        # whoever read the answer has had enough; the interpreter must not flush into it again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNABLE)


def _hoisted(words: list[str]) -> list[str]:
    """Move a `--json` that stands after the verb to the front, up to a bare `--`."""
    end = words.index("--") if "--" in words else len(words)
    if "--json" not in words[:end]:
        return words
    return ["--json", *(word for word in words[:end] if word != "--json"), *words[end:]]


def _usage(error: click.ClickException) -> HarnessError:
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "githarness"
    return UsageError(error.format_message(), hint=f"{command} --help")


def _fail(error: HarnessError, words: list[str]) -> None:
    """Say in one line what happened, in another what to run next, and leave."""
    if "--json" in words[:1]:
        click.echo(load("render.answer").error_as_json(error))
    else:
        shown = load("render.escape").line
        click.echo(f"error: {shown(error.message)}", err=True)
        if error.hint:
            click.echo(f"hint: {shown(error.hint)}", err=True)
    sys.exit(USAGE if error.kind == "usage" else error.exit_code)
