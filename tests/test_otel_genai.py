"""Laws of the telemetry reader: histories count once, and a tool's span gives the outcome."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.canon import sha256
from githarness.formats import otel_genai, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

VECTORS = Path(__file__).parent / "vectors/otel_genai"
BATCH = (VECTORS / "batch.json").read_bytes()
GENERATIONS = (VECTORS / "generations.json").read_bytes()
TOOLS = [{"type": "function", "name": "view", "description": "Show.", "parameters": {"type": "object"}}]


def feed(reader, *records):
    for record in records:
        reader.feed(record if isinstance(record, bytes) else json.dumps(record).encode())
    return reader


def read(*records, keep=True):
    return feed(otel_genai.Reader.open(keep=keep), *records).finish()


def span(key, end, operation="chat", parent="", **attributes):
    """A span in the flat form; `attributes` are of the convention, `_` for a dot."""
    named = {f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()}
    about = {"gen_ai.operation.name": operation, **named}
    if operation == "chat":
        about.setdefault("gen_ai.request.model", "small-1")
    times = {"startTimeUnixNano": str(end * 10**9 - 5), "endTimeUnixNano": str(end * 10**9)}
    return {"traceId": "t", "spanId": key, "parentSpanId": parent, "name": key, "attributes": about, **times}


def message(role, *parts):
    shaped = [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": shaped}


def call(key="a", arguments=None):
    return {"type": "tool_call", "id": key, "name": "view", "arguments": arguments or {}}


def result(key="a", response="ok"):
    return {"type": "tool_call_response", "id": key, "response": response}


def chat(key, end, given, said, **more):
    texts = {"input__messages": json.dumps(given), "output__messages": json.dumps(said)}
    return span(key, end, **texts, **more)


def tool(key="t1", end=2, error=None, **more):
    made = span(key, end, "execute_tool", tool__name="view", **{"tool__call__id": "a", **more})
    return made | ({"status": {"code": 2}} if error else {})


ASKED = message("user", "Sum.")
FIRST = chat("s1", 1, [ASKED], [message("assistant", call())])
SECOND = chat(
    "s3", 3, [ASKED, message("assistant", call()), message("tool", result())], [message("assistant", "Ok.")]
)


def test_a_batch_is_counted():
    stats = count(read(BATCH))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 2, 1)
    assert (stats.compactions, stats.stop_cause, stats.stop_inferred) == (None, "completed", False)


def test_the_conversation_names_the_session_and_the_agent_the_run():
    found = read(BATCH)
    assert (found.native, found.agent, found.versions) == ("talk-7", "clerk", ("2.0",))
    assert (found.started, found.ended) == ("2026-05-01T08:00:00.000Z", "2026-05-01T08:00:05.000Z")


def test_results_are_paired_by_id_and_the_history_counts_once():
    outputs = {made.id: made.output for made in read(BATCH).calls}
    assert outputs == {"a": "12 orders", "b": "gone"}


def test_the_order_of_spans_in_a_batch_means_nothing():
    spans = [FIRST, tool(), SECOND]
    assert read({"spans": spans}) == read({"spans": spans[::-1]})


def test_tool_definitions_kept_as_text_are_cited_by_their_own_bytes():
    seen = read(BATCH).surfaces[0]
    assert (seen.position, seen.kind, seen.reconstructed) == (0, "sent", False)
    assert sha256(seen.raw) == "e0bce9e55dbcfc10f808590633f505141faf58b71a78e5147d106701a3a331de"


def test_tool_definitions_kept_as_values_are_marked_as_reconstructed():
    seen = read(chat("s1", 1, [ASKED], [], tool__definitions=TOOLS)).surfaces[0]
    assert (seen.reconstructed, json.loads(seen.raw)) == (True, TOOLS)


def test_tool_definitions_that_were_cut_are_no_surface():
    found = read(chat("s1", 1, [ASKED], [message("assistant", "x")], tool__definitions='[{"name":"vi'))
    assert (found.surfaces, found.unfamiliar) == ((), {"tool.definitions cut short": 1})


def test_messages_that_were_cut_are_counted_and_the_call_still_is_a_step():
    found = read(span("s1", 1, input__messages='[{"role":"us', output__messages="["))
    assert found.unfamiliar == {"input.messages cut short": 1, "output.messages cut short": 1}
    assert (found.steps, found.turn_count) == (1, 0)


def test_a_result_has_no_flag_until_a_tools_span_gives_one():
    assert read(FIRST, SECOND).calls[0].is_error is None
    assert read(FIRST, SECOND, tool()).calls[0].is_error is False


def test_a_tools_span_that_failed_is_a_failure_whenever_it_comes():
    for records in ([FIRST, tool(error=True), SECOND], [FIRST, SECOND, tool(error=True)]):
        assert read(*records).calls[0].cause == "failed"


def test_a_cancelled_tool_is_told_from_a_failed_one():
    attributes = {"error.type": "asyncio.CancelledError"}
    cancelled = tool()
    cancelled["attributes"] |= attributes
    assert read(FIRST, cancelled).calls[0].cause == "cancelled"


def test_without_messages_the_tools_own_spans_are_the_calls():
    found = read(span("s1", 1), tool(tool__call__result="12"), span("s3", 3))
    assert [(made.name, made.output, made.cause) for made in found.calls] == [("view", "12", None)]
    assert found.steps == 2


def test_a_call_that_a_tools_span_told_first_is_not_told_twice():
    found = read(span("s1", 1), tool(), SECOND)
    assert [(made.id, made.output) for made in found.calls] == [("a", "ok")]


def test_a_tools_span_without_an_id_is_of_the_open_call_of_its_name():
    assert read(FIRST, tool(tool__call__id="", error=True)).calls[0].cause == "failed"


def test_a_tools_span_without_an_end_says_nothing_of_the_outcome():
    cut = tool()
    cut["endTimeUnixNano"] = None
    assert read(FIRST, cut).calls[0].cause == "unknown"


def test_an_agents_own_span_tells_nothing_twice():
    given, answer = json.dumps([ASKED]), json.dumps([message("assistant", "Ok.")])
    agent = span("s0", 4, "invoke_agent", input__messages=given, output__messages=answer)
    stats = count(read({"spans": [agent, FIRST, SECOND]}))
    assert (stats.turns, stats.steps, stats.tool_calls) == (1, 2, 1)


def test_what_ran_under_an_inner_agent_is_named_and_not_counted():
    outer, inner = span("s0", 9, "invoke_agent"), span("s5", 5, "invoke_agent", "s0")
    hidden = chat("s6", 4, [message("user", "Help.")], [message("assistant", "No.")]) | {"parentSpanId": "s5"}
    found = read({"spans": [outer, inner, hidden, FIRST]})
    assert (found.subagents, found.steps, found.turn_count) == (("s5",), 1, 1)


def test_a_loop_of_parents_ends():
    spans = [span("x", 1, "invoke_agent", "y"), span("y", 2, "invoke_agent", "x")]
    assert read({"spans": spans}).records == 2


def test_another_conversation_is_counted_and_not_mixed_in():
    found = read(span("s1", 1, conversation__id="one"), span("s2", 2, conversation__id="two"))
    assert (found.native, found.steps, found.unfamiliar) == ("one", 1, {"another conversation": 1})


def test_a_trace_stands_in_until_a_conversation_is_named():
    assert read(span("s1", 1)).native == "t"
    assert read(span("s1", 1), span("s2", 2, conversation__id="one")).native == "one"


def test_a_failed_model_call_without_an_answer_is_no_step():
    failed = span("s1", 1) | {"status": {"code": "STATUS_CODE_ERROR"}}
    assert (read(failed).steps, read(failed).stop_cause) == (0, "api_error")


def test_instructions_and_system_messages_are_one_prompt():
    apart = json.dumps([{"type": "text", "content": "Be exact."}])
    found = read(chat("s1", 1, [message("system", "Be kind."), ASKED], [], system_instructions=apart))
    assert [prompt.raw for prompt in found.prompts] == [b'["Be exact.","Be kind."]']


def test_tokens_are_the_model_calls_and_not_the_agents_sum():
    usage = {"usage__input_tokens": 9, "usage__output_tokens": 2}
    found = read(span("s1", 1, **usage), span("s0", 2, "invoke_agent", **usage))
    assert found.tokens == Tokens(input=9, output=2)


@pytest.mark.parametrize(
    ("reason", "cause"), [("stop", "completed"), ("length", "output_token_budget"), ("tool_call", None)]
)
def test_a_finish_reason_is_the_stop_cause(reason, cause):
    said = [message("assistant", call())]
    assert read(chat("s1", 1, [ASKED], said, response__finish_reasons=[reason])).stop_cause == cause


def test_the_older_convention_of_events_is_read():
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": "Sum."}},
        {
            "name": "gen_ai.choice",
            "attributes": {
                "message": json.dumps(
                    {"tool_calls": [{"id": "a", "function": {"name": "view", "arguments": '{"n": 1}'}}]}
                )
            },
        },
    ]
    found = read(span("s1", 1) | {"events": events})
    assert ([turn.text for turn in found.turns], found.calls[0].input) == (["Sum."], {"n": 1})


def test_a_span_of_a_console_exporter_is_read():
    flat = {
        "name": "chat",
        "context": {"trace_id": "t", "span_id": "s"},
        "start_time": "2026-05-01T08:00:00Z",
        "end_time": "2026-05-01T08:00:01Z",
        "attributes": {"gen_ai.request.model": "small-1"},
    }
    found = read(flat)
    assert (found.steps, found.started) == (1, "2026-05-01T08:00:00.000Z")


def test_generations_are_read_like_spans():
    found = read(GENERATIONS)
    made = found.calls[0]
    assert (made.input, made.output, made.cause) == ({"path": "orders"}, "12 orders", None)
    assert (found.native, found.turn_count, found.steps, found.records) == ("talk-8", 1, 2, 2)


def test_the_tools_of_a_generation_are_cited_by_their_exact_bytes():
    seen = read(GENERATIONS).surfaces[0]
    assert seen.raw == b'[ {"name": "view", "type": "function", "input_schema_json": "{}"} ]'


def test_the_total_tells_whether_input_holds_what_a_cache_gave():
    usage = {"input_tokens": "5", "output_tokens": "2", "cache_read_input_tokens": "3"}
    made = {"operation_name": "g", "model": {"name": "m"}, "output": [], "id": "g"}
    assert read({**made, "usage": {**usage, "total_tokens": "10"}}).tokens == Tokens(
        input=8, output=2, cache_read=3
    )
    assert read({**made, "usage": {**usage, "total_tokens": "7"}}).tokens == Tokens(
        input=5, output=2, cache_read=3
    )


def test_strangers_are_counted():
    found = read({"spanId": "q", "attributes": {"http.route": "/"}}, {"a": 1}, b"{", b"7")
    assert found.unfamiliar == {"span of something else": 1, "record without spans": 1}
    assert (found.unreadable, found.records) == (2, 4)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    records = [json.dumps(one).encode() for one in (FIRST, tool(error=True), SECOND, span("s4", 4))]
    for at in range(len(records)):
        half = feed(otel_genai.Reader.open(), *records[:at])
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(half), type=otel_genai.Reader)
        assert feed(again, *records[at:]).finish() == read(*records)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(BATCH, keep=False)
    assert count(slim) == count(read(BATCH))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


@pytest.mark.parametrize(
    "data", [BATCH, GENERATIONS, json.dumps([FIRST]).encode(), json.dumps(FIRST).encode()]
)
def test_all_spellings_are_recognised(data):
    assert otel_genai.sniff(peek.document(data))


def test_spans_of_something_else_are_not_claimed():
    other = {"spanId": "q", "attributes": [{"key": "http.route", "value": {"stringValue": "/"}}]}
    assert not otel_genai.sniff(peek.document(json.dumps({"spans": [other]}).encode()))
    assert not otel_genai.sniff(peek.lines(b'{"a":1}\n[]\n'))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(
    ["role", "parts", "type", "content", "id", "arguments", "values", "stringValue", "kvlistValue"]
)
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)
NAMES = st.sampled_from(
    [
        "input.messages",
        "output.messages",
        "tool.definitions",
        "system_instructions",
        "usage.input_tokens",
        "tool.call.arguments",
        "response.finish_reasons",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["chat", "execute_tool", "invoke_agent"]),
    st.dictionaries(NAMES, SHAPES, max_size=4),
    SHAPES,
)
def test_no_shape_of_attribute_raises_or_is_lost(operation, found, odd):
    made = span("s", 1, operation)
    made["attributes"] |= {f"gen_ai.{name}": item for name, item in found.items()}
    typed = {"spanId": "u", "attributes": [{"key": "gen_ai.request.model", "value": odd}], "events": odd}
    assert read({"spans": [made, typed]}).records == 2
