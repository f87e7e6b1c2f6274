"""Metrics: six costs of one run, and when there is no value."""

from fractions import Fraction

import pytest
from made_stats import stats

from githarness.measure import metrics
from githarness.measure.metrics import Metric
from githarness.model.session import STOP_CAUSES


def test_the_set_of_metrics_is_closed():
    assert [str(metric) for metric in Metric] == [
        "ended_on_failed_call",
        "tool_error_rate",
        "cut_short",
        "compactions",
        "turns",
        "malformed_args",
    ]


def test_a_rate_is_an_exact_fraction():
    assert Metric.TOOL_ERROR_RATE.of(stats(tool_calls=3, tool_errors=1)) == Fraction(1, 3)


def test_a_rate_without_calls_is_undefined_and_not_zero():
    assert Metric.TOOL_ERROR_RATE.of(stats()) is None


def test_calls_of_unknown_outcome_leave_the_denominator():
    assert Metric.TOOL_ERROR_RATE.of(stats(tool_calls=4, tool_errors=1, tool_unknown=2)) == Fraction(1, 2)


def test_a_rate_over_nothing_but_unknown_outcomes_is_undefined():
    assert Metric.TOOL_ERROR_RATE.of(stats(tool_calls=2, tool_unknown=2)) is None


def test_denied_calls_are_no_errors_and_stay_in_the_denominator():
    assert Metric.TOOL_ERROR_RATE.of(stats(tool_calls=4, tool_errors=1, tool_denied=2)) == Fraction(1, 4)


@pytest.mark.parametrize(("flag", "value"), [(True, 1), (False, 0), (None, None)])
def test_ending_on_a_failed_call_has_three_states(flag, value):
    assert Metric.ENDED_ON_FAILED_CALL.of(stats(ended_on_failed_call=flag)) == value


def test_the_harness_cut_a_run_short_in_five_of_the_known_ways():
    cut = {cause for cause in STOP_CAUSES if metrics.is_cut_short(cause)}
    assert cut == {"max_turns", "output_token_budget", "cost_budget", "loop", "no_output"}


@pytest.mark.parametrize(
    ("cause", "value"), [("max_turns", 1), ("interrupted", 0), ("api_error", 0), (None, None)]
)
def test_the_cost_of_being_cut_short_is_unknown_where_the_end_is_unrecorded(cause, value):
    assert Metric.CUT_SHORT.of(stats(stop_cause=cause)) == value


def test_an_unrecorded_end_is_not_called_cut_short():
    assert metrics.is_cut_short(None) is False


@pytest.mark.parametrize(
    ("metric", "field"), [("compactions", "compactions"), ("malformed_args", "malformed_args")]
)
def test_a_count_that_was_never_kept_is_unknown_and_not_zero(metric, field):
    assert Metric(metric).of(stats(**{field: None})) is None
    assert Metric(metric).of(stats(**{field: 2})) == 2


def test_the_metric_turns_counts_model_responses():
    assert Metric.TURNS.of(stats(turns=2, steps=7)) == 7


def test_headroom_is_the_cost_and_an_unknown_cost_comes_last():
    assert Metric.COMPACTIONS.headroom(stats(compactions=2)) == 2
    assert Metric.COMPACTIONS.headroom(stats(compactions=None)) == 0


def test_every_metric_says_what_it_counts_and_when_it_has_no_value():
    assert all(metric.label and metric.definition for metric in Metric)
