"""What two surfaces show in their bytes alone: dialect, key order of a tool, white space.

The gap this closes: two surfaces can differ on the wire while every lowered spec is
equal, and a diff without a word for that prints nothing beside two digests that differ.
The decision: where the lowered specs leave something unsaid, the bytes are looked at.

What it does not do: it makes no edits, since none of this reaches a lowered spec.
"""

from collections.abc import Iterator
from typing import Any

from githarness import canon
from githarness.measure.changes.change import Finding
from githarness.model.surface import Surface


def dialect(before: Surface, after: Surface) -> Iterator[Finding]:
    """Yield a change of dialect; every other byte difference is then a matter of form."""
    if before.dialect != after.dialect:
        yield Finding(id="format.only", path=(), was=before.dialect, now=after.dialect)


def key_order(before: Surface, after: Surface, pairs: dict[int, int]) -> Iterator[Finding]:
    """Yield tools whose own keys stand in another order."""
    if before.dialect != after.dialect:
        return
    left, right = _written(before), _written(after)
    for was, now in pairs.items():
        for old, new in zip(left.get(was, ()), right.get(now, ()), strict=False):
            shared = [key for key in old if key in new], [key for key in new if key in old]
            if shared[0] != shared[1]:
                yield Finding(id="key.order", path=(was,), was=shared[0], now=shared[1])


def _written(surface: Surface) -> dict[int, tuple[dict[str, Any], ...]]:
    """Return each tool's objects as written, outermost first; none where they do not line up with specs."""
    written = canon.parse(surface.raw, "surface")
    if not isinstance(written, list) or len(written) != len(surface.specs):
        return {}
    found = {}
    for at, (tool, spec) in enumerate(zip(written, surface.specs, strict=True)):
        objects = [one for one in (tool, _function(tool)) if isinstance(one, dict)]
        if any(one.get("name") == spec.name for one in objects):
            found[at] = tuple(objects)
    return found


def _function(tool: Any) -> Any:
    return tool.get("function") if isinstance(tool, dict) else None


def white_space(before: Surface, after: Surface) -> Iterator[Finding]:
    """Yield the one finding of surfaces whose bytes differ and nothing else."""
    if before.wire != after.wire:
        was, now = (one.raw.decode("utf-8", "replace") for one in (before, after))
        yield Finding(id="format.only", path=(), was=was, now=now)
