"""How a Codex tool call went, from what its records say: the evidence, in order.

The gap this closes: a Codex result carries no flag. In a driven run of four calls
(a success, a non-zero command, an unknown tool, unparsable arguments) all four
results are plain text of one type. The decision: believe the client's own events
first, then a success field, then the exit code in the older JSON output, then an
exit code in the header lines, then the few sentences with which the client itself
answers a call. Whatever is left is unknown.

What it does not do: it never looks below a result's header, where the output of
a command begins: a command may print any of these sentences.
"""

import re
from typing import Any

from githarness import canon
from githarness.model.session import (
    CANCELLED,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    REFUSED,
    UNKNOWN_TOOL,
)

# Flag and cause as `Builder.result` takes them; None and None is "not said".
Verdict = tuple[bool | None, str | None]

UNSAID: Verdict = (None, None)
WENT_WELL: Verdict = (False, None)

# Stands for an output that could be read and cannot be written without a deep stack.
TOO_DEEP = f"[nested deeper than {canon.MAX_DEPTH} levels]"

# Sentences of the client at the very start of a result. An apply_patch result is
# one of its sentences too, and carries no exit code in newer versions.
_SENTENCES: tuple[tuple[str, Verdict], ...] = (
    ("unsupported call: ", (True, UNKNOWN_TOOL)),
    ("unsupported custom tool call: ", (True, UNKNOWN_TOOL)),
    ("failed to parse function arguments", (True, REFUSED)),
    ("Command blocked by PreToolUse hook", (True, DENIED_HOOK)),
    ("Tool call blocked by PreToolUse hook", (True, DENIED_HOOK)),
    ("approval policy is ", (True, DENIED_HOOK)),
    ("exec command rejected by user", (True, DENIED_PERSON)),
    ("patch rejected by user", (True, DENIED_PERSON)),
    ("command aborted by user", (True, CANCELLED)),
    ("aborted by user", (True, CANCELLED)),
    ("aborted before dispatch", (True, CANCELLED)),
    ("apply_patch verification failed", (True, FAILED)),
    ("write_stdin failed", (True, FAILED)),
    ("unable to locate image at ", (True, FAILED)),
    ("unable to read image at ", (True, FAILED)),
    ("Success. Updated the following files", WENT_WELL),
)

# Header lines end at "Output:"; without one, no header is this long.
_HEADER = 600
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})\s*$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\S{1,40})\s*$", re.MULTILINE)
# What stands for the exit code of a process that had none.
_KILLED = -1
_NOT_RUN = "exec_command failed for "


def text_of(output: Any) -> str | None:
    """Return a result's text: a string, the texts of its content items, or its JSON."""
    if isinstance(output, dict) and isinstance(output.get("content"), str):
        return str(output["content"])
    if output is None or isinstance(output, str):
        return output
    if isinstance(output, list):
        texts = [item["text"] for item in output if isinstance(item, dict) and _is_text(item)]
        return "\n".join(texts)
    if canon.depth_exceeds(output, canon.MAX_DEPTH):
        return TOO_DEEP
    return canon.compact(output, sort=False).decode()


def _is_text(item: dict[str, Any]) -> bool:
    return isinstance(item.get("text"), str)


def of_output(output: Any, text: str) -> Verdict:
    """Judge a result that no event of the client has judged."""
    if isinstance(output, dict) and isinstance(output.get("success"), bool):
        return WENT_WELL if output["success"] else (True, FAILED)
    if text.startswith("{"):
        return of_exit_code(_json_exit_code(text))
    code = _EXIT.search(_header(text))
    return of_exit_code(int(code[1])) if code else _of_sentence(text)


def _json_exit_code(text: str) -> Any:
    """Return `metadata.exit_code` of the JSON that older clients gave as output."""
    if '"exit_code"' not in text:
        return None
    try:
        metadata = canon.read(canon.utf8(text)).get("metadata")
    except ValueError:
        return None
    return metadata.get("exit_code") if isinstance(metadata, dict) else None


def of_exit_code(code: Any) -> Verdict:
    """Judge an exit code; anything but an integer says nothing."""
    if not isinstance(code, int) or isinstance(code, bool):
        return UNSAID
    return WENT_WELL if code == 0 else (True, FAILED)


def _header(text: str) -> str:
    return text[:_HEADER].partition("\nOutput:")[0]


def _of_sentence(text: str) -> Verdict:
    if text.startswith(_NOT_RUN):
        return _of_refusal(text.rpartition("`: ")[2])
    for start, verdict in _SENTENCES:
        if text.startswith(start):
            return verdict
    return UNSAID


def _of_refusal(reason: str) -> Verdict:
    """Judge why a command never ran, from what stands behind the quoted command."""
    if "rejected by user" in reason and "approval settings" not in reason:
        return (True, DENIED_PERSON)
    return (True, DENIED_HOOK if "Rejected(" in reason else FAILED)


def running(text: str) -> str | None:
    """Return the exec session that a result says goes on running."""
    found = _RUNNING.search(_header(text))
    return found[1] if found else None


def has_exit(text: str) -> bool:
    """Tell whether a result's header states an exit code."""
    return _EXIT.search(_header(text)) is not None


def of_event(kind: str, payload: dict[str, Any]) -> Verdict:
    """Judge by an event of the client about one call."""
    if kind == "mcp_tool_call_end":
        return _of_mcp(payload.get("result"))
    if kind == "exec_command_end":
        return of_item(payload)
    success = payload.get("success")
    if not isinstance(success, bool):
        return UNSAID
    return WENT_WELL if success else (True, FAILED)


def _of_mcp(result: Any) -> Verdict:
    if not isinstance(result, dict):
        return UNSAID
    if isinstance(result.get("Err"), str):
        person = "user rejected" in result["Err"] or "user cancelled" in result["Err"]
        return (True, DENIED_PERSON if person else FAILED)
    answer = result.get("Ok")
    if not isinstance(answer, dict):
        return UNSAID
    return (True, FAILED) if answer.get("isError") is True else WENT_WELL


def of_item(item: dict[str, Any], *, afterwards: bool = False) -> Verdict:
    """Judge a finished item by its status; an exit code is the finer word for a command.

    `afterwards` says that its task was over: a command without an exit code of its
    own was then ended with the session, as every server left running is.
    """
    status, code = str(item.get("status")).lower(), item.get("exit_code")
    if status == "declined":
        return (True, DENIED_PERSON)
    if afterwards and code == _KILLED:
        return (True, CANCELLED)
    by_code = of_exit_code(code)
    if by_code != UNSAID:
        return by_code
    return {"completed": WENT_WELL, "failed": (True, FAILED)}.get(status, UNSAID)
