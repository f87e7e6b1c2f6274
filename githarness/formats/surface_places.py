"""Where a file holds tools arrays: told from its content, and told apart from conversations.

The gap this closes: the same array comes bare, as a server's listing, in a JSON-RPC
answer, in a request or as one tool in a file of its own, and a list of calls or of
messages looks much like a list of tools. The decision: a place is a path into the
file, so that the exact bytes can be cut there, with the kind its surroundings give
it: a listing was offered, a request was sent.

What it does not do: it cuts no bytes, lowers nothing, and takes no conversation, whose
surfaces its own reader sees.
"""

import re
from typing import Any

import msgspec

from githarness.errors import UnreadableError
from githarness.formats import surface_dialects as dialects
from githarness.model.surface import OFFERED, SENT

# With any of these an object is a conversation, which other readers take.
CONVERSATION = frozenset({
    "messages", "input", "contents", "content", "output", "choices", "candidates", "history", "trajectory",
    "steps", "events", "samples", "interactions", "turns", "spans", "resourceSpans", "generations",
    "response",
})  # fmt: skip
# A listing may stand in these members of an envelope.
ENVELOPES = ("result", "body", "request")
LISTING = "mcp_list_tools"
# Provider tools of Gemini in both spellings; elsewhere a tool without a name says its type.
GEMINI_TYPED = frozenset({
    "googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval", "codeExecution",
    "code_execution", "urlContext", "url_context", "googleMaps", "google_maps", "fileSearch", "file_search",
    "computerUse", "computer_use", "enterpriseWebSearch", "enterprise_web_search",
})  # fmt: skip
# Typed tools carry the date of their version.
_VERSIONED = re.compile(r"_20\d{6}\Z")


class Place(msgspec.Struct, frozen=True):
    """Where a tools array stands in a file; `single` says that it is one tool alone."""

    path: tuple[str | int, ...]
    kind: str
    single: bool = False


def find(value: Any) -> list[Place]:
    """Find the tools arrays of a parsed file, outermost first."""
    if isinstance(value, list):
        return _places_in_list(value)
    if not isinstance(value, dict) or CONVERSATION & value.keys():
        return []
    tools = value.get("tools")
    if isinstance(tools, list) and value.get("type") in (None, LISTING):
        return [Place(("tools",), _kind(value, tools))] if _may_be_tools(tools) else []
    for key in ENVELOPES:
        if _holds_tools(value.get(key)):
            return _within(key, value[key])
    return [Place((), _kind({}, [value]), single=True)] if is_single(value) else []


def _holds_tools(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("tools"), list)


def _within(key: str, inner: Any) -> list[Place]:
    """Find what an envelope holds; what a server answered was offered, whatever else it says."""
    return [Place((key, *place.path), OFFERED if key == "result" else place.kind) for place in find(inner)]


def _is_listing(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == LISTING


def _places_in_list(items: list[Any]) -> list[Place]:
    if items and all(map(_is_listing, items)):
        inner = [(at, place) for at, item in enumerate(items) for place in find(item)]
        return [Place((at, *place.path), place.kind) for at, place in inner]
    if _may_be_tools(items) and any(isinstance(item, dict) and _is_specific(item) for item in items):
        return [Place((), OFFERED if dialects.dialect(items) == dialects.MCP else SENT)]
    return []


def _may_be_tools(items: list[Any]) -> bool:
    """Tell whether the items read as tools, or are the names that `lower` refuses by name."""
    if items and all(dialects.is_name(item) for item in items):
        return True
    try:
        dialects.lower_tools(items)
    except UnreadableError:
        return False
    return True


def _kind(holder: dict[str, Any], tools: list[Any]) -> str:
    """Tell a server's listing from a request's array; a request names its model."""
    if holder.get("type") == LISTING:
        return OFFERED
    names = all(dialects.is_name(tool) for tool in tools)
    listed = names or dialects.dialect(tools) in (dialects.MCP, dialects.PLAIN)
    return OFFERED if listed and "model" not in holder else SENT


def is_single(value: Any) -> bool:
    """Tell whether a whole file is one tool."""
    if not isinstance(value, dict) or CONVERSATION & value.keys() or "tools" in value:
        return False
    described = isinstance(value.get("description"), str) or not {"parameters", "arguments"} & value.keys()
    return described and _is_specific(value) and _may_be_tools([value])


def _is_specific(tool: dict[str, Any]) -> bool:
    """Tell whether an object is a tool and not a call, a message or any named thing."""
    if any(isinstance(tool.get(key), list) for key in dialects.DECLARATIONS) or tool.keys() <= GEMINI_TYPED:
        return True
    if {"id", "call_id", "role"} & tool.keys():
        return False
    for key in dialects.WRAPPERS:
        inner = tool.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            return not {"arguments", "input"} & inner.keys()
    return isinstance(tool.get("name"), str) and _has_schema(tool)


def _has_schema(tool: dict[str, Any]) -> bool:
    # A list of arguments declares them; an object of arguments is a call.
    if isinstance(tool.get("arguments"), list) or isinstance(tool.get(dialects.SCHEMA_TEXT), str):
        return True
    if any(isinstance(tool.get(key), dict) for key in dialects.SCHEMA_KEYS if key != "arguments"):
        return True
    return _VERSIONED.search(str(tool.get("type"))) is not None
