"""Laws of the LangChain reader: three spellings of one list, and one of them forgets."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import langchain, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

PAIRS = (Path(__file__).parent / "vectors/langchain/pairs.json").read_bytes()
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}


def read(document, keep=True):
    reader = langchain.Reader.open(keep=keep)
    reader.feed(document if isinstance(document, bytes) else json.dumps(document).encode())
    return reader.finish()


def envelopes():
    return [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", CLASSES[one["type"]]],
            "kwargs": one["data"],
        }
        for one in json.loads(PAIRS)
    ]


def human(text="Sum."):
    return {"type": "human", "data": {"type": "human", "content": text}}


def ai(content="", **more):
    return {"type": "ai", "data": {"type": "ai", "content": content, **more}}


def tool(call="a", content="ok", **more):
    return {"type": "tool", "data": {"type": "tool", "content": content, "tool_call_id": call, **more}}


def calling(*calls):
    return ai(tool_calls=[{"name": "view", "args": {}, "id": call} for call in calls])


CHAT = [
    {"role": "system", "content": "Be exact."},
    {"role": "user", "content": "Sum the orders."},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [
            {"type": "function", "id": "a", "function": {"name": "view", "arguments": '{"path": "orders"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "12 orders"},
    {"role": "assistant", "content": "Twelve."},
]


def cause(**more):
    return read([calling("a"), tool(**more)]).calls[0].cause


def test_a_list_is_counted():
    stats = count(read(PAIRS))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 3, 2)
    assert (stats.malformed_args, stats.compactions, stats.stop_cause) == (1, None, "completed")


def test_envelopes_and_pairs_say_the_same():
    assert read(envelopes()) == read(PAIRS)


def test_an_envelope_without_a_type_is_known_by_its_class():
    bare = envelopes()
    for one in bare:
        one["kwargs"] = {key: item for key, item in one["kwargs"].items() if key != "type"}
    assert read(bare) == read(PAIRS)


def test_results_are_paired_by_id_and_never_by_order():
    assert [call.output for call in read(PAIRS).calls[:2]] == ["12 orders", "gone"]


def test_an_invalid_call_is_refused_and_malformed():
    made = read(PAIRS).calls[2]
    assert (made.cause, made.malformed, made.input) == ("refused_arguments", True, '{"path":')


def test_a_chat_dictionary_states_no_outcome():
    made = read(CHAT).calls[0]
    assert (made.input, made.output, made.is_error) == ({"path": "orders"}, "12 orders", None)


def test_a_result_without_a_status_is_unknown():
    assert cause() == "unknown"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("boom", "failed"),
        ("Error: look is not a valid tool, try one of [view].", "unknown_tool"),
        ("Error invoking tool 'view' with kwargs {} with error: path missing", "refused_arguments"),
    ],
)
def test_an_error_has_the_cause_that_the_framework_words(content, told):
    assert cause(content=content, status="error") == told


def test_what_a_success_quotes_is_no_error():
    assert cause(content="Error: x is not a valid tool, try one of", status="success") is None


def test_a_call_that_the_tool_refused_is_malformed():
    found = read([calling("a"), tool(content="Error invoking tool 'view' with", status="error")])
    assert found.calls[0].malformed


def test_the_system_message_is_the_prompt_in_force_from_the_start():
    assert [(one.position, one.raw) for one in read(PAIRS).prompts] == [(0, b"Be exact.")]


def test_models_and_tokens_come_from_the_messages():
    found = read(PAIRS)
    assert (found.models, found.tokens) == (("small-1",), Tokens(input=9, output=4, cache_read=3))


def test_a_person_who_speaks_before_the_model_answers_its_tools_steers():
    assert read([human(), calling("a"), tool(), human("Stop.")]).steered
    assert not read([human(), calling("a"), tool(), ai("Done."), human("More.")]).steered


def test_a_length_limit_is_the_stop_cause():
    assert read([ai("Tw", response_metadata={"finish_reason": "length"})]).stop_cause == "output_token_budget"


def test_pieces_of_one_response_are_one_step():
    assert read([ai("a", id="run-1"), ai("b", id="run-1"), ai("c", id="run-2")]).steps == 2


def test_the_state_of_a_graph_holds_the_same_list():
    assert read({"messages": json.loads(PAIRS)}) == read(PAIRS)


def test_strangers_are_counted():
    found = read([human(), {"type": "remove", "data": {"type": "remove", "content": ""}}, 7])
    assert found.unfamiliar == {"remove message": 1, "message of another shape": 1}


@pytest.mark.parametrize("data", [b"{", b"[]", b"7", b"{}", b"\xff"])
def test_what_holds_no_messages_is_unreadable(data):
    assert (read(data).records, read(data).unreadable) == (1, 1)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    saved = msgspec.msgpack.encode(langchain.Reader.open())
    again = msgspec.msgpack.decode(saved, type=langchain.Reader)
    again.feed(PAIRS)
    assert again.finish() == read(PAIRS)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(PAIRS, keep=False)
    assert count(slim) == count(read(PAIRS))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


@pytest.mark.parametrize("document", [json.loads(PAIRS), envelopes(), CHAT, {"messages": json.loads(PAIRS)}])
def test_all_three_spellings_are_recognised(document):
    assert langchain.sniff(peek.document(json.dumps(document).encode()))


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
        [*CHAT, {"role": "user", "content": "x", "extra": {}}],
        [{"type": "text", "data": {"content": "x"}}],
        {"messages": CHAT},
        [],
    ],
)
def test_a_list_that_could_be_anybodys_is_not_claimed(document):
    assert not langchain.sniff(peek.document(json.dumps(document).encode()))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(
    ["content", "tool_calls", "invalid_tool_calls", "args", "id", "status", "usage_metadata"]
)
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["ai", "tool", "system", "human"]), st.dictionaries(KEYS, SHAPES, max_size=4))
def test_no_shape_of_message_raises_or_is_lost(kind, fields):
    assert read([{"type": kind, "data": {"type": kind, **fields}}]).records == 1
