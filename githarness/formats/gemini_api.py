"""Reader of Gemini API bodies: generateContent requests, responses, and exchanges of both.

The gap this closes: calls come without ids, and a client fills ids into the history
that no response ever held, so an id cannot tell whether a call is new. The decision: a
call is told by its name and arguments and their place among equals; a result belongs to
the call with its id, else to the first open one of its name in the last reply. The API
takes a response with neither `output` nor `error` as the output, so it is a success.

What it does not do: it reads no cached content, and since clients that compact leave
no trace in a body, the count of compactions is unknown.
"""

import re
from typing import Any

from githarness import canon
from githarness.formats import api, exchange
from githarness.formats.cut import Body
from githarness.formats.exchange import Exchange
from githarness.formats.history import BY_CONTENT, History, Walk
from githarness.formats.payload import number, shown, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    COMPLETED,
    FAILED,
    OUTPUT_BUDGET,
    REFUSED,
    UNKNOWN_TOOL,
)

NAME = exchange.GEMINI
READER = 1

_STOPS = {"STOP": COMPLETED, "MAX_TOKENS": OUTPUT_BUDGET}
_PROMPTS = ("systemInstruction", "system_instruction")
# How the vendor's own client words that no tool ran.
_CAUSES = (("params must ", REFUSED), ("Tool name is missing", UNKNOWN_TOOL))
_NO_TOOL = re.compile(r'Tool "[^"]{0,200}" not found')
_MODEL = re.compile(r"/models/([^/:?]+)")
# The provider runs this one, and keeps the code and its result as two parts.
_CODE = "code_execution"
_QUIET = frozenset({
    "text", "thought", "thoughtSignature", "inlineData", "fileData", "inline_data", "file_data",
    "videoMetadata", "mediaResolution",
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
    native = str(response.get("responseId") or "")
    walk = Walk(builder, history, goes_on=native if one.request is None else None)
    if one.request is not None:
        for content in one.listed("contents"):
            builder.records += 1
            _content(builder, walk, content)
        walk.settle(native)
        _sent(builder, one.request)
    named = _MODEL.search(one.path)
    builder.model(response.get("modelVersion") or (named[1] if named else None))
    if isinstance(response.get("candidates"), list):
        builder.records += 1
        _answer(builder, walk, response, native)
    elif one.is_refused or "error" in response:
        builder.stop(API_ERROR)


def _sent(builder: Builder, request: Body) -> None:
    """Note the tools array and the system instruction, exactly as sent."""
    if request.raw("tools").startswith(b"["):
        builder.surface(request.raw("tools"), covers_history=True)
    for key in _PROMPTS:
        value = request.get(key)
        if isinstance(value, str):
            builder.prompt(canon.utf8(value), covers_history=True)
        elif isinstance(value, dict) and isinstance(value.get("parts"), list):
            builder.prompt(Body.read(request.raw(key)).raw("parts"), covers_history=True)


def _answer(builder: Builder, walk: Walk, response: Body, native: str) -> None:
    """Take the first candidate: the others were never part of the conversation."""
    candidates = response.get("candidates")
    first = candidates[0] if candidates and isinstance(candidates[0], dict) else {}
    content = first.get("content")
    parts = _parts(content)
    walk.reply(native or None)
    _replied(builder, walk, parts)
    calls = any("functionCall" in part or "function_call" in part for part in parts)
    walk.close(None if calls else _STOPS.get(str(first.get("finishReason"))))
    usage = response.get("usageMetadata")
    if isinstance(usage, dict):
        given = number(usage, "promptTokenCount") + number(usage, "toolUsePromptTokenCount")
        # Thoughts are billed and counted beside what is shown.
        written = number(usage, "candidatesTokenCount") + number(usage, "thoughtsTokenCount")
        key = native or f"#{builder.steps}"
        builder.spend(key, given, written, number(usage, "cachedContentTokenCount"))


def _parts(content: Any) -> list[dict[str, Any]]:
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _content(builder: Builder, walk: Walk, content: Any) -> None:
    role = content.get("role", "user") if isinstance(content, dict) else None
    parts = _parts(content)
    answers = [part.get("functionResponse", part.get("function_response")) for part in parts]
    # Some clients write results under the model's role, and no reply begins with one.
    for answer in answers:
        if isinstance(answer, dict):
            _result(walk, answer)
    if role == "model":
        said = [part for part, answer in zip(parts, answers, strict=True) if answer is None]
        if said:
            walk.reply()
            _replied(builder, walk, said)
    elif role in ("user", "function", "tool"):
        walk.hear(texts(parts))
    else:
        walk.inject("\n".join(texts(parts)))
        if role != "system" and walk.is_new("role", str(role)):
            builder.unfamiliar(f"role {role}")


def _replied(builder: Builder, walk: Walk, parts: list[dict[str, Any]]) -> None:
    for part in parts:
        call = part.get("functionCall", part.get("function_call"))
        if isinstance(call, dict):
            given = call.get("args", {})
            malformed = not isinstance(given, dict)
            walk.call(call.get("id"), call.get("name"), given, by=BY_CONTENT, malformed=malformed)
        elif "executableCode" in part:
            walk.call("", _CODE, part["executableCode"], by=BY_CONTENT)
        elif isinstance(part.get("codeExecutionResult"), dict):
            ran = part["codeExecutionResult"]
            cause = None if ran.get("outcome") == "OUTCOME_OK" else FAILED
            walk.result("", shown(ran.get("output")), cause=cause, name=_CODE)
        elif part.get("thought") is not True:
            walk.say(part.get("text"))
            for key in part.keys() - _QUIET:
                if walk.is_new("part", key):
                    builder.unfamiliar(f"part {key}")


def _result(walk: Walk, answer: dict[str, Any]) -> None:
    response = answer.get("response")
    fields = response if isinstance(response, dict) else {"output": response}
    error = fields.get("error")
    text = shown(error if error is not None else fields.get("output", response))
    cause = None if error is None else _cause(text)
    walk.result(answer.get("id"), text, cause=cause, name=answer.get("name"))


def _cause(text: str) -> str:
    if _NO_TOOL.match(text):
        return UNKNOWN_TOOL
    return next((cause for mark, cause in _CAUSES if text.startswith(mark)), FAILED)


def _streamed(events: tuple[Any, ...]) -> Body | None:
    """Put the chunks of a stream together to one response; None where there are none."""
    whole: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    for event in events:
        whole |= event
        candidates = event.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        if isinstance(first, dict):
            candidate |= first
            parts += _parts(first.get("content"))
    if "candidates" not in whole:
        return None
    return Body.of(whole | {"candidates": [candidate | {"content": {"parts": parts}}]})
