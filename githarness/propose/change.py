"""Changes by hand: what a person writes on a command line, as a patch.

The gap this closes: a setting that is spelled one way where it is measured and
another where it is applied is two settings. The decision: every way into a patch
reads values by their knob's type and texts by one set of rules, and says in words
what was wanted.

What it does not do: it ties nothing to a state but what must be looked up there.
"""

from collections.abc import Iterable

from githarness.errors import UsageError
from githarness.propose import knobs, overlay, patch, text
from githarness.propose.knobs import Declaration
from githarness.propose.patch import Patch
from githarness.propose.state import State


def setting(assignments: Iterable[str], declaration: Declaration) -> Patch:
    """Set knobs, each written KEY=VALUE; MissingError for a knob that is not declared."""
    values = {}
    for written in assignments:
        pair = knobs.assignment(written)
        if pair is None:
            raise UsageError(f"{written[:80]!r} is not of the form KEY=VALUE", hint="--set max_turns=40")
        if pair[0] in values:
            raise UsageError(f"{pair[0]} is set twice", hint="set each knob once")
        values[pair[0]] = declaration.read(*pair)
    return patch.make(set=values)


def unsetting(names: Iterable[str]) -> Patch:
    """Unset knobs, so that their defaults hold again."""
    return patch.make(unset=tuple(names))


def guidance(words: str) -> Patch:
    """Add one entry to the overlay; white space around it is not part of it."""
    return patch.make(add_guidance=(text.check(words.strip(), "the guidance", text.GUIDANCE_LIMIT),))


def drop(prefix: str, of: State) -> Patch:
    """Drop the guidance whose id begins with `prefix`."""
    return patch.make(drop_guidance=(overlay.resolve(prefix, of.overlay),))


def describe(tool: str, words: str) -> Patch:
    """Replace the description of a tool; an empty one is a description too."""
    text.check(tool, "the tool's name", text.NAME_LIMIT, lines=False)
    return patch.make(describe={tool: text.check(words, "the description", text.DESCRIPTION_LIMIT)})


def undescribe(tool: str) -> Patch:
    """Give a tool its own description back."""
    return patch.make(undescribe=(tool,))


def declare(source: str) -> Patch:
    """Replace harness.toml; UnreadableError when it declares nothing legal."""
    knobs.parse(text.check(source, "harness.toml", knobs.DECLARATION_LIMIT))
    return patch.make(declare=source)


def design(words: str) -> Patch:
    """Keep what only a person can turn into a change."""
    return patch.make(design=text.check(words.strip(), "the design", text.GUIDANCE_LIMIT))
