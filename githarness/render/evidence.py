"""The answers of `evidence` and `doctor` as text."""

import shlex
from typing import Any

from githarness.measure import evidence as brief
from githarness.render import escape


def text(result: Any) -> str:
    """Render the brief, and what was left out of it."""
    lines = [brief.brief(result.evidence).rstrip()]
    left = ", ".join(f"{escape.line(reason)} {count}" for reason, count in result.excluded.items())
    if left:
        lines += ["", f"left out: {left}"]
    if result.unreadable:
        lines += ["", f"{result.unreadable} recording(s) could not be read; githarness status names them"]
    if result.interventions:
        lines += ["", "what recurs:", *(f"- {one.recurring} ({one.layer})" for one in result.interventions)]
    others = [name for name in result.models if name != result.evidence.model]
    if others:
        named = ", ".join(escape.short(name or "unknown", 40) for name in others[:8])
        lines += ["", f"other models: {named} (--model NAME)"]
    return "\n".join(lines)


def findings(result: Any) -> str:
    """Render findings worst first, each with its remedy."""
    lines = []
    for one in result.findings:
        lines.append(f"{one.severity:<9} {one.component:<10} {escape.line(one.summary)}")
        if one.remedy is not None:
            lines.append(f"          try: {shlex.join(one.remedy)}")
    lines.append(f"{len(result.findings)} finding(s) over {result.runs} runs")
    return "\n".join(lines)
