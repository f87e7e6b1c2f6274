"""Laws of the Codex reader. Vectors are small and written by hand."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import codex, codex_replay, peek
from githarness.measure.counters import count

VECTORS = Path(__file__).parent / "vectors" / "codex"
HEADER = {"id": "s-1", "cwd": "/srv/garden"}


def lines(name):
    return (VECTORS / name).read_bytes().splitlines()


def session(records, *, keep=True):
    reader = codex.Reader.open(keep=keep)
    for record in records:
        reader.feed(record)
    return reader.finish()


def line(kind, payload, when="2026-03-04T05:06:07Z"):
    return json.dumps({"timestamp": when, "type": kind, "payload": payload}).encode()


def item(kind, **fields):
    return line("response_item", {"type": kind, **fields})


def event(kind, **fields):
    return line("event_msg", {"type": kind, **fields})


def said(role, text, **fields):
    return item("message", role=role, content=[{"type": "input_text", "text": text}], **fields)


def call(arguments="{}", id="c1", name="exec_command"):
    return item("function_call", name=name, arguments=arguments, call_id=id)


def output(value, id="c1"):
    return item("function_call_output", call_id=id, output=value)


def ran(code, text=""):
    return f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{text}"


def running(exec_session):
    return f"Chunk ID: 1\nProcess running with session ID {exec_session}\nOutput:\n"


def only(records):
    (found,) = session(records).calls
    return found


def outcome(records):
    found = only(records)
    return found.is_error, found.cause


# The whole of a paginated rollout.


def test_a_paginated_rollout_has_one_turn_four_steps_and_four_calls():
    stats = count(session(lines("paginated.jsonl")))
    assert (stats.turns, stats.steps, stats.tool_calls) == (1, 4, 4)


def test_each_result_gets_its_cause_from_what_the_file_states():
    calls = session(lines("paginated.jsonl")).calls
    assert [c.cause for c in calls] == [None, "unknown_tool", "failed", "refused_arguments"]


def test_arguments_that_are_no_object_are_the_one_malformed_call():
    calls = session(lines("paginated.jsonl")).calls
    assert [c.malformed for c in calls] == [False, False, False, True]
    assert calls[3].input == "{cmd: cat"


def test_results_are_paired_by_id_where_they_come_back_in_the_other_order():
    first, second, *_ = session(lines("paginated.jsonl")).calls
    assert first.output.endswith("leeks\n")
    assert second.output == "unsupported call: water_all"


def test_a_finished_task_with_a_last_message_is_stated_to_be_completed():
    found = session(lines("paginated.jsonl"))
    assert (found.stop_cause, found.stop_inferred) == ("completed", False)
    assert found.final_text == "Leeks grow there."


def test_the_header_gives_the_id_folder_branch_version_and_prompt():
    found = session(lines("paginated.jsonl"))
    assert found.native == "019cb700-0000-7000-8000-000000000001"
    assert (found.project, found.branch, found.versions) == ("/srv/garden", "spring", ("0.171.0",))
    assert [(p.position, p.raw) for p in found.prompts] == [(0, b"You tend a garden.")]


def test_the_last_running_total_is_what_was_spent():
    tokens = session(lines("paginated.jsonl")).tokens
    assert (tokens.input, tokens.output, tokens.cache_read) == (400, 60, 210)


def test_first_and_last_timestamp_bound_the_session():
    found = session(lines("paginated.jsonl"))
    assert found.started == "2026-03-04T05:06:00.000Z"
    assert found.ended == "2026-03-04T05:06:24.000Z"


def test_nothing_in_a_real_shape_is_unfamiliar():
    found = session(lines("paginated.jsonl"))
    assert (found.records, found.unreadable, found.unfamiliar) == (25, 0, {})


# Bad input.


def test_lines_that_are_no_object_are_counted_and_the_rest_is_read():
    found = session([b'{"type":"resp', b"[]", b"null", b"\xff\xfe", said("user", "Hi"), b'"x"'])
    assert (found.records, found.unreadable, found.turn_count) == (6, 5, 1)


def test_unknown_records_items_and_events_are_counted_by_type():
    found = session([line("novelty", {}), item("oddity"), event("surprise"), b"{}"])
    assert found.unfamiliar == {"novelty": 1, "oddity": 1, "surprise": 1, "(no type)": 1}


def test_a_lone_surrogate_in_an_output_is_read():
    record = output("cut CUT").replace(b"CUT", rb"\ud83d")
    found = only([call(), record])
    assert found.output == "cut \ud83d"


def test_an_absurdly_nested_output_is_named_and_not_written_out():
    deep = b'{"a":' * 400 + b"1" + b"}" * 400
    record = b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":%s}}'
    assert only([call(), record % deep]).output == "[nested deeper than 256 levels]"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from([*codex._ITEMS, *codex._EVENTS, "UserMessage"])
FIELDS = st.sampled_from(
    ["role", "content", "call_id", "name", "arguments", "output", "item", "info", "id", "source", "tools"]
)
PAYLOADS = st.builds(
    lambda kind, rest: {**rest, "type": kind}, KINDS, st.dictionaries(FIELDS, VALUES, max_size=5)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*codex._RECORDS, "session_meta"]), PAYLOADS), max_size=6))
def test_no_shape_of_known_records_is_too_odd_to_read(records):
    found = session([line(kind, payload) for kind, payload in records])
    assert found.records == len(records)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_are_too_odd_to_count(data):
    assert session([data]).records == 1


# Arguments.


@pytest.mark.parametrize(
    ("arguments", "malformed"),
    [('{"cmd":"ls"}', False), ({"cmd": "ls"}, False), ("", False), ("[1]", True), ("ls", True), ([1], True)],
)
def test_arguments_are_malformed_unless_they_are_an_object_or_blank(arguments, malformed):
    assert only([call(arguments)]).malformed is malformed


@pytest.mark.parametrize("arguments", [None, "[REDACTED_ARGUMENTS len=9]", "[REDACTED:key:1]"])
def test_arguments_that_were_not_kept_are_neither_good_nor_malformed(arguments):
    assert only([call(arguments)]).malformed is None


def test_the_free_text_of_a_custom_tool_is_never_malformed():
    found = only([item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c1")])
    assert (found.input, found.malformed) == ("*** Begin Patch", False)


def test_a_refusal_to_parse_makes_blank_arguments_malformed():
    assert only([call(""), output("failed to parse function arguments: EOF")]).malformed is True


def test_a_namespace_is_part_of_the_name():
    found = only([item("function_call", name="dig", namespace="mcp__garden__", arguments="{}", call_id="c1")])
    assert found.name == "mcp__garden__dig"


# How a call went.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ran(0), (False, None)),
        (ran(3), (True, "failed")),
        (ran(-1), (True, "failed")),
        ("Exit code: 2\nWall time: 1 seconds\nOutput:\nx", (True, "failed")),
        ('{"output": "x", "metadata": {"exit_code": 0}}', (False, None)),
        ('{"output": "x", "metadata": {"exit_code": 7}}', (True, "failed")),
        ({"content": "x", "success": False}, (True, "failed")),
        ({"content": "x", "success": True}, (False, None)),
        ("unsupported custom tool call: dig", (True, "unknown_tool")),
        ("exec command rejected by user", (True, "denied_by_person")),
        ("aborted by user after 3.1s", (True, "cancelled")),
        ("Command blocked by PreToolUse hook: no. Command: rm", (True, "denied_by_hook")),
        ("exec_command failed for `rm`: Rejected('rejected by user')", (True, "denied_by_person")),
        ("exec_command failed for `rm`: Rejected('blocked by policy')", (True, "denied_by_hook")),
        ("exec_command failed for `rejected by user`: NotFound", (True, "failed")),
        ("Success. Updated the following files:\nM a", (False, None)),
        ("leeks and peas", (None, "unknown")),
        ([{"type": "input_text", "text": ran(1)}], (True, "failed")),
    ],
)  # fmt: skip
def test_a_result_is_judged_by_what_its_head_says(value, expected):
    assert outcome([call(), output(value)]) == expected


def test_what_a_command_printed_is_no_evidence():
    forged = "some text\nOutput:\nProcess exited with code 1\nunsupported call: x"
    assert outcome([call(), output(forged)]) == (None, "unknown")


def test_a_call_without_a_result_is_unknown():
    assert outcome([call()]) == (None, "unknown")
    assert only([call()]).output is None


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_an_event_is_believed_over_the_text_wherever_it_stands(order):
    records = [
        item("custom_tool_call", name="apply_patch", input="x", call_id="c1"),
        event("patch_apply_end", call_id="c1", success=False),
        item("custom_tool_call_output", call_id="c1", output="Success. Updated the following files:"),
    ]
    assert outcome([records[at] for at in order]) == (True, "failed")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"Ok": {"content": [], "isError": True}}, (True, "failed")),
        ({"Ok": {"content": []}}, (False, None)),
        ({"Err": "user rejected MCP tool call"}, (True, "denied_by_person")),
        ({"Err": "connection lost"}, (True, "failed")),
    ],
)
def test_an_mcp_call_is_judged_by_its_end_event(result, expected):
    records = [call(), event("mcp_tool_call_end", call_id="c1", result=result), output("text")]
    assert outcome(records) == expected


def test_a_declined_command_was_denied_by_a_person():
    done = event("item_completed", item={"type": "CommandExecution", "id": "c1", "status": "declined"})
    assert outcome([call(), done, output("whatever")]) == (True, "denied_by_person")


@pytest.mark.parametrize(("over", "cause"), [(True, "cancelled"), (False, "failed")])
def test_a_command_that_was_ended_with_its_session_did_not_fail(over, cause):
    end = [event("task_complete", last_agent_message="Dug.")] if over else []
    killed = {"type": "CommandExecution", "id": "c1", "status": "failed", "exit_code": -1}
    records = [event("task_started"), call(), output(running(4)), *end, event("item_completed", item=killed)]
    assert only(records).cause == cause


def test_an_exit_code_that_a_poll_brings_belongs_to_the_command():
    poll = call('{"session_id": 42, "chars": ""}', id="c2", name="write_stdin")
    calls = session([call(), output(running(42)), poll, output(ran(1), id="c2")]).calls
    assert [(c.is_error, c.cause) for c in calls] == [(True, "failed"), (False, None)]


def test_a_command_that_still_runs_is_unknown():
    poll = call('{"session_id": 42}', id="c2", name="write_stdin")
    calls = session([call(), output(running(42)), poll, output(running(42), id="c2")]).calls
    assert [c.is_error for c in calls] == [None, False]


def test_a_poll_of_a_session_that_is_not_in_the_file_is_unknown():
    poll = call('{"session_id": 7}', name="write_stdin")
    assert outcome([poll, output(ran(1))]) == (None, "unknown")


def test_a_result_that_stands_before_its_call_is_paired_by_id():
    assert outcome([output(ran(0)), call()]) == (False, None)


def test_a_result_whose_call_never_comes_is_an_orphan():
    assert session([output(ran(0), id="lost")]).orphans == 1


def test_a_result_without_an_id_is_never_paired_by_order():
    found = session([call(id="c1"), item("function_call_output", output=ran(0))])
    assert found.unfamiliar == {"(result without call_id)": 1}
    assert found.calls[0].output is None


def test_a_hosted_search_has_a_status_and_no_output():
    found = only([item("web_search_call", status="completed", action={"query": "leeks"})])
    assert (found.name, found.is_error, found.output) == ("web_search", False, None)


# Who spoke.


def test_what_the_harness_put_in_the_users_place_is_no_turn():
    texts = ["<environment_context>x", "# AGENTS.md instructions for /srv", "<user_instructions>y"]
    found = session([*(said("user", text) for text in texts), said("user", "Dig.")])
    assert (found.turn_count, found.injected) == (1, 3)
    assert [turn.text for turn in found.turns] == ["Dig."]


def test_typed_text_beside_an_injected_part_is_the_turn():
    parts = [{"type": "input_text", "text": text} for text in ("<environment_context>x", "Dig.")]
    found = session([item("message", role="user", content=parts)])
    assert [turn.text for turn in found.turns] == ["Dig."]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_item_and_the_event_of_the_same_words_are_one_turn(order):
    records = [said("user", "Dig."), event("user_message", message="Dig.")]
    assert session([records[at] for at in order]).turn_count == 1


def test_two_events_of_the_same_words_are_one_turn_and_said_again_later_two():
    completed = event("item_completed", item={"type": "UserMessage", "content": [{"text": "Dig."}]})
    twice = [event("user_message", message="Dig."), completed]
    assert session(twice).turn_count == 1
    assert session([*twice, said("assistant", "Dug."), *twice]).turn_count == 2


def test_once_events_tell_who_spoke_an_unknown_notice_is_no_turn():
    notice, typed = said("user", "<novel_notice>x"), said("user", "Dig.")
    found = session([notice, typed, event("user_message", message="Dig.")])
    assert (found.turn_count, found.injected) == (1, 1)
    assert [turn.text for turn in found.turns] == ["Dig."]


def test_typing_while_a_task_is_open_steers_it():
    opened = [event("task_started", turn_id="t"), event("user_message", message="Dig.")]
    assert session(opened).steered is False
    assert session([*opened, event("user_message", message="Deeper.")]).steered is True


def test_typing_after_a_task_has_ended_is_the_next_turn():
    one = [
        event("task_started"),
        event("user_message", message="Dig."),
        said("assistant", "Dug."),
        event("task_complete", last_agent_message="Dug."),
    ]
    found = session([*one, *one])
    assert (found.turn_count, found.steered) == (2, False)


def test_words_that_only_an_event_tells_are_the_final_text():
    found = session([event("user_message", message="Dig."), event("agent_message", message="Dug.")])
    assert (found.final_text, found.steps) == ("Dug.", 1)


# How it ended.


def test_an_aborted_turn_is_an_interruption_until_someone_speaks_again():
    aborted = [event("task_started"), event("turn_aborted", reason="interrupted")]
    assert session(aborted).stop_cause == "interrupted"
    assert session([*aborted, event("user_message", message="Go on.")]).stop_cause is None


def test_an_open_task_is_never_taken_as_completed():
    found = session([event("task_started"), said("assistant", "Digging.")])
    assert (found.stop_cause, found.stop_inferred) == (None, False)


def test_commentary_is_not_taken_as_an_end():
    assert session([said("assistant", "Digging.", phase="commentary")]).stop_cause is None
    assert session([said("assistant", "Dug.", phase="final")]).stop_cause == "completed"


def test_a_task_that_ended_in_an_error_ended_in_an_error():
    done = event("task_complete", last_agent_message=None, error={"message": "overloaded"})
    assert session([event("task_started"), done]).stop_cause == "api_error"


def test_a_compaction_is_counted_once_and_not_by_its_twin():
    compacted = line("compacted", {"message": "", "replacement_history": [{"type": "function_call"}]})
    found = session([compacted, event("context_compacted")])
    assert (found.compactions, found.calls, found.unfamiliar) == (1, (), {})


# Tokens, names, forks.


def spent(first, second):
    usage = {"input_tokens": first, "output_tokens": second}
    return event("token_count", info={"total_token_usage": usage})


def test_a_total_that_is_stated_twice_is_spent_once():
    assert session([spent(10, 1), spent(10, 1)]).tokens.input == 10


def test_a_total_that_fell_began_again():
    assert session([spent(10, 1), spent(4, 1), spent(6, 2)]).tokens.input == 16


def test_an_event_without_a_total_leaves_tokens_unknown():
    assert session([event("token_count", info=None)]).tokens is None


def test_dynamic_tools_are_partial_names_and_never_a_surface():
    found = session([line("session_meta", {**HEADER, "dynamic_tools": [{"name": "dig"}]})])
    assert (found.partial_names, found.surfaces) == (True, ())


def test_a_session_without_dynamic_tools_has_no_partial_names():
    assert session(lines("paginated.jsonl")).partial_names is False


def test_what_a_fork_replays_is_copied_and_counts_as_nothing_else():
    found = session(lines("fork.jsonl"))
    assert (found.copied, found.calls) == (6, ())
    assert [turn.text for turn in found.turns] == ["Water them."]


def test_a_fork_names_its_parent_and_spends_only_its_own_tokens():
    found = session(lines("fork.jsonl"))
    assert found.parent == "019cb700-0000-7000-8000-000000000000"
    assert found.native == "019cb700-0000-7000-8000-000000000009"
    assert (found.tokens.input, found.tokens.output) == (100, 10)


@pytest.mark.parametrize("old", [(20, 20, 20), (1, 2, 9)])
def test_without_timed_ids_the_clock_ends_a_replay_whether_or_not_it_kept_its_old_times(old):
    def at(second, kind, payload):
        return line(kind, payload, f"2026-03-04T05:06:{second:02d}Z")

    fork = [
        at(20, "session_meta", {"id": "b", "forked_from_id": "a"}),
        at(old[0], "session_meta", {"id": "a"}),
        at(old[1], "event_msg", {"type": "user_message", "message": "Old."}),
        at(old[2], "event_msg", {"type": "user_message", "message": "Older."}),
        at(40, "event_msg", {"type": "user_message", "message": "New."}),
    ]
    assert [turn.text for turn in session(fork).turns] == ["New."]


@pytest.mark.parametrize("first", ["paginated.jsonl", "exec_stream.jsonl"])
def test_a_session_put_behind_another_one_is_copied_and_counts_as_nothing(first):
    own = session(lines(first))
    begun = "thread.started" if first == "exec_stream.jsonl" else "session_meta"
    other = [one.replace(own.native.encode(), b"another") for one in lines(first)]
    found = session([*lines(first), *other])
    assert begun.encode() in b"".join(other)
    assert (found.copied, found.calls, found.turn_count) == (len(other), own.calls, own.turn_count)
    assert (found.native, found.parent) == (own.native, own.parent)


def test_a_header_that_repeats_the_id_replays_nothing():
    meta = line("session_meta", HEADER)
    found = session([meta, said("user", "Dig."), meta, said("user", "Again.")])
    assert (found.turn_count, found.copied) == (2, 0)


def test_a_spawned_thread_names_the_thread_that_spawned_it():
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "s-0", "depth": 1}}}
    assert session([line("session_meta", {**HEADER, "source": source})]).parent == "s-0"


def test_threads_that_were_spawned_are_subagents_once_each():
    spawn = event("collab_agent_spawn_end", call_id="c1", new_thread_id="s-2")
    assert session([spawn, spawn]).subagents == ("s-2",)


def test_a_timestamp_that_cannot_be_read_is_no_time_at_all():
    assert codex_replay.seconds("2026-03-04T05:06:07Z", "soon") == 0.0


# Other shapes.


def test_records_from_before_the_envelope_are_read():
    found = session(lines("flat.jsonl"))
    assert (found.native, found.branch, found.turn_count, found.injected) == ("flat-1", "old", 1, 1)
    assert [(c.name, c.is_error) for c in found.calls] == [("shell", False)]
    assert found.stop_inferred is True


def test_a_call_without_an_id_stays_unpaired():
    bare = {"timestamp": "t", "type": "tool_call", "function": {"name": "dig"}, "arguments": {}}
    found = session([json.dumps(bare).encode()])
    assert [(c.id, c.name, c.output) for c in found.calls] == [("#0", "dig", None)]


def test_the_event_stream_is_the_same_agent_and_session():
    found = session(lines("exec_stream.jsonl"))
    assert (found.agent, found.native) == ("codex", "019cb700-0000-7000-8000-000000000001")


def test_the_event_stream_tells_commands_by_their_status():
    found = session(lines("exec_stream.jsonl"))
    assert [(c.name, c.is_error, c.cause) for c in found.calls] == [
        ("command_execution", False, None),
        ("command_execution", True, "failed"),
    ]


def test_the_event_stream_knows_a_turn_without_its_words_and_no_malformed_count():
    found = session(lines("exec_stream.jsonl"))
    assert (found.turn_count, found.turns, found.stop_cause) == (1, (), "completed")
    assert count(found).malformed_args is None


# Memory, and taking up again.


def test_without_keep_no_text_is_held_and_every_count_is_the_same():
    kept, bare = session(lines("paginated.jsonl")), session(lines("paginated.jsonl"), keep=False)
    assert count(bare) == count(kept)
    assert [(c.input[:8], c.output) for c in bare.calls] == [("#digest:", "")] * 4
    assert (bare.turns, bare.final_text) == ((), "")


@pytest.mark.parametrize("name", ["paginated.jsonl", "fork.jsonl", "flat.jsonl", "exec_stream.jsonl"])
def test_a_reader_saved_at_any_line_end_goes_on_as_if_it_had_not_stopped(name):
    records = lines(name)
    whole = session(records)
    for cut in range(len(records)):
        reader = codex.Reader.open()
        for record in records[:cut]:
            reader.feed(record)
        reader = msgspec.msgpack.decode(msgspec.msgpack.encode(reader), type=codex.Reader)
        for record in records[cut:]:
            reader.feed(record)
        assert reader.finish() == whole


# What it claims.


@pytest.mark.parametrize("name", ["paginated.jsonl", "fork.jsonl", "flat.jsonl", "exec_stream.jsonl"])
def test_every_age_of_rollout_is_claimed(name):
    assert codex.sniff(peek.lines((VECTORS / name).read_bytes()))


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "content": "Hi"},
        {"type": "user", "timestamp": "t", "uuid": "u", "message": {"role": "user", "content": "Hi"}},
        {"type": "session.start", "timestamp": "t", "data": {}},
        {"type": "message", "role": "user", "content": "Hi"},
        {"sessionId": "s", "projectHash": "h"},
        {"type": ["session_meta"], "payload": {}, "role": {}},
    ],
)
def test_records_of_others_are_not_claimed(record):
    assert not codex.sniff(peek.lines(json.dumps(record).encode()))
