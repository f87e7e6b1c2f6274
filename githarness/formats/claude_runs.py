"""Whose record it is: one Claude Code file can hold pieces of several runs.

The gap this closes: a resumed or forked session's file begins with a copy of what an
older session said, a rewritten one repeats records, and files of before 2.0 hold the
subagents' records between the parent's. Counted together, one call counts up to four
times. The decision: the file's own run is the one its newest conversation record
names. What stands under another session id, names the session it was forked from, or
repeats a uuid is copied; a file whose messages are all sidechain is a subagent's run,
`<session>/<agent>`; sidechain messages elsewhere only leave the agent's name.

What it does not do: it looks at no text, and it cannot see a copy that carries the
new session's id and no mark; a store that holds both runs can.
"""

import msgspec

from githarness.formats.claude_record import Line
from githarness.model.builder import Builder

# Sessions found beside the file's own that are remembered, so that a hostile file
# with an id per line cannot fill memory. A real resumed file holds two or three.
MAX_PARKED = 32

_FILE_WIDE = ("records", "unreadable", "unfamiliar_types", "copied")


class Runs(msgspec.Struct):
    """The runs of one file, told apart while it is read.

    `session` is the id last seen in the conversation, `parked` holds what other ids
    said, and `shares` how many records each had of the `taken`. `side` is True in a
    subagent's file, and None before a record tells.
    """

    session: str | None = None
    agent: str | None = None
    side: bool | None = None
    agents: list[str] = []
    parked: dict[str, Builder] = {}
    shares: dict[str, int] = {}
    taken: int = 0
    uuids: set[str] = set()

    def place(self, line: Line, builder: Builder) -> Builder:
        """Return the builder of the run that is read from this record on."""
        builder = self._decide(line, builder)
        if line.session_id and line.session_id != self.session and not self._is_inline(line):
            builder = self._switch(line.session_id, builder)
        return builder

    def is_own(self, line: Line, builder: Builder) -> bool:
        """Tell whether a record counts for its run; one that was copied in is noted."""
        if self._is_inline(line):
            self.note(line.agent_id)
            return False
        if line.uuid in self.uuids or bytes(line.forked_from) not in {b"", b"null"}:
            builder.copied += 1
            return False
        # A message that says nothing may be written again, whole, under the same uuid.
        empty = line.message is None or line.message.content is None
        if line.uuid and not (empty and line.type in {"user", "assistant"}):
            self.uuids.add(line.uuid)
        self.taken += 1
        self.shares[self.session or ""] = self.shares.get(self.session or "", 0) + 1
        return True

    def copied(self) -> int:
        """Return how many records other sessions had said."""
        return self.taken - self.shares.get(self.session or "", 0)

    def subagents(self) -> tuple[str, ...]:
        """Return the native ids of the subagents that were met."""
        prefix = f"{self.session}/" if self.session else ""
        return tuple(prefix + agent for agent in self.agents)

    def note(self, agent: str | None) -> None:
        """Remember that a subagent was at work."""
        if agent and agent not in self.agents:
            self.agents.append(agent)

    def name(self, session: str | None, builder: Builder) -> None:
        """Take a session id where none is known yet, and name the run by it."""
        self.session = self.session or session
        if self.session is None:
            return
        subagent = self.side and self.agent
        builder.native = f"{self.session}/{self.agent}" if subagent else self.session
        # Some files of subagents carry only their own id, which is nobody's parent.
        known = subagent and self.session != f"agent-{self.agent}"
        builder.parent = self.session if known else None

    def _is_inline(self, line: Line) -> bool:
        """Tell whether a subagent's record stands in a file that is not its own."""
        return line.is_sidechain is True and (not self.side or line.agent_id != self.agent)

    def _decide(self, line: Line, builder: Builder) -> Builder:
        """Let the first record that tells say whose file it is; a parent's own message overrules it."""
        if self.side is None:
            if line.is_sidechain is not None or line.message is not None:
                self.side = line.is_sidechain is True
                self.agent = line.agent_id if self.side else None
        elif self.side and line.is_sidechain is False and line.message is not None:
            self.note(self.agent)
            self.side, self.agent = False, None
            builder = _moved(builder, _empty(builder))
            self.name(None, builder)
        return builder

    def _switch(self, session: str, builder: Builder) -> Builder:
        """Another session id speaks: go on with its run, and put aside what was read so far."""
        if self.session is not None:
            self.parked[self.session] = builder
            if len(self.parked) > MAX_PARKED:
                oldest = next(iter(self.parked))
                self.shares.pop(oldest, None)
                del self.parked[oldest]
            builder = _moved(builder, self.parked.pop(session, _empty(builder)))
        self.session = session
        self.name(session, builder)
        return builder


def _empty(builder: Builder) -> Builder:
    return Builder(agent=builder.agent, format=builder.format, keep=builder.keep)


def _moved(old: Builder, new: Builder) -> Builder:
    """Take along what is counted over the whole file."""
    for name in _FILE_WIDE:
        setattr(new, name, getattr(old, name))
    return new
