"""Laws of the OpenAI Agents reader: an outcome that nothing states is unknown, in all three stores."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import openai_agents, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

ITEMS = (Path(__file__).parent / "vectors/openai_agents/items.json").read_bytes()


def feed(reader, *records):
    for record in records:
        reader.feed(record if isinstance(record, bytes) else json.dumps(record).encode())
    return reader


def read(*records, keep=True):
    return feed(openai_agents.Reader.open(keep=keep), *records).finish()


def asked(content="Sum."):
    return {"role": "user", "content": content}


def said(text="Done."):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def calling(call="a", arguments="{}"):
    return {"type": "function_call", "call_id": call, "name": "view", "arguments": arguments}


def output(call="a", text="ok"):
    return {"type": "function_call_output", "call_id": call, "output": text}


def state(*items, **more):
    wrapped = [{"type": "item", "raw_item": item} for item in items]
    return {"$schemaVersion": "1.21", "original_input": "Sum.", "generated_items": wrapped, **more}


def rows():
    head = {"row": {"created_at": "2026-05-01 08:00:00", "session_id": "s-4"}, "table": "agent_sessions"}
    items = [
        {
            "row": {
                "id": at,
                "session_id": "s-4",
                "message_data": item,
                "created_at": f"2026-05-01 08:00:0{at}",
            },
            "table": "agent_messages",
        }
        for at, item in enumerate(json.loads(ITEMS))
    ]
    return [json.dumps(row).encode() for row in [head, *items]]


def test_a_list_of_items_is_counted():
    stats = count(read(ITEMS))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_unknown) == (1, 2, 2, 2)
    assert (stats.malformed_args, stats.compactions, stats.stop_cause) == (1, None, "completed")


def test_results_are_paired_by_id_and_never_by_order():
    assert {call.id: call.output for call in read(ITEMS).calls} == {"a": "12 orders", "b": "An error."}


def test_what_the_model_wrote_in_a_row_is_one_step():
    assert [call.step for call in read(ITEMS).calls] == [1, 1]


def test_an_error_text_is_no_flag():
    made = read(ITEMS).calls[1]
    assert (made.is_error, made.cause, made.malformed) == (None, "unknown", True)


def test_session_rows_say_what_the_list_says():
    found = read(*rows())
    assert (found.calls, found.turns) == (read(ITEMS).calls, read(ITEMS).turns)
    assert (found.native, found.started, found.records) == ("s-4", "2026-05-01 08:00:00", 7)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    lines = rows()
    for at in range(len(lines)):
        half = feed(openai_agents.Reader.open(), *lines[:at])
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(half), type=openai_agents.Reader)
        assert feed(again, *lines[at:]).finish() == read(*lines)


def test_a_state_begins_with_its_input():
    found = read(state(calling(), output(), said()))
    assert ([turn.text for turn in found.turns], found.records) == (["Sum."], 4)


def test_the_longer_telling_of_a_state_is_read():
    short = state(said())
    wrapped = [{"raw_item": item} for item in (calling(), output(), said())]
    assert len(read({**short, "session_items": wrapped}).calls) == 1


def test_a_state_holds_the_tokens_of_the_run():
    usage = {
        "requests": 2,
        "input_tokens": 20,
        "output_tokens": 4,
        "input_tokens_details": [{"cached_tokens": 5}],
    }
    assert read(state(said(), context={"usage": usage})).tokens == Tokens(input=20, output=4, cache_read=5)


def test_a_call_that_a_person_refused_is_a_denial():
    approvals = {"view": {"approved": [], "rejected": ["a"]}}
    made = read(state(calling(), output(), context={"approvals": approvals})).calls[0]
    assert (made.cause, made.is_error) == ("denied_by_person", True)


def test_a_count_of_turns_past_the_bound_is_the_stop_cause():
    assert read(state(calling(), output(), current_turn=11, max_turns=10)).stop_cause == "max_turns"
    assert read(state(calling(), output(), current_turn=10, max_turns=10)).stop_cause is None


def test_descriptions_without_schemas_are_names_and_no_surface():
    described = {"raw_item": calling(), "description": "Looks."}
    found = read({"$schemaVersion": "1.0", "original_input": "x", "generated_items": [described]})
    assert (found.partial_names, found.surfaces) == (True, ())


def test_what_a_server_listed_was_offered():
    listing = {"type": "mcp_list_tools", "tools": [{"name": "view", "input_schema": {}}]}
    seen = read([asked(), listing, said()]).surfaces[0]
    assert (seen.kind, seen.reconstructed) == ("offered", True)
    assert seen.raw == b'[{"name":"view","input_schema":{}}]'


def test_a_system_message_is_a_prompt():
    assert read([{"role": "system", "content": "Be exact."}, asked()]).prompts[0].raw == b"Be exact."


@pytest.mark.parametrize(("status", "cause"), [("completed", None), ("failed", "failed"), ("odd", "unknown")])
def test_a_tool_of_the_provider_ends_where_it_stands(status, cause):
    search = {"type": "web_search_call", "id": "w", "status": status, "action": {"query": "x"}}
    made = read([asked(), search]).calls[0]
    assert (made.name, made.input, made.cause) == ("web_search_call", {"query": "x"}, cause)


def test_free_text_of_a_custom_tool_is_not_malformed():
    call = {"type": "custom_tool_call", "call_id": "p", "name": "patch", "input": "*** Begin"}
    assert read([asked(), call]).calls[0].malformed is None


def test_a_person_who_speaks_before_the_model_answers_its_tools_steers():
    assert read([asked(), calling(), output(), asked("Stop."), said()]).steered
    assert not read([asked(), calling(), output(), said(), asked("More."), said()]).steered


def test_a_compaction_item_is_counted():
    assert read([asked(), {"type": "compaction", "id": "c"}, said()]).compactions == 1


def test_strangers_are_counted():
    found = read([asked(), {"type": "dream"}, {"role": "ghost", "content": "boo"}, 7, said()])
    assert found.unfamiliar == {"dream": 1, "role ghost": 1, "item of another shape": 1}


@pytest.mark.parametrize("data", [b"{", b"7", b"{}", b"\xff"])
def test_what_is_no_session_is_unreadable(data):
    assert (read(data).records, read(data).unreadable) == (1, 1)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(ITEMS, keep=False)
    assert count(slim) == count(read(ITEMS))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


def test_all_three_stores_are_recognised():
    assert openai_agents.sniff(peek.document(ITEMS))
    assert openai_agents.sniff(peek.document(json.dumps(state(said())).encode()))
    assert openai_agents.sniff(peek.lines(b"\n".join(rows())))


@pytest.mark.parametrize(
    "document",
    [
        [asked(), {"role": "assistant", "content": "Hi."}],
        [{"type": "function_call", "message": {}}],
        {"original_input": "x"},
        {"type": "message", "role": "assistant", "content": []},
        [],
    ],
)
def test_what_could_be_anybodys_is_not_claimed(document):
    assert not openai_agents.sniff(peek.document(json.dumps(document).encode()))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["type", "role", "content", "arguments", "output", "call_id", "status", "tools"])
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)
KINDS = st.sampled_from(["function_call", "function_call_output", "message", "mcp_call", "mcp_list_tools"])


@settings(max_examples=60, deadline=None)
@given(KINDS, st.dictionaries(KEYS, SHAPES, max_size=4), SHAPES)
def test_no_shape_of_item_raises_or_is_lost(kind, fields, odd):
    found = read([{**fields, "type": kind}, odd])
    assert found.records == 2
    assert read(state(odd, context={"usage": odd, "approvals": odd})).records == 2
