"""Laws of replays: rates are exact, a single draw is no regression, chance is asked first."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_run import replay

from githarness.measure import replays
from githarness.measure.replays import pass_all, pass_at

FEW = settings(max_examples=60, deadline=None)
SAMPLES = st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))

# How many of four runs passed, over fifty tasks of a public airline benchmark: the only
# counts that give the four published rates.
TASKS = [(4, 0)] * 14 + [(4, 1)] * 12 + [(4, 2)] * 10 + [(4, 3)] * 4 + [(4, 4)] * 10


def rounded(interval, digits=4):
    return (round(float(interval.low), digits), round(float(interval.high), digits))


def left_at(*places):
    return [replay(place) for place in places]


# -- rates ---------------------------------------------------------------------


def test_the_rate_that_all_of_k_pass_is_the_published_one():
    found = [replays.mean(TASKS, k, pass_all) for k in (1, 2, 3, 4)]
    assert found == [Fraction(21, 50), Fraction(41, 150), Fraction(11, 50), Fraction(1, 5)]


def test_the_rate_that_one_of_k_passes_is_the_published_one():
    found = [replays.mean(TASKS, k, pass_at) for k in (1, 2, 3, 4)]
    assert found == [Fraction(21, 50), Fraction(17, 30), Fraction(33, 50), Fraction(18, 25)]


@FEW
@given(SAMPLES, st.integers(1, 12))
def test_both_rates_are_what_drawing_every_subset_gives(sample, k):
    n, passed = sample
    draws = [sum(place < passed for place in chosen) for chosen in combinations(range(n), k)]
    if draws:
        assert pass_at(n, passed, k) == Fraction(sum(hits > 0 for hits in draws), len(draws))
        assert pass_all(n, passed, k) == Fraction(sum(hits == k for hits in draws), len(draws))


def test_more_than_were_run_is_unknown_and_not_zero():
    assert pass_at(3, 3, 4) is None
    assert pass_all(3, 3, 4) is None


@pytest.mark.parametrize(("n", "passed", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_a_sample_that_cannot_be_is_refused(n, passed, k):
    with pytest.raises(ValueError, match="no such sample"):
        pass_at(n, passed, k)


def test_tasks_with_too_few_runs_leave_the_mean_and_none_leave_it_unknown():
    assert replays.mean([(1, 1), (2, 1)], 2, pass_at) == 1
    assert replays.mean([(1, 1)], 2, pass_at) is None


# -- bounds --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "n", "bounds"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_bounds_are_those_of_the_published_table(passed, n, bounds):
    assert rounded(replays.wilson(n, passed)) == bounds


def test_bounds_are_exact_millionths_on_every_machine():
    found = replays.wilson(5, 5)
    assert (found.low, found.high) == (Fraction(565517, 10**6), Fraction(1))


def test_without_a_replay_there_is_no_bound():
    assert (replays.wilson(0, 0), replays.floor(0, 0)) == (None, None)


def test_five_of_five_excludes_only_rates_below_fifty_five_percent():
    assert replays.floor(5, 5) == Fraction(549280, 10**6)
    assert replays.floor(20, 20) == Fraction(860891, 10**6)


@FEW
@given(SAMPLES)
def test_the_rate_seen_lies_within_its_bounds_and_above_its_floor(sample):
    n, passed = sample
    found = replays.wilson(n, passed)
    assert found.low <= Fraction(passed, n) <= found.high
    assert replays.floor(n, passed) <= Fraction(passed, n)


@FEW
@given(SAMPLES)
def test_bounds_of_failures_mirror_those_of_passes(sample):
    n, passed = sample
    one, other = replays.wilson(n, passed), replays.wilson(n, n - passed)
    assert (one.low, one.high) == (1 - other.high, 1 - other.low)


def test_bounds_for_k_are_those_of_one_carried_through_the_power():
    one, three = replays.estimate(10, 5, 1), replays.estimate(10, 5, 3)
    assert one.any_bounds == one.all_bounds == replays.wilson(10, 5)
    assert rounded(three.all_bounds) == (0.0132, 0.4449)
    assert rounded(three.any_bounds) == (0.5551, 0.9868)


def test_an_estimate_beyond_the_replays_has_neither_rate_nor_bounds():
    found = replays.estimate(2, 2, 3)
    assert (found.any_passes, found.any_bounds, found.all_pass, found.all_bounds) == (None,) * 4


# -- the curve -----------------------------------------------------------------


def test_the_curve_falls_after_the_call_at_which_a_replay_left():
    points = replays.curve(left_at(0, 2, None, None))
    assert [(point.after, point.share) for point in points] == [
        (0, 1),
        (1, Fraction(3, 4)),
        (3, Fraction(1, 2)),
    ]
    assert [replays.share_after(points, calls) for calls in (0, 2, 9)] == [1, Fraction(3, 4), Fraction(1, 2)]


def test_a_replay_cut_by_the_recording_counts_until_then_and_not_beyond():
    cut = replay(4, "off_tape")
    points = replays.curve([cut, replay(6), replay(None)])
    assert points[-1].at_risk == 2
    assert replays.share_after(points, 7) == Fraction(1, 2)


def test_a_replay_cut_for_want_of_a_result_had_still_made_that_call():
    points = replays.curve([replay(4, "off_tape"), replay(4)])
    assert (points[-1].after, points[-1].share) == (5, Fraction(1, 2))


def test_no_replay_has_no_curve_and_no_share():
    assert replays.curve([]) == ()
    assert replays.share_after((), 3) is None


@FEW
@given(st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=9))
def test_without_cuts_the_curve_is_the_plain_share_of_those_still_agreeing(places):
    points = replays.curve(left_at(*places))
    for calls in range(11):
        agreeing = sum(place is None or place >= calls for place in places)
        assert replays.share_after(points, calls) == Fraction(agreeing, len(places))


# -- forks ---------------------------------------------------------------------


def test_forks_are_counted_by_place_and_kind_the_most_frequent_first():
    found = replays.forks([replay(3), replay(1), replay(3), replay(3, "missing"), replay(None)])
    assert [(fork.index, fork.kind, fork.count) for fork in found] == [
        (3, "tool", 2),
        (1, "tool", 1),
        (3, "missing", 1),
    ]
    assert (found[2].expected, found[2].actual) == ("read", None)


def test_the_table_does_not_depend_on_the_order_of_replays():
    several = [replay(3), replay(1), replay(1, "missing"), replay(10, "extra")]
    assert replays.forks(several) == replays.forks(several[::-1])


def test_a_replay_cut_by_the_recording_is_no_fork():
    assert replays.forks([replay(4, "off_tape")]) == ()


# -- the band ------------------------------------------------------------------


def test_the_chance_is_the_share_of_labellings_at_least_as_bad():
    found = replays.band(left_at(0, 0), left_at(5, 5, 5))
    assert (found.chance, found.least) == (Fraction(1, 10), Fraction(1, 10))


@FEW
@given(st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=4), st.integers(1, 4))
def test_the_chance_is_what_drawing_every_labelling_gives(places, ours):
    everyone = left_at(*places, *range(ours))
    depths = [10 if one.verdict is None else one.verdict.index for one in everyone]
    scores = [sum((a > b) - (b > a) for b in depths) for a in depths]
    draws = [sum(chosen) for chosen in combinations(scores, len(places))]
    expected = Fraction(sum(draw <= sum(scores[: len(places)]) for draw in draws), len(draws))
    assert replays.band(everyone[: len(places)], everyone[len(places) :]).chance == expected


def test_too_few_replays_can_tell_nothing_whatever_they_do():
    assert replays.band(left_at(0, 0), left_at(None, None)).exceeded is None


def test_replays_that_leave_much_earlier_than_the_same_harness_exceed_its_band():
    assert replays.band(left_at(0, 0, 0, 0, 1), left_at(None, 8, 7, None, 9)).exceeded is True


def test_replays_that_leave_as_the_same_harness_does_stay_within_it():
    assert replays.band(left_at(0, 1, 2, 5, None), left_at(0, 1, 2, 5, None)).exceeded is False


def test_replays_that_agree_longer_never_exceed_the_band():
    assert replays.band(left_at(*[None] * 6), left_at(*[0] * 6)).chance == 1


def test_a_band_needs_both_kinds():
    assert replays.band([], left_at(1)) is None
    assert replays.band(left_at(1), []) is None


def test_past_fifty_the_first_ones_are_used():
    found = replays.band(left_at(*[0] * 60), left_at(*[None] * 50))
    assert (found.replays, found.same, found.exceeded) == (50, 50, True)


# -- the summary ---------------------------------------------------------------


def test_replays_that_all_keep_to_the_recording_match_with_a_floor():
    found = replays.summarise(left_at(*[None] * 5))
    assert (found.verdict, found.on_tape, found.replays) == ("matches", 5, 5)
    assert found.note == (
        "5 of 5 replays made the recorded calls. From so many it follows, nineteen times in twenty, "
        "that at least 54.9 % of all replays would."
    )


def test_replays_that_asked_for_something_else_are_counted_apart_and_did_not_leave():
    found = replays.summarise([replay(), replay(2, kind="arguments")])
    assert (found.verdict, found.on_tape, found.other_arguments) == ("matches", 2, 1)
    assert found.note.startswith("2 of 2 replays made the recorded calls, 1 of them with other arguments. ")


def test_one_divergent_replay_is_a_draw_and_not_a_regression():
    found = replays.summarise(left_at(0))
    assert found.verdict == "unknown"
    assert "no regression by itself" in found.note


def test_without_the_same_harness_chance_is_not_ruled_out():
    found = replays.summarise(left_at(0, 0, 0, None))
    assert found.verdict == "unknown"
    assert found.note.endswith("chance is not ruled out.")


def test_the_band_decides_between_chance_and_more():
    same = left_at(None, None, None, 9, 8)
    assert replays.summarise(left_at(0, 0, 0, 0, 1), same=same).verdict == "exceeds_band"
    assert replays.summarise(left_at(9, None, None, None, 8), same=same).verdict == "within_band"


def test_too_few_replays_for_the_band_are_said_to_be_too_few():
    found = replays.summarise(left_at(0, 0), same=left_at(None))
    assert (found.verdict, found.band.exceeded) == ("unknown", None)
    assert found.note.endswith("too few replays to tell this from chance.")


def test_replays_that_were_only_cut_are_off_the_tape_and_in_no_rate():
    found = replays.summarise([replay(4, "off_tape"), replay(4, "off_tape")])
    assert (found.verdict, found.undecided, found.bounds, found.floor) == ("off_tape", 2, None, None)
    assert found.estimates == ()


def test_an_outcome_nobody_wrote_down_keeps_replays_from_matching():
    assert replays.summarise([replay(None, unknown_outcomes=1)]).verdict == "unknown"


def test_no_replays_are_unknown_and_no_rate():
    found = replays.summarise([])
    assert (found.verdict, found.bounds, found.curve, found.forks) == ("unknown", None, (), ())
    assert found.note == "No replay could be followed to a call that decides anything."


def test_rates_are_given_for_each_k_up_to_the_replays_there_are_or_those_asked_for():
    assert [one.k for one in replays.summarise(left_at(*[None] * 3)).estimates] == [1, 2, 3]
    assert [one.k for one in replays.summarise(left_at(*[None] * 12)).estimates] == list(range(1, 9))
    assert [one.k for one in replays.summarise(left_at(None), ks=[5]).estimates] == [5]


def test_nothing_in_a_summary_is_a_float():
    found = replays.summarise(left_at(0, None, 3), same=left_at(None, 2, 2))
    numbers = [found.bounds.low, found.floor, found.band.chance, *(point.share for point in found.curve)]
    assert all(isinstance(number, Fraction) for number in numbers)
