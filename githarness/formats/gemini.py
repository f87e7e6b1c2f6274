"""Reader of Gemini CLI chats: one JSON document, or the JSON lines that patch one.

The gap this closes: a chat file is a log of writings, not a list of messages. One
message is written again whenever one of its calls goes on (7 model messages in a
driven run of 4), a rewind takes messages back, and a batch of messages replaces
the model's context, so that replaying the file the client's way loses every call
from before a compression. The decision: messages are held by id in order of first
writing, the last writing wins, a rewind removes, and a batch that leaves out what
was said is taken as the trace of a compression and removes nothing.

What it does not do: it knows no tool surface and no system prompt, since the files
hold none. It marks no steering, of which there is no trace. Compactions are unknown
until a trace of one is seen.
"""

import copy
from typing import Any

import msgspec

from githarness import canon
from githarness.formats import gemini_messages
from githarness.formats.gemini_messages import MODEL, RESULTS, TURN, Message
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import Session

NAME = "gemini-cli"
AGENT = "gemini-cli"
READER = 1


class Reader(msgspec.Struct, kw_only=True):
    """Feed lines or the document; `builder` holds the header, `messages` all that was said.

    `joined` says that another session's file was put behind this one's.
    """

    builder: Builder
    messages: dict[str, Message] = {}
    snapshots: int = 0
    joined: bool = False

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep, compactions=None))

    def feed(self, record: bytes) -> None:
        """Take one line, or the whole document."""
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        batch = value.get("messages") if isinstance(value, dict) else None
        self.builder.records += len(batch) if isinstance(batch, list) else 1
        if not isinstance(value, dict):
            self.builder.unreadable += 1
        elif self._is_own(value):
            self._take(value)
        else:
            self.builder.copied += len(batch) if isinstance(batch, list) else 1

    def finish(self) -> Session:
        """Return what the messages say as they stand; more may be fed afterwards."""
        builder = copy.deepcopy(self.builder)
        for key, message in self.messages.items():
            _tell(builder, key, message)
        return builder.finish()

    def _is_own(self, value: dict[str, Any]) -> bool:
        """Tell whether a line is this session's; a header of another one opens that one's file."""
        native = _text(value.get("sessionId"))
        if native and "type" not in value:
            self.joined = self.builder.native not in (None, native)
        return not self.joined

    def _take(self, value: dict[str, Any]) -> None:
        patch, target = value.get("$set"), value.get("$rewindTo")
        if isinstance(target, str):
            self._rewind(target)
        elif isinstance(patch, dict):
            self._header(patch)
        elif isinstance(value.get("id"), str) and isinstance(value.get("type"), str):
            self._message(value)
        elif "sessionId" in value:
            self._header(value)
        else:
            self.builder.unfamiliar("(no type)")

    def _header(self, value: dict[str, Any]) -> None:
        builder = self.builder
        builder.native = builder.native or _text(value.get("sessionId"))
        builder.parent = builder.parent or _text(value.get("parentSessionId"))
        for key in ("startTime", "lastUpdated"):
            builder.seen_at(value.get(key))
        folders = value.get("directories")
        if isinstance(folders, list) and folders:
            builder.project = builder.project or _text(folders[0])
        batch = value.get("messages")
        if isinstance(batch, list):
            self._batch(batch)

    def _batch(self, batch: list[Any]) -> None:
        """Take a whole list of messages: all of them, unless it leaves out what was said.

        A compression gives what it keeps of the context new ids. Then only messages
        that are known are written again, and the rest is the same talk once more.
        """
        given = [value for value in batch if isinstance(value, dict)]
        self.builder.unreadable += len(batch) - len(given)
        ids = {_text(value.get("id")) for value in given}
        said = {key for key, old in self.messages.items() if old.kind in {TURN, MODEL}}
        replaces = not said <= ids
        for value in given:
            if not replaces or _text(value.get("id")) in self.messages:
                self._message(value)
        if replaces:
            self._compressed(given)

    def _compressed(self, given: list[dict[str, Any]]) -> None:
        """Count a summary that was not there in the batch before."""
        read = (gemini_messages.read(value, keep=False) for value in given)
        found = sum(message is not None and message.snapshot for message in read)
        for _ in range(found - self.snapshots):
            self.builder.compaction()
        self.snapshots = found

    def _message(self, value: dict[str, Any]) -> None:
        """Take one writing of a message: the last stands, where the first stood."""
        message = gemini_messages.read(value, keep=self.builder.keep)
        if message is None:
            self.builder.unfamiliar(value.get("type"))
            return
        self.builder.seen_at(value.get("timestamp"))
        self.builder.project = self.builder.project or message.folder
        self.messages[_text(value.get("id")) or f"#{len(self.messages)}"] = message

    def _rewind(self, target: str) -> None:
        """Drop a message and all after it. The client drops everything on an id it does not know."""
        if target not in self.messages:
            self.builder.unfamiliar("$rewindTo (no such message)")
            return
        keys = list(self.messages)
        for key in keys[keys.index(target) :]:
            del self.messages[key]


def _tell(builder: Builder, key: str, message: Message) -> None:
    """Tell one message to the builder."""
    if message.injected or message.snapshot:
        builder.inject()
    if message.kind == TURN:
        builder.turn(message.text)
    elif message.kind == MODEL:
        _tell_step(builder, key, message)
    elif message.stop is not None:
        builder.stop(message.stop)
    if message.kind == RESULTS:
        for call, (output, flag, cause) in message.results.items():
            if call not in builder.answered:
                builder.result(call, output, flag, cause)


def _tell_step(builder: Builder, key: str, message: Message) -> None:
    builder.step()
    builder.model(message.model)
    # Where no text is held, any word will do: the builder holds none either.
    builder.say(message.text or ("." if message.spoken else ""))
    if message.tokens is not None:
        sent, output, cached = message.tokens
        builder.spend(key, sent, output, cached)
    for made in message.made:
        if made.agent and made.agent not in builder.subagents:
            builder.subagents.append(made.agent)
        call = made.id or f"#{len(builder.calls)}"
        builder.call(call, made.name, made.input, malformed=made.malformed)
        if made.output is not None:
            builder.result(call, made.output, made.is_error, made.cause)
        elif made.is_error is not None:
            builder.outcome(call, made.is_error, made.cause)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def sniff(peek: Peek) -> bool:
    """Tell whether a header or a document names a session of a hashed project, or lines patch one."""
    return any(_is_ours(record) for record in peek.objects())


def _is_ours(record: dict[str, Any]) -> bool:
    if isinstance(record.get("$rewindTo"), str):
        return True
    patch = record.get("$set")
    if isinstance(patch, dict):
        return "lastUpdated" in patch or "messages" in patch
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)
