"""A tool surface: the ordered tool specs one model request was sent, or a server offered.

The gap this closes: a list of tool names cannot see a changed description, and
those are the changes that happen (on 154 public snapshots 70 % leave the name
set alone). The decision: keep the exact bytes, cite them by SHA-256, and lower
every dialect to one spec for comparison. Absent is not empty: a description that
is not there is None, and a surface that was never recorded is no surface.

What it does not do: it parses nothing (`formats`) and compares nothing (`measure`).
"""

from typing import Any

import msgspec

SENT = "sent"
OFFERED = "offered"


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One tool, lowered from its dialect.

    `input_schema` is parsed JSON or None where there is none (typed server
    tools). `rest` is whatever else the array held for it, under its own keys, and
    `rest["type"]` is kept only where it is not the dialect's plain "function".
    """

    name: str
    description: str | None = None
    input_schema: Any = None
    rest: dict[str, Any] = {}


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """One surface with its identities.

    `raw` is the tools array from `[` to `]`, and `wire` its SHA-256. `semantic` is
    over the lowered tools in order without transport-only keys; `tools` names
    each tool with its own semantic digest; `fnv` is the 64-bit value that older
    recordings hold. `dialect` is one of anthropic, openai-chat, openai-responses,
    gemini, mcp, plain.
    """

    raw: bytes
    wire: str
    semantic: str
    fnv: str
    dialect: str
    kind: str
    reconstructed: bool
    specs: tuple[ToolSpec, ...]
    digests: tuple[str, ...]
