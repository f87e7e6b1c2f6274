"""Reader of pydantic-ai message histories: one document, requests and responses in turn.

The gap this closes: a failure is a retry, and there are two kinds of it in two
spellings. Arguments that a schema refused and a tool that asks to be called again are
both "retried" in newer files and both a retry prompt in older ones. The decision: a
validation error is refused and malformed; any other retry is a failure of the tool; a
return that states no outcome (before 2.0) is unknown, although every failure of that
age stands in a part of its own.

What it does not do: it knows no tool specs, since messages hold none, and it takes a
retry prompt that names no tool for what it is, a text of the harness.
"""

from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import arguments, number, spelled, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    COMPLETED,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    OUTPUT_BUDGET,
    REFUSED,
    UNKNOWN_TOOL,
    Session,
)

NAME = "pydantic-ai"
AGENT = "pydantic-ai"
READER = 1

_KINDS = ("request", "response")
_STOPS = {"stop": COMPLETED, "length": OUTPUT_BUDGET, "error": API_ERROR}
_OUTCOMES = {"success": None, "failed": FAILED, "denied": DENIED_PERSON, "interrupted": FAILED}
_RETRIES = {"validation_error": REFUSED, "unknown_tool": UNKNOWN_TOOL}
_NO_TOOL = "Unknown tool name"
# The harness writes this when the model called the tool that ends a run.
_FINAL = "Final result processed."
# Parts of a response that hold nothing a count needs.
_QUIET = frozenset({"thinking", "file", "compaction"})


def sniff(peek: Peek) -> bool:
    """Claim a list of messages that all have a kind and parts."""
    messages = peek.document if isinstance(peek.document, list) else []
    return bool(messages) and all(map(_is_message, messages[:3]))


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or str(message.get("kind")) not in _KINDS:
        return False
    parts = message.get("parts")
    head = parts[:3] if isinstance(parts, list) else [None]
    return all(isinstance(part, dict) and "part_kind" in part for part in head)


class Reader(msgspec.Struct, kw_only=True):
    """Reads one history. `system` are the prompt parts met so far, which stay in force."""

    builder: Builder
    system: list[str] = []

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text but the prompt's."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take the whole document."""
        try:
            document = canon.read(record)
        except ValueError:
            document = None
        if not isinstance(document, list) or not any(map(_is_message, document)):
            self.builder.records += 1
            self.builder.unreadable += 1
            return
        for message in document:
            self.builder.records += 1
            if _is_message(message):
                self._message(message)
            else:
                self.builder.unfamiliar("message of another shape")

    def finish(self) -> Session:
        """Return what was understood."""
        return self.builder.finish()

    def _message(self, message: dict[str, Any]) -> None:
        native = message.get("conversation_id") or message.get("run_id")
        if self.builder.native is None and isinstance(native, str):
            self.builder.native = native
        self.builder.seen_at(message.get("timestamp"))
        parts = [part for part in message["parts"] if isinstance(part, dict)]
        if message["kind"] == "response":
            self._response(message, parts)
        else:
            self._request(message, parts)

    def _request(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        answered = any(part.get("part_kind") == "tool-return" for part in parts)
        for part in parts:
            self._given(part, beside=answered)
        given = message.get("instructions")
        pieces = [*self.system, *([given] if isinstance(given, str) and given else [])]
        if len(pieces) == 1:
            self.builder.prompt(canon.utf8(pieces[0]))
        elif pieces:
            self.builder.prompt(canon.compact(pieces, sort=False))

    def _given(self, part: dict[str, Any], *, beside: bool) -> None:
        kind = part.get("part_kind")
        self.builder.seen_at(part.get("timestamp"))
        if kind == "system-prompt":
            self.system.append(str(part.get("content")))
        elif kind == "user-prompt":
            if beside:
                self.builder.steer()
            self.builder.turn("\n".join(texts(part.get("content"))))
        elif kind == "tool-return":
            self._return(part)
        elif kind == "retry-prompt":
            self._retry(part)
        else:
            self.builder.unfamiliar(f"part {kind}")

    def _return(self, part: dict[str, Any]) -> None:
        output = _shown(part.get("content"))
        outcome = str(part.get("outcome"))
        if outcome == "retried":
            retry = part.get("retry")
            reason = retry.get("cause") if isinstance(retry, dict) else None
            self._answer(part, output, _retried(output, _RETRIES.get(str(reason), FAILED)))
        elif outcome in _OUTCOMES:
            self._answer(part, output, _OUTCOMES[outcome])
        else:
            self.builder.result(_text(part.get("tool_call_id")), output, is_error=None, cause=None)
        if output == _FINAL:
            self.builder.stop(COMPLETED)

    def _retry(self, part: dict[str, Any]) -> None:
        """Take a failure as older files write it; a list of errors is a schema's."""
        if not part.get("tool_name"):
            self.builder.inject()
            return
        content = part.get("content")
        output = _shown(content)
        self._answer(part, output, _retried(output, REFUSED if isinstance(content, list) else FAILED))

    def _answer(self, part: dict[str, Any], output: str, cause: str | None) -> None:
        call = _text(part.get("tool_call_id"))
        self.builder.result(call, output, cause is not None, cause)
        if cause == REFUSED:
            self.builder.malformed(call)

    def _response(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        native = message.get("provider_response_id")
        self.builder.step(native if isinstance(native, str) and native else None)
        self.builder.model(message.get("model_name"))
        self._spend(message.get("usage"))
        for part in parts:
            self._said(part)
        if message.get("state") == "interrupted":
            self.builder.stop(INTERRUPTED)
        else:
            self.builder.stop(_STOPS.get(str(message.get("finish_reason"))))

    def _said(self, part: dict[str, Any]) -> None:
        kind = str(part.get("part_kind"))
        if kind == "text":
            self.builder.say(_text(part.get("content")))
        elif kind in ("tool-call", "builtin-tool-call"):
            given, malformed = arguments(part.get("args"))
            key, name = _text(part.get("tool_call_id")), _text(part.get("tool_name"))
            self.builder.call(key, name, given, malformed=malformed)
        elif kind == "builtin-tool-return":
            self._return(part)
        elif kind not in _QUIET:
            self.builder.unfamiliar(f"part {kind}")

    def _spend(self, usage: Any) -> None:
        """Note the tokens; input includes what a cache gave, and older files use older names."""
        if not isinstance(usage, dict):
            return
        sent = number(usage, "input_tokens") or number(usage, "request_tokens")
        written = number(usage, "output_tokens") or number(usage, "response_tokens")
        if sent or written:  # both are zero where the model reports nothing
            read, write = number(usage, "cache_read_tokens"), number(usage, "cache_write_tokens")
            self.builder.spend(str(self.builder.steps), sent, written, read, write)


def _retried(output: str, cause: str) -> str:
    return UNKNOWN_TOOL if output.startswith(_NO_TOOL) else cause


def _shown(content: Any) -> str:
    """Render what a tool returned: any JSON, and a list in it is data, not blocks of text."""
    return content if isinstance(content, str) else spelled(content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
