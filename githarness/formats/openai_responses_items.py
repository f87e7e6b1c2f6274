"""The items of the Responses API: what each says about the conversation.

The gap this closes: some twenty item types are calls, and their outcome stands in
another item, in the same item, or nowhere. The decision: a call of the provider's own
tools ends where it stands and its status is its flag; an item whose type ends in
`_output` answers a call of the client, without a flag unless it states a status.

What it does not do: it sees no request and no response around the items.
"""

from githarness import canon
from githarness.formats.cut import Body
from githarness.formats.history import BY_ID, Walk
from githarness.formats.payload import arguments, shown, spelled, texts
from githarness.model.builder import Builder
from githarness.model.session import FAILED, UNKNOWN
from githarness.model.surface import OFFERED

# A tuple, since a role may be any JSON value.
SYSTEM = ("system", "developer")
# The client answers these, so a response that ends on one is not the end of the run.
CLIENT_CALLS = frozenset({
    "function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call",
    "apply_patch_call",
})  # fmt: skip
_SERVER_CALLS = frozenset({
    "mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
    "tool_search_call",
})  # fmt: skip
# Lists of tools that reach the model beside the request's own array.
_LISTINGS = frozenset({"mcp_list_tools", "additional_tools", "tool_search_output"})
# Items of the model that hold nothing a count needs.
_QUIET = frozenset({"reasoning", "item_reference", "mcp_approval_request"})
# Where a call keeps what it was called with.
_INPUTS = ("arguments", "input", "action", "operation", "queries", "code")
_OUTCOMES = {"completed": None, "failed": FAILED}


def walk_items(builder: Builder, walk: Walk, items: list[Body], response: str | None = None) -> None:
    """Take items in order; what the model wrote in a row is one reply."""
    replying = False
    for item in items:
        kind = str(item.get("type") or "message")
        role = item.get("role")
        models = (kind == "message" and role == "assistant") or kind in CLIENT_CALLS | _SERVER_CALLS | _QUIET
        if models and not replying:
            walk.reply(response)
        replying = models
        _item(builder, walk, item, kind)


def _item(builder: Builder, walk: Walk, item: Body, kind: str) -> None:
    if kind == "message":
        _message(builder, walk, item)
    elif kind in CLIENT_CALLS | _SERVER_CALLS:
        _call(walk, item, kind)
    elif kind in _LISTINGS:
        _listing(builder, walk, item)
    elif kind.endswith("_output"):
        cause = UNKNOWN if kind.startswith(("function", "custom")) else _outcome(item)
        walk.result(_native(item), shown(item.get("output")), cause=cause)
    elif kind == "compaction":
        if walk.is_new(kind, str(item.get("id") or item.get("encrypted_content"))):
            builder.compaction()
    elif kind not in _QUIET and walk.is_new("item", kind):
        builder.unfamiliar(kind)


def _message(builder: Builder, walk: Walk, item: Body) -> None:
    role, content = item.get("role"), item.get("content")
    if role == "assistant":
        for text in texts(content):
            walk.say(text)
    elif role == "user":
        walk.hear(texts(content))
    else:
        walk.inject("\n".join(texts(content)))
        if role not in SYSTEM and walk.is_new("role", str(role)):
            builder.unfamiliar(f"role {role}")


def _call(walk: Walk, item: Body, kind: str) -> None:
    given = next((item.get(key) for key in _INPUTS if key in item), None)
    malformed: bool | None = False
    if kind in ("function_call", "mcp_call"):
        given, malformed = arguments(given)
    name = item.get("name") or kind.removesuffix("_call")
    walk.call(_native(item), name, given, by=BY_ID, malformed=malformed, also=item.get("id"))
    if kind in _SERVER_CALLS and kind != "tool_search_call":
        _ended(walk, item, kind)


def _ended(walk: Walk, item: Body, kind: str) -> None:
    """The provider ran the call: the item is its result too, once it has an outcome."""
    cause = _outcome(item)
    if kind == "mcp_call":
        cause = FAILED if item.get("error") is not None else UNKNOWN
        cause = None if cause == UNKNOWN and item.get("output") is not None else cause
    if cause != UNKNOWN:
        output = next(
            (item.get(key) for key in ("error", "output", "outputs", "results") if item.get(key)), ""
        )
        walk.result(_native(item), shown(output), cause=cause)


def _outcome(item: Body) -> str | None:
    return _OUTCOMES.get(str(item.get("status")), UNKNOWN)


def _native(item: Body) -> str:
    """Return the id that a call and its output share; one client keeps `call|item` in one."""
    native = item.get("call_id") or item.get("id")
    return native.split("|")[0] if isinstance(native, str) else ""


def _listing(builder: Builder, walk: Walk, item: Body) -> None:
    raw = item.raw("tools")
    if raw.startswith(b"[") and walk.is_new("tools", canon.sha256(raw)):
        builder.surface(raw, kind=OFFERED)
    if item.get("type") == "tool_search_output":
        walk.result(_native(item), spelled(item.get("tools")), cause=_outcome(item))
