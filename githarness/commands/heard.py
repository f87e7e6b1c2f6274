"""Heard: what a reply says, and what its author can be seen to have read.

The gap this closes: a proposal that repeats a page is found out only where somebody
names the page, and agents print their whole session. The decision: a reply that is a
transcript is taken for one. What it says is its final text; what its tools returned is
what its author read. What this does not do: it is no verb, records nothing, and of a
reply in prose it sees nothing but the prose.
"""

import msgspec

from githarness.capture import source
from githarness.capture.look import SESSION, look
from githarness.formats import detect


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a reply, and the texts that its author had from tools; none where that is unseen."""

    words: str
    read: tuple[str, ...] = ()


def heard(text: str) -> Heard:
    """Read a reply: prose, or the transcript of whoever gave it."""
    given = source.memory("the reply", text.encode("utf-8", "surrogateescape"))
    seen = look(given)
    if seen.kind != SESSION or seen.format is None:
        return Heard(words=text)
    session = detect.read_pieces(seen.format.name, given.blocks())
    return Heard(
        words=session.final_text or "",
        read=tuple(call.output for call in session.calls if call.output),
    )
