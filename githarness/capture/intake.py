"""The intake: one recording streamed through redaction, reading and cutting, once.

The gap this closes: a 300 MB transcript does not fit in memory, may not touch the
disk before it is redacted, and grows by one turn at a time. The decision: one pass
over the bytes feeds the redactor, the reader and the cutter; memory follows the
number of calls. For a recording that was taken in before, the pass starts where
the last one ended: the prefix is only hashed, raw to prove that it is the same and
redacted to continue the digest. What this does not do: it writes no object
itself, parts go to `sink`; and it decides nothing about which recording is kept.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator

import msgspec

from githarness.capture.parts import Cutter
from githarness.capture.source import Source
from githarness.errors import UnreadableError
from githarness.formats.detect import Format, Reader
from githarness.formats.peek import BOM
from githarness.model.manifest import Part
from githarness.model.session import Session
from githarness.redact import sieve
from githarness.redact.redactor import Redactor
from githarness.redact.rules import RULES_VERSION

# Below this a second full pass is cheaper than keeping state.
RESUME_OVER = 1 << 20


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to go on at `offset`, a line end of the raw bytes. Holds no secret.

    `edits` are (start, end, replacement) in raw offsets; `rest` counts the redacted
    bytes after the last cut.
    """

    format: str
    reader: int
    rules: int
    agent: str
    native: str | None
    offset: int
    raw_digest: str
    redacted_bytes: int
    rest: int
    parts: tuple[Part, ...]
    edits: tuple[tuple[int, int, bytes], ...]
    reader_state: bytes
    redactor_state: bytes


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A recording taken in: what it says, and the parts that hold its redacted bytes."""

    session: Session
    digest: str
    bytes: int
    parts: tuple[Part, ...]
    redactions: dict[str, int]
    unparsed: int
    resume: Resume | None


class Intake:
    """Takes in one source. Make one per recording."""

    def __init__(self, source: Source, form: Format, key: bytes | None, sink: Callable[[bytes], str]) -> None:
        """Without a `key` (for the redactor's digests) nothing is redacted."""
        self._source = source
        self._form = form
        self._key = key
        self._redactor = None if key is None else Redactor.open(key)
        self._sink = sink
        self._reader: Reader = form.reader.open(keep=False)
        self._cutter = Cutter()
        self._hash = hashlib.sha256()
        self._raw = hashlib.sha256()
        self._bytes = 0
        self._parts: list[Part] = []
        self._edits: list[tuple[int, int, bytes]] = []

    @property
    def agent(self) -> str:
        """Return the agent whose recording this is."""
        return self._reader.builder.agent

    @property
    def native(self) -> str | None:
        """Return the native session id, as far as it has been read."""
        return self._reader.builder.native

    def document(self) -> Taken:
        """Take in the source as one JSON document."""
        data = self._mark(self._source.read())
        self._reader.feed(data)
        self._emit(self._redactor.feed(data) if self._redactor else data)
        return self._taken(None)

    def lines(self, before: Resume | None) -> Taken:
        """Take in the source line by line, from where `before` ended if it still holds."""
        offset = 0
        if before is not None and self._restore(before):
            offset = before.offset
        tail = b""
        at = offset
        for block in self._source.blocks(offset):
            data = tail + block if tail else block
            if at == 0 and data.startswith(BOM):
                data, at = self._mark(data), len(BOM)
                self._raw.update(BOM)
            end = data.rfind(b"\n") + 1
            self._block(data[:end], at)
            self._raw.update(data[:end])
            at += end
            tail = data[end:]
        resume = self._snapshot(at) if at >= RESUME_OVER else None
        if tail:
            self._line(tail, at)
        return self._taken(resume)

    def _mark(self, data: bytes) -> bytes:
        """Store a byte-order mark as it is and return what follows: it is no part of the first record."""
        if not data.startswith(BOM):
            return data
        self._emit(BOM)
        return data[len(BOM) :]

    def _block(self, data: bytes, at: int) -> None:
        """Take complete lines. Only a block in which a rule may fire goes line by line."""
        if self._redactor is not None and sieve.may_fire(data):
            for line in _lines(data):
                self._line(line, at)
                at += len(line)
            return
        self._emit(data)
        feed = self._reader.feed
        for line in data.split(b"\n"):
            if line.strip():
                feed(line)

    def _line(self, line: bytes, at: int) -> None:
        body = line.removesuffix(b"\n")
        if not body.strip():
            self._emit(line)
            return
        self._reader.feed(body)
        edits = self._redactor.edits(body) if self._redactor is not None else []
        self._edits += [(at + start, at + end, text) for start, end, text in edits]
        self._emit(_splice(line, edits))

    def _emit(self, data: bytes) -> None:
        self._hash.update(data)
        self._bytes += len(data)
        for part in self._cutter.add(data):
            self._parts.append(Part(digest=self._sink(part), bytes=len(part)))

    def _taken(self, resume: Resume | None) -> Taken:
        rest = self._cutter.rest()
        if rest:
            self._parts.append(Part(digest=self._sink(rest), bytes=len(rest)))
        redactor = self._redactor
        return Taken(
            session=self._reader.finish(),
            digest=self._hash.hexdigest(),
            bytes=self._bytes,
            parts=tuple(self._parts),
            redactions=dict(redactor.counts) if redactor else {},
            unparsed=redactor.unparsed if redactor else 0,
            resume=resume,
        )

    def _snapshot(self, offset: int) -> Resume | None:
        """Return the state at `offset`; None for a reader that holds what cannot be encoded."""
        try:
            reader_state = msgspec.msgpack.encode(self._reader)
        except (UnicodeEncodeError, OverflowError):
            return None  # a lone surrogate, in a tool's name for example
        return Resume(
            format=self._form.name,
            reader=self._form.version,
            rules=RULES_VERSION if self._redactor is not None else 0,
            agent=self.agent,
            native=self.native,
            offset=offset,
            raw_digest=self._raw.hexdigest(),
            redacted_bytes=self._bytes,
            rest=len(self._cutter.rest()),
            parts=tuple(self._parts),
            edits=tuple(self._edits),
            reader_state=reader_state,
            redactor_state=self._redactor.snapshot() if self._redactor is not None else b"",
        )

    def _restore(self, before: Resume) -> bool:
        """Take up the state of `before`; False, with nothing changed, when it does not hold."""
        rules = 0 if self._redactor is None else RULES_VERSION
        same = (before.format, before.reader, before.rules) == (self._form.name, self._form.version, rules)
        if not same or before.offset > self._source.size:
            return False
        raw = hashlib.sha256()
        # hashlib lets go of the interpreter lock, so both passes run side by side
        prefix = self._source.blocks(0, before.offset)
        proof = threading.Thread(target=_update, args=(raw, prefix), daemon=True)
        proof.start()
        digest, rest = hashlib.sha256(), bytearray()
        position = 0
        for block in _edited(self._source, before.offset, before.edits):
            digest.update(block)
            position += len(block)
            over = position - (before.redacted_bytes - before.rest)
            if over > 0:
                rest += block[-over:] if over < len(block) else block
        proof.join()
        if raw.hexdigest() != before.raw_digest or position != before.redacted_bytes:
            return False
        try:
            reader = msgspec.msgpack.decode(before.reader_state, type=self._form.reader)
            redactor = None if self._key is None else Redactor.resume(before.redactor_state, self._key)
        except (msgspec.MsgspecError, UnreadableError):
            return False
        self._reader, self._redactor = reader, redactor
        self._hash, self._raw, self._bytes = digest, raw, position
        self._parts, self._edits = list(before.parts), list(before.edits)
        for _ in self._cutter.add(bytes(rest)):
            return False
        return True


def _lines(data: bytes) -> Iterator[bytes]:
    """Split on line feeds alone: other line ends are data."""
    for line in data.split(b"\n")[:-1]:
        yield line + b"\n"


def _splice(line: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    if not edits:
        return line
    out, at = [], 0
    for start, end, text in edits:
        out += [line[at:start], text]
        at = end
    return b"".join([*out, line[at:]])


def _update(digest: "hashlib._Hash", blocks: Iterator[bytes]) -> None:
    for block in blocks:
        digest.update(block)


def _edited(source: Source, end: int, edits: tuple[tuple[int, int, bytes], ...]) -> Iterator[bytes]:
    """Yield the redacted form of the first `end` raw bytes, from the edits alone."""
    at = 0
    for start, stop, text in edits:
        yield from source.blocks(at, start)
        yield text
        at = stop
    yield from source.blocks(at, end)
