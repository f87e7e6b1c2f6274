"""The verbs that keep and show: init, record, log, show, status, demo."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from githarness.cli import Invocation, load, verb
from githarness.errors import UsageError


@verb("Exit codes: 0 made or already there; 1 the folder is in use; 3 could not be made.", "githarness init")
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--key", metavar="FILE", help="Make the first policy too, from this SSH key.")
@click.option("--new-key", metavar="FILE", help="The same, from a key that is made here.")
@click.option("--principal", metavar="NAME", default="owner", show_default=True, help="What you are called.")
def init(call: Invocation, path: str | None, key: str | None, new_key: str | None, principal: str) -> None:
    """Make a store

    PATH defaults to the place where the store is looked for. Nothing is asked, and
    running it again is safe. With a key the store also gets its first policy: you may
    decide alone until a second person is added.
    """
    place = Path(path) if path else call.locate()
    result = load("commands.init").run(place)
    if key or new_key:
        begun = load("cli_policy").first_policy(place.absolute(), key, new_key, principal)
        result = load("commands.init").with_ledger(result, begun.ledger, begun.key)
    found = call.is_found(Path(result.store))
    call.answer("init", result, lambda: load("render.init").text(result, found=found))


@verb(
    "Exit codes: 0 all that was named was recorded; 3 a named file could not be.",
    "githarness record ~/.claude/projects",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--format", "form", metavar="NAME", help="Read the inputs as this format, without looking.")
@click.option("--surface", metavar="FILE|DIGEST", help="The tool surface that the sessions were sent.")
@click.option("--source", metavar="NAME", default="", help="The agent or server that surfaces belong to.")
@click.option("--label", metavar="NAME", help="What these runs are called; they can be selected by it.")
@click.option("--no-redact", is_flag=True, help="Store secrets as they are; the manifest says so.")
@click.option("--verbose", is_flag=True, help="List every file that is passed over, not only why.")
def record(
    call: Invocation,
    paths: Sequence[str],
    form: str | None,
    surface: str | None,
    source: str,
    label: str | None,
    no_redact: bool,
    verbose: bool,
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
            options=options(format=form, surface=surface, source=source, label=label, redact=not no_redact),
            now=int(time.time()),
            cache=load("capture.cache").Cache(default=True),
            stdin=sys.stdin.buffer.read,
            progress=call.note(),
        )
    if not call.as_json:
        click.echo(load("render.record").errors(result), err=True, nl=False)
    call.answer("record", result, lambda: load("render.record").text(result, verbose=verbose))


@verb(
    "Exit codes: 0, also for an empty list; 3 could not read the store.", "githarness log --agent codex -n 20"
)
@click.option("--agent", metavar="NAME", help="Only this agent, or for surfaces this source.")
@click.option("--model", metavar="TEXT", help="Only models whose name contains this.")
@click.option("--since", metavar="TIME", help="Only runs started since: 2026-11-01, or an age such as 7d.")
@click.option("--surface", metavar="DIGEST", help="Only this surface, and runs that cite it.")
@click.option("--label", metavar="NAME", help="Only runs recorded under this label.")
@click.option("--project", metavar="TEXT", help="Only project folders that contain this.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most this many of each.")
@click.option("--surfaces", "only_surfaces", is_flag=True, help="List surfaces alone, with what changed.")
@click.option("--mutations", is_flag=True, help="Tell the story of every proposed change instead.")
def log(call: Invocation, mutations: bool, **filters: Any) -> None:
    """List runs and surfaces, newest first"""
    if mutations:
        given = next((name for name, value in filters.items() if value), None)
        if given is not None:
            option = f"--{given.removeprefix('only_')}"
            raise UsageError(f"{option} selects no mutations", hint="githarness log --mutations")
        load("cli_govern").stories(call)
    module = load("commands.log")
    with call.store() as store:
        chosen = module.Filters(**load("commands.filters").checked(filters, time.time()))
        result = module.run(store, chosen)
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
            call.write(module.raw(store, id))
            return
        result = module.run(store, id)
    call.answer("show", result, lambda: load("render.show").text(result))


@verb(
    "Exit codes: 0 nothing is wrong; 1 main is not what was decided; 3 something is missing or damaged.",
    "githarness status --full",
)
@click.option("--full", is_flag=True, help="Hash every file of the store again.")
def status(call: Invocation, full: bool) -> None:
    """Say what the store holds, how much is known, and what is wrong"""
    module = load("commands.status")
    with call.store() as store:
        config = load("store.place").config()
        result = module.run(store, config, full=full, now=time.time(), progress=call.note())
    call.answer("status", result, lambda: load("render.status").text(result))


@verb("Exit codes: 0 the story ran as it should; 3 it could not.", "githarness demo")
@click.option("--keep", metavar="PATH", help="Make the store here and leave it.")
def demo(call: Invocation, keep: str | None) -> None:
    """Run the whole story on bundled data, offline

    Prints each command before it runs. With --keep the store stays, and every command
    can be repeated as it is printed.
    """
    result = load("commands.demo").run(keep, (lambda _: None) if call.as_json else call.say)
    if call.as_json:
        call.answer("demo", result, str)
    sys.exit(result.exit_code)
