"""The answers of `evidence` and `doctor` as text."""

import shlex
from collections.abc import Sequence
from typing import Any

from githarness.measure import evidence as brief
from githarness.render import escape


def text(result: Any) -> str:
    """Render the brief, and what was left out of it."""
    lines = [] if result.matched else [f"no run matches{_left_out(result.excluded, result.models)}", ""]
    lines.append(brief.brief(result.evidence).rstrip())
    if result.matched and result.excluded:
        lines += ["", f"left out: {_reasons(result.excluded)}"]
    if result.unreadable:
        lines += ["", f"{result.unreadable} recording(s) could not be read; githarness status names them"]
    if result.interventions:
        lines += ["", "what recurs:", *(f"- {one.recurring} ({one.layer})" for one in result.interventions)]
    others = [name for name in result.models if name != result.evidence.model]
    if others:
        named = ", ".join(name or "unknown" for name in others[:8])
        lines += ["", f"other models: {named} (--model NAME)"]
    return "\n".join(lines)


def findings(result: Any) -> str:
    """Render findings worst first, each with its remedy."""
    lines = []
    for one in result.findings:
        lines.append(f"{one.severity:<9} {one.component:<10} {escape.line(one.summary)}")
        if one.remedy is not None:
            lines.append(f"          try: {shlex.join(one.remedy)}")
    if not result.runs:
        lines.append(f"no run matches{_left_out(result.excluded, ())}")
    lines.append(f"{len(result.findings)} finding(s) over {result.runs} runs")
    return "\n".join(lines)


def _reasons(excluded: dict[str, int]) -> str:
    return ", ".join(f"{escape.line(reason)} {count}" for reason, count in excluded.items())


def _left_out(excluded: dict[str, int], models: Sequence[str | None]) -> str:
    if models:
        return ": no run was under this model"
    return f" (left out: {_reasons(excluded)})" if excluded else ": the store holds none"
