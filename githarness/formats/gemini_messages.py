"""What single Gemini CLI messages say: who spoke, what was called, how it went.

The gap this closes: a message is written again and again as its calls go on, and
one flag covers five kinds of failure: a tool that failed, arguments that no schema
took, a tool that is not there, a policy, a person. The decision: a message is
reduced to one small value, so that the last writing of it can win without holding
a text; the status decides the flag, and the client's own wording the cause.

What it does not do: it never looks at the words of a successful call. A command
that exits with 1 is a success here, since the client calls it one.
"""

import re
from typing import Any

import msgspec

from githarness import canon
from githarness.model.session import (
    API_ERROR,
    CANCELLED,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    LOOP,
    MAX_TURNS,
    REFUSED,
    UNKNOWN,
    UNKNOWN_TOOL,
)

# A person, the model, a notice of the client, or an answer that carries results alone.
TURN, MODEL, NOTICE, RESULTS = "turn", "model", "notice", "results"
_NOTICES = frozenset({"info", "warning", "error"})
_MODELS = frozenset({"gemini", "model"})  # `model` in the oldest files

# What the client or a hook put beside the prompt; one that is not closed runs to the end.
_INJECTED = re.compile(r"<(session_context|hook_context)>.*?(?:</\1>|\Z)", re.DOTALL)
_SNAPSHOT = "<state_snapshot>"
_FOLDER = re.compile(r"(?:Workspace Directories:\*\*\n  - |working in the directory: )([^\n]+)")

_CANCELLED = r"\[Operation Cancelled\] "
# Stands for an output that could be read and cannot be written without a deep stack.
TOO_DEEP = f"[nested deeper than {canon.MAX_DEPTH} levels]"

# How the client words a call that is no plain failure, at the head of its error.
_CAUSES = (
    (re.compile(r"(?:Error: )?(?:params[ /].{0,200}?must |Invalid parameters provided)"), REFUSED),
    (re.compile(r'Tool "[^"\n]{0,200}" not found'), UNKNOWN_TOOL),
    (re.compile(r"Tool execution (?:for \S{0,200} )?denied by policy"), DENIED_HOOK),
    (re.compile(r"Tool execution blocked: |Agent execution stopped by hook"), DENIED_HOOK),
    (re.compile(rf"(?:{_CANCELLED})?(?:Reason: )?User (?:denied|did not allow|rejected)"), DENIED_PERSON),
    (re.compile(rf"{_CANCELLED}."), CANCELLED),
)

# Notices that say why the run stopped.
_STOPS = (
    ("Request cancelled", INTERRUPTED),
    ("A potential loop was detected", LOOP),
    ("Reached max session turns", MAX_TURNS),
    ("[API Error", API_ERROR),
)

_Outcome = tuple[str | None, bool | None, str | None]


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a message with what is known of its result; `agent` is the subagent that ran it."""

    id: str
    name: str
    agent: str = ""
    input: Any = None
    malformed: bool | None = False
    output: str | None = None
    is_error: bool | None = None
    cause: str | None = UNKNOWN


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message, reduced. `spoken` says that `text` was not blank, where it was not kept."""

    kind: str
    text: str = ""
    spoken: bool = False
    injected: bool = False
    snapshot: bool = False
    folder: str | None = None
    model: str | None = None
    tokens: tuple[int, int, int] | None = None
    stop: str | None = None
    made: tuple[Made, ...] = ()
    results: dict[str, _Outcome] = {}


def read(value: dict[str, Any], *, keep: bool) -> Message | None:
    """Reduce a message; None where its type is not known."""
    kind, words = _text(value.get("type")), texts(value.get("content"))
    if kind == "user":
        return _of_user(value, words, keep=keep)
    if kind in _MODELS:
        return _of_model(value, "\n".join(words), keep=keep)
    if kind in _NOTICES:
        joined = "\n".join(words)
        stop = next((cause for start, cause in _STOPS if joined.startswith(start)), None)
        return Message(kind=NOTICE, stop=stop)
    return None


def texts(content: Any) -> list[str]:
    """Return the texts of a message, without the model's thoughts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in _objects(content) if _is_said(part)]


def _is_said(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.get("thought") is not True


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, or the one object that stands in a list's place."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def _of_user(value: dict[str, Any], words: list[str], *, keep: bool) -> Message:
    results = _results(value.get("content"), keep=keep)
    typed = _typed(words)
    shown = _typed(texts(value.get("displayContent"))) if typed else []
    text = "\n".join(shown or typed)
    return Message(
        kind=TURN if typed and not results else RESULTS,
        text=text if keep else "",
        injected=any(map(_INJECTED.search, words)),
        snapshot=any(_SNAPSHOT in text for text in words),
        folder=_folder(words),
        results=results,
    )


def _typed(words: list[str]) -> list[str]:
    """Return what is left of a message's texts without what was put beside the prompt."""
    bare = [_INJECTED.sub("", text).strip() if "<" in text else text for text in words]
    return [text for text in bare if text.strip() and _SNAPSHOT not in text]


def _folder(words: list[str]) -> str | None:
    """Return the folder that the client's own opening names, and nobody else's words."""
    opening = next((text for text in words if text.lstrip().startswith("<session_context>")), "")
    found = _FOLDER.search(opening)
    return found[1].strip() if found else None


def _of_model(value: dict[str, Any], text: str, *, keep: bool) -> Message:
    model, tokens = value.get("model"), value.get("tokens")
    return Message(
        kind=MODEL,
        text=text if keep else "",
        spoken=bool(text.strip()),
        model=model if isinstance(model, str) else None,
        tokens=_tokens(tokens) if isinstance(tokens, dict) else None,
        made=_made(value, keep=keep),
    )


def _tokens(row: dict[str, Any]) -> tuple[int, int, int]:
    """Return input, output and cached: tool prompts are input, thoughts are output."""
    keys = ("input", "tool", "output", "thoughts", "cached")
    counts = [row.get(key) for key in keys]
    sent, tool, output, thoughts, cached = (n if isinstance(n, int) and n >= 0 else 0 for n in counts)
    return (sent + tool, output + thoughts, cached)


def _made(value: dict[str, Any], *, keep: bool) -> tuple[Made, ...]:
    """Return the calls: those with a state, then those that stand in the content alone."""
    made = [_call(call, keep=keep) for call in _objects(value.get("toolCalls"))]
    known = {call.id for call in made}
    bare = [part["functionCall"] for part in _objects(value.get("content")) if "functionCall" in part]
    made += [_asked(call, keep=keep) for call in _objects(bare) if _text(call.get("id")) not in known]
    return tuple(made)


def _asked(call: dict[str, Any], *, keep: bool) -> Made:
    """Return a call with nothing known of its result."""
    args = call.get("args")
    malformed = None if args is None else not isinstance(args, dict)
    return Made(
        id=_text(call.get("id")),
        name=_text(call.get("name")),
        agent=_text(call.get("agentId")),
        input=args if keep else None,
        malformed=malformed,
    )


def _call(call: dict[str, Any], *, keep: bool) -> Made:
    asked = _asked(call, keep=keep)
    output, failed = _response(call.get("result"), asked.id)
    reason = _text(call.get("error")) or output or ""
    is_error, cause = _outcome(_text(call.get("status")), reason, failed=failed)
    return msgspec.structs.replace(
        asked,
        malformed=True if cause == REFUSED else asked.malformed,
        output=output if keep or output is None else "",
        is_error=is_error,
        cause=cause,
    )


def _outcome(status: str, reason: str, *, failed: bool | None) -> tuple[bool | None, str | None]:
    """Judge by the status; where there is none, by which key the response has."""
    if status == "success" or (not status and failed is False):
        return (False, None)
    if status == "cancelled":
        cause = _cause(reason)
        return (True, cause if cause == DENIED_PERSON else CANCELLED)
    if status == "error" or (not status and failed):
        return (True, _cause(reason))
    return (None, UNKNOWN)


def _cause(reason: str) -> str:
    return next((cause for start, cause in _CAUSES if start.match(reason)), FAILED)


def _response(result: Any, call: str) -> tuple[str | None, bool | None]:
    """Return a call's output and whether it is an error, out of parts that may answer several calls."""
    if isinstance(result, str):
        return result, None
    answers = [part["functionResponse"] for part in _objects(result) if "functionResponse" in part]
    named = [answer for answer in _objects(answers) if answer.get("id") == call]
    for answer in named or _objects(answers)[:1]:
        return _shown(answer.get("response"))
    return None, None


def _shown(response: Any) -> tuple[str | None, bool | None]:
    if not isinstance(response, dict):
        return (response if isinstance(response, str) else None), None
    key = "error" if "error" in response else "output"
    failed = None if key not in response else key == "error"
    shown = response.get(key, response)
    if isinstance(shown, str):
        return shown, failed
    if canon.depth_exceeds(shown, canon.MAX_DEPTH):
        return TOO_DEEP, failed
    return canon.compact(shown, sort=False).decode(), failed


def _results(content: Any, *, keep: bool) -> dict[str, _Outcome]:
    """Return the results that a user message carries, by call id."""
    found: dict[str, _Outcome] = {}
    answers = [part["functionResponse"] for part in _objects(content) if "functionResponse" in part]
    for answer in _objects(answers):
        output, failed = _shown(answer.get("response"))
        flag, cause = _outcome("", output or "", failed=failed)
        found[_text(answer.get("id"))] = (output if keep or output is None else "", flag, cause)
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
