"""Laws of arguments: equal after trimming and nothing looser, and every difference has a place."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness import canon
from githarness.measure import arguments
from githarness.measure.arguments import Renaming, deltas, same

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FEW = settings(max_examples=60, deadline=None)

SCHEMA = {
    "properties": {"limit": {"type": "integer", "default": 20}, "path": {"type": "string", "default": "."}},
    "required": ["path"],
}


def classes(expected, actual, schema=None):
    return [(delta.pointer, delta.cls) for delta in deltas(expected, actual, schema)]


def nested(depth, core):
    for _ in range(depth):
        core = [core]
    return core


# -- what is equal -------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (0.0, False),
        (None, False),
        (None, ""),
        ("1", 1),
        ([], {}),
        ({}, None),
    ],
)
def test_values_of_two_json_types_are_never_equal(expected, actual):
    assert not same({"a": expected}, {"a": actual})
    assert not same({"a": actual}, {"a": expected})


def test_white_space_around_a_string_is_no_difference_at_any_depth():
    assert same({"a": ["  ls -la\n", {"b": "x\u00a0"}]}, {"a": ["ls -la", {"b": "\u3000x"}]})


def test_white_space_inside_a_string_is_a_difference():
    assert not same({"a": "ls  -la"}, {"a": "ls -la"})


def test_the_separators_that_python_alone_calls_white_space_are_kept():
    assert not same("\x1cls", "ls")


def test_keys_are_not_trimmed():
    assert not same({"path ": 1}, {"path": 1})


def test_the_order_of_keys_is_no_difference_and_the_order_of_an_array_is():
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same([1, 2], [2, 1])


def test_a_key_with_null_is_not_an_absent_key():
    assert not same({"a": None}, {})


def test_two_spellings_of_one_path_differ_since_paths_are_the_tools_business():
    assert not same({"path": "a.md"}, {"path": "./a.md"})


def test_minus_zero_is_zero_and_infinity_is_infinity():
    assert same([0.0, float("inf")], [-0.0, float("inf")])
    assert not same(float("inf"), None)


def test_a_string_that_is_no_json_is_compared_as_the_string_it_is():
    assert same('{"cut": ', ' {"cut": ')
    assert not same('{"a":1}', {"a": 1})


@FEW
@given(VALUES)
def test_every_value_is_the_same_as_itself_and_as_its_copy(value):
    assert deltas(value, json.loads(json.dumps(value))) == ()


@FEW
@given(VALUES, VALUES)
def test_sameness_and_distance_do_not_depend_on_the_side(one, other):
    assert same(one, other) == same(other, one)
    assert arguments.distance(one, other) == arguments.distance(other, one)


@FEW
@given(VALUES, VALUES)
def test_a_distance_of_zero_is_sameness(one, other):
    assert (arguments.distance(one, other)[0] == 0) == same(one, other)


# -- where and what ------------------------------------------------------------


def test_a_changed_value_is_named_by_its_pointer():
    assert classes({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}) == [("/a/b/1", "value")]


def test_pointers_escape_slash_and_tilde():
    assert classes({"a/b~c": 1}, {"a/b~c": 2}) == [("/a~1b~0c", "value")]


def test_a_difference_of_the_whole_is_at_the_empty_pointer():
    assert classes("x", ["x"]) == [("", "value")]


def test_one_number_spelled_in_two_ways_has_its_own_class():
    assert classes({"n": 1}, {"n": 1.0}) == [("/n", "number_spelling")]


def test_a_number_beyond_a_double_is_not_equal_to_its_neighbour():
    assert classes(2**53, 2**53 + 1) == [("", "value")]


def test_trimmed_ends_are_named_and_still_no_difference():
    found = deltas({"c": " ls"}, {"c": "ls"})
    assert [delta.cls for delta in found] == ["white_space"]
    assert not arguments.differ(found)


def test_another_key_order_is_named_at_its_object_and_still_no_difference():
    found = deltas({"o": {"a": 1, "b": 2}}, {"o": {"b": 2, "a": 1}})
    assert [(delta.pointer, delta.cls) for delta in found] == [("/o", "key_order")]
    assert not arguments.differ(found)


def test_the_change_tells_an_added_null_from_a_removed_one():
    assert [delta.change for delta in deltas({}, {"a": None})] == ["added"]
    assert [delta.change for delta in deltas({"a": None}, {})] == ["removed"]


def test_elements_past_the_shorter_array_are_added_or_removed():
    found = deltas([1], [1, 2, 3])
    assert [(delta.pointer, delta.change, delta.actual) for delta in found] == [
        ("/1", "added", 2),
        ("/2", "added", 3),
    ]


def test_an_optional_argument_spelled_out_with_its_default_has_its_own_class():
    assert classes({"path": "a"}, {"path": "a", "limit": 20}, SCHEMA) == [("/limit", "default_explicit")]


def test_a_value_that_is_not_the_default_is_a_value():
    assert classes({}, {"limit": 21}, SCHEMA) == [("/limit", "value")]
    assert classes({}, {"limit": 20.0}, SCHEMA) == [("/limit", "value")]


def test_a_required_argument_has_no_default_to_fall_back_on():
    assert classes({}, {"path": "."}, SCHEMA) == [("/path", "value")]


def test_without_a_schema_nothing_is_called_a_default():
    assert classes({}, {"limit": 20}) == [("/limit", "value")]


def test_defaults_are_found_inside_objects_and_arrays():
    schema = {"properties": {"list": {"items": SCHEMA}}}
    assert classes({"list": [{}]}, {"list": [{"limit": 20}]}, schema) == [
        ("/list/0/limit", "default_explicit")
    ]


@pytest.mark.parametrize("schema", [True, [], "x", {"properties": []}, {"properties": {"limit": True}}])
def test_a_schema_that_is_none_decides_nothing(schema):
    assert classes({}, {"limit": 20}, schema) == [("/limit", "value")]


def test_the_json_name_of_the_class_is_class():
    assert json.loads(json.dumps(arguments.Delta.__struct_encode_fields__))[:2] == ["pointer", "class"]


# -- redaction markers ---------------------------------------------------------


def test_markers_agree_up_to_a_renaming():
    renaming = Renaming()
    assert same("key [REDACTED:token:1]", "key [REDACTED:token:7]", renaming)
    assert same("[REDACTED:token:2]", "[REDACTED:token:1]", renaming)


def test_a_marker_that_was_another_one_before_is_a_difference():
    renaming = Renaming()
    assert same("[REDACTED:token:1]", "[REDACTED:token:2]", renaming)
    assert not same("[REDACTED:token:1]", "[REDACTED:token:1]", renaming)


def test_two_secrets_on_one_side_are_never_one_on_the_other():
    assert not same(
        ["[REDACTED:token:1]", "[REDACTED:token:2]"], ["[REDACTED:token:1]", "[REDACTED:token:1]"], Renaming()
    )


def test_texts_around_equal_markers_still_have_to_be_equal():
    assert not same("a [REDACTED:token:1]", "b [REDACTED:token:1]", Renaming())


def test_a_text_that_does_not_agree_pairs_no_marker():
    renaming = Renaming()
    assert not renaming.agrees("[REDACTED:t:1] [REDACTED:t:1]", "[REDACTED:t:5] [REDACTED:t:6]")
    assert renaming.agrees("[REDACTED:t:1]", "[REDACTED:t:9]")


def test_a_secret_is_not_equal_to_its_marker():
    assert not same("hunter2", "[REDACTED:token:1]", Renaming())


# -- bytes ---------------------------------------------------------------------


@FEW
@given(VALUES)
def test_canonical_bytes_are_those_of_the_shared_encoder(value):
    try:
        expected = canon.compact(value, sort=True)
    except ValueError:
        return  # infinity, which only this module has to render
    assert arguments.canonical(value) == expected


@FEW
@given(VALUES, VALUES)
def test_identical_never_claims_more_than_the_comparison(one, other):
    assert not arguments.identical(one, other) or deltas(one, other) == ()
    assert arguments.identical(one, json.loads(json.dumps(one)))


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (None, float("inf")), (0, False)])
def test_identical_is_not_fooled_by_python_or_by_the_encoder(one, other):
    assert not arguments.identical([one], [other])


def test_equal_markers_are_not_identical_without_a_renaming():
    assert not arguments.identical("[REDACTED:token:1]", "[REDACTED:token:1]")


def test_arguments_nested_beyond_the_stack_are_compared_and_digested():
    one, other = nested(20_000, 1), nested(20_000, 2)
    assert [delta.cls for delta in deltas(one, other)] == ["value"]
    assert arguments.content_free(one)["bytes"] == 40_001
    assert arguments.loose(one) != arguments.loose(other)


def test_a_lone_surrogate_has_bytes_and_differs_from_its_escape():
    assert arguments.fingerprint("\ud800") == b'"\\ud800"'
    assert arguments.fingerprint("\\ud800") == b'"\\\\ud800"'


def test_the_content_free_form_is_size_and_digest_of_canonical_json():
    assert arguments.content_free({"b": 1, "a": "é"}) == {
        "digest": "aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e",
        "bytes": 16,
    }


def test_the_content_free_form_does_not_see_key_order_and_sees_number_types():
    assert arguments.content_free({"a": 1, "b": 2}) == arguments.content_free({"b": 2, "a": 1})
    assert arguments.content_free(1) != arguments.content_free(1.0)
