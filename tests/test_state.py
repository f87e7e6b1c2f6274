"""The state: its two digests, and its files on main, strictly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import DEFAULT, TINY, state

from githarness.errors import CorruptError, MissingError, RefusedError, UnreadableError
from githarness.propose import files
from githarness.propose import state as states
from githarness.propose.overlay import Entry
from githarness.propose.state import State, Touched

READ, STOP = "Read the file first.", "Stop when done."
READ_ID = "bbec6f0b0ae74c784ad03f12ab07800e5c5c29d6f197cf9e7d362348605e4c7c"
GREP = "faefbbbf05cb9cfb18112dde743b3eb327b5b26426f4206583a2fb4cb9cc344d"
FULL = State(
    harness=TINY,
    knobs={"speed": 5},
    overlay=(Entry(1, READ), Entry(4, STOP)),
    tools={"grep": "Search é."},
)


def without(name):
    return {path: data for path, data in files.files(FULL).items() if path != name}


def test_the_digest_of_a_state_is_over_its_canonical_json():
    assert states.digest(FULL) == "e0d5a9ccb13fcae55b6ae2945702efb32bd19d2ca05f8c25921e3a34997f1dde"


def test_a_state_in_which_nothing_is_set_has_a_digest_too():
    assert (
        states.digest(State(harness=TINY))
        == "b2ddbed8ef4e181147fb8865721b25292c65120da6c1524fed23019394cadd50"
    )


def test_the_number_of_an_entry_is_no_part_of_the_digest():
    moved = State(harness=TINY, knobs=FULL.knobs, tools=FULL.tools, overlay=(Entry(2, READ), Entry(3, STOP)))
    assert states.digest(moved) == states.digest(FULL)


def test_the_order_of_entries_is_part_of_the_digest():
    turned = State(harness=TINY, knobs=FULL.knobs, tools=FULL.tools, overlay=(Entry(1, STOP), Entry(2, READ)))
    assert states.digest(turned) != states.digest(FULL)


@pytest.mark.parametrize(
    ("of", "touched", "digest"),
    [
        (
            State(harness=TINY),
            Touched(knobs=("speed",)),
            "ffcce2cf89090684b918e821e6e0e337220c9566d4f8ae8d88bfa1e3e232ce1b",
        ),
        (FULL, Touched(knobs=("speed",)), "a6ed2883456d72b64f220b6ad436d58fa369d5cc32ab5cb6ceb1eee6e4c7ebb8"),
        (FULL, Touched(), "e974d0d4f9198e6909e01d79965e2a37a40cd634a921f21459109dbad16341fe"),
        (
            State(harness=TINY, knobs={"speed": 5}, overlay=(Entry(1, READ),)),
            Touched(knobs=("speed",), overlay=(READ_ID,), tools=("grep",), declaration=True),
            "cd74600c1b68ba65217e7088b5a4a92e7c7f27b03789d0aac4533b28dcd525b5",
        ),
    ],
)
def test_the_digest_of_a_part_is_over_what_is_touched_and_null_is_absence(of, touched, digest):
    assert states.part_digest(of, touched) == digest


def test_what_is_not_touched_does_not_change_the_digest_of_a_part():
    other = state(knobs={"max_turns": 9, "max_retries": 4}, overlay=(Entry(1, READ),))
    touched = Touched(knobs=("max_retries",))
    assert states.part_digest(other, touched) == states.part_digest(state(knobs={"max_retries": 4}), touched)


def test_a_knob_set_to_its_default_is_not_an_unset_one():
    assert states.digest(state(knobs={"max_retries": 3})) != states.digest(state())


def test_a_switch_and_a_one_are_two_states():
    on, one = State(harness=TINY, knobs={"speed": True}), State(harness=TINY, knobs={"speed": 1})
    assert states.digest(on) != states.digest(one)


@pytest.mark.parametrize(
    ("name", "value"), [("max_retries", 7), ("planning_max_replans", 2), ("max_turns", None), ("speed", None)]
)
def test_the_value_in_force_is_the_set_one_or_the_default_or_none(name, value):
    assert states.effective(state(knobs={"max_retries": 7}), name) == value


@pytest.mark.parametrize(
    "knobs", [{"max_retries": 11}, {"max_retries": True}, {"effort": "none"}, {"speed": 1}]
)
def test_a_value_that_the_declaration_does_not_admit_is_refused_by_name(knobs):
    with pytest.raises(RefusedError, match=next(iter(knobs))):
        states.check(state(knobs=knobs))


def test_a_state_is_one_file_for_each_knob_entry_and_tool():
    assert files.files(FULL) == {
        "harness.toml": TINY.encode(),
        "knobs/speed": b"5\n",
        "overlay/0001-bbec6f0b0ae7.md": b"Read the file first.\n",
        "overlay/0004-eb3114a53778.md": b"Stop when done.\n",
        f"tools/{GREP}.md": "grep\nSearch é.\n".encode(),
    }


def test_a_state_in_which_nothing_is_set_is_its_declaration_alone():
    assert files.files(state()) == {"harness.toml": DEFAULT.encode()}


def test_files_read_back_as_the_state_they_were():
    assert files.from_files(files.files(FULL)) == FULL


@pytest.mark.parametrize("value", [7, -1, "high", True, False])
def test_a_knob_file_is_canonical_json_and_a_line_feed(value):
    text = 'version = 1\n[knob.a]\ntype = "integer"\nminimum = -1\nmaximum = 7\n[knob.b]\ntype = "boolean"\n'
    text += '[knob.c]\ntype = "choice"\nvalues = ["high"]\n'
    name = {int: "a", bool: "b", str: "c"}[type(value)]
    back = files.from_files(files.files(State(harness=text, knobs={name: value}))).knobs[name]
    assert (back, type(back)) == (value, type(value))


@pytest.mark.parametrize(
    "data", [b"5", b" 5\n", b"5\n\n", b"05\n", b"5.0\n", b"null\n", b"[5]\n", b"{}\n", b"", b"5\r\n"]
)
def test_a_knob_file_in_any_other_spelling_is_refused(data):
    with pytest.raises(UnreadableError, match="knobs/speed"):
        files.from_files(files.files(FULL) | {"knobs/speed": data})


def test_a_knob_file_beyond_the_declared_bounds_is_refused():
    with pytest.raises(UnreadableError, match="from 0 to 9"):
        files.from_files(files.files(FULL) | {"knobs/speed": b"10\n"})


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "knobs",
        "knobs/Speed",
        "knobs/a/b",
        "tools/grep.md",
        "overlays/x",
        "harness.toml.orig",
        "knobs/speed\n",
    ],
)
def test_a_file_that_no_state_has_is_an_error_and_never_skipped(path):
    with pytest.raises(UnreadableError):
        files.from_files(files.files(FULL) | {path: b"5\n"})


def test_a_tool_file_whose_first_line_is_another_tool_is_corrupt():
    path = files.tool_path("grep")
    with pytest.raises(CorruptError, match="first line"):
        files.from_files(files.files(FULL) | {path: b"bash\nSearch.\n"})


@pytest.mark.parametrize("data", [b"grep\n", b"grep\nzero\xe2\x80\x8bwidth\n", b"grep\n\xff\n", b"grep\nx"])
def test_a_tool_file_without_description_or_with_hidden_text_is_refused(data):
    with pytest.raises(UnreadableError):
        files.from_files(files.files(FULL) | {files.tool_path("grep"): data})


def test_an_empty_description_is_a_description():
    described = State(harness=TINY, tools={"grep": ""})
    assert files.from_files(files.files(described)).tools == {"grep": ""}


def test_one_text_in_two_files_is_refused():
    twice = files.files(FULL) | {"overlay/0009-bbec6f0b0ae7.md": f"{READ}\n".encode()}
    with pytest.raises(UnreadableError, match="same text"):
        files.from_files(twice)


def test_main_without_a_declaration_is_missing_one():
    with pytest.raises(MissingError, match=r"harness\.toml"):
        files.from_files(without("harness.toml"))


@pytest.mark.parametrize("data", [b"\xff", b"[knob", b"version = 1\n[knob.speed]\n"])
def test_a_declaration_that_cannot_be_read_is_an_error(data):
    with pytest.raises(UnreadableError, match=r"harness\.toml"):
        files.from_files(files.files(FULL) | {"harness.toml": data})


@pytest.mark.parametrize(
    ("path", "is_state"),
    [
        ("knobs/speed", True),
        ("evil", False),
        ("mutations", False),
        ("decisions.md", False),
        ("x/.gitattributes", False),
        ("mutations/a.json", False),
        ("decisions/a/b", False),
        (".gitattributes", False),
    ],
)
def test_what_has_no_name_of_a_states_file_is_none_of_it(path, is_state):
    assert files.belongs(path) is is_state


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=4))
def test_any_described_tools_read_back_or_are_refused(tools):
    of = State(harness=TINY, tools=tools)
    try:
        back = files.from_files(files.files(of))
    except (UnreadableError, CorruptError, UnicodeEncodeError):
        return
    assert back == of
