"""The inputs of one write, taken one by one, with the reason for each that cannot be.

The gap this closes: one bad file among thousands must cost neither the rest nor its own
explanation. The decision: whatever is wrong with an input ends here, as a line of the
answer: its content, its name, the system that does not open it, or memory that does not
hold it. What this does not do: failures of the store are none of an input's and get out.
"""

from pathlib import Path

from githarness.capture import container, folder, walk
from githarness.capture import source as sources
from githarness.capture.look import CONTAINER, SESSION, SKIP, TOOL, look
from githarness.capture.source import Source
from githarness.commands.record.result import Item, Options, Skipped
from githarness.commands.record.sessions import Sessions
from githarness.commands.record.surfaces import Keeper
from githarness.errors import HarnessError, MissingError, UnreadableError
from githarness.formats import surface as surface_format
from githarness.model.surface import Surface

# For what is JSON and nobody claims.
_AS = "if it is a session or a tools array, say which: --format NAME"


class Inputs:
    """Takes inputs and lists what became of each."""

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
        """Take one source, or list the reason why not."""
        try:
            self._take(source, path, alone=named)
        except (UnreadableError, MissingError) as error:
            self._skip(source.name, error, named=named)
        except OSError as error:
            self._skip(source.name, UnreadableError(_refused(error)), named=named)
        except MemoryError:
            self._skip(source.name, UnreadableError("needs more memory than there is"), named=named)

    def _take(self, source: Source, path: Path | None, *, alone: bool) -> None:
        seen = look(source, self._options.format)
        if seen.kind == SKIP:
            raise UnreadableError(seen.reason, hint=_AS if seen.reason.startswith("JSON") else "")
        if seen.kind == CONTAINER:
            self._container(source, seen.container, path)
        elif seen.kind == SESSION:
            self.sessions.append(self._takes.take(source, seen))
        elif seen.kind == TOOL and path is not None and not alone:
            self._tools.setdefault(path.parent, []).append((path.name, source.read()))
        else:
            self._surfaces(source)

    def _skip(self, name: str, error: HarnessError, *, named: bool) -> None:
        reason = error.message.removeprefix(f"{name}: ")
        self.skipped.append(Skipped(path=name, reason=reason, named=named, hint=error.hint))

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
        for place, files in sorted(self._tools.items()):
            try:
                surface = folder.joined(files)
            except UnreadableError as error:
                self._skip(str(place), error, named=False)
                continue
            if surface is not None:
                self._surface(surface, str(place))

    def _surface(self, surface: Surface, name: str) -> None:
        self._keeper.surface(surface, self._options.source, name)


def _refused(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
