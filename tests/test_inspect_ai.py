"""Laws of the Inspect reader: the messages are the run, and model events say what was sent."""

import json

import made_evallog as made
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.capture import evallog
from githarness.formats import inspect_ai, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens


def lines(sample):
    return list(next(evallog.sessions_of_log(made.log(sample))).lines)


def feed(reader, records):
    for record in records:
        reader.feed(record)
    return reader


def read(sample, keep=True):
    return feed(inspect_ai.Reader.open(keep=keep), lines(sample)).finish()


def answered(*results, events=(), **more):
    first = made.assistant("", "a")
    return made.sample([made.user(), first, *results], [made.model(first, "tool_calls"), *events], **more)


def cause(error, message="no", events=()):
    return read(answered(made.tool("a", "", error, message), events=events)).calls[0].cause


def test_a_run_is_counted():
    stats = count(read(made.spoken()))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 2, 1)
    assert (stats.stop_cause, stats.stop_inferred, stats.compactions) == ("completed", False, None)


def test_the_header_names_the_run():
    found = read(made.spoken())
    assert (found.native, found.models, found.versions) == ("ev/1/1", ("acme/small-1",), ("0.3.95",))


def test_results_are_paired_by_id_and_never_by_order():
    assert {call.id: call.output for call in read(made.spoken()).calls} == {"a": "12 orders", "b": "no"}


def test_the_tools_of_a_model_event_are_the_surface_before_its_response():
    seen = read(made.spoken()).surfaces
    assert [(one.position, one.kind, one.reconstructed) for one in seen] == [(0, "sent", True)]
    assert json.loads(seen[0].raw)[0]["description"] == "Show a file."


def test_without_tools_there_is_no_surface():
    answer = made.assistant("Hi.")
    assert read(made.sample([made.user(), answer], [made.model(answer)])).surfaces == ()


def test_the_system_message_is_the_prompt():
    assert [one.raw for one in read(made.spoken()).prompts] == [b"Be exact."]


def test_a_message_without_an_error_is_a_success():
    assert cause(None) is None


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("parsing", "refused_arguments"),
        ("approval", "denied_by_hook"),
        ("cancelled", "cancelled"),
        ("permission", "failed"),
        ("timeout", "failed"),
        ("unknown", "failed"),
        ("output_limit", "failed"),
        ("limit", "failed"),
        ("a newer one", "failed"),
    ],
)
def test_an_error_has_the_cause_of_its_type(error, told):
    assert cause(error) == told


def test_a_tool_that_is_not_there_is_told_from_bad_arguments():
    assert cause("parsing", "Tool see not found") == "unknown_tool"


def test_refused_arguments_are_malformed():
    assert read(answered(made.tool("a", "", "parsing"))).calls[0].malformed


def test_arguments_that_could_not_be_parsed_are_malformed_before_any_result():
    first = made.assistant("", "a")
    first["tool_calls"][0] |= {"parse_error": "no JSON", "arguments": {}}
    assert read(made.sample([made.user(), first])).calls[0].malformed


def test_a_rejection_is_a_persons_where_the_approver_was_one():
    event = {"event": "approval", "decision": "reject", "approver": "human", "call": {"id": "a"}}
    before = made.sample([made.user(), made.assistant("", "a"), made.tool("a", "", "approval")], [event])
    assert read(before).calls[0].cause == "denied_by_person"


def test_a_tool_that_raised_has_failed_though_no_message_says_so():
    raised = {"event": "tool", "id": "a", "function": "view", "failed": True}
    found = read(made.sample([made.user(), made.assistant("", "a")], error={"message": "x"}, events=[]))
    assert found.calls[0].cause == "unknown"
    first = made.assistant("", "a")
    events = [made.model(first, "tool_calls"), raised]
    assert read(made.sample([made.user(), first], events)).calls[0].cause == "failed"


def test_the_dataset_and_an_operator_take_turns_and_a_solver_does_not():
    nudge = made.user("Go on.", source=None, key="n")
    operator = made.user("Stop.", source="operator", key="o")
    found = read(made.sample([made.user(), made.assistant("Hm."), nudge, operator]))
    assert ([turn.text for turn in found.turns], found.injected) == (["Sum the orders.", "Stop."], 1)
    assert found.steered


def test_a_first_message_without_a_source_is_the_task():
    assert read(made.sample([made.user(source=None)])).turn_count == 1


def test_a_graders_call_is_no_step_and_spends_nothing_of_the_run():
    answer = made.assistant("Twelve.")
    grader = made.model({"id": "g", "role": "assistant", "content": "Good."})
    found = read(made.sample([made.user(), answer], [made.model(answer), grader]))
    assert (found.steps, found.tokens) == (1, Tokens(input=9, output=2))


@pytest.mark.parametrize(
    ("limit", "stop"),
    [
        ("message", "max_turns"),
        ("token", "output_token_budget"),
        ("cost", "cost_budget"),
        ("time", "interrupted"),
        ("context", "api_error"),
        ("operator", "interrupted"),
        ("a newer one", "interrupted"),
    ],
)
def test_what_limited_a_sample_is_why_it_stopped(limit, stop):
    answer = made.assistant("Tw")
    sample = made.sample([made.user(), answer], [made.model(answer)], limit={"type": limit, "limit": 1})
    assert read(sample).stop_cause == stop


def test_a_sample_that_raised_did_not_complete():
    answer = made.assistant("Tw")
    assert (
        read(made.sample([made.user(), answer], [made.model(answer)], error={"message": "x"})).stop_cause
        == "api_error"
    )


def test_a_response_that_ran_out_of_tokens_is_no_completion():
    answer = made.assistant("Tw")
    assert read(made.sample([answer], [made.model(answer, "max_tokens")])).stop_cause == "output_token_budget"


def test_a_compaction_is_counted_where_the_log_notes_it():
    assert (
        read(answered(made.tool("a"), events=[{"event": "compaction", "type": "summary"}])).compactions == 1
    )


def test_an_agent_within_an_agent_is_named():
    spans = [("s", "solvers", ""), ("x", "agent", "s"), ("t", "tool", "x"), ("y", "agent", "t")]
    events = [{"event": "span_begin", "id": key, "type": kind, "parent_id": up} for key, kind, up in spans]
    assert read(made.sample([made.user()], events)).subagents == ("y",)


def test_the_total_tells_whether_input_holds_what_a_cache_gave():
    answer = made.assistant("Hi.")
    event = made.model(answer)
    usage = {"input_tokens": 5, "output_tokens": 2, "input_tokens_cache_read": 3, "total_tokens": 10}
    event["output"]["usage"] = usage
    assert read(made.sample([answer], [event])).tokens == Tokens(input=8, output=2, cache_read=3)


def test_blocks_of_a_message_are_read_as_its_text():
    blocks = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Twelve."}]
    assert read(made.sample([made.user(), made.assistant(blocks)])).final_text == "Twelve."


def test_a_lone_surrogate_costs_no_line():
    found = read(made.sample([made.user("cut \ud83d")]))
    assert (found.unreadable, found.turns[0].text) == (0, "cut \\ud83d")


def test_strangers_and_torn_lines_are_counted():
    records = [b'{"message":{"role":"ghost"}}', b'{"event":{"event":"dream"}}', b"{}", b"{", b"7"]
    found = feed(inspect_ai.Reader.open(), records).finish()
    assert found.unfamiliar == {"role ghost": 1, "event dream": 1, "line of another shape": 1}
    assert (found.unreadable, found.records) == (2, 5)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    records = lines(made.spoken())
    for at in range(len(records)):
        half = feed(inspect_ai.Reader.open(), records[:at])
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(half), type=inspect_ai.Reader)
        assert feed(again, records[at:]).finish() == read(made.spoken())


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(made.spoken(), keep=False)
    assert count(slim) == count(read(made.spoken()))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


def test_a_run_is_recognised_by_its_header():
    assert inspect_ai.sniff(peek.lines(b"\n".join(lines(made.spoken()))))
    assert not inspect_ai.sniff(peek.lines(b'{"header":{"run":"x"}}\n{}\n'))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(
    ["role", "content", "tool_calls", "error", "event", "output", "usage", "tools", "type", "call"]
)
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["header", "message", "event"]), SHAPES)
def test_no_shape_of_line_raises_or_is_lost(kind, value):
    found = feed(inspect_ai.Reader.open(), [json.dumps({kind: value, "own": True}).encode()]).finish()
    assert found.records == 1
