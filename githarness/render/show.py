"""The answers of `show` as text: a run call by call, a surface tool by tool.

Everything from a transcript or a description is shown escaped; long values are cut
with the number of characters left out. What it does not do: `--raw` is the way to
exact bytes, and never goes through here.
"""

import json
from typing import Any

from githarness.render import escape

_VALUE = 160
_TEXT = 600


def run(one: Any) -> str:
    """Render a run: what it was, what it counts, what a person said, each call."""
    manifest, stats = one.manifest, one.stats
    recorded = manifest.recording
    unknown = "unknown"
    lines = [
        f"run {one.id}",
        f"agent      {escape.line(one.agent)}  format {escape.line(one.format)}",
        f"model      {escape.line(one.model or unknown)}",
        f"started    {escape.line(recorded.started or unknown)}",
        f"ended      {escape.line(recorded.ended or unknown)}",
        f"project    {escape.line(recorded.project or unknown)}",
        f"surface    {_cited(manifest.surfaces, names=manifest.partial_names)}",
        f"prompt     {_cited(manifest.prompts, names=False)}",
        f"recording  {recorded.digest}  {recorded.bytes} bytes in {len(recorded.parts)} part(s), "
        f"{recorded.records} records",
        f"redaction  {_redaction(recorded)}",
        f"counts     {_counts(stats)}",
        f"stopped    {_stopped(stats)}",
    ]
    if one.parent:
        lines.append(f"parent     {escape.line(one.parent)}")
    if one.steered:
        lines.append("steered    a person spoke while a turn was open, so a replay is approximate")
    lines += ["", *(f"turn  {escape.short(turn, _TEXT)}" for turn in one.turns), ""]
    lines += [_call(index, call) for index, call in enumerate(one.calls, start=1)]
    if one.final_text is not None:
        lines += ["", f"last text{_before(one.calls_after_text)}  {escape.short(one.final_text, _TEXT)}"]
    return "\n".join(lines)


def _before(calls: int) -> str:
    return f" ({calls} call(s) came after it)" if calls else ""


def _cited(cited: Any, *, names: bool) -> str:
    if isinstance(cited, dict):
        return "two machines recorded different ones"
    if not cited:
        return "unknown (only names of tools were recorded)" if names else "unknown"
    words = []
    for one in cited:
        place = f" from response {one.position + 1}" if one.position else ""
        withheld = ", bytes withheld" if one.withheld else ""
        words.append(f"{one.digest} ({one.kind}{place}{withheld})")
    return ", ".join(words)


def _redaction(recorded: Any) -> str:
    if not recorded.redacted:
        return "none: recorded with --no-redact"
    if not recorded.redactions:
        return f"rules {recorded.rules}, nothing found"
    found = ", ".join(f"{rule} {count}" for rule, count in sorted(recorded.redactions.items()))
    return f"rules {recorded.rules}: {found}"


def _counts(stats: Any) -> str:
    words = [
        f"{stats.turns} turns",
        f"{stats.steps} steps",
        f"{stats.tool_calls} calls",
        f"{stats.tool_errors} failed",
        f"{stats.tool_denied} denied",
        f"{stats.tool_cancelled} cancelled",
        f"{stats.tool_unknown} of unknown outcome",
        f"{_known(stats.malformed_args)} malformed",
        f"{_known(stats.compactions)} compactions",
    ]
    return ", ".join(words)


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _stopped(stats: Any) -> str:
    cause = stats.stop_cause or "unrecorded"
    inferred = " (inferred)" if stats.stop_inferred else ""
    after = {True: ", after a failed call", None: ", after a call of unknown outcome", False: ""}
    return f"{cause}{inferred}{after[stats.ended_on_failed_call]}"


def _call(index: int, call: Any) -> str:
    outcome = call.cause or "ok"
    lines = [f"{index:>4}  {escape.short(call.name, 60)}  {outcome}  (step {call.step})"]
    lines.append(f"      in   {_value(call.input)}")
    output = "no result was recorded" if call.output is None else escape.short(call.output, _VALUE)
    lines.append(f"      out  {output}")
    return "\n".join(lines)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return escape.short(text, _VALUE)


def surface(one: Any) -> str:
    """Render a surface: its identities, then each tool with its description and schema."""
    lines = [
        f"surface {one.id}",
        f"semantic   {one.semantic}",
        f"64-bit     {one.fnv}",
        f"dialect    {one.dialect}",
        f"met        {_met(one)}",
    ]
    if one.withheld:
        lines.append(f"bytes      withheld, a secret was found in them ({', '.join(one.withheld)})")
    for index, tool in enumerate(one.tools, start=1):
        lines += [
            "",
            f"{index:>4}  {escape.line(tool.name)}  {tool.digest[:12]}",
            *_tool(tool, bool(one.withheld)),
        ]
    return "\n".join(lines)


def _met(one: Any) -> str:
    if not one.kinds:
        return "never"
    named = ", ".join(escape.line(source) for source in one.sources if source)
    unnamed = "a source that nobody named" if "" in one.sources else ""
    return f"{', '.join(one.kinds)} at {' and '.join(part for part in (named, unnamed) if part)}"


def _tool(tool: Any, withheld: bool) -> list[str]:
    if withheld:
        return []
    described = "      (no description)" if tool.description is None else _indented(tool.description)
    lines = [described]
    if tool.input_schema is not None:
        lines.append(f"      schema  {escape.line(json.dumps(tool.input_schema, ensure_ascii=False))}")
    if tool.rest:
        lines.append(f"      other   {escape.line(json.dumps(tool.rest, ensure_ascii=False))}")
    return lines


def _indented(text: str) -> str:
    return "\n".join(f"      {line}" for line in escape.block(text).split("\n"))


def prompt(one: Any) -> str:
    """Render a system prompt in full."""
    return f"prompt {one.id}\n\n{escape.block(one.text)}"


def text(one: Any) -> str:
    """Render whichever of the three it is."""
    if hasattr(one, "calls"):
        return run(one)
    return surface(one) if hasattr(one, "tools") else prompt(one)
