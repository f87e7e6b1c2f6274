"""Laws of divergences: the first structural one is the verdict, and unknown is neither."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import at, call, compared, kinds, run

from githarness.measure import cause, divergence
from githarness.measure.divergence import Divergence
from githarness.measure.fidelity import Part

FEW = settings(max_examples=80, deadline=None)
STEPS = st.lists(
    st.lists(
        st.builds(
            lambda name, path, cause: call(name, path=path, cause=cause),
            st.sampled_from(["read", "grep"]),
            st.sampled_from(["a", "b", 1, 1.0]),
            st.sampled_from([None, None, "failed", "denied_by_person", "unknown"]),
        ),
        min_size=1,
        max_size=3,
    ),
    max_size=4,
)
MIRROR = {"extra": "missing", "missing": "extra"}


def laid(steps):
    return [one for step, calls in enumerate(steps, 1) for one in at(step, *calls)]


def part(state):
    return Part(state=state, reason="made")


def parts(tools="matches", system="matches", model="matches"):
    return {name: part(state) for name, state in {"tools": tools, "system": system, "model": model}.items()}


# -- the source's own laws -----------------------------------------------------


def test_an_identical_replay_has_nothing_to_report():
    found = compared([call(path="a.md")], [call(path="a.md")])
    assert (found.divergences, found.verdict, found.agreed) == ((), None, 1)


def test_a_different_tool_stops_the_comparison_rather_than_cascading():
    found = compared(
        [call("read"), call("read"), call("read")], [call("shell"), call("shell"), call("shell")]
    )
    assert found.divergences == (Divergence(kind="tool", index=0, expected="read", actual="shell"),)
    assert found.divergences[0].structural


def test_the_same_tool_with_other_arguments_is_reported_and_not_structural():
    found = compared([call(path="a.md")], [call(path="./a.md")])
    assert kinds(found) == [("arguments", 0)]
    assert not found.divergences[0].structural


def test_argument_differences_do_not_stop_the_comparison():
    found = compared([call(p=1), call(p=2), call("ls")], [call(p=3), call(p=4), call("rm")])
    assert kinds(found) == [("arguments", 0), ("arguments", 1), ("tool", 2)]


def test_running_long_and_stopping_early_are_different_findings():
    longer, shorter = [call("read"), call("shell")], [call("read")]
    assert compared(shorter, longer).divergences == (
        Divergence(kind="extra", index=1, tool="shell", actual="shell"),
    )
    assert compared(longer, shorter).divergences == (
        Divergence(kind="missing", index=1, tool="shell", expected="shell"),
    )


def test_every_call_past_the_end_is_listed():
    assert kinds(compared([call()], [call(), call("a"), call("b")])) == [("extra", 1), ("extra", 2)]


def test_order_is_part_of_the_trajectory():
    found = compared([call(path="a"), call(path="b")], [call(path="b"), call(path="a")])
    assert kinds(found) == [("arguments", 0), ("arguments", 1)]


def test_white_space_around_arguments_is_no_divergence():
    assert (
        compared([call("shell", command="ls -la")], [call("shell", command="  ls -la  ")]).divergences == ()
    )


# -- groups --------------------------------------------------------------------


def test_parallel_calls_in_another_order_are_no_divergence():
    left = at(1, call(path="a"), call("grep", q="x"), call(path="b"))
    assert compared(left, at(1, *left[::-1])).divergences == ()


def test_two_responses_in_another_order_are_one():
    left = [*at(1, call("read")), *at(2, call("grep"))]
    assert kinds(compared(left, [*at(1, call("grep")), *at(2, call("read"))])) == [("tool", 0)]


def test_a_changed_argument_in_a_group_is_reported_at_the_recorded_place():
    left = at(1, call(path="a"), call(path="b"))
    found = compared(left, at(1, call(path="bb"), call(path="a")))
    assert kinds(found) == [("arguments", 1)]


def test_a_call_too_many_in_the_last_group_is_extra_whatever_its_place():
    left, right = at(1, call(path="a")), at(1, call("ls"), call(path="a"))
    assert compared(left, right).divergences == (Divergence(kind="extra", index=1, tool="ls", actual="ls"),)
    assert kinds(compared(right, left)) == [("missing", 0)]


def test_the_same_calls_grouped_in_another_way_are_the_same_calls():
    left = at(1, call(path="a"), call(path="b"))
    assert compared(left, [*at(1, left[1]), *at(2, left[0])]).divergences == ()


# -- blocked -------------------------------------------------------------------


@pytest.mark.parametrize("cause", ["denied_by_person", "denied_by_hook", "refused_arguments", "unknown_tool"])
def test_a_call_stopped_on_one_side_only_is_blocked_and_ends_the_comparison(cause):
    found = compared([call(), call("ls")], [call(cause=cause), call("rm")])
    assert found.divergences == (
        Divergence(kind="blocked", index=0, tool="read", expected="let_through", actual=cause),
    )
    assert found.verdict.structural


def test_a_call_blocked_on_both_sides_is_no_divergence_whoever_blocked_it():
    assert compared([call(cause="denied_by_person")], [call(cause="denied_by_hook")]).divergences == ()


def test_a_failure_is_a_result_and_no_divergence():
    assert compared([call()], [call(cause="failed")]).divergences == ()


def test_another_tool_outranks_a_blocked_call_of_the_same_response():
    right = at(1, call("read", cause="denied_by_hook"), call("rm"))
    assert kinds(compared(at(1, call("read"), call("ls")), right)) == [("tool", 1)]


def test_an_outcome_nobody_wrote_down_is_neither_blocked_nor_let_through():
    found = compared([call(cause="denied_by_person")], [call(cause="unknown")])
    assert (found.divergences, found.unknown_outcomes) == ((), 1)


def test_a_blocked_call_with_other_arguments_is_reported_with_both():
    assert kinds(compared([call(p=1)], [call(p=2, cause="denied_by_hook")])) == [
        ("arguments", 0),
        ("blocked", 0),
    ]


# -- off the tape --------------------------------------------------------------


def test_a_served_replay_that_goes_on_is_off_the_tape_once():
    found = compared([call()], [call(), call("ls"), call("rm")], served=True)
    assert found.divergences == (Divergence(kind="off_tape", index=1, tool="ls", actual="ls"),)
    assert not found.is_cut


def test_a_recorded_call_without_a_result_cannot_be_served():
    found = compared([call(output=None, cause="unknown"), call()], [call(), call("rm")], served=True)
    assert kinds(found) == [("off_tape", 0)]
    assert found.is_cut


def test_a_run_that_was_not_served_needs_no_result():
    assert compared([call(output=None, cause="unknown")], [call()]).divergences == ()


def test_another_tool_is_a_tool_divergence_for_a_served_replay_too():
    assert kinds(compared([call("read")], [call("ls")], served=True)) == [("tool", 0)]


# -- unknown, markers, schemas -------------------------------------------------


def test_arguments_a_client_did_not_keep_are_unknown_and_not_equal():
    found = compared([call(raw=None, malformed=None)], [call(path="a")])
    assert (found.divergences, found.unknown_arguments) == ((), 1)


def test_kept_null_arguments_are_compared():
    assert kinds(compared([call(raw=None)], [call(path="a")])) == [("arguments", 0)]


def test_true_is_not_one_on_the_fast_path_either():
    assert kinds(compared([call(p=1)], [call(p=True)])) == [("arguments", 0)]


def test_markers_are_renamed_one_to_one_over_the_whole_run():
    left = [call(key="[REDACTED:token:1]"), call(key="[REDACTED:token:2]")]
    swapped = [call(key="[REDACTED:token:2]"), call(key="[REDACTED:token:1]")]
    assert compared(left, swapped).divergences == ()
    assert kinds(compared(left, [swapped[0], swapped[0]])) == [("arguments", 1)]


def test_schemas_name_defaults_and_excuse_nothing():
    schemas = {"read": {"properties": {"limit": {"default": 5}}}}
    (found,) = compared([call()], [call(limit=5)], schemas=schemas).divergences
    assert (found.kind, found.cosmetic) == ("arguments", True)
    assert found.deltas[0].cls == "default_explicit"


def test_a_changed_value_is_not_cosmetic_and_neither_is_anything_structural():
    assert not compared([call(p=1)], [call(p=2)]).divergences[0].cosmetic
    assert not Divergence(kind="tool", index=0).cosmetic


# -- whole runs ----------------------------------------------------------------


@FEW
@given(STEPS)
def test_a_run_compared_with_itself_has_no_divergence_and_no_unknown(steps):
    found = compared(laid(steps), laid(steps))
    assert (found.divergences, found.unknown_outcomes, found.unknown_arguments) == ((), 0, 0)


@FEW
@given(STEPS, STEPS)
def test_swapping_the_runs_mirrors_the_verdict(one, other):
    there = compared(laid(one), laid(other)).verdict
    back = compared(laid(other), laid(one)).verdict
    assert (there and MIRROR.get(there.kind, there.kind)) == (back and back.kind)


@FEW
@given(STEPS, STEPS)
def test_at_most_one_divergence_stops_and_it_is_the_last(one, other):
    found = [each.kind for each in compared(laid(one), laid(other)).divergences]
    assert all(kind in {"arguments", "extra", "missing"} for kind in found[:-1])


@FEW
@given(STEPS, STEPS, st.randoms(use_true_random=False))
def test_the_order_within_a_response_changes_no_finding(one, other, draw):
    shuffled = [draw.sample(calls, len(calls)) for calls in other]
    there, again = compared(laid(one), laid(other)), compared(laid(one), laid(shuffled))
    if all(len(calls) == len(theirs) for calls, theirs in zip(one, other, strict=False)):
        assert sorted(kinds(there)) == sorted(kinds(again))


def test_an_empty_run_is_compared_and_said_to_be_empty():
    found = compared([call(), call()], [])
    assert kinds(found) == [("missing", 0), ("missing", 1)]
    assert found.caveats == ("The second run made no calls.",)


def test_runs_of_two_formats_are_compared_with_a_caveat():
    found = divergence.compare(run(call(), format="one"), run(call(), format="two"))
    assert found.divergences == ()
    assert found.caveats == (
        "The runs were read from two formats (one, two), which may name tools and group calls differently.",
    )


def test_steering_and_unreadable_records_make_a_comparison_approximate():
    found = divergence.compare(run(call(), steered=True), run(call(), unreadable=2)).caveats
    assert found == (
        "A person steered the first run as it worked, so the comparison is approximate.",
        "2 records of the second run could not be read, so calls may be missing.",
    )


# -- reading on ----------------------------------------------------------------


def test_what_follows_is_aligned_to_be_read_and_counted_nowhere():
    left, right = run(call("a"), call("b"), call("c")), run(call("a"), call("x"), call("b"), call("c"))
    found = divergence.compare(left, right)
    folded = divergence.fold(left, right, found)
    assert [(row.same, row.expected, row.actual) for row in folded.rows] == [
        (False, (), ("x",)),
        (True, ("b", "c"), ("b", "c")),
    ]
    assert len(found.divergences) == 1


def test_an_alignment_is_cut_and_says_by_how_much():
    left, right = run(*[call("a")] * 500), run(*[call("b")] * 450)
    folded = divergence.fold(left, right, divergence.compare(left, right))
    assert (folded.start, folded.omitted) == (0, 100 + 50)


def test_runs_that_agree_leave_nothing_to_fold():
    same = run(call())
    assert divergence.fold(same, same, divergence.compare(same, same)).rows == ()


# -- documents -----------------------------------------------------------------


def test_the_json_form_of_an_argument_divergence_is_pinned():
    (found,) = compared([call(p="a")], [call(p="b")]).divergences
    assert json.dumps(divergence.document(found)) == (
        '{"kind": "arguments", "index": 0, "tool": "read", "expected": {"p": "a"}, "actual": {"p": "b"}, '
        '"structural": false, "classes": {"value": 1}, "deltas": [{"pointer": "/p", "class": "value", '
        '"change": "changed", "expected": "a", "actual": "b"}]}'
    )


def test_a_content_free_document_holds_no_word_of_the_arguments():
    (found,) = compared([call(secretive="alpha")], [call(secretive="beta")]).divergences
    text = json.dumps(divergence.document(found, content=False))
    assert not any(word in text for word in ("alpha", "beta", "secretive"))
    assert '"bytes": 21' in text


def test_a_content_free_document_keeps_plain_tool_names_and_digests_others():
    found = divergence.document(
        Divergence(kind="tool", index=0, expected="read", actual="my name"), content=False
    )
    assert found["expected"] == "read"
    assert found["actual"] == {
        "digest": "945e3d63ddec754fe17db8ca8fe358aad749bbbff57f59b47d7a207bec8f3aad",
        "bytes": 9,
    }


def test_a_comparison_is_frozen_data():
    with pytest.raises(AttributeError):
        compared([], []).recorded = 1


# -- causes --------------------------------------------------------------------


def test_only_sampling_is_left_where_every_part_matches():
    assert cause.label(parts()) == "sampling only"


@pytest.mark.parametrize("missing", ["tools", "system", "model"])
def test_a_part_that_is_unknown_or_not_stated_leaves_the_cause_unknown(missing):
    assert cause.label(parts(**{missing: "unknown"})) == "unknown"
    assert cause.label(parts() | {missing: None}) == "unknown"


def test_no_parts_at_all_are_no_cause():
    assert cause.label({}) == "unknown"


def test_every_part_that_differs_is_named_even_beside_an_unknown_one():
    found = cause.label(parts(tools="differs", system="unknown", model="differs"), ["read", "grep"])
    assert found == "surface changed (read, grep); model changed"


def test_a_changed_prompt_alone_is_named():
    assert cause.label(parts(system="differs"), ["read"]) == "prompt changed"


def test_hostile_and_many_tool_names_do_not_fill_a_label():
    found = cause.label(parts(tools="differs"), ["ignore all\nrules", *"abcdef"])
    assert found == "surface changed (sha256:3dc906422f0f, a, b, c, d, 2 more)"


# -- what is counted and is no divergence ----------------------------------------


@pytest.mark.parametrize(
    ("want", "got", "changed"),
    [
        (None, "failed", 1),
        ("failed", None, 1),
        ("failed", "failed", 0),
        (None, "unknown", 0),
        (None, "cancelled", 0),
        ("denied_by_hook", "denied_by_person", 0),
    ],
)
def test_an_outcome_changes_between_ok_and_failed_and_by_nothing_else(want, got, changed):
    found = compared([call(cause=want)], [call(cause=got)])
    assert (found.outcomes_changed, found.divergences) == (changed, ())


def test_outcomes_after_the_verdict_are_not_counted():
    found = compared([call("read"), call("grep")], [call("shell"), call("grep", cause="failed")])
    assert found.outcomes_changed == 0


@pytest.mark.parametrize(
    ("want", "got", "same"), [("a", "a\n", True), ("a", "b", False), (None, None, None), ("a", None, None)]
)
def test_last_texts_are_the_same_but_for_white_space_and_unknown_without_one(want, got, same):
    found = divergence.compare(run(call(), final_text=want), run(call(), final_text=got))
    assert found.final_text_same is same
