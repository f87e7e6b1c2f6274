"""Keeping sessions: take in, decide, and only then write.

The gap this closes: a recording that is written before it is compared has stored what
nobody wanted, a damaged copy, a shorter one or raw secrets, whatever the answer says
afterwards. The decision: a session is taken in with its parts held back, its run is
looked up in the store and among the sessions of the same call, and its parts are sent
only if it is the fuller recording, or if the stored ones are damaged. What this does not
do: it decides nothing about what a record means.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from githarness.capture import source as sources
from githarness.capture.cache import KEY_BYTES, Cache
from githarness.capture.intake import RESUME_OVER, Intake, Resume, Taken
from githarness.capture.look import SESSION, Look
from githarness.capture.source import Source
from githarness.commands.record import raw, runs
from githarness.commands.record.held import Held
from githarness.commands.record.merging import Merge
from githarness.commands.record.result import Item, Options
from githarness.commands.record.surfaces import Keeper
from githarness.errors import CorruptError, UnreadableError
from githarness.formats import surface as surface_format
from githarness.formats.detect import Format
from githarness.model import manifest
from githarness.model.manifest import Cited, Run
from githarness.model.session import Session
from githarness.redact.redactor import Redactor
from githarness.store import layout
from githarness.store.objects import Store
from githarness.store.writer import Writer

# The end of a long transcript, which names the run that it has come to.
_TAIL = 1 << 18

MENDED = "what was damaged in the store is written again; git repack -a -d drops the damaged copy"
REWRITTEN = "the stored manifest was damaged and is written anew; what a person had named is gone from it"


class Sessions:
    """Takes in sessions; `cited` is the surface that a person named for all of them."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        keeper: Keeper,
        cache: Cache,
        options: Options,
        cited: Cited | None,
    ) -> None:
        self._store = store
        self._writer = writer
        self._keeper = keeper
        self._cache = cache
        self._options = options
        self._cited = cited
        self._raw = raw.Raw(store)
        self._pending: dict[str, Run] = {}
        self._unwanted: set[str] = set()
        self._taken: list[tuple[Item, Run]] = []

    def take(self, source: Source, seen: Look) -> Item:
        """Take in one session; its status is final once the writer has committed."""
        assert seen.format is not None
        sources.refuse_long_lines(source)
        # a state is only ever kept for long sessions, and its key with it
        key = self._cache.key if source.size >= RESUME_OVER else os.urandom(KEY_BYTES)
        start = partial(Intake, source, seen.format, key if self._options.redact else None)
        held = Held(self._writer.part, lambda: self._is_new(source, seen, intake))
        intake = start(held.put)
        before = self._before(source) if seen.by_line else None
        taken = intake.lines(before) if seen.by_line else intake.document()
        if self._options.format is not None:
            _require_known(taken.session, seen.format)

        def again(sink: Callable[[bytes], str]) -> Taken:
            fresh = start(sink)
            return fresh.lines(None) if seen.by_line else fresh.document()

        item = self._keep(source, seen.format, taken, held, again)
        if taken.resume is not None:
            self._cache.save(self._name(source), taken.resume)
        return item

    def ready(self) -> None:
        """Prepare for the commit: what became needless within this call stays out of it."""
        kept = set().union(*(raw.parts(run.recording) for run in self._pending.values()))
        self._writer.drop(self._unwanted - kept)
        self._writer.remove(lambda tip: self._raw.needless(tip, self._pending.values()))

    def committed(self) -> None:
        """Say of each session what the commit repaired."""
        for item, run in self._taken:
            if layout.run(run.id) in self._writer.damaged:
                item.notes.append(REWRITTEN)
            if self._writer.mended & {layout.part(part.digest) for part in run.recording.parts}:
                item.notes.append(MENDED)

    def _name(self, source: Source) -> str:
        return f"{self._store.path}\0{Path(source.name).absolute()}\0{self._options.redact}"

    def _before(self, source: Source) -> Resume | None:
        """Return where an earlier run ended, if the store still lists all that it builds on."""
        if source.size < RESUME_OVER:
            return None
        before = self._cache.load(self._name(source))
        if before is None or before.native is None:
            return None
        stored = self._stored(manifest.run_id(before.agent, before.native, ""))
        known = raw.parts(stored.recording) if isinstance(stored, Run) else frozenset()
        return before if all(part.digest in known for part in before.parts) else None

    def _is_new(self, source: Source, seen: Look, intake: Intake) -> bool:
        """Tell, before a long session is read to its end, that no run it may be of is stored."""
        if self._options.format is not None:
            return False  # it may be no session at all
        natives = {intake.native, _tail_native(source, seen)} - {None}
        return all(self._best(manifest.run_id(intake.agent, native, "")) is None for native in natives)

    def _best(self, run: str) -> Run | UnreadableError | None:
        """Return the run as it would be without what is taken in now; None when there is none."""
        return self._pending.get(run) or self._stored(run)

    def _stored(self, run: str) -> Run | UnreadableError | None:
        """Return a run of the store, and an error in place of one of a later version.

        None is also a damaged manifest, which is written anew.
        """
        path = layout.run(run)
        if self._store.oid(path) is None:
            return None
        try:
            data = self._store.read(path)
            return None if data is None else manifest.decode(data)
        except CorruptError:
            return None
        except UnreadableError as error:
            return error

    def _keep(
        self,
        source: Source,
        form: Format,
        taken: Taken,
        held: Held,
        again: Callable[[Callable[[bytes], str]], Taken],
    ) -> Item:
        item = Item(kind=SESSION, id="", path=source.name, format=form.name, agent=taken.session.agent)
        new = self._run(source, form, taken, item)
        runs.describe(item, new)
        kept = self._decide(new)
        if kept:
            held.release()
        if (kept and not held.whole) or (not kept and self._is_damaged(new)):
            _require_same(again(self._writer.part), taken)
        elif not kept:
            self._unwanted.update(held.sent)
        merge = Merge(new=new, item=item, raw=self._raw, kept=kept, person=self._cited is not None)
        self._writer.revise(layout.run(new.id), merge.into)
        self._taken.append((item, new))
        return item

    def _decide(self, new: Run) -> bool:
        """Tell whether `new` becomes the recording of its run, and remember it if so."""
        best = self._best(new.id)
        if isinstance(best, UnreadableError):
            return False  # the merge says so
        if best is not None and not manifest.is_fuller(new.recording, best.recording):
            return False
        before = self._pending.get(new.id)
        if before is not None:
            self._unwanted |= raw.parts(before.recording)
        self._pending[new.id] = new
        return True

    def _is_damaged(self, new: Run) -> bool:
        """Tell whether this very recording is stored, and some part of it cannot be read."""
        stored = None if new.id in self._pending else self._stored(new.id)
        if not isinstance(stored, Run) or stored.recording.digest != new.recording.digest:
            return False
        return not all(self._store.is_intact(layout.part(part.digest)) for part in new.recording.parts)

    def _run(self, source: Source, form: Format, taken: Taken, item: Item) -> Run:
        redacted = self._options.redact
        clean = Redactor.open(os.urandom(KEY_BYTES)).text if redacted else str
        session = runs.cleaned(taken.session, clean)
        cited = (self._cited,) if self._cited is not None else self._surfaces(session, item)
        return Run(
            id=manifest.run_id(taken.session.agent, taken.session.native, taken.digest),
            agent=session.agent,
            native=session.native,
            parent=session.parent,
            surfaces=cited,
            prompts=tuple(self._keeper.prompt(prompt) for prompt in session.prompts),
            partial_names=session.partial_names,
            label=self._options.label,
            recording=runs.recorded(source, form, taken, session, redacted=redacted),
        )

    def _surfaces(self, session: Session, item: Item) -> tuple[Cited, ...]:
        cited: list[Cited] = []
        for seen in session.surfaces:
            try:
                surface = surface_format.lower(seen.raw, kind=seen.kind, reconstructed=seen.reconstructed)
            except UnreadableError as error:
                item.notes.append(f"a tools array could not be read: {error.message}")
                continue
            withheld = bool(self._keeper.surface(surface, session.agent, item.path))
            cited.append(
                Cited(
                    position=seen.position,
                    digest=surface.wire,
                    kind=seen.kind,
                    reconstructed=seen.reconstructed,
                    withheld=withheld,
                )
            )
        return tuple(cited)


def _tail_native(source: Source, seen: Look) -> str | None:
    """Return the run that the last lines of a long transcript name; a resumed one begins with another's."""
    if seen.format is None or not seen.by_line:
        return None
    reader = seen.format.reader.open(keep=False)
    start = max(0, source.size - _TAIL)
    for line in b"".join(source.blocks(start)).split(b"\n")[1 if start else 0 :]:
        if line.strip():
            reader.feed(line)
    return reader.builder.native


def _require_known(session: Session, form: Format) -> None:
    """Raise UnreadableError where a format that a person named knows nothing of what it read."""
    known = session.records - session.unreadable - sum(session.unfamiliar.values())
    if known <= 0 and not (session.steps or session.turn_count or session.calls):
        raise UnreadableError(
            f"not of the format {form.name}: it knows none of the {session.records} records",
            hint="leave --format out, and the format is found by looking",
        )


def _require_same(again: Taken, before: Taken) -> None:
    """Raise UnreadableError when a source that is read twice was not the same both times."""
    if again.digest != before.digest:
        raise UnreadableError("it changed while it was read", hint="record it again when its client is idle")
