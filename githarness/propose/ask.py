"""The question: what a diagnostician is told before it proposes.

The gap this closes: models that are asked for a change without being shown what can
be changed invent settings. The decision: the brief, the declared knobs with bounds
and values in force, and the form of the answer, in that order, with the reasoning
asked for before the block (an answer that comes first is not reasoned about).

What it does not do: it holds no transcript, and what it says is no guard; `reply`
reads what comes back as if none of it had been obeyed.
"""

from collections.abc import Iterator

from githarness.measure.metrics import Metric
from githarness.propose.derivation import CLASSES
from githarness.propose.reply import HEADING
from githarness.propose.state import State, effective

_ROLE = """\
You look for what is wrong with a harness, the program around an AI agent, in counts
of its own runs. Name one change and say which cost it will lower. You apply nothing:
a measurement that you do not run decides, and being wrong costs one such measurement,
so be specific. If documentation gives a reason for what you want to change, that
reason counts as evidence against the change. Use your own words throughout: a reply
that repeats eight words in a row of anything you read is thrown away.
"""

_FORM = f"""\
First write, in prose, what is most likely wrong. Then write one block of this form,
with the first word alone on its line:

{HEADING}
class: {" | ".join(CLASSES)}
change: (one line; for config KEY=VALUE)
metric: {" | ".join(Metric)}
rationale: (one line: what is wrong, and why this changes it)

The metric is the cost that must fall if you are right. If no single change follows
from the counts, say that in prose and write no block.
"""


def question(brief: str, of: State) -> str:
    """Put the whole question together; the same evidence and state give the same bytes."""
    knobs = "".join(f"- {line}\n" for line in _knobs(of))
    return f"{_ROLE}\n{brief}\nSettings that exist (there are no others):\n{knobs or '- none'}\n{_FORM}"


def _knobs(of: State) -> Iterator[str]:
    for name, knob in of.declaration.knob.items():
        value = effective(of, name)
        # A person declared these words, and the declaration was decided on.
        described = f" ({knob.describe})" if knob.describe else ""
        yield f"{name}{described}: {knob.wanted}; now {'unset' if value is None else value}"
