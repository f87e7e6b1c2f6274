"""OTLP spans in their many spellings, lowered to one: plain attributes, times, an error flag.

The gap this closes: one span is camel or snake case, its numbers are strings, its ids
hex or base64, its attributes a list of typed values or a plain object, and it comes in
a batch, in a list, or a line at a time. The decision: lower all of them here, once.

What it does not do: it knows no attribute's meaning.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_SCALARS = {
    "stringValue": str, "string_value": str, "intValue": int, "int_value": int, "doubleValue": float,
    "double_value": float, "boolValue": bool, "bool_value": bool,
}  # fmt: skip
_ERROR = (2, "2", "STATUS_CODE_ERROR", "ERROR")
# In nanoseconds: later times have no four-digit year.
_YEAR_10000 = 253_402_300_800 * 10**9
# Attributes nest lists and maps; nothing sensible nests deeper.
_MAX_DEPTH = 40
_MAX_LISTS = 3


class Event(msgspec.Struct, frozen=True):
    """Something noted while a span was open."""

    name: str
    attributes: dict[str, Any]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span. `end` is None for one that was cut; `error` is its type, "" for a plain failure."""

    id: str
    parent: str
    trace: str
    name: str
    start: int | None
    end: int | None
    attributes: dict[str, Any]
    events: tuple[Event, ...]
    error: str | None


def find(value: Any) -> list[Span] | None:
    """Return the spans of a record, by their end; None when it is no record of spans."""
    found = [_span(raw) for raw in _raws(value)]
    if not found:
        return None
    # A parent ends after its children, and a cut span has no end: what it said comes last.
    return sorted(found, key=lambda span: (span.end is None, span.end or 0))


def nested(spans: list[Span], agents: frozenset[str]) -> dict[str, str]:
    """Map each span under an inner agent to the span of that agent; `agents` are agents' spans."""
    parents = {span.id: span.parent for span in spans}
    above = {span.id: _chain(span.id, parents, agents) for span in spans}
    return {span: chain[0] for span, chain in above.items() if len(chain) > 1}


def when(span: Span) -> list[str]:
    """Return the times of a span as UTC timestamps, as far as it has them."""
    return [_iso(moment) for moment in (span.start, span.end) if moment is not None]


def _chain(span: str, parents: dict[str, str], agents: frozenset[str]) -> list[str]:
    """Return the agents around a span, innermost first; a loop of parents ends."""
    seen: list[str] = []
    while span in parents and span not in seen:
        seen.append(span)
        span = parents[span]
    return [one for one in seen if one in agents]


def _raws(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if isinstance(value, list) and depth < _MAX_LISTS:
        for item in value:
            yield from _raws(item, depth + 1)
    elif isinstance(value, dict):
        batches = [value[key] for key in _RESOURCES if isinstance(value.get(key), list)]
        if batches:
            yield from _batch(batches[0])
        elif isinstance(value.get("spans"), list):
            yield from (span for span in value["spans"] if _is_span(span))
        elif _is_span(value):
            yield value


def _batch(resources: list[Any]) -> Iterator[dict[str, Any]]:
    for resource in resources:
        for key in _SCOPES:
            scopes = resource.get(key) if isinstance(resource, dict) else None
            for scope in _dicts(scopes):
                yield from (span for span in _dicts(scope.get("spans")) if _is_span(span))


def _is_span(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("attributes"), list | dict):
        return False
    context = value.get("context")
    holder = context if isinstance(context, dict) else value
    return _either(holder, "spanId", "span_id") is not None


def _span(raw: dict[str, Any]) -> Span:
    context = raw.get("context")
    holder = context if isinstance(context, dict) else raw
    attributes = _attributes(raw.get("attributes"))
    return Span(
        id=str(_either(holder, "spanId", "span_id")),
        parent=str(_either(raw, "parentSpanId", "parent_span_id", "parent_id") or ""),
        trace=str(_either(holder, "traceId", "trace_id") or ""),
        name=str(raw.get("name") or ""),
        start=_nanos(_either(raw, "startTimeUnixNano", "start_time_unix_nano", "start_time")),
        end=_nanos(_either(raw, "endTimeUnixNano", "end_time_unix_nano", "end_time")),
        attributes=attributes,
        events=tuple(_event(one) for one in _dicts(raw.get("events"))),
        error=_error(raw.get("status"), attributes),
    )


def _event(raw: dict[str, Any]) -> Event:
    return Event(str(raw.get("name") or ""), _attributes(raw.get("attributes")))


def _error(status: Any, attributes: dict[str, Any]) -> str | None:
    kind = attributes.get("error.type")
    code = _either(status, "code", "status_code") if isinstance(status, dict) else None
    if kind is None and code not in _ERROR:
        return None
    return str(kind or "")


def _attributes(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    pairs = [pair for pair in _dicts(value) if isinstance(pair.get("key"), str)]
    return {pair["key"]: _value(pair.get("value"), 0) for pair in pairs}


def _value(value: Any, depth: int) -> Any:
    """Return a typed value as plain JSON; a 64-bit number is written as a string."""
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return None
    for key, kind in _SCALARS.items():
        if key in value:
            return _scalar(kind, value[key])
    listed = _either(value, "arrayValue", "array_value", "kvlistValue", "kvlist_value")
    items = _dicts(listed.get("values") if isinstance(listed, dict) else None)
    if _either(value, "kvlistValue", "kvlist_value") is not None:
        return {str(item.get("key")): _value(item.get("value"), depth + 1) for item in items}
    return [_value(item, depth + 1) for item in items] if listed is not None else None


def _scalar(kind: type, value: Any) -> Any:
    if kind is not int:
        return value
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError):
        return None


def _nanos(value: Any) -> int | None:
    """Return a time in nanoseconds, from a number, a string of one, or a timestamp."""
    if isinstance(value, str) and not value.isdecimal():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        number = int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 10**9)
    else:
        number = _scalar(int, value)
    return number if isinstance(number, int) and 0 < number < _YEAR_10000 else None


def _iso(nanos: int) -> str:
    whole, rest = divmod(nanos, 10**9)
    moment = datetime.fromtimestamp(whole, UTC).replace(microsecond=rest // 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _either(holder: dict[str, Any], *keys: str) -> Any:
    return next((holder[key] for key in keys if holder.get(key) is not None), None)
