"""What calls carry: arguments written as text, and results made of blocks.

The gap this closes: arguments that are a string may be no JSON at all, and a redacted
string read as such counted 82 to 134 well-formed calls of one file as malformed. The
decision: malformed is True only for a text that is there, was not redacted, and is no
JSON object; what cannot be told is None.

What it does not do: it validates against no schema.
"""

import json
import re
from typing import Any

from githarness import canon

# Recorders put these in a text they withhold.
_WITHHELD = "[REDACTED"
# What every JSON reader keeps exactly; a larger count is no count.
_MOST = 2**53
_SURROGATE = re.compile("[\ud800-\udfff]")


def arguments(text: Any) -> tuple[Any, bool | None]:
    """Read arguments to (input, malformed); what is no JSON stays as its text.

    Blank text is None, not True: some servers write a call without arguments so.
    """
    if not isinstance(text, str):
        return text, None if text is None else not isinstance(text, dict)
    if not text.strip():
        return text, None
    try:
        value = canon.read(canon.utf8(text))
    except ValueError:
        value = text
    if isinstance(value, dict):
        return value, False
    return value, None if _WITHHELD in text else True


def shown(value: Any) -> str:
    """Render a result as text: blocks are joined, and one that is no text is named."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_block(block) for block in value)
    return "" if value is None else spelled(value)


def texts(content: Any) -> list[str]:
    """Return the texts of a message's content, a string or a list of blocks."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return [text for text in found if isinstance(text, str)]


def parsed(value: Any) -> Any:
    """Parse what is JSON text; what is none stays what it was."""
    if not isinstance(value, str):
        return value
    try:
        return canon.read(value.encode("utf-8", "surrogatepass"))
    except ValueError:
        return value


def joined(content: Any) -> str:
    """Return text, or the `text` of each of a list's parts, a line each; empty for anything else."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in found if isinstance(text, str))


def number(holder: Any, *path: str) -> int:
    """Return a count nested in parsed JSON, 0 where there is none that can be one."""
    for key in path:
        holder = holder.get(key) if isinstance(holder, dict) else None
    return holder if isinstance(holder, int) and 0 <= holder < _MOST else 0


def spelled(value: Any) -> str:
    """Render parsed JSON with sorted keys; nesting past any limit is all the same."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError, TypeError):
        return "(deep)"


def visible(value: Any) -> bytes:
    r"""Encode parsed JSON with each lone surrogate spelled out as `\udxxx`, for typed decoders.

    Raises RecursionError for absurd nesting.
    """
    text = json.dumps(value, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text).encode("utf-8")


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return block if isinstance(block, str) else spelled(block)
    text = block.get("text")
    return text if isinstance(text, str) else f"[{block.get('type', 'block')}]"
