"""Changes by hand: every form, read by one set of rules."""

import pytest
from made_state import DEFAULT, TINY, state

from githarness.errors import MissingError, RefusedError, UnreadableError, UsageError
from githarness.propose import change, knobs
from githarness.propose.overlay import Entry
from githarness.propose.patch import make

DECLARATION = knobs.parse(DEFAULT)


def test_settings_are_read_by_the_types_of_their_knobs():
    assert change.setting(["max_turns = 40", "effort=low"], DECLARATION) == make(
        set={"max_turns": 40, "effort": "low"}
    )


def test_a_setting_that_is_not_declared_is_missing_and_the_declared_ones_are_named():
    with pytest.raises(MissingError, match="max_retries"):
        change.setting(["max_retrys=4"], DECLARATION)


@pytest.mark.parametrize("written", [["max_turns"], ["max_turns=1", "max_turns=2"], ["=4"]])
def test_settings_that_are_none_are_a_usage_error(written):
    with pytest.raises(UsageError):
        change.setting(written, DECLARATION)


def test_unsetting_names_the_knobs():
    assert change.unsetting(["max_turns", "effort"]) == make(unset=("effort", "max_turns"))


def test_white_space_around_guidance_is_not_part_of_it():
    assert change.guidance("  Say what failed.\n") == make(add_guidance=("Say what failed.",))


@pytest.mark.parametrize("words", ["", "  ", "x" * 2001, "a\u200bb", "a\rb"])
def test_guidance_that_no_person_could_review_is_refused(words):
    with pytest.raises(RefusedError):
        change.guidance(words)


def test_guidance_is_dropped_by_the_beginning_of_its_id():
    entry = Entry(1, "Say what failed.")
    assert change.drop(entry.id[:12], state(overlay=(entry,))) == make(drop_guidance=(entry.id,))


def test_an_empty_description_is_described():
    assert change.describe("grep", "") == make(describe={"grep": ""})


@pytest.mark.parametrize(("tool", "words"), [("", "x"), ("a\nb", "x"), ("grep", "x\u2066y"), (" grep", "x")])
def test_a_description_that_cannot_be_kept_is_refused(tool, words):
    with pytest.raises(RefusedError):
        change.describe(tool, words)


def test_a_tool_gets_its_own_description_back():
    assert change.undescribe("grep") == make(undescribe=("grep",))


def test_a_declaration_is_taken_byte_for_byte():
    assert change.declare(TINY) == make(declare=TINY)


def test_a_declaration_is_checked_before_it_is_proposed():
    with pytest.raises(UnreadableError, match="minimum is missing"):
        change.declare('version = 1\n[knob.it]\ntype = "integer"\nmaximum = 3\n')


def test_a_design_is_kept_for_a_person():
    assert change.design(" Split the agent. ") == make(design="Split the agent.")
