"""Laws of the Claude Code reader: every call has one outcome, and only people take turns."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import claude_code, claude_record, claude_text, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

VECTORS = Path(__file__).parent / "vectors" / "claude_code"
SESSION = "7a1c0000-0000-4000-8000-000000000001"
OLDER = "7a1c0000-0000-4000-8000-0000000000aa"


def record(kind, **fields):
    return {"type": kind, "sessionId": SESSION, "version": "2.1.200", **fields}


def user(*content, **fields):
    said = content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)
    return record("user", message={"role": "user", "content": said}, **fields)


def answer(id, *blocks, stop=None, **fields):
    message = {"id": id, "model": "claude-test-4", "content": list(blocks), "stop_reason": stop}
    return record("assistant", message=message, **fields)


def text(words):
    return {"type": "text", "text": words}


def use(id, name="Read", **input):
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id, content="ok", **flags):
    return {"type": "tool_result", "tool_use_id": id, "content": content, **flags}


def attachment(kind, **fields):
    return record("attachment", attachment={"type": kind, **fields})


def queue(operation, content=None, **fields):
    return record("queue-operation", operation=operation, content=content, **fields)


def feed(reader, lines):
    for line in lines:
        reader.feed(line if isinstance(line, bytes) else json.dumps(line).encode())
    return reader


def read(*lines, keep=True):
    return feed(claude_code.Reader.open(keep=keep), lines).finish()


def vector(name):
    return (VECTORS / name).read_bytes().splitlines()


def outcome(content, name="Bash", flags=None, **fields):
    lines = [user("go"), answer("m1", use("t1", name)), user(result("t1", content, is_error=True), **fields)]
    return read(*lines, **(flags or {})).calls[0]


# What a whole file says


def test_a_headless_run_counts_as_its_script_says():
    stats = count(read(*vector("headless.jsonl")))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 4, 4, 2)
    assert (stats.malformed_args, stats.ended_on_failed_call, stats.stop_cause) == (1, True, "completed")


def test_a_headless_prompt_passes_the_queue_and_steers_nothing():
    assert read(*vector("headless.jsonl")).steered is False


def test_a_run_is_named_and_placed_by_its_records():
    session = read(*vector("headless.jsonl"))
    assert (session.native, session.parent) == (SESSION, None)
    assert (session.project, session.branch) == ("/srv/orchard", "pears")
    assert (session.models, session.versions) == (("claude-test-4",), ("2.1.200",))


def test_a_run_begins_and_ends_with_its_own_timestamps():
    session = read(*vector("headless.jsonl"))
    assert (session.started, session.ended) == ("2026-03-04T05:06:00.000Z", "2026-03-04T05:06:12.000Z")


def test_tokens_are_taken_once_a_message_and_the_cache_is_part_of_the_input():
    assert read(*vector("headless.jsonl")).tokens == Tokens(
        input=4 * 123, output=30 + 7 + 7 + 7, cache_read=400, cache_write=80
    )


@pytest.mark.parametrize("name", sorted(path.name for path in VECTORS.iterdir()))
def test_keeping_no_text_changes_no_count(name):
    lean = read(*vector(name), keep=False)
    assert count(lean) == count(read(*vector(name)))
    assert not any([lean.turns, lean.final_text, *(call.output or call.input for call in lean.calls)])


@pytest.mark.parametrize("name", sorted(path.name for path in VECTORS.iterdir()))
@pytest.mark.parametrize("keep", [True, False])
def test_a_reader_saved_at_any_line_end_goes_on_as_if_never_stopped(name, keep):
    lines = vector(name)
    for at in range(len(lines)):
        saved = msgspec.msgpack.encode(feed(claude_code.Reader.open(keep=keep), lines[:at]))
        resumed = msgspec.msgpack.decode(saved, type=claude_code.Reader)
        assert feed(resumed, lines[at:]).finish() == read(*lines, keep=keep)


@pytest.mark.parametrize("name", sorted(path.name for path in VECTORS.iterdir()))
def test_every_vector_is_recognised_by_its_content(name):
    assert claude_code.sniff(peek.lines((VECTORS / name).read_bytes()))


# Calls and results


def test_lines_of_one_message_are_one_step():
    session = read(user("go"), answer("m1", text("a")), answer("m1", use("t1")), answer("m1", use("t2")))
    assert session.steps == 1
    assert [call.step for call in session.calls] == [1, 1]


def test_a_message_goes_on_after_one_of_its_results_came_back():
    session = read(answer("m1", use("t1")), user(result("t1")), answer("m1", use("t2")))
    assert [call.step for call in session.calls] == [1, 1]


def test_a_message_goes_on_after_a_person_spoke_into_it():
    said = attachment("queued_command", prompt="also the gate", commandMode="prompt")
    session = read(user("go"), answer("m1", use("t1")), said, answer("m1", use("t2")))
    assert session.steps == 1


def test_results_out_of_order_are_paired_by_id():
    session = read(
        answer("m1", use("t1"), use("t2")),
        user(result("t2", "second")),
        user(result("t1", "first", is_error=False)),
    )
    assert [call.output for call in session.calls] == ["first", "second"]


def test_a_result_that_stands_before_its_call_is_paired_by_id():
    session = read(user(result("t1", "early")), answer("m1", use("t1")))
    assert session.calls[0].output == "early"
    assert session.orphans == 0


def test_a_refusal_that_stands_before_its_call_still_makes_it_malformed():
    refusal = result("t1", "<tool_use_error>InputValidationError: no</tool_use_error>", is_error=True)
    assert read(user(refusal), answer("m1", use("t1"))).calls[0].malformed is True


def test_a_result_without_a_call_is_an_orphan_and_shifts_nothing():
    session = read(answer("m1", use("t1")), user(result("t0", "lost")), user(result("t1", "mine")))
    assert session.orphans == 1
    assert session.calls[0].output == "mine"


def test_a_result_without_an_id_is_paired_inside_the_last_response_only():
    nameless = {"type": "tool_use", "name": "Bash", "input": {}}
    back = {"type": "tool_result", "content": "ok"}
    session = read(answer("m1", nameless), answer("m2", text("on")), user(back))
    assert session.calls[0].output is None
    assert session.orphans == 1


def test_a_missing_error_flag_is_a_success_in_this_format():
    call = read(answer("m1", use("t1")), user(result("t1"))).calls[0]
    assert (call.is_error, call.cause) == (False, None)


def test_a_call_without_a_result_is_of_unknown_outcome():
    call = read(answer("m1", use("t1"))).calls[0]
    assert (call.is_error, call.cause, call.output) == (None, "unknown", None)


def test_a_result_without_content_is_an_empty_output_and_not_a_missing_one():
    bare = {"type": "tool_result", "tool_use_id": "t1"}
    assert read(answer("m1", use("t1")), user(bare)).calls[0].output == ""


def test_the_texts_of_a_result_are_joined_and_other_blocks_are_named():
    blocks = [text("one"), {"type": "image", "source": {}}, text("two")]
    assert read(answer("m1", use("t1")), user(result("t1", blocks))).calls[0].output == "one\n[image]\ntwo"


@pytest.mark.parametrize(
    ("input", "malformed"), [({"a": 1}, False), ({}, False), ('{"a":', True), ([1], True), (None, None)]
)
def test_arguments_that_are_no_object_are_malformed(input, malformed):
    block = {"type": "tool_use", "id": "t1", "name": "Read", "input": input}
    call = read(answer("m1", block)).calls[0]
    assert (call.malformed, call.input) == (malformed, input)


def test_what_a_server_ran_comes_back_inside_the_response():
    asked = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "pears"}}
    broken = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    back = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": broken}
    assert read(answer("m1", asked, back)).calls[0].cause == "failed"


# Why a call failed


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("Exit code 2\nno such row", "failed"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
        ("<tool_use_error>Cancelled: parallel call</tool_use_error>", "cancelled"),
        ("[Request interrupted by user for tool use]", "cancelled"),
        ("<tool_use_error>InputValidationError: Bash wants a command</tool_use_error>", "refused_arguments"),
        ("<tool_use_error>Error: No such tool available: Dig</tool_use_error>", "unknown_tool"),
        ("The user doesn't want to proceed with this tool use. Stop.", "denied_by_person"),
        ("Permission to use Bash with command rm has been denied.", "denied_by_hook"),
        ("Claude requested permissions to use Bash, but nobody answered", "denied_by_hook"),
        ("PreToolUse:Bash hook error: [./check.sh]: rows are locked", "denied_by_hook"),
        ("Bash operation blocked by hook:\n- rows are locked", "denied_by_hook"),
    ],
)
def test_an_error_has_the_cause_its_text_gives_away(content, cause):
    assert outcome(content).cause == cause


def test_an_error_that_only_quotes_a_marker_is_a_plain_failure():
    assert outcome("Exit code 1\nlog: InputValidationError, Sibling tool call errored").cause == "failed"


def test_refused_arguments_are_malformed():
    assert outcome("InputValidationError: no").malformed is True


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("user-rejected", "denied_by_person"),
        ("permission-rule", "denied_by_hook"),
        ("automode-blocked", "denied_by_hook"),
        ("interrupted", "cancelled"),
    ],
)
def test_the_clients_own_word_for_a_denial_stands_above_the_text(kind, cause):
    assert outcome("whatever was said", toolDenialKind=kind).cause == cause


def test_a_kind_of_denial_speaks_for_one_result_only():
    both = [result("t1", "Exit code 1", is_error=True), result("t2", "Exit code 1", is_error=True)]
    session = read(answer("m1", use("t1"), use("t2")), user(*both, toolDenialKind="user-rejected"))
    assert [call.cause for call in session.calls] == ["failed", "failed"]


def test_a_hooks_bare_reason_is_a_denial_where_a_shell_would_have_said_its_exit_code():
    call = outcome("Rows are locked today.", toolUseResult="Error: Rows are locked today.")
    assert call.cause == "denied_by_hook"


@pytest.mark.parametrize("fields", [{"version": "1.0.90"}, {"toolUseResult": {"stdout": ""}}])
def test_a_bare_reason_alone_proves_no_hook(fields):
    told = {"toolUseResult": "Error: Rows are locked today.", **fields}
    assert outcome("Rows are locked today.", **told).cause == "failed"


def test_another_tools_bare_reason_is_its_own_failure():
    assert outcome("No file.", name="Read", toolUseResult="Error: No file.").cause == "failed"


def test_a_command_that_a_person_interrupted_is_cancelled():
    assert outcome("Exit code 137", toolUseResult={"interrupted": True}).cause == "cancelled"


@pytest.mark.parametrize("first", ["attachment", "result"])
def test_a_hooks_recorded_decision_denies_the_call_on_either_side_of_its_result(first):
    denied = attachment("hook_permission_decision", decision="deny", toolUseID="t1")
    back = user(result("t1", "not today", is_error=True))
    both = [denied, back] if first == "attachment" else [back, denied]
    assert read(answer("m1", use("t1", "Edit")), *both).calls[0].cause == "denied_by_hook"


# Who spoke


@pytest.mark.parametrize(
    "words",
    [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>done</local-command-stdout>",
        "<local-command-caveat>Caveat</local-command-caveat>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>rows</bash-stdout>",
        "<task-notification>done</task-notification>",
        "<system-reminder>be brief</system-reminder>",
        "[Image: source: /tmp/pear.png]",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation that grew too long.",
    ],
)
def test_what_the_client_wrote_in_the_users_place_is_no_turn(words):
    session = read(user("go"), user(words), user(text(words)))
    assert (session.turn_count, session.injected) == (1, 2)


@pytest.mark.parametrize(
    "mark",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"origin": {"kind": "task-notification"}},
        {"origin": {"kind": "peer"}},
        {"promptSource": "system"},
    ],
)
def test_a_record_marked_as_the_clients_is_no_turn(mark):
    session = read(user("looks typed", **mark))
    assert (session.turn_count, session.injected) == (0, 1)


@pytest.mark.parametrize("words", ["<div>fix this tag</div>", "/srv/orchard is the folder", "Image: a pear"])
def test_what_a_person_typed_is_a_turn_also_when_it_looks_like_markup(words):
    assert [turn.text for turn in read(user(words)).turns] == [words]


def test_a_reminder_glued_before_a_persons_words_does_not_hide_them():
    assert claude_text.is_typed("<system-reminder>brief</system-reminder>\nprune the hedge")
    assert not claude_text.is_typed(
        "<system-reminder>a</system-reminder> <system-reminder>b</system-reminder>"
    )


def test_a_pasted_image_without_words_is_a_turn():
    assert read(user({"type": "image", "source": {}})).turn_count == 1


def test_a_result_alone_is_no_turn():
    assert read(user("go"), answer("m1", use("t1")), user(result("t1"))).turn_count == 1


# Steering


def test_words_beside_a_result_steer():
    session = read(user("go"), answer("m1", use("t1")), user(result("t1"), text("no, the other row")))
    assert session.steered
    assert session.turns[1].text == "no, the other row"


def test_a_reminder_beside_a_result_steers_nothing():
    reminder = text("<system-reminder>mind the rows</system-reminder>")
    assert not read(user("go"), answer("m1", use("t1")), user(result("t1"), reminder)).steered


def test_words_inside_a_denial_steer_and_are_no_turn():
    denial = "The user doesn't want to proceed with this tool use. The user said:\nuse the ladder"
    session = read(user("go"), answer("m1", use("t1")), user(result("t1", denial, is_error=True)))
    assert (session.steered, session.turn_count) == (True, 1)


def test_a_denial_without_words_steers_nothing():
    denial = "The user doesn't want to proceed with this tool use. STOP."
    assert not read(user("go"), answer("m1", use("t1")), user(result("t1", denial, is_error=True))).steered


def test_a_text_that_only_quotes_what_a_user_said_steers_nothing():
    quote = result("t1", "Exit code 1\nthe user said: hello", is_error=True)
    assert not read(user("go"), answer("m1", use("t1")), user(quote)).steered


def test_a_queued_text_that_reached_the_model_steers_and_is_a_turn():
    said = attachment("queued_command", prompt=[text("and the gate")], commandMode="prompt")
    session = read(user("go"), answer("m1", use("t1")), said)
    assert (session.steered, session.turns[1].text) == (True, "and the gate")


@pytest.mark.parametrize(
    "fields",
    [
        {"commandMode": "task-notification"},
        {"isMeta": True},
        {"origin": {"kind": "coordinator"}},
        {"prompt": "/compact now"},
        {"prompt": "<task-notification>done</task-notification>"},
    ],
)
def test_a_queued_text_that_no_person_wrote_steers_nothing(fields):
    said = attachment("queued_command", **{"prompt": "and the gate", **fields})
    assert not read(user("go"), answer("m1", use("t1")), said).steered


def test_a_removal_with_words_in_an_open_turn_is_a_trace_of_steering():
    session = read(user("go"), answer("m1", text("on it")), queue("remove", "wait"), answer("m2", text("ok")))
    assert (session.steered, session.turn_count) == (True, 2)


@pytest.mark.parametrize("first", ["attachment", "queue"])
def test_two_traces_of_one_steering_text_are_one_turn(first):
    traces = [attachment("queued_command", prompt="wait", commandMode="prompt"), queue("remove", "wait")]
    session = read(user("go"), answer("m1", use("t1")), *(traces if first == "attachment" else traces[::-1]))
    assert (session.steered, session.turn_count) == (True, 2)


def test_a_text_removed_without_words_steers_when_a_person_had_queued_it():
    lines = [user("go"), answer("m1", use("t1")), queue("enqueue", "wait"), queue("remove")]
    assert read(*lines).steered


def test_a_text_still_queued_at_the_end_of_an_open_turn_steers():
    assert read(user("go"), answer("m1", use("t1")), queue("enqueue", "wait")).steered


@pytest.mark.parametrize(
    "after",
    [
        [queue("dequeue"), user("wait")],
        [queue("popAll", "wait")],
        [queue("popOne", "wait")],
        [queue("remove", "wait", reason="cancelled")],
    ],
)
def test_a_queued_text_that_was_handed_out_or_taken_back_steers_nothing(after):
    assert not read(user("go"), answer("m1", use("t1")), queue("enqueue", "wait"), *after).steered


def test_a_removal_after_the_end_of_a_turn_steers_nothing():
    assert not read(user("go"), answer("m1", text("done"), stop="end_turn"), queue("remove", "wait")).steered


# How a run ended


@pytest.mark.parametrize(
    ("stop", "cause"),
    [
        ("end_turn", "completed"),
        ("max_tokens", "output_token_budget"),
        ("model_context_window_exceeded", "output_token_budget"),
        ("tool_use", None),
        ("pause_turn", None),
    ],
)
def test_the_last_stop_reason_says_how_a_run_ended(stop, cause):
    session = read(user("go"), answer("m1", use("t1"), stop=stop))
    assert (session.stop_cause, session.stop_inferred) == (cause, False)


def test_a_file_without_stop_reasons_that_ends_on_text_completed_and_says_it_is_inferred():
    session = read(user("go"), answer("m1", text("done")))
    assert (session.stop_cause, session.stop_inferred) == ("completed", True)


def test_an_interruption_ends_a_run():
    assert read(user("go"), answer("m1", use("t1")), user("[Request interrupted by user]")).stop_cause == (
        "interrupted"
    )


@pytest.mark.parametrize("later", [user("go on"), answer("m2", use("t2"))])
def test_what_comes_later_takes_a_stop_back(later):
    assert read(user("go"), user("[Request interrupted by user]"), later).stop_cause is None


def test_a_stream_that_was_aborted_is_an_interruption():
    assert read(answer("m1", text("half a"), isAbortedMidStream=True)).stop_cause == "interrupted"


def test_an_error_of_the_service_is_no_response_and_no_model():
    spoken = {"model": "<synthetic>", "content": [text("API Error: 529")], "stop_reason": "stop_sequence"}
    session = read(user("go"), record("assistant", message=spoken, isApiErrorMessage=True))
    assert (session.stop_cause, session.steps, session.models, session.final_text) == (
        "api_error",
        0,
        (),
        None,
    )


def test_an_answer_that_outgrew_its_limit_ended_on_the_output_budget():
    spoken = {"model": "<synthetic>", "content": [text("API Error: too long")]}
    line = record("assistant", message=spoken, isApiErrorMessage=True, apiError="max_output_tokens")
    assert read(user("go"), line).stop_cause == "output_token_budget"


def test_a_turn_limit_ends_a_run():
    assert read(user("go"), attachment("max_turns_reached", maxTurns=3)).stop_cause == "max_turns"


# Compaction


BOUNDARY = record("system", subtype="compact_boundary")
SUMMARY = user("all that was said", isCompactSummary=True)


@pytest.mark.parametrize(
    ("lines", "compactions"),
    [
        ([], 0),
        ([BOUNDARY], 1),
        ([SUMMARY], 1),
        ([BOUNDARY, SUMMARY], 1),
        ([SUMMARY, BOUNDARY], 1),
        ([SUMMARY, SUMMARY, BOUNDARY, SUMMARY], 3),
        ([BOUNDARY, SUMMARY, BOUNDARY, SUMMARY], 2),
        ([record("system", subtype="microcompact_boundary")], 0),
    ],
)
def test_a_compaction_is_counted_once_however_it_is_written(lines, compactions):
    assert read(user("go"), *lines).compactions == compactions


# Whose record it is


def test_what_stands_under_an_older_session_is_copied_and_counts_for_nothing():
    session = read(*vector("resumed.jsonl"))
    assert (session.native, session.copied, session.records) == (SESSION, 3, 7)
    assert [call.id for call in session.calls] == ["t1"]


def test_a_stray_record_of_another_session_does_not_cost_the_files_own():
    stray = {**answer("m2", use("t9")), "sessionId": OLDER}
    session = read(user("go"), answer("m1", use("t1")), stray, user(result("t1")))
    assert (session.native, session.copied, [call.id for call in session.calls]) == (SESSION, 1, ["t1"])


def test_a_message_that_goes_on_in_another_session_is_a_step_of_both():
    older = {**answer("m1", use("t1")), "sessionId": OLDER}
    assert read(older, answer("m1", use("t2"))).steps == 1


def test_a_record_whose_uuid_was_met_is_copied():
    session = read(user("go", uuid="u1"), user("go", uuid="u1"))
    assert (session.turn_count, session.copied, session.records) == (1, 1, 2)


def test_a_message_that_says_nothing_does_not_stand_in_for_its_whole_copy():
    session = read(*vector("damaged.jsonl"))
    assert [turn.text for turn in session.turns] == ["Sweep the yard.", "Sweep it twice."]


def test_what_a_fork_took_over_is_copied():
    origin = {"sessionId": OLDER, "messageUuid": "u0"}
    session = read(user("go", uuid="u1", forkedFrom=origin), user("on", uuid="u2"))
    assert (session.turn_count, session.copied) == (1, 1)


def test_a_file_with_a_session_id_on_every_line_keeps_memory_flat():
    lines = [{**user("go"), "sessionId": f"s{n}"} for n in range(200)]
    reader = feed(claude_code.Reader.open(), lines)
    assert (len(reader.runs.parked), len(reader.runs.shares)) == (32, 33)
    assert (reader.finish().native, reader.finish().copied) == ("s199", 199)


def test_a_subagents_file_is_its_own_run():
    session = read(*vector("subagent.jsonl"))
    assert (session.native, session.parent) == (f"{SESSION}/a77", SESSION)
    assert (session.turn_count, session.steps, len(session.calls)) == (0, 2, 1)


def test_a_subagents_file_that_begins_with_an_attachment_is_its_own_run():
    first = {**attachment("skill_listing"), "isSidechain": True, "agentId": "a77"}
    session = read(first, *vector("subagent.jsonl"))
    assert (session.native, session.subagents) == (f"{SESSION}/a77", ())


def test_another_subagent_in_a_subagents_file_is_noted_and_never_counted():
    nested = {**answer("n1", use("n1")), "isSidechain": True, "agentId": "n1"}
    session = read(*vector("subagent.jsonl"), nested)
    assert (len(session.calls), session.subagents) == (1, (f"{SESSION}/n1",))


def test_a_subagent_that_names_only_itself_has_no_known_parent():
    line = {**user("go"), "isSidechain": True, "agentId": "a1", "sessionId": "agent-a1"}
    assert read(line).parent is None


def test_subagents_inside_a_parents_file_are_noted_and_never_counted():
    session = read(*vector("inline_sidechain.jsonl"))
    assert session.subagents == (f"{SESSION}/b88", f"{SESSION}/c99")
    assert (session.turn_count, session.steps, [call.id for call in session.calls]) == (1, 2, ["p1"])
    assert session.final_text == "Pruned to two metres."


def test_a_parent_that_speaks_after_its_subagent_takes_the_file_over():
    lines = vector("inline_sidechain.jsonl")
    session = read(*lines[2:6], *lines[:2], *lines[6:])
    assert (session.native, session.parent, session.copied) == (SESSION, None, 0)
    assert [call.id for call in session.calls] == ["p1"]


# Old, odd and damaged files


def test_records_of_1x_count_as_calls():
    session = read(*vector("old_records.jsonl"))
    assert (session.calls[0].name, session.calls[0].output, session.calls[0].cause) == (
        "bash",
        "opened",
        None,
    )
    assert (session.turn_count, session.final_text) == (1, "The gate is open.")
    assert session.project == "/srv/orchard"


def test_lines_that_cannot_be_read_and_records_that_are_unknown_are_counted():
    session = read(*vector("damaged.jsonl"))
    assert (session.records, session.unreadable) == (9, 4)
    assert session.unfamiliar == {"(no type)": 1, "orchard-weather": 1, "user without content": 1}


def test_noise_is_known_and_says_nothing():
    noise = [record(kind) for kind in ("progress", "file-history-snapshot", "mode", "ai-title")]
    session = read(user("go"), *noise)
    assert (session.unfamiliar, session.steps, session.records) == ({}, 0, 5)


def test_a_file_with_only_a_summary_is_a_session_with_nothing_in_it():
    session = read({"type": "summary", "summary": "A gate", "leafUuid": "x"})
    assert (session.native, session.turn_count, session.steps, session.stop_cause) == (None, 0, 0, None)


def test_a_file_cut_down_to_its_metadata_still_has_its_name():
    session = read(record("custom-title", customTitle="Pears"), record("last-prompt", lastPrompt="go"))
    assert (session.native, session.records, session.started) == (SESSION, 2, None)


def test_names_of_tools_are_no_surface():
    session = read(attachment("deferred_tools_delta", addedNames=["Read"]))
    assert (session.partial_names, session.surfaces) == (True, ())


def test_head_is_no_branch():
    assert read(user("go", gitBranch="HEAD")).branch is None


def test_a_lone_surrogate_costs_no_line_and_is_spelled_out():
    session = read(b'{"type":"user","sessionId":"s","message":{"content":"pear \\ud83c cut"}}')
    assert (session.unreadable, session.turns[0].text) == (0, "pear \\ud83c cut")


def test_a_field_of_an_unforeseen_type_costs_only_itself():
    line = answer("m1", use("t1", row=1), text("found"), stop=7, uuid=5, cwd=["x"])
    session = read({**line, "message": {**line["message"], "usage": {"input_tokens": "many"}}})
    assert (session.steps, session.calls[0].input, session.final_text) == (1, {"row": 1}, "found")
    assert session.tokens == Tokens(input=0, output=0)


def test_a_line_separator_inside_a_text_is_part_of_it():
    assert read(json.dumps(user("a\u2028b\u0085c"), ensure_ascii=False).encode()).turns[0].text == (
        "a\u2028b\u0085c"
    )


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "message": {"role": "user", "parts": []}, "sessionId": "s", "timestamp": "t"},
        {"type": "user", "message": {"content": "x"}, "session_id": "s", "parent_tool_use_id": None},
        {"type": "system", "subtype": "init", "session_id": "s", "tools": []},
        {"role": "user", "content": "x"},
        {"type": "session_meta", "payload": {}},
    ],
)
def test_records_of_others_are_not_claimed(record):
    assert not claude_code.sniff(peek.lines(json.dumps(record).encode()))


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800")
SHAPES = (claude_record.Line, claude_record.Message, claude_record.Block, claude_record.Attachment)
KEYS = st.sampled_from(
    sorted({field.encode_name for shape in SHAPES for field in msgspec.structs.fields(shape)})
)
KINDS = st.sampled_from(["user", "assistant", "system", "attachment", "tool_use", "tool_result", "text"])
VALUES = st.recursive(
    LEAVES | KINDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6), max_size=4))
def test_no_record_however_shaped_raises_or_is_lost(records):
    session = read(*records)
    assert session.records == len(records)
    assert count(session) == count(read(*records, keep=False))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=80))
def test_no_bytes_raise(data):
    session = read(data, keep=False)
    assert session.records == 1


def test_absurd_nesting_is_unreadable_and_nothing_worse():
    deep = b'{"type":"user","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert read(deep).unreadable == 1
