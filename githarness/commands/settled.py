"""The verified state as plain values: what `export` keeps for the next time.

What it does not do: it is no verb, and it renders nothing.
"""

from pathlib import Path
from typing import Any

from githarness.commands import governed
from githarness.errors import RefusedError
from githarness.propose import overlay, state
from githarness.store.objects import Store


def settled(store: Store, config: Path) -> dict[str, Any]:
    """Verify main and return what is in force; RefusedError names the first problem."""
    harness = governed.load(store, config)
    _, _, verdict = governed.require(harness)
    if not verdict.ok:
        first = governed.said(verdict.problems[0])
        raise RefusedError(f"main is not verified, so nothing is exported: {first}", hint="githarness verify")
    governed.remember(harness, config)
    of = harness.state
    knobs = {name: state.effective(of, name) for name in of.declaration.knob}
    return {
        "commit": harness.tip,
        "state": state.digest(of),
        "knobs": {name: value for name, value in knobs.items() if value is not None},
        "overlay": overlay.render(of.overlay),
        "tools": dict(of.tools),
    }
