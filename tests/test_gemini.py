"""Laws of the Gemini CLI reader. Vectors are small and written by hand."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import gemini, peek
from githarness.measure.counters import count

VECTORS = Path(__file__).parent / "vectors" / "gemini"


def lines(name):
    return (VECTORS / name).read_bytes().splitlines()


def session(records, *, keep=True):
    reader = gemini.Reader.open(keep=keep)
    for record in records:
        reader.feed(record if isinstance(record, bytes) else json.dumps(record).encode())
    return reader.finish()


def message(kind, content="", id="m1", **fields):
    return {"id": id, "timestamp": "2026-03-04T05:06:07Z", "type": kind, "content": content, **fields}


def tool(status="success", id="c1", args=None, **response):
    part = {"functionResponse": {"id": id, "name": "dig", "response": response}}
    result = [part] if response else []
    return {"id": id, "name": "dig", "args": args or {}, "status": status, "result": result}


def only(*calls):
    (found,) = session([message("gemini", toolCalls=list(calls))]).calls
    return found


def outcome(*calls):
    found = only(*calls)
    return found.is_error, found.cause


# The whole of a patched file.


def test_a_patched_file_has_one_turn_four_steps_and_four_calls():
    stats = count(session(lines("patched.jsonl")))
    assert (stats.turns, stats.steps, stats.tool_calls) == (1, 4, 4)


def test_two_of_the_calls_failed_and_one_of_them_was_malformed():
    stats = count(session(lines("patched.jsonl")))
    assert (stats.tool_errors, stats.malformed_args, stats.ended_on_failed_call) == (2, 1, True)


def test_each_call_has_the_cause_that_the_clients_words_give():
    calls = session(lines("patched.jsonl")).calls
    assert [c.cause for c in calls] == [None, None, "failed", "refused_arguments"]


def test_the_header_and_the_clients_opening_give_id_and_folder():
    found = session(lines("patched.jsonl"))
    assert (found.native, found.project, found.models) == ("garden-1", "/srv/garden", ("gemini-2.5-pro",))


def test_a_file_put_behind_another_one_is_copied_and_counts_as_nothing():
    own = session(lines("patched.jsonl"))
    other = [line.replace(own.native.encode(), b"another") for line in lines("patched.jsonl")]
    found = session([*lines("patched.jsonl"), *other])
    assert (found.native, found.copied) == (own.native, len(other))
    assert (found.calls, found.turn_count) == (own.calls, own.turn_count)


def test_what_client_and_hooks_put_beside_the_prompt_is_injected():
    found = session(lines("patched.jsonl"))
    assert [turn.text for turn in found.turns] == ["What grows in beds.md?"]
    assert found.injected == 2


def test_tokens_are_counted_once_per_message_and_thoughts_are_output():
    tokens = session(lines("patched.jsonl")).tokens
    assert (tokens.input, tokens.output) == (400, 48)


def test_a_file_that_ends_on_words_is_completed_by_inference():
    found = session(lines("patched.jsonl"))
    assert (found.stop_cause, found.stop_inferred) == ("completed", True)
    assert found.final_text == "Leeks grow there."


def test_a_result_among_those_of_parallel_calls_is_found_by_id():
    first, second = tool(id="a", output="leeks"), tool(id="b", output="peas")
    both = first["result"] + second["result"]
    calls = [{**first, "result": both}, {**second, "result": both}]
    assert [c.output for c in session([message("gemini", toolCalls=calls)]).calls] == ["leeks", "peas"]


# One document.


def test_a_document_counts_its_messages_as_records():
    found = session([(VECTORS / "document.json").read_bytes()])
    assert (found.records, found.turn_count, found.steps) == (5, 2, 3)


def test_a_document_pairs_each_call_with_the_result_inside_it():
    found = session([(VECTORS / "document.json").read_bytes()])
    assert [(c.name, c.output, c.is_error) for c in found.calls] == [("read_file", "leeks\n", False)]
    assert [turn.calls for turn in found.turns] == [0, 1]


# Patches.


def test_the_last_writing_of_a_message_stands_where_the_first_stood():
    found = session([message("gemini", "One.", id="a"), message("gemini", "Two.", id="b"),
                     message("gemini", "One, again.", id="a")])  # fmt: skip
    assert (found.steps, found.final_text) == (2, "Two.")


def test_a_rewind_takes_back_the_message_and_all_after_it():
    found = session([message("user", "Keep.", id="a"), message("user", "Drop.", id="b"),
                     message("gemini", "Gone.", id="c"), {"$rewindTo": "b"}])  # fmt: skip
    assert [turn.text for turn in found.turns] == ["Keep."]
    assert found.final_text is None


def test_a_rewind_to_an_unknown_message_drops_nothing_and_is_counted():
    found = session([message("user", "Keep."), {"$rewindTo": "zz"}])
    assert (found.turn_count, found.unfamiliar) == (1, {"$rewindTo (no such message)": 1})


def test_a_batch_that_grows_brings_new_messages():
    first, second = message("user", "Dig.", id="a"), message("gemini", "Dug.", id="b")
    found = session([{"$set": {"messages": [first]}}, {"$set": {"messages": [first, second]}}])
    assert (found.turn_count, found.final_text) == (1, "Dug.")


def test_a_compression_loses_no_call_and_repeats_no_turn():
    found = session(lines("compressed.jsonl"))
    assert [turn.text for turn in found.turns] == ["What grows?", "And the shed?", "Good."]
    assert (len(found.calls), found.steps, found.final_text) == (1, 3, "Yes.")


def test_a_summary_in_a_batch_is_one_compaction_however_often_it_is_written():
    assert session(lines("compressed.jsonl")).compactions == 1


def test_without_a_trace_compactions_are_unknown_and_not_zero():
    assert session(lines("patched.jsonl")).compactions is None


# How a call went.

CANCELLED = "[Operation Cancelled] Reason: "


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (tool(output="x"), (False, None)),
        (tool("success", output="Exit Code: 1"), (False, None)),
        (tool("error", error="no such bed"), (True, "failed")),
        (tool("error", error='Tool "rake" not found. Did you mean "dig"?'), (True, "unknown_tool")),
        (tool("error", error='Tool "rake" not found in registry.'), (True, "unknown_tool")),
        (tool("error", error="params/depth must be number"), (True, "refused_arguments")),
        (tool("error", error="Tool execution denied by policy."), (True, "denied_by_hook")),
        (tool("error", error="Tool execution blocked: not today"), (True, "denied_by_hook")),
        (tool("cancelled", error=f"{CANCELLED}User denied execution."), (True, "denied_by_person")),
        (tool("cancelled", error=f"{CANCELLED}User cancelled operation"), (True, "cancelled")),
        (tool("cancelled"), (True, "cancelled")),
        (tool("executing"), (None, "unknown")),
        (tool("", error="lost"), (True, "failed")),
        (tool("", output="x"), (False, None)),
    ],
)  # fmt: skip
def test_status_gives_the_flag_and_the_clients_words_the_cause(call, expected):
    assert outcome(call) == expected


def test_an_error_beside_the_result_is_read_before_the_result():
    call = {**tool("error", output="x"), "error": "params must be object"}
    assert outcome(call) == (True, "refused_arguments")


@pytest.mark.parametrize(("args", "malformed"), [({"a": 1}, False), ("a", True), (None, None)])
def test_arguments_are_malformed_unless_they_are_an_object(args, malformed):
    assert only({**tool(output="x"), "args": args}).malformed is malformed


def test_a_call_that_stands_in_the_content_alone_is_answered_by_a_later_message():
    asked = message("gemini", [{"functionCall": {"id": "c9", "name": "dig", "args": {}}}], id="a")
    answer = message("user", [{"functionResponse": {"id": "c9", "response": {"error": "stone"}}}], id="b")
    found = session([asked, answer])
    assert [(c.id, c.output, c.cause) for c in found.calls] == [("c9", "stone", "failed")]
    assert found.turn_count == 0


def test_a_message_of_results_repeats_nothing_and_overrides_nothing():
    call = {**tool("error", error="no"), "error": "params must be object"}
    found = session([message("gemini", id="a", toolCalls=[call]), message("user", call["result"], id="b")])
    assert [c.cause for c in found.calls] == ["refused_arguments"]
    assert (found.turn_count, found.orphans) == (0, 0)


def test_a_result_whose_call_never_comes_is_an_orphan():
    assert session([message("user", tool(output="x")["result"])]).orphans == 1


def test_an_agent_that_ran_a_call_is_a_subagent():
    found = session([message("gemini", toolCalls=[{**tool(output="x"), "agentId": "helper-1"}])])
    assert found.subagents == ("helper-1",)


# Who spoke, and how it ended.


def test_a_person_is_shown_to_have_said_what_was_typed_and_not_what_it_became():
    typed = message("user", [{"text": "Read @beds.md"}, {"text": "leeks"}], displayContent="Read @beds.md")
    assert [turn.text for turn in session([typed]).turns] == ["Read @beds.md"]


def test_a_thought_is_not_what_the_model_said():
    parts = [{"text": "Hm.", "thought": True}, {"text": "Leeks."}]
    assert session([message("gemini", parts)]).final_text == "Leeks."


@pytest.mark.parametrize(
    ("kind", "text", "cause"),
    [
        ("info", "Request cancelled.", "interrupted"),
        ("error", "[API Error: overloaded]", "api_error"),
        ("info", "A potential loop was detected. Halted.", "loop"),
        ("info", "Reached max session turns for this session.", "max_turns"),
        ("info", "Welcome.", None),
    ],
)
def test_a_notice_may_say_why_the_run_stopped(kind, text, cause):
    found = session([message("user", "Dig.", id="a"), message(kind, text, id="b")])
    assert found.stop_cause == cause


def test_a_turn_after_a_cancelled_one_goes_on():
    found = session([message("info", "Request cancelled.", id="a"), message("user", "Dig.", id="b")])
    assert found.stop_cause is None


# Bad input.


def test_lines_that_are_no_object_are_counted_and_the_rest_is_read():
    found = session([b'{"id', b"[]", b"\xff", b"7", message("user", "Hi")])
    assert (found.records, found.unreadable, found.turn_count) == (5, 4, 1)


def test_unknown_types_and_shapes_are_counted():
    found = session([message("mystery"), {"something": "else"}])
    assert found.unfamiliar == {"mystery": 1, "(no type)": 1}


def test_an_absurdly_nested_response_is_named_and_not_written_out():
    deep = "{" + '"a":{' * 400 + "}" * 400 + "}"
    record = json.dumps(message("gemini", toolCalls=[tool(output="DEEP")])).replace('"DEEP"', deep)
    found = session([record.encode()])
    assert found.calls[0].output == "[nested deeper than 256 levels]"


PARTS = st.sampled_from(["id", "text", "functionResponse", "functionCall", "response", "error"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PARTS, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ["content", "toolCalls", "tokens", "model", "displayContent", "messages", "$set", "id"]
)
MESSAGES = st.builds(
    lambda kind, rest: {"id": "a", **rest, "type": kind},
    st.sampled_from(["user", "gemini", "info"]) | VALUES,
    st.dictionaries(FIELDS, VALUES, max_size=5),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(MESSAGES, max_size=5))
def test_no_shape_of_a_message_is_too_odd_to_read(messages):
    assert session([{"sessionId": "s", "messages": messages}]).records == len(messages)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_are_too_odd_to_count(data):
    assert session([data]).records == 1


# Memory, and taking up again.


@pytest.mark.parametrize("name", ["patched.jsonl", "compressed.jsonl"])
def test_without_keep_no_text_is_held_and_every_count_is_the_same(name):
    kept, bare = session(lines(name)), session(lines(name), keep=False)
    assert count(bare) == count(kept)
    assert not any(c.input or c.output for c in bare.calls)
    assert (bare.turns, bare.final_text) == ((), "")


def test_without_keep_a_snapshot_holds_no_word_of_the_transcript():
    reader = gemini.Reader.open(keep=False)
    for record in lines("patched.jsonl"):
        reader.feed(record)
    saved = msgspec.msgpack.encode(reader)
    assert b"leeks" not in saved
    assert b"What grows" not in saved


@pytest.mark.parametrize("name", ["patched.jsonl", "compressed.jsonl"])
def test_a_reader_saved_at_any_line_end_goes_on_as_if_it_had_not_stopped(name):
    records = lines(name)
    whole = session(records)
    for cut in range(len(records)):
        reader = gemini.Reader.open()
        for record in records[:cut]:
            reader.feed(record)
        reader = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=gemini.Reader)
        for record in records[cut:]:
            reader.feed(record)
        assert reader.finish() == whole


def test_finishing_twice_says_the_same():
    reader = gemini.Reader.open()
    for record in lines("patched.jsonl"):
        reader.feed(record)
    assert reader.finish() == reader.finish()


# What it claims.


def test_patched_lines_and_a_document_are_claimed():
    assert gemini.sniff(peek.lines((VECTORS / "patched.jsonl").read_bytes()))
    assert gemini.sniff(peek.document((VECTORS / "document.json").read_bytes()))


@pytest.mark.parametrize(
    "record",
    [
        {"sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "Hi"}]}},
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        {"id": "a", "type": "user", "content": "Hi"},
        {"$set": 1, "$rewindTo": None},
    ],
)
def test_records_of_others_are_not_claimed(record):
    assert not gemini.sniff(peek.lines(json.dumps(record).encode()))
