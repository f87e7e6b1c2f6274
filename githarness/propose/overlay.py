"""The overlay: guidance in force, one entry per thing said, in order.

The gap this closes: an overlay that is one text can only be replaced, and replacing
it drops what somebody approved since (accepting one of four proposals made the other
three stale). The decision: an entry is named by the SHA-256 of its text, stands in a
file of its own, and is added or dropped alone; order is that of the file names.

What it does not do: it merges nothing, and an entry is never edited.
"""

import functools
import re
from collections.abc import Iterable

import msgspec

from githarness import canon
from githarness.errors import CorruptError, MissingError, UnreadableError
from githarness.propose import text

FOLDER = "overlay/"
# Four digits in a file name. An entry after this many shares the last number, where
# its digest orders it; nothing depends on additions coming last.
LAST = 9_999

_NAME = re.compile("overlay/([0-9]{4})-([0-9a-f]{12})[.]md")
_FENCE = re.compile(" {0,3}(`{3,}|~{3,})")
# Shorter than this, a prefix is a typing error more often than an abbreviation.
_LEAST_PREFIX = 4
# More than a prompt can hold; 8 MB at the most.
_KEPT = 4096


class Entry(msgspec.Struct, frozen=True, order=True):
    """One guidance entry. `seq` orders it and is no part of what is hashed or signed."""

    seq: int
    text: str
    # The SHA-256 of the text, computed and never given: a replay asks for it a million times.
    id: str = ""

    def __post_init__(self) -> None:
        """Name the entry by its text, whatever was given."""
        msgspec.structs.force_setattr(self, "id", guidance_id(self.text))

    @property
    def path(self) -> str:
        """Where the entry stands on main."""
        return f"{FOLDER}{self.seq:04}-{self.id[:12]}.md"

    @property
    def data(self) -> bytes:
        """The bytes of its file: the text and one line feed."""
        return f"{self.text}\n".encode()


# each step of main names all the guidance in force again
@functools.lru_cache(maxsize=_KEPT)
def guidance_id(guidance: str) -> str:
    """Name a text of guidance."""
    return canon.sha256(canon.utf8(guidance))


def fault(guidance: str) -> str | None:
    """Say why a text cannot be guidance; None when it can."""
    if not guidance or guidance != guidance.strip():
        return "must not be empty, and must not begin or end with white space"
    return text.fault(guidance, text.GUIDANCE_LIMIT)


def is_open(guidance: str) -> bool:
    """Tell whether a text ends inside a fenced code block, as CommonMark reads it."""
    fence = ""
    for line in guidance.split("\n"):
        match = _FENCE.match(line)
        if match is None:
            continue
        mark, rest = match[1], line[match.end() :]
        if not fence:
            fence = mark if mark[0] == "~" or "`" not in rest else ""
        elif mark.startswith(fence) and not rest.strip():
            fence = ""
    return bool(fence)


def ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Put entries in the order of their file names."""
    # the number has four digits in every name, so this is the order of the names
    return tuple(sorted(entries, key=lambda entry: (entry.seq, entry.id)))


def append(entries: tuple[Entry, ...], guidance: str) -> tuple[Entry, ...]:
    """Add one entry after all others."""
    seq = min(max((entry.seq for entry in entries), default=0) + 1, LAST)
    return ordered((*entries, Entry(seq, guidance)))


def render(entries: Iterable[Entry]) -> str:
    """Give the text that is appended to an agent's prompt: the files, one after the other."""
    return "".join(f"{entry.text}\n" for entry in entries)


def resolve(prefix: str, entries: Iterable[Entry]) -> str:
    """Return the id of the one entry that begins with `prefix`; MissingError otherwise."""
    ids = [entry.id for entry in entries]
    found = [one for one in ids if one.startswith(prefix)] if len(prefix) >= _LEAST_PREFIX else []
    if len(found) != 1:
        known = ", ".join(one[:12] for one in ids) or "none"
        what = "several entries begin" if found else "no guidance in force begins"
        raise MissingError(f"{what} with {prefix[:64]!r}; in force are: {known}", hint="name one of these")
    return found[0]


# each step of main holds all the guidance in force again
@functools.lru_cache(maxsize=_KEPT)
def read(path: str, data: bytes) -> Entry:
    """Read one file of the overlay; its name must be that of its text."""
    match = _NAME.fullmatch(path)
    if match is None or match[1] == "0000":
        raise UnreadableError(f"{path[:120]!r} is no name of a guidance entry")
    entry = Entry(int(match[1]), decode(path, data))
    if entry.path != path:
        raise CorruptError(f"{path}: the text has another digest than the name says")
    reason = fault(entry.text)
    if reason is not None:
        raise UnreadableError(f"{path}: the text {reason}")
    return entry


def decode(path: str, data: bytes) -> str:
    """Return the text of a file that ends in one line feed of ours."""
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path}: not valid UTF-8") from error
    if not whole.endswith("\n"):
        raise UnreadableError(f"{path}: does not end in a line feed")
    return whole[:-1]
