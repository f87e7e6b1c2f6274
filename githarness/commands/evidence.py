"""evidence: the counters-only brief for one model's runs.

What it closes: a diagnosis made from excerpts can be dictated by what a tool
returned. The decision: numbers, findings and the history of proposals, of types that
have no place for a word of a transcript. What it does not do: it proposes nothing.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from githarness.commands import gather
from githarness.errors import OK
from githarness.measure import doctor, evidence, interventions, names
from githarness.measure.corpus import Corpus
from githarness.measure.interventions import Intervention
from githarness.store.derived import Derived
from githarness.store.objects import Store


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence, and the brief that is its text. `models` are names made fit to be shown."""

    evidence: evidence.Evidence
    interventions: tuple[Intervention, ...]
    models: tuple[str | None, ...]
    excluded: dict[str, int]
    unreadable: int

    @property
    def matched(self) -> bool:
        """Whether there is any run that the brief is about."""
        return self.evidence.runs > 0

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
            "matched": self.matched,
        }
        return evidence.document(self.evidence) | more


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly what a model is given, as one text."""

    question: str

    @property
    def exit_code(self) -> int:
        """Always 0."""
        return OK


def run(store: Store, corpus: Corpus, model: str | None, derived: Derived, now: int) -> Result:
    """Summarise one model of a gathered corpus: the named one, else the one with most runs."""
    by_model = corpus.by_model()
    chosen = _chosen(by_model, model) if model is not None else corpus.main_model()
    found = doctor.examine(corpus, now=now)
    return Result(
        evidence=evidence.of(chosen, corpus, findings=found),
        interventions=interventions.diagnose(gather.signs(store, by_model.get(chosen), derived)),
        models=tuple(None if name is None else names.model(name) for name in by_model),
        excluded=corpus.excluded,
        unreadable=corpus.unreadable,
    )


def _chosen(by_model: Iterable[str | None], model: str) -> str:
    """Return the model that a person named, also by the digest that stands for its name."""
    shown = (name for name in by_model if name is not None and names.model(name) == model)
    return next(shown, model)
