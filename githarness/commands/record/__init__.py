"""record: sessions and surfaces into the store, each one once, in one write.

The gap this closes: transcripts are deleted after 30 days, rewritten and cut short
by their clients, and never say what the model was sent. The decision: whatever is
named is looked at by content, redacted, cut and handed to one writer; recording
twice changes nothing, and a shorter file never replaces a fuller recording. One
bad file never stops the rest. What this does not do: it follows no session while
it runs, and asks no model.
"""

from collections.abc import Callable
from pathlib import Path

from githarness.capture import container, walk
from githarness.capture import source as sources
from githarness.capture.cache import Cache
from githarness.capture.look import CONTAINER, SESSION, SKIP, TOOL, look
from githarness.capture.source import Source
from githarness.commands.record.result import Item, Options, Result, Skipped
from githarness.commands.record.sessions import Sessions
from githarness.commands.record.surfaces import Keeper
from githarness.errors import UnreadableError
from githarness.formats import surface as surface_format
from githarness.model.surface import OFFERED, Surface
from githarness.store.objects import Store
from githarness.store.writer import Writer


def run(
    *,
    store: Store,
    paths: list[str],
    options: Options,
    now: int,
    cache: Cache,
    stdin: Callable[[], bytes],
    progress: Callable[[str], None],
) -> Result:
    """Record every input of `paths` ("-" is standard input) and say what became of each.

    Raises only what concerns the store or the call as a whole.
    """
    with Writer(store) as writer:
        keeper = Keeper(store, writer, now)
        cited = None if options.surface is None else keeper.person_cites(options.surface, options.source)
        sessions = Sessions(store, writer, keeper, cache, options, cited)
        inputs = _Inputs(sessions, keeper, options)
        for found in walk.files([Path(path) for path in paths if path != "-"]):
            progress(str(found.path))
            inputs.file(found)
        if "-" in paths:
            inputs.take(sources.memory("-", stdin()), named=True)
        inputs.join_tools()
        counts = f"{len(inputs.sessions)} session(s), {len(keeper.items)} surface(s)"
        commit = writer.commit(f"record: {counts}", now=now)
    return Result(
        store=str(store.path),
        recorded=(*inputs.sessions, *keeper.items),
        skipped=tuple(inputs.skipped),
        commit=commit,
    )


class _Inputs:
    """Takes inputs one by one and lists what became of each."""

    def __init__(self, sessions: Sessions, keeper: Keeper, options: Options) -> None:
        self._takes = sessions
        self._keeper = keeper
        self._options = options
        self._tools: dict[Path, list[tuple[str, bytes]]] = {}
        self.sessions: list[Item] = []
        self.skipped: list[Skipped] = []

    def file(self, found: walk.Found) -> None:
        """Take one file of the disk."""
        try:
            if found.reason:
                raise UnreadableError(found.reason)
            source = sources.file(found.path)
        except UnreadableError as error:
            self._skip(str(found.path), error, named=found.named)
            return
        self.take(source, named=found.named, path=found.path)

    def take(self, source: Source, *, named: bool, path: Path | None = None) -> None:
        """Take one source, or list the reason why not; failures of the store get out."""
        try:
            self._take(source, path, alone=named)
        except UnreadableError as error:
            self._skip(source.name, error, named=named)

    def _take(self, source: Source, path: Path | None, *, alone: bool) -> None:
        seen = look(source, self._options.format)
        if seen.kind == SKIP:
            raise UnreadableError(seen.reason)
        if seen.kind == CONTAINER:
            self._container(source, seen.container, path)
        elif seen.kind == SESSION:
            self.sessions.append(self._takes.take(source, seen))
        elif seen.kind == TOOL and path is not None and not alone:
            self._tools.setdefault(path.parent, []).append((path.name, source.read()))
        else:
            self._surfaces(source)

    def _skip(self, name: str, error: UnreadableError, *, named: bool) -> None:
        reason = error.message.removeprefix(f"{name}: ")
        self.skipped.append(Skipped(path=name, reason=reason, named=named))

    def _container(self, source: Source, which: str, path: Path | None) -> None:
        """Take every recording of a container; each is an input of its own."""
        for kind, native, data in container.recordings(which, source, path):
            self.take(sources.memory(f"{source.name}#{native}", data, container=kind), named=False)

    def _surfaces(self, source: Source) -> None:
        found = surface_format.read(source.read())
        if not found:
            raise UnreadableError("holds no tools array")
        for surface in found:
            self._surface(surface, source.name)

    def join_tools(self) -> None:
        """Record each walked folder of one-tool files as one surface, in file name order."""
        for folder, files in sorted(self._tools.items()):
            tools = [surface_format.read_tool(data) for _, data in sorted(files)]
            raw = surface_format.join([tool for tool in tools if tool is not None])
            self._surface(surface_format.lower(raw, kind=OFFERED, reconstructed=True), str(folder))

    def _surface(self, surface: Surface, name: str) -> None:
        self._keeper.surface(surface, self._options.source, name)
