"""Heard: what a reply says, and what its author can be seen to have read.

The gap this closes: a proposal that repeats a page is found out only where somebody
names the page, and agents print their whole session. The decision: a reply that is a
transcript is taken for one. What it says is its final text; what its tools returned is
what its author read. What this does not do: it is no verb, records nothing, and of a
reply in prose it sees nothing but the prose.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from githarness import canon
from githarness.capture import source
from githarness.capture.look import SESSION, look
from githarness.errors import UnreadableError
from githarness.formats import detect


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a reply, and the texts that its author had from tools; none where that is unseen."""

    words: str
    read: tuple[str, ...] = ()


def heard(text: str) -> Heard:
    """Read a reply: prose, the transcript of whoever gave it, or the envelope that a client prints.

    UnreadableError for JSON of any other kind, which must not pass for "nothing proposed".
    """
    given = source.memory("the reply", text.encode("utf-8", "surrogateescape"))
    seen = look(given)
    if seen.kind == SESSION and seen.format is not None:
        session = detect.read_pieces(seen.format.name, given.blocks())
        return Heard(
            words=session.final_text or "",
            read=tuple(call.output for call in session.calls if call.output),
        )
    records = list(_records(text))
    if not records:
        return Heard(words=text)
    words = next((said for one in reversed(records) if (said := _said(one)) is not None), None)
    if words is None:
        raise UnreadableError(
            "the reply is JSON of a kind that is not known", hint="give the text of the reply alone"
        )
    return Heard(words=words, read=tuple(text for one in records for text in _results(one)))


def _records(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a reply that is one JSON object, or one on each line; none for prose."""
    for whole in ([text], text.splitlines()):
        try:
            found = [canon.read(one.encode()) for one in whole if one.strip()]
        except ValueError:
            continue
        if found and all(isinstance(one, dict) for one in found):
            yield from found
            return


def _said(record: dict[str, Any]) -> str | None:
    """Return the final text where a client's last record holds it."""
    words = record.get("result") if record.get("type") == "result" else record.get("response")
    return words if isinstance(words, str) else None


def _results(record: dict[str, Any]) -> Iterator[str]:
    """Yield what tools returned, in a record of a stream of messages."""
    message = record.get("message")
    blocks = message.get("content") if isinstance(message, dict) else None
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield json.dumps(block.get("content"))
