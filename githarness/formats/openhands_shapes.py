"""The shapes of OpenHands events, as far as they are read: both generations.

What it does not do: it interprets nothing (`openhands` does). Fields that differ in
kind between events are left as parsed JSON.
"""

from typing import Any

import msgspec


class Function(msgspec.Struct):
    """The function of a call; arguments are JSON text."""

    name: str | None = None
    arguments: Any = None


class ToolCall(msgspec.Struct):
    """A call as the model wrote it: with `function` in one dialect, flat in the other."""

    id: str | None = None
    function: Function | None = None
    arguments: Any = None


class Said(msgspec.Struct):
    """A message of a model response."""

    tool_calls: list[ToolCall] | None = None


class Choice(msgspec.Struct):
    """One of the answers in a model response; there is always one."""

    message: Said | None = None


class Response(msgspec.Struct):
    """A model response, repeated in every event that came of it."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None


class Metadata(msgspec.Struct):
    """What ties an event to the call that caused it."""

    function_name: str | None = None
    tool_call_id: str | None = None
    model_response: Response | None = None


class Usage(msgspec.Struct):
    """Token counts from the start of the run."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class Metrics(msgspec.Struct):
    """Cumulative metrics, of which only the tokens are read."""

    accumulated_token_usage: Usage | None = None


class Old(msgspec.Struct):
    """An event of the first generation: an action, or an observation with its `cause`."""

    id: int | str | None = None
    timestamp: Any = None
    source: str | None = None
    action: str | None = None
    args: dict[str, Any] = {}
    observation: str | None = None
    content: Any = None
    extras: dict[str, Any] = {}
    cause: int | str | None = None
    tool_call_metadata: Metadata | None = None
    llm_metrics: Metrics | None = None


class Message(msgspec.Struct):
    """What somebody said."""

    content: Any = None


class New(msgspec.Struct):
    """An event of the second generation, told by its `kind`."""

    kind: str
    timestamp: Any = None
    source: str | None = None
    llm_message: Message | None = None
    llm_response_id: str | None = None
    thought: Any = None
    tool_name: str = ""
    tool_call_id: str | None = None
    tool_call: ToolCall | None = None
    action: Any = None
    observation: dict[str, Any] = {}
    error: str | None = None
    rejection_reason: str | None = None
    rejection_source: str | None = None
    system_prompt: Any = None
    dynamic_context: Any = None
    tools: Any = None
    key: Any = None
    value: Any = None
    code: Any = None


class RawArgs(msgspec.Struct):
    """The arguments of a system action, with the tools as bytes."""

    tools: msgspec.Raw = msgspec.Raw()


class RawEvent(msgspec.Struct):
    """An event with nothing but the bytes of its tools."""

    args: RawArgs = msgspec.field(default_factory=RawArgs)
    tools: msgspec.Raw = msgspec.Raw()


RAW = msgspec.json.Decoder(RawEvent | list[RawEvent])
