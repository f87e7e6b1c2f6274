"""The dialects of a tools array: each item lowered to one spec, nothing left behind.

The gap this closes: one tool is written under `input_schema`, `inputSchema`,
`parameters`, inside `function` or inside `functionDeclarations`, and two surfaces are
only comparable below that. The decision: name, description and schema are lifted out
by where they stand, not by which dialect the array claims to be, and whatever else an
item holds stays in `rest` under its own key. A typed tool (a search that the provider
runs) has neither description nor schema and is still a tool.

What it does not do: it flattens no namespace of tools, mends no array, and refuses a
list of names, since names match anything.
"""

from collections.abc import Iterator
from typing import Any

from githarness import canon
from githarness.errors import UnreadableError
from githarness.model.surface import ToolSpec

ANTHROPIC = "anthropic"
CHAT = "openai-chat"
RESPONSES = "openai-responses"
GEMINI = "gemini"
MCP = "mcp"
PLAIN = "plain"

# Where the dialects keep a schema; the first that is there is the schema.
SCHEMA_KEYS = (
    "input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema",
    "arguments",
)  # fmt: skip
# One exporter keeps the schema as a string of JSON.
SCHEMA_TEXT = "input_schema_json"
DECLARATIONS = ("functionDeclarations", "function_declarations")
# Chat completions put the tool inside a member of the tool.
WRAPPERS = ("function", "custom")


def lower_tools(tools: Any) -> tuple[ToolSpec, ...]:
    """Lower every item; UnreadableError names the first that is no tool."""
    if not isinstance(tools, list):
        raise UnreadableError("tools array: not an array")
    if tools and all(is_name(tool) for tool in tools):
        raise UnreadableError("tools array: holds names only, and a name says nothing about a tool")
    return tuple(spec for place, tool in enumerate(tools) for spec in _of_item(place, tool))


def is_name(tool: Any) -> bool:
    """Tell whether an item is a name and nothing else."""
    return isinstance(tool, str) or (isinstance(tool, dict) and list(tool) == ["name"])


def _of_item(place: int, tool: Any) -> Iterator[ToolSpec]:
    """Lower one item of the array; Gemini puts many tools in one."""
    if not isinstance(tool, dict) or not tool:
        raise UnreadableError(f"tools array: item {place} is no tool")
    if not _is_unnamed(tool):
        yield _spec(place, tool)
        return
    for key, value in tool.items():
        if key in DECLARATIONS and isinstance(value, list):
            yield from (_spec(place, declared) for declared in value)
        elif isinstance(value, dict):
            yield ToolSpec(name=key, rest={key: value})
        else:
            raise UnreadableError(f"tools array: item {place} has neither name nor type")


def _is_unnamed(tool: dict[str, Any]) -> bool:
    named = any(isinstance(tool.get(key), str) for key in ("name", "type"))
    return not named and not any(isinstance(tool.get(key), dict) for key in WRAPPERS)


def _spec(place: int, tool: Any) -> ToolSpec:
    rest = _unwrapped(tool) if isinstance(tool, dict) else {}
    name = rest.get("name", rest.get("type"))
    if not isinstance(name, str):
        raise UnreadableError(f"tools array: item {place} has neither name nor type")
    rest.pop("name", None)
    plain_type = "custom" if isinstance(rest.get("input_schema"), dict) else "function"
    if rest.get("type") in ("function", plain_type):
        rest.pop("type")
    schema = _take_schema(rest)
    described = rest.get("description")
    if described is None or isinstance(described, str):
        rest.pop("description", None)
    else:
        described = None
    return ToolSpec(name=name, description=described, input_schema=schema, rest=rest)


def _unwrapped(tool: dict[str, Any]) -> dict[str, Any]:
    """Lift the tool out of its wrapper, unless a key would be lost by it."""
    for key in WRAPPERS:
        inner = tool.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("name"), str) and "name" not in tool:
            outer = {name: value for name, value in tool.items() if name != key}
            if outer.keys().isdisjoint(inner):
                return outer | inner
            return outer | {"name": inner["name"], key: inner}
    return dict(tool)


def _take_schema(rest: dict[str, Any]) -> Any:
    """Take the schema out of `rest`; null is the same as absent."""
    for key in SCHEMA_KEYS:
        if rest.get(key, "") is None:
            rest.pop(key)
    for key in SCHEMA_KEYS:
        if key in rest:
            return rest.pop(key)
    try:
        schema = canon.parse(rest[SCHEMA_TEXT].encode(), "schema")
    except (KeyError, AttributeError, ValueError, UnreadableError):
        return None  # a string that is no JSON stays in `rest` as it is
    rest.pop(SCHEMA_TEXT)
    return schema


def dialect(tools: list[dict[str, Any]]) -> str:
    """Name the dialect of an array that `lower_tools` accepts, by the first item that tells."""
    return next((vote for vote in map(_vote, tools) if vote != PLAIN), PLAIN)


def _vote(tool: dict[str, Any]) -> str:
    """Name the dialect one item is written in; PLAIN where nothing tells."""
    kind = tool.get("type")
    if _is_unnamed(tool):
        return GEMINI
    # A provider that lists a server's tools respells the schema and keeps the annotations.
    if "inputSchema" in tool or {"input_schema", "annotations"} <= tool.keys():
        return MCP
    if "name" not in tool:
        return CHAT if any(isinstance(tool.get(key), dict) for key in WRAPPERS) else RESPONSES
    if "input_schema" in tool:
        return ANTHROPIC if kind in (None, "custom") else PLAIN
    if kind is None or SCHEMA_TEXT in tool:
        return PLAIN
    return RESPONSES if kind in ("function", "custom", "namespace") else ANTHROPIC
