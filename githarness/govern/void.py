"""Void: why something in the ledger does not count.

The gap this closes: whoever can push can put anything under the names of the ledger,
and a reader that stops at the first strange object lets a stranger stop everybody.
The decision: what fails a rule is void, with the rule's name, and reading goes on.

What it does not do: it judges nothing. A void entry that somebody linked to, or that
should be there and is not, is a matter of `ledger`.
"""

import msgspec


class VoidError(ValueError):
    """One entry breaks `rule`; the text says how. Caught where entries are read."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule
        self.reason = reason


class Void(msgspec.Struct, frozen=True, order=True):
    """An entry that does not count: where it stands, the rule it breaks, and how."""

    ref: str
    rule: str
    reason: str


class Problem(msgspec.Struct, frozen=True, order=True):
    """Something that must be put right before anything is believed.

    `commit` is empty for a problem of the ledger, whose `path` is a ref or an id.
    """

    commit: str
    path: str
    rule: str
    message: str
