"""Laws of the opencode reader: rows and exports say the same, and a flag is never guessed."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import opencode, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

START = 1_700_000_000_000


def session(**more):
    row = {"id": "ses_a", "parent_id": None, "directory": "/srv/shop", "version": "1.18.0", **more}
    return {"table": "session", "row": row}


def message(id, role, **data):
    made = int(id.lstrip("m")) * 1000 + START
    data = {"role": role, "time": {"created": made, "completed": made + 900}, **data}
    return {"table": "message", "row": {"id": id, "time_created": made, "data": data}}


def answer(id, **data):
    return message(id, "assistant", **{"modelID": "small-1", "finish": "tool-calls", **data})


def part(owner, type, **data):
    return {"table": "part", "row": {"message_id": owner, "data": {"type": type, **data}}}


def text(owner, words, **data):
    return part(owner, "text", text=words, **data)


def tool(owner, name="grep", call="c1", status="completed", **state):
    return part(
        owner, "tool", tool=name, callID=call, state={"status": status, "input": {"q": "tax"}, **state}
    )


def asked(id="m1", words="Where is the tax computed?"):
    return [message(id, "user"), text(id, words)]


def read(*records, keep=True):
    reader = opencode.Reader.open(keep=keep)
    for record in records:
        reader.feed(record if isinstance(record, bytes) else json.dumps(record).encode())
    return reader.finish()


def one_call(**state):
    return read(session(), *asked(), answer("m2"), tool("m2", **state)).calls[0]


def exported(*messages, **info):
    info = {"id": "ses_a", "parentID": None, "directory": "/srv/shop", "version": "1.18.0", **info}
    return {"info": info, "messages": list(messages)}


def item(row, *parts):
    return {
        "info": {"id": row["row"]["id"], **row["row"]["data"]},
        "parts": [{"messageID": row["row"]["id"], **p["row"]["data"]} for p in parts],
    }


DIALOGUE = [
    session(),
    *asked(),
    answer("m2", tokens={"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 3, "write": 1}}),
    part("m2", "step-start"),
    tool("m2", call="c1", output="tax.py:4"),
    tool("m2", call="c2", status="error", error="No such folder"),
    part("m2", "step-finish"),
    answer("m4", finish="stop"),
    text("m4", "In tax.py."),
]


def test_the_session_row_gives_identity_project_and_version():
    found = read(session(parent_id="ses_p"))
    assert (found.native, found.parent, found.project) == ("ses_a", "ses_p", "/srv/shop")
    assert found.versions == ("1.18.0",)


def test_a_dialogue_is_counted_by_its_parts():
    stats = count(read(*DIALOGUE))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 2, 1)
    assert (stats.stop_cause, stats.ended_on_failed_call) == ("completed", True)


def test_calls_of_one_message_are_parallel():
    assert [call.step for call in read(*DIALOGUE).calls] == [1, 1]


def test_the_final_text_is_the_last_words_of_the_model():
    assert read(*DIALOGUE).final_text == "In tax.py."


def test_the_time_span_is_that_of_the_messages():
    found = read(*DIALOGUE)
    assert (found.started, found.ended) == ("2023-11-14T22:13:21.000Z", "2023-11-14T22:13:24.900Z")


def test_an_export_says_what_the_rows_say():
    document = exported(
        item(DIALOGUE[1], DIALOGUE[2]),
        item(DIALOGUE[3], *DIALOGUE[4:8]),
        item(DIALOGUE[8], DIALOGUE[9]),
    )
    rows = read(*DIALOGUE)
    assert read(document) == msgspec.structs.replace(rows, records=3)


def test_an_odd_message_of_an_export_costs_no_other():
    odd = {"info": {"id": "m9", "role": "assistant", "time": "noon"}, "parts": []}
    found = read(exported(odd, item(DIALOGUE[1], DIALOGUE[2])))
    assert (found.turn_count, found.records) == (1, 2)
    assert found.unfamiliar == {"message of another shape": 1}


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("No such folder: /srv", "failed"),
        ("The grep tool was called with invalid arguments: Missing key", "refused_arguments"),
        ("Model tried to call unavailable tool 'grap'.", "unknown_tool"),
        ("The user rejected permission to use this specific tool call.", "denied_by_person"),
        ("The user has specified a rule which prevents you from using it", "denied_by_hook"),
        ("Tool execution aborted", "cancelled"),
    ],
)
def test_the_words_of_an_error_give_its_cause(error, cause):
    call = one_call(status="error", error=error)
    assert (call.cause, call.is_error, call.output) == (cause, True, error)


def test_only_refused_arguments_are_malformed():
    refused = one_call(status="error", error="The grep tool was called with invalid arguments: x")
    assert refused.malformed is True
    assert one_call(status="error", error="No such folder").malformed is False


def test_a_cause_is_not_read_from_deep_inside_an_error():
    deep = "boom " * 80 + "Tool execution aborted"
    assert one_call(status="error", error=deep).cause == "failed"


def test_a_call_cut_off_by_its_metadata_is_cancelled():
    assert one_call(status="error", error="", metadata={"interrupted": True}).cause == "cancelled"


def test_an_error_without_words_is_still_a_failure():
    assert one_call(status="error").cause == "failed"


def test_a_completed_call_without_output_is_a_success_with_an_empty_one():
    call = one_call(status="completed")
    assert (call.is_error, call.cause, call.output) == (False, None, "")


@pytest.mark.parametrize("status", ["pending", "running", "dreaming"])
def test_a_call_that_never_ended_is_unknown(status):
    call = one_call(status=status)
    assert (call.is_error, call.cause, call.output) == (None, "unknown", None)


def test_the_invalid_tool_stands_for_the_one_the_model_meant():
    given = {"tool": "grep", "error": "Invalid input for tool grep: JSON parsing failed"}
    call = one_call(name="invalid", input=given, output="The arguments are wrong")
    assert (call.name, call.cause, call.malformed) == ("grep", "refused_arguments", True)


def test_the_invalid_tool_tells_a_tool_that_was_not_there():
    given = {"tool": "grap", "error": "Model tried to call unavailable tool 'grap'."}
    call = one_call(name="invalid", input=given, output="x")
    assert (call.name, call.cause, call.malformed) == ("grap", "unknown_tool", False)


def test_synthetic_text_is_injected_and_no_turn():
    found = read(session(), message("m1", "user"), text("m1", "Continue.", synthetic=True))
    assert (found.turn_count, found.injected) == (0, 1)


def test_a_message_typed_in_pieces_is_one_turn():
    found = read(session(), *asked(), text("m1", "And the fees?"))
    assert [turn.text for turn in found.turns] == ["Where is the tax computed?\nAnd the fees?"]


def test_a_subtask_that_a_person_started_is_a_turn():
    found = read(session(), message("m1", "user"), part("m1", "subtask", prompt="Review it"))
    assert [turn.text for turn in found.turns] == ["Review it"]


def test_a_command_that_a_person_ran_is_no_call_of_the_model():
    own = text("m1", "The following tool was executed by the user", synthetic=True)
    ran = [answer("m2", parentID="m1"), tool("m2", name="bash", output="ok")]
    found = read(session(), message("m1", "user"), own, *ran)
    assert (found.calls, found.steps) == ((), 0)


def test_words_typed_between_two_responses_are_steering():
    found = read(session(), *asked(), answer("m2"), tool("m2", output=""), *asked("m3", "Only Spain."))
    assert found.steered


def test_words_typed_while_a_response_is_open_are_steering():
    slow = answer("m2", finish="stop", time={"created": START, "completed": START + 9_000})
    assert read(session(), *asked(), slow, text("m2", "Done."), *asked("m5", "Only Spain.")).steered


@pytest.mark.parametrize(
    "end",
    [
        {"finish": "stop"},
        {"error": {"name": "MessageAbortedError"}},
        {"time": {"created": START}},
    ],
)
def test_words_typed_after_the_end_are_the_next_turn(end):
    found = read(session(), *asked(), answer("m2", **end), text("m2", "Done."), *asked("m5", "Thanks."))
    assert (found.steered, found.turn_count) == (False, 2)


REJECTED = "The user rejected permission to use this specific tool call"


def test_a_bare_rejection_ends_the_turn():
    no = tool("m2", status="error", error=f"{REJECTED}.")
    assert not read(session(), *asked(), answer("m2"), no, *asked("m3", "Ask first.")).steered


def test_a_rejection_with_feedback_is_steering():
    no = tool("m2", status="error", error=f"{REJECTED} with the following feedback: use make")
    assert read(session(), *asked(), answer("m2"), no).steered


def test_a_compaction_is_counted_once_and_its_summary_is_no_answer():
    asks = [message("m3", "user"), part("m3", "compaction", auto=True)]
    summary = [answer("m4", parentID="m3", summary=True, finish="stop"), text("m4", "So far: tax.")]
    found = read(*DIALOGUE, *asks, *summary)
    assert (found.compactions, found.steps, found.final_text) == (1, 2, "In tax.py.")


def test_a_summary_that_nothing_announced_is_a_compaction():
    assert read(session(), answer("m4", summary=True)).compactions == 1


def test_a_message_of_several_steps_counts_each():
    steps = [part("m2", kind) for kind in ("step-start", "step-finish", "step-start", "step-finish")]
    assert read(session(), answer("m2"), *steps).steps == 2


def test_a_retried_step_is_one_step():
    assert read(session(), answer("m2"), part("m2", "step-start"), part("m2", "step-start")).steps == 1


def test_a_subagent_is_known_by_its_session():
    found = read(session(), answer("m2"), tool("m2", name="task", metadata={"sessionId": "ses_b"}))
    assert found.subagents == ("ses_b",)


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ({"finish": "stop"}, "completed"),
        ({"finish": "length"}, "output_token_budget"),
        ({"error": {"name": "MessageAbortedError"}}, "interrupted"),
        ({"error": {"name": "APIError"}}, "api_error"),
        ({"error": {"name": "UnknownError"}}, None),
        ({"finish": "stop", "time": {"created": START}}, None),
        ({"finish": "tool-calls"}, None),
    ],
)
def test_the_last_response_says_why_the_run_stopped(end, cause):
    found = read(session(), *asked(), answer("m2", **end), text("m2", "Hm."))
    assert (found.stop_cause, found.stop_inferred) == (cause, False)


def test_a_version_without_finish_leaves_the_end_to_be_inferred():
    found = read(session(), *asked(), answer("m2", finish=None), text("m2", "Done."))
    assert (found.stop_cause, found.stop_inferred) == ("completed", True)


def test_a_turn_nobody_answered_has_no_stop_cause():
    assert read(*DIALOGUE, *asked("m9", "Thanks.")).stop_cause is None


def test_input_tokens_include_both_cache_counts():
    assert read(*DIALOGUE).tokens == Tokens(input=14, output=5, cache_read=3, cache_write=1)


@pytest.mark.parametrize(("total", "output"), [(22, 12), (15, 5), (None, 5)])
def test_reasoning_is_output_where_the_total_says_so(total, output):
    tokens = {"input": 10, "output": 5, "reasoning": 7, "total": total, "cache": {"read": 0, "write": 0}}
    assert read(session(), answer("m2", tokens=tokens)).tokens.output == output


def test_what_is_not_known_is_counted_by_kind():
    found = read(
        session(), answer("m2"), part("m2", "hologram"), message("m3", "oracle"), {"table": "todo", "row": {}}
    )
    assert found.unfamiliar == {"part hologram": 1, "message oracle": 1, "table todo": 1}


def test_a_part_without_its_message_is_counted_and_not_paired():
    assert read(session(), tool("m7")).unfamiliar == {"part tool without its message": 1}


@pytest.mark.parametrize("line", [b"{", b"[1]", b"\xff\xfe", b"[" * 5000, b"null"])
def test_what_is_no_object_is_unreadable(line):
    found = read(session(), line)
    assert (found.records, found.unreadable) == (2, 1)


def test_half_a_character_does_not_cost_the_line():
    line = json.dumps(text("m1", "caf\ud83d")).encode()
    assert read(session(), message("m1", "user"), line).turns[0].text == "caf\ud83d"


def test_half_a_character_does_not_cost_an_export():
    document = exported(item(message("m1", "user"), text("m1", "caf\ud83d")))
    assert read(document).turn_count == 1


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    full, slim = read(*DIALOGUE), read(*DIALOGUE, keep=False)
    assert count(slim) == count(full)
    assert "tax" not in repr(slim)


@pytest.mark.parametrize("cut", range(len(DIALOGUE) + 1))
def test_a_reader_saved_at_a_line_end_goes_on_as_if_never_stopped(cut):
    reader = opencode.Reader.open()
    for record in DIALOGUE[:cut]:
        reader.feed(json.dumps(record).encode())
    saved = msgspec.msgpack.encode(reader)
    again = msgspec.msgpack.decode(saved, type=opencode.Reader)
    for record in DIALOGUE[cut:]:
        again.feed(json.dumps(record).encode())
    assert again.finish() == read(*DIALOGUE)


def test_rows_and_exports_are_recognised_by_content():
    lines = "\n".join(json.dumps(record) for record in DIALOGUE).encode()
    assert opencode.sniff(peek.lines(lines))
    assert opencode.sniff(peek.document(json.dumps(exported()).encode()))


@pytest.mark.parametrize(
    "other",
    [
        {"id": "prt_1", "messageID": "msg_1", "type": "text", "text": "hi"},
        {"info": {"exit_status": "submitted"}, "messages": []},
        {"table": "session", "row": 4},
        [],
        7,
    ],
)
def test_what_is_no_session_of_opencode_is_not_claimed(other):
    assert not opencode.sniff(peek.document(json.dumps(other).encode()))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["role", "type", "text", "state", "status", "input", "time", "created", "tokens", "error", "tool"]
    ), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(table=st.sampled_from(["session", "message", "part", "x"]), data=JSON)
def test_no_shape_of_row_raises_or_is_lost(table, data):
    found = read(answer("m1"), {"table": table, "row": {"id": "m1", "message_id": "m1", "data": data}})
    assert found.records == 2


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise(line):
    assert read(line).records <= 1
