"""A folder of one-tool files as one surface.

The gap this closes: servers keep snapshots of their tools as one file each, and no
single one is what anybody was sent. The decision: the files of one folder are joined
in the order of their names, as offered and reconstructed; a file that holds something
else is passed over. What it does not do: it enters no folder below.
"""

from collections.abc import Iterable
from pathlib import Path

from githarness.capture import source, walk
from githarness.errors import UnreadableError
from githarness.formats import surface as surface_format
from githarness.model.surface import OFFERED, Surface

# A tool is described in some KB; a folder may hold anything beside its tools.
MAX_FILE = 1 << 20


def joined(files: Iterable[tuple[str, bytes]]) -> Surface | None:
    """Join files, given as (name, bytes), to one surface; None when none of them holds one tool."""
    tools = [tool for _, data in sorted(files) if (tool := _tool(data)) is not None]
    if not tools:
        return None
    return surface_format.lower(surface_format.join(tools), kind=OFFERED, reconstructed=True)


def surface(folder: Path) -> Surface:
    """Read `folder` as one surface; UnreadableError where it holds no file with one tool."""
    files = []
    for found in walk.files([folder]):
        if found.path.parent == folder and not found.reason:
            taken = source.file(found.path)
            if taken.size <= MAX_FILE:
                files.append((found.path.name, taken.read()))
    whole = joined(files)
    if whole is None:
        raise UnreadableError(f"{folder}: holds no file with one tool", hint="name a file with a tools array")
    return whole


def _tool(data: bytes) -> bytes | None:
    try:
        return surface_format.read_tool(data)
    except UnreadableError:
        return None
