"""The answer of `init` as text."""

from typing import Any

from githarness.render import escape


def text(result: Any) -> str:
    """Render where the store is and what to do next."""
    head = "made the store at" if result.created else "there is a store already at"
    where = escape.line(result.store)
    ledger = [f"ledger {result.ledger}: give this id to whoever checks the store"] if result.ledger else []
    key = [f"key    {escape.line(result.key)}"] if result.key else []
    return "\n".join(
        [
            f"{head} {where}",
            *ledger,
            *key,
            f"next: githarness --store {where} record ~/.claude/projects ~/.codex/sessions",
            f"      export GITHARNESS_STORE={where} spares the option",
        ]
    )
