"""Files: a state as files on main, and back, strictly.

The gap this closes: whatever can be written into a branch by hand, by a merge or by
a host must either be a state or be named as what it is not; a reader that skips what
it does not know lets a file take effect that no digest covers. The decision: every
file of the state has one legal name and one legal spelling, names are checked
against contents, and an unknown path is an error. One file per knob, guidance entry
and tool, so that changes of different keys never meet in one file.

What it does not do: it reads no disk, and what stands in `mutations/` and
`decisions/` is no part of a state.
"""

import re
from collections.abc import Mapping

import msgspec

from githarness import canon
from githarness.errors import CorruptError, HarnessError, MissingError, UnreadableError
from githarness.propose import overlay, state, text
from githarness.propose.knobs import Value
from githarness.propose.overlay import Entry
from githarness.propose.state import State

HARNESS = "harness.toml"
KNOBS = "knobs/"
TOOLS = "tools/"

_OWN = (KNOBS, overlay.FOLDER, TOOLS)

_KNOB = re.compile("knobs/([a-z][a-z0-9_]{0,62})")
_TOOL = re.compile("tools/([0-9a-f]{64})[.]md")


def belongs(path: str) -> bool:
    """Tell whether a path of main is part of the state, or claims to be."""
    return path == HARNESS or path.startswith(_OWN)


def files(of: State) -> dict[str, bytes]:
    """Give the files of a state, by path."""
    made = {HARNESS: of.harness.encode()}
    made.update({f"{KNOBS}{name}": canon.encode(value) + b"\n" for name, value in of.knobs.items()})
    made.update({entry.path: entry.data for entry in of.overlay})
    made.update({tool_path(name): f"{name}\n{words}\n".encode() for name, words in of.tools.items()})
    return made


def tool_path(name: str) -> str:
    """Return where a tool's description stands: names are made of anything, paths are not."""
    return f"{TOOLS}{canon.sha256(canon.utf8(name))}.md"


def from_files(mapping: Mapping[str, bytes]) -> State:
    """Read a state from its files.

    Raises MissingError without harness.toml, CorruptError where a name is not that
    of its content, UnreadableError for a path or a content that no state has.
    """
    if HARNESS not in mapping:
        raise MissingError(f"main holds no {HARNESS}", hint="restore it from an earlier commit of main")
    knobs: dict[str, Value] = {}
    entries: list[Entry] = []
    tools: dict[str, str] = {}
    for path, data in sorted(mapping.items()):
        if path.startswith(KNOBS):
            knobs.update(_knob(path, data))
        elif path.startswith(overlay.FOLDER):
            entries.append(overlay.read(path, data))
        elif path.startswith(TOOLS):
            tools.update(_tool(path, data))
        elif path != HARNESS:
            raise UnreadableError(f"{path[:120]!r} is no file of a harness state")
    harness = _harness(mapping[HARNESS])
    return _checked(State(harness=harness, knobs=knobs, overlay=overlay.ordered(entries), tools=tools))


def faults(mapping: Mapping[str, bytes]) -> dict[str, str]:
    """Say of each file that no state has why, by path; what is left without them is a state.

    Raises what `from_files` raises where harness.toml itself is not there or cannot be read.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    alone = {HARNESS: mapping[HARNESS]} if HARNESS in mapping else {}
    from_files(alone)
    for path, data in sorted(mapping.items()):
        try:
            one = from_files({**alone, path: data})
        except HarnessError as error:
            found[path] = error.message
            continue
        if seen & one.texts.keys():
            found[path] = f"{path}: another file of the overlay holds the same text"
        seen |= one.texts.keys()
    return found


def _harness(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{HARNESS}: not valid UTF-8") from error


def _checked(of: State) -> State:
    if len(of.texts) != len(of.overlay):
        raise UnreadableError("two files of the overlay hold the same text")
    faults = list(state.unlawful(of))
    if faults:
        raise UnreadableError("; ".join(faults))
    return of


def _knob(path: str, data: bytes) -> dict[str, Value]:
    match = _KNOB.fullmatch(path)
    if match is None:
        raise UnreadableError(f"{path[:120]!r} is no name of a knob")
    value = _value(data)
    if value is None or canon.encode(value) + b"\n" != data:
        raise UnreadableError(f"{path}: not one canonical integer, string or boolean and a line feed")
    return {match[1]: value}


def _value(data: bytes) -> Value | None:
    try:
        value: Value = msgspec.json.decode(data, type=bool | int | str)
    except msgspec.MsgspecError:
        return None
    except RecursionError:
        return None
    return value


def _tool(path: str, data: bytes) -> dict[str, str]:
    match = _TOOL.fullmatch(path)
    if match is None:
        raise UnreadableError(f"{path[:120]!r} is no name of a described tool")
    name, parted, words = overlay.decode(path, data).partition("\n")
    if tool_path(name) != path:
        raise CorruptError(f"{path}: the first line is not the tool that the file is named after")
    reason = tool_fault(name) or text.fault(words, text.DESCRIPTION_LIMIT)
    if reason is not None or not parted:
        raise UnreadableError(f"{path}: {reason or 'holds no description'}")
    return {name: words}


def tool_fault(name: str) -> str | None:
    """Say why a name cannot be a described tool's; None when it can."""
    if not name or name != name.strip():
        return "a tool's name must not be empty, and must not begin or end with white space"
    reason = text.fault(name, text.NAME_LIMIT, lines=False)
    return None if reason is None else f"a tool's name {reason}"
