"""The state in force in the forms that agents read. No overlay gives no bytes of one."""

import json
import shlex
from typing import Any


def env(one: Any) -> str:
    """Render shell assignments, one per knob, and the overlay if there is one."""
    lines = [f"export GITHARNESS_{name.upper()}={shlex.quote(_plain(value))}" for name, value in _knobs(one)]
    if one.overlay:
        lines.append(f"export GITHARNESS_OVERLAY={shlex.quote(one.overlay)}")
    return "".join(f"{line}\n" for line in lines)


def toml(one: Any) -> str:
    """Render a TOML document."""
    lines = [f"state = {_string(one.state)}", f"commit = {_string(one.commit)}"]
    lines += [f"overlay = {_string(one.overlay)}"] if one.overlay else []
    lines += ["", "[knobs]", *(f"{name} = {json.dumps(value)}" for name, value in _knobs(one))]
    if one.tools:
        lines += ["", "[tools]"]
        lines += [f"{_string(name)} = {_string(words)}" for name, words in sorted(one.tools.items())]
    return "".join(f"{line}\n" for line in lines)


def as_json(one: Any) -> str:
    """Render one JSON object."""
    plain = {name: getattr(one, name) for name in ("commit", "state", "knobs", "overlay", "tools")}
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def text(one: Any) -> str:
    """Render the overlay alone."""
    return str(one.overlay)


def args(one: Any) -> str:
    """Render command-line words that append the overlay to an agent's prompt."""
    return f"--append-system-prompt {shlex.quote(one.overlay)}\n" if one.overlay else ""


def session_start(one: Any) -> str:
    """Render what a SessionStart hook of Claude Code or Gemini CLI prints to add context."""
    if not one.overlay:
        return ""
    said = {"hookEventName": "SessionStart", "additionalContext": one.overlay}
    return json.dumps({"hookSpecificOutput": said}) + "\n"


def codex(one: Any) -> str:
    """Render the line of Codex's config.toml that adds developer instructions."""
    return f"developer_instructions = {_string(one.overlay)}\n" if one.overlay else ""


FORMS = {
    "env": env,
    "json": as_json,
    "toml": toml,
    "text": text,
    "args": args,
    "claude-code": session_start,
    "codex": codex,
    "gemini": session_start,
}


def _knobs(one: Any) -> list[tuple[str, Any]]:
    return sorted(one.knobs.items())


def _plain(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _string(words: str) -> str:
    """Spell a basic string of TOML: JSON's, but that TOML knows no surrogate pairs and no bare DEL."""
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")
