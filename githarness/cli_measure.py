"""The verbs that compare and count: fidelity, diff, evidence, doctor."""

import shutil
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from githarness.cli import Invocation, load, verb

LEVELS = ("none", "info", "low", "review", "high", "critical")


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


@verb(
    "Exit codes: 0 the same, or nothing as severe as --fail-on; 1 they differ; "
    "4 with --strict, when fidelity is unknown; 3 could not answer.",
    "githarness diff 4f2a 9c01 --markdown",
)
@click.argument("names", nargs=-1, required=True, metavar="A B…")
@click.option("--strict", is_flag=True, help="Exit with 4 when it is unknown what the runs were sent.")
@click.option("--served", is_flag=True, help="The second run was served recorded results (a replay).")
@click.option("--same", metavar="RUN", multiple=True, help="A replay of the unchanged harness; repeatable.")
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 only from this severity on.")
@click.option("--markdown", is_flag=True, help="Write Markdown for a pull request.")
@click.option("--content-free", is_flag=True, help="Digests and lengths in place of arguments.")
def diff(call: Invocation, names: Sequence[str], markdown: bool, **options: Any) -> None:
    """Compare two runs, or two surfaces

    A and B are ids of the store or files. Two runs are compared call by call: first
    what they were sent, then what they did. More runs after B are further replays of A.
    Two surfaces are compared change by change, each with its severity and the recorded
    calls that it would break.
    """
    module = load("commands.diff")
    options["same"] = tuple(options["same"])
    with call.store() as store:
        result = module.run(store, names, module.Options(**options))
    render = load("render.diff")
    width = shutil.get_terminal_size().columns
    call.answer("diff", result, lambda: render.markdown(result) if markdown else render.text(result, width))


def slices(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select runs."""
    for option in reversed(
        (
            click.option("--model", metavar="NAME", help="Only runs under this model."),
            click.option("--project", metavar="FOLDER", help="Only runs in this folder or below it."),
            click.option("--agent", metavar="NAME", help="Only runs of this agent."),
            click.option("--label", metavar="NAME", help="Only runs recorded under this label."),
            click.option(
                "--since", metavar="TIME", help="Only runs started since: 2026-11-01, or an age such as 7d."
            ),
            click.option("--surface", metavar="DIGEST", help="Only runs that were under this surface."),
            click.option("--state", metavar="DIGEST", help="Only runs under this state of the harness."),
        )
    ):
        command = option(command)
    return command


def cache() -> Any:
    """Return the cache of what can be counted again."""
    return load("store.derived").Derived(load("store.place").cache("counters"))


def gathered(call: Invocation, store: Any, limit: int, recount: bool, selection: dict[str, Any]) -> Any:
    """Gather the corpus that the options select."""
    return load("commands.gather").corpus(
        store,
        load("measure.corpus").Selection(**load("commands.filters").checked(selection, time.time())),
        cache(),
        limit=limit,
        recount=recount,
        progress=call.note(),
    )


@verb(
    "Exit codes: 0 always, also for an empty corpus; 3 could not read the store.",
    "githarness evidence --model m-4",
)
@slices
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=200, show_default=True, help="Newest runs read."
)
@click.option("--recount", is_flag=True, help="Read every recording again instead of trusting its manifest.")
@click.option("--for-model", is_flag=True, help="Print exactly what propose --ask gives a model instead.")
def evidence(
    call: Invocation, limit: int, recount: bool, for_model: bool, model: str | None, **selection: Any
) -> None:
    """Print the counters-only brief for one model's runs

    Numbers and findings, and no word of any transcript. Without --model it is the model
    with most runs. A rate without a denominator is unknown, never 0.
    """
    module = load("commands.evidence")
    with call.store() as store:
        corpus = gathered(call, store, limit, recount, selection)
        if for_model:
            words = load("commands.propose").question(store, load("store.place").config(), corpus, model)
            call.answer("evidence", module.Question(question=words), words.rstrip)
        result = module.run(store, corpus, model, cache(), int(time.time()))
    call.answer("evidence", result, lambda: load("render.evidence").text(result))


@verb("Exit codes: 0 nothing was found; 1 something was; 3 could not read the store.", "githarness doctor")
@slices
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=200, show_default=True, help="Newest runs read."
)
def doctor(call: Invocation, limit: int, **selection: Any) -> None:
    """Say what looks wrong, and which command helps

    Thresholds are high on purpose, and unknown is never a finding. Writes nothing.
    """
    module = load("commands.doctor")
    with call.store() as store:
        corpus = gathered(call, store, limit, False, selection)
        result = module.run(store, corpus, int(time.time()))
    call.answer("doctor", result, lambda: load("render.evidence").findings(result))
