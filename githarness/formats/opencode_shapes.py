"""The shapes of opencode's rows and exports, as far as they are read.

The decision: each row is decoded into the few fields that count, so that bodies of
file contents, diffs and reasoning are skipped and never built. Every field has a
default, since versions differ in what they leave out.

What it does not do: it interprets nothing (`opencode` does).
"""

from typing import Any

import msgspec


class _Skip(msgspec.Struct):
    """An object of which nothing is read."""


class Named(msgspec.Struct):
    """An error, of which only the name is a fact; its message is third-party text."""

    name: str = ""


class Time(msgspec.Struct):
    """Milliseconds. A response that never completed has no `completed`."""

    created: int | float | None = None
    completed: int | float | None = None


class Cache(msgspec.Struct):
    """Tokens that the cache served and took in."""

    read: int = 0
    write: int = 0


class Tokens(msgspec.Struct):
    """What one response used; `total` is missing in older versions."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    total: int | None = None
    cache: Cache = msgspec.field(default_factory=Cache)


class Facts(msgspec.Struct, rename={"child": "sessionId"}):
    """A call's metadata: the session of a subagent, and whether the call was cut off."""

    child: Any = None
    interrupted: Any = None


class State(msgspec.Struct):
    """A call's outcome, in the same part as the call."""

    status: str = ""
    input: Any = None
    output: str | None = None
    error: str | None = None
    metadata: Facts | None = None


class Message(msgspec.Struct, rename={"asked": "parentID", "model": "modelID"}):
    """A message: `data` of its row, or `info` in an export. `asked` is the message it answers."""

    id: str | None = None
    role: str = ""
    asked: str | None = None
    model: str | None = None
    tokens: Tokens | None = None
    finish: str | None = None
    error: Named | None = None
    time: Time = msgspec.field(default_factory=Time)
    summary: bool | _Skip | None = None


class Part(msgspec.Struct, rename={"call": "callID"}):
    """A piece of a message: text, a tool call with its result, or a mark of the harness."""

    id: str | None = None
    type: str = ""
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    prompt: str | None = None
    tool: str = ""
    call: str | None = None
    state: State = msgspec.field(default_factory=State)


class MessageRow(msgspec.Struct):
    """A row of table message."""

    data: Message
    id: str = ""


class PartRow(msgspec.Struct):
    """A row of table part."""

    data: Part
    message_id: str = ""


class SessionRow(msgspec.Struct):
    """A row of table session."""

    id: str | None = None
    parent_id: str | None = None
    directory: str | None = None
    version: str | None = None


class SessionLine(msgspec.Struct, tag_field="table", tag="session"):
    """The line of a session row."""

    row: SessionRow


class MessageLine(msgspec.Struct, tag_field="table", tag="message"):
    """The line of a message row."""

    row: MessageRow


class PartLine(msgspec.Struct, tag_field="table", tag="part"):
    """The line of a part row."""

    row: PartRow


class Info(msgspec.Struct, rename={"parent_id": "parentID"}):
    """The head of an export: a session row in other spelling."""

    id: str | None = None
    parent_id: str | None = None
    directory: str | None = None
    version: str | None = None


class Export(msgspec.Struct):
    """An exported session; each message is decoded alone, so that one odd one costs no other."""

    info: Info
    messages: list[msgspec.Raw]


class Item(msgspec.Struct):
    """One message of an export with its parts."""

    info: Message
    parts: list[Part] = []


Line = SessionLine | MessageLine | PartLine
LINE = msgspec.json.Decoder(Line)
EXPORT = msgspec.json.Decoder(Export)
ITEM = msgspec.json.Decoder(Item)

# What msgspec raises on bytes that are no JSON, no UTF-8, too deep or of another shape.
REFUSALS = (ValueError, RecursionError)
