"""Laws of the ATIF reader: a result without an id is never guessed onto a call."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.canon import sha256
from githarness.formats import atif, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

DIALOGUE = (Path(__file__).parent / "vectors/atif/dialogue.json").read_bytes()


def read(document, keep=True):
    reader = atif.Reader.open(keep=keep)
    reader.feed(document if isinstance(document, bytes) else json.dumps(document).encode())
    return reader.finish()


def trajectory(*steps, **more):
    agent = {"name": "terrier", "version": "3.1"}
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": list(steps), **more}


def asked(message="Count."):
    return {"step_id": 1, "source": "user", "message": message}


def answer(calls=(), results=(), **more):
    return {
        "source": "agent",
        "message": "",
        "tool_calls": list(calls),
        "observation": {"results": list(results)},
        **more,
    }


def call(key=None, arguments=None):
    return {"tool_call_id": key, "function_name": "shell", "arguments": arguments or {}}


def outputs(*results, calls):
    return [made.output for made in read(trajectory(answer(calls, results))).calls]


def test_a_dialogue_is_counted():
    stats = count(read(DIALOGUE))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_unknown) == (1, 2, 2, 2)
    assert (stats.compactions, stats.stop_cause, stats.stop_inferred) == (None, "completed", True)


def test_the_agent_that_ran_is_the_agent_of_the_run():
    found = read(DIALOGUE)
    assert (found.agent, found.native, found.models, found.versions) == (
        "terrier",
        "run-17",
        ("small-1",),
        ("3.1",),
    )


def test_results_are_paired_by_id_and_never_by_order():
    assert [call.output for call in read(DIALOGUE).calls] == ["12 orders", "orders"]


def test_the_tool_definitions_are_cited_by_their_exact_bytes():
    seen = read(DIALOGUE).surfaces[0]
    assert (seen.kind, seen.reconstructed, seen.position) == ("sent", False, 0)
    assert sha256(seen.raw) == "1ca3fa9267b8372b2e77e12023215cf5248a4060bcc6ca5afb2988fa7646f5eb"


def test_tools_that_cannot_be_cut_out_are_marked_as_reconstructed():
    half = DIALOGUE.replace(b"Count the orders.", rb"Count \ud83d")
    seen = read(half).surfaces[0]
    assert seen.reconstructed
    assert json.loads(seen.raw)[0]["function"]["name"] == "shell"


def test_without_tool_definitions_there_is_no_surface():
    assert read(trajectory(asked())).surfaces == ()


def test_a_lone_result_without_an_id_belongs_to_a_lone_call():
    assert outputs({"content": "ok"}, calls=[call("a")]) == ["ok"]


def test_a_result_without_an_id_belongs_to_no_call_among_several():
    assert outputs({"content": "ok"}, calls=[call("a"), call("b")]) == [None, None]


def test_several_results_without_ids_belong_to_no_call():
    assert outputs({"content": "1"}, {"content": "2"}, calls=[call("a")]) == [None]


def test_a_result_of_a_step_without_calls_is_no_orphan():
    assert read(trajectory(answer([], [{"content": "bad reply"}]))).orphans == 0


def test_no_outcome_is_claimed():
    made = read(DIALOGUE).calls[0]
    assert (made.is_error, made.cause) == (None, "unknown")


def test_arguments_that_are_no_object_are_malformed():
    found = read(trajectory(answer([call("a", "ls"), call("b", {"x": 1})])))
    assert [made.malformed for made in found.calls] == [True, False]


def test_harness_text_is_injected_and_no_turn():
    found = read(trajectory({"source": "system", "message": "hi"}))
    assert (found.turn_count, found.injected) == (0, 1)


def test_copied_context_is_counted_and_not_read_again():
    found = read(trajectory({**asked(), "is_copied_context": True}, answer(message="Go on.")))
    assert (found.copied, found.turn_count, found.records) == (1, 0, 2)


def test_a_subagent_is_known_by_its_trajectory():
    result = {"content": "", "subagent_trajectory_ref": [{"session_id": "child"}]}
    assert read(trajectory(answer([], [result]))).subagents == ("child",)


def test_the_final_metrics_stand_over_the_sum_of_the_steps():
    metrics = {"prompt_tokens": 5, "completion_tokens": 2}
    steps = [answer(metrics=metrics), answer(metrics=metrics)]
    assert read(trajectory(*steps)).tokens == Tokens(input=10, output=4)
    totals = {"total_prompt_tokens": 9, "total_completion_tokens": 3, "total_cached_tokens": 4}
    assert read(trajectory(*steps, final_metrics=totals)).tokens == Tokens(input=9, output=3, cache_read=4)


def test_a_step_of_another_shape_costs_no_other():
    found = read(trajectory(7, {"source": "oracle"}, asked()))
    assert found.unfamiliar == {"step of another shape": 1, "source oracle": 1}
    assert found.turn_count == 1


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"schema_version":"ATIF-v1","steps":4}', b"\xff"])
def test_what_is_no_trajectory_is_unreadable(data):
    assert (read(data).records, read(data).unreadable) == (1, 1)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(DIALOGUE, keep=False)
    assert count(slim) == count(read(DIALOGUE))
    assert "12 orders" not in repr(slim.calls)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    saved = msgspec.msgpack.encode(atif.Reader.open())
    again = msgspec.msgpack.decode(saved, type=atif.Reader)
    again.feed(DIALOGUE)
    assert again.finish() == read(DIALOGUE)


def test_a_trajectory_is_recognised_by_its_schema():
    assert atif.sniff(peek.document(DIALOGUE))
    assert not atif.sniff(peek.document(b'{"schema_version":"2.0","steps":[]}'))
    assert not atif.sniff(peek.lines(b'{"a":1}\n{"b":2}\n'))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["source", "message", "tool_calls", "observation", "results", "content", "metrics"])
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(SHAPES, SHAPES)
def test_no_shape_of_step_or_agent_raises_or_is_lost(step, agent):
    assert read({**trajectory(step), "agent": agent}).records == 1
