"""Laws of trajectories: calls as issued, one response is a set, responses follow each other."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import at, call, run, session

from githarness.errors import UnreadableError
from githarness.measure import arguments, trajectory
from githarness.measure.trajectory import Pair
from githarness.model.builder import Builder

FEW = settings(max_examples=60, deadline=None)
NAMES = st.sampled_from(["read", "grep"])
PATHS = st.sampled_from(["a", "b", "bb", " a"])
CALLS = st.lists(st.builds(lambda name, path: call(name, path=path), NAMES, PATHS), max_size=6)
SIZES = st.lists(st.integers(1, 4), max_size=8)


def built(*events):
    """A session as a reader makes it: `events` are (method, arguments…)."""
    builder = Builder(agent="agent", format="made", turns=[], calls=[])
    for method, *facts in events:
        getattr(builder, method)(*facts)
    return trajectory.of(builder.finish())


def grouped(sizes):
    """Calls whose responses issue so many calls each."""
    return [call(step=step, n=step) for step, size in enumerate(sizes, 1) for _ in range(size)]


def blocks(left, right):
    return list(trajectory.blocks(grouped(left), grouped(right)))


def shown(calls, place):
    return None if place is None else (calls[place].name, arguments.loose(calls[place].input).decode())


def set_pairs(left, right):
    """Pair two lists of calls as one response each, and show them by their arguments."""
    left, right = at(1, *left), at(1, *right)
    (block,) = trajectory.blocks(left, right)
    found = trajectory.pairs(block, left, right)
    return {(shown(left, pair.recorded), shown(right, pair.replayed)) for pair in found}


# -- extraction ----------------------------------------------------------------


def test_a_session_becomes_its_turns_calls_and_final_text():
    found = built(
        ("turn", "what does a.md say?"),
        ("step",),
        ("call", "t1", "read", {"path": "a.md"}),
        ("result", "t1", "hello", False, None),
        ("step",),
        ("say", "It says hello."),
    )
    assert (found.turns, found.final_text, found.steered) == (
        ("what does a.md say?",),
        "It says hello.",
        False,
    )
    assert [(one.name, one.output) for one in found.calls] == [("read", "hello")]


def test_turns_are_kept_in_order_and_results_are_no_turns():
    found = built(
        ("turn", "first"),
        ("step",),
        ("call", "t1", "read", {}),
        ("result", "t1", "ok", False, None),
        ("turn", "second"),
    )
    assert found.turns == ("first", "second")


def test_calls_stand_as_issued_and_keep_their_own_results():
    found = built(
        ("step",),
        ("call", "t1", "read", {"path": "a"}),
        ("call", "t2", "read", {"path": "b"}),
        ("result", "t2", "B", False, None),
        ("result", "t1", "A", False, None),
    )
    assert [(one.input["path"], one.output) for one in found.calls] == [("a", "A"), ("b", "B")]


def test_a_call_without_a_result_is_still_a_call():
    assert [one.output for one in built(("step",), ("call", "t1", "read", {})).calls] == [None]


def test_steering_is_a_flag_and_no_turn():
    found = built(("turn", "start"), ("step",), ("call", "t1", "shell", {}), ("steer",))
    assert (found.turns, found.steered) == (("start",), True)


def test_a_session_without_text_has_no_final_text_rather_than_an_empty_one():
    assert built(("turn", "start")).final_text is None


def test_a_session_read_without_content_is_refused_rather_than_found_equal():
    builder = Builder(agent="agent", format="made", keep=False)
    builder.turn("start")
    with pytest.raises(UnreadableError, match="without its content"):
        trajectory.of(builder.finish())


def test_what_could_not_be_read_travels_along():
    assert run(unreadable=3).unreadable == 3
    assert trajectory.of(session(agent="x", format="y")).format == "y"


# -- blocks --------------------------------------------------------------------


def test_groups_of_equal_size_are_blocks_of_their_own():
    found = blocks([1, 2, 1], [1, 2, 1])
    assert [(block.recorded, block.is_set) for block in found] == [
        (range(1), True),
        (range(1, 3), True),
        (range(3, 4), True),
    ]


def test_one_response_may_be_written_as_several_by_another_client():
    (block,) = blocks([3], [1, 1, 1])
    assert (block.recorded, block.replayed, block.is_set) == (range(3), range(3), True)


def test_groups_that_cross_have_no_set_to_compare():
    (block,) = blocks([1, 2], [2, 1])
    assert not block.is_set


def test_what_one_side_has_left_is_a_block_without_the_other():
    assert [(block.recorded, block.replayed) for block in blocks([1], [1, 1, 2])] == [
        (range(1), range(1)),
        (range(1, 1), range(1, 4)),
    ]


def test_calls_without_a_step_are_groups_of_one():
    calls = [call(step=0), call(step=0)]
    assert [len(block.recorded) for block in trajectory.blocks(calls, calls)] == [1, 1]


def test_two_empty_runs_have_no_block():
    assert blocks([], []) == []


@FEW
@given(SIZES, SIZES)
def test_blocks_hold_every_call_once_and_in_order(left, right):
    found = blocks(left, right)
    assert [place for block in found for place in block.recorded] == list(range(sum(left)))
    assert [place for block in found for place in block.replayed] == list(range(sum(right)))


@FEW
@given(SIZES, SIZES)
def test_a_place_is_the_same_on_both_sides_wherever_a_block_begins(left, right):
    both = [block for block in blocks(left, right) if block.recorded and block.replayed]
    assert all(block.recorded.start == block.replayed.start for block in both)


@FEW
@given(SIZES, SIZES)
def test_swapping_the_runs_swaps_the_blocks(left, right):
    swapped = [(block.replayed, block.recorded, block.is_set) for block in blocks(right, left)]
    assert [(block.recorded, block.replayed, block.is_set) for block in blocks(left, right)] == swapped


# -- pairs ---------------------------------------------------------------------


def test_outside_a_set_calls_are_paired_by_place():
    calls = grouped([1, 2])
    (block,) = trajectory.blocks(calls, grouped([2, 1]))
    assert trajectory.pairs(block, calls, calls) == [Pair(0, 0), Pair(1, 1), Pair(2, 2)]


def test_equal_calls_find_each_other_in_any_order():
    left = [call(path="a"), call("grep", q="x"), call(path="b")]
    assert all(one == other for one, other in set_pairs(left, left[::-1]))


def test_an_exact_match_is_never_given_to_a_call_that_only_resembles_it():
    left = [call(path="a"), call(path="a", limit=1)]
    right = [call(path="a", limit=1), call(path="a")]
    assert all(one == other for one, other in set_pairs(left, right))


def test_changed_arguments_are_paired_by_nearness_and_not_by_place():
    left = [call(path="src/one.py"), call(path="tests/two.py")]
    right = [call(path="./tests/two.py"), call(path="./src/one.py")]
    assert set_pairs(left, right) == {
        (("read", '{"path":"src/one.py"}'), ("read", '{"path":"./src/one.py"}')),
        (("read", '{"path":"tests/two.py"}'), ("read", '{"path":"./tests/two.py"}')),
    }


def test_the_assignment_is_best_in_sum_where_taking_the_nearest_first_is_not():
    # "m1" is nearest to "m1x", which would leave "m1xy" with "q": 1 + 4 characters for 2 + 1.
    found = set_pairs([call(p="m1"), call(p="m1xy")], [call(p="m1x"), call(p="q")])
    assert (("read", '{"p":"m1xy"}'), ("read", '{"p":"m1x"}')) in found


def test_one_name_is_paired_before_two_different_ones():
    found = set_pairs([call("read", path="a"), call("grep", q="x")], [call("ls"), call("read", path="z")])
    assert (("read", '{"path":"a"}'), ("read", '{"path":"z"}')) in found


def test_a_call_too_many_is_paired_with_nobody():
    assert (None, ("ls", "{}")) in set_pairs([call(path="a")], [call("ls"), call(path="a")])


def test_a_denied_call_meets_the_denied_one_among_equals():
    left = at(1, call(path="a", cause="denied_by_person"), call(path="a"))
    right = at(1, call(path="a"), call(path="a", cause="denied_by_person"))
    (block,) = trajectory.blocks(left, right)
    assert sorted((pair.recorded, pair.replayed) for pair in trajectory.pairs(block, left, right)) == [
        (0, 1),
        (1, 0),
    ]


@FEW
@given(CALLS, CALLS, st.randoms(use_true_random=False))
def test_the_pairing_does_not_depend_on_the_order_within_a_response(left, right, draw):
    shuffled = draw.sample(right, len(right))
    if left and right:
        assert set_pairs(left, right) == set_pairs(draw.sample(left, len(left)), shuffled)


@FEW
@given(CALLS, CALLS)
def test_every_call_of_a_set_is_in_exactly_one_pair(left, right):
    if left and right:
        left, right = at(1, *left), at(1, *right)
        found = [
            pair for block in trajectory.blocks(left, right) for pair in trajectory.pairs(block, left, right)
        ]
        assert sorted(pair.recorded for pair in found if pair.recorded is not None) == list(range(len(left)))
        assert sorted(pair.replayed for pair in found if pair.replayed is not None) == list(range(len(right)))


def test_past_eight_changed_calls_pairing_is_greedy_and_still_complete():
    left = [call(path=f"dir{n}/file.py", deep=[n]) for n in range(40)]
    right = [call(path=f"./dir{n}/file.py", deep=[n]) for n in range(40)]
    random.Random(7).shuffle(right)
    found = set_pairs(left, right)
    assert len(found) == 40
    assert sum(one[1].replace('"dir', '"./dir') == other[1] for one, other in found) == 40
