"""Claude Code's session files: one JSON object a line, in file order.

The gap this closes: one model response is spread over several lines (two thirds of
them), results come back out of order, only the shell writes an explicit error flag,
more than half of the lines may be progress noise, and the same file also holds what
other sessions said. Readers that walk `parentUuid` lose parallel results.

The decision: file order and ids only. An absent error flag is a success here. The
file's own session is the one its newest conversation record carries: what stands
under another session id, names the session it was forked from, or repeats a uuid was
copied in, and is counted as `copied` and nothing else. A file of sidechain records is
a subagent's and is its own run, `<session>/<agent>`; sidechain records inside a
parent's file are noted by agent and never counted. A file without conversation (only
a summary, or cut down to its metadata) still is a session, with nothing in it.

What it does not do: it follows no reference to another file, and it knows no tool
specs, since this format records none (names alone are `partial_names`).
"""

from typing import Any

import msgspec

from githarness.formats import claude_record, claude_text
from githarness.formats.claude_queue import ABSORBED, Queue
from githarness.formats.claude_record import Attachment, Block, Line, Usage
from githarness.formats.claude_runs import Runs
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import (
    API_ERROR,
    CANCELLED,
    DENIED_HOOK,
    DENIED_PERSON,
    FAILED,
    INTERRUPTED,
    MAX_TURNS,
    OUTPUT_BUDGET,
    REFUSED,
    Session,
)

NAME = "claude-code"
READER = 1
AGENT = "claude-code"

CONVERSATION = frozenset({"user", "assistant", "system", "attachment", "tool_use", "tool_result"})
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
SHELLS = frozenset({"Bash", "PowerShell"})
PASTED = frozenset({"image", "document"})


def sniff(peek: Peek) -> bool:
    """Claim an input in which one of the first records has this client's shape."""
    return any(_is_ours(record) for record in peek.objects())


def _is_ours(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    # Its own event stream and other clients share these names, each with a sign of its own.
    if not isinstance(kind, str) or not {"parent_tool_use_id", "systemPayload"}.isdisjoint(record):
        return False
    if kind in {"user", "assistant"}:
        return _is_said(record)
    if kind in {"summary", "file-history-snapshot"}:
        return not {"sessionId", "leafUuid", "snapshot"}.isdisjoint(record)
    noted = kind in claude_text.METADATA or kind == "queue-operation" or "attachment" in record
    return noted and "sessionId" in record


def _is_said(record: dict[str, Any]) -> bool:
    message = record.get("message")
    placed = "sessionId" in record or ("timestamp" in record and "session_id" not in record)
    return placed and isinstance(message, dict) and "content" in message and "parts" not in message


class Reader(msgspec.Struct, kw_only=True):
    """Reads one file, line by line. Plain data, so it can be saved at any line end.

    `response` is the last message id. `unnamed` are calls of the last response that
    carry no id, `refused` results of refused arguments that stand before their call,
    `blocked` calls that a hook denied, and `half` the half of a compaction last seen.
    """

    builder: Builder
    queue: Queue
    runs: Runs
    response: str | None = None
    unnamed: list[str] = []
    refused: set[str] = set()
    blocked: set[str] = set()
    half: str = ""

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start at the first line."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep), queue=Queue(), runs=Runs())

    def feed(self, record: bytes) -> None:
        """Take one line. Never raises; what cannot be read or is unknown is counted."""
        self.builder.records += 1
        line = claude_record.read(record)
        if line is None:
            self.builder.unreadable += 1
        elif line.type in CONVERSATION:
            if self._enter(line):
                self._take(line)
        elif line.type == "queue-operation":
            self.runs.name(line.session_id, self.builder)
            self._queued(line)
        elif line.type in claude_text.METADATA:
            self.runs.name(line.session_id, self.builder)
        else:
            self.builder.unfamiliar(line.type or "(no type)")

    def finish(self) -> Session:
        """Return the file's own session; more lines may follow."""
        session = self.builder.finish()
        return msgspec.structs.replace(
            session,
            copied=session.copied + self.runs.copied(),
            # Queued into an open turn, and nothing says that it was taken back or became a turn.
            steered=session.steered or self.queue.is_steering(),
            subagents=self.runs.subagents(),
        )

    def _enter(self, line: Line) -> bool:
        """Turn to the run a record belongs to; tell whether it counts there."""
        builder = self.runs.place(line, self.builder)
        if builder is not self.builder:
            self.builder, self.response = builder, None
            self.unnamed.clear()
        own = self.runs.is_own(line, builder)
        if own:
            self._mark(line)
        return own

    def _take(self, line: Line) -> None:
        match line.type:
            case "user":
                self._user(line)
            case "assistant":
                self._assistant(line)
            case "system":
                self._system(line)
            case "attachment":
                self._attachment(line)
            case "tool_use":
                self._old_call(line)
            case _:
                self._old_result(line)

    def _mark(self, line: Line) -> None:
        """Note what any record says about the run as a whole."""
        builder = self.builder
        builder.seen_at(line.timestamp)
        builder.version(line.version)
        builder.project = builder.project or line.cwd or line.project
        # The client writes HEAD where there is no branch; the run began on the first one.
        if builder.branch is None and line.git_branch and line.git_branch != "HEAD":
            builder.branch = line.git_branch

    def _user(self, line: Line) -> None:
        message = line.message
        if message is None or message.content is None:
            self.builder.unfamiliar("user without content")
            return
        blocks = message.blocks()
        results = [block for block in blocks if block.type == "tool_result"]
        for block in results:
            self._result(block, line, alone=len(results) == 1)
        self._hear(line, blocks, beside=bool(results))

    def _hear(self, line: Line, blocks: list[Block], *, beside: bool) -> None:
        """Sort the texts of a user record into what a person typed and what the client wrote."""
        texts = [block.text for block in blocks if block.type == "text" and block.text]
        pasted = not texts and any(map(_is_pasted, blocks))
        typed = [text for text in texts if claude_text.is_typed(text)]
        if line.interrupted_message_id or any(map(claude_text.is_interruption, texts)):
            self.builder.stop(INTERRUPTED)
        if self._is_written(line, texts) or not (typed or pasted):
            if texts or pasted:
                self.builder.inject()
            return
        self._typed(typed, beside=beside)

    def _is_written(self, line: Line, texts: list[str]) -> bool:
        """Tell whether the client wrote this record, and take the summary that it may be."""
        summary = line.is_compact_summary or any(map(claude_text.is_summary, texts[:1]))
        if summary:
            self._compacted("summary")
        return summary or self._is_injected(line)

    def _typed(self, texts: list[str], *, beside: bool) -> None:
        """Take what a person typed; beside a result it steers a turn that is still open."""
        if beside and texts:
            self.builder.steer()
        if texts or not beside:
            self.builder.turn("\n".join(texts))

    def _is_injected(self, line: Line) -> bool:
        """Tell whether the client wrote this record: no person prompts a subagent."""
        flagged = line.is_meta or line.is_visible_in_transcript_only or line.prompt_source == "system"
        elsewhere = line.origin is not None and line.origin.kind not in {None, "human", "cli"}
        return bool(self.runs.side or flagged or elsewhere)

    def _result(self, block: Block, line: Line, *, alone: bool) -> None:
        call = block.tool_use_id or self._unnamed()
        side = line.tool_use_result
        if b'"agentId"' in bytes(side):
            self.runs.note(claude_record.aside(side).agent_id)
        cause = self._cause(call, block, line if alone else None) if block.is_error else None
        if cause == REFUSED:
            self.builder.malformed(call)
        output = claude_record.flat(block.content) if self.builder.keep else ""
        self.builder.result(call, output, block.is_error is True, cause)
        if cause == REFUSED and call in self.builder.early:
            self.refused.add(call)

    def _cause(self, call: str, block: Block, line: Line | None) -> str:
        """Say why a result is an error; `line` is None where its side record is of no one result."""
        text = claude_record.flat(block.content)
        cause = claude_text.cause(text, line.tool_denial_kind if line else None)
        if claude_text.is_denied(cause) and claude_text.has_words(text):
            self.builder.steer()
        if cause != FAILED:
            return cause
        if call in self.blocked:
            return DENIED_HOOK
        if line is None:
            return FAILED
        return self._shell_cause(call, text, line)

    def _shell_cause(self, call: str, text: str, line: Line) -> str:
        """Part a shell's own failure from an interruption and from a hook's bare reason."""
        at = self.builder.open_calls.get(call)
        told = bytes(line.tool_use_result)
        if b'"interrupted"' in told and claude_record.aside(line.tool_use_result).interrupted:
            return CANCELLED
        if told == b'"User rejected tool use"':
            return DENIED_PERSON
        shell = at is not None and self.builder.calls[at].name in SHELLS
        if shell and claude_text.is_silent_denial(text, told, line.version):
            return DENIED_HOOK
        return FAILED

    def _unnamed(self) -> str:
        """Pair a result without an id inside the last response, and nowhere else."""
        return self.unnamed.pop(0) if self.unnamed else f"?{self.builder.records}"

    def _assistant(self, line: Line) -> None:
        message = line.message
        if message is None or message.content is None:
            self.builder.unfamiliar("assistant without content")
            return
        if line.is_api_error_message or message.model == "<synthetic>":
            self._synthetic(line, message.blocks())
            return
        self.builder.model(message.model)
        if message.id is None or message.id != self.response:
            self._step(message.id)
        if message.usage is not None:
            self._spend(message.id or line.uuid or f"#{self.builder.records}", message.usage)
        for block in message.blocks():
            self._said(block)
        self._stopped(line, message.stop_reason)

    def _stopped(self, line: Line, reason: str | None) -> None:
        """Note why a response ended; one that was broken off says something else or nothing."""
        if reason in claude_text.STOPS:
            self.builder.stop(claude_text.STOPS[reason])
        if line.is_aborted_mid_stream:
            self.builder.stop(INTERRUPTED)

    def _step(self, response: str | None) -> None:
        self.builder.step(response)
        self.response = response
        self.unnamed.clear()

    def _said(self, block: Block) -> None:
        """Take one block of a response; what a server ran comes back inside the same response."""
        if block.type == "text" and block.text:
            self.builder.say(block.text)
        elif block.type in CALLS:
            self._call(block.id, block.name, block.input)
        elif block.tool_use_id and block.type and block.type.endswith("_tool_result"):
            failed = block.is_error is True or b'_tool_result_error"' in bytes(block.content)
            output = claude_record.flat(block.content) if self.builder.keep else ""
            self.builder.result(block.tool_use_id, output, failed, FAILED if failed else None)

    def _call(self, id: str | None, name: str | None, body: msgspec.Raw) -> None:
        raw = bytes(body)
        malformed = None if raw in {b"", b"null"} else not raw.startswith(b"{")
        call = id or f"#{len(self.builder.calls)}"
        if not id:
            self.unnamed.append(call)
        if call in self.refused:
            self.refused.discard(call)
            malformed = True
        kept = claude_record.parse(body) if self.builder.keep else None
        self.builder.call(call, name or "", kept, malformed=malformed)

    def _spend(self, key: str, usage: Usage) -> None:
        read, write = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        fresh, output = usage.input_tokens or 0, usage.output_tokens or 0
        self.builder.spend(key, fresh + read + write, output, read, write)

    def _synthetic(self, line: Line, blocks: list[Block]) -> None:
        """The client speaks in the model's place: no response, no model, perhaps the end."""
        self.builder.inject()
        if any(claude_text.is_interruption(block.text or "") for block in blocks):
            self.builder.stop(INTERRUPTED)
        elif line.is_api_error_message:
            spent = line.api_error == "max_output_tokens"
            self.builder.stop(OUTPUT_BUDGET if spent else API_ERROR)

    def _system(self, line: Line) -> None:
        if line.subtype == "compact_boundary":
            self._compacted("boundary")

    def _compacted(self, half: str) -> None:
        """Count a compaction once: old files write only a summary, newer ones a boundary too."""
        if self.half and self.half != half:
            self.half = ""
            return
        self.half = half
        self.builder.compaction()

    def _attachment(self, line: Line) -> None:
        extra = line.attachment
        if extra is None:
            self.builder.unfamiliar("attachment without content")
        elif extra.type == "queued_command":
            self._absorbed(extra)
        elif extra.type == "max_turns_reached":
            self.builder.stop(MAX_TURNS)
        elif extra.type == "deferred_tools_delta":
            self.builder.partial_names = self.builder.partial_names or bool(extra.added_names)
        elif extra.type == "hook_permission_decision" and extra.decision == "deny" and extra.tool_use_id:
            self.blocked.add(extra.tool_use_id)
            self.builder.outcome(extra.tool_use_id, is_error=True, cause=DENIED_HOOK)

    def _absorbed(self, extra: Attachment) -> None:
        """A queued text reached the model in the middle of a turn."""
        text = claude_record.flat(extra.prompt)
        human = extra.origin is None or extra.origin.kind in {None, "human", "cli"}
        prompt = extra.command_mode in {None, "prompt"} and not extra.is_meta
        if human and prompt and self._is_speech(text):
            self._overhear(text, "attachment")
        else:
            self.builder.inject()

    def _is_speech(self, text: str) -> bool:
        return not self.runs.side and claude_text.is_typed(text) and not claude_text.is_command(text)

    def _overhear(self, text: str, trace: str) -> None:
        """A person spoke into an open turn; the queue and an attachment may both say so."""
        if self.queue.is_new(text, trace):
            self.builder.steer()
            self.builder.turn(text)

    def _queued(self, line: Line) -> None:
        if line.session_id not in {None, self.runs.session}:
            return
        self.builder.seen_at(line.timestamp)
        text = claude_record.flat(line.content)
        going = bool(self.builder.turn_count) and self.builder.stop_cause is None
        speech = going and self._is_speech(text)
        if line.operation == "enqueue":
            self.queue.put(text, steers=speech)
        elif line.operation == "popAll":
            self.queue.waiting.clear()
        elif line.operation != "remove":
            self.queue.hand_out()
        elif self.queue.remove(text) and not text:
            self.builder.steer()
        elif speech and line.reason in {None, ABSORBED}:
            self._overhear(text, "queue")

    def _old_call(self, line: Line) -> None:
        """A 1.x record of a call, which stands outside of any message."""
        self._step(None)
        self._call(line.id or line.call_id, line.name, line.input)

    def _old_result(self, line: Line) -> None:
        block = Block(tool_use_id=line.call_id, content=line.output, is_error=line.is_error)
        self._result(block, line, alone=True)


def _is_pasted(block: Block) -> bool:
    return block.type in PASTED
