"""init: make a store, with the declared knobs that a person then edits.

What it closes: a store that needs five git commands and an identity is not made.
The decision: one command, nothing asked, safe to repeat. What it does not do: it
does not change the configuration of any repository but the store.
"""

from importlib import resources
from pathlib import Path

import msgspec

from githarness.errors import OK
from githarness.store import create


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """`ledger` is None while the store has no policy; `created` is False when it was there."""

    store: str
    ledger: str | None
    created: bool
    key: str | None = None

    @property
    def exit_code(self) -> int:
        """Always 0: a refusal is raised."""
        return OK


def run(path: Path) -> Result:
    """Make the store at `path`, or find that it is one already."""
    knobs = resources.files("githarness.data").joinpath("harness.toml").read_bytes()
    made = create.create(path.absolute(), {"harness.toml": knobs})
    return Result(store=str(made.path), ledger=None, created=made.created)


def with_ledger(made: Result, ledger: str, key: str | None) -> Result:
    """Say as well which ledger the store is held to, and where a key that was made lies."""
    return msgspec.structs.replace(made, ledger=ledger, key=key)
