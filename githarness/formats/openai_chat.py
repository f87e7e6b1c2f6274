"""Reader of chat completion bodies: requests, responses, and exchanges of both.

The gap this closes: the API that most servers imitate keeps arguments as text and
says nothing about whether a call failed; some servers send no ids, or count them from
zero in every message. The decision: an outcome is unknown here, never a success; a
call is told by its id together with its name and arguments, and its result is the one
that follows it within the same message's reach.

What it does not do: it guesses no failure from words, and since clients that compact
leave no trace in a body, the count of compactions is unknown.
"""

from itertools import takewhile
from typing import Any

from githarness import canon
from githarness.formats import api, exchange
from githarness.formats.cut import Body, elements
from githarness.formats.exchange import Exchange
from githarness.formats.history import BY_BOTH, History, Walk
from githarness.formats.payload import arguments, number, shown, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, COMPLETED, OUTPUT_BUDGET, UNKNOWN

NAME = exchange.CHAT
READER = 1

_STOPS = {"stop": COMPLETED, "length": OUTPUT_BUDGET}
# Tuples, since a role may be any JSON value.
_SYSTEM = ("system", "developer")
_RESULTS = ("tool", "function")


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
        _history(builder, walk, one.request.get("messages"))
        walk.settle(native)
        _sent(builder, one.request)
    builder.model(response.get("model") or one.asked("model"))
    if isinstance(response.get("choices"), list):
        builder.seen_at(exchange.iso(response.get("created")))
        builder.records += 1
        _answer(builder, walk, response, native)
    elif one.is_refused or "error" in response:
        builder.stop(API_ERROR)


def _history(builder: Builder, walk: Walk, messages: Any) -> None:
    """Walk over the messages; those of the system at the head are the prompt."""
    told, after_result = False, False
    for message in messages if isinstance(messages, list) else []:
        builder.records += 1
        role = message.get("role") if isinstance(message, dict) else None
        if told or not _is_system(message):
            told = True
            _message(builder, walk, message if isinstance(message, dict) else {}, after_result=after_result)
        after_result = role in _RESULTS


def _message(builder: Builder, walk: Walk, message: dict[str, Any], *, after_result: bool) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "assistant":
        walk.reply()
        _said(walk, message)
    elif role == "tool":
        walk.result(message.get("tool_call_id"), shown(content), cause=UNKNOWN)
    elif role == "function":
        walk.result("", shown(content), cause=UNKNOWN, name=message.get("name"))
    elif role == "user" and not (after_result and _has_media(content)):
        walk.hear(texts(content))
    else:
        walk.inject("\n".join(texts(content)))
        if role not in (*_SYSTEM, "user") and walk.is_new("role", str(role)):
            builder.unfamiliar(f"role {role}")


def _has_media(content: Any) -> bool:
    """Tell whether a message brings what a result cannot: clients send images after it so."""
    blocks = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") != "text" for one in blocks)


def _said(walk: Walk, message: dict[str, Any]) -> None:
    for text in texts(message.get("content")) or texts(message.get("refusal")):
        walk.say(text)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            _call(walk, call)
    if isinstance(message.get("function_call"), dict):
        _call(walk, {"function": message["function_call"]})


def _call(walk: Walk, call: dict[str, Any]) -> None:
    inner = call.get("custom")
    if isinstance(inner, dict):
        walk.call(call.get("id"), inner.get("name"), inner.get("input"), by=BY_BOTH)
        return
    inner = call.get("function")
    function = inner if isinstance(inner, dict) else {}
    given, malformed = arguments(function.get("arguments"))
    walk.call(call.get("id"), function.get("name"), given, by=BY_BOTH, malformed=malformed)


def _sent(builder: Builder, request: Body) -> None:
    """Note the tools array and the system messages at the head, exactly as sent."""
    for key in ("tools", "functions"):
        if request.raw(key).startswith(b"["):
            builder.surface(request.raw(key), covers_history=True)
            break
    messages = request.get("messages")
    heads = [*takewhile(_is_system, messages if isinstance(messages, list) else [])]
    if heads:
        raws = elements(request.raw("messages"))[: len(heads)]
        builder.prompt(_prompt([Body.read(raw) for raw in raws]), covers_history=True)


def _is_system(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in _SYSTEM


def _prompt(heads: list[Body]) -> bytes:
    """One system message is its text, or its list of blocks; several are the list of their contents."""
    if len(heads) > 1:
        return b"[" + b",".join(head.raw("content") or b"null" for head in heads) + b"]"
    content = heads[0].get("content")
    return canon.utf8(content) if isinstance(content, str) else heads[0].raw("content")


def _answer(builder: Builder, walk: Walk, response: Body, native: str) -> None:
    """Take the first choice: the others were never part of the conversation."""
    choices = response.get("choices")
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    walk.reply(native or None)
    _said(walk, message)
    calls = message.get("tool_calls") or message.get("function_call")
    # Some servers say "stop" to a message that calls tools.
    walk.close(None if calls else _STOPS.get(str(choice.get("finish_reason"))))
    usage = response.get("usage")
    if isinstance(usage, dict):
        read = number(usage, "prompt_tokens_details", "cached_tokens")
        key = native or f"#{builder.steps}"
        builder.spend(key, number(usage, "prompt_tokens"), number(usage, "completion_tokens"), read)


def _streamed(events: tuple[Any, ...]) -> Body | None:
    """Put the chunks of a stream together to the response they are; None where there are none."""
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {"content": ""}
    calls: dict[str, dict[str, Any]] = {}
    choice: dict[str, Any] = {"message": message}
    for event in events:
        whole |= {key: value for key, value in event.items() if value is not None}
        parts = event.get("choices")
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict) and part.get("index", 0) == 0:
                choice["finish_reason"] = part.get("finish_reason") or choice.get("finish_reason")
                _grow(message, calls, part.get("delta"))
    message["tool_calls"] = list(calls.values())
    return Body.of(whole | {"choices": [choice]}) if "choices" in whole else None


def _grow(message: dict[str, Any], calls: dict[str, dict[str, Any]], delta: Any) -> None:
    delta = delta if isinstance(delta, dict) else {}
    if isinstance(delta.get("content"), str):
        message["content"] += delta["content"]
    parts = delta.get("tool_calls")
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            continue
        call = calls.setdefault(str(part.get("index")), {"id": part.get("id"), "function": {"arguments": ""}})
        function = part.get("function")
        for key, value in function.items() if isinstance(function, dict) else ():
            before = call["function"].get(key) if key == "arguments" else None
            call["function"][key] = before + value if before and isinstance(value, str) else value
