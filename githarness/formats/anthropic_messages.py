"""Reader of Anthropic Messages bodies: requests, responses, and exchanges of both.

The gap this closes: this is where the tools array can be had that no client's
transcript keeps, and every request tells its whole history again with the cache marks
moved. The decision: the history of all requests is one conversation in which each
part counts once; the tools array and the system prompt of every request are kept to
the byte, in force from the response they were sent for. The API defines a result
without a flag as a success, so absent is False here.

What it does not do: a compaction that a client makes on its own leaves no trace in a
body, so the count is unknown until a compaction block is seen; with MCP connectors the
specs stay at the provider, and the surface is marked as partly unknown.
"""

from typing import Any

from githarness import canon
from githarness.formats import api, exchange
from githarness.formats.cut import Body
from githarness.formats.exchange import Exchange
from githarness.formats.history import BY_ID, History, Walk
from githarness.formats.payload import arguments, number, shown, spelled, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    CANCELLED,
    COMPLETED,
    DENIED_PERSON,
    FAILED,
    OUTPUT_BUDGET,
    REFUSED,
    UNKNOWN_TOOL,
)

NAME = exchange.ANTHROPIC
READER = 1

_STOPS = {
    "end_turn": COMPLETED,
    "stop_sequence": COMPLETED,
    # A refusal is the model's own end of a turn: nothing cut it.
    "refusal": COMPLETED,
    "max_tokens": OUTPUT_BUDGET,
    "model_context_window_exceeded": OUTPUT_BUDGET,
}
# The commonest client words what is no plain failure of a tool; one flag covers all of it.
_CAUSES = (
    ("InputValidationError", REFUSED),
    ("No such tool available", UNKNOWN_TOOL),
    ("Error: No such tool available", UNKNOWN_TOOL),
    ("Sibling tool call errored", CANCELLED),
    ("Cancelled: ", CANCELLED),
    ("The user doesn't want to proceed with this tool use", DENIED_PERSON),
    ("The user doesn't want to take this action right now", DENIED_PERSON),
)
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
# Parts that hold nothing a count needs.
_QUIET = frozenset({
    "text", "image", "document", "thinking", "redacted_thinking", "search_result", "container_upload",
    "tool_reference",
})  # fmt: skip


class Reader(api.Reader):
    """Reads exchanges with this API."""

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls.start(NAME, keep=keep)

    def feed(self, record: bytes) -> None:
        """Take one body, exchange, or list of them."""
        self.each(record, _take)


def sniff(peek: Peek) -> bool:
    """Tell whether the first exchange with a model is one of this API."""
    return exchange.provider(peek) == NAME


def _take(builder: Builder, history: History, one: Exchange) -> None:
    response = one.answer(_streamed)
    native = str(response.get("id") or "")
    walk = Walk(builder, history, goes_on=native if one.request is None else None)
    if one.request is not None:
        for message in one.listed("messages"):
            builder.records += 1
            _message(builder, walk, message)
        walk.settle(native)
        _sent(builder, one.request)
    builder.model(response.get("model") or one.asked("model"))
    if isinstance(response.get("content"), list):
        builder.records += 1
        _answer(builder, walk, response, native)
    elif one.is_refused or response.get("type") == "error":
        builder.stop(API_ERROR)


def _sent(builder: Builder, request: Body) -> None:
    """Note the tools array and the system prompt of a request, exactly as sent."""
    if request.raw("tools").startswith(b"["):
        builder.surface(request.raw("tools"), covers_history=True)
    system = request.get("system")
    if isinstance(system, str):
        builder.prompt(canon.utf8(system), covers_history=True)
    elif isinstance(system, list):
        builder.prompt(request.raw("system"), covers_history=True)
    if request.get("mcp_servers"):
        builder.partial_names = True


def _answer(builder: Builder, walk: Walk, response: Body, native: str) -> None:
    walk.reply(native or None)
    _blocks(builder, walk, response.get("content"))
    walk.close(_STOPS.get(str(response.get("stop_reason"))))
    usage = response.get("usage")
    if isinstance(usage, dict):
        read, write = number(usage, "cache_read_input_tokens"), number(usage, "cache_creation_input_tokens")
        # The API's input count leaves both caches out.
        whole = number(usage, "input_tokens") + read + write
        builder.spend(native or f"#{builder.steps}", whole, number(usage, "output_tokens"), read, write)


def _message(builder: Builder, walk: Walk, message: Any) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if role == "assistant":
        walk.reply()
        _blocks(builder, walk, [content] if isinstance(content, str) else content)
        return
    if role == "user":
        # Results come first, so that text beside them is seen while the turn is open.
        results = [one for one in _objects(content) if one.get("type") != "text"]
        _blocks(builder, walk, results)
        walk.hear(texts(content))
        return
    for text in texts(content):
        walk.inject(text)
    if role not in ("system", "developer") and walk.is_new("role", str(role)):
        builder.unfamiliar(f"role {role}")


def _objects(content: Any) -> list[dict[str, Any]]:
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _blocks(builder: Builder, walk: Walk, content: Any) -> None:
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            walk.say(block)
        elif isinstance(block, dict):
            _block(builder, walk, block)


def _block(builder: Builder, walk: Walk, block: dict[str, Any]) -> None:
    kind = str(block.get("type"))
    if kind == "text":
        walk.say(block.get("text"))
    elif kind in _CALLS:
        given, malformed = arguments(block.get("input"))
        walk.call(block.get("id"), block.get("name"), given, by=BY_ID, malformed=malformed)
    elif kind.endswith("tool_result"):
        _result(walk, block)
    elif kind == "compaction":
        if walk.is_new(kind, spelled(block.get("content"))):
            builder.compaction()
    elif kind not in _QUIET and walk.is_new("block", kind):
        builder.unfamiliar(f"block {kind}")


def _result(walk: Walk, block: dict[str, Any]) -> None:
    """Pair a result; the provider's own tools flag an error in the type of their content."""
    content = block.get("content")
    text = shown(content)
    inner = content if isinstance(content, dict) else {}
    failed = block.get("is_error") is True or str(inner.get("type")).endswith("_error")
    failed = failed or number(inner, "return_code") != 0
    walk.result(block.get("tool_use_id"), text, cause=_cause(text) if failed else None)


def _cause(text: str) -> str:
    head = text.lstrip().removeprefix("<tool_use_error>")
    return next((cause for mark, cause in _CAUSES if head.startswith(mark)), FAILED)


def _streamed(events: tuple[Any, ...]) -> Body | None:
    """Put a stream together to the message it is; None where there was no stream."""
    message: dict[str, Any] = {}
    blocks: dict[str, dict[str, Any]] = {}
    for event in events:
        kind, place = event.get("type"), str(event.get("index"))
        if kind == "message_start":
            message |= _object(event, "message")
        elif kind == "content_block_start":
            blocks[place] = dict(_object(event, "content_block"))
        elif kind == "content_block_delta":
            _grow(blocks.setdefault(place, {}), _object(event, "delta"))
        elif kind == "message_delta":
            # Cumulative, and without the input count in older streams.
            usage = _object(message, "usage") | _object(event, "usage")
            message |= _object(event, "delta") | {"usage": usage}
        elif kind == "error":
            message["type"] = "error"
    if blocks:
        message["content"] = list(blocks.values())
    return Body.of(message) if message else None


def _object(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for key, target in (("text", "text"), ("partial_json", "input")):
        if isinstance(delta.get(key), str):
            before = block.get(target)
            block[target] = (before if isinstance(before, str) else "") + delta[key]
