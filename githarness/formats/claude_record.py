"""Claude Code's record shapes: one line of bytes in, the few fields that mean something out.

The gap this closes: the records carry whole files, screens and images that nobody
counts, and decoding them is most of the time a reader takes. The decision: typed
structs that leave bodies undecoded until somebody needs them; a line with a lone
surrogate or a field of an unforeseen type is read again, slower, field by field, so
that one odd field never costs the line.

What it does not do: it gives no record a meaning; `claude_code` does.
"""

import json
import re
from typing import Annotated, Any, TypeVar

import msgspec

from githarness import canon

_SURROGATE = re.compile("[\ud800-\udfff]")

# A count beyond what any JSON writer keeps exact is no count; it stays unknown.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

_T = TypeVar("_T", bound=msgspec.Struct)


class Usage(msgspec.Struct):
    """Tokens of one response; `input_tokens` leaves out what came from or went to a cache."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None


class Block(msgspec.Struct):
    """One content block. Bodies stay undecoded until somebody needs them."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    tool_use_id: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    is_error: bool | None = None


class Message(msgspec.Struct):
    """What went to or came from the model."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None

    def blocks(self) -> list[Block]:
        """Return the content as blocks, also where it is one plain text."""
        if isinstance(self.content, str):
            return [Block(type="text", text=self.content)]
        return self.content or []


class Origin(msgspec.Struct):
    """Who a user record came from, where the client says so."""

    kind: str | None = None


class Attachment(msgspec.Struct, rename="camel"):
    """What the client put beside the conversation."""

    type: str | None = None
    prompt: msgspec.Raw = msgspec.Raw()
    command_mode: str | None = None
    is_meta: bool | None = None
    origin: Origin | None = None
    added_names: list[str] | None = None
    decision: str | None = None
    tool_use_id: str | None = msgspec.field(name="toolUseID", default=None)


class Line(msgspec.Struct, rename="camel"):
    """Those fields of a record that mean something here; `input` and below are of 1.x records."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    project: str | None = None
    git_branch: str | None = None
    version: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    is_aborted_mid_stream: bool | None = None
    interrupted_message_id: str | None = None
    api_error: str | None = None
    message: Message | None = None
    attachment: Attachment | None = None
    tool_use_result: msgspec.Raw = msgspec.Raw()
    tool_denial_kind: str | None = None
    origin: Origin | None = None
    prompt_source: str | None = None
    forked_from: msgspec.Raw = msgspec.Raw()
    operation: str | None = None
    reason: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    output: msgspec.Raw = msgspec.Raw()
    is_error: bool | None = None
    call_id: str | None = msgspec.field(name="tool_use_id", default=None)


class Aside(msgspec.Struct, rename="camel"):
    """The side record of a tool result, as far as it matters."""

    agent_id: str | None = None
    interrupted: bool | None = None


_NESTED: dict[str, type[msgspec.Struct]] = {
    "message": Message,
    "attachment": Attachment,
    "usage": Usage,
    "origin": Origin,
}
_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_ASIDE: msgspec.json.Decoder[Aside] = msgspec.json.Decoder(Aside)


def read(record: bytes) -> Line | None:
    """Decode one record, or None when it is no JSON object."""
    try:
        return _LINE.decode(canon.shallow(record))
    except (ValueError, RecursionError):
        pass  # a lone surrogate, or a field of an unforeseen type: slower, and field by field
    try:
        value = canon.read(record)
        if not isinstance(value, dict):
            return None
        return _fitted(Line, json.loads(_visible(json.dumps(value, ensure_ascii=False))))
    except (ValueError, RecursionError):
        return None


def _visible(text: str) -> str:
    """Spell lone surrogates out, as `canon.utf8` does: no output could carry them otherwise."""
    return _SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text)


def _fitted(kind: type[_T], value: dict[str, Any]) -> _T:
    """Fill a struct with those fields that have the type it expects; the others stay unknown."""
    fields = msgspec.structs.fields(kind)
    found = {f.name: _field(f.name, f.type, value[f.encode_name]) for f in fields if f.encode_name in value}
    return kind(**{name: item for name, item in found.items() if item is not None})


def _field(name: str, kind: Any, value: Any) -> Any:
    if kind is msgspec.Raw:
        return None if value is None else msgspec.Raw(json.dumps(value).encode())
    if name in _NESTED:
        return _fitted(_NESTED[name], value) if isinstance(value, dict) else None
    if name == "content" and isinstance(value, list):
        shaped = (block if isinstance(block, dict) else {"type": "text", "text": block} for block in value)
        return [_fitted(Block, block) for block in shaped]
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def parse(raw: msgspec.Raw) -> Any:
    """Parse a body; bytes that only look like JSON come back as the text they are."""
    data = bytes(raw)
    if not data:
        return None
    try:
        return canon.read(data)
    except ValueError:
        return data.decode("utf-8", "replace")


def flat(raw: msgspec.Raw) -> str:
    """Flatten a result or prompt: a string, or the texts of a list of blocks, one a line."""
    value = parse(raw)
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "\n".join(_piece(block) for block in value)


def _piece(block: Any) -> str:
    if isinstance(block, dict):
        return block["text"] if isinstance(block.get("text"), str) else f"[{block.get('type')}]"
    return str(block)


def aside(raw: msgspec.Raw) -> Aside:
    """Decode a side record; one that is a plain text, or broken, says nothing."""
    try:
        return _ASIDE.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return Aside()
