"""The verbs that say who decides: policy and trust."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from githarness.cli import Invocation, load, verb
from githarness.cli_govern import config, governed, on_terminal, signing_key
from githarness.errors import UsageError

# What every change of the policy leaves with.
CODES = "Exit codes: 0 signed, and in force or waiting for others; 1 refused; 2 usage; 3 could not."


@click.group(epilog=f"\b\nExample:\n  githarness policy add ben ben.pub\n\n{CODES}")
def policy() -> None:
    """Say who may decide what

    Every version is signed by the root approvers of the one before and by its own.
    """


def signer(key: str | None, new_key: str | None = None) -> Any:
    """Return with what a policy is signed; a new key need not be there yet."""
    found = Path(new_key) if new_key else signing_key(key)
    return load("commands.policy").Signer(
        key=found, now=int(time.time()), env=dict(os.environ), config=config()
    )


def changed(call: Invocation, key: str | None, made: Any) -> None:
    """Make, sign and show a next version."""
    with governed(call) as store:
        result = load("commands.policy").change(store, made, signer(key))
    call.answer("policy", result, lambda: load("render.govern").policy(result))


KEY = click.option("--key", metavar="FILE", help="The root approver's key to sign with.")


@policy.command("init", epilog=CODES)
@click.option("--principal", metavar="NAME", default="owner", show_default=True, help="What you are called.")
@KEY
@click.pass_obj
def policy_init(call: Invocation, principal: str, key: str | None) -> None:
    """Make the first policy and pin its ledger"""
    with call.store() as store:
        result = load("commands.policy").begin(store, principal, signer(key))
    call.answer("policy", result, lambda: load("render.govern").policy(result))


@policy.command("show", epilog="Exit codes: 0 shown; 3 nothing is pinned, or could not.")
@click.argument("digest", required=False, metavar="[DIGEST]")
@click.pass_obj
def policy_show(call: Invocation, digest: str | None) -> None:
    """Show the policy in force, or a next version that waits for signatures"""
    with call.store() as store:
        result = load("commands.policy").show(store, config(), digest)
    call.answer("policy", result, lambda: load("render.govern").policy(result))


@policy.command("add", epilog=CODES)
@click.argument("principal", metavar="NAME")
@click.argument("public", metavar="KEYFILE", type=click.Path(path_type=Path))
@KEY
@click.pass_obj
def policy_add(call: Invocation, principal: str, public: Path, key: str | None) -> None:
    """Give a key to a person; the second person ends self-approval"""
    changed(call, key, load("commands.policy").adding(principal, public, dict(os.environ)))


@policy.command("remove", epilog=CODES)
@click.argument("name", metavar="NAME|SHA256:…")
@KEY
@click.pass_obj
def policy_remove(call: Invocation, name: str, key: str | None) -> None:
    """Take a person off the list, or one key by its fingerprint

    What they signed while they were on it still counts; `revoke` voids it.
    """
    changed(call, key, load("commands.policy").removing(name))


@policy.command("approvers", epilog=CODES)
@click.argument("component", metavar="COMPONENT|*|root")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@KEY
@click.pass_obj
def policy_approvers(call: Invocation, component: str, names: Sequence[str], key: str | None) -> None:
    """Say who may approve changes of a component, of every other, or of the policy"""
    changed(call, key, load("commands.policy").seating(component, tuple(names)))


@policy.command("threshold", epilog=CODES)
@click.argument("component", metavar="COMPONENT|*|root")
@click.argument("count", type=click.IntRange(min=1))
@KEY
@click.pass_obj
def policy_threshold(call: Invocation, component: str, count: int, key: str | None) -> None:
    """Say how many must agree"""
    changed(call, key, load("commands.policy").thresholding(component, count))


@policy.command("revoke", epilog=CODES)
@click.argument("fingerprint", metavar="SHA256:…")
@click.option("--uphold", metavar="ID", multiple=True, help="A decision by that key that still counts.")
@KEY
@click.pass_obj
def policy_revoke(call: Invocation, fingerprint: str, uphold: Sequence[str], key: str | None) -> None:
    """Void everything that a key signed, but what is upheld"""
    changed(call, key, load("commands.policy").revoking(fingerprint, tuple(uphold)))


@policy.command("optimistic", epilog=CODES)
@click.argument("components", nargs=-1, metavar="[COMPONENT]…")
@KEY
@click.pass_obj
def policy_optimistic(call: Invocation, components: Sequence[str], key: str | None) -> None:
    """List components whose bounded numbers may land unasked; none clears the list"""
    changed(call, key, load("commands.policy").listing(tuple(components)))


@policy.command("sign", epilog=CODES)
@click.argument("digest", metavar="DIGEST")
@KEY
@click.pass_obj
def policy_sign(call: Invocation, digest: str, key: str | None) -> None:
    """Agree to a next version that somebody else made

    Read it first: githarness policy show DIGEST.
    """
    with call.store() as store:
        result = load("commands.policy").cosign(store, digest, signer(key))
    call.answer("policy", result, lambda: load("render.govern").policy(result))


@policy.command("export", epilog="Exit codes: 0 written; 3 nothing is pinned, or could not.")
@click.option("--allowed-signers", is_flag=True, required=True, help="For `git verify-tag` by hand.")
@click.pass_obj
def policy_export(call: Invocation, allowed_signers: bool) -> None:
    """Write the allowed-signers file of the policy in force; it is never read by us"""
    del allowed_signers
    with call.store() as store:
        click.echo(load("commands.policy").signers(store, config()), nl=False)


@verb("Exit codes: 0 pinned; 4 nothing is pinned; 3 no such ledger here.", "githarness trust 9d0c…")
@click.argument("id", required=False, metavar="[ID]")
@click.option("--forget", is_flag=True, help="Forget which entries and which main were seen here before.")
def trust(call: Invocation, id: str | None, forget: bool) -> None:
    """Pin the ledger that this store is held to, or say which one is

    The id comes from its owner by another way than the store. Pinning verifies nothing.
    What was seen here before must stay: --forget gives that up, once people have agreed
    that an entry was to be deleted, or main to be set back.
    """
    if forget and id is None:
        raise UsageError("--forget says nothing without an id", hint="githarness trust ID --forget")
    module, render = load("commands.policy"), load("render.govern")
    with call.store() as store:
        result = module.trusted(store, config(), id, forget=forget)
        if id is None and result.ledger is None and result.candidates and on_terminal(call):
            click.echo(render.trusted(result))
            typed = click.prompt("the ledger id, as its owner told you", err=True)
            result = module.trusted(store, config(), typed)
    call.answer("trust", result, lambda: render.trusted(result))


def first_policy(place: Path, key: str | None, new_key: str | None, principal: str) -> Any:
    """Give the store at `place` its first policy, by a key that is there or one that is made."""
    module = load("commands.policy")
    with load("store.find").open_store(place) as store:
        return module.founded(store, principal, signer(key, new_key), make=new_key is not None)
