"""Stop causes that no record states: loops, and runs that fell silent."""

import msgspec
import pytest
from made_run import at, call, session

from githarness.measure import counters, stopcause
from githarness.model.session import Turn


def many(times, *names):
    return [call(name, path="a") for _ in range(times) for name in names]


def ended(*calls, **fields):
    return stopcause.inferred(session(*calls, **{"steps": len(calls), "final_text": "so", **fields}))


def test_the_same_call_five_times_in_a_row_is_a_loop():
    assert ended(*many(5, "read")) == "loop"


def test_four_times_is_not_yet_one():
    assert ended(*many(4, "read")) is None


def test_equal_arguments_are_what_makes_calls_the_same():
    assert ended(*[call("read", path=str(n)) for n in range(9)]) is None


def test_white_space_at_the_ends_of_an_argument_makes_no_other_call():
    assert ended(*[call("run", command="make" + " " * n) for n in range(5)]) == "loop"


@pytest.mark.parametrize("lap", [("read", "edit"), ("read", "edit", "test")])
def test_a_short_cycle_gone_through_three_times_is_a_loop(lap):
    assert ended(*many(3, *lap)) == "loop"
    assert ended(*many(2, *lap)) is None


def test_a_cycle_of_four_is_a_way_of_working():
    assert ended(*many(4, "read", "edit", "build", "test")) is None


def test_repeats_that_the_run_got_out_of_are_no_loop():
    assert ended(*many(7, "read"), call("write")) is None


def test_equal_parallel_calls_are_one_response_and_no_loop():
    assert ended(*at(1, *many(6, "read"))) is None


def test_equal_responses_of_parallel_calls_are_a_loop_in_any_order():
    pairs = [("read", "list"), ("list", "read"), ("read", "list"), ("list", "read"), ("read", "list")]
    steps = [one for step, pair in enumerate(pairs, 1) for one in at(step, *many(1, *pair))]
    assert ended(*steps) == "loop"


def test_a_person_who_speaks_begins_the_count_anew():
    said = (Turn(text="go", calls=0), Turn(text="again", calls=3))
    spoken = msgspec.structs.replace(session(*many(6, "read"), final_text="so"), turns=said, since=3)
    assert stopcause.inferred(spoken) is None


def test_arguments_that_were_not_kept_are_equal_to_none():
    assert ended(*[call("read", raw=None) for _ in range(9)]) is None


def test_a_call_of_unknown_arguments_begins_the_count_anew():
    assert ended(*many(3, "read"), call("read", raw=None), *many(3, "read")) is None


def test_a_run_without_a_word_is_no_output():
    assert ended(call("read"), final_text=None) == "no_output"


def test_a_run_that_was_read_without_its_texts_had_a_word_all_the_same():
    assert ended(call("read"), final_text="") is None


def test_a_run_that_stopped_inside_a_call_is_not_called_silent():
    assert ended(call("read", output=None, cause="unknown"), final_text=None) is None


def test_a_run_that_no_model_responded_in_is_unknown():
    assert ended(final_text=None, steps=0) is None


@pytest.mark.parametrize("cause", ["completed", "interrupted", "max_turns"])
def test_a_cause_that_is_there_is_never_overridden(cause):
    assert ended(*many(9, "read"), final_text=None, stop_cause=cause) is None


def test_an_inferred_cause_is_marked_and_counted():
    settled = stopcause.settled(session(*many(5, "read")))
    counts = counters.count(settled)
    assert (counts.stop_cause, counts.stop_inferred) == ("loop", True)


def test_a_session_with_nothing_to_infer_comes_back_as_it_is():
    same = session(call("read"), stop_cause="completed")
    assert stopcause.settled(same) is same
