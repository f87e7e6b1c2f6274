"""Cutting JSON: the exact bytes of an object's members and an array's elements.

The gap this closes: a digest of what was sent is only true over the bytes that were
sent, and a parsed value no longer has them. The decision: msgspec's Raw cuts (over
500 MB/s); where it refuses a text that is still JSON, as it does for a lone
surrogate, the standard library's scanner walks the same text and cuts at the same
places. Of a repeated key the last is taken, as every JSON reader does.

What it does not do: it validates nothing inside what it cuts (`canon.parse` does),
and it never re-encodes.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from githarness import canon

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])
_SCANNER = json.JSONDecoder()
_SPACE = " \t\n\r"
_MARKS = {mark: re.compile(rf"[{_SPACE}]*{re.escape(mark)}[{_SPACE}]*") for mark in "{}[],:"}


class Body:
    """A JSON object whose members are parsed when asked for, and whose bytes stay at hand."""

    def __init__(self, raws: dict[str, bytes], values: dict[str, Any]) -> None:
        self._raws = raws
        self._values = values

    @classmethod
    def read(cls, data: bytes) -> "Body":
        """Cut an object; ValueError when `data` is none."""
        return cls(members(data), {})

    @classmethod
    def of(cls, value: dict[str, Any]) -> "Body":
        """Wrap a parsed object, of which only values are to be had."""
        return cls({}, value)

    def __contains__(self, key: str) -> bool:
        return key in self._raws or key in self._values

    def has(self, keys: frozenset[str]) -> bool:
        """Tell whether any of `keys` is there."""
        return not (keys.isdisjoint(self._raws) and keys.isdisjoint(self._values))

    def raw(self, key: str) -> bytes:
        """Return the exact bytes of a member, empty where it is absent or was never cut."""
        return self._raws.get(key, b"")

    def get(self, key: str) -> Any:
        """Return a member's value, None where it is absent; ValueError when it is no JSON."""
        if key not in self._values:
            if key not in self._raws:
                return None
            self._values[key] = canon.read(self._raws[key])
        return self._values[key]

    def part(self, key: str) -> "Body | None":
        """Return a member that is an object, or a text that holds one; None otherwise."""
        raw = self.raw(key)
        if raw.startswith(b"{"):
            return Body.read(raw)
        value = self.get(key)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                return Body.read(canon.utf8(value.strip()))
            except ValueError:
                return None  # a text that only begins like an object
        return Body.of(value) if isinstance(value, dict) else None

    def parts(self, key: str) -> "list[Body]":
        """Return the elements of a member; ValueError when it is no array of objects."""
        if key in self._raws:
            return [Body.read(raw) for raw in elements(self._raws[key])]
        value = self.get(key)
        return [Body.of(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def members(data: bytes) -> dict[str, bytes]:
    """Return the raw bytes of each member; ValueError when `data` is no JSON object."""
    canon.shallow(data)
    try:
        return {key: bytes(raw) for key, raw in _MEMBERS.decode(data).items()}
    except (msgspec.DecodeError, RecursionError):
        return dict(_walk(data, "{", "}"))


def elements(data: bytes) -> list[bytes]:
    """Return the raw bytes of each element; ValueError when `data` is no JSON array."""
    canon.shallow(data)
    try:
        return [bytes(raw) for raw in _ELEMENTS.decode(data)]
    except (msgspec.DecodeError, RecursionError):
        return [value for _, value in _walk(data, "[", "]")]


def _walk(data: bytes, opening: str, closing: str) -> Iterator[tuple[str, bytes]]:
    """Yield (key or "", raw value) with the tolerant scanner; ValueError on the first fault."""
    text = data.decode("utf-8")
    at = _expect(text, 0, opening)
    more = _MARKS[closing].match(text, at) is None
    while more:
        key = ""
        if opening == "{":
            key, at = _key(text, at)
        end = _value(text, at)[1]
        yield key, text[at:end].encode("utf-8")
        more = _MARKS[closing].match(text, end) is None
        at = _expect(text, end, ",") if more else end
    if text[_expect(text, at, closing) :]:
        raise ValueError("more text after the end")


def _key(text: str, at: int) -> tuple[str, int]:
    if not text.startswith('"', at):
        raise ValueError(f"a key expected at character {at}")
    key, at = _value(text, at)
    return str(key), _expect(text, at, ":")


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _SCANNER.raw_decode(text, at)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _expect(text: str, at: int, mark: str) -> int:
    """Step over `mark` with the space around it."""
    found = _MARKS[mark].match(text, at)
    if found is None:
        raise ValueError(f"{mark} expected at character {at}")
    return found.end()
