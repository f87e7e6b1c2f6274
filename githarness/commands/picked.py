"""Picking: the one thing whose id begins with what a person typed.

What it does not do: it is no verb, and it guesses between no two.
"""

from collections.abc import Iterable

from githarness.errors import MissingError, UsageError
from githarness.store import layout

# Shorter than this, a prefix is a typing error more often than an abbreviation.
MIN_PREFIX = 4


def check(prefix: str, what: str, hint: str) -> None:
    """Raise UsageError for what can be the beginning of no id."""
    if not layout.is_prefix(prefix) or len(prefix) < MIN_PREFIX:
        raise UsageError(f"not the {what}: {prefix[:64]}", hint=f"{hint} lists them, {MIN_PREFIX} digits do")


def pick(prefix: str, ids: Iterable[str], what: str, hint: str) -> str:
    """Return the one id that begins with `prefix`; MissingError for none, UsageError for several."""
    check(prefix, f"id of a {what}", hint)
    found = sorted({one for one in ids if one.startswith(prefix)})
    if not found:
        raise MissingError(f"no {what} has an id that begins with {prefix}", hint=hint)
    if len(found) > 1:
        raise UsageError(f"{prefix} is the beginning of {len(found)} ids", hint="give more digits")
    return found[0]
