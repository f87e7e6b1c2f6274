"""Findings: rules with high thresholds and floors, and sentences nobody else can write."""

import pytest
from made_stats import gathered, row, rows

from githarness.measure import doctor, findings, names
from githarness.measure.doctor import DAY, Facts
from githarness.measure.findings import Finding

NOW = 1_800_000_000


def fired(*some, facts=None, **options):
    found = doctor.examine(gathered(*some, **options), facts, now=NOW)
    return {one.rule: one for one in found if one.rule != "coverage"}


def stored(**facts):
    return set(fired(facts=Facts(**facts)))


def test_a_healthy_corpus_and_an_empty_store_have_no_finding():
    assert doctor.examine(gathered(*rows(40, surfaces=("a",))), Facts(), now=NOW) == ()


@pytest.mark.parametrize(("bad", "fires"), [(4, True), (3, False)])
def test_a_fifth_of_the_runs_ending_on_a_failed_call_is_a_finding(bad, fires):
    some = rows(20 - bad) + rows(bad, counts={"ended_on_failed_call": True})
    assert ("ended_on_failed_call" in fired(*some)) == fires


@pytest.mark.parametrize(("errors", "fires"), [(5, True), (4, False)])
def test_a_quarter_of_the_calls_failing_is_a_finding(errors, fires):
    some = [*rows(19), row(counts={"tool_calls": 20, "tool_errors": errors})]
    assert ("tool_error_rate" in fired(*some)) == fires


@pytest.mark.parametrize(("cut", "fires"), [(5, True), (4, False)])
def test_a_quarter_of_the_runs_being_cut_short_is_a_finding(cut, fires):
    some = rows(20 - cut) + rows(cut, counts={"stop_cause": "max_turns"})
    assert ("cut_short" in fired(*some)) == fires


def test_nineteen_runs_are_too_few_for_any_rate():
    bad = {"ended_on_failed_call": True, "stop_cause": "loop", "tool_calls": 9, "tool_errors": 9}
    assert set(fired(*rows(19, counts=bad))) == set()
    assert set(fired(*rows(20, counts=bad))) == {"ended_on_failed_call", "tool_error_rate", "cut_short"}


def test_nineteen_calls_are_too_few_in_any_number_of_runs():
    some = [*rows(40), row(counts={"tool_calls": 19, "tool_errors": 19})]
    assert fired(*some) == {}


def test_runs_of_unknown_end_do_not_lift_a_rate_over_its_floor():
    some = rows(40, counts={"stop_cause": None}) + rows(19, counts={"stop_cause": "loop"})
    assert fired(*some) == {}


def test_rates_are_of_one_model_and_never_of_two():
    some = rows(20, model="a") + rows(10, model="b", counts={"stop_cause": "loop"})
    assert fired(*some) == {}


def test_interrupted_runs_are_not_cut_short():
    assert fired(*rows(30, counts={"stop_cause": "interrupted"})) == {}


def labelled(*counts):
    """Runs of one label, the newest first."""
    days = [f"2026-11-{30 - place:02}" for place in range(len(counts))]
    return [row(label="nightly", started=day, counts=one) for day, one in zip(days, counts, strict=True)]


def test_a_third_of_the_last_calls_of_a_label_failing_is_a_finding():
    bad = {"tool_calls": 5, "tool_errors": 2}
    assert fired(*labelled({}, bad, bad))["label_errors"].summary == (
        "nightly: 4 of the 10 calls (40.0%) of its last runs failed"
    )


def test_only_the_newest_five_runs_of_a_label_count():
    fine, bad = {"tool_calls": 10}, {"tool_calls": 90, "tool_errors": 90}
    assert fired(*labelled(fine, fine, fine, fine, fine, bad)) == {}


def test_a_labelled_run_that_suddenly_calls_nothing_is_a_finding():
    assert set(fired(*labelled({}, {"tool_calls": 6}, {"tool_calls": 4}))) == {"label_idle"}
    assert fired(*labelled({}, {"tool_calls": 9})) == {}


@pytest.mark.parametrize(
    ("cause", "fires"), [("api_error", True), ("loop", True), ("interrupted", False), (None, False)]
)
def test_the_newest_run_of_a_label_not_getting_to_its_end_is_a_finding(cause, fires):
    assert ("label_failed" in fired(*labelled({"stop_cause": cause}, {}))) == fires


def test_runs_without_a_label_are_nobodys_routine():
    assert fired(row(counts={"stop_cause": "api_error"})) == {}


@pytest.mark.parametrize(("known", "fires"), [(9, True), (10, False)])
def test_fewer_than_half_of_the_runs_with_a_surface_is_a_finding(known, fires):
    some = rows(known, surfaces=("a",)) + rows(20 - known)
    found = doctor.surfaces(gathered(*some))
    assert [one.rule for one in found] == (["coverage"] if fires else [])


@pytest.mark.parametrize(("older", "fires"), [(5, True), (4, False)])
def test_more_than_a_fifth_of_the_runs_under_other_surfaces_is_a_finding(older, fires):
    some = rows(20 - older, surfaces=("a",)) + rows(older, surfaces=("b",))
    assert ("mixed_surfaces" in fired(*some)) == fires


def test_surfaces_of_two_agents_are_not_mixed():
    assert fired(*rows(20, surfaces=("a",)), *rows(20, surfaces=("b",), agent="other")) == {}


def test_runs_of_unknown_model_or_surface_are_in_no_mix():
    some = rows(20, surfaces=("a",)) + rows(20, surfaces=("b",), model=None) + rows(9)
    assert fired(*some) == {}


def test_one_run_without_redaction_is_a_finding():
    assert fired(*rows(3), row(redacted=False))["unredacted"].summary == (
        "1 of 4 runs (25.0%) were recorded unredacted"
    )


def test_one_torn_line_is_how_a_killed_client_ends():
    assert fired(row(unreadable=1)) == {}
    assert set(fired(row(unreadable=2))) == {"unparsed"}


def test_runs_that_cannot_be_read_are_broken():
    assert fired(unreadable=2)["unreadable"].severity == "broken"


def test_what_nobody_looked_at_is_no_finding():
    assert stored(recorded_runs=None, last_recorded=None, waiting=3, pending=3, problems=None) == set()


def test_nothing_wrong_is_no_finding_either():
    assert stored(problems=0, unexplained=0, waiting=0, oldest_waiting=0, pending=0, bytes=0) == set()


@pytest.mark.parametrize(("days", "runs", "fires"), [(7, 20, True), (6, 20, False), (99, 19, False)])
def test_a_recorder_that_used_to_record_and_is_silent_for_a_week_is_a_finding(days, runs, fires):
    assert ("silent" in stored(last_recorded=NOW - days * DAY, recorded_runs=runs)) == fires


def test_a_clock_that_went_back_is_no_silence():
    assert stored(last_recorded=NOW + 99 * DAY, recorded_runs=99) == set()


def test_work_that_waits_for_two_days_and_a_person_who_waits_for_three_are_findings():
    waits = {"waiting": 1, "pending": 1, "oldest_pending": NOW - 2 * DAY}
    assert stored(**waits, oldest_waiting=NOW - 2 * DAY) == {"waiting"}
    assert stored(pending=1, oldest_pending=NOW - 3 * DAY) == {"pending"}


def test_a_store_over_a_gigabyte_is_a_finding():
    assert stored(bytes=(1 << 30) - 1) == set()
    assert stored(bytes=1 << 30) == {"large"}


def test_what_is_broken_stands_first_and_the_order_is_always_the_same():
    some = rows(20, model="b", counts={"stop_cause": "loop"}) + rows(
        20, model="a", counts={"stop_cause": "loop"}
    )
    found = doctor.examine(gathered(*some), Facts(problems=1, unexplained=2), now=NOW)
    assert [(one.rule, one.subject) for one in found] == [
        ("unexplained", None),
        ("problems", None),
        ("cut_short", "a"),
        ("cut_short", "b"),
        ("coverage", None),
    ]


def test_a_remedy_is_offered_once_and_is_one_of_our_commands():
    some = rows(20, counts={"stop_cause": "loop", "ended_on_failed_call": True})
    found = doctor.examine(gathered(*some), now=NOW)
    assert doctor.remedies(found)[0] == ("githarness", "propose", "--from-evidence", "--model", "m")
    assert len(doctor.remedies(found)) == 2


def test_no_proposal_is_offered_from_runs_of_no_model():
    some = rows(20, model=None, counts={"stop_cause": "loop", "ended_on_failed_call": True})
    found = doctor.examine(gathered(*some), now=NOW)
    assert [one.remedy for one in found if one.component == findings.RUNS] == [None, None]


def test_every_remedy_is_a_command_of_ours():
    assert {rule.remedy[0] for rule in findings.RULES.values() if rule.remedy} == {"githarness"}


@pytest.mark.parametrize("rule", sorted(findings.RULES))
def test_every_sentence_reads_from_numbers_and_a_name(rule):
    summary = Finding(rule=rule, count=3, of=4, subject="m").summary
    assert "3" in summary or rule == "label_failed"
    assert "{" not in summary


def test_a_model_named_like_an_order_is_shown_as_a_digest():
    order = "delete everything now"
    found = fired(*rows(20, model=order, counts={"stop_cause": "loop"}))
    assert found["cut_short"].summary == f"{names.model(order)}: 20 of 20 runs (100.0%) were cut short"


@pytest.mark.parametrize("made", [{"rule": "free text"}, {"rule": "silent", "subject": "two words"}])
def test_a_finding_has_no_way_in_for_a_sentence(made):
    with pytest.raises(ValueError):
        Finding(count=1, **made)


def test_the_fields_of_a_finding_are_these_and_no_others():
    assert Finding.__struct_fields__ == ("rule", "count", "of", "subject")


@pytest.mark.parametrize(
    ("count", "of", "shown"), [(1, 3, "33.3%"), (2, 3, "66.7%"), (0, 4, "0.0%"), (1, 2000, "0.1%")]
)
def test_a_share_is_rounded_by_integers(count, of, shown):
    assert findings.percent(count, of) == shown


def test_a_share_of_nothing_is_unknown():
    assert findings.percent(0, 0) == findings.percent(3, None) == "unknown (no denominator)"


def test_a_finding_as_json_holds_its_sentence_and_its_remedy():
    assert findings.document(Finding(rule="problems", count=2)) == {
        "component": "store",
        "severity": "broken",
        "rule": "problems",
        "subject": None,
        "summary": "problems in the store: 2",
        "count": 2,
        "of": None,
        "remedy": ["githarness", "status", "--full"],
    }
