"""The verbs that change: propose, review, approve, reject, apply, rollback, verify, export."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from githarness.cli import Invocation, load, verb
from githarness.cli_measure import cache, gathered, slices
from githarness.errors import RefusedError, UsageError

METRICS = (
    "ended_on_failed_call", "tool_error_rate", "cut_short", "compactions", "turns", "malformed_args",
)  # fmt: skip
FORMS = ("env", "json", "toml", "text", "args", "claude-code", "codex", "gemini")
# The options that say a change by hand.
CHANGES = ("assigned", "unset", "guidance", "drop_guidance", "describe", "undescribe", "declare")
# Digits of a digest that a person types: enough that the screen was looked at.
TYPED = 6


def config() -> Path:
    """Return where trust is pinned."""
    found: Path = load("store.place").config()
    return found


def home() -> Path | None:
    """Return the user's home, None where there is none."""
    return Path(os.environ["HOME"]) if os.environ.get("HOME") else None


def signing_key(explicit: str | None) -> Path:
    """Return the key to sign with; UsageError without one."""
    found: Path | None = load("store.signing").find_key(explicit, cwd=Path.cwd(), home=home())
    if found is None:
        raise UsageError("no key to sign with was found", hint="--key FILE, or ssh-keygen -t ed25519")
    return found


def who(harness: Any, key: str | None) -> str:
    """Name the proposer, as the policy knows them."""
    found: str = load("commands.propose").proposer(
        harness, key, cwd=Path.cwd(), home=home(), env=dict(os.environ)
    )
    return found


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
@click.option("--source", metavar="FILE", multiple=True, help="What the author of a reply read; repeatable.")
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
    module, now = load("commands.propose"), int(time.time())
    selection = {
        name: given.pop(name) for name in ("model", "project", "agent", "label", "since", "surface", "state")
    }
    _one_way(again, from_evidence, reply, command, any(given[name] for name in CHANGES))
    with call.store() as store:
        if again is not None:
            result = module.again(store, config(), again, who, now)
        elif from_evidence or reply is not None or command is not None:
            model = selection.pop("model")
            corpus = gathered(call, store, limit, False, {**selection, "model": model})
            if from_evidence:
                result = module.from_evidence(store, config(), corpus, cache(), who, now)
            else:
                text = _reply(module, store, corpus, model, reply, command)
                sources = [module.text_of(Path(one)) for one in source]
                result = module.from_reply(store, config(), corpus, text, sources, who, now)
        else:
            given["set"] = given.pop("assigned")
            given["declare"] = given["declare"] and module.text_of(given["declare"])
            result = module.by_hand(store, config(), module.ByHand(**given), key, who, now)
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


def _one_way(*ways: Any) -> None:
    """Refuse a call that asks in two ways: one of them would be passed over in silence."""
    if sum(map(bool, ways)) > 1:
        raise UsageError(
            "a proposal comes from evidence, a reply, --again or by hand, and not from two of these",
            hint="githarness propose --help",
        )


@verb("Exit codes: 0 shown; 2 not a unique id; 3 not there.", "githarness review 4f2a --markdown")
@click.argument("id", metavar="ID")
@click.option("--markdown", is_flag=True, help="Write Markdown for a pull request.")
def review(call: Invocation, id: str, markdown: bool) -> None:
    """Show exactly what would be signed

    What changes, why, on what evidence, what would prove it wrong, who may decide, and
    how to undo it. The digest is of this text, and goes into the signature.
    """
    with call.store() as store:
        result = load("commands.decide").read(store, config(), id).review
    render = load("render.review")
    call.answer(
        "review",
        result,
        lambda: (
            render.markdown(result.text, result.digest, result.standing)
            if markdown
            else load("render.govern").reviewed(result)
        ),
    )


def decision(word: str, help_text: str) -> click.Command:
    """Declare `approve` and `reject`, which differ in one word."""

    def decide(call: Invocation, id: str, digest: str | None, key: str | None, **given: Any) -> None:
        module = load("commands.decide")
        with call.store() as store:
            reading = module.read(store, config(), id)
            _shown(call, reading.review, digest, key)
            result = module.decide(
                reading,
                word,
                key=signing_key(key),
                now=int(time.time()),
                env=dict(os.environ),
                config=config(),
                **given,
            )
        call.answer(word, result, lambda: load("render.govern").decided(result))

    decide.__name__, decide.__doc__ = word, help_text
    options: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
        click.argument("id", metavar="ID"),
        click.option("--digest", metavar="D", help="The digest of the review that was read."),
        click.option(
            "--key", metavar="FILE", help="The SSH key to sign with, or its public half for an agent."
        ),
        click.option("--reason", metavar="TEXT", default="", help="One line that is signed as well."),
        click.option(
            "--expires", type=int, default=0, metavar="SECONDS", help="Until when it may be applied."
        ),
        click.option("--supersede", is_flag=True, help="Take back your own earlier decision on this change."),
    )
    for option in reversed(options):
        decide = option(decide)
    return verb("Exit codes: 0 signed; 1 refused; 2 usage; 3 could not.", f"githarness {word} 4f2a")(decide)


def on_terminal(call: Invocation) -> bool:
    """Tell whether there is a person to show something to and to ask."""
    return not call.as_json and sys.stdin.isatty() and sys.stdout.isatty()


def _shown(call: Invocation, review: Any, digest: str | None, key: str | None) -> None:
    """See to it that a person has read what is signed: on this terminal, or by its digest."""
    if digest is not None:
        if digest != review.digest:
            raise RefusedError(
                f"what was read ({digest[:12]}) is not what stands there now ({review.digest[:12]})",
                hint=f"githarness review {review.id[:12]}",
            )
        if key is None and not sys.stdin.isatty():
            raise UsageError("without a terminal the key must be named", hint="--key FILE")
        return
    hint = f"githarness review {review.id[:12]}, then --digest {review.digest} --key FILE"
    if not on_terminal(call):
        raise RefusedError("there is no terminal on which this could be read", hint=hint)
    question = f"type the first {TYPED} digits of the digest {review.digest[:TYPED]}… to sign"
    size = os.get_terminal_size()
    needed = load("render.review").rows(f"{review.text}{question}: {review.digest[:TYPED]}", size.columns)
    if needed > size.lines:
        raise RefusedError(
            f"the review takes {needed} rows, and this terminal shows {size.lines}",
            hint=hint,
        )
    click.echo(review.text, nl=False)
    if click.prompt(question, err=True) != review.digest[:TYPED]:
        raise RefusedError("the digits are not those of the review; nothing was signed", hint=hint)


approve = decision(
    "approve",
    """Sign your agreement to exactly what a review shows

    On a terminal it is shown and asked for; elsewhere --digest and --key are needed.
    """,
)
reject = decision(
    "reject",
    """Sign your refusal of a change; it sticks until you take it back

    On a terminal the review is shown and asked for; elsewhere --digest and --key are needed.
    """,
)


@verb("Exit codes: 0 something landed; 1 nothing did; 3 could not.", "githarness apply")
@click.argument("ids", nargs=-1, metavar="[ID]…")
@click.option("--optimistic", is_flag=True, help="Also land bounded numbers that the policy lists, unasked.")
def apply(call: Invocation, ids: Sequence[str], optimistic: bool) -> None:
    """Land what may land, one commit each

    Says of every other proposal whether it is pending, blocked, stale or deferred, and why.
    """
    with call.store() as store:
        result = load("commands.apply").run(
            store, config(), list(ids), optimistic=optimistic, now=int(time.time())
        )
    call.answer("apply", result, lambda: load("render.govern").applied(result))


@verb(
    "Exit codes: 0 taken back; 1 a later change of the same is in the way; 3 not in force.",
    "githarness rollback 4f2a",
)
@click.argument("id", metavar="ID")
@click.option("--cascade", is_flag=True, help="Take back later changes of the same keys too.")
def rollback(call: Invocation, id: str, cascade: bool) -> None:
    """Take one landed change back, exactly; it needs no vote"""
    with call.store() as store:
        result = load("commands.rollback").run(store, config(), id, cascade=cascade, now=int(time.time()))
    call.answer("rollback", result, lambda: load("render.govern").rolled_back(result))


@verb(
    "Exit codes: 0 every step is explained; 1 a problem; 3 could not read; 4 nothing is pinned.",
    "githarness verify",
)
def verify(call: Invocation) -> None:
    """Replay main from the pinned root: is it what was decided?"""
    with call.store() as store:
        result = load("commands.verify").run(store, config())
    call.answer("verify", result, lambda: load("render.govern").verified(result))


@verb(
    "Exit codes: 0 exported; 1 main is not verified; 3 nothing is pinned, or could not.",
    "githarness export --format env",
)
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="json", show_default=True, help="For whom."
)
def export(call: Invocation, form: str) -> None:
    """Write the state in force, from a verified commit only

    Guidance is appended to a prompt and never replaces one; without any, the prompt
    formats write nothing at all.
    """
    with call.store() as store:
        result = load("commands.export").run(store, config(), cache())
    if call.as_json:
        call.answer("export", result, str)
    click.echo(load("render.export").FORMS[form](result), nl=False)


def stories(call: Invocation) -> None:
    """Answer `log --mutations`."""
    with call.store() as store:
        result = load("commands.mutations").run(store, config())
    call.answer("log", result, lambda: load("render.govern").stories(result))
