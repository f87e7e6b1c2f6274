"""The builder: readers state facts in file order, and a Session comes out.

The gap this closes: fifteen readers that each pair calls, dedupe usage and guess
the stop cause would get it wrong in fifteen ways. The decision: a reader only
says what a record means; pairing by id over the whole file, groups of parallel
calls, last-wins usage and the inferred stop are done here, once.

A builder is plain data, so a reader's state can be saved at the end of a file
and taken up again when the file has grown. With `keep` off it holds no text and no
output, and of an input only a digest: memory follows the number of calls, not the
bytes.

What it does not do: it never parses bytes and knows no format.
"""

import hashlib
from typing import Any

import msgspec

from githarness.model.session import (
    COMPLETED,
    UNKNOWN,
    Call,
    Prompt,
    Seen,
    Session,
    Tokens,
    Turn,
)

# Past this many distinct unknown record types they are counted together, so that
# a hostile file cannot grow a manifest.
MAX_UNFAMILIAR = 50

# How the digest of arguments that were not kept begins.
MARK = "#digest:"


class Builder(msgspec.Struct, kw_only=True):
    """Collects facts; call `finish` for the Session. Attributes may be set freely."""

    agent: str
    format: str
    keep: bool = True
    native: str | None = None
    parent: str | None = None
    project: str | None = None
    branch: str | None = None
    started: str | None = None
    ended: str | None = None
    models: list[str] = []
    versions: list[str] = []
    records: int = 0
    unreadable: int = 0
    unfamiliar_types: dict[str, int] = {}
    copied: int = 0
    injected: int = 0
    turns: list[Turn] = []
    turn_count: int = 0
    since: int = 0
    steps: int = 0
    calls: list[Call] = []
    final_text: str | None = None
    said_at: int = 0
    steered: bool = False
    compactions: int | None = 0
    subagents: list[str] = []
    surfaces: list[Seen] = []
    prompts: list[Prompt] = []
    partial_names: bool = False
    step_id: str | None = None
    stop_cause: str | None = None
    last: str = ""
    open_calls: dict[str, int] = {}
    early: dict[str, tuple[str | None, bool | None, str | None]] = {}
    usage: dict[str, tuple[int, int, int, int]] = {}
    total: tuple[int, int, int, int] | None = None
    answered: dict[str, int] = {}

    def seen_at(self, when: object) -> None:
        """Note a record's own timestamp; anything but a string is passed over."""
        if isinstance(when, str) and when:
            self.started = when if self.started is None else min(self.started, when)
            self.ended = when if self.ended is None else max(self.ended, when)

    def model(self, name: object) -> None:
        """Note a model in force, in order of first appearance."""
        if isinstance(name, str) and name and name not in self.models:
            self.models.append(name)

    def version(self, name: object) -> None:
        """Note a client version, in order of first appearance."""
        if isinstance(name, str) and name and name not in self.versions:
            self.versions.append(name)

    def unfamiliar(self, kind: object) -> None:
        """Count a record whose type this reader does not know."""
        name = str(kind)[:64]
        if name not in self.unfamiliar_types and len(self.unfamiliar_types) >= MAX_UNFAMILIAR:
            name = "(others)"
        self.unfamiliar_types[name] = self.unfamiliar_types.get(name, 0) + 1

    def turn(self, text: str) -> None:
        """A person said something. What had stopped before goes on."""
        self.turn_count += 1
        self.since = len(self.calls)
        if self.keep:
            self.turns.append(Turn(text=text, calls=self.since))
        self.last, self.stop_cause, self.step_id = "turn", None, None

    def inject(self) -> None:
        """The harness put text in the user's place: counted, never a turn."""
        self.injected += 1

    def steer(self) -> None:
        """A person spoke while a turn was open."""
        self.steered = True

    def step(self, response: str | None = None) -> None:
        """A model response begins. One id may come in many records; None is always new."""
        if response is None or response != self.step_id:
            self.steps += 1
            self.step_id = response
            self.stop_cause = None
            self.last = "step"

    def say(self, text: str) -> None:
        """The model wrote text; the last that is not blank is the final text."""
        if text.strip():
            self.final_text = text if self.keep else ""
            self.said_at = len(self.calls)
            self.last = "text"

    def call(self, id: str, name: str, input: Any, *, malformed: bool | None = False) -> None:
        """The model issued a call. Without an id one is made from its place.

        The same id again in the same step is the same call, written twice: the
        later record wins. In another step it is another call, since some servers
        count from zero in each message.
        """
        key = id or f"#{len(self.calls)}"
        kept = input if self.keep else _mark(input)
        at = self.open_calls.get(key)
        call = Call(id=key, step=self.steps, name=name, input=kept, malformed=malformed)
        if at is not None and self.calls[at].step == self.steps:
            self.calls[at] = call
        else:
            at = len(self.calls)
            self.calls.append(call)
        self.open_calls[key] = at
        self.last = "call"
        if key in self.early:
            self.result(key, *self.early.pop(key))

    def result(self, id: str, output: str | None, is_error: bool | None, cause: str | None) -> None:
        """A call's result came back; it may even stand before its call in the file."""
        at = self.open_calls.pop(id, None)
        if at is None:
            at = self.answered.get(id)
            if at is None:
                self.early[id] = (output if self.keep else None, is_error, cause)
                return
        self.answered[id] = at
        shown = output if self.keep else ("" if output is not None else None)
        self.calls[at] = _settled(self.calls[at], shown, is_error, cause)
        self.last = "result"

    def outcome(self, id: str, is_error: bool, cause: str | None) -> None:
        """A later record says how a call went, without its output. Unknown ids are ignored."""
        at = self.answered.get(id, self.open_calls.get(id))
        if at is not None:
            self.calls[at] = _settled(self.calls[at], self.calls[at].output, is_error, cause)

    def malformed(self, id: str) -> None:
        """A later record says that a call's arguments were refused."""
        at = self.answered.get(id, self.open_calls.get(id))
        if at is not None:
            self.calls[at] = msgspec.structs.replace(self.calls[at], malformed=True)

    def compaction(self) -> None:
        """The client replaced history by a summary."""
        self.compactions = (self.compactions or 0) + 1

    def stop(self, cause: str | None) -> None:
        """A record says why the run stopped. A later step or turn takes it back."""
        self.stop_cause = cause

    def spend(self, key: str, input: int, output: int, read: int = 0, write: int = 0) -> None:
        """Tokens of one response. Repeated keys keep the row with the most output."""
        row = (input, output, read, write)
        if key not in self.usage or row[1] >= self.usage[key][1]:
            self.usage[key] = row

    def spend_total(self, input: int, output: int, read: int = 0, write: int = 0) -> None:
        """A cumulative total, where the client keeps one: the last one stands."""
        self.total = (input, output, read, write)

    def surface(
        self, raw: bytes, *, kind: str = "sent", reconstructed: bool = False, covers_history: bool = False
    ) -> None:
        """A tools array in force from here on; the same bytes again say nothing new.

        With `covers_history` the first one is in force from the start: a request
        sends its tools with everything that was said before it.
        """
        before = [seen for seen in self.surfaces if seen.kind == kind]
        if before and before[-1].raw == raw:
            return
        position = 0 if covers_history and not before else self.steps
        seen = Seen(position=position, raw=raw, kind=kind, reconstructed=reconstructed)
        self.surfaces.append(seen)

    def prompt(self, raw: bytes, *, covers_history: bool = False) -> None:
        """A system prompt in force from here on; the rest is as for `surface`."""
        if self.prompts and self.prompts[-1].raw == raw:
            return
        position = 0 if covers_history and not self.prompts else self.steps
        self.prompts.append(Prompt(position=position, raw=raw))

    def finish(self) -> Session:
        """Return the Session; the builder may go on collecting afterwards."""
        stop, inferred = self.stop_cause, False
        answered = all(call.output is not None for call in self.calls)
        if stop is None and self.last == "text" and answered:
            stop, inferred = COMPLETED, True
        rows = list(self.usage.values())
        sums = self.total or (tuple(map(sum, zip(*rows, strict=True))) if rows else None)
        tokens = (
            Tokens(input=sums[0], output=sums[1], cache_read=sums[2], cache_write=sums[3]) if sums else None
        )
        same = (name for name in Session.__struct_fields__ if name in Builder.__struct_fields__)
        facts = {name: getattr(self, name) for name in same}
        facts |= {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
        facts |= {"stop_cause": stop, "stop_inferred": inferred, "tokens": tokens}
        facts |= {"calls_after_text": max(0, len(self.calls) - self.said_at)}
        return Session(unfamiliar=dict(self.unfamiliar_types), orphans=len(self.early), **facts)


def _mark(input: Any) -> str | None:
    """Stand in for arguments that are not kept, so that repeated calls can still be told."""
    if input is None:
        return None
    try:
        data = msgspec.json.encode(input, order="sorted")
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return None  # a lone surrogate or absurd nesting: unknown is never equal
    return f"{MARK}{hashlib.blake2b(data, digest_size=8).hexdigest()}"


def _settled(call: Call, output: str | None, is_error: bool | None, cause: str | None) -> Call:
    """Return the call with its outcome; cause and flag are kept in agreement."""
    settled = None if is_error is False else cause or (UNKNOWN if is_error is None else "failed")
    return msgspec.structs.replace(call, output=output, is_error=is_error, cause=settled)
