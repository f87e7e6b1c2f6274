"""String literals of a JSON document, each with its key, by byte offset.

The gap this closes: a parsed document written out again has other spaces, other
numbers and no duplicate keys, and is not what was recorded. The decision: the
document is checked by a real parser and then only split at its string literals,
so that one can be replaced and every other byte stays. One pass, no recursion,
no backtracking: a 9 MB line costs what 9 MB of lines cost.

What this does not do: it does not decide what a secret is.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from githarness.redact.kept import is_identity_key, is_opaque_data, is_opaque_key, marks_opaque

Edit = tuple[int, int, bytes]

_TOKEN = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")([ \t\r\n]*:)?|[{}\[\]]', re.DOTALL)
_CHECK = msgspec.json.Decoder(msgspec.Raw)
_ARRAY, _QUOTE = b'["'
_CLOSERS = b"}]"


class Literal(msgspec.Struct, frozen=True):
    """One string literal, quotes included; `key` is the key it stands under.

    `is_kept` is never touched, and in what `is_id` only a vendor's key is.
    """

    start: int
    end: int
    key: str
    is_key: bool
    is_kept: bool
    is_id: bool


class _Frame(msgspec.Struct):
    """An open object or array; an array hands its own key (a literal) on to its items."""

    key: bytes
    touched: bool = False
    opaque: bool = False


_Found = list[tuple[int, int, bytes, _Frame]]


def is_json(raw: bytes) -> bool:
    """Tell whether `raw` is one JSON document, read as clients write it.

    The fast parser refuses half surrogate pairs and NaN, which clients write; what
    neither it nor the standard library reads is no JSON.
    """
    try:
        _CHECK.decode(raw)
        return raw.isascii() or bool(_text(raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _is_sloppy_json(raw)


def _is_sloppy_json(raw: bytes) -> bool:
    try:
        json.loads(_text(raw))
    except (ValueError, RecursionError):
        return False
    return True


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def touched(raw: bytes, places: list[int], key: str) -> Iterator[Literal]:
    """Give the literals that hold one of `places` or stand under a key that does.

    `raw` must be valid. A `key` that is not empty stands over the whole document,
    and counts as touched.
    """
    found: _Found = []
    stack = [_Frame(encode(key, ascii_only=True), touched=bool(key))]
    for token in _TOKEN.finditer(raw):
        kind = raw[token.start()]
        if kind == _QUOTE:
            _string(token, places, stack[-1], found)
        elif kind in _CLOSERS:
            stack.pop()
        else:
            above = stack[-1]
            stack.append(_Frame(above.key, touched=above.touched) if kind == _ARRAY else _Frame(b'""'))
    for start, end, under, frame in found:
        yield _literal(raw, start, end, under, frame)


def _string(token: re.Match[bytes], places: list[int], frame: _Frame, found: _Found) -> None:
    start, end = token.span(1)
    nearest = bisect_left(places, start)
    holds = nearest < len(places) and places[nearest] < end
    if token[2] is not None:
        frame.key, frame.touched = token[1], holds
        if holds:
            found.append((start, end, b"", frame))
        return
    if holds or frame.touched:
        found.append((start, end, frame.key, frame))
    frame.opaque = frame.opaque or marks_opaque(frame.key, token[1])


def _literal(raw: bytes, start: int, end: int, under: bytes, frame: _Frame) -> Literal:
    key = decode(under) if under else ""
    opaque = key == "data" and (frame.opaque or is_opaque_data(raw[start:end]))
    kept = opaque or is_opaque_key(key)
    return Literal(start, end, key, is_key=not under, is_kept=kept, is_id=is_identity_key(key))


def decode(literal: bytes) -> str:
    """Read one string literal of a valid document; lone surrogates are kept."""
    return str(json.loads(_text(literal), strict=False))


def encode(text: str, *, ascii_only: bool) -> bytes:
    """Write a string literal; a lone surrogate can only be written as an escape."""
    try:
        return json.dumps(text, ensure_ascii=ascii_only).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(text).encode("ascii")


def splice(raw: bytes, edits: list[Edit]) -> bytes:
    """Replace what `edits` name, which are in order and apart from each other."""
    pieces: list[bytes] = []
    done = 0
    for start, end, replacement in edits:
        pieces += [raw[done:start], replacement]
        done = end
    return b"".join([*pieces, raw[done:]])
