"""Laws of the OpenHands reader: two generations of events, one meaning."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.canon import sha256
from githarness.formats import openhands, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

VECTORS = Path(__file__).parent / "vectors/openhands"
OLD = (VECTORS / "old.json").read_bytes()
NEW = (VECTORS / "new.jsonl").read_bytes()


def read(*records, keep=True):
    reader = openhands.Reader.open(keep=keep)
    for record in records:
        reader.feed(record if isinstance(record, bytes) else json.dumps(record).encode())
    return reader.finish()


def old(number, **more):
    return {"id": number, "timestamp": f"2025-05-01T08:00:{number:02}", "source": "agent", **more}


def asked(number=1, text="Count."):
    return old(number, action="message", args={"content": text}) | {"source": "user"}


def acted(number, action="run", key=None, **args):
    meta = {"function_name": action, "tool_call_id": key} if key else None
    return old(number, action=action, args=args, tool_call_metadata=meta)


def seen(number, cause, kind="run", **more):
    return old(number, observation=kind, cause=cause, content="out", **more)


def state(number, name, reason=""):
    return old(number, observation="agent_state_changed", extras={"agent_state": name, "reason": reason})


def new(kind, source="agent", **more):
    return {"id": kind, "kind": kind, "source": source, "timestamp": "2026-02-01T08:00:00", **more}


def said(text, source="user"):
    return new("MessageEvent", source, llm_message={"content": [{"type": "text", "text": text}]})


def called(key="c1", name="terminal", action=None, arguments='{"a": 1}', response=None):
    written = {"id": key, "arguments": arguments}
    return new(
        "ActionEvent",
        tool_call_id=key,
        tool_name=name,
        action=action,
        tool_call=written,
        llm_response_id=response,
    )


def observed(**observation):
    return new("ObservationEvent", "environment", tool_call_id="c1", observation=observation)


def outcome(*events):
    call = read(*events).calls[0]
    return call.is_error, call.cause


def test_an_old_conversation_is_counted():
    stats = count(read(OLD))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 3, 1)
    assert (stats.stop_cause, stats.malformed_args) == ("completed", 0)


def test_a_new_conversation_is_counted():
    stats = count(read(*NEW.splitlines()))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 2, 1)
    assert (stats.stop_cause, stats.malformed_args, stats.ended_on_failed_call) == ("completed", 1, True)


def test_lines_and_a_list_of_the_same_events_say_the_same():
    events = [json.loads(line) for line in NEW.splitlines()]
    listed, lines = read(events), read(*NEW.splitlines())
    assert count(listed) == count(lines)
    assert (listed.records, listed.calls) == (lines.records, lines.calls)


def test_old_tools_are_cited_by_their_exact_bytes():
    assert (
        sha256(read(OLD).surfaces[0].raw)
        == "10c5cf8e105f589a5d3227c4f57d7087b88e8b7149a3b23c6c8debba67e1a4aa"
    )


def test_new_tools_are_cited_by_their_exact_bytes():
    found = read(*NEW.splitlines()).surfaces[0]
    assert found.raw == b'[{"type": "function", "function": {"name": "terminal"}}]'
    assert (found.kind, found.reconstructed) == ("sent", False)


def test_tools_that_cannot_be_cut_out_are_marked_as_reconstructed():
    found = read(OLD.replace(b"Count the orders.", rb"Count \ud83d"))
    assert found.surfaces[0].reconstructed


def test_descriptions_of_the_agent_itself_are_no_surface():
    found = read(new("SystemPromptEvent", tools=[{"kind": "TerminalTool", "description": "Run."}]))
    assert (found.surfaces, found.partial_names) == ((), True)


@pytest.mark.parametrize("records", [[OLD], NEW.splitlines()])
def test_the_system_prompt_is_kept_as_sent(records):
    assert read(*records).prompts[0].raw == b"You are careful."


def test_a_prompt_that_was_sent_with_a_context_is_not_cited():
    event = new("SystemPromptEvent", system_prompt={"text": "a"}, dynamic_context={"text": "b"})
    assert read(event).prompts == ()


def test_calls_of_one_model_response_are_one_step():
    assert [call.step for call in read(OLD).calls] == [1, 1, 2]


def test_arguments_are_those_the_model_wrote():
    assert [call.input for call in read(OLD).calls][:2] == [{"command": "wc -l orders"}, {"thought": ""}]


def test_a_result_without_a_call_id_is_paired_by_its_cause():
    assert read(acted(2), seen(3, cause=2)).calls[0].output == "out"


@pytest.mark.parametrize(
    ("kind", "extras", "told"),
    [
        ("run", {"metadata": {"exit_code": 0}}, (False, None)),
        ("run", {"metadata": {"exit_code": 2}}, (True, "failed")),
        ("run", {"metadata": {"exit_code": -1}}, (None, "unknown")),
        ("run_ipython", {}, (None, "unknown")),
        ("browse", {"error": True}, (True, "failed")),
        ("browse", {"error": False}, (False, None)),
        ("read", {}, (False, None)),
        ("error", {}, (True, "failed")),
        ("user_rejected", {}, (True, "denied_by_person")),
    ],
)
def test_an_old_observation_tells_how_its_call_went(kind, extras, told):
    assert outcome(acted(2), seen(3, 2, kind, extras=extras)) == told


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (observed(is_error=False, exit_code=0), (False, None)),
        (observed(is_error=False, exit_code=1), (True, "failed")),
        (observed(is_error=True), (True, "failed")),
        (observed(is_error=False, exit_code=-1), (None, "unknown")),
        (observed(), (None, "unknown")),
        (new("AgentErrorEvent", tool_call_id="c1", error="Tool 'x' not found"), (True, "unknown_tool")),
        (new("AgentErrorEvent", tool_call_id="c1", error="it broke"), (True, "failed")),
        (new("UserRejectObservation", tool_call_id="c1"), (True, "denied_by_person")),
        (new("UserRejectObservation", tool_call_id="c1", rejection_source="hook"), (True, "denied_by_hook")),
    ],
)
def test_a_new_observation_tells_how_its_call_went(answer, told):
    assert outcome(called(), answer) == told


def test_refused_arguments_are_malformed():
    error = new("AgentErrorEvent", tool_call_id="c1", error="Error validating args {} for tool")
    call = read(called(), error).calls[0]
    assert (call.cause, call.malformed) == ("refused_arguments", True)


def test_arguments_that_are_no_json_are_malformed_and_kept():
    call = read(called(arguments="{oops")).calls[0]
    assert (call.malformed, call.input) == (True, "{oops")


def test_the_finishing_call_has_no_observation_and_did_not_fail():
    last = read(OLD).calls[-1]
    assert (last.name, last.is_error) == ("finish", False)


@pytest.mark.parametrize(
    "events",
    [
        [asked(1), acted(2), asked(3, "Only May.")],
        [said("Count."), called(), said("Only May.")],
    ],
)
def test_words_while_the_agent_works_are_steering(events):
    assert read(*events).steered


@pytest.mark.parametrize(
    "events",
    [
        [asked(1), acted(2), state(3, "awaiting_user_input"), asked(4, "Thanks.")],
        [asked(1), acted(2, "message", content="Done.", wait_for_response=True), asked(3, "Thanks.")],
        [said("Count."), said("12.", "agent"), said("Thanks.")],
    ],
)
def test_words_after_the_agent_came_to_rest_are_the_next_turn(events):
    found = read(*events)
    assert (found.steered, found.turn_count) == (False, 2)


def test_a_nudge_of_the_harness_is_injected():
    found = read(said("Please use a tool.", "environment"))
    assert (found.turn_count, found.injected) == (0, 1)


@pytest.mark.parametrize("event", [acted(2, "condensation"), new("Condensation")])
def test_a_condensation_is_a_compaction(event):
    found = read(event)
    assert (found.compactions, found.steps) == (1, 0)


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (state(9, "stopped"), "interrupted"),
        (state(9, "error", "AgentStuckInLoopError: stuck"), "loop"),
        (state(9, "error", "Agent reached maximum iteration."), "max_turns"),
        (state(9, "error", "STATUS$ERROR_LLM_AUTHENTICATION"), "api_error"),
        (state(9, "error", "who knows"), None),
        (new("PauseEvent", "user"), "interrupted"),
        (new("ConversationErrorEvent", code="LLMBadRequestError"), "api_error"),
        (new("ConversationErrorEvent", code="MaxIterationsReached"), "max_turns"),
        (new("ConversationStateUpdateEvent", key="execution_status", value="stuck"), "loop"),
    ],
)
def test_the_last_mark_says_why_the_run_stopped(event, cause):
    found = read(said("Count."), said("Well.", "agent"), event)
    assert (found.stop_cause, found.stop_inferred) == (cause, False)


def test_a_state_tells_identity_project_and_model():
    found = read(*NEW.splitlines())
    assert (found.native, found.project, found.models) == ("conv-1", "/srv/shop", ("small-1",))


def test_the_cumulative_token_count_stands():
    assert read(OLD).tokens == Tokens(input=300, output=20, cache_read=100)


def test_what_is_not_known_is_counted_by_kind():
    found = read(new("DreamEvent"), acted(2, "message", content=4), seen(3, 99, "vision"), {"kind": 4})
    assert found.unfamiliar == {
        "DreamEvent": 1,
        "observation vision of no call": 1,
        "event of another shape": 1,
    }


@pytest.mark.parametrize("line", [b"{", b"7", b"null", b"\xff"])
def test_what_is_no_event_is_unreadable(line):
    assert (read(line).records, read(line).unreadable) == (1, 1)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(*NEW.splitlines(), keep=False)
    assert count(slim) == count(read(*NEW.splitlines()))
    assert "12 orders" not in repr(slim)


@pytest.mark.parametrize("cut", range(len(NEW.splitlines()) + 1))
def test_a_reader_saved_at_a_line_end_goes_on_as_if_never_stopped(cut):
    lines = NEW.splitlines()
    reader = openhands.Reader.open()
    for line in lines[:cut]:
        reader.feed(line)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=openhands.Reader)
    for line in lines[cut:]:
        again.feed(line)
    assert again.finish() == read(*lines)


def test_both_generations_are_recognised_by_content():
    assert openhands.sniff(peek.document(OLD))
    assert openhands.sniff(peek.lines(NEW))


@pytest.mark.parametrize(
    "data",
    [b"[]", b'{"id":1,"kind":"MessageEvent","source":"user"}', b'[{"role":"user","content":"hi"}]', b"[4]"],
)
def test_what_is_no_conversation_is_not_claimed(data):
    assert not openhands.sniff(peek.document(data))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(
    [
        "action",
        "observation",
        "kind",
        "args",
        "extras",
        "source",
        "tools",
        "content",
        "thought",
        "tool_call_metadata",
    ]
)
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)
WORDS = st.sampled_from(
    ["system", "message", "run", "error", "ActionEvent", "SystemPromptEvent", "ObservationEvent"]
)


@settings(max_examples=80, deadline=None)
@given(WORDS, st.dictionaries(KEYS, SHAPES, max_size=5))
def test_no_shape_of_event_raises_or_is_lost(word, event):
    for name in ("action", "observation", "kind"):
        assert read({**event, name: word}).records == 1
