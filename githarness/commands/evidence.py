"""evidence: the counters-only brief for one model's runs.

What it closes: a diagnosis made from excerpts can be dictated by what a tool
returned. The decision: numbers, findings and the history of proposals, of types that
have no place for a word of a transcript. What it does not do: it proposes nothing.
"""

from typing import Any

import msgspec

from githarness.commands import gather
from githarness.errors import OK
from githarness.measure import doctor, evidence, interventions
from githarness.measure.corpus import Corpus
from githarness.measure.interventions import Intervention
from githarness.store.derived import Derived
from githarness.store.objects import Store


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence, and the brief that is its text."""

    evidence: evidence.Evidence
    interventions: tuple[Intervention, ...]
    models: tuple[str | None, ...]
    excluded: dict[str, int]
    unreadable: int

    @property
    def exit_code(self) -> int:
        """Always 0: little evidence is an answer."""
        return OK

    def document(self) -> dict[str, Any]:
        """Return the JSON answer: the keys of the evidence, and what was left out."""
        found = [interventions.document(one) for one in self.interventions]
        more = {
            "interventions": found,
            "models": list(self.models),
            "excluded": self.excluded,
            "unreadable": self.unreadable,
        }
        return evidence.document(self.evidence) | more


def run(store: Store, corpus: Corpus, model: str | None, derived: Derived, now: int) -> Result:
    """Summarise one model of a gathered corpus: the named one, else the one with most runs."""
    by_model = corpus.by_model()
    chosen = model if model is not None else corpus.main_model()
    found = doctor.examine(corpus, now=now)
    return Result(
        evidence=evidence.of(chosen, corpus, findings=found),
        interventions=interventions.diagnose(gather.signs(store, by_model.get(chosen), derived)),
        models=tuple(by_model),
        excluded=corpus.excluded,
        unreadable=corpus.unreadable,
    )
