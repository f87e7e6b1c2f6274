"""Raw parts: what a recording leaves in the tree when a redacted one takes its place.

The gap this closes: a manifest that says "redacted" beside files that are not. The
decision: parts of an unredacted recording that a redacted one of the same run replaces
are taken out of the tree in the commit that replaces it, unless a manifest still lists
them. What this does not do: it rewrites no history, and says so.
"""

from collections.abc import Iterable, Iterator

from githarness.model.manifest import Recorded, Run
from githarness.store import layout
from githarness.store.objects import Store

TAKEN_OUT = (
    "the parts that were stored without redaction are taken out; they stay in the history until it is purged"
)


class Raw:
    """Collects, run by run, what the current attempt to commit leaves behind."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._left: dict[str, frozenset[str]] = {}

    def replaced(self, run: str, old: Recorded, new: Recorded) -> bool:
        """Note what stands in place of what; tell whether raw parts become needless."""
        self._left.pop(run, None)
        if new.redacted and not old.redacted:
            self._left[run] = parts(old) - parts(new)
        return bool(self._left.get(run))

    def needless(self, tip: str, kept: Iterable[Run]) -> Iterator[str]:
        """Yield the paths of raw parts that neither `kept` nor a manifest at `tip` lists."""
        left = set().union(*self._left.values()) - set().union(*(parts(run.recording) for run in kept))
        if not left:
            return
        replaced = {layout.run(run) for run in self._left}
        oids = [oid for path, oid in self._store.paths(layout.RUNS, at=tip) if path not in replaced]
        for data in self._store.blobs(oids):
            # As text, so that a manifest of a later version keeps its parts too.
            left = {digest for digest in left if digest.encode() not in data}
        yield from (path for path in map(layout.part, left) if self._store.oid(path, at=tip) is not None)


def parts(recorded: Recorded) -> frozenset[str]:
    """Return the digests of a recording's parts."""
    return frozenset(part.digest for part in recorded.parts)
