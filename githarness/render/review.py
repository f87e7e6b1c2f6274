"""The review: exactly what a person reads before signing, without width or colour.

The gap this closes: a person signs what a screen showed, and a screen wraps, scrolls
and obeys escape sequences. The decision: one text that is the same on every terminal
and in every pull request; its SHA-256 is what gets signed. Everything a model or a
transcript may have written is escaped and set off by a bar. What this does not do:
standing and judgement are no part of it, since they change while the text must not.
"""

import re
from collections.abc import Iterator
from difflib import unified_diff
from unicodedata import east_asian_width

from githarness.govern.policy import Policy
from githarness.propose import derivation, mutation, overlay, state
from githarness.propose.mutation import Mutation
from githarness.propose.state import State
from githarness.render import escape

_BAR = "    | "
_TRAILING = re.compile(r"[ \t]+$")
# More rows than any terminal has.
MANY = 1 << 31


def text(document: Mutation, proposal: str, of: State, policy: Policy | None) -> str:
    """Render a proposal on the state it would change; `proposal` is its commit."""
    component = document.contract.component
    head = [
        "githarness review, version 1",
        f"change      {mutation.fingerprint(document)}",
        f"document    {mutation.digest(document)}",
        f"proposal    {proposal}",
        f"component   {component}, class {document.change_class}",
        f"proposed by {document.proposer or 'nobody that the policy knows'}, from {document.source}",
    ]
    # what it says of itself was written by whoever pushed it
    notes = (*document.rederived, *(f"the document {lie}" for lie in mutation.disagreements(document, of)))
    head += [f"note        {escape.line(note)}" for note in notes]
    sections = (
        ("What changes", _changes(document, of)),
        ("Why", _quoted(document.rationale or "no reason was given")),
        ("Evidence", _evidence(document)),
        ("What would prove it wrong", _contract(document)),
        ("Who may decide", _deciders(document, of, policy)),
        ("How to undo it", [f"    githarness rollback {mutation.fingerprint(document)[:12]}"]),
    )
    body = [line for title, lines in sections for line in ("", title, *lines)]
    return "\n".join([*head, *body, ""])


def _changes(document: Mutation, of: State) -> Iterator[str]:
    """Show each key before and after, in full, with every invisible character spelled out."""
    change = document.patch
    for name in (*change.set, *change.unset):
        before, default = of.knobs.get(name), state.effective(of, name)
        unset = "unset (no default)" if default is None else f"unset (default {default!r})"
        was = f"{before!r}" if name in of.knobs else unset
        now = f"{change.set[name]!r}" if name in change.set else "unset"
        yield f"  knob {name}"
        yield f"    before  {escape.line(was)}"
        yield f"    after   {escape.line(now)}"
    for words in change.add_guidance:
        yield "  guidance is added"
        yield from _quoted(words)
    for one in change.drop_guidance:
        yield f"  guidance {one[:12]} is dropped"
        yield from _quoted(of.texts.get(one, "(not in force)"))
    yield from _tools(document, of)
    if change.declare is not None:
        yield "  harness.toml becomes"
        yield from _difference(of.harness, change.declare)
    if change.design is not None:
        yield "  a design, which changes nothing by itself"
        yield from _quoted(change.design)
    yield from (f"  warning: {escape.line(one)}" for one in _warnings(document))


def _tools(document: Mutation, of: State) -> Iterator[str]:
    change = document.patch
    for name in (*change.describe, *change.undescribe):
        yield f"  description of tool {escape.line(name)}"
        yield "    before"
        yield from _quoted(of.tools.get(name, "(as the server gives it)"))
        yield "    after"
        yield from _quoted(change.describe.get(name, "(as the server gives it)"))


def _difference(before: str, after: str) -> Iterator[str]:
    for line in unified_diff(_lines(before), _lines(after), "before", "after", lineterm="", n=2):
        yield f"{_BAR}{escape.line(line)}"


def _lines(text: str) -> list[str]:
    """Part a text into lines in which white space at the end, and a missing line feed, can be seen."""
    lines = [_TRAILING.sub(lambda found: "\N{MIDDLE DOT}" * len(found[0]), line) for line in text.split("\n")]
    last = lines.pop()
    return [*lines, *([f"{last} (and no line feed)"] if last else [])]


def _warnings(document: Mutation) -> Iterator[str]:
    """Name what a reader could take for something else: an open code block, a word in two alphabets."""
    for one in document.patch.add_guidance:
        if overlay.is_open(one):
            yield "this guidance leaves a code block open, and what follows it is read as part of that"
    words = [*document.patch.add_guidance, *document.patch.describe.values(), *document.patch.describe]
    for word in dict.fromkeys(word for one in words for word in one.split()):
        scripts = escape.scripts(word)
        if len(scripts) > 1:
            points = " ".join(f"U+{ord(char):04X}" for char in word if ord(char) > 0x7F)
            yield f"one word mixes {' and '.join(scripts)}: {word} ({points})"


def _quoted(words: str) -> list[str]:
    return [f"{_BAR}{line}" for line in escape.block(words).split("\n")]


def _evidence(document: Mutation) -> Iterator[str]:
    cited = document.evidence
    yield f"    corpus  {cited.corpus or 'none: nothing was counted'}"
    for name, count in sorted(cited.counters.items()):
        yield f"    {escape.line(name)}  {'unknown' if count is None else count}"


def _contract(document: Mutation) -> Iterator[str]:
    contract = document.contract
    better, of = contract.win_share
    yield f"    metric  {contract.metric}, a cost that must fall; better in {better} of {of} changed tasks"
    for title, words in (
        ("failure", contract.target_failure),
        ("promise", contract.predicted_improvement),
        ("test", contract.falsifying_evaluation),
    ):
        yield f"    {title}"
        yield from _quoted(words)
    yield from (f"    stays   {escape.line(one)}" for one in contract.invariants)


def _deciders(document: Mutation, of: State, policy: Policy | None) -> Iterator[str]:
    reasons = derivation.reasons(document.patch, of.declaration)
    for reason in reasons:
        yield f"    a person must agree: {escape.line(reason)}"
    if document.raised:
        yield "    a person must agree: its label asks for one"
    if not reasons and not document.raised:
        yield "    bounded numbers only; it may land unasked where the policy lists its component"
    if policy is None:
        yield "    there is no policy yet, so nobody may decide"
        return
    rule = policy.rule(document.contract.component)
    if rule is None:
        yield f"    nobody may approve {document.contract.component}"
        return
    own = "may" if rule.self_approval else "may not"
    yield f"    policy version {policy.version}: {rule.threshold} of {', '.join(rule.approvers)}"
    yield f"    a proposer {own} approve their own"
    if not document.proposer:
        yield "    no proposer is known, so nobody is excluded; only a threshold of 2 is certain"


def rows(text: str, columns: int) -> int:
    """Count the rows that a text takes on a terminal; without a width nobody can say, so too many."""
    if columns < 1:
        return MANY
    widths = (sum(2 if east_asian_width(char) in "WF" else 1 for char in line) for line in text.split("\n"))
    return sum(max(1, -(-width // columns)) for width in widths)


def markdown(review: str, digest: str, standing: str) -> str:
    """Wrap a review for a pull request: exactly its text in one fence, standing outside."""
    fence = "```"
    while fence in review:
        fence += "`"
    block = f"{fence}text\n{review}{fence}"
    return f"**githarness review** `{digest}`\n\n{block}\n\nStanding: {escape.line(standing)}"
