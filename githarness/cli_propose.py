"""The verb that proposes: from evidence, from a model's reply, or by hand."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from githarness.cli import Invocation, load, verb
from githarness.cli_govern import config, governed, home
from githarness.cli_measure import cache, gathered, slices
from githarness.errors import UsageError

METRICS = (
    "ended_on_failed_call", "tool_error_rate", "cut_short", "compactions", "turns", "malformed_args",
)  # fmt: skip
HELP = "githarness propose --help"
# The options that say a change by hand.
CHANGES = ("assigned", "unset", "guidance", "drop_guidance", "describe", "undescribe", "declare")


def _who(key: str | None) -> Any:
    """Return where the key of whoever proposes is looked for."""
    return load("commands.propose").Who(key=key, cwd=Path.cwd(), home=home(), env=dict(os.environ))


@verb(
    "Exit codes: 0 proposed, on file, or nothing to propose; 1 refused; 2 usage; 3 could not.",
    "githarness propose --set max_retries=5 --metric tool_error_rate",
)
@click.option("--from-evidence", is_flag=True, help="From what recurs in the recorded runs of one model.")
@click.option("--reply", metavar="FILE", help="From a model's reply; - is standard input.")
@click.option("--ask", "command", metavar="CMD", help="Ask this command: the question on its standard input.")
@click.option("--again", metavar="ID", help="Once more, on what is in force now.")
@click.option("--set", "assigned", metavar="KEY=VALUE", multiple=True, help="Set a declared knob.")
@click.option("--unset", metavar="KEY", multiple=True, help="Unset a knob: its default holds again.")
@click.option("--guidance", metavar="TEXT", help="Append guidance to the agent's prompt.")
@click.option("--drop-guidance", metavar="ID", help="Drop guidance that is in force.")
@click.option("--describe", nargs=2, metavar="TOOL TEXT", help="Describe a tool anew.")
@click.option("--undescribe", metavar="TOOL", help="Give a tool its own description back.")
@click.option("--declare", type=click.Path(path_type=Path), metavar="FILE", help="A changed harness.toml.")
@click.option("--metric", type=click.Choice(METRICS), help="The cost that is predicted to fall.")
@click.option("--rationale", metavar="TEXT", default="", help="What is wrong, and why this changes it.")
@click.option("--source", metavar="FILE", multiple=True, help="What the author of a reply read.")
@click.option("--key", metavar="FILE", help="The key of who proposes.")
@slices
@click.option("-n", "--limit", type=click.IntRange(min=1), default=200, help="Newest runs read.")
def propose(
    call: Invocation,
    from_evidence: bool,
    reply: str | None,
    command: str | None,
    again: str | None,
    key: str | None,
    limit: int,
    source: Sequence[str],
    **given: Any,
) -> None:
    """Propose a change of the harness

    What is proposed is one commit on a branch of its own, with its reason, the metric it
    predicts will fall, and its inverse. Nothing lands.
    """
    now = int(time.time())
    selection = {
        name: given.pop(name) for name in ("model", "project", "agent", "label", "since", "surface", "state")
    }
    by_hand = any(given[name] for name in CHANGES)
    _one_way(again, from_evidence, reply, command, by_hand)
    _belongs(source, "--source", reply, command)
    for name in ("metric", "rationale"):
        _belongs(given[name], f"--{name}", not (again or from_evidence or reply or command))
    with governed(call) as store:
        module = load("commands.propose")
        if again is not None:
            result = module.again(store, config(), again, _who(key), now)
        elif from_evidence or reply is not None or command is not None:
            model = selection.pop("model")
            corpus = gathered(call, store, limit, False, {**selection, "model": model})
            if from_evidence:
                result = module.from_evidence(store, config(), corpus, cache(), _who(key), now)
            else:
                text = _reply(module, store, corpus, model, reply, command)
                sources = [module.text_of(Path(one)) for one in source]
                result = module.from_reply(store, config(), corpus, text, sources, _who(key), now)
        else:
            given["set"] = given.pop("assigned")
            given["declare"] = given["declare"] and module.text_of(given["declare"])
            result = module.by_hand(store, config(), module.ByHand(**given), _who(key), now)
    call.answer("propose", result, lambda: load("render.govern").proposed(result))


def _reply(
    module: Any, store: Any, corpus: Any, model: str | None, reply: str | None, command: str | None
) -> str:
    if command is not None:
        answered: str = module.asked(command, module.question(store, config(), corpus, model))
        return answered
    if reply == "-":
        return sys.stdin.read()
    text: str = module.text_of(Path(str(reply)))
    return text


def _belongs(given: Any, option: str, *ways: Any) -> None:
    """Refuse an option that the way which was chosen would pass over in silence."""
    if given and not any(ways):
        raise UsageError(f"{option} says nothing to a proposal that is made in this way", hint=HELP)


def _one_way(*ways: Any) -> None:
    """Refuse a call that asks in two ways: one of them would be passed over in silence."""
    if sum(map(bool, ways)) > 1:
        raise UsageError(
            "a proposal comes from evidence, a reply, --again or by hand, and not from two of these",
            hint=HELP,
        )
