"""The answers of `diff` as text and as Markdown.

What it closes: a diff that a hostile description can redraw, or that hides the one
line that matters. The decision: fidelity first, then the verdict, then the rest,
everything escaped, differing spans marked in brackets. What it does not do: it
compares nothing.
"""

import json
from typing import Any

from githarness.render import escape, sides

_VALUE = 100
# What differs is shown up to here, with the number of characters left out; --json has all of it.
_SPAN = 300
_MARKDOWN_WIDTH = 100


def text(result: Any, width: int) -> str:
    """Render a diff for a terminal of `width` columns."""
    return _runs(result, width) if hasattr(result, "comparisons") else _surfaces(result)


def _runs(result: Any, width: int) -> str:
    lines = [f"{escape.line(result.names[0])} against {', '.join(map(escape.line, result.names[1:]))}", ""]
    lines += _fidelity(result)
    lines += ["", *_divergences(result)]
    if result.comparison.verdict is not None and result.content:
        lines += ["", *sides.folded(result.folded, width)]
    lines += [_uncompared(result.comparison)]
    lines += [escape.line(one) for one in result.comparison.caveats]
    if len(result.comparisons) > 1:
        lines += ["", *(_each(*one) for one in result.each()), *_summary(result.summary)]
    return "\n".join([*lines, result.summary.note])


def _fidelity(result: Any) -> list[str]:
    verdict = result.verdict
    lines = [f"fidelity  {verdict.overall}" + (f" ({verdict.cls})" if verdict.cls else "")]
    for name, part in verdict.parts.items():
        if part is not None:
            lines.append(f"  {name:<7} {part.state:<8} {escape.line(part.reason)}")
    return [*lines, f"cause     {escape.line(result.cause)}"]


def _divergences(result: Any) -> list[str]:
    comparison = result.comparison
    calls = f"{comparison.recorded} recorded and {comparison.replayed} replayed calls"
    if not comparison.divergences:
        return [f"no divergence in {calls}"]
    lines = [f"{_counted(comparison)}, in {calls}"]
    return [*lines, *(line for one in comparison.divergences for line in _divergence(result.shown(one)))]


def _counted(comparison: Any) -> str:
    found = len(comparison.divergences)
    other = found - comparison.structural
    return f"{found} divergence(s), {comparison.structural} structural and {other} in arguments alone"


def _uncompared(comparison: Any) -> str:
    text = {True: "the same", False: "another", None: "unknown"}[comparison.final_text_same]
    changed = comparison.outcomes_changed
    return (
        f"results and texts are not compared: {changed} outcome(s) changed between ok and failed, "
        f"the last text is {text}"
    )


def _each(name: str, comparison: Any) -> str:
    changed = comparison.outcomes_changed
    return f"{escape.line(name)}: {_counted(comparison)}, {changed} outcome(s) changed"


def _divergence(one: dict[str, Any]) -> list[str]:
    structural = "" if one["structural"] else "  (not structural)"
    tool = escape.line(_value(one["tool"])) if one["tool"] is not None else ""
    lines = [f"  call {one['index'] + 1}  {one['kind']}  {tool}{structural}".rstrip()]
    deltas = one.get("deltas") or []
    for delta in deltas:
        place = escape.line(delta["pointer"] or "/")
        lines.append(
            f"      {place}  {delta['class']}: {_short(delta['expected'])} -> {_short(delta['actual'])}"
        )
    if not deltas:
        lines.append(f"      {_short(one['expected'])} -> {_short(one['actual'])}")
    return lines


def _short(value: Any) -> str:
    return escape.short(_value(value), _VALUE)


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _summary(summary: Any) -> list[str]:
    lines = [f"{summary.on_tape} of {summary.replays} replays made the recorded calls: {summary.verdict}"]
    lines += map(_estimate, summary.estimates)
    lines += [
        f"  after {point.after} calls {_rate(point.share)} still agree ({point.at_risk} that far)"
        for point in summary.curve
    ]
    lines += map(_fork, summary.forks)
    if summary.band is not None:
        band = summary.band
        beyond = {True: "beyond", False: "within", None: "too few to tell from"}[band.exceeded]
        lines.append(f"  {beyond} the band of {band.same} replays of the unchanged harness")
    return lines


def _estimate(one: Any) -> str:
    some = f"pass@k {_rate(one.any_passes)} {_bounds(one.any_bounds)}"
    return f"  k={one.k}  {some}  pass^k {_rate(one.all_pass)} {_bounds(one.all_bounds)}"


def _fork(fork: Any) -> str:
    ways = f"{escape.line(fork.expected or 'nothing')} -> {escape.line(fork.actual or 'nothing')}"
    return f"  fork at call {fork.index + 1}: {fork.kind}, {ways}, {fork.count} time(s)"


def _rate(rate: Any) -> str:
    return "unknown" if rate is None else f"{float(rate) * 100:.1f} %"


def _bounds(bounds: Any) -> str:
    return "" if bounds is None else f"({_rate(bounds.low)} to {_rate(bounds.high)})"


def _surfaces(result: Any) -> str:
    head = f"{escape.line(result.names[0])} -> {escape.line(result.names[1])}"
    if not result.changes:
        return f"{head}\nno change"
    lines = [head, f"{len(result.changes)} change(s)", ""]
    for one, recorded in zip(result.changes, result.recorded, strict=True):
        tool = f"  {escape.line(one.tool)}" if one.tool else ""
        lines.append(f"{one.severity:<8} {one.id}{tool}  {escape.line(one.place)}")
        lines += [f"    was  {span(one.was)}"] if one.was is not None else []
        lines += [f"    now  {span(one.now)}"] if one.now is not None else []
        lines += [f"    note {escape.line(note)}" for note in one.notes]
        lines += [f"    {_use(one, recorded)}"] if recorded.total else []
    return "\n".join(lines)


def span(one: Any) -> str:
    """Render a window: what differs stands in brackets, dots say that there is more."""
    before = "…" if one.offset else ""
    after = "…" if one.offset + len(one.text) < one.length else ""
    left, mid, right = one.text[: one.start], one.text[one.start : one.end], one.text[one.end :]
    return f"{before}{escape.line(left)}[{escape.short(mid, _SPAN)}]{escape.line(right)}{after}"


def _use(one: Any, recorded: Any) -> str:
    refused = "an unknown number" if recorded.refused is None else str(recorded.refused)
    words = f"{refused} of {recorded.total} recorded calls would now be refused"
    if recorded.using is not None and one.param:
        words += f"; {recorded.using} of {recorded.total} use {escape.line(one.param)}"
    return words


def markdown(result: Any) -> str:
    """Render a diff for a pull request: the same facts, hostile text inside code spans."""
    if hasattr(result, "comparisons"):
        return _fenced(_runs(result, _MARKDOWN_WIDTH))
    worst = max((one.severity for one in result.changes), key=_rank, default="none")
    lines = [f"**{len(result.changes)} change(s) of the tool surface, worst: {worst}**", ""]
    lines += ["| severity | change | tool | was | now | recorded calls |", "|---|---|---|---|---|---|"]
    for one, recorded in zip(result.changes, result.recorded, strict=True):
        cells = [
            one.severity,
            code(one.id),
            code(one.tool or ""),
            code(span(one.was)) if one.was is not None else "",
            code(span(one.now)) if one.now is not None else "",
            _use(one, recorded) if recorded.total else "none recorded",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _rank(severity: str) -> int:
    return ("none", "info", "low", "review", "high", "critical").index(severity)


def code(words: str) -> str:
    """Render escaped words as one Markdown code span that they cannot leave, pipes included."""
    if not words:
        return ""
    shown = escape.line(words).replace("|", "\\u{7c}").replace("`", "\\u{60}")
    return f"`{shown}`"


def _fenced(block: str) -> str:
    fence = "```"
    while fence in block:
        fence += "`"
    return f"{fence}text\n{block}\n{fence}"
