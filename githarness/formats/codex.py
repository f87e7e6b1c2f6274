"""Reader of Codex rollouts: flat records of 2025, enveloped lines, paginated lines.

The gap this closes: a rollout says most things twice and some not at all. Results
carry no flag, words stand in an item and in an event, and a fork opens with its
parent's whole history (one report: 91 times the tokens). The decision: items say
what was called, events say who spoke and how it went, and what was replayed is
counted as copied and as nothing else. Each of these has a file of its own beside
this one; here records are taken apart and handed on, by a table.

What it does not do: it knows no tool surface. A rollout names dynamic tools only,
so names are marked as partial. What a person took back later changes no count: it
was typed, and its calls ran.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from githarness import canon
from githarness.formats import (
    codex_calls,
    codex_exec,
    codex_records,
    codex_replay,
    codex_speech,
    codex_tokens,
)
from githarness.formats import codex_evidence as evidence
from githarness.formats.codex_records import table, text, texts
from githarness.formats.peek import Peek
from githarness.model.builder import Builder
from githarness.model.session import API_ERROR, COMPLETED, INTERRUPTED, OUTPUT_BUDGET, Session

NAME = "codex"
AGENT = "codex"
READER = 1

# Reasons of an abort that are a limit and not a person.
_BUDGETS = frozenset({"budget_limited", "session_budget_exceeded"})

_Table = dict[str, Any]


class Reader(msgspec.Struct, kw_only=True):
    """Feed lines in file order; the fields besides `builder` are where in the file we are."""

    builder: Builder
    speech: codex_speech.Speech = msgspec.field(default_factory=codex_speech.Speech)
    calls: codex_calls.Calls = msgspec.field(default_factory=codex_calls.Calls)
    replay: codex_replay.Replay = msgspec.field(default_factory=codex_replay.Replay)
    tally: codex_tokens.Tally = msgspec.field(default_factory=codex_tokens.Tally)
    stream: codex_exec.Stream = msgspec.field(default_factory=codex_exec.Stream)

    @classmethod
    def open(cls, *, keep: bool = True) -> "Reader":
        """Start a reader; without `keep` it holds no text."""
        return cls(builder=Builder(agent=AGENT, format=NAME, keep=keep))

    def feed(self, record: bytes) -> None:
        """Take one line."""
        self.builder.records += 1
        try:
            value = canon.read(record)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            self.builder.unreadable += 1
            return
        kind, payload = text(value.get("type")), value.get("payload")
        if isinstance(payload, dict):
            _take(self, kind, payload, text(value.get("timestamp")))
        elif kind in codex_exec.EVENTS:
            self.stream.take(self.builder, kind, value)
        else:
            _take_flat(self, kind, value)

    def finish(self) -> Session:
        """Return what was understood so far; an open task is never taken as completed."""
        session = self.builder.finish()
        if self.speech.task and session.stop_inferred:
            return msgspec.structs.replace(session, stop_cause=None, stop_inferred=False)
        return session


def _take(reader: Reader, kind: str, payload: _Table, when: str) -> None:
    if kind == "session_meta":
        _meta(reader, payload, when)
    elif reader.replay.covers(reader.builder.native or "", text(payload.get("turn_id")), when):
        _copy(reader, payload)
    else:
        reader.builder.seen_at(when)
        _act(reader, _RECORDS, codex_records.QUIET_RECORDS, kind, payload)


def _act(reader: Reader, actions: "_Actions", quiet: frozenset[str], kind: str, payload: _Table) -> None:
    """Hand a record to who takes it; what nobody takes and nobody passes over is unfamiliar."""
    action = actions.get(kind)
    if action is not None:
        action(reader, payload)
    elif kind not in quiet:
        reader.builder.unfamiliar(kind)


def _take_flat(reader: Reader, kind: str, value: _Table) -> None:
    """Take a record from before the envelope: a header, or an item without one."""
    when = text(value.get("timestamp")) or text(value.get("created_at"))
    if not kind and "role" not in value and text(value.get("id")):
        _meta(reader, value, when)
    elif kind or "role" in value:
        reader.builder.seen_at(when)
        reader.builder.model(value.get("model"))
        _item(reader, value)
    elif "record_type" not in value:
        reader.builder.unfamiliar("(no type)")


def _meta(reader: Reader, payload: _Table, when: str) -> None:
    """Take a header. A second one with another id opens the history of a parent."""
    builder = reader.builder
    own = text(payload.get("id")) or text(payload.get("session_id"))
    if builder.native is not None and own not in {builder.native, ""}:
        begun = bool(builder.steps or builder.turn_count or builder.calls)
        reader.replay.foreign(when, begun=begun)
        builder.parent = builder.parent or (None if begun else own)
        builder.copied += 1
        return
    reader.replay.own(when)
    builder.seen_at(when)
    builder.native = own or builder.native
    builder.parent = builder.parent or codex_records.parent(payload)
    _describe(builder, payload)


def _describe(builder: Builder, payload: _Table) -> None:
    builder.version(payload.get("cli_version"))
    builder.project = builder.project or text(payload.get("cwd")) or None
    builder.branch = builder.branch or text(table(payload.get("git")).get("branch")) or None
    base = text(table(payload.get("base_instructions")).get("text")) or text(payload.get("instructions"))
    if base:
        builder.prompt(canon.utf8(base))
    builder.partial_names |= bool(payload.get("dynamic_tools"))


def _copy(reader: Reader, payload: _Table) -> None:
    reader.builder.copied += 1
    total = codex_tokens.total(payload)
    if total is not None:
        reader.tally.inherit(total)


def _context(reader: Reader, payload: _Table) -> None:
    reader.builder.model(payload.get("model"))
    reader.builder.project = reader.builder.project or text(payload.get("cwd")) or None


def _tokens(reader: Reader, payload: _Table) -> None:
    total = codex_tokens.total(payload)
    if total is not None:
        reader.builder.spend_total(*reader.tally.take(total))
        reader.speech.fresh = True


def _compacted(reader: Reader, payload: _Table) -> None:
    del payload  # the history that takes the place of the one before: nothing happened anew
    reader.builder.compaction()


# Items: what the model was given and what it answered.


def _item(reader: Reader, item: _Table) -> None:
    # Early messages had a role and no type.
    kind = text(item.get("type")) or ("message" if "role" in item else "(no type)")
    _act(reader, _ITEMS, codex_records.QUIET_ITEMS, kind, item)


def _message(reader: Reader, item: _Table) -> None:
    role, words = item.get("role"), texts(item.get("content", item.get("message")))
    if role == "assistant":
        reader.speech.say(reader.builder, "\n".join(words), item.get("phase"))
        return
    reader.speech.fresh = True
    if role == "user" and words:
        reader.speech.item(reader.builder, words)


def _reasoning(reader: Reader, item: _Table) -> None:
    del item  # its text is a summary, or encrypted
    reader.speech.model(reader.builder)


def _function(reader: Reader, item: _Table) -> None:
    reader.speech.model(reader.builder)
    reader.calls.function(reader.builder, item)


def _custom(reader: Reader, item: _Table) -> None:
    """Take a call whose input is free text, which no schema can refuse."""
    reader.speech.model(reader.builder)
    reader.builder.call(text(item.get("call_id")), codex_records.name(item), item.get("input"))


def _hosted(reader: Reader, item: _Table) -> None:
    reader.speech.model(reader.builder)
    reader.calls.hosted(reader.builder, item)


def _output(reader: Reader, item: _Table) -> None:
    reader.speech.fresh = True
    reader.calls.output(reader.builder, item)


def _found(reader: Reader, item: _Table) -> None:
    """Take what a tool search found: specs of some tools, and never of all."""
    _more_tools(reader, item)
    reader.speech.fresh = True
    if call := text(item.get("call_id")):
        listed = evidence.text_of(item.get("tools"))
        reader.builder.result(call, listed, *evidence.of_item(item))


def _more_tools(reader: Reader, item: _Table) -> None:
    reader.builder.partial_names |= bool(item.get("tools"))


# Events: who spoke, how it went, where a task begins and ends.


def _event(reader: Reader, event: _Table) -> None:
    _act(reader, _EVENTS, codex_records.QUIET_EVENTS, text(event.get("type")), event)


def _user_event(reader: Reader, event: _Table) -> None:
    reader.speech.event(reader.builder, "user_message", text(event.get("message")))


def _agent_event(reader: Reader, event: _Table) -> None:
    reader.speech.say_event(reader.builder, text(event.get("message")))


def _item_completed(reader: Reader, event: _Table) -> None:
    item = table(event.get("item"))
    kind, words = item.get("type"), "\n".join(texts(item.get("content")))
    if kind == "UserMessage":
        reader.speech.event(reader.builder, "item_completed", words)
    elif kind == "AgentMessage":
        reader.speech.say_event(reader.builder, words)
    else:
        verdict = evidence.of_item(item, afterwards=not reader.speech.task)
        reader.calls.judge(reader.builder, text(item.get("id")), verdict)
        _subagents(reader, item)


def _judged(reader: Reader, event: _Table) -> None:
    verdict = evidence.of_event(text(event.get("type")), event)
    reader.calls.judge(reader.builder, text(event.get("call_id")), verdict)


def _subagents(reader: Reader, event: _Table) -> None:
    """Note the threads that an event about subagents names."""
    more = event.get("receiver_thread_ids")
    named = [event.get(key) for key in ("new_thread_id", "agent_thread_id", "receiver_thread_id")]
    for thread in map(text, named + (more if isinstance(more, list) else [])):
        if thread not in {*reader.builder.subagents, reader.builder.native, ""}:
            reader.builder.subagents.append(thread)


def _started(reader: Reader, event: _Table) -> None:
    del event
    reader.speech.start()


def _completed(reader: Reader, event: _Table) -> None:
    reader.speech.task = False
    if event.get("error"):
        reader.builder.stop(API_ERROR)
    elif isinstance(event.get("last_agent_message"), str):
        reader.builder.stop(COMPLETED)


def _aborted(reader: Reader, event: _Table) -> None:
    reader.speech.task = False
    reader.builder.stop(OUTPUT_BUDGET if text(event.get("reason")) in _BUDGETS else INTERRUPTED)


def _error(reader: Reader, event: _Table) -> None:
    del event
    reader.builder.stop(API_ERROR)


_Actions = dict[str, Callable[[Reader, _Table], None]]

_RECORDS: _Actions = {
    "response_item": _item,
    "event_msg": _event,
    "turn_context": _context,
    "token_usage_record": _tokens,
    "compacted": _compacted,
}
_ITEMS: _Actions = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function,
    "tool_call": _function,
    "function_call_output": _output,
    "custom_tool_call": _custom,
    "custom_tool_call_output": _output,
    "local_shell_call": _hosted,
    "web_search_call": _hosted,
    "image_generation_call": _hosted,
    "tool_search_call": _hosted,
    "tool_search_output": _found,
    "additional_tools": _more_tools,
}
_EVENTS: _Actions = {
    "user_message": _user_event,
    "agent_message": _agent_event,
    "item_completed": _item_completed,
    "token_count": _tokens,
    "exec_command_end": _judged,
    "patch_apply_end": _judged,
    "mcp_tool_call_end": _judged,
    "dynamic_tool_call_response": _judged,
    "task_started": _started,
    "turn_started": _started,
    "task_complete": _completed,
    "turn_complete": _completed,
    "turn_aborted": _aborted,
    "error": _error,
    "sub_agent_activity": _subagents,
    "collab_agent_spawn_begin": _subagents,
    "collab_agent_spawn_end": _subagents,
    "collab_agent_interaction_begin": _subagents,
    "collab_agent_interaction_end": _subagents,
    "collab_waiting_begin": _subagents,
    "collab_waiting_end": _subagents,
    "collab_close_begin": _subagents,
    "collab_close_end": _subagents,
    "collab_resume_begin": _subagents,
    "collab_resume_end": _subagents,
}


def sniff(peek: Peek) -> bool:
    """Tell whether these are Codex records of any age, or its event stream."""
    objects = peek.objects()
    return any(map(codex_records.is_ours, objects)) or any(map(codex_exec.is_ours, objects))
