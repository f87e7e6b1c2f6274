"""Laws of the Gemini API reader."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import gemini_api as wire
from githarness.formats import peek

TOOLS = [{"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT"}}]}]
PATH = "/v1beta/models/gemini-x:generateContent"


def user(*parts):
    return {"role": "user", "parts": [p if isinstance(p, dict) else {"text": p} for p in parts]}


def model(*parts):
    return user(*parts) | {"role": "model"}


def call(name="read", args=None, **more):
    return {"functionCall": {"name": name, "args": {"path": "a"} if args is None else args} | more}


def result(response=None, name="read", **more):
    return {
        "functionResponse": {"name": name, "response": {"output": "ok"} if response is None else response}
        | more
    }


def request(*contents, **more):
    return {"contents": list(contents)} | more


def response(*parts, id="r1", finish="STOP", **more):
    usage = {
        "promptTokenCount": 8,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 6,
    }
    candidate = {"content": model(*parts), "finishReason": finish, "index": 0}
    return {
        "candidates": [candidate],
        "modelVersion": "gemini-x-1",
        "responseId": id,
        "usageMetadata": usage,
    } | more


def pair(asked, answered, **more):
    return {"uri": PATH, "status": 200, "request": asked, "response": answered} | more


def read(*values, keep=True):
    reader = wire.Reader.open(keep=keep)
    for value in values:
        reader.feed(value if isinstance(value, bytes) else json.dumps(value).encode())
    return reader.finish()


RUN = (
    pair(request(user("look"), tools=TOOLS), response("I look.", call())),
    pair(
        request(user("look"), model("I look.", call(id="x1")), user(result(id="x1")), tools=TOOLS),
        response("It says ok.", id="r2"),
    ),
)


def test_its_own_bodies_are_claimed():
    bodies = (*RUN, RUN[0]["request"], RUN[0]["response"])
    assert all(wire.sniff(peek.document(json.dumps(one).encode())) for one in bodies)


@pytest.mark.parametrize(
    "value", [[], {}, {"contents": "x"}, {"messages": []}, {"sessionId": "s", "messages": []}]
)
def test_other_documents_are_not_claimed(value):
    assert not wire.sniff(peek.document(json.dumps(value).encode()))


def test_a_run_of_two_exchanges_is_one_conversation():
    session = read(*RUN)
    assert (session.turn_count, session.steps, len(session.calls)) == (1, 2, 1)
    assert (session.final_text, session.stop_cause) == ("It says ok.", "completed")


def test_a_call_without_an_id_takes_the_result_that_a_client_gave_one():
    assert [(one.name, one.output) for one in read(*RUN).calls] == [("read", "ok")]


def test_results_without_ids_pair_by_name_and_order():
    told = request(
        user("x"),
        model(call(), call("list"), call(args={"path": "b"})),
        user(result({"output": "first"}), result({"output": "second"}), result({"output": "listed"}, "list")),
    )
    assert [one.output for one in read(told).calls] == ["first", "listed", "second"]


def test_the_same_call_again_is_another_call():
    told = request(user("x"), model(call()), user(result()), model(call()), user(result({"output": "later"})))
    assert [one.output for one in read(told, told).calls] == ["ok", "later"]


def test_results_under_the_models_role_pair_too():
    session = read(request(user("x"), model(call()), model(result())))
    assert [(one.output, one.step) for one in session.calls] == [("ok", 1)]
    assert session.steps == 1


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"output": "ok"}, ("ok", False, None, False)),
        ({"error": "File not found"}, ("File not found", True, "failed", False)),
        ({"error": "params must have a"}, ("params must have a", True, "refused_arguments", True)),
        ({"error": 'Tool "x" not found.'}, ('Tool "x" not found.', True, "unknown_tool", False)),
        ({"return_value": 5}, ('{"return_value":5}', False, None, False)),
        ({"error": None, "output": "ok"}, ("ok", False, None, False)),
        ("bare", ("bare", False, None, False)),
    ],
)  # fmt: skip
def test_an_error_member_is_the_flag(answer, outcome):
    (one,) = read(request(user("x"), model(call()), user(result(answer)))).calls
    assert (one.output, one.is_error, one.cause, one.malformed) == outcome


def test_a_call_without_a_result_is_unknown():
    (one,) = read(request(user("x"), model(call()))).calls
    assert (one.output, one.is_error, one.cause) == (None, None, "unknown")


def test_arguments_that_are_no_object_are_malformed():
    (one,) = read(request(user("x"), model(call(args=["a"])))).calls
    assert one.malformed


@pytest.mark.parametrize(("outcome", "error"), [("OUTCOME_OK", False), ("OUTCOME_FAILED", True)])
def test_code_that_the_provider_ran_is_a_call(outcome, error):
    parts = {"executableCode": {"code": "1+1"}}, {"codeExecutionResult": {"outcome": outcome, "output": "2"}}
    (one,) = read(pair(request(user("x")), response(*parts, "Two."))).calls
    assert (one.name, one.output, one.is_error) == ("code_execution", "2", error)


def test_a_thought_is_not_what_the_model_said():
    session = read(pair(request(user("x")), response({"text": "hm", "thought": True}, "Hi.")))
    assert session.final_text == "Hi."


def test_session_context_is_injected_and_the_rest_is_the_turn():
    session = read(request(user("<session_context>\nx\n</session_context>", "look")))
    assert (session.injected, [turn.text for turn in session.turns]) == (1, ["look"])


def test_text_beside_a_result_is_steering():
    session = read(request(user("x"), model(call()), user(result(), "rather not")))
    assert (session.steered, session.turn_count) == (True, 2)


def test_a_content_without_a_role_is_the_users():
    assert read(request({"parts": [{"text": "hi"}]})).turn_count == 1


def test_the_tools_array_is_kept_to_the_byte():
    data = b'{"contents":[],"tools":[ {"functionDeclarations":[{"name":"a"}]} ]}'
    assert [seen.raw for seen in read(data).surfaces] == [b'[ {"functionDeclarations":[{"name":"a"}]} ]']


@pytest.mark.parametrize("key", [b"systemInstruction", b"system_instruction"])
def test_the_system_instruction_is_the_exact_json_of_its_parts(key):
    data = b'{"contents":[],"%b":{"role":"user","parts":[ {"text":"s"}]}}' % key
    assert [p.raw for p in read(data).prompts] == [b'[ {"text":"s"}]']


def test_the_model_is_in_the_answer_or_else_in_the_path():
    assert read(*RUN).models == ("gemini-x-1",)
    assert read({"path": PATH, "body": request(user("x"))}).models == ("gemini-x",)


def test_thoughts_are_output_and_the_cache_is_input():
    tokens = read(*RUN).tokens
    assert (tokens.input, tokens.output, tokens.cache_read) == (16, 10, 12)


@pytest.mark.parametrize(
    ("parts", "finish", "cause"),
    [(("x",), "STOP", "completed"), (("x",), "MAX_TOKENS", "output_token_budget"), ((call(),), "STOP", None)],
)
def test_a_finish_reason_is_the_stop_cause(parts, finish, cause):
    assert read(pair(request(user("x")), response(*parts, finish=finish))).stop_cause == cause


def test_an_error_body_is_an_api_error():
    session = read(pair(request(user("x")), {"error": {"code": 503}}, status=503))
    assert (session.stop_cause, session.steps) == ("api_error", 0)


@pytest.mark.parametrize("as_text", [True, False])
def test_chunks_read_as_the_response_they_are(as_text):
    whole = response("I ", "look.", call())
    empty = {key: value for key, value in whole.items() if key != "usageMetadata"}
    halves = [model("I "), model("look.", call())]
    chunks = [empty | {"candidates": [{"content": half}]} for half in halves]
    chunks[-1] |= {"usageMetadata": whole["usageMetadata"]}
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    streamed = "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in chunks) if as_text else chunks
    assert read(pair(request(user("x")), streamed)) == read(pair(request(user("x")), whole))


def test_what_is_unknown_is_counted():
    odd = request(user("x"), {"role": "narrator", "parts": [{"text": "y"}]}, model({"hologram": 1}))
    session = read(b"nope", odd)
    assert (session.unreadable, session.unfamiliar) == (1, {"role narrator": 1, "part hologram": 1})


def test_compactions_leave_no_trace_here():
    assert read(*RUN).compactions is None


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


leaf = st.none() | st.integers() | st.sampled_from(["", "x", "user", "model"])
keys = st.sampled_from(
    ["role", "parts", "text", "functionCall", "functionResponse", "response", "name", "args", "id"]
)
shape = st.recursive(
    leaf, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=4), max_leaves=12
)


@settings(max_examples=100, deadline=None)
@given(shape, shape)
def test_no_shape_of_bodies_raises(asked, answered):
    for answer in ({"candidates": answered}, [{"candidates": answered}]):
        assert read({"path": PATH, "request": {"contents": asked}, "response": answer}).format == "gemini-api"
