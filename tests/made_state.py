"""Builders for states, interventions and documents of proposing."""

from pathlib import Path

from githarness.measure.interventions import Intervention, Layer, Trigger
from githarness.measure.metrics import Metric
from githarness.propose import mutation
from githarness.propose.mutation import Draft
from githarness.propose.patch import make
from githarness.propose.state import State

DEFAULT = (Path(__file__).parent.parent / "githarness/data/harness.toml").read_text()
COMMIT = "c0" * 20

# Small, so that its digest can be computed by hand: printf '…' | sha256sum
TINY = 'version = 1\n\n[knob.speed]\ntype = "integer"\nminimum = 0\nmaximum = 9\n'


def state(**parts):
    """A state of the default declaration."""
    return State(**{"harness": DEFAULT, **parts})


def declared(kind, **fields):
    """The text of a declaration with one knob called `it`."""
    lines = "".join(f"{name} = {value}\n" for name, value in fields.items())
    return f'version = 1\n[knob.it]\ntype = "{kind}"\n{lines}'


def saw(trigger, target="run_command", evidence=2, layer=Layer.TRAJECTORY_REGULATION):
    """One intervention, of the layer that a bump comes from unless said otherwise."""
    if trigger is Trigger.REJECTED:
        layer = Layer.ENVIRONMENT_CONTRACT
    return Intervention(layer=layer, trigger=trigger, target=target, evidence=evidence)


def draft(patch=None, **fields):
    """A draft of a plain numeric change."""
    base = {"metric": Metric.CUT_SHORT, "rationale": "runs end at the ceiling", "source": "hand"}
    return Draft(**{"patch": patch or make(set={"max_turns": 40}), **base, **fields})


def document(patch=None, of=None, **fields):
    """A document of such a draft."""
    return mutation.build(draft(patch, **fields), of or state(), commit=COMMIT)
