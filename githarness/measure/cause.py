"""The cause: what probably made two runs diverge, told from their fidelity alone.

The gap this closes: a divergence without a cause is blamed on whatever changed last.
The decision: every part that differs is named, since any of them may be it, and
chance is the label only where all parts are known to match. What it does not do: it
compares nothing, and sees no call.
"""

import re
from collections.abc import Mapping, Sequence

from githarness import canon
from githarness.measure.fidelity import DIFFERS, MATCHES, Part

SURFACE_CHANGED = "surface changed"
PROMPT_CHANGED = "prompt changed"
MODEL_CHANGED = "model changed"
SAMPLING_ONLY = "sampling only"
UNKNOWN_CAUSE = "unknown"

_CAUSES = {"tools": SURFACE_CHANGED, "system": PROMPT_CHANGED, "model": MODEL_CHANGED}

# More names than this in one label are a list, and a list has its own place.
_NAMES = 5

_PLAIN_NAME = re.compile("[A-Za-z0-9_.-]{1,64}")


def label(parts: Mapping[str, Part | None], changed_tools: Sequence[str] = ()) -> str:
    """Label what probably made two runs diverge, from their fidelity.

    Every part that differs is named, since any of them may be it. Chance is the
    label only where tools, system prompt and model are all known to match: a part
    that is absent or unknown leaves the cause unknown.
    """
    states = {name: part.state for name in _CAUSES if (part := parts.get(name)) is not None}
    labels = [label for name, label in _CAUSES.items() if states.get(name) == DIFFERS]
    if SURFACE_CHANGED in labels and changed_tools:
        labels[0] = f"{SURFACE_CHANGED} ({_names(changed_tools)})"
    if labels:
        return "; ".join(labels)
    if all(states.get(name) == MATCHES for name in _CAUSES):
        return SAMPLING_ONLY
    return UNKNOWN_CAUSE


def _names(names: Sequence[str]) -> str:
    shown = [name if _PLAIN_NAME.fullmatch(name) else _digest(name) for name in names[:_NAMES]]
    more = [f"{len(names) - _NAMES} more"] if len(names) > _NAMES else []
    return ", ".join(shown + more)


def _digest(name: str) -> str:
    # A name comes from a server or a model, and this label may end up in a report.
    return f"sha256:{canon.sha256(canon.utf8(name))[:12]}"
