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
import time
from collections.abc import Callable, Iterator, Sequence
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
        self._as_json = as_json

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
        if self._as_json:
            click.echo(load("render.answer").as_json(command, result))
        else:
            click.echo(text())
        sys.exit(result.exit_code)

    def note(self) -> Callable[[str], None]:
        """Return what shows progress: a line on a terminal, nothing in a pipe."""
        if self._as_json or not sys.stderr.isatty():
            return lambda _: None
        shown = load("render.escape").short
        return lambda name: click.echo(f"\r\x1b[K{shown(name, 70)}\r", err=True, nl=False)


def load(name: str) -> Any:
    """Import a module of githarness at the moment it is needed."""
    return importlib.import_module(f"githarness.{name}")


class Verbs(click.Group):
    """A group whose commands are listed in the order in which a person meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return names as declared."""
        del ctx
        return list(self.commands)


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
        return verbs.command(epilog=epilog)(click.pass_obj(function))

    return declare


@verb("Exit codes: 0 made or already there; 1 the folder is in use; 3 could not be made.", "githarness init")
@click.argument("path", required=False, metavar="[PATH]")
def init(call: Invocation, path: str | None) -> None:
    """Make a store

    PATH defaults to the place where the store is looked for. Nothing is asked, and
    running it again is safe.
    """
    result = load("commands.init").run(Path(path) if path else call.locate())
    call.answer("init", result, lambda: load("render.init").text(result))


@verb(
    "Exit codes: 0 all that was named was recorded; 3 a named file could not be.",
    "githarness record ~/.claude/projects",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--format", "form", metavar="NAME", help="Read the inputs as this format, without looking.")
@click.option("--surface", metavar="FILE|DIGEST", help="The tool surface that the sessions were sent.")
@click.option("--source", metavar="NAME", default="", help="The agent or server that surfaces belong to.")
@click.option("--no-redact", is_flag=True, help="Store secrets as they are; the manifest says so.")
def record(
    call: Invocation,
    paths: Sequence[str],
    form: str | None,
    surface: str | None,
    source: str,
    no_redact: bool,
) -> None:
    """Record sessions and surfaces

    What each input is, is found by its content. Folders are walked; "-" is standard
    input. Secrets are replaced by markers before anything is written. Recording the
    same file again writes nothing; a session that grew replaces its shorter
    recording, and never the other way round.
    """
    module, options = load("commands.record"), load("commands.record.result").Options
    with call.store() as store:
        result = module.run(
            store=store,
            paths=list(paths),
            options=options(format=form, surface=surface, source=source, redact=not no_redact),
            now=int(time.time()),
            cache=load("capture.cache").default_folder(),
            stdin=sys.stdin.buffer.read,
            progress=call.note(),
        )
    call.answer("record", result, lambda: load("render.record").text(result))


@verb(
    "Exit codes: 0, also for an empty list; 3 could not read the store.", "githarness log --agent codex -n 20"
)
@click.option("--agent", metavar="NAME", help="Only this agent, or for surfaces this source.")
@click.option("--model", metavar="TEXT", help="Only models whose name contains this.")
@click.option(
    "--since", metavar="TIME", help="Only runs started at or after this ISO time, such as 2026-11-01."
)
@click.option("--surface", metavar="DIGEST", help="Only this surface, and runs that cite it.")
@click.option("--project", metavar="TEXT", help="Only project folders that contain this.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most this many of each.")
@click.option("--surfaces", "only_surfaces", is_flag=True, help="List surfaces alone.")
def log(call: Invocation, **filters: Any) -> None:
    """List runs and surfaces, newest first"""
    module = load("commands.log")
    with call.store() as store:
        result = module.run(store, module.Filters(**filters))
    call.answer("log", result, lambda: load("render.log").text(result))


@verb("Exit codes: 0 shown; 2 not a unique id; 3 not there, or damaged.", "githarness show 4f2a")
@click.argument("id", metavar="ID")
@click.option("--raw", is_flag=True, help="Write the exact stored bytes and nothing else.")
def show(call: Invocation, id: str, raw: bool) -> None:
    """Show a run call by call, a surface tool by tool, or exact bytes

    ID is any beginning of an id or digest that names one thing.
    """
    module = load("commands.show")
    with call.store() as store:
        if raw:
            sys.stdout.buffer.write(module.raw(store, id))
            return
        result = module.run(store, id)
    call.answer("show", result, lambda: load("render.show").text(result))


@verb("Exit codes: 0 nothing is wrong; 3 something is missing or damaged.", "githarness status --full")
@click.option("--full", is_flag=True, help="Hash every file of the store again.")
def status(call: Invocation, full: bool) -> None:
    """Say what the store holds, how much is known, and what is wrong"""
    module = load("commands.status")
    with call.store() as store:
        result = module.run(store, full=full, now=time.time(), progress=call.note())
    call.answer("status", result, lambda: load("render.status").text(result))


@verb(
    "Exit codes: 0 matches; 1 differs; 4 unknown; 3 could not answer. For several runs the worst.",
    "githarness fidelity 4f2a --against tools.json",
)
@click.argument("runs", nargs=-1, metavar="[RUN]…")
@click.option(
    "--against",
    metavar="X",
    default="last",
    help="A file, a digest, a run, or `last`: the surface last recorded for the same agent.",
)
def fidelity(call: Invocation, runs: Sequence[str], against: str) -> None:
    """Say whether a replay can send what a run was sent

    Tools, system prompt and model are compared apart; a part that the other side does
    not state is left out. Without RUN all runs are compared. What was not recorded is
    unknown, and never a match.
    """
    with call.store() as store:
        result = load("commands.fidelity").run(store, list(runs), against)
    call.answer("fidelity", result, lambda: load("render.fidelity").text(result))


@verb("Exit codes: 0 the story ran as it should; 3 it could not.", "githarness demo")
@click.option("--keep", metavar="PATH", help="Make the store here and leave it.")
def demo(call: Invocation, keep: str | None) -> None:
    """Run the whole story on bundled data, offline

    Prints each command before it runs, so that it can be repeated.
    """
    del call
    sys.exit(load("commands.demo").run(keep, click.echo))


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
