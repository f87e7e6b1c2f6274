"""What the readers of the four provider APIs share: exchanges taken one by one into a session.

The gap this closes: four copies of one loop, of which one forgets that a body no reader
can take is counted and passed over. The decision: a reader of an API is this one and a
function that takes one exchange. What it does not do: it knows no message of any API.
"""

from collections.abc import Callable
from typing import Self

import msgspec

from githarness.formats import exchange
from githarness.formats.exchange import Exchange
from githarness.formats.history import History
from githarness.model.builder import Builder
from githarness.model.session import Session

Take = Callable[[Builder, History, Exchange], None]


class Reader(msgspec.Struct, kw_only=True):
    """Reads bodies and exchanges; one input is one session, without an id of its own."""

    builder: Builder
    history: History

    @classmethod
    def start(cls, name: str, *, keep: bool) -> Self:
        """Start a reader of the API of this name; without `keep` it holds no text."""
        return cls(builder=Builder(agent=name, format=name, keep=keep, compactions=None), history=History())

    def each(self, record: bytes, take: Take) -> None:
        """Take the exchanges of one record; its messages or items are what `records` counts."""
        for one in exchange.read(record, self.builder, self.builder.format):
            try:
                take(self.builder, self.history, one)
            except ValueError:
                self.builder.unreadable += 1

    def finish(self) -> Session:
        """Return the session so far."""
        return self.builder.finish()
