"""Laws of the pydantic-ai reader: a retry is a failure, and only a schema's is malformed."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import peek, pydantic_ai
from githarness.measure.counters import count
from githarness.model.session import Tokens

HISTORY = (Path(__file__).parent / "vectors/pydantic_ai/history.json").read_bytes()


def read(document, keep=True):
    reader = pydantic_ai.Reader.open(keep=keep)
    reader.feed(document if isinstance(document, bytes) else json.dumps(document).encode())
    return reader.finish()


def request(*parts, **more):
    return {"kind": "request", "parts": list(parts), **more}


def response(*parts, **more):
    return {"kind": "response", "parts": list(parts), **more}


def asked(content="Sum."):
    return {"part_kind": "user-prompt", "content": content}


def text(content="Done."):
    return {"part_kind": "text", "content": content}


def calling(args=None, call="a", kind="tool-call"):
    return {
        "part_kind": kind,
        "tool_name": "view",
        "tool_call_id": call,
        "args": {} if args is None else args,
    }


def returned(content="ok", call="a", kind="tool-return", **more):
    return {"part_kind": kind, "tool_name": "view", "tool_call_id": call, "content": content, **more}


def made(*parts, args=None):
    return read([response(calling(args)), request(*parts)]).calls[0]


def test_a_history_is_counted():
    stats = count(read(HISTORY))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 3, 2)
    assert (stats.malformed_args, stats.compactions, stats.stop_cause) == (1, None, "completed")


def test_the_conversation_names_the_session():
    found = read(HISTORY)
    assert (found.native, found.models, found.started) == ("talk-3", ("small-1",), "2026-05-01T08:00:00Z")


def test_results_are_paired_by_id_and_never_by_order():
    outputs = {call.id: call.output for call in read(HISTORY).calls}
    assert outputs == {"a": '{"orders":12}', "b": '[{"type":"missing"}]', "c": "busy"}


def test_a_validation_error_is_refused_and_malformed():
    refused = read(HISTORY).calls[1]
    assert (refused.cause, refused.malformed) == ("refused_arguments", True)


def test_a_tool_that_asks_to_be_called_again_failed_on_good_arguments():
    failed = read(HISTORY).calls[2]
    assert (failed.cause, failed.malformed) == ("failed", False)


@pytest.mark.parametrize(
    ("outcome", "cause"), [("success", None), ("failed", "failed"), ("denied", "denied_by_person")]
)
def test_a_stated_outcome_is_taken(outcome, cause):
    assert made(returned(outcome=outcome)).cause == cause


def test_a_return_that_states_no_outcome_is_unknown():
    assert made(returned()).is_error is None


def test_an_older_retry_with_a_list_of_errors_is_a_schemas():
    refused = made(returned([{"type": "missing"}], kind="retry-prompt"))
    assert (refused.cause, refused.malformed) == ("refused_arguments", True)


def test_an_older_retry_with_words_is_a_tools():
    assert made(returned("try later", kind="retry-prompt")).cause == "failed"


def test_a_tool_that_is_not_there_is_told_apart():
    assert made(returned("Unknown tool name: 'see'.", kind="retry-prompt")).cause == "unknown_tool"


def test_a_retry_that_names_no_tool_is_the_harness_speaking():
    found = read([response(text()), request({"part_kind": "retry-prompt", "content": "Call a tool."})])
    assert (found.injected, found.turn_count, found.orphans) == (1, 0, 0)


def test_arguments_may_be_text_or_an_object():
    assert made(args='{"n": 1}').input == made(args={"n": 1}).input == {"n": 1}


def test_arguments_that_are_no_json_are_malformed_and_kept_as_they_are():
    cut = made(args='{"n":')
    assert (cut.malformed, cut.input) == (True, '{"n":')


def test_a_prompt_beside_results_steers():
    turn = [response(calling()), request(returned(), asked("Stop."))]
    assert read(turn).steered
    assert not read([request(asked()), response(text()), request(asked())]).steered


def test_the_texts_of_a_prompt_with_images_are_the_turn():
    assert read([request(asked(["Look.", {"kind": "image-url"}]))]).turns[0].text == "Look."


def test_instructions_alone_are_the_prompt_as_text():
    assert [one.raw for one in read(HISTORY).prompts] == [b"Be exact."]


def test_prompt_parts_and_instructions_are_one_prompt():
    system = {"part_kind": "system-prompt", "content": "Be kind."}
    found = read([request(system, asked(), instructions="Be exact.")])
    assert [one.raw for one in found.prompts] == [b'["Be kind.","Be exact."]']


def test_a_tool_of_the_provider_ends_within_its_response():
    parts = [calling(kind="builtin-tool-call"), returned(kind="builtin-tool-return", outcome="success")]
    found = read([response(*parts)])
    assert (found.calls[0].output, found.calls[0].cause, found.steps) == ("ok", None, 1)


def test_a_call_that_hands_in_the_result_ends_the_run():
    handed = [response(calling()), request(returned("Final result processed.", outcome="success"))]
    assert read(handed).stop_cause == "completed"


@pytest.mark.parametrize(
    ("reason", "cause"), [("length", "output_token_budget"), ("error", "api_error"), ("tool_call", None)]
)
def test_a_finish_reason_is_the_stop_cause(reason, cause):
    assert read([response(calling(), finish_reason=reason)]).stop_cause == cause


def test_an_interrupted_response_interrupts_the_run():
    assert read([response(text(), state="interrupted")]).stop_cause == "interrupted"


def test_tokens_are_summed_over_the_responses():
    assert read(HISTORY).tokens == Tokens(input=50, output=8, cache_read=5)


def test_older_names_of_tokens_are_read_and_zeros_are_no_report():
    usage = {"request_tokens": 3, "response_tokens": 1}
    assert read([response(text(), usage=usage)]).tokens == Tokens(input=3, output=1)
    assert read([response(text(), usage={"input_tokens": 0})]).tokens is None


def test_strangers_are_counted():
    found = read([request(asked(), {"part_kind": "dream"}), 7, response({"part_kind": "dance"})])
    assert found.unfamiliar == {"part dream": 1, "message of another shape": 1, "part dance": 1}


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'[{"kind":"request"}]', b"\xff"])
def test_what_is_no_history_is_unreadable(data):
    assert (read(data).records, read(data).unreadable) == (1, 1)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    saved = msgspec.msgpack.encode(pydantic_ai.Reader.open())
    again = msgspec.msgpack.decode(saved, type=pydantic_ai.Reader)
    again.feed(HISTORY)
    assert again.finish() == read(HISTORY)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(HISTORY, keep=False)
    assert count(slim) == count(read(HISTORY))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


def test_a_history_is_recognised_by_its_kinds_and_parts():
    assert pydantic_ai.sniff(peek.document(HISTORY))
    assert not pydantic_ai.sniff(peek.document(b'[{"kind":"request","parts":[{"text":"x"}]}]'))
    assert not pydantic_ai.sniff(peek.lines(b'{"kind":"request","parts":[]}\n{}\n'))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["content", "args", "tool_call_id", "outcome", "retry", "usage", "tool_name"])
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)
PARTS = st.sampled_from(["text", "tool-call", "tool-return", "retry-prompt", "user-prompt", "system-prompt"])


@settings(max_examples=60, deadline=None)
@given(PARTS, st.dictionaries(KEYS, SHAPES, max_size=4), SHAPES)
def test_no_shape_of_part_raises_or_is_lost(kind, fields, usage):
    part = {"part_kind": kind, **fields}
    assert read([request(part, instructions=usage), response(part, usage=usage)]).records == 2
