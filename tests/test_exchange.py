"""Laws shared by the readers of provider bodies: cutting, wrappers, providers, repeated history."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import cut, exchange, payload, peek
from githarness.formats.history import BY_BOTH, BY_CONTENT, BY_ID, History, Walk, is_injected
from githarness.model.builder import Builder
from githarness.model.session import UNKNOWN


def builder():
    return Builder(agent="a", format="f")


def encode(value):
    return json.dumps(value).encode()


# Cutting


def test_members_are_cut_to_the_byte():
    assert cut.members(b' {"a": {"x": 1.0} , "b" :[1 , 2]} ') == {"a": b'{"x": 1.0}', "b": b"[1 , 2]"}


def test_elements_are_cut_to_the_byte():
    assert cut.elements(b'[ {"a":1 }, "b" ,3]') == [b'{"a":1 }', b'"b"', b"3"]


def test_a_lone_surrogate_changes_no_cut():
    assert cut.members(b'{"a":"\\ud800", "b": [1 ]}') == {"a": b'"\\ud800"', "b": b"[1 ]"}
    assert cut.elements(b'["\\udc00", {} ]') == [b'"\\udc00"', b"{}"]


def test_empty_containers_have_nothing_to_cut():
    assert (cut.members(b"{ }"), cut.elements(b"[ ]")) == ({}, [])
    assert list(cut._walk(b" { } ", "{", "}")) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[",
        b"[1",
        b"[1,",
        b"[1,]",
        b"[1 2]",
        b"[1] x",
        b"{}",
        b"\xff",
        b"nul",
        b"[" * 100_000,
        b'["\\ud8"]',
    ],
)
def test_what_is_no_array_raises_value_error(data):
    with pytest.raises(ValueError):
        cut.elements(data)


@pytest.mark.parametrize("data", [b"", b"{", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{1:2}", b"[]", b'{"a":1} x'])
def test_what_is_no_object_raises_value_error(data):
    with pytest.raises(ValueError):
        cut.members(data)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), plain, max_size=4))
def test_both_ways_of_cutting_agree(value):
    data = json.dumps(value, indent=1).encode()
    assert dict(cut._walk(data, "{", "}")) == cut.members(data)


def test_a_body_parses_a_member_once_and_keeps_its_bytes():
    body = cut.Body.read(b'{"a": [1,  2], "s": "{\\"b\\":1}"}')
    assert (body.get("a"), body.raw("a"), body.get("z"), body.raw("z")) == ([1, 2], b"[1,  2]", None, b"")
    assert body.get("a") is body.get("a")


def test_a_member_that_is_a_text_of_an_object_is_a_part():
    body = cut.Body.read(b'{"s": " {\\"b\\": 1 }", "t": "{", "n": 1}')
    assert body.part("s").raw("b") == b"1"
    assert (body.part("t"), body.part("n")) == (None, None)


# Wrappers

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
REPLY = {"object": "chat.completion", "choices": [{"message": {"content": "ho"}}]}


@pytest.mark.parametrize(
    "value",
    [
        {"request": CHAT, "response": REPLY},
        {"request": {"body": CHAT}, "response": {"body": REPLY, "status": 200}},
        {"request": {"body": json.dumps(CHAT)}, "response": {"body": json.dumps(REPLY)}},
        {"interactions": [{"request": CHAT, "response": REPLY}]},
        [{"request": CHAT, "response": REPLY}],
        [[{"request": CHAT, "response": REPLY}]],
    ],
)
def test_every_wrapper_opens_to_the_same_pair(value):
    (one,) = exchange.split(encode(value))
    assert (one.request.get("model"), one.response.get("object")) == ("m", "chat.completion")
    assert one.provider == exchange.CHAT


@pytest.mark.parametrize(
    "value", [CHAT, {"path": "/x", "body": CHAT}, {"url": "/x", "body": json.dumps(CHAT)}]
)
def test_a_request_alone_has_no_response(value):
    (one,) = exchange.split(encode(value))
    assert (one.request.get("model"), one.response) == ("m", None)


def test_a_response_alone_has_no_request():
    (one,) = exchange.split(encode(REPLY))
    assert (one.request, one.provider) == (None, exchange.CHAT)


def test_status_and_path_are_found_on_either_side():
    (one,) = exchange.split(
        encode({"request": {"url": "/v1/messages", "body": {}}, "response": {"status": 529}})
    )
    assert (one.status, one.path, one.provider) == (529, "/v1/messages", exchange.ANTHROPIC)


def test_a_status_that_is_a_word_is_no_http_status():
    (one,) = exchange.split(encode({"request": CHAT, "response": {"status": "completed"}}))
    assert one.status is None


def test_an_element_that_is_no_object_is_counted_and_the_rest_is_read():
    into = builder()
    found = list(exchange.read(encode([5, CHAT]), into, exchange.CHAT))
    assert (len(found), into.unreadable, into.records) == (1, 1, 1)


@pytest.mark.parametrize("record", [b"", b"{", b"5", b'"x"', b"[[[[{}]]]]", b"\xff{}"])
def test_a_record_that_is_no_exchange_is_counted_as_unreadable(record):
    into = builder()
    assert list(exchange.read(record, into, exchange.CHAT)) == []
    assert into.unreadable == 1


def test_another_providers_exchange_is_counted_as_unfamiliar():
    into = builder()
    assert list(exchange.read(encode(CHAT), into, exchange.GEMINI)) == []
    assert into.unfamiliar_types == {"openai-chat": 1}


def test_events_are_read_from_the_text_of_a_stream():
    text = 'event: a\ndata: {"type":"a"}\n\ndata: [DONE]\ndata: {"torn'
    (one,) = exchange.split(encode({"request": CHAT, "response": text}))
    assert one.events == ({"type": "a"},)


@pytest.mark.parametrize(("epoch", "shown"), [(1700000000, "2023-11-14T22:13:20Z"), (None, None), (-1, None)])
def test_seconds_are_rendered_in_utc(epoch, shown):
    assert exchange.iso(epoch) == shown


# Providers

USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("anthropic-messages", {"max_tokens": 1, "messages": [USER]}),
        ("anthropic-messages", {"system": "s", "messages": [USER, {"role": "system", "content": "x"}]}),
        ("anthropic-messages", {"messages": [USER], "tools": [{"name": "a", "input_schema": {}}]}),
        ("anthropic-messages", {"messages": [USER], "tools": [{"type": "web_search_20250305", "name": "w"}]}),
        ("anthropic-messages", {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}),
        ("openai-chat", {"messages": [USER]}),
        ("openai-chat", {"max_tokens": 1, "messages": [{"role": "system", "content": "s"}, USER]}),
        ("openai-chat", {"max_tokens": 1, "messages": [USER], "stream_options": {}}),
        ("openai-chat", {"messages": [USER], "tools": [{"type": "function", "function": {"name": "a"}}]}),
        ("openai-chat", {"max_tokens": 1, "messages": [{"role": "assistant", "tool_calls": []}]}),
        ("openai-responses", {"input": "hi"}),
        ("openai-responses", {"input": [USER], "max_tokens": 1}),
        ("gemini-api", {"contents": [{"parts": [{"text": "hi"}]}]}),
        (None, {"prompt": "hi"}),
        (None, {"input": 5}),
    ],
)
def test_a_request_without_a_path_tells_its_provider(name, request_):
    assert exchange.provider(peek.document(encode({"model": "m"} | request_))) == name


def test_a_path_decides_where_the_body_cannot():
    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
    value = {"uri": "https://h/v1/messages/count_tokens?beta=true", "request": body}
    assert exchange.provider(peek.document(encode(value))) == exchange.ANTHROPIC


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/messages?beta=true", "anthropic-messages"), ("/openai/chat/completions", "openai-chat"),
        ("/v1/responses/resp_1?stream=false", "openai-responses"),
        ("/v1/responses/compact", "openai-responses"),
        ("/v1beta/models/g:streamGenerateContent?alt=sse", "gemini-api"), ("/v1/models", None),
    ],
)  # fmt: skip
def test_known_paths_name_their_provider(path, name):
    assert exchange.provider(peek.document(encode({"path": path, "body": {"a": 1}}))) == name


def test_messages_without_a_model_are_nobodys_request():
    assert exchange.provider(peek.document(encode({"messages": [USER], "info": {}}))) is None


def test_lines_are_told_by_their_first_exchange_with_a_model():
    lines = encode({"path": "/v1/models", "request": {}}) + b"\n" + encode({"request": CHAT})
    assert exchange.provider(peek.lines(lines)) == exchange.CHAT


# Repeated history


def walk_over(into, history, *texts):
    walk = Walk(into, history)
    for text in texts:
        walk.hear([text])
    walk.settle()


def test_a_history_told_again_counts_once():
    into, history = builder(), History()
    walk_over(into, history, "a", "b")
    walk_over(into, history, "a", "b", "c")
    assert [turn.text for turn in into.finish().turns] == ["a", "b", "c"]


def test_the_same_words_twice_in_one_history_are_two_turns():
    into, history = builder(), History()
    walk_over(into, history, "go on", "go on")
    walk_over(into, history, "go on", "go on")
    assert into.finish().turn_count == 2


def test_an_unrelated_conversation_is_new():
    into, history = builder(), History()
    walk_over(into, history, "a")
    walk_over(into, history, "b")
    assert into.finish().turn_count == 2


def calls(into, *issued, by=BY_BOTH):
    walk = Walk(into, History())
    for native, name, outputs in issued:
        walk.reply()
        for place, _ in enumerate(outputs):
            walk.call(native, name, {"n": place}, by=by)
        for output in outputs:
            walk.result(native, output, cause=UNKNOWN, name=name)
    return into.finish().calls


def test_ids_counted_from_zero_in_every_message_stay_apart():
    found = calls(builder(), ("call_0", "a", ["one"]), ("call_0", "a", ["two"]))
    assert [call.output for call in found] == ["one", "two"]
    assert len({call.id for call in found}) == 2


def test_calls_without_ids_pair_by_order_within_their_message():
    found = calls(builder(), ("", "a", ["one", "two"]), ("", "a", ["three"]), by=BY_CONTENT)
    assert [call.output for call in found] == ["one", "two", "three"]


def test_a_result_without_an_id_never_reaches_back_past_the_last_reply():
    into = builder()
    walk = Walk(into, History())
    for name in ("a", "b"):
        walk.reply()
        walk.call("", name, {}, by=BY_CONTENT)
    walk.result("", "x", cause=None, name="a")
    assert [call.output for call in into.finish().calls] == [None, None]


def test_results_without_ids_pair_by_name_first():
    into = builder()
    walk = Walk(into, History())
    walk.reply()
    for name in ("a", "b"):
        walk.call(None, name, {}, by=BY_CONTENT)
    walk.result(None, "of b", cause=None, name="b")
    walk.result(None, "of a", cause=None, name="a")
    assert [call.output for call in into.finish().calls] == ["of a", "of b"]


def test_a_result_whose_call_is_gone_is_an_orphan():
    into = builder()
    Walk(into, History()).result("gone", "x", cause=None)
    assert into.finish().orphans == 1


def test_a_result_that_was_cleared_later_keeps_what_came_first():
    into, history = builder(), History()
    for output in ("long output", "[cleared]"):
        walk = Walk(into, history)
        walk.reply()
        walk.call("c1", "a", {}, by=BY_ID)
        walk.result("c1", output, cause=None)
        walk.settle()
    assert [call.output for call in into.finish().calls] == ["long output"]


def test_a_call_sent_back_under_its_other_id_is_the_same_call():
    into, history = builder(), History()
    walk = Walk(into, history)
    walk.reply()
    walk.call("call_1", "a", {}, by=BY_ID, also="fc_1")
    walk = Walk(into, history)
    walk.reply()
    walk.call("fc_1", "a", {}, by=BY_ID)
    walk.result("fc_1", "out", cause=None)
    assert [(call.id, call.output) for call in into.finish().calls] == [("call_1", "out")]


def test_a_response_alone_goes_on_from_everything_told():
    into, history = builder(), History()
    for _ in range(2):
        walk = Walk(into, history, goes_on="")
        walk.reply()
        walk.say("Done.")
        walk.close(None)
    assert into.finish().steps == 2


def test_the_same_response_polled_twice_is_one_step():
    into, history = builder(), History()
    walk_over(into, history, "a")
    history.answers = "r1"
    for _ in range(2):
        walk = Walk(into, history, goes_on="r1")
        walk.reply("r1")
        walk.say("Done.")
        walk.close(None)
    assert into.finish().steps == 1


def test_pieces_of_text_in_a_row_are_one_final_text():
    into = builder()
    walk = Walk(into, History())
    walk.reply()
    for piece in ("It is ", "66 degrees", "."):
        walk.say(piece)
    walk.close("completed")
    assert into.finish().final_text == "It is 66 degrees."


def test_a_reply_that_says_nothing_is_a_step_once():
    into, history = builder(), History()
    for _ in range(2):
        walk = Walk(into, history)
        walk.reply("r1")
        walk.close("completed")
    assert (into.finish().steps, into.finish().stop_cause) == (1, "completed")


def test_text_after_a_result_is_steering_and_a_turn():
    into = builder()
    walk = Walk(into, History())
    walk.reply()
    walk.call("c", "a", {}, by=BY_ID)
    walk.result("c", "out", cause=None)
    walk.hear(["stop that"])
    assert (into.finish().steered, into.finish().turn_count) == (True, 1)


def test_text_after_the_models_last_word_is_no_steering():
    into = builder()
    walk = Walk(into, History())
    walk.reply()
    walk.say("Done.")
    walk.hear(["thanks"])
    assert not into.finish().steered


@pytest.mark.parametrize(
    ("text", "injected"),
    [
        ("<system-reminder>\nx\n</system-reminder>\n", True),
        ("<environment_context>x</environment_context>", True),
        ("<user_instructions>\n<a>b</a>\n</user_instructions>", True), ("<b>bold</b>", False),
        ("<system-reminder>x</system-reminder> and fix it", False), ("fix <my-tag>", False),
        ("<USER_REQUEST>x</USER_REQUEST>", False), ("", False),
    ],
)  # fmt: skip
def test_a_text_that_is_one_compound_element_was_not_typed(text, injected):
    assert is_injected(text) is injected


def test_injected_text_is_counted_and_the_rest_of_its_message_is_one_turn():
    into = builder()
    Walk(into, History()).hear(["<system-reminder>x</system-reminder>", "one", "two"])
    assert (into.injected, [turn.text for turn in into.turns]) == (1, ["one\ntwo"])


def test_a_history_survives_a_snapshot():
    into, history = builder(), History()
    walk_over(into, history, "a")
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(history), type=History)
    walk_over(into, again, "a", "b")
    assert into.finish().turn_count == 2


# What calls carry


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"a": 1}', ({"a": 1}, False)), ("{}", ({}, False)), ("[1]", ([1], True)), ("5", (5, True)),
        ("{not json", ("{not json", True)), ("", ("", None)), (" ", (" ", None)),
        ("[REDACTED len=9]", ("[REDACTED len=9]", None)),
        ('{"a": "[REDACTED:key:1]"}', ({"a": "[REDACTED:key:1]"}, False)), (None, (None, None)),
        ({"a": 1}, ({"a": 1}, False)), ([1], ([1], True)), ('{"a":NaN}', ('{"a":NaN}', True)),
    ],
)  # fmt: skip
def test_arguments_are_malformed_only_when_that_can_be_told(text, read):
    assert payload.arguments(text) == read


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"), (None, ""), ([{"type": "text", "text": "a"}, {"type": "image"}], "a\n[image]"),
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        (["a", 5], "a\n5"), ([], ""), ([{"text": 5, "type": "t"}], "[t]"),
    ],
)  # fmt: skip
def test_a_result_is_shown_as_text(value, text):
    assert payload.shown(value) == text


@pytest.mark.parametrize(
    "value", [{"n": -1}, {"n": 2**60}, {"n": "5"}, {"n": None}, {}, None, {"n": {"n": 1}}]
)
def test_what_cannot_be_a_count_is_zero(value):
    assert payload.number(value, "n") == 0
