"""Claude Code's prompt queue: which queued text steered a running turn.

The gap this closes: every headless prompt passes through the same queue (put in,
handed out, then the user record), so that counting queue records would call every
headless run steered; and in some versions a text that did steer stands nowhere else.
The decision: follow the queue. What is handed out becomes a prompt of its own; what
is removed was taken in by the running turn; what a person pulls back was never said.

What it does not do: it does not decide whether a text is a person's.
"""

import msgspec

from githarness import canon

# The only reason for which a removed text was still read by the model.
ABSORBED = "absorbed_mid_turn"


class Queue(msgspec.Struct):
    """The state of one file's queue, without its texts.

    `waiting` holds a key for each queued text, and whether a person wrote it into an
    open turn. `heard` tells by which of its two traces a steering text was met.
    """

    waiting: list[tuple[str, bool]] = []
    heard: dict[str, str] = {}

    def put(self, text: str, *, steers: bool) -> None:
        """Queue a text; `steers` where a person wrote it while a turn was open."""
        self.waiting.append((_key(text), steers))

    def hand_out(self) -> None:
        """The first text becomes a prompt of its own, and a user record follows."""
        del self.waiting[:1]

    def remove(self, text: str) -> bool:
        """Drop a text, the first where none is named; tell whether it had steered."""
        keys = [key for key, _ in self.waiting]
        key = _key(text) if text else next(iter(keys), "")
        return self.waiting.pop(keys.index(key))[1] if key in keys else False

    def is_steering(self) -> bool:
        """Tell whether a text still waits that was written into an open turn."""
        return any(steers for _, steers in self.waiting)

    def is_new(self, text: str, trace: str) -> bool:
        """Tell whether a steering text is met first by this trace, not by the other one before."""
        key = _key(text)
        if self.heard.get(key, trace) != trace:
            del self.heard[key]
            return False
        self.heard[key] = trace
        return True


def _key(text: str) -> str:
    """Stand in for a text that is not kept; sixteen digits tell the texts of one file apart."""
    return canon.sha256(canon.utf8(text))[:16]
