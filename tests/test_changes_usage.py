"""Changes graded by recorded calls: counts, and nothing of the calls."""

import pytest
from made_surface import params, surface, tool

from githarness.measure.changes.compare import compare
from githarness.measure.changes.usage import accepts, usage

TEXT = {"type": "string"}


def counted(before, after, calls, name="push"):
    """(class, total, refused, using) of each change between two schemas of one tool."""
    left, right = surface(tool(name, schema=before)), surface(tool(name, schema=after))
    changes = compare(left, right)
    found = usage(changes, left, right, {name: calls})
    return [(one.id, use.total, use.refused, use.using) for one, use in zip(changes, found, strict=True)]


def test_only_calls_that_lack_a_new_required_parameter_are_refused():
    calls = [{"x": "a"}, {"x": "a"}, {"x": "a", "y": "b"}]
    assert counted(params(x=TEXT), params(["y"], x=TEXT, y=TEXT), calls) == [
        ("param.added.required", 3, 2, 1)
    ]


def test_a_removed_parameter_refuses_nothing_while_others_are_let_in():
    assert counted(params(x=TEXT), params(), [{"x": "a"}, {}]) == [("param.removed", 2, 0, 1)]


def test_a_removed_parameter_refuses_its_users_where_others_are_kept_out():
    closed = {"additionalProperties": False}
    before, after = params(x=TEXT) | closed, params() | closed
    assert counted(before, after, [{"x": "a"}, {}]) == [("param.removed", 2, 1, 1)]


def test_a_refusal_that_takes_two_changes_counts_against_both():
    after = params() | {"additionalProperties": False}
    assert counted(params(x=TEXT), after, [{"x": "a"}, {}]) == [
        ("param.removed", 2, 1, 1),
        ("constraint.tightened", 2, 1, None),
    ]


def test_each_change_is_charged_with_what_it_refuses_alone():
    before = params(mode={"enum": ["a", "b"]}, ref=TEXT)
    after = params(mode={"enum": ["a"]}, ref={"type": "string", "maxLength": 2})
    calls = [{"mode": "b", "ref": "x"}, {"mode": "a", "ref": "main"}, {"mode": "b", "ref": "main"}]
    assert counted(before, after, calls) == [("enum.removed", 3, 2, 3), ("constraint.tightened", 3, 2, 3)]


def test_a_call_that_was_refused_before_is_no_fault_of_the_change():
    assert counted({"type": "object"}, params(["x"]), ["not an object"])[0][2] == 0


def test_words_refuse_nothing_and_their_parameter_is_counted():
    found = counted(params(x=TEXT), params(x=TEXT | {"description": "X."}), [{"x": "a"}, {}])
    assert found == [("tool.redescribed", 2, 0, 1)]


def test_every_call_of_a_removed_tool_breaks():
    before, after = surface(tool("push"), tool("pull", "Pull.")), surface(tool("push"))
    (use,) = usage(compare(before, after), before, after, {"pull": [{}, {}], "push": [{}]})
    assert (use.total, use.refused) == (2, 2)


def test_calls_are_looked_up_by_the_name_they_were_recorded_under():
    before, after = surface(tool("push", "Push it.")), surface(tool("send", "Push it."))
    (use,) = usage(compare(before, after), before, after, {"push": [{}], "send": [{}, {}]})
    assert (use.total, use.refused) == (1, 1)


def test_a_new_tool_and_a_new_order_have_no_recorded_calls():
    before, after = surface(tool("a"), tool("b", "B.")), surface(tool("b", "B."), tool("a"), tool("c", "C."))
    found = usage(compare(before, after), before, after, {"a": [{}]})
    assert [(use.total, use.refused) for use in found] == [(0, 0), (0, 0)]


def test_calls_without_recorded_arguments_are_counted_apart():
    left, right = surface(tool(schema=params())), surface(tool(schema=params(["x"])))
    (use,) = usage(compare(left, right), left, right, {"read": [{}, None]})
    assert (use.total, use.refused, use.unread) == (2, 1, 1)


@pytest.mark.parametrize(
    "after",
    [params(x={"$ref": "https://example.org/x"}), params(x={"pattern": "("}), params(x={"type": "nope"})],
)
def test_a_schema_that_cannot_be_decided_is_unknown_and_not_zero(after):
    assert counted(params(x=TEXT), after, [{"x": "a"}])[0][2] is None


def test_a_pattern_that_could_take_forever_is_not_tried_on_a_long_text():
    schema = {"pattern": "^(a+)+$"}
    assert accepts(schema, ["aaa", "b"]) == [True, False]
    assert accepts(schema, ["a" * 40 + "b"]) is None


def test_a_reference_that_goes_in_a_circle_is_undecided():
    assert accepts({"$ref": "#"}, [{}]) is None


def test_a_tool_without_a_schema_accepts_anything():
    assert accepts(None, [{}, "text"]) == [True, True]
