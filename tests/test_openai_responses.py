"""Laws of the Responses API reader."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import openai_responses as wire
from githarness.formats import peek

TOOLS = [{"type": "function", "name": "read", "parameters": {"type": "object"}}]
HI = {"role": "user", "content": "look"}


def call(id="call_1", name="read", arguments="{}", **more):
    return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments} | more


def result(id="call_1", output="ok", type="function_call_output", **more):
    return {"type": type, "call_id": id, "output": output} | more


def said(words):
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def request(*items, **more):
    return {"model": "m", "input": list(items)} | more


def response(*items, id="resp_1", status="completed", **more):
    usage = {"input_tokens": 8, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 6}}
    body = {"object": "response", "id": id, "model": "m-1", "created_at": 1700000000, "status": status}
    return body | {"output": list(items), "usage": usage, "error": None} | more


def pair(asked, answered, **more):
    return {"uri": "/v1/responses", "status": 200, "request": asked, "response": answered} | more


def read(*values, keep=True):
    reader = wire.Reader.open(keep=keep)
    for value in values:
        reader.feed(value if isinstance(value, bytes) else json.dumps(value).encode())
    return reader.finish()


RUN = (
    pair(
        request(HI, tools=TOOLS),
        response(said("I look."), call(), tools=[TOOLS[0] | {"strict": True}]),
    ),
    pair(
        request(HI, said("I look."), call(), result(), tools=TOOLS),
        response(said("It says ok."), id="resp_2"),
    ),
)


def outcome(*items):
    (found,) = read(request(HI, *items)).calls
    return (found.output, found.is_error, found.cause)


def test_its_own_bodies_are_claimed():
    bodies = (*RUN, RUN[0]["request"], RUN[0]["response"])
    assert all(wire.sniff(peek.document(json.dumps(one).encode())) for one in bodies)


@pytest.mark.parametrize("value", [[HI], {"input": "x"}, {"output": []}, {"object": "list", "data": []}])
def test_other_documents_are_not_claimed(value):
    assert not wire.sniff(peek.document(json.dumps(value).encode()))


def test_a_run_of_two_exchanges_is_one_conversation():
    session = read(*RUN)
    assert (session.turn_count, session.steps, len(session.calls)) == (1, 2, 1)
    assert (session.final_text, session.stop_cause) == ("It says ok.", "completed")


def test_what_the_model_wrote_between_two_inputs_is_one_step():
    reasoning = {"type": "reasoning", "summary": []}
    session = read(
        request(HI, reasoning, said("a"), call("a"), call("b"), result("a"), result("b"), call("c"))
    )
    assert [one.step for one in session.calls] == [1, 1, 2]


def test_a_text_as_input_is_a_turn():
    assert [turn.text for turn in read({"model": "m", "input": "hi"}).turns] == ["hi"]


def test_an_output_has_no_flag_and_is_unknown():
    assert outcome(call(), result(output="exit code 1")) == ("exit code 1", None, "unknown")


def test_an_output_of_blocks_is_joined():
    blocks = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "x"}]
    assert outcome(call(), result(output=blocks))[0] == "a\n[input_image]"


@pytest.mark.parametrize(("arguments", "malformed"), [('{"a":1}', False), ("{not json", True), ("", None)])
def test_arguments_that_are_no_object_are_malformed(arguments, malformed):
    (found,) = read(request(HI, call(arguments=arguments))).calls
    assert found.malformed is malformed


def test_the_input_of_a_custom_tool_is_free_text():
    item = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"}
    (found,) = read(request(HI, item, result("c", "done", "custom_tool_call_output"))).calls
    assert (found.input, found.malformed, found.output) == ("*** Begin", False, "done")


def test_two_ids_kept_in_one_are_taken_apart():
    session = read(request(HI, call("call_1|fc_1"), result("call_1")))
    assert [(one.id, one.output) for one in session.calls] == [("call_1", "ok")]


def test_a_call_sent_back_under_its_items_id_is_the_same_call():
    first = pair(request(HI), response(call("call_1") | {"id": "fc_1"}))
    session = read(first, request(HI, call("fc_1"), result("fc_1")))
    assert [(one.id, one.output) for one in session.calls] == [("call_1", "ok")]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"output": "found", "error": None}, ("found", False, None)),
        ({"output": None, "error": "denied"}, ("denied", True, "failed")),
        ({"output": None, "error": {"code": 5}}, ('{"code":5}', True, "failed")),
        ({}, (None, None, "unknown")),
    ],
)
def test_a_call_of_a_remote_server_states_its_error(more, expected):
    assert outcome({"type": "mcp_call", "id": "mcp_1", "name": "ask", "arguments": "{}"} | more) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("completed", ("", False, None)),
        ("failed", ("", True, "failed")),
        ("in_progress", (None, None, "unknown")),
    ],
)
def test_the_status_of_a_providers_tool_is_its_flag(status, expected):
    assert (
        outcome({"type": "web_search_call", "id": "ws_1", "status": status, "action": {"query": "q"}})
        == expected
    )


def test_a_providers_tool_is_named_by_its_type():
    (found,) = read(
        request(HI, {"type": "code_interpreter_call", "id": "c", "code": "1+1", "status": "completed"})
    ).calls
    assert (found.name, found.input) == ("code_interpreter", "1+1")


def test_a_patch_states_whether_it_applied():
    item = {"type": "apply_patch_call", "call_id": "p", "operation": {"type": "update_file"}}
    assert outcome(item, result("p", "no", "apply_patch_call_output", status="failed")) == (
        "no",
        True,
        "failed",
    )


def test_text_after_an_output_is_steering():
    session = read(request(HI, call(), result(), {"role": "user", "content": "stop"}))
    assert (session.steered, session.turn_count) == (True, 2)


def test_environment_text_is_injected():
    told = {
        "role": "user",
        "content": [{"type": "input_text", "text": "<environment_context>x</environment_context>"}],
    }
    session = read(request(told, HI))
    assert (session.turn_count, session.injected) == (1, 1)


# Surfaces and prompts


def test_the_requests_tools_are_the_surface_and_the_echo_is_not():
    (seen,) = read(*RUN).surfaces
    assert (json.loads(seen.raw), seen.position) == (TOOLS, 0)


def test_a_response_alone_yields_the_tools_it_echoes():
    data = b'{"object":"response","id":"r","output":[],"status":"completed","tools":[ {"type":"web_search"}]}'
    (seen,) = read(data).surfaces
    assert (seen.raw, seen.reconstructed) == (b'[ {"type":"web_search"}]', False)


def test_a_listing_of_a_remote_server_was_offered():
    item = {
        "type": "mcp_list_tools",
        "id": "l",
        "server_label": "s",
        "tools": [{"name": "a", "input_schema": {}}],
    }
    session = read(pair(request(HI, tools=TOOLS), response(item)), request(HI, item, tools=TOOLS))
    assert [(seen.kind, seen.position) for seen in session.surfaces] == [("sent", 0), ("offered", 0)]


def test_tools_added_in_the_input_stand_beside_the_requests_own():
    item = {"type": "additional_tools", "role": "developer", "tools": TOOLS}
    session = read(request(HI, item, tools=[]))
    assert [seen.kind for seen in session.surfaces] == ["offered", "sent"]
    assert (session.turn_count, session.injected) == (1, 0)


def test_with_a_remote_server_among_the_tools_the_surface_is_partly_unknown():
    assert read(request(HI, tools=[{"type": "mcp", "server_label": "s"}])).partial_names


def test_instructions_are_the_prompt():
    assert [p.raw for p in read(request(HI, instructions="Gr\u00fc\u00dfe")).prompts] == [
        "Gr\u00fc\u00dfe".encode()
    ]


def test_empty_instructions_are_a_prompt_and_absent_ones_are_none():
    assert [p.raw for p in read(request(HI, instructions="")).prompts] == [b""]
    assert read(request(HI, instructions=None)).prompts == read(request(HI)).prompts == ()


def test_developer_messages_at_the_head_are_the_prompt():
    data = b'{"model":"m","input":[{"role":"developer","content":[ {"text":"a"}]},{"role":"user"}]}'
    assert [p.raw for p in read(data).prompts] == [b'[ {"text":"a"}]']


def test_instructions_and_developer_messages_are_one_list():
    heads = b'{"role":"developer","content":[ ]},{"role":"system","content":"s"}'
    data = b'{"model":"m","instructions":"i","input":[%b]}' % heads
    assert [p.raw for p in read(data).prompts] == [b'["i",[ ],"s"]']


# Stored histories, polling, compaction


def test_a_request_that_goes_on_from_a_stored_response_repeats_no_history():
    first = pair(request({"role": "user", "content": "go on"}), response(call()))
    more = request(result(), {"role": "user", "content": "go on"}, previous_response_id="resp_1")
    session = read(first, more)
    assert (session.turn_count, session.calls[0].output) == (2, "ok")


def test_a_background_response_that_is_polled_is_one_step():
    waiting = pair(request(HI, tools=TOOLS), response(status="queued", usage=None, tools=TOOLS))
    poll = {"method": "GET", "uri": "/v1/responses/resp_1", "request": "", "status": 200}
    polls = [
        poll | {"response": response(status="in_progress", usage=None)},
        poll | {"response": response(said("Hi."))},
    ]
    session = read(waiting, *polls, polls[-1])
    assert (session.steps, session.final_text, len(session.surfaces), session.tokens.output) == (
        1,
        "Hi.",
        1,
        3,
    )


def test_a_compaction_is_counted_once_and_is_no_step():
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    told = pair(request(HI), response(said("Hi.")))
    compact = pair(
        request(HI, said("Hi.")), {"object": "response.compaction", "id": "c", "output": [HI, item]}
    )
    session = read(
        told,
        compact,
        pair(request(item, {"role": "user", "content": "more"}), response(said("Ho."), id="r3")),
    )
    assert (session.compactions, session.steps, session.turn_count) == (1, 2, 2)


def test_compactions_are_unknown_until_one_is_seen():
    assert read(*RUN).compactions is None


# The end

CUT_SHORT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        ({}, "completed"), ({"status": "failed"}, "api_error"), ({"status": "cancelled"}, "interrupted"),
        (CUT_SHORT, "output_token_budget"),
    ],
)  # fmt: skip
def test_the_status_of_a_response_is_the_stop_cause(more, cause):
    assert read(pair(request(HI), response(said("x"), **more))).stop_cause == cause


def test_a_completed_response_that_calls_the_client_is_not_the_end():
    assert read(pair(request(HI), response(call()))).stop_cause is None


def test_an_error_body_is_an_api_error():
    session = read(pair(request(HI), {"error": {"message": "x"}}, status=400))
    assert (session.stop_cause, session.steps) == ("api_error", 0)


def test_tokens_model_and_time_come_from_the_response():
    session = read(*RUN)
    assert (session.tokens.input, session.tokens.output, session.tokens.cache_read) == (16, 6, 12)
    assert (session.models, session.started) == (("m-1",), "2023-11-14T22:13:20Z")


def test_a_stream_reads_as_the_response_it_ends_with():
    whole = response(said("Hi."))
    events = [
        {"type": "response.created", "response": whole | {"output": []}},
        {"type": "response.completed", "response": whole},
    ]
    text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    assert read(pair(request(HI), text)) == read(pair(request(HI), whole))


# Bad input, snapshots


def test_what_is_unknown_is_counted():
    session = read(
        b"nope", request(HI, {"type": "hologram"}, {"role": "narrator", "content": "x"}), request(HI, 5)
    )
    assert (session.unreadable, session.unfamiliar) == (2, {"hologram": 1, "role narrator": 1})


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


leaf = (
    st.none()
    | st.integers()
    | st.sampled_from(["", "x", "function_call", "mcp_call", "message", "assistant"])
)
keys = st.sampled_from(
    ["role", "content", "type", "text", "name", "arguments", "call_id", "output", "tools", "status"]
)
shape = st.recursive(
    leaf, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=4), max_leaves=12
)


@settings(max_examples=100, deadline=None)
@given(shape, shape)
def test_no_shape_of_bodies_raises(asked, answered):
    body = {"path": "/v1/responses", "request": {"input": asked}, "response": {"output": answered}}
    assert (
        read(body, {"path": "/v1/responses", "response": {"output": answered}}).format == "openai-responses"
    )
