"""The answer of `fidelity` as text: one block per run, part by part."""

from typing import Any

from githarness.render import escape

_NAMES = {"tools": "tools", "system": "system prompt", "model": "model"}


def text(result: Any) -> str:
    """Render every run's verdict, its parts with reasons, and the sentence for a report."""
    blocks = [_line(line) for line in result.runs]
    if len(result.runs) > 1:
        states = [line.fidelity for line in result.runs]
        counts = ", ".join(f"{states.count(state)} {state}" for state in ("matches", "differs", "unknown"))
        blocks.append(f"{len(states)} runs: {counts}")
    return "\n".join(blocks)


def _line(line: Any) -> str:
    cls = f" ({line.cls})" if line.cls else ""
    out = [f"{line.id[:12]}  {line.fidelity}{cls}"]
    for name, state in line.parts.items():
        if state is not None:
            out.append(f"    {_NAMES[name]:<14} {state:<8} {escape.line(line.reason[name] or '')}")
    if line.caveat:
        out.append(f"    {escape.line(line.caveat)}")
    return "\n".join(out)
