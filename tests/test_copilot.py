"""Laws of the Copilot CLI reader: whoever names a call first issues it, and an end alone is an orphan."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import copilot, peek
from githarness.measure.counters import count
from githarness.model.session import Tokens

SESSION = (Path(__file__).parent / "vectors/copilot/session.jsonl").read_bytes()


def feed(reader, data):
    for line in data.split(b"\n"):
        if line.strip():
            reader.feed(line)
    return reader


def read(data, keep=True):
    return feed(copilot.Reader.open(keep=keep), data).finish()


def log(*events):
    lines = [json.dumps({"type": kind, "data": data, "id": "x", "parentId": None}) for kind, data in events]
    return "\n".join(lines).encode()


def said(content="", *calls, **more):
    requests = [{"toolCallId": call, "name": "bash", "arguments": {}} for call in calls]
    return "assistant.message", {"content": content, "toolRequests": requests, **more}


def asked(content="Go on.", **more):
    return "user.message", {"content": content, **more}


def done(call, *, success=True, **more):
    return "tool.execution_complete", {"toolCallId": call, "success": success, **more}


def started(call, **more):
    return "tool.execution_start", {"toolCallId": call, "toolName": "bash", "arguments": {}, **more}


def causes(*events):
    return [call.cause for call in read(log(*events)).calls]


def test_a_session_is_counted():
    stats = count(read(SESSION))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_errors) == (1, 2, 2, 1)
    assert (stats.stop_cause, stats.stop_inferred, stats.compactions) == ("completed", True, 0)


def test_the_header_names_the_session_and_where_it_ran():
    found = read(SESSION)
    assert (found.native, found.project, found.branch) == ("9c0d", "/srv/shop", "taxes")
    assert (found.versions, found.models) == (("1.0.80",), ("small-1",))


def test_a_log_put_behind_another_one_is_copied_and_counts_as_nothing():
    own = read(SESSION)
    other = SESSION.replace(own.native.encode(), b"another")
    found = read(SESSION + other)
    assert (found.native, found.copied) == (own.native, len(other.splitlines()))
    assert (found.calls, found.turn_count) == (own.calls, own.turn_count)


def test_results_are_paired_by_id_and_never_by_order():
    assert {call.id: call.output for call in read(SESSION).calls} == {"c1": "12 orders", "c2": "no such file"}


def test_a_call_that_ran_before_its_request_was_logged_takes_its_step():
    assert {call.id: call.step for call in read(SESSION).calls} == {"c1": 1, "c2": 1}


def test_a_call_that_no_message_asked_for_is_a_call():
    assert causes(started("c1"), done("c1")) == [None]


def test_an_end_without_a_call_is_an_orphan():
    found = read(log(said("Hi."), done("c9")))
    assert (found.orphans, len(found.calls)) == (1, 0)


def test_a_call_that_never_ended_is_unknown():
    assert causes(said("", "c1")) == ["unknown"]


def test_arguments_written_as_text_are_read():
    assert read(SESSION).calls[1].input == {"path": "orders"}


def test_arguments_that_are_no_json_are_malformed():
    requests = [{"toolCallId": "c1", "name": "bash", "arguments": '{"a":'}]
    assert read(log(("assistant.message", {"toolRequests": requests}))).calls[0].malformed


def test_what_a_person_typed_is_the_turn_and_not_what_was_sent():
    assert [turn.text for turn in read(SESSION).turns] == ["Sum the orders."]


def test_a_message_of_another_source_is_injected():
    found = read(log(asked("Skill text.", source="skill-pdf"), asked()))
    assert (found.turn_count, found.injected) == (1, 1)


def test_a_message_while_the_model_is_at_work_steers():
    during = log(asked(), ("assistant.turn_start", {}), asked("No, that one."))
    after = log(asked(), ("assistant.turn_start", {}), ("assistant.turn_end", {}), asked("And?"))
    assert (read(during).steered, read(after).steered) == (True, False)


def test_a_message_that_waited_in_the_queue_does_not_steer():
    assert not read(log(("assistant.turn_start", {}), asked(delivery="queued"))).steered


@pytest.mark.parametrize(
    ("code", "cause"),
    [("rejected", "denied_by_person"), ("denied", "denied_by_hook"), ("failure", "failed")],
)
def test_a_refusal_is_told_from_a_failure_by_its_code(code, cause):
    assert causes(said("", "c1"), done("c1", success=False, error={"code": code})) == [cause]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [("denied-interactively-by-user", "denied_by_person"), ("denied-by-rules", "denied_by_hook")],
)
def test_a_denied_permission_is_why_its_call_failed(answer, cause):
    permission = [
        ("permission.requested", {"requestId": "p", "permissionRequest": {"toolCallId": "c1"}}),
        ("permission.completed", {"requestId": "p", "result": {"kind": answer}}),
    ]
    assert causes(said("", "c1"), *permission, done("c1", success=False)) == [cause]


def test_a_call_without_a_flag_is_unknown():
    assert causes(said("", "c1"), ("tool.execution_complete", {"toolCallId": "c1"})) == ["unknown"]


def test_a_subagent_is_named_and_not_counted():
    found = read(
        log(said("", "c1"), said("Mine.", "c2", parentToolCallId="c1"), done("c2", parentToolCallId="c1"))
    )
    assert (found.subagents, found.steps, len(found.calls), found.orphans) == (("c1",), 1, 1, 0)


def test_what_a_person_ran_is_no_call():
    found = read(log(("tool.user_requested", {"toolCallId": "u"}), started("u"), done("u")))
    assert (len(found.calls), found.orphans) == (0, 0)


def test_a_compaction_is_counted_and_a_truncation_is_none():
    events = [("session.compaction_start", {}), ("session.compaction_complete", {"success": True})]
    failed = ("session.compaction_complete", {"success": False})
    assert read(log(*events, failed, ("session.truncation", {}))).compactions == 1


def test_an_abort_interrupts_until_the_model_speaks_again():
    stopped = [said("Hm."), ("abort", {"reason": "user initiated"})]
    assert read(log(*stopped)).stop_cause == "interrupted"
    assert read(log(*stopped, asked(), said("Done."))).stop_cause == "completed"


def test_an_error_of_the_provider_stops_the_run():
    assert read(log(asked(), ("session.error", {"errorType": "query"}))).stop_cause == "api_error"


def test_after_a_crash_nothing_is_inferred():
    assert read(log(said("Done."), ("session.shutdown", {"shutdownType": "error"}))).stop_cause is None


def test_the_totals_of_the_shutdown_are_the_tokens():
    assert read(SESSION).tokens == Tokens(input=90, output=7, cache_read=40)


def test_output_tokens_alone_are_no_token_sum():
    assert read(log(said("Hi.", outputTokens=4))).tokens is None


def test_the_system_message_is_the_prompt():
    assert [prompt.raw for prompt in read(SESSION).prompts] == [b"Be exact."]


def test_no_surface_is_ever_claimed():
    assert read(SESSION).surfaces == ()


def test_a_lone_surrogate_costs_no_line():
    line = rb'{"type":"user.message","data":{"content":"cut \ud83d"}}'
    found = read(line)
    assert (found.unreadable, found.turns[0].text) == (0, "cut \\ud83d")


def test_a_field_of_an_unforeseen_type_costs_no_other():
    found = read(log(asked(delivery=7)))
    assert (found.turn_count, found.unreadable) == (1, 0)


def test_what_is_unknown_is_counted_by_its_type():
    found = read(log(("session.daydream", {})) + b"\n[1]\n{")
    assert (found.unfamiliar, found.unreadable, found.records) == ({"session.daydream": 1}, 2, 3)


def test_a_saved_reader_goes_on_as_if_never_stopped():
    lines = SESSION.split(b"\n")
    for at in range(len(lines)):
        half = feed(copilot.Reader.open(), b"\n".join(lines[:at]))
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(half), type=copilot.Reader)
        assert feed(again, b"\n".join(lines[at:])).finish() == read(SESSION)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(SESSION, keep=False)
    assert count(slim) == count(read(SESSION))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


def test_a_log_is_recognised_by_its_header_or_by_its_events():
    assert copilot.sniff(peek.lines(SESSION))
    assert copilot.sniff(peek.lines(SESSION.split(b"\n", 4)[-1]))
    assert not copilot.sniff(peek.lines(b'{"type":"user.message","text":"hi"}\n{"a":1}\n'))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["toolCallId", "content", "toolRequests", "result", "success", "error", "context"])
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)
TYPES = st.sampled_from(["session.start", "assistant.message", "tool.execution_complete", "session.shutdown"])


@settings(max_examples=60, deadline=None)
@given(TYPES, SHAPES)
def test_no_shape_of_event_raises_or_is_lost(kind, data):
    assert read(log((kind, data))).records == 1
