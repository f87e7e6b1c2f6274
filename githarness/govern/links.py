"""Links: what each entry's signer had seen, as a graph that only signatures can extend.

The gap this closes: a set of tags has no order but the dates their signers chose, so an
approval can be dated before its key was removed, and a deleted tag leaves no trace.
The decision: each entry names the entries its signer saw, by digest. "Before" is a path
of such names through entries whose signatures hold, whatever else is wrong with them.

What it does not do: it does not say which entries count.
"""

from collections.abc import Iterable, Mapping

from githarness.govern import sshsig
from githarness.govern.tag import Tag
from githarness.govern.void import VoidError


class Links:
    """The graph of one reading. Signatures are verified when they are first asked for, once."""

    def __init__(self, tags: Mapping[str, Tag]) -> None:
        self._tags = tags
        self._proven: dict[str, bool] = {}

    def is_authentic(self, entry: str) -> bool:
        """Tell whether an entry is there and its signature is its own key's."""
        found = self._proven.get(entry)
        if found is None:
            tag = self._tags.get(entry)
            found = self._proven[entry] = tag is not None and is_signed(tag)
        return found

    def before(self, entry: str) -> tuple[str, ...]:
        """Return what an entry names as seen; nothing for one that is not authentic."""
        return self._tags[entry].payload.prev if self.is_authentic(entry) else ()

    def behind(self, entries: Iterable[str]) -> frozenset[str]:
        """Return these entries and all that lie before them, as far as they are there."""
        found: set[str] = set()
        waiting = list(entries)
        while waiting:
            entry = waiting.pop()
            if entry not in found and self.is_authentic(entry):
                found.add(entry)
                waiting.extend(self.before(entry))
        return frozenset(found)

    def gaps(self, entry: str) -> frozenset[str]:
        """Return what is named behind an entry, or by it, and is not there.

        Behind a gap anything may lie: an entry with one cannot be said not to descend
        from something, else deleting one entry would void those that name it.
        """
        named = {one for behind in self.behind([entry]) for one in self.before(behind)}
        return frozenset(one for one in named if not self.is_authentic(one))


class Reach:
    """Which marks (bits) an entry and all before it carry together.

    Each entry is worked out once, whatever the shape: a ledger is often one long line,
    which is why this is no recursion and no set per entry.
    """

    def __init__(self, links: Links, marks: Mapping[str, int]) -> None:
        self._links = links
        self._marks = marks
        self._done: dict[str, int] = {}

    def of(self, entry: str) -> int:
        """Return the marks of an entry; none for one that is not there."""
        waiting = [entry]
        while waiting:
            one = waiting[-1]
            missing = [seen for seen in self._links.before(one) if seen not in self._done]
            waiting.extend(missing)
            if not missing:
                self._settle(waiting.pop())
        return self._done[entry]

    def _settle(self, entry: str) -> None:
        marks = self._marks.get(entry, 0)
        for seen in self._links.before(entry):
            marks |= self._done[seen]
        self._done[entry] = marks


def is_signed(tag: Tag) -> bool:
    """Tell whether a tag's signature is its key's own, of its own bytes."""
    try:
        sshsig.check(tag.signature, tag.signed)
    except VoidError:
        return False
    return True
