"""Laws of the Cursor reader: no result is ever written, so every outcome is unknown."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.formats import cursor, peek
from githarness.measure.counters import count

SESSION = (Path(__file__).parent / "vectors/cursor/session.jsonl").read_bytes()
ENDED = {"type": "turn_ended", "status": "success"}


def feed(reader, data):
    for line in data.split(b"\n"):
        if line.strip():
            reader.feed(line)
    return reader


def read(data, keep=True):
    return feed(cursor.Reader.open(keep=keep), data).finish()


def log(*records):
    return "\n".join(map(json.dumps, records)).encode()


def message(role, *blocks):
    shaped = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "message": {"content": shaped}}


def turns(*texts):
    return [turn.text for turn in read(log(message("user", *texts))).turns]


def test_a_session_is_counted():
    stats = count(read(SESSION))
    assert (stats.turns, stats.steps, stats.tool_calls, stats.tool_unknown) == (1, 2, 2, 2)
    assert (stats.stop_cause, stats.stop_inferred) == ("completed", False)


def test_every_call_is_its_own_though_none_has_an_id():
    assert [call.input["path"] for call in read(SESSION).calls] == ["orders", "taxes"]


def test_a_missing_result_is_neither_a_failure_nor_a_success():
    made = read(SESSION).calls[0]
    assert (made.output, made.is_error, made.cause) == (None, None, "unknown")


def test_whether_the_last_call_failed_is_unknown():
    assert count(read(SESSION)).ended_on_failed_call is None


def test_what_was_never_written_is_unknown_and_not_zero():
    found = read(SESSION)
    assert (found.tokens, found.models, found.started, found.native) == (None, (), None, None)
    assert found.compactions is None


def test_the_typed_text_is_what_stands_in_the_wrapper():
    assert turns("<timestamp>now</timestamp>\n<user_query>\nSum.\n</user_query>") == ["Sum."]


def test_a_text_without_wrapper_is_typed_as_it_stands():
    assert turns("Is <b>this</b> bold?") == ["Is <b>this</b> bold?"]


def test_a_time_before_a_bare_text_is_the_clients():
    assert turns("<timestamp>now</timestamp>\nSum.") == ["Sum."]


def test_a_note_of_the_client_is_injected_and_no_turn():
    found = read(log(message("user", "<user_info>\nLinux\n</user_info>")))
    assert (found.turn_count, found.injected) == (0, 1)


def test_an_image_alone_is_a_turn():
    assert turns({"type": "image"}) == [""]


@pytest.mark.parametrize(
    ("status", "cause"),
    [("success", "completed"), ("error", "api_error"), ("aborted", "interrupted"), ("napping", None)],
)
def test_the_end_of_a_turn_says_how_it_ended(status, cause):
    record = {"type": "turn_ended", "status": status}
    assert read(log(message("assistant", "Hm."), record)).stop_cause == cause


def test_the_next_turn_takes_an_end_back():
    assert read(log(message("assistant", "Hm."), ENDED, message("user", "More."))).stop_cause is None


def test_a_text_before_the_turns_end_steers_where_ends_are_marked():
    opened = [message("user", "A"), message("assistant", "B")]
    assert read(log(*opened, ENDED, *opened, message("user", "C"))).steered
    assert not read(log(*opened, message("user", "C"))).steered


def test_a_call_with_an_id_keeps_it():
    block = {"type": "tool_use", "id": "call_1\nfc_2", "name": "Shell", "input": {}}
    assert read(log(message("assistant", block))).calls[0].id == "call_1\nfc_2"


def test_input_that_is_no_object_is_malformed_and_absent_input_is_unknown():
    blocks = [{"type": "tool_use", "name": "Shell", "input": "ls"}, {"type": "tool_use", "name": "Shell"}]
    assert [call.malformed for call in read(log(message("assistant", *blocks))).calls] == [True, None]


def test_strangers_are_counted_by_their_type():
    found = read(log(message("assistant", {"type": "tool_result"}), {"role": "oracle"}, 7) + b"\n{")
    assert found.unfamiliar == {"block tool_result": 1, "oracle": 1}
    assert (found.unreadable, found.records) == (2, 4)


def test_a_lone_surrogate_costs_no_line():
    found = read(rb'{"role":"user","message":{"content":"cut \ud83d"}}')
    assert (found.unreadable, found.turns[0].text) == (0, "cut \\ud83d")


def test_a_field_of_an_unforeseen_type_costs_no_line():
    record = message("assistant", {"type": "tool_use", "id": 4, "name": "Shell", "input": {}})
    assert [call.name for call in read(log(record)).calls] == ["Shell"]


def test_a_saved_reader_goes_on_as_if_never_stopped():
    lines = SESSION.split(b"\n")
    for at in range(len(lines)):
        half = feed(cursor.Reader.open(), b"\n".join(lines[:at]))
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(half), type=cursor.Reader)
        assert feed(again, b"\n".join(lines[at:])).finish() == read(SESSION)


def test_without_keep_the_counts_are_the_same_and_no_text_is_held():
    slim = read(SESSION, keep=False)
    assert count(slim) == count(read(SESSION))
    assert "orders" not in repr((slim.calls, slim.turns, slim.final_text))


def test_a_transcript_is_recognised_by_its_bare_messages():
    assert cursor.sniff(peek.lines(SESSION))
    assert not cursor.sniff(peek.lines(b'{"type":"user","message":{"content":"x"},"sessionId":"s"}\n{}\n'))
    assert not cursor.sniff(peek.lines(b'{"role":"user","content":"x"}\n{}\n'))


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["role", "type", "message", "content", "status", "text", "input", "name"])
SHAPES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x, max_size=4), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_no_shape_of_line_raises_or_is_lost(record):
    assert read(log({"role": "assistant", "message": {"content": record}}, record)).records == 2
