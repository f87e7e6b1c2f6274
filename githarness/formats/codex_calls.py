"""Codex calls and their results: paired by id, judged by whatever evidence there is.

The gap this closes: a command that goes on running answers with an exec session,
and its exit code arrives in the result of a later poll. Read as they stand, the
failure is the poll's and the command's outcome is lost. The decision: the exit
code belongs to the call that opened the session, and the poll itself went well;
where that call is not in the file the poll is unknown. An event about a call may
stand before or after its result and is believed over the result's text.

What it does not do: it never pairs by order. A result without an id is counted as
an unfamiliar record.
"""

from typing import Any

import msgspec

from githarness.formats import codex_evidence as evidence
from githarness.formats import codex_records
from githarness.formats.codex_records import text
from githarness.model.builder import Builder
from githarness.model.session import REFUSED, UNKNOWN

_POLL = "write_stdin"
# The server runs these and keeps their results; their status is all there will be.
_NO_RESULT = frozenset({"web_search", "image_generation"})


class Calls(msgspec.Struct, kw_only=True):
    """What is known of calls beside the builder's own list, by call id or exec session."""

    sessions: dict[str, str] = {}  # exec session -> the call that opened it
    polls: dict[str, str] = {}  # call -> the exec session it polls
    verdicts: dict[str, tuple[bool | None, str | None]] = {}  # from events ahead of the result

    def function(self, builder: Builder, item: dict[str, Any]) -> None:
        """Take a function call; a poll is remembered until its result."""
        call, name = text(item.get("call_id")), codex_records.name(item)
        asked, malformed = codex_records.arguments(item.get("arguments"))
        builder.call(call, name, asked, malformed=malformed)
        if name == _POLL and isinstance(asked, dict):
            self.polls[call] = str(asked.get("session_id"))

    def hosted(self, builder: Builder, item: dict[str, Any]) -> None:
        """Take a call of a built-in type, named after it; some have a status and no result."""
        name = text(item.get("type")).removesuffix("_call")
        call = text(item.get("call_id")) or f"#{len(builder.calls)}"
        builder.call(call, name, item.get("action", item.get("arguments")))
        flag, cause = evidence.of_item(item)
        if flag is not None and name in _NO_RESULT:
            builder.outcome(call, flag, cause)

    def output(self, builder: Builder, item: dict[str, Any]) -> None:
        """Take a result and judge it; arguments that were refused were malformed."""
        call, shown = text(item.get("call_id")), evidence.text_of(item.get("output"))
        if not call:
            builder.unfamiliar("(result without call_id)")
            return
        verdict = evidence.of_output(item.get("output"), shown or "")
        if call in self.polls:
            verdict = self._polled(builder, self.polls.pop(call), shown or "", verdict)
        elif (session := evidence.running(shown or "")) is not None:
            self.sessions[session] = call
        builder.result(call, shown, *self.verdicts.pop(call, verdict))
        if verdict[1] == REFUSED:
            builder.malformed(call)

    def _polled(
        self, builder: Builder, session: str, shown: str, verdict: evidence.Verdict
    ) -> evidence.Verdict:
        """Give an exit code to the call that opened the session, and judge the poll itself."""
        ended = evidence.has_exit(shown)
        if not ended and evidence.running(shown) is None:
            return verdict
        first = self.sessions.get(session)
        if first is None:
            return (None, UNKNOWN)
        if ended and verdict[0] is not None:
            builder.outcome(first, verdict[0], verdict[1])
        return evidence.WENT_WELL

    def judge(self, builder: Builder, call: str, verdict: evidence.Verdict) -> None:
        """Keep what an event says of a call, whether its result stands before or after."""
        if not call or verdict[0] is None:
            return
        if call in builder.answered:
            builder.outcome(call, verdict[0], verdict[1])
        else:
            self.verdicts[call] = verdict
