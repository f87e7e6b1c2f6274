"""A corpus: runs selected, counted once, and summed with their denominators."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_stats import gathered, manifest, row, rows, stats

from githarness.measure import corpus
from githarness.measure.corpus import Rate, Selection
from githarness.measure.metrics import Metric
from githarness.model.manifest import Cited


def kept(some, **wanted):
    return [one.run for one in gathered(*some, selection=Selection(**wanted)).rows]


def test_rows_stand_newest_first():
    some = [row(run=name, started=f"2026-11-0{name}T00:00:00Z") for name in "213"]
    assert kept(some) == ["3", "2", "1"]


def test_a_run_that_does_not_say_when_it_started_counts_as_the_oldest():
    assert kept([row(run="a", started=None), row(run="b")]) == ["b", "a"]


def test_the_bound_keeps_the_newest_and_counts_the_rest():
    some = [row(run=name, started=f"2026-11-0{name}T00:00:00Z") for name in "123"]
    bounded = gathered(*some, limit=2)
    assert [one.run for one in bounded.rows] == ["3", "2"]
    assert bounded.excluded == {"over the limit": 1}


def test_every_run_that_was_looked_at_is_a_session_read():
    found = gathered(*rows(3), *rows(2, model="x"), selection=Selection(model="x"), unreadable=4)
    assert (found.runs, found.sessions_read, found.unreadable) == (2, 5, 4)


@pytest.mark.parametrize(
    ("field", "match", "other"),
    [
        ("model", "opus", "opus-2"),
        ("agent", "codex", "code"),
        ("label", "nightly", "night"),
        ("started", "2026-11-02T00:00:00Z", "2026-10-31T00:00:00Z"),
        ("state", "ab12", "ab3"),
        ("project", "/home/p/inside", "/home/project"),
    ],
)
def test_a_selection_keeps_what_matches_and_names_what_it_left_out(field, match, other):
    asked = {"started": ("since", "2026-11"), "state": ("state", "ab1"), "project": ("project", "/home/p/")}
    name, wanted = asked.get(field, (field, match))
    found = gathered(row(**{field: match}), row(**{field: other}), selection=Selection(**{name: wanted}))
    assert [getattr(one, field) for one in found.rows] == [match]
    assert found.excluded == {name: 1}


@pytest.mark.parametrize("name", ["model", "label", "since", "surface", "state", "project"])
def test_an_unknown_value_matches_no_selection(name):
    unknown = row(model=None, label=None, started=None, state=None, project=None)
    assert kept([unknown], **{name: ""}) == []


def test_a_run_matches_a_surface_that_it_was_under_at_any_time():
    both = row(surfaces=("aa11", "bb22"))
    assert kept([both, row(surfaces=("cc33",))], surface="bb") == [both.run]


def test_a_row_that_fails_twice_is_counted_once_and_under_no_single_field():
    found = gathered(row(model="x", agent="y"), selection=Selection(model="m", agent="agent"))
    assert found.excluded == {"several": 1}


def test_the_same_recording_under_two_runs_is_counted_once():
    early = row(recording="d1", started="2026-11-01T00:00:00Z")
    late = row(recording="d1", started="2026-11-02T00:00:00Z")
    found = gathered(late, early)
    assert found.rows == (early,)
    assert found.excluded == {"copied": 1}


def test_a_run_of_nothing_but_copied_records_is_left_out():
    copy = corpus.row(manifest(copied=4, counts={"steps": 0, "turns": 0}))
    assert gathered(copy).excluded == {"copied": 1}


def test_a_run_in_which_nothing_happened_is_empty_and_no_copy():
    assert not corpus.row(manifest(counts={"steps": 0, "turns": 0})).is_copy


def test_a_run_that_went_on_after_what_it_copied_counts():
    assert not corpus.row(manifest(copied=4, counts={"steps": 1})).is_copy


@settings(max_examples=30)
@given(st.permutations(range(6)))
def test_the_order_in_which_rows_come_changes_nothing(order):
    some = [row(run=f"r{n}", recording=f"d{n % 4}", started=f"2026-11-0{n // 2 + 1}") for n in order]
    assert kept(some) == ["r3", "r2", "r1", "r0"]


def test_a_run_is_of_the_last_model_in_force():
    assert corpus.row(manifest(models=("first", "second"))).model == "second"
    assert corpus.row(manifest(models=())).model is None


def test_a_row_names_the_surfaces_that_its_manifest_cites():
    cited = [Cited(position=0, digest="a"), Cited(position=4, digest="b"), Cited(position=9, digest="a")]
    found = corpus.row(manifest(surfaces=tuple(cited)))
    assert (found.surfaces, found.surface) == (("a", "b"), "a")


def test_two_machines_that_disagree_leave_surface_and_state_unknown():
    found = corpus.row(manifest(surfaces={"conflict": []}, state={"conflict": []}))
    assert (found.surface, found.state) == (None, None)


def test_a_row_names_the_state_that_its_run_was_under():
    assert corpus.row(manifest(state={"ledger": "l", "commit": "c", "state": "s1"})).state == "s1"


def test_better_counts_of_the_same_run_replace_those_of_the_manifest():
    assert corpus.row(manifest(), stats=stats(stop_cause="loop")).stats.stop_cause == "loop"


def test_errors_are_out_of_the_calls_of_known_outcome():
    found = gathered(
        row(counts={"tool_calls": 5, "tool_errors": 2, "tool_unknown": 3}), row(counts={"tool_calls": 2})
    )
    assert (found.tool_calls, found.tool_unknown) == (7, 3)
    assert found.tool_error_rate == Rate(2, 4)


def test_a_rate_of_an_empty_corpus_is_unknown():
    empty = gathered()
    assert empty.tool_error_rate.value is empty.cut_short.value is empty.ended_on_failed_call.value is None


def test_runs_without_calls_still_define_the_rates_over_runs():
    found = gathered(*rows(3), row(counts={"stop_cause": "max_turns"}))
    assert found.tool_error_rate.value is None
    assert found.cut_short.value == Fraction(1, 4)


def test_runs_that_do_not_say_how_they_ended_leave_that_denominator():
    found = gathered(row(counts={"stop_cause": None}), row(counts={"stop_cause": "loop"}))
    assert found.cut_short == Rate(1, 1)


def test_runs_whose_last_outcome_is_unknown_leave_that_denominator():
    flags = (True, None, False)
    found = gathered(*(row(counts={"ended_on_failed_call": flag}) for flag in flags))
    assert found.ended_on_failed_call == Rate(1, 2)


@pytest.mark.parametrize(("counts", "total"), [((2, None), 2), ((None, None), None), ((), 0), ((0, 1), 1)])
def test_a_sum_is_unknown_only_where_no_run_says_anything(counts, total):
    some = [row(counts={"compactions": count, "malformed_args": count}) for count in counts]
    assert (gathered(*some).compactions, gathered(*some).malformed_args) == (total, total)


def test_denied_and_cancelled_calls_are_counted_apart():
    found = gathered(row(counts={"tool_calls": 5, "tool_denied": 2, "tool_cancelled": 3}))
    assert (found.tool_denied, found.tool_cancelled, found.tool_errors) == (2, 3, 0)


def test_stop_causes_keep_unrecorded_apart_and_the_most_frequent_first():
    causes = ("completed", None, None, "api_error")
    found = gathered(*(row(counts={"stop_cause": cause}) for cause in causes))
    assert list(found.stop_causes.items()) == [(None, 2), ("api_error", 1), ("completed", 1)]


def test_a_cost_says_how_many_runs_have_any_out_of_those_that_say():
    found = gathered(*(row(counts={"compactions": count}) for count in (3, 0, None)))
    cost = found.metric_cost(Metric.COMPACTIONS)
    assert (cost.mean, cost.some, cost.defined) == (Fraction(3, 2), 1, 2)


def test_a_cost_that_no_run_defines_has_no_mean():
    cost = gathered(row()).metric_cost(Metric.TOOL_ERROR_RATE)
    assert (cost.mean, cost.some, cost.defined) == (None, 0, 0)


def test_parts_by_model_keep_what_the_whole_scan_read():
    parts = gathered(*rows(1, model="a"), *rows(2, model="b"), *rows(1, model=None), unreadable=7).by_model()
    assert [(model, part.runs) for model, part in parts.items()] == [("b", 2), ("a", 1), (None, 1)]
    assert {(part.sessions_read, part.unreadable) for part in parts.values()} == {(4, 7)}


def test_the_main_model_is_the_known_one_with_the_most_runs():
    assert gathered(*rows(3, model=None), *rows(1, model="b"), *rows(1, model="a")).main_model() == "a"
    assert gathered(*rows(3, model=None)).main_model() is None
