"""The corpus of a store: its runs as rows of counters, selected and bounded.

The gap this closes: counters in a manifest are those of the reader that recorded it,
and readers get better. The decision: a manifest whose reader is still the current one
is taken at its word; any other recording is read again, and the new counts are kept
in a cache under its digest, outside the store. What this does not do: it is no verb,
and it judges nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from githarness.errors import HarnessError
from githarness.formats import detect
from githarness.measure import counters, interventions, stopcause
from githarness.measure.corpus import Corpus, Row, Selection
from githarness.measure.corpus import gather as select
from githarness.measure.corpus import row as to_row
from githarness.measure.interventions import Sign
from githarness.model.manifest import Run, Stats
from githarness.store import runs
from githarness.store.derived import Derived
from githarness.store.objects import Store

# A scan reads the newest runs; 200 is what a person can act on.
LIMIT = 200

# Raised when signs are told differently, so that none are taken from the cache.
SIGNS = 1


def corpus(
    store: Store,
    selection: Selection,
    derived: Derived,
    *,
    limit: int = LIMIT,
    recount: bool = False,
    progress: Callable[[str], None],
) -> Corpus:
    """Gather the runs that match; what cannot be read is counted and never dropped silently."""
    unreadable = 0
    rows: list[Row] = []
    damaged: list[str] = []
    for manifest in runs.manifests(store, damaged):
        try:
            stats = _stats(store, manifest, derived, recount, progress)
            label = manifest.label if isinstance(manifest.label, str) else None
            rows.append(to_row(manifest, label=label, stats=stats))
        except HarnessError:
            unreadable += 1
    return select(rows, selection, limit=limit, unreadable=unreadable + len(damaged))


def _stats(
    store: Store, manifest: Run, derived: Derived, recount: bool, progress: Callable[[str], None]
) -> Stats | None:
    """Return fresher counts than the manifest's; None where those are current."""
    recorded = manifest.recording
    form = detect.by_name(recorded.format)
    if form is None or (recorded.reader == form.version and not recount):
        return None
    key = f"stats-{form.name}-{form.version}-{recorded.digest}"
    kept = None if recount else derived.get(key)
    if kept is not None:
        return msgspec.json.decode(kept, type=Stats)
    progress(manifest.id)
    session = stopcause.settled(detect.read_pieces(form.name, runs.parts(store, manifest)))
    stats = counters.count(session)
    derived.put(key, msgspec.json.encode(stats))
    return stats


def signs(store: Store, corpus: Corpus | None, derived: Derived) -> Counter[Sign]:
    """Count what recurs in the recordings of a corpus; each recording's signs are kept for the next time."""
    found: Counter[Sign] = Counter()
    for row in corpus.rows if corpus is not None else ():
        try:
            found.update(_signs(store, runs.manifest(store, row.run), derived))
        except HarnessError:
            continue  # `status` names what is missing or damaged
    return found


def _signs(store: Store, manifest: Run, derived: Derived) -> Counter[Sign]:
    recorded = manifest.recording
    form = detect.by_name(recorded.format)
    key = f"signs-{SIGNS}-{recorded.format}-{form.version if form else 0}-{recorded.digest}"
    kept = derived.get(key)
    if kept is not None:
        return Counter(dict(msgspec.json.decode(kept, type=list[tuple[Sign, int]])))
    session = stopcause.settled(detect.read_pieces(recorded.format, runs.parts(store, manifest)))
    found = interventions.of_sessions([session])
    derived.put(key, msgspec.json.encode(sorted(found.items(), key=repr)))
    return found


def calls(store: Store, names: set[str], limit: int) -> Iterator[tuple[str, object]]:
    """Yield (tool, arguments) of recorded calls of these tools, out of the newest runs.

    A client that renames a server's tools (`mcp__server__tool`) is followed: the last
    part of the name counts. Arguments are None where they were not kept.
    """
    manifests = sorted(
        runs.manifests(store), key=lambda one: (one.recording.started or "", one.id), reverse=True
    )
    for manifest in manifests[:limit]:
        try:
            session = detect.read_pieces(manifest.recording.format, runs.parts(store, manifest))
        except HarnessError:
            continue  # `status` names what is missing or damaged
        for call in session.calls:
            name = next((n for n in (call.name, call.name.rpartition("__")[2]) if n in names), None)
            if name is not None:
                yield name, call.input if isinstance(call.input, dict) else None
