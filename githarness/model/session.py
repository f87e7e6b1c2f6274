"""A recording understood: what a person said, what the model called, what came back.

The gap this closes: every client writes its own transcript, and each has its own
way to leave out the one flag that matters (on 685 real tool results 374 had no
error flag at all). The decision: one shape for all of them in which every flag
has three states and every failure a cause, so that "it failed", "a person said
no" and "nobody wrote it down" stay apart.

What it does not do: it holds no judgement. Counting is in `measure`, and how a
format is read is in `formats`.
"""

from typing import Any

import msgspec

# Why a call is not a plain success. `None` in `Call.cause` is a success.
FAILED = "failed"  # the tool ran and reported failure
REFUSED = "refused_arguments"  # arguments that no tool accepted; nothing ran
UNKNOWN_TOOL = "unknown_tool"  # the model named a tool that was not there
DENIED_PERSON = "denied_by_person"
DENIED_HOOK = "denied_by_hook"  # a hook, a policy or a permission rule
CANCELLED = "cancelled"  # interrupted, or skipped since a sibling failed
UNKNOWN = "unknown"  # no result, or a result that carries no flag

CAUSES = (FAILED, REFUSED, UNKNOWN_TOOL, DENIED_PERSON, DENIED_HOOK, CANCELLED, UNKNOWN)

# Why a run stopped. None is "unrecorded".
COMPLETED = "completed"
MAX_TURNS = "max_turns"
OUTPUT_BUDGET = "output_token_budget"
COST_BUDGET = "cost_budget"
INTERRUPTED = "interrupted"
LOOP = "loop"
NO_OUTPUT = "no_output"
API_ERROR = "api_error"

STOP_CAUSES = (COMPLETED, MAX_TURNS, OUTPUT_BUDGET, COST_BUDGET, INTERRUPTED, LOOP, NO_OUTPUT, API_ERROR)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call in the order it was issued, paired with its result by id.

    `step` numbers the model response that issued it, from 1: calls of one step
    are parallel. `input` is parsed JSON, or the raw string where the client kept
    arguments that are not JSON. `output` is None when no result was recorded.
    `is_error` is None when the format does not say; `cause` is None exactly when
    `is_error` is False. `malformed` is None when arguments were not kept.
    """

    id: str
    step: int
    name: str
    input: Any = None
    output: str | None = None
    is_error: bool | None = None
    cause: str | None = UNKNOWN
    malformed: bool | None = False


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One thing a person said; `calls` is how many calls had been issued before it."""

    text: str
    calls: int


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Token sums over a session; `input` includes what was read from a cache."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A tools array met inside a transcript, as bytes, after `position` model responses.

    `raw` runs from `[` to `]`. `kind` is "sent" (the model saw it) or "offered" (a server
    listed it). `reconstructed` says that only parsed JSON was to be had.
    """

    position: int
    raw: bytes
    kind: str = "sent"
    reconstructed: bool = False


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A system prompt as sent, in force from model response `position` + 1 on.

    A string is its UTF-8 text; a list of blocks is the exact JSON of the list.
    """

    position: int
    raw: bytes


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one transcript says, in file order, with nothing invented.

    `native` is the client's own session id. `records` counts the source records
    (fuller means more of them), `unreadable` those that are no JSON, `unfamiliar`
    the record types this reader does not know. `orphans` are results whose call
    never appears. `calls_after_text` is how many calls were issued after the final text,
    which a run that died in its work has beside its calls. `since` is how many calls had
    been issued before the last turn. `compactions` is None where the format keeps no
    trace of them. `stop_inferred` says that no record states the stop cause.
    `partial_names` says that some tool names are known and no tool specs.
    """

    agent: str
    format: str
    native: str | None = None
    parent: str | None = None
    project: str | None = None
    branch: str | None = None
    started: str | None = None
    ended: str | None = None
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    records: int = 0
    unreadable: int = 0
    unfamiliar: dict[str, int] = {}
    copied: int = 0
    injected: int = 0
    turns: tuple[Turn, ...] = ()
    turn_count: int = 0
    since: int = 0
    steps: int = 0
    calls: tuple[Call, ...] = ()
    final_text: str | None = None
    calls_after_text: int = 0
    steered: bool = False
    compactions: int | None = 0
    stop_cause: str | None = None
    stop_inferred: bool = False
    subagents: tuple[str, ...] = ()
    tokens: Tokens | None = None
    orphans: int = 0
    surfaces: tuple[Seen, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    partial_names: bool = False
