"""From a recording taken in to the manifest of its run.

The gap this closes: what a transcript says of itself, what was counted before redaction
and what a person named meet in one document, and the words of a transcript can hold a
secret as well as its lines. The decision: every word is redacted here, once, and half
characters are spelled out. What this does not do: it writes nothing.
"""

from collections.abc import Callable

import msgspec

from githarness import canon
from githarness.capture.intake import Taken
from githarness.capture.source import Source
from githarness.commands.record.result import Item
from githarness.formats.detect import Format
from githarness.measure import counters, stopcause
from githarness.model.manifest import Recorded, Run
from githarness.model.session import Session
from githarness.redact.rules import RULES_VERSION


def recorded(source: Source, form: Format, taken: Taken, session: Session, *, redacted: bool) -> Recorded:
    """Return what the manifest says of the recording itself."""
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
        redacted=redacted,
        rules=RULES_VERSION if redacted else 0,
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


def cleaned(session: Session, clean: Callable[[str], str]) -> Session:
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


def describe(item: Item, new: Run) -> None:
    """Put what the manifest says into the answer's line."""
    recorded = new.recording
    item.id = new.id
    item.calls = recorded.stats.tool_calls
    item.failed = recorded.stats.tool_errors
    item.malformed = recorded.stats.malformed_args
    item.unreadable = recorded.unreadable
    item.unfamiliar = sum(recorded.unfamiliar.values())
    item.redacted = sum(recorded.redactions.values())
    if recorded.copied:
        item.notes.append(
            f"{recorded.copied} of its {recorded.records} records belong to other sessions and count for none"
        )
    show_surface(item, new)


def show_surface(item: Item, run: Run) -> None:
    """Show the first surface that a run cites; unknown where it cites none, or disagrees."""
    cited = run.surfaces
    item.surface = cited[0].digest if isinstance(cited, tuple) and cited else None
