"""Builders of surfaces for tests: anthropic-shaped tools, rendered and digested here."""

import json

from githarness import canon
from githarness.model.surface import Surface, ToolSpec


def tool(name="read", description="Read a file.", schema=None, **rest):
    """One tool; `description=None` leaves it out, `schema=False` has no schema."""
    schema = {"type": "object"} if schema is None else schema
    return ToolSpec(
        name=name, description=description, input_schema=None if schema is False else schema, rest=rest
    )


def params(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def plain(spec):
    fields = {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}
    return {key: value for key, value in fields.items() if value is not None} | spec.rest


def surface(*specs, raw=None, dialect="anthropic", kind="sent", reconstructed=False):
    """A surface of `specs`; `raw` gives other bytes for the same tools."""
    raw = canon.compact([plain(spec) for spec in specs], sort=False) if raw is None else raw
    lowered = [semantic(spec) for spec in specs]
    return Surface(
        raw=raw,
        wire=canon.sha256(raw),
        semantic=canon.semantic(lowered),
        fnv=canon.fnv1a64("".join(map(old_rendering, specs)).encode()),
        dialect=dialect,
        kind=kind,
        reconstructed=reconstructed,
        specs=specs,
        digests=tuple(canon.semantic(one) for one in lowered),
    )


def semantic(spec):
    return {key: value for key, value in plain(spec).items() if key not in {"cache_control", "_meta"}}


def old_rendering(spec):
    schema = json.dumps(spec.input_schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{spec.name}\0{spec.description or ''}\0{schema}\0"


def of_json(value, **kwargs):
    """A surface of anthropic-shaped tools given as JSON."""
    specs = []
    for one in value:
        rest = {k: v for k, v in one.items() if k not in {"name", "description", "input_schema"}}
        specs.append(
            ToolSpec(
                name=one["name"],
                description=one.get("description"),
                input_schema=one.get("input_schema"),
                rest=rest,
            )
        )
    return surface(*specs, **kwargs)
