"""Laws of the chat completions reader."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import openai_chat as wire
from githarness.formats import peek

TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
HI = {"role": "user", "content": "look"}


def call(id="call_1", name="read", arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def said(content):
    return {"role": "assistant", "content": content}


def result(id="call_1", content="ok"):
    return {"role": "tool", "tool_call_id": id, "content": content}


def request(*messages, **more):
    return {"model": "m", "messages": list(messages), "n": 1} | more


def response(message, id="c1", finish="stop", **more):
    usage = {"prompt_tokens": 8, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 6}}
    body = {"object": "chat.completion", "id": id, "model": "m-1", "created": 1700000000, "usage": usage}
    return body | {"choices": [{"index": 0, "message": message, "finish_reason": finish}]} | more


def pair(asked, answered, **more):
    return {"uri": "/v1/chat/completions", "status": 200, "request": asked, "response": answered} | more


def read(*values, keep=True):
    reader = wire.Reader.open(keep=keep)
    for value in values:
        reader.feed(value if isinstance(value, bytes) else json.dumps(value).encode())
    return reader.finish()


RUN = (
    pair(request(HI, tools=TOOLS), response(calling(call()), finish="tool_calls")),
    pair(
        request(HI, {"role": "assistant", "tool_calls": [call()]}, result(), tools=TOOLS),
        response(said("It says ok."), id="c2"),
    ),
)


def test_its_own_bodies_are_claimed():
    bodies = (*RUN, RUN[0]["request"], RUN[0]["response"])
    assert all(wire.sniff(peek.document(json.dumps(one).encode())) for one in bodies)


@pytest.mark.parametrize(
    "value", [[HI], {"messages": [HI]}, {"choices": []}, {"model": "m", "max_tokens": 1, "messages": [HI]}]
)
def test_other_documents_are_not_claimed(value):
    assert not wire.sniff(peek.document(json.dumps(value).encode()))


def test_a_run_of_two_exchanges_is_one_conversation():
    session = read(*RUN)
    assert (session.turn_count, session.steps, len(session.calls)) == (1, 2, 1)
    assert (session.final_text, session.stop_cause, session.stop_inferred) == (
        "It says ok.",
        "completed",
        False,
    )


def test_an_outcome_without_a_flag_is_unknown_and_never_a_success():
    (found,) = read(*RUN).calls
    assert (found.output, found.is_error, found.cause) == ("ok", None, "unknown")


def test_words_that_sound_like_failure_decide_nothing():
    (found,) = read(request(HI, calling(call()), result(content="Error: no such file"))).calls
    assert (found.is_error, found.cause) == (None, "unknown")


def test_parallel_results_out_of_order_pair_by_id():
    session = read(
        request(HI, calling(call("a"), call("b", "list")), result("b", "of b"), result("a", "of a"))
    )
    assert [(one.name, one.output, one.step) for one in session.calls] == [
        ("read", "of a", 1),
        ("list", "of b", 1),
    ]


def test_an_id_that_every_message_uses_anew_pairs_with_what_follows():
    told = (
        HI,
        calling(call("call_0")),
        result("call_0", "one"),
        calling(call("call_0")),
        result("call_0", "two"),
    )
    assert [one.output for one in read(request(*told), request(*told)).calls] == ["one", "two"]


@pytest.mark.parametrize("id", ["", None])
def test_calls_without_ids_pair_by_order(id):
    session = read(request(HI, calling(call(id), call(id, "list")), result(id, "one"), result(id, "two")))
    assert [one.output for one in session.calls] == ["one", "two"]


def test_a_function_call_of_the_old_kind_pairs_by_name():
    old = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    session = read(request(HI, old, {"role": "function", "name": "read", "content": "ok"}))
    assert [(one.name, one.output) for one in session.calls] == [("read", "ok")]


@pytest.mark.parametrize(
    ("arguments", "malformed"),
    [('{"a":1}', False), ("{not json", True), ("[]", True), ("", None), ("[REDACTED:x:1]", None)],
)
def test_arguments_that_are_no_object_are_malformed(arguments, malformed):
    (found,) = read(request(HI, calling(call(arguments=arguments)))).calls
    assert found.malformed is malformed


def test_arguments_that_were_spaced_differently_are_the_same_call():
    first = pair(request(HI), response(calling(call(arguments='{"a": 1}')), finish="tool_calls"))
    assert len(read(first, request(HI, calling(call(arguments='{"a":1}')), result())).calls) == 1


def test_a_tool_of_free_text_keeps_its_text():
    free = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    (found,) = read(request(HI, calling(free))).calls
    assert (found.name, found.input, found.malformed) == ("sql", "select 1", False)


def test_text_after_results_is_steering():
    session = read(request(HI, calling(call()), result(), {"role": "user", "content": "stop"}))
    assert (session.steered, session.turn_count) == (True, 2)


def test_an_image_sent_after_a_result_is_no_steering_and_no_turn():
    image = {
        "role": "user",
        "content": [{"type": "text", "text": "the file"}, {"type": "image_url", "image_url": {}}],
    }
    session = read(request(HI, calling(call()), result(), image))
    assert (session.steered, session.turn_count, session.injected) == (False, 1, 1)


def test_the_system_message_is_the_prompt():
    assert [p.raw for p in read(request({"role": "system", "content": "Be brief."}, HI)).prompts] == [
        b"Be brief."
    ]


def test_a_system_message_of_blocks_is_its_exact_json():
    data = b'{"model":"m","n":1,"messages":[{"role":"developer","content":[ {"type":"text","text":"s"}]}]}'
    assert [p.raw for p in read(data).prompts] == [b'[ {"type":"text","text":"s"}]']


def test_several_system_messages_are_the_list_of_their_contents():
    data = b'{"model":"m","messages":[{"role":"system","content":"a"},{"role":"developer","content":[ ]}]}'
    assert [p.raw for p in read(data).prompts] == [b'["a",[ ]]']


def test_a_system_message_after_the_head_is_injected():
    session = read(request({"role": "system", "content": "a"}, HI, {"role": "system", "content": "b"}))
    assert (session.injected, [p.raw for p in session.prompts]) == (1, [b"a"])


def test_the_tools_array_is_kept_to_the_byte():
    data = b'{"model":"m","n":1,"messages":[],"tools":[ {"type":"function","function":{"name":"a"}} ]}'
    assert [seen.raw for seen in read(data).surfaces] == [b'[ {"type":"function","function":{"name":"a"}} ]']


def test_tools_that_change_in_a_run_stand_where_they_changed():
    more = RUN[1] | {"request": RUN[1]["request"] | {"tools": []}}
    assert [(seen.position, seen.raw[:2]) for seen in read(RUN[0], more).surfaces] == [(0, b"[{"), (1, b"[]")]


def test_functions_of_the_old_kind_are_a_surface():
    data = b'{"model":"m","messages":[],"functions":[{"name":"a"}]}'
    assert [seen.raw for seen in read(data).surfaces] == [b'[{"name":"a"}]']


def test_only_the_first_choice_is_part_of_the_conversation():
    other = response(said("One."))
    other["choices"].append({"index": 1, "message": calling(call()), "finish_reason": "tool_calls"})
    session = read(pair(request(HI), other))
    assert (session.final_text, session.calls) == ("One.", ())


@pytest.mark.parametrize(
    ("message", "finish", "cause"),
    [
        (said("x"), "stop", "completed"), (said("x"), "length", "output_token_budget"),
        (calling(call()), "tool_calls", None), (calling(call()), "stop", None),
    ],
)  # fmt: skip
def test_a_finish_reason_is_the_stop_cause(message, finish, cause):
    assert read(pair(request(HI), response(message, finish=finish))).stop_cause == cause


def test_an_error_body_is_an_api_error():
    session = read(pair(request(HI), {"error": {"message": "x"}}, status=400))
    assert (session.stop_cause, session.steps) == ("api_error", 0)


def test_tokens_and_time_come_from_the_response():
    session = read(*RUN)
    assert (session.tokens.input, session.tokens.output, session.tokens.cache_read) == (16, 6, 12)
    assert session.started == "2023-11-14T22:13:20Z"


def test_compactions_leave_no_trace_here():
    assert read(*RUN).compactions is None


def test_a_refusal_is_what_the_model_said():
    assert read(request(HI, {"role": "assistant", "content": None, "refusal": "No."})).final_text == "No."


def chunk(delta, finish=None, **more):
    whole = {"object": "chat.completion.chunk", "id": "c1", "model": "m-1", "created": 1700000000}
    return whole | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} | more


def test_a_stream_reads_as_the_response_it_is():
    whole = response(calling(call(arguments='{"a":1}'), content="I look."), finish="tool_calls")
    first = {"index": 0, "id": "call_1", "function": {"name": "read", "arguments": ""}}
    chunks = [
        chunk({"role": "assistant", "content": "I "}), chunk({"content": "look."}),
        chunk({"tool_calls": [first]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}, "tool_calls"),
        {"choices": [], "usage": whole["usage"]},
    ]  # fmt: skip
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"
    assert read(pair(request(HI), text)) == read(pair(request(HI), whole))


def test_what_is_unknown_is_counted():
    session = read(b"nope", request(HI, {"role": "narrator", "content": "x"}), request(HI, 5))
    assert (session.unreadable, session.unfamiliar) == (1, {"role narrator": 1, "role None": 1})


def test_a_snapshot_between_two_records_changes_nothing():
    reader = wire.Reader.open()
    reader.feed(json.dumps(RUN[0]).encode())
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=wire.Reader)
    again.feed(json.dumps(RUN[1]).encode())
    assert again.finish() == read(*RUN)


def test_without_keep_no_text_is_held():
    reader = wire.Reader.open(keep=False)
    for value in RUN:
        reader.feed(json.dumps(value).encode())
    assert b"It says ok." not in msgspec.msgpack.encode(reader)
    assert reader.finish().steps == 2


leaf = st.none() | st.integers() | st.sampled_from(["", "x", "{", "tool", "user", "assistant", "system"])
keys = st.sampled_from(
    ["role", "content", "tool_calls", "function", "name", "arguments", "id", "tool_call_id", "delta"]
)
shape = st.recursive(
    leaf, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=4), max_leaves=12
)


@settings(max_examples=100, deadline=None)
@given(shape, shape)
def test_no_shape_of_bodies_raises(asked, answered):
    for answer in ({"choices": answered}, [{"choices": answered}]):
        body = {"path": "/v1/chat/completions", "request": {"messages": asked}, "response": answer}
        assert read(body).format == "openai-chat"
