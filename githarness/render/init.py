"""The answer of `init` as text."""

from typing import Any

from githarness.render import escape


def text(result: Any, *, found: bool) -> str:
    """Render where the store is and what to do next; `found` says that it is found unnamed."""
    head = "made the store at" if result.created else "there is a store already at"
    where = escape.line(result.store)
    ledger = [f"ledger {result.ledger}: give this id to whoever checks the store"] if result.ledger else []
    key = [f"key    {escape.line(result.key)}"] if result.key else []
    named = "" if found else f"--store {where} "
    return "\n".join(
        [
            f"{head} {where}",
            *ledger,
            *key,
            f"next: githarness {named}record ~/.claude/projects ~/.codex/sessions",
            # a clone of somebody's store is held to a ledger that its owner names
            *([] if result.created or ledger else [f"      githarness {named}trust says whose it is"]),
            *([] if found else [f"      export GITHARNESS_STORE={where} spares the option"]),
        ]
    )
