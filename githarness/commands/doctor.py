"""doctor: what looks wrong in the runs and in the store, each with a command that helps.

What it closes: a rate nobody watches and a recorder that stopped are silent. The
decision: a closed list of rules with high floors; unknown is never a finding. What it
does not do: it writes nothing and runs no remedy.
"""

from typing import Any

import msgspec

from githarness.errors import NO, OK
from githarness.measure import doctor, findings
from githarness.measure.corpus import Corpus
from githarness.measure.doctor import Facts
from githarness.measure.findings import Finding
from githarness.store import check
from githarness.store.objects import Store


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The findings, worst first, and how many runs were looked at."""

    findings: tuple[Finding, ...]
    runs: int
    excluded: dict[str, int]
    remedies: tuple[tuple[str, ...], ...]

    @property
    def exit_code(self) -> int:
        """0 without findings, 1 with some."""
        return NO if self.findings else OK

    def document(self) -> dict[str, Any]:
        """Return the JSON answer."""
        return {
            "runs": self.runs,
            "matched": self.runs > 0,
            "excluded": self.excluded,
            "findings": [findings.document(one) for one in self.findings],
            "remedies": [list(one) for one in self.remedies],
        }


def run(store: Store, corpus: Corpus, now: int) -> Result:
    """Examine a gathered corpus and its store."""
    facts = Facts(
        recorded_runs=corpus.sessions_read,
        last_recorded=store.last_commit_time(),
        problems=sum(1 for _ in check.fsck(store, now=now)),
        bytes=sum(path.stat().st_size for path in store.path.rglob("*") if path.is_file()),
    )
    found = doctor.examine(corpus, facts, now=now)
    return Result(findings=found, runs=corpus.runs, excluded=corpus.excluded, remedies=doctor.remedies(found))
