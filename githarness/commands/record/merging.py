"""What becomes of a manifest when its run is recorded again.

The gap this closes: whoever writes last would lose what an earlier recording knew. The
decision: the manifest is merged with the one at the branch's tip at the moment of
writing, so two recorders cannot lose each other's work; a recording whose parts were not
written never becomes the run's. Every change may be asked again, so a note is made once.
What this does not do: it decides not which recording is kept.
"""

import msgspec

from githarness import canon
from githarness.commands.record import runs
from githarness.commands.record.raw import TAKEN_OUT, Raw
from githarness.commands.record.result import Item
from githarness.errors import UnreadableError
from githarness.model import manifest
from githarness.model.manifest import Cited, Run

FULLER = "a fuller recording of this run is kept"
GONE = "the run was taken out of the store meanwhile; record it again"
_SHOWN = 12


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """One session to be merged in.

    `kept` says that its parts are written, `person` that a person named its surface.
    """

    new: Run
    item: Item
    raw: Raw
    kept: bool
    person: bool

    def into(self, old: bytes | None) -> bytes | None:
        """Return the manifest to write over `old`; None leaves it."""
        if old is None and not self.kept:
            self.note(GONE)
            return None
        if old is None:
            self.item.status = "new"
            return canon.encode(self.new)
        try:
            stored = manifest.decode(old)
        except UnreadableError as error:
            self.note(f"the stored manifest is left as it is: {error.message}")
            return None
        run = self._merged(stored)
        merged = canon.encode(run)
        self.item.status = "unchanged" if merged == old else "updated"
        runs.show_surface(self.item, run)
        if self.raw.replaced(run.id, stored.recording, run.recording):
            self.note(TAKEN_OUT)
        return merged

    def _merged(self, stored: Run) -> Run:
        new = self.new
        if manifest.is_fuller(stored.recording, new.recording):
            self.note(FULLER)
        if not self.kept:
            new = msgspec.structs.replace(new, recording=stored.recording)
        if self.person:
            # a person who names the surface corrects what was cited before
            self._correct(stored)
            stored = msgspec.structs.replace(stored, surfaces=new.surfaces)
        if new.label is not None:
            stored = msgspec.structs.replace(stored, label=new.label)
        return manifest.merge(stored, new)

    def _correct(self, stored: Run) -> None:
        before, now = digests(stored), digests(self.new)
        if before and before != now:
            shown = ", ".join(digest[:_SHOWN] for digest in sorted(before))
            self.note(f"replaces {shown} as the surface that this run cites")

    def note(self, words: str) -> None:
        """Say something of the session, once."""
        if words not in self.item.notes:
            self.item.notes.append(words)


def digests(run: Run) -> set[str]:
    """Return the digests of every surface that a run cites, of each side where they disagree."""
    if isinstance(run.surfaces, tuple):
        return {cited.digest for cited in run.surfaces}
    sides = msgspec.convert(run.surfaces["conflict"], list[list[Cited]])
    return {cited.digest for side in sides for cited in side}
