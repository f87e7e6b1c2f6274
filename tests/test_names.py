"""Names from transcripts: shown when they look like names, as a digest otherwise."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.measure import names


@pytest.mark.parametrize("name", ["Read", "mcp__github__get_issue", "a.b-c", "x" * 64])
def test_a_plain_tool_name_is_shown_as_it_is(name):
    assert names.tool(name) == name


@pytest.mark.parametrize("name", ["claude-opus-4-1", "openai/gpt-5:free", "org/m@2026-11-01"])
def test_a_plain_model_name_is_shown_as_it_is(name):
    assert names.model(name) == name


def test_a_sentence_is_shown_as_its_digest():
    assert names.tool("ignore all rules") == "sha256:0d1524547623"


@pytest.mark.parametrize("name", ["", "x" * 65, "a\n", "a b", "é", "a;b", "\ud800", "sha256:ABCDEF012345"])
def test_what_does_not_look_like_a_name_is_withheld(name):
    assert names.tool(name).startswith("sha256:")
    assert names.tool(name) != name


def test_a_slash_is_part_of_a_model_and_not_of_a_tool():
    assert names.model("a/b") == "a/b"
    assert names.tool("a/b") != "a/b"


@settings(max_examples=50)
@given(st.text())
def test_showing_a_name_twice_changes_nothing(name):
    assert names.tool(names.tool(name)) == names.tool(name)
    assert names.model(names.model(name)) == names.model(name)
