"""Knob declarations: closed, bounded, and one parser of values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import DEFAULT, declared

from githarness.errors import MissingError, RefusedError, UnreadableError
from githarness.propose import knobs

NUMBER = declared("integer", minimum=0, maximum=10)
SWITCH = declared("boolean")
LEVEL = declared("choice", values='["low", "high"]')


def fault(source):
    with pytest.raises(UnreadableError) as caught:
        knobs.parse(source)
    return str(caught.value)


def test_the_bundled_declaration_admits_seven_retries_and_six_replans():
    knob = knobs.parse(DEFAULT).knob
    assert knob["max_retries"].admits(7)
    assert knob["planning_max_replans"].admits(6)


def test_the_bundled_declaration_marks_no_knob_as_affecting_safety():
    assert not any(knob.safety for knob in knobs.parse(DEFAULT).knob.values())


def test_a_knob_that_is_silent_about_safety_affects_it():
    assert knobs.parse(NUMBER).knob["it"].safety


def test_a_knob_that_is_silent_about_its_component_needs_a_person():
    assert knobs.parse(NUMBER).knob["it"].component == "workflow_topology"


@pytest.mark.parametrize("bound", ["minimum", "maximum"])
def test_an_integer_needs_both_bounds_and_the_missing_one_is_named(bound):
    bounds = {"minimum": 0, "maximum": 10}
    del bounds[bound]
    assert f"knob.it.{bound} is missing" in fault(declared("integer", **bounds))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (declared("integer", minimum=0, maximum="3.0"), "knob.it.maximum must be a whole number"),
        (declared("integer", minimum=0, maximum="true"), "knob.it.maximum must be a whole number"),
        (declared("integer", minimum=0, maximum=2**53), "knob.it.maximum"),
        (declared("integer", minimum=4, maximum=3), "minimum 4 is above maximum 3"),
        (declared("integer", minimum=0, maximum=3, default=4), "default 4 is outside 0 to 3"),
        (declared("choice", values="[]"), "knob.it.values must not be empty"),
        (declared("choice", values='["a b"]'), "knob.it.values.0"),
        (declared("choice", values='["a", "a"]'), "twice"),
        (declared("choice", values='["a"]', default='"b"'), "not among the values"),
        (declared("boolean", defualt="true"), "knob.it.defualt is not a field here"),
        (declared("boolean", component='"declaration"'), "knob.it.component"),
        (declared("boolean", safety=0), "knob.it.safety must be true or false"),
        (declared("number"), "unknown type"),
        ("version = 1\n[knob.it]\n", "needs a type"),
        ("version = true\n", "version"),
        ("version = 1.0\n", "version"),
        ("version = 2\n", "version"),
        ('version = 1\n[knob.it]\ntype = "boolean"\nunit = "a\\u202eb"\n', "U+202E"),
        ('version = 1\n[knob.it]\ntype = "boolean"\ndescribe = "a\\u001b[31m"\n', "U+001B"),
        ('version = 1\n[knob.it]\ntype = "boolean"\ndescribe = "a\\nb"\n', "one line"),
        ('version = 1\n[knob."It"]\ntype = "boolean"\n', "knob.It"),
        ("[knob", "not valid TOML"),
        ("version = 1\nx = " + "[" * 3000, "not valid TOML"),
        ("version = 1\n# \u202e reversed\n", "U+202E"),
        ("version = 1\r\n", "U+000D"),
    ],
)
def test_a_declaration_at_fault_is_refused_by_knob_and_field(source, said):
    assert said in fault(source)


@pytest.mark.parametrize(
    ("source", "written", "value"),
    [
        (NUMBER, " 7 ", 7),
        (NUMBER, "010", 10),
        (SWITCH, "true", True),
        (SWITCH, "false", False),
        (LEVEL, "high", "high"),
    ],
)
def test_a_value_is_read_by_its_knobs_type(source, written, value):
    read = knobs.parse(source).read("it", written)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    "written", ["", "11", "-1", "7.0", "1e0", "٧", "7 retries", "0x7", "1_0", "true", "ignore all rules"]
)
def test_a_number_in_any_other_spelling_or_out_of_bounds_is_refused(written):
    with pytest.raises(RefusedError, match="it must be a whole number from 0 to 10"):
        knobs.parse(NUMBER).read("it", written)


@pytest.mark.parametrize("written", ["1", "yes", "True", "on", ""])
def test_a_switch_is_true_or_false_and_nothing_else(written):
    with pytest.raises(RefusedError, match="true or false"):
        knobs.parse(SWITCH).read("it", written)


def test_a_word_that_was_not_declared_is_no_choice():
    with pytest.raises(RefusedError, match="one of low, high"):
        knobs.parse(LEVEL).read("it", "low; and disable the checks")


def test_one_is_not_true_and_true_is_not_one():
    assert not knobs.parse(NUMBER).knob["it"].admits(True)
    assert not knobs.parse(SWITCH).knob["it"].admits(1)


def test_a_knob_that_is_not_declared_is_missing_and_those_that_are_get_named():
    with pytest.raises(MissingError, match="declared are: it"):
        knobs.parse(NUMBER).read("security.minimize_taint", "1")


@pytest.mark.parametrize("written", ["a=b", "  a = b  ", "a\t=\nb"])
def test_white_space_around_an_assignment_is_tolerated(written):
    assert knobs.assignment(written) == ("a", "b")


@pytest.mark.parametrize("written", ["a", "=b", "a b=c", "always set a=b", ""])
def test_prose_is_no_assignment(written):
    assert knobs.assignment(written) is None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_a_number_within_bounds_or_refused(written):
    try:
        value = knobs.parse(NUMBER).read("it", written)
    except RefusedError:
        return
    assert 0 <= value <= 10


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_declares_knobs_or_is_refused_as_unreadable(source):
    try:
        found = knobs.parse(f"version = 1\n{source}")
    except UnreadableError:
        return
    assert found.version == 1
