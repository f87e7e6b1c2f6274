"""Keeping sessions: the recording in parts, and the manifest that lists them.

The gap this closes: recording a growing session again must neither store it twice
nor lose what an earlier recording knew. The decision: parts that the stored
manifest already lists are not sent again, and the manifest is merged with the one
at the branch's tip at the moment of writing, so two recorders cannot lose each
other's work. What this does not do: it decides nothing about what a record means.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from githarness import canon
from githarness.capture import source as sources
from githarness.capture.cache import KEY_BYTES, Cache
from githarness.capture.intake import RESUME_OVER, Intake, Resume, Taken
from githarness.capture.look import SESSION, Look
from githarness.capture.source import Source
from githarness.commands.record.result import Item, Options
from githarness.commands.record.surfaces import Keeper
from githarness.errors import UnreadableError
from githarness.formats import surface as surface_format
from githarness.formats.detect import Format
from githarness.measure import counters, stopcause
from githarness.model import manifest
from githarness.model.manifest import Cited, Recorded, Run
from githarness.model.session import Session
from githarness.redact.redactor import Redactor
from githarness.redact.rules import RULES_VERSION
from githarness.store import layout
from githarness.store.objects import Store
from githarness.store.writer import Writer


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

    def take(self, source: Source, seen: Look) -> Item:
        """Take in one session; its status is final once the writer has committed."""
        assert seen.format is not None
        sources.refuse_long_lines(source)
        sink = _Sink(self._store, self._writer)
        # a state is only ever kept for long sessions, and its key with it
        key = self._cache.key if source.size >= RESUME_OVER else os.urandom(KEY_BYTES)
        intake = Intake(source, seen.format, key if self._options.redact else None, sink.put)
        taken = self._lines(source, intake, sink) if seen.by_line else intake.document()
        return self._keep(source, seen.format, taken)

    def _lines(self, source: Source, intake: Intake, sink: "_Sink") -> Taken:
        """Take line-based input, from where an earlier run ended if the store agrees."""
        if source.size < RESUME_OVER:
            return intake.lines(None)
        name = f"{self._store.path}\0{Path(source.name).absolute()}\0{self._options.redact}"
        before = self._cache.load(name)
        taken = intake.lines(before if before is not None and sink.holds(before) else None)
        if taken.resume is not None:
            self._cache.save(name, taken.resume)
        return taken

    def _keep(self, source: Source, form: Format, taken: Taken) -> Item:
        session = taken.session
        item = Item(kind=SESSION, id="", path=source.name, format=form.name, agent=session.agent)
        clean = Redactor.open(os.urandom(KEY_BYTES)).text if self._options.redact else str
        session = _cleaned(session, clean)
        cited = (self._cited,) if self._cited is not None else self._surfaces(session, item)
        new = Run(
            id=manifest.run_id(taken.session.agent, taken.session.native, taken.digest),
            agent=session.agent,
            native=session.native,
            parent=session.parent,
            surfaces=cited,
            prompts=tuple(self._keeper.prompt(prompt) for prompt in session.prompts),
            partial_names=session.partial_names,
            label=self._options.label,
            recording=self._recorded(source, form, taken, session),
        )
        _describe(item, new)
        person = self._cited is not None
        self._writer.revise(layout.run(new.id), lambda old: _merged(old, new, item, person=person))
        return item

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

    def _recorded(self, source: Source, form: Format, taken: Taken, session: Session) -> Recorded:
        return Recorded(
            format=form.name,
            reader=form.version,
            digest=taken.digest,
            bytes=taken.bytes,
            parts=taken.parts,
            records=session.records,
            source_bytes=source.size,
            unreadable=session.unreadable,
            unfamiliar=session.unfamiliar,
            copied=session.copied,
            redacted=self._options.redact,
            rules=RULES_VERSION if self._options.redact else 0,
            redactions=taken.redactions,
            container=source.container,
            project=session.project,
            branch=session.branch,
            started=session.started,
            ended=session.ended,
            models=session.models,
            versions=session.versions,
            steered=session.steered,
            stats=counters.count(stopcause.settled(session)),
        )


class _Sink:
    """Sends parts to the writer, and tells whether a saved state still builds on stored ones."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer

    def put(self, part: bytes) -> str:
        """Return the part's digest; the writer adds it unless it is there and whole."""
        return self._writer.part(part)

    def holds(self, before: Resume) -> bool:
        """Tell whether the store still lists every part that a saved state builds on."""
        known = self._listed(before.agent, before.native)
        return all(part.digest in known for part in before.parts)

    def _listed(self, agent: str, native: str | None) -> frozenset[str]:
        if native is None:
            return frozenset()
        stored = self._store.read(layout.run(manifest.run_id(agent, native, "")))
        if stored is None:
            return frozenset()
        try:
            run = manifest.decode(stored)
        except UnreadableError:
            return frozenset()
        return frozenset(part.digest for part in run.recording.parts)


def _cleaned(session: Session, clean: Callable[[str], str]) -> Session:
    """Redact the few words of a session that go into its manifest."""

    def spelled(word: str) -> str:
        # a lone surrogate cannot be written as UTF-8, so it is spelled out
        return canon.utf8(clean(word)).decode()

    def each(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(spelled(word) for word in words)

    def maybe(word: str | None) -> str | None:
        return None if word is None else spelled(word)

    return msgspec.structs.replace(
        session,
        agent=spelled(session.agent),
        native=maybe(session.native),
        parent=maybe(session.parent),
        project=maybe(session.project),
        branch=maybe(session.branch),
        started=maybe(session.started),
        ended=maybe(session.ended),
        models=each(session.models),
        versions=each(session.versions),
        unfamiliar={spelled(name): count for name, count in session.unfamiliar.items()},
    )


def _describe(item: Item, new: Run) -> None:
    """Put what the manifest says into the answer's line."""
    recorded = new.recording
    item.id = new.id
    item.calls = recorded.stats.tool_calls
    item.failed = recorded.stats.tool_errors
    item.malformed = recorded.stats.malformed_args
    item.unreadable = recorded.unreadable
    item.unfamiliar = sum(recorded.unfamiliar.values())
    item.redacted = sum(recorded.redactions.values())
    cited = new.surfaces
    item.surface = cited[0].digest if isinstance(cited, tuple) and cited else None


def _merged(old: bytes | None, new: Run, item: Item, *, person: bool) -> bytes | None:
    """Return the manifest to write over `old`; note on the item what that means."""
    if old is None:
        item.status = "new"
        return canon.encode(new)
    try:
        stored = manifest.decode(old)
    except UnreadableError as error:
        item.notes.append(f"the stored manifest is left as it is: {error.message}")
        return None
    if person:
        # a person who names the surface corrects what was cited before
        stored = msgspec.structs.replace(stored, surfaces=new.surfaces)
    if new.label is not None:
        stored = msgspec.structs.replace(stored, label=new.label)
    merged = canon.encode(manifest.merge(stored, new))
    item.status = "unchanged" if merged == old else "updated"
    if manifest.is_fuller(stored.recording, new.recording):
        item.notes.append("a fuller recording of this run is kept")
    return merged
