"""Records that come in pieces or nest too deep are read the same everywhere."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_store import call_lines

from githarness import canon
from githarness.formats import detect, peek

FEW = settings(max_examples=80, deadline=None)
DEPTH = canon.READ_DEPTH


def nested(depth, inside="1"):
    """An object that nests `depth` levels, its innermost member `inside`."""
    return '{"a":' * depth + inside + "}" * depth


# -- depth -----------------------------------------------------------------------


def test_the_deepest_record_is_read_and_a_deeper_one_is_not():
    assert canon.read(nested(DEPTH).encode())
    with pytest.raises(ValueError, match="nested deeper than 512 levels"):
        canon.read(nested(DEPTH + 1).encode())


@pytest.mark.parametrize("text", ["[" * 600, '"' + "[{" * 600 + "\\", 'a\\\\"' + "{" * 600, '""' * 400])
def test_brackets_in_a_string_are_no_nesting(text):
    assert canon.read(json.dumps([text] * 3).encode()) == [text] * 3


@FEW
@given(st.integers(500, 525), st.text(alphabet='[]{}"\\,:', max_size=30))
def test_the_limit_is_where_the_parsed_value_has_it(depth, text):
    record = nested(depth, json.dumps({text: [text]})).encode()
    try:
        canon.shallow(record)
    except ValueError:
        assert depth + 2 > DEPTH
    else:
        assert not canon.depth_exceeds(json.loads(record), DEPTH)


@FEW
@given(st.binary(max_size=60))
def test_what_is_no_json_passes_unjudged(data):
    assert canon.shallow(data) == data


# One line or document per format with a place for arguments of any depth, marked @.
DEEP = {
    "claude-code": call_lines().replace('{"file_path": "f0"}', "@"),
    "codex": '{"type":"response_item","payload":{"type":"function_call","call_id":"c","arguments":@}}',
    "copilot-cli": '{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"n","arguments":@}}',
    "cursor": '{"role":"assistant","message":{"content":[{"type":"tool_use","name":"n","input":@}]}}',
    "inspect-ai": '{"event":"model","x":@}',
    "opencode": '{"info":{"id":"s"},"messages":[{"info":{"role":"assistant"},"parts":[{"type":"x","y":@}]}]}',
    "gemini-cli": '{"type":"gemini","id":"m","toolCalls":[{"id":"c","name":"n","args":@}]}',
    "anthropic-messages": '{"model":"m","messages":[{"role":"user","content":"hi"},@]}',
    "openai-chat": '{"model":"m","messages":[{"role":"user","content":"hi"},@]}',
    "gemini-api": '{"contents":[{"role":"user","parts":[@]}]}',
    "openai-responses": '{"model":"m","input":[@]}',
}


@pytest.mark.parametrize("name", DEEP)
def test_a_record_that_nests_too_deep_is_counted_by_every_reader(name):
    data = DEEP[name].replace("@", nested(DEPTH + 1)).encode()
    assert detect.read(name, data).unreadable >= 1


@pytest.mark.parametrize("name", DEEP)
def test_a_record_that_nests_less_is_counted_by_none(name):
    data = DEEP[name].replace("@", nested(DEPTH - 20)).encode()
    assert detect.read(name, data).unreadable == 0


# -- pieces ----------------------------------------------------------------------


LINES = st.lists(st.sampled_from(['{"a":1}', "[2,", "3]", "", " ", "torn", '{"b":"\\n"}']), max_size=8)


@FEW
@given(LINES, st.lists(st.integers(0, 60), max_size=6), st.booleans())
def test_pieces_give_the_records_that_the_whole_gives(lines, cuts, ended):
    whole = ("\n".join(lines) + ("\n" if ended else "")).encode()
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert [one.strip() for one in peek.split(pieces)] == [one.strip() for one in peek.records(whole)]


def test_a_session_is_never_held_as_a_whole():
    text = call_lines(calls=50).encode()
    fed = []

    def pieces():
        for at in range(0, len(text), 512):
            fed.append(at)
            yield text[at : at + 512]

    first = next(peek.split(pieces()))
    assert (json.loads(first)["type"], len(fed)) == ("user", 1)
