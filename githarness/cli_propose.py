"""The verb that proposes: from evidence, from a model's reply, or by hand."""

import os
import sys
import time
from collections.abc import Callable
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
# The options that select runs.
SLICES = ("model", "project", "agent", "label", "since", "surface", "state")
# The options that say a change by hand.
CHANGES = ("assigned", "unset", "guidance", "drop_guidance", "describe", "undescribe", "declare")


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
def propose(call: Invocation, **given: Any) -> None:
    """Propose a change of the harness

    What is proposed is one commit on a branch of its own, with its reason, the metric it
    predicts will fall, and its inverse. Nothing lands.
    """
    way = _way(given)
    with governed(call) as store:
        result = way(call, store, given)
    call.answer("propose", result, lambda: load("render.govern").proposed(result))


def _way(given: dict[str, Any]) -> Callable[[Invocation, Any, dict[str, Any]], Any]:
    """Return what makes the proposal in the way that was asked for.

    UsageError for two ways at once, and for an option that the one which was chosen would
    pass over in silence.
    """
    from_reply = given["reply"] is not None or given["command"] is not None
    asked = {
        _again: given["again"] is not None,
        _from_evidence: given["from_evidence"],
        _from_reply: from_reply,
        _by_hand: any(given[name] for name in CHANGES),
    }
    chosen = [way for way, is_asked in asked.items() if is_asked] or [_by_hand]
    if len(chosen) > 1 or (given["reply"] is not None and given["command"] is not None):
        raise UsageError(
            "a proposal comes from evidence, a reply, --again or by hand, and not from two of these",
            hint=HELP,
        )
    own_words = (_by_hand, _again)
    for name, ways in (("source", (_from_reply,)), ("metric", own_words), ("rationale", own_words)):
        if given[name] and chosen[0] not in ways:
            raise UsageError(f"--{name} says nothing to a proposal that is made in this way", hint=HELP)
    return chosen[0]


def _who(given: dict[str, Any]) -> Any:
    """Return where the key of whoever proposes is looked for."""
    who = load("commands.propose").Who
    return who(key=given["key"], cwd=Path.cwd(), home=home(), env=dict(os.environ))


def _again(call: Invocation, store: Any, given: dict[str, Any]) -> Any:
    del call
    module = load("commands.propose")
    words = module.ByHand(metric=given["metric"], rationale=given["rationale"])
    return module.again(store, config(), given["again"], words, _who(given), int(time.time()))


def _from_evidence(call: Invocation, store: Any, given: dict[str, Any]) -> Any:
    module, corpus = load("commands.propose"), _corpus(call, store, given)
    return module.from_evidence(store, config(), corpus, cache(), _who(given), int(time.time()))


def _from_reply(call: Invocation, store: Any, given: dict[str, Any]) -> Any:
    module, corpus = load("commands.propose"), _corpus(call, store, given)
    if given["command"] is not None:
        asked = module.question(store, config(), corpus, given["model"])
        text = module.asked(given["command"], asked)
    else:
        text = sys.stdin.read() if given["reply"] == "-" else module.text_of(Path(given["reply"]))
    sources = [module.text_of(Path(one)) for one in given["source"]]
    return module.from_reply(store, config(), corpus, text, sources, _who(given), int(time.time()))


def _by_hand(call: Invocation, store: Any, given: dict[str, Any]) -> Any:
    del call
    module = load("commands.propose")
    words = {name: given[name] for name in (*CHANGES, "metric", "rationale")}
    words["set"] = words.pop("assigned")
    words["declare"] = words["declare"] and module.text_of(words["declare"])
    return module.by_hand(store, config(), module.ByHand(**words), _who(given), int(time.time()))


def _corpus(call: Invocation, store: Any, given: dict[str, Any]) -> Any:
    return gathered(call, store, given["limit"], False, {name: given[name] for name in SLICES})
