"""Metrics: the six costs that a proposal may predict to fall.

The gap this closes: of six such metrics four were zero in all of 172 real runs, and
"zero" stood for "did not happen" and for "nobody wrote it down" alike, so a change
could win by leaving no trace. The decision: a closed set, all of it costs, so that
lower is better everywhere; and a run for which a metric says nothing has no value,
not the best one. Three cases follow: a rate without calls, a compaction count of a
client that keeps no trace, and the end of a run that no record states.

What it does not do: it compares nothing (`govern`) and sums nothing (`corpus`).
"""

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction

from githarness.model.manifest import Stats
from githarness.model.session import COST_BUDGET, LOOP, MAX_TURNS, NO_OUTPUT, OUTPUT_BUDGET

# The harness, or the lack of anything more to say, ended these runs. A person who
# interrupts and a provider that fails are not the harness, and count elsewhere.
CUT_SHORT = frozenset({MAX_TURNS, OUTPUT_BUDGET, COST_BUDGET, LOOP, NO_OUTPUT})

Value = Fraction | int


def is_cut_short(stop_cause: str | None) -> bool:
    """Tell whether a stop cause is one of being cut short; an unrecorded one is not.

    The only predicate for this: where a health check and a gate each had their own,
    37 interrupted runs were a cost to the one and none to the other.
    """
    return stop_cause in CUT_SHORT


def known_calls(stats: Stats) -> int:
    """Count the calls whose outcome is known: what a rate over calls divides by."""
    return stats.tool_calls - stats.tool_unknown


class Metric(StrEnum):
    """One cost of one run. The names are what proposals and manifests hold."""

    ENDED_ON_FAILED_CALL = "ended_on_failed_call"
    TOOL_ERROR_RATE = "tool_error_rate"
    CUT_SHORT = "cut_short"
    COMPACTIONS = "compactions"
    TURNS = "turns"
    MALFORMED_ARGS = "malformed_args"

    def of(self, stats: Stats) -> Value | None:
        """Measure one run; None where the metric is undefined or unknown for it."""
        return _VALUES[self](stats)

    def headroom(self, stats: Stats) -> Value:
        """Rank a run by how much there is to reduce. A priority, never a score.

        A run of unknown cost comes last, like one without any.
        """
        return self.of(stats) or 0

    @property
    def label(self) -> str:
        """What is counted, in a few words."""
        return _WORDS[self][0]

    @property
    def definition(self) -> str:
        """The exact rule for one run, with when it has no value."""
        return _WORDS[self][1]


def _ended(stats: Stats) -> int | None:
    return None if stats.ended_on_failed_call is None else int(stats.ended_on_failed_call)


def _error_rate(stats: Stats) -> Fraction | None:
    calls = known_calls(stats)
    # A run without calls neither succeeded nor failed at them. Called zero, a
    # candidate that stops calling tools would win.
    return Fraction(stats.tool_errors, calls) if calls else None


def _cut(stats: Stats) -> int | None:
    # An end that nobody recorded is no proof of a good one.
    return None if stats.stop_cause is None else int(is_cut_short(stats.stop_cause))


_VALUES: dict[Metric, Callable[[Stats], Value | None]] = {
    Metric.ENDED_ON_FAILED_CALL: _ended,
    Metric.TOOL_ERROR_RATE: _error_rate,
    Metric.CUT_SHORT: _cut,
    Metric.COMPACTIONS: lambda stats: stats.compactions,
    # The name is older than the word "step": what a model's budget of turns counts
    # is its responses, not what a person said.
    Metric.TURNS: lambda stats: stats.steps,
    Metric.MALFORMED_ARGS: lambda stats: stats.malformed_args,
}

_WORDS: dict[Metric, tuple[str, str]] = {
    Metric.ENDED_ON_FAILED_CALL: (
        "finished on a failed call",
        "1 if the run completed and its last call that ran had failed, else 0;"
        " no value when that call's outcome is unknown",
    ),
    Metric.TOOL_ERROR_RATE: (
        "failed calls",
        "failed calls, refused arguments and unknown tools, per call of known outcome;"
        " denials are no failures; no value without such calls",
    ),
    Metric.CUT_SHORT: (
        "cut short",
        "1 if a limit, a loop or silence ended the run, else 0; an interruption is 0;"
        " no value when the end is unrecorded",
    ),
    Metric.COMPACTIONS: (
        "compactions",
        "how often history was replaced by a summary; no value where a client keeps no trace of it",
    ),
    Metric.TURNS: ("turns", "model responses in the run"),
    Metric.MALFORMED_ARGS: (
        "malformed arguments",
        "calls whose arguments were unparsable or refused; no value where arguments were not kept",
    ),
}
