"""The one list of session formats, in the order in which they are asked.

What it closes: a second list is how a format is readable and never found. The
decision: modules are the plug-ins, and the order goes from the most to the least
specific content. What it does not do: it reads no names and opens no files.
"""

import importlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol, Self

import msgspec

from githarness.errors import UnreadableError
from githarness.formats import peek
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import Session

# Format names and their modules. A module is loaded when it is asked, since whoever
# records after each turn records one format: all of them cost 18 ms, the first 3.
FORMATS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "atif": "atif",
    "openhands": "openhands",
    "swe-agent": "swe_agent",
    "mini-swe-agent": "mini_swe_agent",
    "copilot-cli": "copilot",
    "cursor": "cursor",
    "inspect-ai": "inspect_ai",
    "otel-genai": "otel_genai",
    "pydantic-ai": "pydantic_ai",
    "openai-agents": "openai_agents",
    "openai-responses": "openai_responses",
    "anthropic-messages": "anthropic_messages",
    "openai-chat": "openai_chat",
    "gemini-api": "gemini_api",
    "langchain": "langchain",  # last: the least specific
}


class Reader(Protocol):
    """What reads one recording. Plain data, so that it can be saved and taken up again."""

    builder: Builder

    @classmethod
    def open(cls, *, keep: bool = True) -> Self:
        """Start a reader; without `keep` it holds no text."""

    def feed(self, record: bytes) -> None:
        """Take one line, or one whole document. Never raises."""

    def finish(self) -> Session:
        """Return what was understood so far."""


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format: its name, its reader's version and class, and how it is recognised."""

    name: str
    version: int
    sniff: Callable[[Peek], bool]
    reader: type[Reader]


def session(seen: Peek) -> Format | None:
    """Return the first format that claims the input, or None."""
    return next((form for form in map(_load, FORMATS) if form.sniff(seen)), None)


def by_name(name: str) -> Format | None:
    """Return the format called `name`, or None."""
    return _load(name) if name in FORMATS else None


def names() -> tuple[str, ...]:
    """Return all format names in the order they are asked."""
    return tuple(FORMATS)


@cache
def _load(name: str) -> Format:
    module = importlib.import_module(f"githarness.formats.{FORMATS[name]}")
    return Format(name=module.NAME, version=module.READER, sniff=module.sniff, reader=module.Reader)


def read(name: str, data: bytes) -> Session:
    """Read a recording in hand with the reader it was recorded with, texts kept."""
    return read_pieces(name, [data])


def read_pieces(name: str, pieces: Iterable[bytes]) -> Session:
    """Read a recording that comes in pieces, such as the parts of a store, texts kept.

    Raises UnreadableError when no reader of that name is left.
    """
    form = by_name(name)
    if form is None:
        raise UnreadableError(
            f"this version has no reader for the format {name!r}",
            hint="githarness show ID --raw prints the bytes",
        )
    reader = form.reader.open(keep=True)
    for record in peek.split(pieces):
        reader.feed(record)
    return reader.finish()
