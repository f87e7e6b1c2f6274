"""The answer of `init` as text."""

from typing import Any

from githarness.render import escape


def text(result: Any) -> str:
    """Render where the store is and what to do next."""
    head = "made the store at" if result.created else "there is a store already at"
    where = escape.line(result.store)
    return "\n".join(
        [
            f"{head} {where}",
            f"next: githarness --store {where} record ~/.claude/projects ~/.codex/sessions",
            f"      export GITHARNESS_STORE={where} spares the option",
        ]
    )
