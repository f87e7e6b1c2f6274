"""Findings: what looks wrong in a corpus and in a store, each with a way out.

The gap this closes: a rate nobody watches, a recorder that stopped a week ago and a
surface nobody captured are silent until they are needed. The decision: a closed
list of rules with high thresholds and floors, since a health check that cries wolf
stops being read. A finding is a rule, two numbers and at most one name that was
made fit to be shown; its sentence is put together from those, so no text of a
transcript can be in it. Unknown is never a finding.

What it does not do: it writes nothing, runs no remedy and reads no clock (`now` is
told). It judges a harness by its counts alone, so a finding is a place to look.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

import msgspec

from githarness.measure import names
from githarness.measure.corpus import Corpus, Rate, Row
from githarness.measure.findings import Finding
from githarness.measure.metrics import is_cut_short
from githarness.model.session import API_ERROR, COMPLETED

DAY = 86_400

# Under twenty runs or calls, one bad afternoon is a fifth of everything.
MIN_RUNS = 20
MIN_CALLS = 20

# A run that ends on "no such file" may well have been asked to find that out, so
# ending on a failed call is common; a fifth of all runs is not.
ENDED_SHARE = Fraction(1, 5)
# Agents try things, and failing one call in ten is ordinary work.
ERROR_SHARE = Fraction(1, 4)
# Some tasks are too large for any limit. Not every fourth.
CUT_SHARE = Fraction(1, 4)

# Labelled runs repeat one piece of work, so that five say something: together they
# must have made ten calls, and a third of those must have failed.
WINDOW = 5
WINDOW_CALLS = 10
WINDOW_SHARE = Fraction(1, 3)

# Without its surface a run can never be replayed faithfully. Half is where asking
# about a run is more likely to end in "unknown" than in an answer.
COVERAGE_SHARE = Fraction(1, 2)
# A few runs on an older surface are how every update looks. Below four fifths on the
# main one, numbers about the whole mix two harnesses.
MAIN_SURFACE_SHARE = Fraction(4, 5)

# The longest common break without a run is a long weekend, four days.
SILENT_DAYS = 7
# Whoever works on two days in a row would have picked it up.
WAITING_DAYS = 2
# A proposal waits for a person, who gets one more day.
PENDING_DAYS = 3
# Hosts advise to keep a repository under a gigabyte.
LARGE_BYTES = 1 << 30
# A client that is killed leaves one torn line. Two are something else.
UNPARSED_LINES = 2


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller found out about the store; None is "not looked at", never zero.

    Times are in seconds since 1970. `recorded_runs` counts all runs ever recorded,
    `problems` what `status` lists, `unexplained` what `verify` lists.
    """

    recorded_runs: int | None = None
    last_recorded: int | None = None
    waiting: int | None = None
    oldest_waiting: int | None = None
    pending: int | None = None
    oldest_pending: int | None = None
    problems: int | None = None
    unexplained: int | None = None
    bytes: int | None = None


def examine(corpus: Corpus, facts: Facts | None = None, *, now: int) -> tuple[Finding, ...]:
    """Apply every rule; what is broken comes first, then by component, rule and name."""
    found = [*runs(corpus), *labels(corpus), *surfaces(corpus), *recording(corpus)]
    if corpus.unreadable:
        found.append(Finding(rule="unreadable", count=corpus.unreadable))
    found += store(facts or Facts(), now=now)
    return tuple(sorted(found, key=lambda one: one.rank))


def remedies(findings: Iterable[Finding]) -> tuple[tuple[str, ...], ...]:
    """List the commands that the findings offer, each once, in order."""
    return tuple(dict.fromkeys(one.remedy for one in findings if one.remedy is not None))


def runs(corpus: Corpus) -> Iterator[Finding]:
    """Apply the rules about run quality, per model: a rate over two models is of neither."""
    for model, part in corpus.by_model().items():
        shown = None if model is None else names.model(model)
        rules = (
            ("ended_on_failed_call", part.ended_on_failed_call, ENDED_SHARE, MIN_RUNS),
            ("tool_error_rate", part.tool_error_rate, ERROR_SHARE, MIN_CALLS),
            ("cut_short", part.cut_short, CUT_SHARE, MIN_RUNS),
        )
        for rule, rate, share, least in rules:
            if part.runs >= MIN_RUNS and rate.of >= least and _reaches(rate, share):
                yield Finding(rule=rule, count=rate.count, of=rate.of, subject=shown)


def _reaches(rate: Rate, share: Fraction) -> bool:
    return rate.value is not None and rate.value >= share


def labels(corpus: Corpus) -> Iterator[Finding]:
    """Apply the rules about runs of one label, to its newest few."""
    for label, newest in sorted(_newest(corpus).items()):
        shown, latest, earlier = names.tool(label), newest[0].stats, newest[1:]
        window = Corpus(rows=tuple(newest))
        rate = window.tool_error_rate
        if rate.of >= WINDOW_CALLS and _reaches(rate, WINDOW_SHARE):
            yield Finding(rule="label_errors", count=rate.count, of=rate.of, subject=shown)
        before = sum(row.stats.tool_calls for row in earlier)
        if latest.stop_cause == COMPLETED and not latest.tool_calls and before >= WINDOW_CALLS:
            yield Finding(rule="label_idle", count=before, of=len(earlier), subject=shown)
        if is_cut_short(latest.stop_cause) or latest.stop_cause == API_ERROR:
            yield Finding(rule="label_failed", count=1, subject=shown)


def _newest(corpus: Corpus) -> dict[str, list[Row]]:
    windows: dict[str, list[Row]] = {}
    for row in corpus.rows:
        if row.label is not None and len(windows.setdefault(row.label, [])) < WINDOW:
            windows[row.label].append(row)
    return windows


def surfaces(corpus: Corpus) -> Iterator[Finding]:
    """Apply the rules about what runs were sent: how many know it, and whether it was one thing."""
    known = Rate(sum(bool(row.surfaces) for row in corpus.rows), corpus.runs)
    if known.of >= MIN_RUNS and not _reaches(known, COVERAGE_SHARE):
        yield Finding(rule="coverage", count=known.count, of=known.of)
    for (agent, model, label), cited in sorted(_cited(corpus).items()):
        main = Rate(max(map(cited.count, set(cited))), len(cited))
        if main.of >= MIN_RUNS and not _reaches(main, MAIN_SURFACE_SHARE):
            subject = names.model("/".join(names.model(name) for name in (agent, model, label) if name))
            yield Finding(rule="mixed_surfaces", count=len(set(cited)), of=len(cited), subject=subject)


def _cited(corpus: Corpus) -> dict[tuple[str, str, str], list[str]]:
    """Group the surfaces of runs that should have had the same. Unknown models are no group."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in corpus.rows:
        if row.model is not None and row.surface is not None:
            groups.setdefault((row.agent, row.model, row.label or ""), []).append(row.surface)
    return groups


def recording(corpus: Corpus) -> Iterator[Finding]:
    """Apply the rules about what was kept: secrets that may lie in it, and lines nobody can read."""
    bare = sum(not row.redacted for row in corpus.rows)
    if bare:
        yield Finding(rule="unredacted", count=bare, of=corpus.runs)
    torn = sum(row.unreadable >= UNPARSED_LINES for row in corpus.rows)
    if torn:
        yield Finding(rule="unparsed", count=torn, of=corpus.runs)


def store(facts: Facts, *, now: int) -> Iterator[Finding]:
    """Apply the rules about the store itself."""
    for rule, count in (("problems", facts.problems), ("unexplained", facts.unexplained)):
        if count:
            yield Finding(rule=rule, count=count)
    silent = _days(facts.last_recorded, now) or 0
    if silent >= SILENT_DAYS and _has_recorder(facts):
        yield Finding(rule="silent", count=silent)
    for rule, count, oldest, days in (
        ("waiting", facts.waiting, facts.oldest_waiting, WAITING_DAYS),
        ("pending", facts.pending, facts.oldest_pending, PENDING_DAYS),
    ):
        if count and (_days(oldest, now) or 0) >= days:
            yield Finding(rule=rule, count=count)
    if facts.bytes is not None and facts.bytes >= LARGE_BYTES:
        yield Finding(rule="large", count=facts.bytes >> 20)


def _has_recorder(facts: Facts) -> bool:
    """Tell whether there is a recorder that could have stopped: whoever tried it once has none."""
    return (facts.recorded_runs or 0) >= MIN_RUNS


def _days(since: int | None, now: int) -> int | None:
    return None if since is None else max(0, now - since) // DAY
