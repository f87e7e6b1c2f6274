"""The one list of session formats, in the order in which they are asked.

What it closes: a second list is how a format is readable and never found. The
decision: modules are the plug-ins, and the order goes from the most to the least
specific content. What it does not do: it reads no names and opens no files.
"""

from collections.abc import Callable
from typing import Protocol, Self

import msgspec

from githarness.errors import UnreadableError
from githarness.formats import (
    anthropic_messages,
    atif,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    gemini_api,
    inspect_ai,
    langchain,
    mini_swe_agent,
    openai_agents,
    openai_chat,
    openai_responses,
    opencode,
    openhands,
    otel_genai,
    peek,
    pydantic_ai,
    swe_agent,
)
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import Session


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


FORMATS = tuple(
    Format(name=module.NAME, version=module.READER, sniff=module.sniff, reader=module.Reader)
    for module in (
        claude_code,
        codex,
        gemini,
        opencode,
        atif,
        openhands,
        swe_agent,
        mini_swe_agent,
        copilot,
        cursor,
        inspect_ai,
        otel_genai,
        pydantic_ai,
        openai_agents,
        openai_responses,
        anthropic_messages,
        openai_chat,
        gemini_api,
        langchain,  # last: the least specific
    )
)


def session(seen: Peek) -> Format | None:
    """Return the first format that claims the input, or None."""
    return next((form for form in FORMATS if form.sniff(seen)), None)


def by_name(name: str) -> Format | None:
    """Return the format called `name`, or None."""
    return next((form for form in FORMATS if name == form.name), None)


def names() -> tuple[str, ...]:
    """Return all format names in the order they are asked."""
    return tuple(form.name for form in FORMATS)


def read(name: str, data: bytes) -> Session:
    """Read a stored recording with the reader it was recorded with, texts kept.

    Raises UnreadableError when no reader of that name is left.
    """
    form = by_name(name)
    if form is None:
        raise UnreadableError(
            f"this version has no reader for the format {name!r}",
            hint="githarness show ID --raw prints the bytes",
        )
    reader = form.reader.open(keep=True)
    for record in peek.records(data):
        reader.feed(record)
    return reader.finish()
