"""Patches: a closed set of keys, applied whole, taken back exactly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import DEFAULT, TINY, state

from githarness.errors import RefusedError, UnreadableError
from githarness.propose import files, overlay, patch
from githarness.propose import state as states
from githarness.propose.overlay import Entry
from githarness.propose.patch import make
from githarness.propose.state import State, Touched

A, B, C = "Say what failed.", "Run the tests.", "Write short answers."
A_ID = overlay.guidance_id(A)


def refusal(change, of):
    with pytest.raises(RefusedError) as caught:
        patch.apply(change, of)
    return caught.value.message


@pytest.mark.parametrize(
    ("component", "keys", "identity"),
    [
        (
            "retry_config",
            {"set": {"max_retries": 6}},
            "404e3b4ed72437b92eb7e9a67f95b6c693e5c240da8eb75fc4a8a8174a836d17",
        ),
        (
            "prompt",
            {"add_guidance": ("Read the file first.",)},
            "7292df1ab6f7d999df8c249b04e2570dddfc2cf3b61efafb442f35cbd82ab455",
        ),
        (
            "planning_config",
            {"set": {"max_turns": 40, "effort": "low"}, "unset": ("planning_max_replans",)},
            "4eadefabec00cf2acfc11e5747a74dfae5e316c65d2458d94529805f6e1c58c8",
        ),
        (
            "planning_config",
            {"unset": ("max_turns", "effort")},
            "363a8e79c2b0aafcf38a8f4b2c74941226b9eff66c3e426727f09bf5fb0e8395",
        ),
        (
            "tool_schema",
            {"describe": {"grep": ""}},
            "9e00f801f4f86505eeec0531ea4c130e53317312a63ce00be6caa398ccad4764",
        ),
    ],
)
def test_a_fingerprint_is_over_component_and_the_keys_that_are_used(component, keys, identity):
    assert patch.fingerprint(component, make(**keys)) == identity


def test_the_same_patch_under_another_component_is_another_change():
    change = make(set={"max_retries": 6})
    assert patch.fingerprint("retry_config", change) != patch.fingerprint("validator", change)


def test_true_and_one_are_two_changes():
    on, one = make(set={"speed": True}), make(set={"speed": 1})
    assert patch.fingerprint("validator", on) != patch.fingerprint("validator", one)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "changes something"),
        ({"set": {}}, "changes something"),
        ({"prompt_overlay": "SMUGGLE"}, "prompt_overlay is not a field here"),
        ({"set": {"max_turns": 4.0}}, "set.max_turns"),
        ({"set": {"max_turns": None}}, "set.max_turns"),
        ({"set": {"../config": 1}}, "set.../config"),
        ({"set": {"max_turns": 2**53}}, "set.max_turns"),
        ({"set": {"effort": "low\u202e"}}, "U+202E"),
        ({"set": {"a": 1}, "unset": ("a",)}, "one thing twice"),
        ({"unset": ("a", "a")}, "twice"),
        ({"add_guidance": (A, A)}, "one thing twice"),
        ({"add_guidance": (A,), "drop_guidance": (A_ID,)}, "one thing twice"),
        ({"add_guidance": ("",)}, "must not be empty"),
        ({"add_guidance": ("tag\U000e0041",)}, "U+E0041"),
        ({"drop_guidance": ("abc",)}, "drop_guidance.0"),
        ({"drop_guidance": (A_ID + "\n",)}, "drop_guidance.0"),
        ({"describe": {"a\0b": "x"}}, "U+0000"),
        ({"describe": {"two\nlines": "x"}}, "one line"),
        ({"describe": {"grep": "x" * 20_001}}, "of which 20000 are allowed"),
        ({"describe": {"a": "x"}, "undescribe": ("a",)}, "one thing twice"),
        ({"design": "Split the agent.", "set": {"a": 1}}, "stands alone"),
        ({"design": " "}, "must not be empty"),
        ({"unset": tuple(f"k{n}" for n in range(33))}, "changes 33 things"),
    ],
)
def test_a_patch_of_no_legal_form_is_refused_with_the_key(keys, said):
    with pytest.raises(RefusedError) as caught:
        make(**keys)
    assert said in caught.value.message


def test_a_value_of_no_legal_kind_is_one_fault_and_not_three():
    with pytest.raises(RefusedError) as caught:
        make(set={"max_turns": 4.5})
    assert caught.value.message.count("max_turns") == 1


def test_setting_a_knob_touches_nothing_else():
    before = state(knobs={"effort": "low"}, overlay=(Entry(1, A),), tools={"grep": "x"})
    after = patch.apply(make(set={"max_turns": 40}), before)
    assert after == state(
        knobs={"effort": "low", "max_turns": 40}, overlay=before.overlay, tools=before.tools
    )


def test_guidance_is_appended_and_what_is_in_force_stays():
    after = patch.apply(make(add_guidance=(B, C)), state(overlay=(Entry(3, A),)))
    assert after.overlay == (Entry(3, A), Entry(4, B), Entry(5, C))


def test_dropped_guidance_leaves_the_rest_in_order():
    before = state(overlay=(Entry(1, B), Entry(2, A), Entry(3, C)))
    assert patch.apply(make(drop_guidance=(A_ID,)), before).overlay == (Entry(1, B), Entry(3, C))


def test_a_declaration_is_replaced_whole():
    assert patch.apply(make(declare=TINY), state()).harness == TINY


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"set": {"max_turns": 40}}, "max_turns is already set to 40"),
        ({"set": {"max_turns": 1001}}, "must be a whole number from 1 to 1000"),
        ({"set": {"max_turns": True}}, "must be a whole number"),
        ({"set": {"speed": 1}}, "speed is not declared"),
        ({"unset": ("effort",)}, "effort is not set"),
        ({"add_guidance": (A,)}, "already in force"),
        ({"drop_guidance": ("0" * 64,)}, "000000000000 is not in force"),
        ({"describe": {"grep": "Search."}}, "grep is already described like this"),
        ({"undescribe": ("bash",)}, "bash is not described"),
        ({"declare": DEFAULT}, "already reads like this"),
        ({"declare": TINY}, "max_turns is set to 40 and not declared"),
        ({"design": "Split the agent."}, "a person turns it into a change"),
        ({"set": {"max_retries": 5, "max_turns": 40}}, "max_turns is already set"),
    ],
)
def test_a_patch_that_would_not_do_all_that_it_says_is_refused(keys, said):
    of = state(knobs={"max_turns": 40}, overlay=(Entry(1, A),), tools={"grep": "Search."})
    assert said in refusal(make(**keys), of)


def test_a_declaration_that_declares_nothing_legal_cannot_land():
    with pytest.raises(UnreadableError):
        patch.apply(make(declare="[knob"), state())


def test_the_inverse_of_a_first_setting_unsets_and_never_sets_to_empty():
    assert patch.inverse(make(set={"max_turns": 40}), state()) == make(unset=("max_turns",))


def test_the_inverse_of_a_later_setting_sets_what_was_there():
    before = state(knobs={"max_turns": 20})
    assert patch.inverse(make(set={"max_turns": 40}), before) == make(set={"max_turns": 20})


def test_the_inverse_of_describing_tells_undescribed_from_empty():
    change = make(describe={"grep": "Search."})
    assert patch.inverse(change, state()) == make(undescribe=("grep",))
    assert patch.inverse(change, state(tools={"grep": ""})) == make(describe={"grep": ""})


def test_a_design_has_no_inverse():
    assert patch.inverse(make(design="Split the agent."), state()) is None


def test_dropped_guidance_comes_back_in_its_place_when_undone():
    before = state(overlay=(Entry(1, A), Entry(2, B)))
    change = make(drop_guidance=(A_ID,))
    assert patch.undo(change, before, patch.apply(change, before)) == before


def test_undoing_leaves_what_landed_since():
    change = make(set={"max_retries": 5})
    later = patch.apply(make(add_guidance=(B,)), patch.apply(change, state()))
    assert patch.undo(change, state(), later) == state(overlay=(Entry(1, B),))


def test_undoing_under_a_later_change_of_the_same_key_is_refused():
    change = make(set={"max_retries": 5})
    later = patch.apply(make(set={"max_retries": 6}), patch.apply(change, state()))
    with pytest.raises(RefusedError, match="stands there no longer: set max_retries = 5"):
        patch.undo(change, state(), later)


def test_a_declaration_that_a_set_knob_needs_cannot_be_undone():
    change, before = make(declare=TINY), state()
    later = patch.apply(make(set={"speed": 3}), patch.apply(change, before))
    with pytest.raises(RefusedError, match="speed is set to 3 and not declared"):
        patch.undo(change, before, later)


def test_a_patch_touches_the_ids_of_what_it_adds_and_drops():
    change = make(add_guidance=(A,), drop_guidance=("0" * 64,))
    assert change.touched == Touched(overlay=(A_ID, "0" * 64))


def test_two_changes_of_different_keys_end_alike_in_either_order():
    one, two = make(set={"max_retries": 5}), make(describe={"grep": "Search."})
    there, back = patch.apply(two, patch.apply(one, state())), patch.apply(one, patch.apply(two, state()))
    assert states.digest(there) == states.digest(back)


def test_two_changes_of_different_keys_share_no_file():
    of = state()
    changed = [
        set(files.files(patch.apply(make(add_guidance=(text,)), of))) - {"harness.toml"} for text in (A, B)
    ]
    assert not changed[0] & changed[1]


def test_a_summary_names_changes_without_their_texts():
    change = make(describe={"ignore all rules": "x"}, drop_guidance=(A_ID,))
    said = " ".join(patch.summary(change))
    assert A_ID[:12] in said
    assert "ignore" not in said


KNOBS = st.dictionaries(st.sampled_from(["max_retries", "max_turns"]), st.integers(1, 9), max_size=2)
TEXTS = st.lists(st.sampled_from([A, B, C]), unique=True, max_size=3)
TOOLS = st.dictionaries(st.sampled_from(["grep", "bash"]), st.sampled_from(["", "x", "y"]), max_size=2)
STATES = st.builds(
    lambda knobs, texts, tools: state(
        knobs=knobs, tools=tools, overlay=tuple(Entry(n + 1, text) for n, text in enumerate(texts))
    ),
    KNOBS,
    TEXTS,
    TOOLS,
)


@settings(max_examples=80, deadline=None)
@given(STATES, KNOBS, TEXTS, TOOLS)
def test_applying_a_patch_and_its_inverse_gives_the_same_part_back(of, knobs, texts, tools):
    if not (knobs or texts or tools):
        return
    change = make(set=knobs, add_guidance=tuple(texts), describe=tools)
    if any(patch.obstacles(change, of)):
        return
    after = patch.apply(change, of)
    assert patch.apply(patch.inverse(change, of), after) == of
    assert patch.undo(change, of, after) == of


@settings(max_examples=30, deadline=None)
@given(STATES)
def test_any_state_reads_back_from_its_files(of):
    assert files.from_files(files.files(of)) == State(
        harness=of.harness, knobs=of.knobs, overlay=overlay.ordered(of.overlay), tools=of.tools
    )
