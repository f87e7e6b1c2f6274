"""Laws of the SWE-agent reader: two tellings of one run, and no outcome invented."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import peek
from githarness.formats import swe_agent as swe
from githarness.measure.counters import count
from githarness.model.session import Tokens

VECTORS = Path(__file__).parent / "vectors/swe_agent"
TOOLS = (VECTORS / "tools.traj").read_bytes()
TEXT = (VECTORS / "text.traj").read_bytes()


def read(document, keep=True):
    reader = swe.Reader.open(keep=keep)
    reader.feed(document if isinstance(document, bytes) else json.dumps(document).encode())
    return reader.finish()


def run(*steps, history=(), status="submitted", **info):
    return {"trajectory": list(steps), "history": list(history), "info": {"exit_status": status, **info}}


def step(action, observation="", **more):
    return {"action": action, "observation": observation, "response": "Hm.", **more}


def response(action, *calls):
    made = [{"id": key, "function": {"name": "edit", "arguments": text}} for key, text in calls]
    return {"role": "assistant", "content": "Hm.", "action": action, "tool_calls": made}


def test_a_step_that_the_history_lacks_is_counted():
    found = read(TOOLS)
    assert (found.turn_count, found.steps, [call.name for call in found.calls]) == (
        1,
        2,
        ["find_file", "submit"],
    )


def test_a_call_takes_its_id_and_arguments_from_the_history():
    call = read(TOOLS).calls[0]
    assert (call.id, call.input, call.output) == ("c1", {"file_name": "shop.py"}, "Found shop.py")


def test_an_empty_trajectory_leaves_the_history_to_be_read():
    found = read(TEXT)
    assert (found.turn_count, found.steps) == (1, 2)
    assert [(call.name, call.output) for call in found.calls] == [("open", "[shop.py]"), ("edit", None)]


def test_a_result_in_the_history_is_paired_by_its_id():
    answer = {"role": "tool", "content": "done", "tool_call_ids": ["b"]}
    calls = read(run(history=[response("edit", ("a", "{}"), ("b", "{}")), answer])).calls
    assert [call.output for call in calls] == [None, "done"]


def test_a_demonstration_is_another_run():
    found = read(TOOLS)
    assert (found.injected, found.turns[0].text) == (1, "Fix the fees.")


def test_no_outcome_is_claimed_but_that_of_a_submission():
    assert [call.cause for call in read(TOOLS).calls] == ["unknown", None]
    assert count(read(TOOLS)).ended_on_failed_call is False


def test_a_command_in_text_has_no_schema_to_break():
    assert count(read(TEXT)).malformed_args is None


def test_arguments_that_are_no_json_are_malformed():
    calls = read(run(step("edit"), history=[response("edit", ("a", "{oops"))])).calls
    assert [(call.malformed, call.input) for call in calls] == [(True, "{oops")]


def test_a_response_of_another_action_lends_no_calls():
    found = read(run(step("ls"), step("edit"), history=[response("edit", ("a", "{}"))]))
    assert [call.id for call in found.calls] == ["#0", "a"]


def test_one_observation_is_not_shared_among_several_calls():
    found = read(run(step("edit", "ok"), history=[response("edit", ("a", "{}"), ("b", "{}"))]))
    assert [call.output for call in found.calls] == [None, None]


def test_a_step_without_action_is_a_response_without_a_call():
    found = read(run(step("")))
    assert (found.steps, found.calls) == (1, ())


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ("submitted", "completed"),
        ("submitted (exit_cost)", "cost_budget"),
        ("submitted (exit_new)", None),
        ("exit_cost", "cost_budget"),
        ("exit_format", "no_output"),
        ("exit_context", "api_error"),
        ("exit_forfeit", "completed"),
        ("exit_error", None),
        (None, None),
    ],
)
def test_the_exit_status_says_why_the_run_stopped(status, cause):
    found = read(run(step(""), status=status))
    assert (found.stop_cause, found.stop_inferred) == (cause, False)


def test_model_version_and_tokens_come_from_the_end_of_the_document():
    found = read(TOOLS)
    assert (found.models, found.versions, found.tokens) == (
        ("small-1",),
        ("1.1.0",),
        Tokens(input=700, output=30),
    )


def test_a_configuration_that_is_no_text_is_read_as_well():
    document = {**run(step("ls")), "replay_config": {"agent": {"model": {"name": "small-2"}}}}
    assert read(document).models == ("small-2",)


def test_tokens_that_were_not_tracked_are_unknown():
    assert read(TEXT).tokens is None


def test_the_system_prompt_is_kept_as_sent():
    assert read(TOOLS).prompts[0].raw == b"You fix things."


def test_a_record_of_another_shape_costs_no_other():
    found = read(run(step("ls"), history=[4, {"role": "user", "content": "Fix it."}]))
    assert found.unfamiliar == {"record of another shape": 1}
    assert (found.turn_count, found.records) == (1, 3)


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"trajectory":[],"info":{}}', b'{"trajectory":[4],"info":{}}']
)
def test_what_is_no_run_is_unreadable(data):
    assert (read(data).records, read(data).unreadable) == (1, 1)


@pytest.mark.parametrize("data", [TOOLS, TEXT])
def test_without_keep_the_counts_are_the_same_and_no_text_is_held(data):
    slim = read(data, keep=False)
    assert count(slim) == count(read(data))
    assert "shop.py" not in repr(slim)


@pytest.mark.parametrize("data", [TOOLS, TEXT])
def test_a_saved_reader_says_the_same(data):
    reader = swe.Reader.open()
    reader.feed(data)
    saved = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=swe.Reader)
    assert saved.finish() == reader.finish()


@pytest.mark.parametrize("data", [TOOLS, TEXT])
def test_a_run_is_recognised_by_content(data):
    assert swe.sniff(peek.document(data))


@pytest.mark.parametrize(
    "data", [b'{"info":{},"messages":[]}', b'{"trajectory":[{}],"info":{}}', b"[]", b"7"]
)
def test_what_is_no_run_is_not_claimed(data):
    assert not swe.sniff(peek.document(data))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(
    ["role", "content", "action", "tool_calls", "function", "agent", "model", "exit_status"]
)
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(SHAPES, SHAPES)
def test_no_shape_of_record_or_configuration_raises_or_is_lost(entry, config):
    document = run(step("ls"), history=[entry], model_stats=config)
    assert read({**document, "replay_config": config}).records == 2
