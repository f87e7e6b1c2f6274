"""What `record` is asked, and what it answers."""

import msgspec

from githarness.errors import OK, UNABLE


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for.

    `surface` is a digest or a file that every session of the call cites, `source` the
    agent or server that surfaces belong to, `label` what the runs are called.
    """

    format: str | None = None
    surface: str | None = None
    source: str = ""
    label: str | None = None
    redact: bool = True


class Item(msgspec.Struct, kw_only=True):
    """One session or surface; `status` is new, updated or unchanged.

    Filled in while the call goes on, since only the write knows what was there.
    """

    kind: str
    id: str
    path: str
    format: str
    status: str = "unchanged"
    calls: int | None = None
    failed: int | None = None
    malformed: int | None = None
    redacted: int = 0
    surface: str | None = None
    agent: str | None = None
    unreadable: int = 0
    unfamiliar: int = 0
    tools: int | None = None
    notes: list[str] = []


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """One input that was not recorded; `named` tells a person's own words from found files.

    What the store had no room for counts as named: its absence is no matter of course.
    """

    path: str
    reason: str
    named: bool
    hint: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded and what was not; `commit` is None when nothing had to be written."""

    store: str
    recorded: tuple[Item, ...]
    skipped: tuple[Skipped, ...]
    commit: str | None

    @property
    def exit_code(self) -> int:
        """0 when all that was named was recorded, 3 when something named was not."""
        return UNABLE if any(skip.named for skip in self.skipped) else OK
