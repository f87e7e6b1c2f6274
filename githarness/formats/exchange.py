"""Exchanges with a model's API: what was asked, what came back, and whose API it is.

The gap this closes: the same two bodies arrive bare, in a proxy's wrapper, in a
cassette of many, as a list or line by line, and a body for one provider looks much
like a body for another (a model and a message of text are legal in two APIs). The
decision: wrappers are taken off in one place, and one function names the provider, so
that two readers can never claim the same input. Where a path was recorded it decides.

What it does not do: it reads no message, and it puts no stream of events together.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from githarness import canon
from githarness.formats.cut import Body, elements
from githarness.formats.peek import Peek
from githarness.model.builder import Builder

ANTHROPIC = "anthropic-messages"
CHAT = "openai-chat"
RESPONSES = "openai-responses"
GEMINI = "gemini-api"

_PATHS = (
    (re.compile(r"/messages(/count_tokens)?(\?|\Z)"), ANTHROPIC),
    (re.compile(r"/chat/completions(\?|\Z)"), CHAT),
    (re.compile(r"/responses(/|\?|\Z)"), RESPONSES),
    (re.compile(r":(stream)?[gG]enerateContent|:countTokens"), GEMINI),
)
# What a request says in; a body with none of these is a response.
_SPOKEN = frozenset({"messages", "input", "contents"})
# Each is legal in one of the two APIs that have `messages`.
_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version", "thinking", "stop_sequences", "mcp_servers"})
_CHAT_KEYS = frozenset({"max_completion_tokens", "n", "stream_options", "response_format", "functions"})
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "server_tool_use", "compaction"})
# A list in a list of exchanges is a cassette of cassettes, and nothing writes more.
_MAX_DEPTH = 3
# Enough to see whose exchanges these are, past requests that are not to a model.
_LOOKED_AT = 8


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its response; either may be missing.

    `events` are what a streamed response consists of. `status` is the HTTP status,
    None where none was recorded. `provider` is None where no model was spoken to.
    """

    request: Body | None = None
    response: Body | None = None
    events: tuple[Any, ...] = ()
    status: int | None = None
    path: str = ""
    when: str | None = None
    provider: str | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the server answered with an error, as far as the status says."""
        return (self.status or 0) >= 400

    def answer(self, streamed: Callable[[tuple[Any, ...]], Body | None]) -> Body:
        """Return the response, also where it came as events; without one, a body that has nothing."""
        found = streamed(self.events) if self.response is None else self.response
        return Body.of({}) if found is None else found

    def asked(self, key: str) -> Any:
        """Return a member of the request, None where either is absent."""
        return None if self.request is None else self.request.get(key)

    def listed(self, key: str) -> list[Any]:
        """Return the elements of a member of the request that is an array, else nothing."""
        value = self.asked(key)
        return value if isinstance(value, list) else []


def split(record: bytes) -> list[Exchange | None]:
    """Take the wrappers off one record; None stands for an element that cannot be read.

    ValueError when the record as a whole is no JSON object or array.
    """
    return _split(record.strip(), 0)


def read(record: bytes, builder: Builder, name: str) -> Iterator[Exchange]:
    """Yield the exchanges of one provider; what is no JSON or somebody else's is counted.

    Members are parsed as they are asked for, so a reader still meets a ValueError in one
    of them, counts that exchange as unreadable and goes on with the next.
    """
    try:
        found = split(record)
    except ValueError:
        found = [None]
    for one in found:
        if one is None:
            builder.records += 1
            builder.unreadable += 1
        elif one.provider != name:
            builder.records += 1
            builder.unfamiliar(one.provider or "exchange")
        else:
            yield one


def provider(peek: Peek) -> str | None:
    """Name the provider of the first exchange that is one with a model."""
    values = peek.document if isinstance(peek.document, list) else peek.records
    bodies = [Body.of(value) for value in values[:_LOOKED_AT] if isinstance(value, dict)]
    found = (one.provider for body in bodies for one in _opened(body)[:_LOOKED_AT])
    return next((name for name in found if name is not None), None)


def iso(epoch: object) -> str | None:
    """Render seconds since 1970 as a UTC timestamp; None for anything else."""
    if not isinstance(epoch, int | float) or not 0 < epoch < 2**33:
        return None
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _split(record: bytes, depth: int) -> list[Exchange | None]:
    if not record.startswith(b"["):
        return list(_opened(Body.read(record)))
    if depth == _MAX_DEPTH:
        raise ValueError("nested too deeply")
    found: list[Exchange | None] = []
    for item in elements(record):
        try:
            found += _split(item, depth + 1)
        except ValueError:
            found.append(None)
    return found


def _opened(outer: Body) -> list[Exchange]:
    """Open a cassette, a pair, a proxy's wrapper or a bare body."""
    if "interactions" in outer:
        return [_pair(inner) for inner in outer.parts("interactions")]
    if "request" in outer or ("response" in outer and "type" not in outer):
        return [_pair(outer)]
    if outer.has(_SPOKEN):
        return [_named([outer], outer, None, ())]
    if "body" in outer:
        return [_named([outer], outer.part("body"), None, ())]
    return [_named([outer], None, outer, ())]


def _pair(outer: Body) -> Exchange:
    asked, answered = outer.part("request"), outer.part("response")
    holders = [outer, *(side for side in (asked, answered) if side is not None)]
    events = _events(outer, "response")
    if asked is not None and "body" in asked:
        asked = asked.part("body")
    if answered is not None and "body" in answered:
        events = _events(answered, "body")
        answered = answered.part("body")
    return _named(holders, asked, answered, events)


def _named(
    holders: list[Body], request: Body | None, response: Body | None, events: tuple[Any, ...]
) -> Exchange:
    path = _first(holders, ("uri", "url", "path"), str) or ""
    return Exchange(
        request=request,
        response=response,
        events=events,
        status=_first(holders, ("status", "status_code"), int),
        path=path,
        when=_first(holders[:1], ("timestamp", "time"), str),
        provider=_provider(request, response, path),
    )


def _first(holders: list[Body], keys: Iterable[str], kind: type) -> Any:
    """Return the first value of a type, since a wrapper and a body share names."""
    values = (holder.get(key) for holder in holders for key in keys)
    return next((value for value in values if isinstance(value, kind)), None)


def _events(holder: Body, key: str) -> tuple[Any, ...]:
    """Read a stream kept as its text of `data:` lines, or as the list of its chunks."""
    if holder.raw(key).startswith(b"{"):
        return ()
    value = holder.get(key)
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, dict))
    lines = value.split("\n") if isinstance(value, str) else []
    found = [_event(line[5:]) for line in lines if line.startswith("data:")]
    return tuple(item for item in found if isinstance(item, dict))


def _event(text: str) -> Any:
    try:
        return canon.read(canon.utf8(text))
    except ValueError:
        return None  # "[DONE]", or the torn end of a stream that was cut


def _provider(request: Body | None, response: Body | None, path: str) -> str | None:
    if request is None and response is None:
        return None
    for pattern, name in _PATHS:
        if pattern.search(path):
            return name
    return _of_request(request) if request is not None else _of_response(response)


def _of_request(request: Body) -> str | None:
    if isinstance(request.get("contents"), list):
        return GEMINI
    if not isinstance(request.get("model"), str):
        return None
    if isinstance(request.get("messages"), list):
        return ANTHROPIC if _is_anthropic(request) else CHAT
    return RESPONSES if isinstance(request.get("input"), str | list) else None


def _is_anthropic(request: Body) -> bool:
    """Tell the two APIs that have `messages` apart, by keys, then tools, then blocks."""
    if request.has(_ANTHROPIC_KEYS):
        return True
    if request.has(_CHAT_KEYS):
        return False
    tools = request.get("tools")
    first = tools[0] if isinstance(tools, list) and tools else None
    if isinstance(first, dict):
        return "input_schema" in first or not {"function", "custom"} & first.keys()
    messages = [one for one in request.get("messages") if isinstance(one, dict)]
    if any(map(_is_of_chat, messages)):
        return False
    return "max_tokens" in request or any(_has_blocks(one.get("content")) for one in messages)


def _is_of_chat(message: dict[str, Any]) -> bool:
    return message.get("role") in ("system", "developer", "tool") or "tool_calls" in message


def _has_blocks(content: Any) -> bool:
    blocks = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and str(one.get("type")) in _ANTHROPIC_BLOCKS for one in blocks)


def _of_response(response: Body | None) -> str | None:
    if response is None:
        return None
    if isinstance(response.get("candidates"), list):
        return GEMINI
    if isinstance(response.get("choices"), list) and "object" in response:
        return CHAT
    if str(response.get("object")) in ("response", "response.compaction"):
        return RESPONSES
    said = response.get("type") == "message" and response.get("role") == "assistant"
    return ANTHROPIC if said and isinstance(response.get("content"), list) and "usage" in response else None
