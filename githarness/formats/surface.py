"""Tool surfaces: the bytes of a tools array in, one Surface with its identities out.

The gap this closes: six dialects write the same tool six ways, and what tells two
surfaces apart stands in the parts a name list leaves out (70 % of 154 public
changes). The decision: the array is parsed strictly and kept to the byte, every
dialect is lowered to one spec, and three identities are taken: over the bytes, over
the lowered tools, and the 64-bit value that older recordings hold.

A file counts as a surface when it holds a tools array and no conversation: a bare
array, a server's listing, a request without messages, or one tool alone.

What it does not do: it re-encodes nothing that it can cut, and it compares nothing.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from githarness import canon
from githarness.errors import UnreadableError
from githarness.formats import cut
from githarness.formats.peek import BOM, Peek
from githarness.formats.surface_dialects import dialect, lower_tools
from githarness.formats.surface_places import Place, find, is_single
from githarness.model.surface import SENT, Surface, ToolSpec

# They steer caching and transport, and no model reads them.
TRANSPORT_KEYS = frozenset({"cache_control", "_meta"})

_SPACE = b" \t\n\r"


def lower(raw: bytes, *, kind: str = SENT, reconstructed: bool = False) -> Surface:
    """Lower a tools array of any dialect; `raw` runs from `[` to `]`.

    UnreadableError for bytes that are not strict JSON, for an item that is no tool,
    and for a list of names.
    """
    raw = raw.strip(_SPACE)
    tools = canon.parse(raw, "tools array")
    specs = lower_tools(tools)
    fields = [_fields(spec) for spec in specs]
    return Surface(
        raw=raw,
        wire=canon.sha256(raw),
        semantic=canon.semantic(fields),
        fnv=fnv(specs),
        dialect=dialect(tools),
        kind=kind,
        reconstructed=reconstructed,
        specs=specs,
        digests=tuple(canon.semantic(field) for field in fields),
    )


def fnv(specs: Sequence[ToolSpec]) -> str:
    r"""Render name, description and schema with `\0` after each, and hash to 64 bits.

    Older recordings hold this value. The rendering is forgeable and the hash collides
    on purpose-made texts: equal values mean "the same surface, unless somebody tried".
    """
    out = bytearray()
    for spec in specs:
        for part in (canon.utf8(spec.name), canon.utf8(spec.description or "")):
            out += part + b"\0"
        out += canon.compact(_as_serde(spec.input_schema), sort=True) + b"\0"
    return canon.fnv1a64(bytes(out))


def sniff(peek: Peek) -> bool:
    """Tell whether the document is a surface and no conversation."""
    return bool(find(peek.document))


def read(data: bytes) -> list[Surface]:
    """Read every tools array of a surface file, each from its exact bytes."""
    data = data.removeprefix(BOM)
    places = find(canon.parse(data, "surface file"))
    if not places:
        raise UnreadableError("surface file: holds no tools array")
    return [_lowered(data, place) for place in places]


def read_tool(data: bytes) -> bytes | None:
    """Return the exact bytes of a file that holds one tool; None when it holds something else."""
    data = data.removeprefix(BOM)
    return data.strip(_SPACE) if is_single(canon.parse(data, "tool file")) else None


def join(tools: Sequence[bytes]) -> bytes:
    """Join one-tool files to a tools array; lower it as offered and reconstructed."""
    return b"[" + b",".join(tools) + b"]"


def _lowered(data: bytes, place: Place) -> Surface:
    raw = data.strip(_SPACE)
    for step in place.path:
        raw = cut.members(raw)[step] if isinstance(step, str) else cut.elements(raw)[step]
    if place.single:
        raw = join([raw])
    return lower(raw, kind=place.kind, reconstructed=place.single)


def _fields(spec: ToolSpec) -> dict[str, Any]:
    """Return what a spec means to a model: absent fields are left out."""
    fields: dict[str, Any] = {"name": spec.name}
    if spec.description is not None:
        fields["description"] = spec.description
    if spec.input_schema is not None:
        fields["input_schema"] = spec.input_schema
    rest = {key: value for key, value in spec.rest.items() if key not in TRANSPORT_KEYS}
    return fields | {"rest": rest} if rest else fields


def _as_serde(value: Any) -> Any:
    """Respell numbers the way serde_json prints them; everything else prints alike."""
    if isinstance(value, dict):
        return {key: _as_serde(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_serde(item) for item in value]
    if isinstance(value, canon.Spelled):
        return canon.Spelled(_shortest(float(value)))
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return _wide(value)
    return value


def _wide(value: int) -> Any:
    """An integer past 64 bits is read as a float there; past all floats it is left alone."""
    try:
        return canon.Spelled(_shortest(float(value)))
    except OverflowError:
        return value


def _shortest(number: float) -> str:
    """Print the shortest digits that read back, plain from 1e-5 up to below 1e16."""
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    _, digits, exponent = Decimal(repr(abs(number))).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    if text == "0":
        return sign + "0.0"
    if 0 < point <= 16:
        whole = text[:point].ljust(point, "0")
        return f"{sign}{whole}.{text[point:] or '0'}"
    if -5 < point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{sign}{text[0]}{fraction}e{point - 1}"
