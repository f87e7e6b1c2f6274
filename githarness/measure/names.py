"""Names from transcripts, made fit to be shown.

The gap this closes: a tool or a model may be called anything, a sentence that gives
orders included, and counters stop being harmless once such a name stands among
them. The decision: a name is shown when it looks like a name and as a short digest
of itself otherwise, by one rule in one place. Showing twice changes nothing.

What it does not do: it escapes nothing. A name that was shown needs no escaping.
"""

import re

from githarness import canon

_DIGEST = "sha256:[0-9a-f]{12}"
_TOOL = re.compile(f"[A-Za-z0-9_.-]{{1,64}}|{_DIGEST}")
# Models are also called provider/name@version:variant. None of these characters
# lets two words follow each other, which is what a sentence would need.
_MODEL = re.compile(f"[A-Za-z0-9_.:/@-]{{1,64}}|{_DIGEST}")


def tool(name: str) -> str:
    """Return a tool's name, or a label's, as it may be shown."""
    return name if _TOOL.fullmatch(name) else _digest(name)


def model(name: str) -> str:
    """Return a model's or an agent's name as it may be shown."""
    return name if _MODEL.fullmatch(name) else _digest(name)


def _digest(name: str) -> str:
    return f"sha256:{canon.sha256(canon.utf8(name))[:12]}"
