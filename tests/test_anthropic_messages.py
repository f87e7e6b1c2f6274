"""Laws of the Anthropic Messages reader."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import anthropic_messages as wire
from githarness.formats import peek

TOOLS = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]


def user(*blocks):
    return {"role": "user", "content": [b if isinstance(b, dict) else text(b) for b in blocks]}


def assistant(*blocks):
    return {"role": "assistant", "content": [b if isinstance(b, dict) else text(b) for b in blocks]}


def text(words):
    return {"type": "text", "text": words}


def use(id="toolu_1", name="read", input=None, type="tool_use"):
    return {"type": type, "id": id, "name": name, "input": {} if input is None else input}


def result(id="toolu_1", content="ok", type="tool_result", **more):
    return {"type": type, "tool_use_id": id, "content": content} | more


def request(*messages, **more):
    return {"model": "m", "max_tokens": 9, "messages": list(messages)} | more


def response(*blocks, id="msg_1", stop="end_turn", **more):
    usage = {
        "input_tokens": 3,
        "output_tokens": 5,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 2,
    }
    body = {
        "type": "message",
        "role": "assistant",
        "id": id,
        "model": "m-1",
        "stop_reason": stop,
        "usage": usage,
    }
    return body | {"content": assistant(*blocks)["content"]} | more


def pair(asked, answered, **more):
    return {"uri": "/v1/messages", "status": 200, "request": asked, "response": answered} | more


def read(*values, keep=True):
    reader = wire.Reader.open(keep=keep)
    for value in values:
        reader.feed(value if isinstance(value, bytes) else json.dumps(value).encode())
    return reader.finish()


RUN = (
    pair(request(user("look"), tools=TOOLS, system="Be brief."), response("I look.", use(), stop="tool_use")),
    pair(
        request(user("look"), assistant("I look.", use()), user(result()), tools=TOOLS, system="Be brief."),
        response("It says ok.", id="msg_2"),
    ),
)


def test_its_own_bodies_are_claimed():
    assert all(wire.sniff(peek.document(json.dumps(one).encode())) for one in (*RUN, RUN[0]["request"]))


@pytest.mark.parametrize(
    "value", [[], {}, 5, {"type": "assistant", "message": {}}, {"model": "m", "messages": []}]
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


@pytest.mark.parametrize("value", [list(RUN), {"interactions": list(RUN)}])
def test_a_list_or_a_cassette_reads_as_its_lines_do(value):
    assert read(value) == read(*RUN)


def test_a_call_is_paired_with_its_result():
    (call,) = read(*RUN).calls
    assert (call.id, call.step, call.output, call.is_error, call.cause) == ("toolu_1", 1, "ok", False, None)


def test_results_out_of_order_pair_by_id():
    session = read(
        request(user("x"), assistant(use("a"), use("b")), user(result("b", "of b"), result("a", "of a")))
    )
    assert [(call.id, call.output) for call in session.calls] == [("a", "of a"), ("b", "of b")]


def test_a_result_that_stands_before_its_call_is_paired_by_id():
    session = read(request(user(result("a", "early")), assistant(use("a"))))
    assert [call.output for call in session.calls] == ["early"]


def test_a_lone_request_gives_the_same_calls_as_the_run():
    assert read(RUN[1]["request"]).calls == read(*RUN).calls


def test_a_response_alone_is_a_session():
    session = read(response("Hello."))
    assert (session.turn_count, session.steps, session.final_text) == (0, 1, "Hello.")


def test_moved_cache_marks_and_dropped_thinking_are_nothing_new():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    first = pair(request(user("look")), response(thought, use(), stop="tool_use"))
    marked = user(text("look") | {"cache_control": {"type": "ephemeral"}})
    assert read(first, request(marked, assistant(use()), user(result()))).turn_count == 1
    assert len(read(first, request(marked, assistant(use()), user(result()))).calls) == 1


# Outcomes


@pytest.mark.parametrize(
    ("flag", "words", "outcome"),
    [
        ({}, "ok", (False, None, False)),
        ({"is_error": False}, "ok", (False, None, False)),
        ({"is_error": True}, "no such file", (True, "failed", False)),
        ({"is_error": True}, "<tool_use_error>InputValidationError: x", (True, "refused_arguments", True)),
        ({"is_error": True}, "<tool_use_error>No such tool available: x", (True, "unknown_tool", False)),
        ({"is_error": True}, "<tool_use_error>Sibling tool call errored", (True, "cancelled", False)),
        (
            {"is_error": True},
            "The user doesn't want to proceed with this tool use",
            (True, "denied_by_person", False),
        ),
        ({"is_error": False}, "InputValidationError is a class", (False, None, False)),
    ],
)
def test_the_flag_decides_and_the_words_only_say_why(flag, words, outcome):
    (call,) = read(request(user("x"), assistant(use()), user(result(content=words, **flag)))).calls
    assert (call.is_error, call.cause, call.malformed) == outcome


def test_a_call_without_a_result_is_unknown():
    (call,) = read(request(user("x"), assistant(use()))).calls
    assert (call.output, call.is_error, call.cause) == (None, None, "unknown")


def test_a_result_without_content_is_still_a_result():
    bare = {"type": "tool_result", "tool_use_id": "toolu_1"}
    (call,) = read(request(user("x"), assistant(use()), user(bare))).calls
    assert (call.output, call.is_error) == ("", False)


def test_a_server_tool_ends_in_the_message_that_calls_it():
    used, got = (
        use("srv_1", "web_search", type="server_tool_use"),
        result("srv_1", [], "web_search_tool_result"),
    )
    (call,) = read(pair(request(user("x")), response(used, got, "Found."))).calls
    assert (call.name, call.output, call.is_error) == ("web_search", "", False)


@pytest.mark.parametrize(
    ("kind", "content", "error"),
    [
        ("web_search", {"type": "web_search_tool_result_error", "error_code": "x"}, True),
        ("bash_code_execution", {"type": "bash_code_execution_result", "return_code": 1}, True),
        ("bash_code_execution", {"type": "bash_code_execution_result", "return_code": 0}, False),
    ],
)
def test_a_server_tool_states_its_error_in_its_content(kind, content, error):
    got = result("s", content, f"{kind}_tool_result")
    (call,) = read(response(use("s", kind, type="server_tool_use"), got)).calls
    assert call.is_error is error


def test_an_mcp_result_has_a_flag_of_its_own():
    called, got = use("s", "t", type="mcp_tool_use"), result("s", [], "mcp_tool_result", is_error=True)
    assert [call.cause for call in read(response(called, got)).calls] == ["failed"]


def test_input_that_is_no_object_is_malformed():
    (call,) = read(request(user("x"), assistant(use(input=["a"])))).calls
    assert (call.input, call.malformed) == (["a"], True)


# People and the harness


def test_a_string_of_content_is_a_turn():
    assert [turn.text for turn in read(request({"role": "user", "content": "hi"})).turns] == ["hi"]


def test_text_beside_a_result_is_steering():
    session = read(request(user("x"), assistant(use()), user("rather not", result())))
    assert (session.steered, [turn.text for turn in session.turns]) == (True, ["x", "rather not"])


def test_a_reminder_beside_a_result_is_no_steering():
    reminder = "<system-reminder>todo</system-reminder>"
    session = read(request(user("x"), assistant(use()), user(result(), reminder)))
    assert (session.steered, session.turn_count, session.injected) == (False, 1, 1)


def test_a_system_message_among_the_messages_is_injected():
    session = read(request(user("x"), {"role": "system", "content": "agents"}, assistant("Hi."), system="s"))
    assert (session.turn_count, session.injected, session.unfamiliar) == (1, 1, {})


def test_an_image_beside_text_is_part_of_one_turn():
    assert read(request(user("what is it?", {"type": "image", "source": {}}))).turn_count == 1


# Surfaces, prompts, models


def test_the_tools_array_is_kept_to_the_byte():
    data = b'{"model":"m","max_tokens":1,"messages":[],"tools": [ {"name":"a", "input_schema":{ }} ]}'
    (seen,) = read(data).surfaces
    assert (seen.raw, seen.kind, seen.reconstructed) == (
        b'[ {"name":"a", "input_schema":{ }} ]',
        "sent",
        False,
    )


def test_a_surface_stands_after_the_responses_before_it():
    more = pair(request(user("x"), assistant("Hi."), user("y"), tools=[]), response("Ho.", id="msg_2"))
    session = read(pair(request(user("x"), tools=TOOLS), response("Hi.")), more)
    assert [seen.position for seen in session.surfaces] == [0, 1]


def test_the_same_tools_again_say_nothing_new():
    assert len(read(*RUN).surfaces) == 1


def test_a_system_text_is_its_utf8_and_a_list_its_exact_json():
    assert [p.raw for p in read(request(user("x"), system="Gr\u00fc\u00dfe")).prompts] == [
        "Gr\u00fc\u00dfe".encode()
    ]
    data = b'{"model":"m","max_tokens":1,"messages":[],"system":[ {"type":"text","text":"s"}]}'
    assert [p.raw for p in read(data).prompts] == [b'[ {"type":"text","text":"s"}]']


def test_with_mcp_connectors_the_surface_is_partly_unknown():
    assert read(request(user("x"), mcp_servers=[{"name": "s"}])).partial_names
    assert not read(request(user("x"))).partial_names


def test_the_model_that_answered_is_the_model():
    assert read(*RUN).models == ("m-1",)
    assert read(request(user("x"))).models == ("m",)


def test_tokens_count_both_caches_as_input():
    tokens = read(*RUN).tokens
    assert (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) == (30, 10, 20, 4)


def test_a_response_that_comes_twice_is_counted_once():
    session = read(RUN[0], RUN[0])
    assert (session.steps, session.tokens.output) == (1, 5)


# The end


@pytest.mark.parametrize(
    ("stop", "cause"),
    [
        ("end_turn", "completed"), ("stop_sequence", "completed"), ("refusal", "completed"),
        ("max_tokens", "output_token_budget"), ("model_context_window_exceeded", "output_token_budget"),
    ],
)  # fmt: skip
def test_a_stop_reason_is_the_stop_cause(stop, cause):
    session = read(pair(request(user("x")), response("Hi.", stop=stop)))
    assert (session.stop_cause, session.stop_inferred) == (cause, False)


@pytest.mark.parametrize("stop", ["tool_use", "pause_turn"])
def test_a_response_that_goes_on_states_no_stop(stop):
    assert read(pair(request(user("x")), response(use(), stop=stop))).stop_cause is None


@pytest.mark.parametrize(
    "value",
    [
        pair(request(user("x")), {"type": "error", "error": {"type": "overloaded_error"}}, status=529),
        pair(request(user("x")), "upstream gone", status=502),
        pair(request(user("x")), {"type": "error", "error": {}}),
    ],
)
def test_an_error_of_the_api_is_the_stop_cause_and_no_step(value):
    session = read(value)
    assert (session.stop_cause, session.steps, session.turn_count) == ("api_error", 0, 1)


def test_a_retry_after_an_error_takes_it_back():
    error = pair(request(user("x")), {"type": "error", "error": {}}, status=529)
    assert read(error, pair(request(user("x")), response("Hi."))).stop_cause == "completed"


def test_counting_tokens_is_a_session_without_a_response():
    value = {
        "uri": "/v1/messages/count_tokens",
        "request": {"model": "m", "messages": [user("x")]},
        "response": {"input_tokens": 9},
    }
    session = read(value)
    assert (session.turn_count, session.steps, session.stop_cause, session.tokens) == (1, 0, None, None)


def test_compactions_are_unknown_until_a_block_shows_one():
    block = {"type": "compaction", "content": "They said hello."}
    assert read(*RUN).compactions is None
    told = request(user("x"), assistant(block, "Hi."), user("y"))
    assert read(told, told).compactions == 1


# Streams


def stream(*events):
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def test_a_stream_reads_as_the_message_it_is():
    whole = response(use(input={"path": "a"}), stop="tool_use")
    start = whole | {"content": [], "stop_reason": None, "usage": whole["usage"] | {"output_tokens": 1}}
    events = stream(
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": use()},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"path"'},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": ':"a"}'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    )
    assert read(pair(request(user("x")), events)) == read(pair(request(user("x")), whole))


def test_arguments_that_a_stream_left_torn_are_malformed():
    torn = {"type": "content_block_delta", "index": 0, "delta": {"partial_json": '{"path": "a'}}
    start = {"type": "content_block_start", "index": 0, "content_block": use()}
    (call,) = read(
        pair(request(user("x")), stream({"type": "message_start", "message": {}}, start, torn))
    ).calls
    assert (call.input, call.malformed) == ('{"path": "a', True)


# Bad input, memory, snapshots


def test_what_cannot_be_read_or_is_unknown_is_counted():
    odd = request(user("x"), {"role": "narrator", "content": "z"}, assistant({"type": "hologram"}))
    session = read(b"{", b"[1]", odd, {"path": "/v1/models", "body": {}})
    assert session.unreadable == 2
    assert session.unfamiliar == {"role narrator": 1, "block hologram": 1, "exchange": 1}


def test_bad_utf8_inside_a_message_makes_its_exchange_unreadable():
    session = read(b'{"model":"m","max_tokens":1,"system":"s","messages":[{"role":"user","content":"\xff"}]}')
    assert (session.unreadable, session.turn_count) == (1, 0)


def test_a_lone_surrogate_is_read():
    data = b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a\\ud800"}],"tools":[ ]}'
    session = read(data)
    assert (session.turn_count, session.surfaces[0].raw) == (1, b"[ ]")


def test_messages_are_what_records_counts():
    assert read(RUN[1]).records == 4


def test_without_keep_no_text_is_held():
    reader = wire.Reader.open(keep=False)
    for value in RUN:
        reader.feed(json.dumps(value).encode())
    held = msgspec.msgpack.encode(reader)
    assert not any(words in held for words in (b"look", b"I look.", b"It says ok."))


def test_keeping_nothing_changes_no_count():
    kept, bare = read(*RUN), read(*RUN, keep=False)
    assert (kept.turn_count, kept.steps, len(kept.calls)) == (bare.turn_count, bare.steps, len(bare.calls))
    assert [call.cause for call in kept.calls] == [call.cause for call in bare.calls]


def test_a_snapshot_between_two_records_changes_nothing():
    reader = wire.Reader.open()
    reader.feed(json.dumps(RUN[0]).encode())
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=wire.Reader)
    again.feed(json.dumps(RUN[1]).encode())
    assert again.finish() == read(*RUN)


leaf = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "x", "{", "text", "tool_use", "assistant"])
)
shape = st.recursive(
    leaf,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "id", "input", "tool_use_id", "messages", "usage"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(shape, shape)
def test_no_shape_of_bodies_raises(asked, answered):
    body = {"path": "/v1/messages", "request": {"messages": asked}, "response": {"content": answered}}
    assert read(body).format == "anthropic-messages"


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise(data):
    assert read(data).agent == "anthropic-messages"
