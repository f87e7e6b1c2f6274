"""A corpus: many runs side by side, selected, counted once, and summed.

The gap this closes: a sum over everything recorded mixes models, projects and
harness states, counts a resumed session twice, and turns "nobody wrote it down"
into zero. The decision: manifests become rows; a selection keeps some, newest
first, up to a bound, and every row that is left out is counted under its reason;
each rate carries what it divides by. There are two kinds of those: rates over calls
divide by calls of known outcome, rates over runs by the runs that say it.

No file of its own: a second ledger of the same runs would be a second truth.

What it does not do: it counts and never judges (`doctor`), and it opens no
transcript. Records that a reader found to be copied are in no counter it sees; a
copy that only comparing two transcripts would show is not found here.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import msgspec

from githarness.measure import metrics, names
from githarness.measure.metrics import Metric
from githarness.model.manifest import Run, Stats

# The newest 200: enough for a rate of one in twenty to show in ten runs, and recent
# enough that the harness has not become another one meanwhile.
LIMIT = 200

COPIED = "copied"
SEVERAL = "several"
OVER_LIMIT = "over the limit"


class Rate(msgspec.Struct, frozen=True):
    """A count and what it is out of. `value` is None without a denominator, never 0."""

    count: int
    of: int

    @property
    def value(self) -> Fraction | None:
        """The share, exact."""
        return Fraction(self.count, self.of) if self.of else None


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What one metric shows in a corpus: `some` of the `defined` runs have any of it.

    `mean` is over the defined runs, None when there are none.
    """

    metric: Metric
    mean: Fraction | None
    some: int
    defined: int


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run as a corpus needs it.

    `model` is the last one in force. No `surfaces` means unknown, also where two
    machines disagree about them. `is_copy` says that every record was copied in from
    an earlier run. `unreadable` counts records of the transcript that are no JSON. No
    field holds a word of the transcript.
    """

    run: str
    agent: str
    stats: Stats
    recording: str = ""
    model: str | None = None
    project: str | None = None
    label: str | None = None
    started: str | None = None
    surfaces: tuple[str, ...] = ()
    state: str | None = None
    is_copy: bool = False
    redacted: bool = True
    unreadable: int = 0

    @property
    def surface(self) -> str | None:
        """The first surface the run cites, None when unknown."""
        return self.surfaces[0] if self.surfaces else None


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs to keep; None keeps all. An unknown value is never a match.

    `project` is a folder and takes those inside it, `since` the beginning of an ISO
    time, `surface` and `state` the beginning of a digest. A run matches a surface that
    it was under at any time.
    """

    model: str | None = None
    project: str | None = None
    agent: str | None = None
    label: str | None = None
    since: str | None = None
    surface: str | None = None
    state: str | None = None


class Corpus(msgspec.Struct, frozen=True, kw_only=True):
    """Selected rows, newest first, and what was looked at to get them.

    `sessions_read` counts every run that was looked at, `unreadable` manifests or
    recordings that could not be, `excluded` what was left out: by the one field of the
    selection that did it, or `several`, `copied` or `over the limit`.
    """

    rows: tuple[Row, ...] = ()
    sessions_read: int = 0
    unreadable: int = 0
    excluded: dict[str, int] = {}

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.rows)

    @property
    def tool_calls(self) -> int:
        """All calls that were attempted, whatever became of them."""
        return sum(row.stats.tool_calls for row in self.rows)

    @property
    def tool_errors(self) -> int:
        """Failures, refused arguments and unknown tools."""
        return sum(row.stats.tool_errors for row in self.rows)

    @property
    def tool_denied(self) -> int:
        """Calls that a person or a rule said no to: the harness working."""
        return sum(row.stats.tool_denied for row in self.rows)

    @property
    def tool_cancelled(self) -> int:
        """Calls that were interrupted, or skipped after another one failed."""
        return sum(row.stats.tool_cancelled for row in self.rows)

    @property
    def tool_unknown(self) -> int:
        """Calls whose outcome nobody wrote down. They are in no rate."""
        return sum(row.stats.tool_unknown for row in self.rows)

    @property
    def tool_error_rate(self) -> Rate:
        """Errors out of the calls of known outcome."""
        return Rate(self.tool_errors, sum(metrics.known_calls(row.stats) for row in self.rows))

    @property
    def ended_on_failed_call(self) -> Rate:
        """Runs that completed on a failed call, out of those where that is known."""
        return self._runs_with(Metric.ENDED_ON_FAILED_CALL)

    @property
    def cut_short(self) -> Rate:
        """Runs that were cut short, out of those whose end is recorded or inferred."""
        return self._runs_with(Metric.CUT_SHORT)

    @property
    def compactions(self) -> int | None:
        """The sum over the runs that keep a trace; None when there are runs and none does."""
        return self._known_sum([row.stats.compactions for row in self.rows])

    @property
    def malformed_args(self) -> int | None:
        """The sum over the runs that kept arguments; None when there are runs and none did."""
        return self._known_sum([row.stats.malformed_args for row in self.rows])

    @property
    def stop_causes(self) -> dict[str | None, int]:
        """How runs ended, the most frequent first; None is unrecorded."""
        counts = Counter(row.stats.stop_cause for row in self.rows)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0] or "")))

    def metric_cost(self, metric: Metric) -> Cost:
        """Say what there is of one metric to reduce."""
        values = [value for row in self.rows if (value := metric.of(row.stats)) is not None]
        return Cost(
            metric=metric,
            mean=Fraction(sum(values)) / len(values) if values else None,
            some=sum(value > 0 for value in values),
            defined=len(values),
        )

    def by_model(self) -> dict[str | None, "Corpus"]:
        """Split by model, most runs first, then by name; each part keeps the scan's counts."""
        parts: dict[str | None, list[Row]] = {}
        for row in self.rows:
            parts.setdefault(row.model, []).append(row)
        ranked = sorted(parts.items(), key=lambda part: (-len(part[1]), part[0] is None, part[0] or ""))
        return {model: msgspec.structs.replace(self, rows=tuple(rows)) for model, rows in ranked}

    def main_model(self) -> str | None:
        """Return the known model with the most runs, None when no run names one."""
        return next((model for model in self.by_model() if model is not None), None)

    def _runs_with(self, metric: Metric) -> Rate:
        cost = self.metric_cost(metric)
        return Rate(cost.some, cost.defined)

    def _known_sum(self, counts: list[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known or not counts else None


def row(run: Run, *, label: str | None = None, stats: Stats | None = None) -> Row:
    """Reduce a manifest; `stats` are better counts of the same run, where there are some."""
    recorded = run.recording
    surfaces = [cited.digest for cited in run.surfaces] if isinstance(run.surfaces, tuple) else []
    return Row(
        run=run.id,
        agent=run.agent,
        stats=stats or recorded.stats,
        recording=recorded.digest,
        model=recorded.models[-1] if recorded.models else None,
        project=recorded.project,
        label=label,
        started=recorded.started,
        surfaces=tuple(dict.fromkeys(surfaces)),
        state=_state(run.state),
        is_copy=recorded.copied > 0 and not recorded.stats.steps and not recorded.stats.turns,
        redacted=recorded.redacted,
        unreadable=recorded.unreadable,
    )


def _state(state: dict[str, Any] | None) -> str | None:
    """Return the digest of the harness state; two machines that disagree leave it unknown."""
    digest = (state or {}).get("state")
    return digest if isinstance(digest, str) else None


def gather(
    rows: Iterable[Row], selection: Selection | None = None, *, limit: int = LIMIT, unreadable: int = 0
) -> Corpus:
    """Select rows, newest first and each recording once, and count what was left out.

    A run that does not say when it started counts as the oldest: it cannot be called new.
    """
    every = sorted(rows, key=lambda row: (row.started or "", row.run))
    wanted = selection or Selection()
    reasons: Counter[str] = Counter()
    kept: list[Row] = []
    seen: set[str] = set()
    for row in every:
        reason = COPIED if row.is_copy or not seen.isdisjoint(_names(row)) else _why_not(row, wanted)
        seen.update(_names(row))
        if reason is None:
            kept.append(row)
        else:
            reasons[reason] += 1
    newest = tuple(kept[::-1][:limit])
    reasons[OVER_LIMIT] = len(kept) - len(newest)
    excluded = {reason: count for reason, count in sorted(reasons.items()) if count}
    return Corpus(rows=newest, sessions_read=len(every), unreadable=unreadable, excluded=excluded)


def _names(row: Row) -> list[str]:
    """List what a second row of the same session would share with this one."""
    return [name for name in (row.run, row.recording) if name]


def _why_not(row: Row, wanted: Selection) -> str | None:
    """Name the one field that a row fails, or `several`; None when it passes."""
    failed = [
        field
        for field, passes in (
            ("model", wanted.model in (None, row.model, row.model and names.model(row.model))),
            ("agent", wanted.agent in (None, row.agent)),
            ("label", wanted.label in (None, row.label)),
            ("project", wanted.project is None or _is_inside(row.project, wanted.project)),
            ("since", wanted.since is None or (row.started is not None and row.started >= wanted.since)),
            ("surface", wanted.surface is None or any(d.startswith(wanted.surface) for d in row.surfaces)),
            ("state", wanted.state is None or (row.state is not None and row.state.startswith(wanted.state))),
        )
        if not passes
    ]
    return None if not failed else failed[0] if len(failed) == 1 else SEVERAL


def _is_inside(project: str | None, folder: str) -> bool:
    if project is None:
        return False
    folder = folder.rstrip("/\\")
    # A client on another system writes the other separator.
    return project == folder or project.startswith((f"{folder}/", f"{folder}\\"))
