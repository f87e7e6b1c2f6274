"""Canonical bytes, strict JSON and the three identities of a tool surface.

The gap this closes: a digest is only worth what its rendering is. The rendering
that older recordings used joins name, description and schema with NUL bytes, so
one tool's description can forge the next tool's boundary, and its 64-bit hash
collides on purpose-made texts. The decision: SHA-256 over bytes that are either
exactly what was sent (wire) or canonical JSON (semantic, and every document of
our own). The 64-bit value is still computed, as an equality key for old data.

Three ways to read JSON, kept apart: `parse` is strict and keeps the spelling of
numbers (surfaces, documents that people sign), `read` is tolerant (one record of
somebody else's transcript), and msgspec structs serve where a shape is known.

What this does not do: it knows no tool, no agent and no file.
"""

import hashlib
import json
import math
import re
from array import array
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any, NoReturn, Self

import msgspec

from githarness.errors import UnreadableError

# Deeper than any schema seen in the wild (the deepest real one has 23 levels),
# and far below the interpreter's own limit, so that the answer is a sentence.
MAX_DEPTH = 256

# The same for a record of a transcript. Interpreters differ in how deep they read, and
# a count must not differ with them; real arguments nest a few dozen levels.
READ_DEPTH = 512

SEMANTIC_DOMAIN = b"githarness.surface.v1\0"

_TOO_DEEP = f"nested deeper than {READ_DEPTH} levels"
# Brackets as signed steps, up and down.
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_HEX64 = re.compile("[0-9a-f]{64}")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Spelled(float):
    """A JSON number with a fraction or exponent, and the text it was written in."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Keep `text`; raise ValueError when it is no finite number."""
        self = super().__new__(cls, text)
        if not math.isfinite(self):
            raise ValueError(f"number out of range: {text[:40]}")
        self.text = text
        return self

    def __repr__(self) -> str:
        """Show the spelling, so that equal `repr` of parsed JSON means equal JSON."""
        return self.text


def sha256(data: bytes) -> str:
    """Return the lower-case hex SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    """Tell whether `text` is 64 lower-case ASCII hex digits and nothing else."""
    return _HEX64.fullmatch(text) is not None


def encode(document: Any) -> bytes:
    """Encode one of our own documents: sorted keys, no spaces, no floats.

    Raises ValueError for a float anywhere, since no two JSON writers agree on
    how to print one: a rate is two integers.
    """
    plain = msgspec.to_builtins(document)
    _refuse_floats(plain)
    return msgspec.json.encode(plain, order="sorted")


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise ValueError("a hashed document holds no float")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)


def parse(data: bytes, what: str) -> Any:
    """Parse `data` losslessly and strictly; `what` names it in the error.

    Objects keep their order, numbers with a fraction or exponent come back as
    `Spelled`, integers may be of any size the interpreter reads. Duplicate keys, NaN, Infinity,
    out-of-range numbers, invalid UTF-8 and nesting over `MAX_DEPTH` raise
    UnreadableError, each with its own words.
    """
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_float=Spelled,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise UnreadableError(f"{what}: nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise UnreadableError(f"{what}: not valid JSON ({error})") from error
    if depth_exceeds(value, MAX_DEPTH):
        raise UnreadableError(f"{what}: nested deeper than {MAX_DEPTH} levels")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"duplicate key {json.dumps(key[:80])}")
            seen.add(key)
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def depth_exceeds(value: Any, limit: int) -> bool:
    """Tell whether arrays and objects nest deeper than `limit`, without recursion."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        layer = [
            child
            for item in layer
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not layer:
            return False
    return bool(layer)


def read(record: bytes) -> Any:
    """Parse one record of a transcript; raise ValueError when it is not JSON.

    Tolerant where clients are sloppy: lone surrogates (written by several
    clients when they cut a string in half) are kept, duplicate keys keep the
    last. NaN, invalid UTF-8 and nesting over `READ_DEPTH` are errors, the same ones in
    every version of Python.
    """
    shallow(record)
    try:
        return msgspec.json.decode(record)
    except (msgspec.DecodeError, RecursionError):
        pass  # perhaps only a lone surrogate: the standard library keeps those
    try:
        return json.loads(record.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def shallow(record: bytes) -> bytes:
    """Return `record`; raise ValueError when its brackets nest deeper than `READ_DEPTH`.

    For decoders that know a shape and leave parts of it unread. What is no JSON passes:
    that is for the decoder to say.
    """
    # nearly every record has too few brackets to nest so deep, which is cheap to see
    if record.count(b"[") + record.count(b"{") > READ_DEPTH:
        plain = record.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, delete=_NO_MARKS)
        # with the escapes gone every second stretch between quotes stands outside of strings
        steps = b"".join(plain.replace(b'""', b"").split(b'"')[::2]).translate(_STEPS)
        if max(accumulate(array("b", steps)), default=0) > READ_DEPTH:
            raise ValueError(_TOO_DEEP)
    return record


def utf8(text: str) -> bytes:
    r"""Encode `text` for hashing or storage; a lone surrogate becomes `\udxxx`."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode("utf-8")


def compact(value: Any, *, sort: bool) -> bytes:
    """Render parsed JSON minimally; numbers keep their spelling.

    With `sort`, keys are in code point order at every level; without, the order
    of the source is kept. Lone surrogates stay escaped, so that the result is
    always valid UTF-8.
    """
    out: list[str] = []
    _render(value, sort, out.append)
    return utf8("".join(out))


def _render(value: Any, sort: bool, put: Any) -> None:
    if isinstance(value, dict):
        put("{")
        for index, key in enumerate(sorted(value) if sort else value):
            put("," if index else "")
            put(encode_basestring(key))
            put(":")
            _render(value[key], sort, put)
        put("}")
    elif isinstance(value, list | tuple):
        put("[")
        for index, item in enumerate(value):
            put("," if index else "")
            _render(item, sort, put)
        put("]")
    elif isinstance(value, str):
        put(encode_basestring(value))
    elif isinstance(value, Spelled):
        put(value.text)
    else:
        put(json.dumps(value, ensure_ascii=False, allow_nan=False))


def semantic(value: Any) -> str:
    """Digest the canonical rendering of a lowered surface or tool."""
    return sha256(SEMANTIC_DOMAIN + compact(value, sort=True))


def fnv1a64(data: bytes) -> str:
    """Return the 64-bit FNV-1a of `data` as 16 hex digits: an equality key, no proof."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"
