"""A finding: one rule that fired, with the numbers and the name that made it fire.

The gap this closes: a health check writes sentences, and whoever reads the evidence
reads them too, so a sentence is a way in for whatever a transcript says. The
decision: what is kept is a rule out of a closed table, two counts and one name that
was made fit to be shown. The sentence is made from those when it is read.

What it does not do: it holds no threshold (`doctor`), and no remedy is ever run.
"""

import msgspec

from githarness.measure import names

BROKEN = "broken"  # an answer is wrong or missing because of this
ATTENTION = "attention"  # somebody should look

RUNS = "runs"
LABELS = "labels"
SURFACES = "surfaces"
RECORDING = "recording"
REDACTION = "redaction"
STORE = "store"
HARNESS = "harness"

# What a diagnostician is told of: the rest says how well the recorder works.
DIAGNOSED = frozenset({RUNS, LABELS})


class Rule(msgspec.Struct, frozen=True):
    """What a rule says and offers. A sentence may hold {subject}, {count}, {of} and {share}."""

    component: str
    severity: str
    sentence: str
    remedy: tuple[str, ...] | None = None


_EVIDENCE = ("githarness", "propose", "--from-evidence")
_STATUS = ("githarness", "status", "--full")

RULES: dict[str, Rule] = {
    "ended_on_failed_call": Rule(
        RUNS, ATTENTION, "{subject}: {count} of {of} runs ({share}) finished on a failed call", _EVIDENCE
    ),
    "tool_error_rate": Rule(RUNS, ATTENTION, "{subject}: {count} of {of} calls ({share}) failed", _EVIDENCE),
    "cut_short": Rule(RUNS, ATTENTION, "{subject}: {count} of {of} runs ({share}) were cut short", _EVIDENCE),
    "label_errors": Rule(
        LABELS, ATTENTION, "{subject}: {count} of the {of} calls ({share}) of its last runs failed", _EVIDENCE
    ),
    "label_idle": Rule(
        LABELS, ATTENTION, "{subject}: the newest run made no call, the {of} before it made {count}"
    ),
    "label_failed": Rule(LABELS, ATTENTION, "{subject}: the newest run did not get to its end"),
    "coverage": Rule(
        SURFACES,
        ATTENTION,
        "{count} of {of} runs ({share}) have a known surface",
        ("githarness", "record", "--surface", "FILE", "SESSION"),
    ),
    "mixed_surfaces": Rule(
        SURFACES,
        ATTENTION,
        "{subject}: {of} runs were under {count} surfaces, so their numbers are of no one harness",
        ("githarness", "log", "--surfaces"),
    ),
    "unredacted": Rule(REDACTION, ATTENTION, "{count} of {of} runs ({share}) were recorded unredacted"),
    "unparsed": Rule(
        RECORDING, ATTENTION, "{count} of {of} runs ({share}) hold several lines that are no JSON"
    ),
    "unreadable": Rule(STORE, BROKEN, "manifests or recordings that could not be read: {count}", _STATUS),
    "problems": Rule(STORE, BROKEN, "problems in the store: {count}", _STATUS),
    "silent": Rule(
        STORE, ATTENTION, "days since anything was recorded: {count}", ("githarness", "record", "--help")
    ),
    "waiting": Rule(STORE, ATTENTION, "recordings that have waited for days: {count}", _STATUS[:2]),
    "large": Rule(STORE, ATTENTION, "size of the store in MiB: {count}"),
    "unexplained": Rule(
        HARNESS, BROKEN, "steps of main that no decision explains: {count}", ("githarness", "verify")
    ),
    "pending": Rule(HARNESS, ATTENTION, "proposals that have waited for a person for days: {count}"),
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that fired. `subject` is a name as `names` shows it, None where there is none.

    Raises ValueError for a rule that does not exist and a subject that is not fit to
    be shown: there is no other way to get a word in.
    """

    rule: str
    count: int
    of: int | None = None
    subject: str | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError("no such rule")
        if self.subject is not None and names.model(self.subject) != self.subject:
            raise ValueError("a subject is a name made fit to be shown")

    @property
    def component(self) -> str:
        """The part that the finding is about."""
        return RULES[self.rule].component

    @property
    def severity(self) -> str:
        """`broken` or `attention`."""
        return RULES[self.rule].severity

    @property
    def remedy(self) -> tuple[str, ...] | None:
        """A command of ours that helps, or at least shows more; None where there is none.

        What is proposed is for one model or label, so the runs of none are no ground for it.
        """
        found = RULES[self.rule].remedy
        if found != _EVIDENCE:
            return found
        option = "--label" if self.component == LABELS else "--model"
        return None if self.subject is None else (*found, option, self.subject)

    @property
    def summary(self) -> str:
        """The finding as one line."""
        share = percent(self.count, self.of)
        sentence = RULES[self.rule].sentence
        return sentence.format(subject=self.subject or "unknown", count=self.count, of=self.of, share=share)

    @property
    def rank(self) -> tuple[bool, str, str, str]:
        """Where the finding stands among others."""
        return (self.severity != BROKEN, self.component, self.rule, self.subject or "")


def percent(count: int, of: int | None) -> str:
    """Show a share with one decimal; without a denominator it is unknown, never 0."""
    if not of:
        return "unknown (no denominator)"
    # Integers throughout: two machines must not round one brief in two ways.
    tenths = (count * 2000 + of) // (2 * of)
    return f"{tenths // 10}.{tenths % 10}%"


def document(finding: Finding) -> dict[str, object]:
    """Return a finding as plain JSON, its sentence included."""
    return {
        "component": finding.component,
        "severity": finding.severity,
        "rule": finding.rule,
        "subject": finding.subject,
        "summary": finding.summary,
        "count": finding.count,
        "of": finding.of,
        "remedy": None if finding.remedy is None else list(finding.remedy),
    }
