"""Laws of the mini-swe-agent reader: one turn, and outputs in the user's place are outputs."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import mini_swe_agent as mini
from githarness.formats import peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

VECTORS = Path(__file__).parent / "vectors/mini_swe_agent"
TOOLS = (VECTORS / "tools.traj.json").read_bytes()
TEXT = (VECTORS / "text.traj.json").read_bytes()

HEAD = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Fix the fees."}]
RUN = {"role": "assistant", "content": "```bash\nls\n```"}


def read(document, keep=True):
    reader = mini.Reader.open(keep=keep)
    reader.feed(document if isinstance(document, bytes) else json.dumps(document).encode())
    return reader.finish()


def ended(status, steps=3, limit=0):
    config = {"agent": {"step_limit": limit}}
    info = {"mini_version": "2", "exit_status": status, "model_stats": {"api_calls": steps}, "config": config}
    return read({"info": info, "messages": [*HEAD, RUN]})


def test_a_run_with_tools_is_counted():
    stats = count(read(TOOLS))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 2, 1)
    assert (stats.stop_cause, stats.ended_on_failed_call) == ("completed", False)


def test_a_run_in_text_has_one_turn_and_its_outputs_are_results():
    found = read(TEXT)
    assert (found.turn_count, found.steps, found.injected) == (1, 3, 1)
    assert [(call.name, call.is_error) for call in found.calls] == [("bash", False), ("bash", True)]


def test_a_command_in_a_fence_is_the_input_of_the_one_tool():
    assert read(TEXT).calls[0].input == {"command": "grep -n fee shop.py"}


def test_a_response_with_two_commands_runs_neither():
    two = {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"}
    found = read([*HEAD, two, {"role": "user", "content": "One, please."}])
    assert (found.calls, found.injected) == ((), 1)


def test_the_facts_of_a_run_come_from_its_info():
    found = read(TOOLS)
    assert (found.project, found.models, found.versions) == ("/srv/shop", ("small-1",), ("2.1.0",))
    assert (found.started, found.ended) == ("2023-11-14T22:13:21.500Z", "2023-11-14T22:13:23.500Z")


def test_tokens_are_summed_over_responses():
    assert read(TOOLS).tokens == Tokens(input=110, output=11, cache_read=20)


def test_the_system_prompt_is_kept_as_sent():
    assert read(TOOLS).prompts[0].raw == b"One command at a time."


def test_a_submission_is_the_success_of_the_command_that_made_it():
    last = read(TOOLS).calls[-1]
    assert (last.is_error, last.output) == (False, "diff of shop.py")


def test_a_run_that_broke_off_leaves_its_last_call_unknown():
    found = ended("APIConnectionError")
    assert (found.calls[-1].cause, found.stop_cause) == ("unknown", "api_error")


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ("Submitted", "completed"),
        ("InternalServerError", "api_error"),
        ("Timeout", "api_error"),
        ("UserInterruption", "interrupted"),
        ("RepeatedFormatError", "no_output"),
        ("Retired", None),
    ],
)
def test_the_exit_status_says_why_the_run_stopped(status, cause):
    assert (ended(status).stop_cause, ended(status).stop_inferred) == (cause, False)


@pytest.mark.parametrize(("limit", "cause"), [(3, "max_turns"), (0, "cost_budget"), (9, "cost_budget")])
def test_the_limit_that_was_reached_is_told_by_the_steps(limit, cause):
    assert ended("LimitsExceeded", steps=3, limit=limit).stop_cause == cause


def test_a_command_a_person_rejected_was_denied_and_steered():
    no = {"role": "user", "content": "Command not executed. The user rejected your command: use make"}
    found = read([*HEAD, RUN, no])
    assert (found.calls[0].cause, found.steered) == ("denied_by_person", True)


def test_an_interruption_is_steering_and_no_output():
    stop = {"role": "user", "content": "wait", "extra": {"interrupt_type": "UserInterruption"}}
    found = read([*HEAD, RUN, stop])
    assert (found.steered, found.calls[0].output) == (True, None)


def test_an_output_without_a_return_code_is_unknown():
    found = read([*HEAD, RUN, {"role": "user", "content": "diff"}])
    assert (found.calls[0].is_error, found.calls[0].output) == (None, "diff")


def test_arguments_that_are_no_json_are_malformed_and_kept():
    broken = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{oops"}}],
    }
    call = read([*HEAD, broken]).calls[0]
    assert (call.malformed, call.input) == (True, "{oops")


def test_a_message_of_another_shape_costs_no_other():
    found = read([*HEAD, 4, {"role": "oracle"}, RUN])
    assert found.unfamiliar == {"message of another shape": 1, "role oracle": 1}
    assert len(found.calls) == 1


@pytest.mark.parametrize("data", [b"{", b"{}", b"7", b"\xff"])
def test_what_holds_no_messages_is_unreadable(data):
    assert (read(data).records, read(data).unreadable) == (1, 1)


@pytest.mark.parametrize("data", [TOOLS, TEXT])
def test_without_keep_the_counts_are_the_same_and_no_text_is_held(data):
    slim = read(data, keep=False)
    assert count(slim) == count(read(data))
    assert "grep" not in repr(slim)


@pytest.mark.parametrize("data", [TOOLS, TEXT])
def test_a_saved_reader_says_the_same(data):
    reader = mini.Reader.open()
    reader.feed(data)
    saved = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=mini.Reader)
    assert saved.finish() == reader.finish()


@pytest.mark.parametrize("data", [TOOLS, TEXT])
def test_both_dialects_are_recognised_by_content(data):
    assert mini.sniff(peek.document(data))


@pytest.mark.parametrize(
    "other",
    [
        [*HEAD, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Thanks."}],
        {"info": {"id": "ses"}, "messages": [{"info": {}, "parts": []}]},
        {"messages": HEAD, "model": "small-1"},
        [],
    ],
)
def test_what_no_mini_agent_wrote_is_not_claimed(other):
    assert not mini.sniff(peek.document(json.dumps(other).encode()))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["role", "content", "tool_calls", "extra", "returncode", "timestamp", "response"])
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(SHAPES, SHAPES)
def test_no_shape_of_message_or_info_raises_or_is_lost(message, info):
    assert read({"info": info, "messages": [message]}).records == 1
