"""The verbs that decide and change: review, approve, reject, apply, rollback, verify, export."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from githarness.cli import Invocation, load, verb
from githarness.errors import RefusedError, UsageError

FORMS = ("env", "json", "toml", "text", "args", "claude-code", "codex", "gemini")
# The end of the year 9999.
LAST_SECOND = 253_402_300_799
# Digits of a digest that a person types: enough that the screen was looked at.
TYPED = 6


def config() -> Path:
    """Return where trust is pinned."""
    found: Path = load("store.place").config()
    return found


def kept() -> Any:
    """Return where answers are kept until something moves."""
    return load("store.derived").Derived(load("store.place").cache("answers"))


def home() -> Path | None:
    """Return the user's home, None where there is none."""
    return Path(os.environ["HOME"]) if os.environ.get("HOME") else None


def signing_key(explicit: str | None) -> Path:
    """Return the key to sign with; UsageError without one."""
    found: Path | None = load("store.signing").find_key(explicit, cwd=Path.cwd(), home=home())
    if found is None:
        raise UsageError("no key to sign with was found", hint="--key FILE, or ssh-keygen -t ed25519")
    return found


@contextmanager
def governed(call: Invocation) -> Iterator[Any]:
    """Open the store, and have its ledger read while what judges it is loaded."""
    with call.store() as store:
        store.begin(load("store.snapshot").read)
        yield store


@verb("Exit codes: 0 shown; 2 not a unique id; 3 not there.", "githarness review 4f2a --markdown")
@click.argument("id", metavar="ID")
@click.option("--markdown", is_flag=True, help="Write Markdown for a pull request.")
def review(call: Invocation, id: str, markdown: bool) -> None:
    """Show exactly what would be signed

    What changes, why, on what evidence, what would prove it wrong, who may decide, and
    how to undo it. The digest is of this text, and goes into the signature.
    """
    with governed(call) as store:
        result = load("commands.decide").read(store, config(), id, int(time.time())).review
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
        with governed(call) as store:
            module = load("commands.decide")
            reading = module.read(store, config(), id)
            _shown(call, reading.review, digest, key)
            result = module.decide(
                reading,
                module.Said(decision=word, **given),
                key=signing_key(key),
                now=int(time.time()),
                env=dict(os.environ),
                config=config(),
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
            "--expires",
            type=click.IntRange(0, LAST_SECOND),
            default=0,
            metavar="SECONDS",
            help="Until when it may be applied, in seconds since 1970.",
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
                f"what was read ({digest[:64]}) is not what stands there now ({review.digest})",
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
    with governed(call) as store:
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
    with governed(call) as store:
        result = load("commands.rollback").run(store, config(), id, cascade=cascade, now=int(time.time()))
    call.answer("rollback", result, lambda: load("render.govern").rolled_back(result))


@verb(
    "Exit codes: 0 every step is explained; 1 a problem; 3 could not read; 4 nothing is pinned.",
    "githarness verify",
)
@click.option("--ref", metavar="REF", help="Replay this commit or branch, as if it were main.")
@click.option("--all", "everything", is_flag=True, help="Replay, although nothing moved since the last time.")
def verify(call: Invocation, ref: str | None, everything: bool) -> None:
    """Replay main from the pinned root: is it what was decided?

    A "yes" from before is given again while main, the ledger, what is pinned and every
    object file are as they were.
    """
    with governed(call) if everything and ref is None else call.store() as store:
        result = load("commands.verify").run(store, config(), kept(), ref=ref, everything=everything)
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
        result = load("commands.export").run(store, config(), kept())
    if call.as_json:
        call.answer("export", result, str)
    call.say(load("render.export").FORMS[form](result), ends=False)


def stories(call: Invocation) -> NoReturn:
    """Answer `log --mutations`."""
    with call.store() as store:
        result = load("commands.mutations").run(store, config())
    call.answer("log", result, lambda: load("render.govern").stories(result))
