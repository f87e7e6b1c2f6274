"""Reader of Responses API bodies: requests, responses, and exchanges of both.

The gap this closes: items stand in one flat list, calls of the provider's own tools
are one item with their outcome, and the history may live on the server, so that a
request shows a part of the conversation only. The decision: what the model wrote
between two things it was given is one response; a request that goes on from a stored
one counts from there; where a response stands alone, the tools and instructions it
echoes are the surface, and beside its request they are not, since the echo fills in
defaults that were never sent.

What it does not do: it decrypts nothing, and an outcome that no flag states is
unknown. Without a compaction item the count of compactions is unknown.
"""

from itertools import takewhile
from typing import Any

from githarness import canon
from githarness.formats import api, exchange
from githarness.formats.cut import Body, elements
from githarness.formats.exchange import Exchange
from githarness.formats.history import History, Walk
from githarness.formats.openai_responses_items import CLIENT_CALLS, SYSTEM, walk_items
from githarness.formats.payload import number
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, COMPLETED, INTERRUPTED, OUTPUT_BUDGET

NAME = exchange.RESPONSES
READER = 1

_STOPS = {"completed": COMPLETED, "failed": API_ERROR, "cancelled": INTERRUPTED}
# A background response that is polled: it has said nothing yet.
_WAITING = ("queued", "in_progress")
_COMPACTION = "response.compaction"
_ENDS = ("response.completed", "response.incomplete", "response.failed")


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
    request, response = one.request, one.answer(_streamed)
    native = str(response.get("id") or "")
    walk = Walk(builder, history, goes_on=_goes_on(request, native))
    if request is not None:
        _asked(builder, walk, request)
        walk.settle(native)
    builder.model(response.get("model") or one.asked("model"))
    if isinstance(response.get("output"), list):
        builder.seen_at(exchange.iso(response.get("created_at")))
        if request is None and native != history.answers:
            _sent(builder, response, [])
        if response.get("object") == _COMPACTION:
            _compacted(builder, Walk(builder, history), response, native)
        else:
            _answer(builder, walk, response, native)
    elif one.is_refused or response.get("error") is not None:
        builder.stop(API_ERROR)


def _goes_on(request: Body | None, native: str) -> str | None:
    """Tell what a walk starts from: a request without its history goes on from all that was told."""
    if request is None:
        return native
    stored = request.get("previous_response_id") or request.get("conversation")
    return "" if stored else None


def _asked(builder: Builder, walk: Walk, request: Body) -> None:
    """Take a request's input; system messages at its head are the prompt."""
    given = request.get("input")
    if isinstance(given, str):
        builder.records += 1
        walk.hear([given])
        _sent(builder, request, [])
        return
    items = [Body.read(raw) for raw in elements(request.raw("input"))] if isinstance(given, list) else []
    builder.records += len(items)
    heads = [*takewhile(lambda item: item.get("role") in SYSTEM and "tools" not in item, items)]
    walk_items(builder, walk, items[len(heads) :])
    _sent(builder, request, heads)


def _sent(builder: Builder, holder: Body, heads: list[Body]) -> None:
    """Note the tools array, and the instructions with the system messages, exactly as sent."""
    if holder.raw("tools").startswith(b"["):
        builder.surface(holder.raw("tools"), covers_history=True)
    tools = holder.get("tools")
    if isinstance(tools, list) and any(map(_is_server, tools)):
        builder.partial_names = True
    pieces = [(holder, "instructions")] if holder.get("instructions") is not None else []
    pieces += [(head, "content") for head in heads]
    if pieces:
        builder.prompt(_prompt(pieces), covers_history=True)


def _prompt(pieces: list[tuple[Body, str]]) -> bytes:
    """Return the one text that is the prompt, or the exact JSON of its several pieces."""
    if len(pieces) > 1:
        return b"[" + b",".join(body.raw(key) or b"null" for body, key in pieces) + b"]"
    [(body, key)] = pieces
    value = body.get(key)
    return canon.utf8(value) if isinstance(value, str) else body.raw(key)


def _is_server(tool: Any) -> bool:
    """Tell whether a tool stands for a server's tools, which the request does not list."""
    return isinstance(tool, dict) and tool.get("type") == "mcp"


def _answer(builder: Builder, walk: Walk, response: Body, native: str) -> None:
    items = response.parts("output")
    builder.records += max(1, len(items))
    if response.get("status") in _WAITING:
        return
    walk.reply(native or None)
    walk_items(builder, walk, items, native or None)
    walk.close(_stop(response, items))
    _spent(builder, response, native)


def _compacted(builder: Builder, walk: Walk, response: Body, native: str) -> None:
    """Take what a compaction kept as a history told again: it is no reply of the model."""
    items = response.parts("output")
    builder.records += max(1, len(items))
    walk_items(builder, walk, items)
    _spent(builder, response, native)


def _spent(builder: Builder, response: Body, native: str) -> None:
    usage = response.get("usage")
    if isinstance(usage, dict):
        read = number(usage, "input_tokens_details", "cached_tokens")
        write = number(usage, "input_tokens_details", "cache_write_tokens")
        key = native or f"#{builder.steps}"
        builder.spend(key, number(usage, "input_tokens"), number(usage, "output_tokens"), read, write)


def _stop(response: Body, items: list[Body]) -> str | None:
    status = str(response.get("status"))
    details = response.get("incomplete_details")
    if status == "incomplete" and isinstance(details, dict):
        return OUTPUT_BUDGET if details.get("reason") == "max_output_tokens" else None
    if status == "completed" and any(str(item.get("type")) in CLIENT_CALLS for item in items):
        return None
    return _STOPS.get(status)


def _streamed(events: tuple[Any, ...]) -> Body | None:
    """Return the whole response that the last event of a stream holds."""
    for event in reversed(events):
        if event.get("type") in _ENDS and isinstance(event.get("response"), dict):
            return Body.of(event["response"])
    return None
