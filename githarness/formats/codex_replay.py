"""Where a forked Codex rollout stops repeating its parent.

The gap this closes: a fork opens with its own header and then the parent's header
and whole history, in records that look like its own. The decision: turn ids that
are time-ordered (UUID version 7) decide, since a turn older than the session cannot
be its own; without them the clock does, since a replay is written in one go.

What it does not do: it marks nothing. The reader counts what is replayed as copied.
"""

from datetime import datetime

import msgspec

# What stands at least this long after the header of a fork is its own.
REPLAY_SECONDS = 1.0

_UUID_LENGTH = 36
_VERSION_AT = 14


class Replay(msgspec.Struct, kw_only=True):
    """`start` is None unless a replay goes on; `ordered` says that turn ids hold times.

    `joined` says that another session's file was put behind this one's.
    """

    origin: str = ""
    start: str | None = None
    ordered: bool = False
    joined: bool = False

    def own(self, when: str) -> None:
        """The session's own header, written at `when`: any replay is over."""
        self.origin, self.start, self.joined = when, None, False

    def foreign(self, when: str, *, begun: bool) -> None:
        """A header of another session: what follows is its history.

        A fork repeats its parent before it says anything itself. Once this session has
        `begun`, what follows is a file of its own.
        """
        self.start, self.ordered, self.joined = max(self.origin, when), False, begun

    def covers(self, session: str, turn: str, when: str) -> bool:
        """Tell whether a record of `turn`, written at `when`, is still the other session's."""
        if self.start is None or self.joined:
            return self.joined
        if is_timed(turn) and is_timed(session):
            self.ordered = True
            over = turn >= session
        else:
            over = not self.ordered and seconds(self.start, when) >= REPLAY_SECONDS
        if over:
            self.start = None
        return not over


def is_timed(id: str) -> bool:
    """Tell whether an id is a UUID whose order is the order of time."""
    return len(id) == _UUID_LENGTH and id[_VERSION_AT] == "7"


def seconds(start: str, end: str) -> float:
    """Return the seconds between two timestamps; what cannot be read is no time at all."""
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
