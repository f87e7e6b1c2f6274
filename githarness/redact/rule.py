"""What a rule is: names, literals one of which must be there, patterns, and a judge.

The literals are the price of the whole table: a text without any of them is not
looked at again. Where the literals are too common to sort anything out (`key`,
`://`), a rule brings `coarse` patterns over lower-cased raw bytes, which must
find at least everything that its patterns find, at any depth of escaping.

What this does not do: a rule never reads JSON; it sees one text.
"""

import re
from collections.abc import Callable, Iterable

import msgspec

# Start, end, and the name; an empty name is the rule's first.
Found = tuple[int, int, str]

MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}:[0-9]{1,9}\]")


def secret_group(match: re.Match[str], _text: str) -> Iterable[Found]:
    """Give the last group that matched, or all of the match where there is no group."""
    yield *match.span(match.lastindex or 0), ""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of secret; a marker shows one of `names`.

    The patterns of a `folded` rule see lower-cased text of the same length; its
    judge sees the text as it is.
    """

    names: tuple[str, ...]
    literals: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    judge: Callable[[re.Match[str], str], Iterable[Found]] = secret_group
    folded: bool = False
    coarse: tuple[bytes, ...] = ()

    def find(self, text: str, lowered: str) -> Iterable[Found]:
        """Find this rule's secrets in `text`."""
        where = lowered if self.folded else text
        for literal in self.literals:
            if literal in where:
                break
        else:
            return  # as a loop, since this line is most of the cost of a short text
        for pattern in self.patterns:
            covered = 0
            for match in pattern.finditer(where):
                # What a secret of this pattern covers is not judged again: a value may hold a thousand names.
                for start, end, name in self.judge(match, text) if match.start() >= covered else ():
                    yield start, end, name or self.names[0]
                    covered = end
