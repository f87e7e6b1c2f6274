"""Evidence: everything a diagnostician is told about one model's runs.

The gap this closes: models name the step at which a run failed rightly in one case
of seven (14.2 %), so what matters is that a wrong diagnosis is cheap and cannot be
dictated by what a tool returned. The decision: evidence is counters, findings and
the history of earlier proposals, each of a closed type; there is no field for a
word of a transcript and no constructor that takes one. Names of models pass through
`names`, stop causes through the list of those we know.

A rate without a denominator reads `unknown`, never 0: told "0 %", a diagnostician
takes a harness that was not used for a healthy one.

What it does not do: it proposes nothing and reads no reply (`propose`).
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import msgspec

from githarness.measure import findings as finding_rules
from githarness.measure import names
from githarness.measure.corpus import Corpus, Cost
from githarness.measure.findings import DIAGNOSED, Finding
from githarness.measure.metrics import Metric
from githarness.model.session import STOP_CAUSES

UNRECORDED = "unrecorded"
# A stop cause that this version does not know comes from a newer reader.
OTHER = "other"

STANDINGS = ("pending", "approved", "rejected")
VERDICTS = ("confirmed", "refuted", "insufficient", "blocked", "invalid")


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """One earlier proposal: what it is, what it predicted, and what became of it.

    A `verdict` of None is unmeasured. A measured rejection is evidence, and no
    invitation to try again.
    """

    fingerprint: str
    metric: Metric
    standing: str
    verdict: str | None = None

    def __post_init__(self) -> None:
        known = self.standing in STANDINGS and self.verdict in (None, *VERDICTS)
        if not known or any(names.model(part) != part for part in self.fingerprint.split(":")):
            raise ValueError("an earlier proposal is a fingerprint, a metric, a standing and a verdict")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers and findings about one model. None is unknown, for `model` too.

    `tool_error_rate` divides by calls of known outcome, `ended_on_failed_call_rate`
    by runs where it is known. `headroom` holds one cost per metric, and `history` the
    earlier proposals. Nothing here can hold text: see `__post_init__`.
    """

    model: str | None = None
    runs: int = 0
    sessions_read: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    tool_denied: int = 0
    tool_cancelled: int = 0
    tool_unknown: int = 0
    tool_error_rate: Fraction | None = None
    ended_on_failed_call: int = 0
    ended_on_failed_call_rate: Fraction | None = None
    cut_short: int = 0
    cut_short_rate: Fraction | None = None
    compactions: int | None = 0
    malformed_args: int | None = 0
    stop_causes: dict[str, int] = {}
    headroom: tuple[Cost, ...] = ()
    findings: tuple[Finding, ...] = ()
    history: tuple[Earlier, ...] = ()

    def __post_init__(self) -> None:
        if self.model is not None and names.model(self.model) != self.model:
            raise ValueError("a model is a name made fit to be shown")
        if not set(self.stop_causes) <= {*STOP_CAUSES, UNRECORDED, OTHER}:
            raise ValueError("a stop cause is one of those we know")


def of(
    model: str | None,
    corpus: Corpus,
    *,
    findings: Iterable[Finding] = (),
    history: Iterable[Earlier] = (),
) -> Evidence:
    """Summarise one model's runs out of a corpus; None takes the runs of unknown model.

    Of the findings only those about runs are kept: the others say how well the
    recorder works, and no change of a harness mends that.
    """
    part = corpus.by_model().get(model) or msgspec.structs.replace(corpus, rows=())
    ended, cut = part.ended_on_failed_call, part.cut_short
    shown = None if model is None else names.model(model)
    return Evidence(
        model=shown,
        runs=part.runs,
        sessions_read=part.sessions_read,
        tool_calls=part.tool_calls,
        tool_errors=part.tool_errors,
        tool_denied=part.tool_denied,
        tool_cancelled=part.tool_cancelled,
        tool_unknown=part.tool_unknown,
        tool_error_rate=part.tool_error_rate.value,
        ended_on_failed_call=ended.count,
        ended_on_failed_call_rate=ended.value,
        cut_short=cut.count,
        cut_short_rate=cut.value,
        compactions=part.compactions,
        malformed_args=part.malformed_args,
        stop_causes=_stop_causes(part),
        headroom=tuple(part.metric_cost(metric) for metric in Metric),
        findings=tuple(one for one in findings if _is_told(one, shown)),
        history=tuple(history),
    )


def _stop_causes(corpus: Corpus) -> dict[str, int]:
    counts: dict[str, int] = {}
    for cause, count in corpus.stop_causes.items():
        name = UNRECORDED if cause is None else cause if cause in STOP_CAUSES else OTHER
        counts[name] = counts.get(name, 0) + count
    return counts


def _is_told(finding: Finding, model: str | None) -> bool:
    # The subject of a finding about runs is a model, and this is about one model.
    about = finding.component != finding_rules.RUNS or finding.subject == model
    return finding.component in DIAGNOSED and about


def brief(evidence: Evidence) -> str:
    """Render the evidence as the text a diagnostician is handed: same evidence, same bytes."""
    lines = [
        f"model: {_known(evidence.model)}",
        f"runs: {evidence.runs} (of {evidence.sessions_read} sessions read)",
        f"tool calls: {evidence.tool_calls}",
        f"failed: {evidence.tool_errors} ({_share(evidence.tool_error_rate)})",
        f"apart from those, denied: {evidence.tool_denied}, cancelled: {evidence.tool_cancelled},"
        f" of unknown outcome: {evidence.tool_unknown}",
        "finished on a failed call:"
        f" {evidence.ended_on_failed_call} ({_share(evidence.ended_on_failed_call_rate)})",
        f"cut short: {evidence.cut_short} ({_share(evidence.cut_short_rate)})",
        f"compactions: {_known(evidence.compactions)}",
        f"malformed arguments: {_known(evidence.malformed_args)}",
        f"stop causes: {_causes(evidence.stop_causes)}",
        *_section("what there is to reduce:", [_headroom(cost) for cost in evidence.headroom]),
        *_section("what the health check reported:", [one.summary for one in evidence.findings]),
        *_section("proposals made before:", [_earlier(one) for one in evidence.history]),
    ]
    return "".join(f"{line}\n" for line in lines)


def _section(heading: str, lines: list[str]) -> list[str]:
    return ["", heading, *(f"- {line}" for line in lines)] if lines else []


def _known(value: int | str | None) -> str:
    return "unknown" if value is None else str(value)


def _share(rate: Fraction | None) -> str:
    return finding_rules.percent(*(rate.as_integer_ratio() if rate is not None else (0, None)))


def _causes(causes: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in causes.items()) or "none"


def _headroom(cost: Cost) -> str:
    # the metric keeps its name, and a person says "turn" for something else
    name = "turns (model responses)" if cost.metric is Metric.TURNS else str(cost.metric)
    if cost.mean is None:
        return f"{name}: unknown (no run says)"
    hundredths = round(cost.mean * 100)
    mean = f"{hundredths // 100}.{hundredths % 100:02}"
    return f"{name}: {cost.some} of {cost.defined} runs have any (mean {mean})"


def _earlier(one: Earlier) -> str:
    return f"{one.fingerprint}: predicted lower {one.metric}, {one.standing}, {one.verdict or 'unmeasured'}"


def document(evidence: Evidence) -> dict[str, Any]:
    """Return the evidence as plain JSON: rates are numbers, or null without a denominator."""
    plain: dict[str, Any] = {name: getattr(evidence, name) for name in Evidence.__struct_fields__}
    for name in ("tool_error_rate", "ended_on_failed_call_rate", "cut_short_rate"):
        plain[name] = _number(plain[name])
    return plain | {
        "headroom": [
            msgspec.structs.asdict(cost) | {"metric": str(cost.metric), "mean": _number(cost.mean)}
            for cost in evidence.headroom
        ],
        "findings": [finding_rules.document(one) for one in evidence.findings],
        "history": [msgspec.to_builtins(one) for one in evidence.history],
    }


def _number(rate: Fraction | None) -> float | None:
    return None if rate is None else float(rate)
