"""The bridge: interventions become bounded bumps, guidance, or a person's work."""

import pytest
from made_state import COMMIT, DEFAULT, saw, state

from githarness.measure.interventions import Layer, Trigger
from githarness.measure.metrics import Metric
from githarness.propose import bridge, derivation, mutation, patch
from githarness.propose.overlay import Entry
from githarness.propose.patch import make

RETRIED = saw(Trigger.RETRIED, evidence=3)
EXHAUSTED = saw(Trigger.REPLAN_EXHAUSTED, "proposal:p1", 2)
REJECTED = saw(Trigger.REJECTED, "edit_file", 2)
WRONG_CALL = saw(Trigger.FAILED, "tool_x", 4, Layer.ACTION_REALIZATION)


def patches(*interventions, of=None):
    return [one.patch for one in bridge.bridge(interventions, of or state()).drafts]


def reasons(*interventions, of=None):
    return [one.reason for one in bridge.bridge(interventions, of or state()).deferred]


def test_trajectory_maps_onto_knobs_environment_onto_guidance_and_the_rest_onto_a_person():
    found = bridge.bridge([RETRIED, EXHAUSTED, REJECTED, WRONG_CALL], state())
    declaration = state().declaration
    assert [derivation.component(one.patch, declaration) for one in found.drafts] == [
        "retry_config",
        "planning_config",
        "prompt",
    ]
    assert [one.intervention for one in found.deferred] == [WRONG_CALL]


def test_retry_thrash_raises_retries_by_the_evidence():
    assert patches(RETRIED) == [make(set={"max_retries": 6})]


@pytest.mark.parametrize(
    "trigger", [one for one in Trigger if one not in {Trigger.RETRIED, Trigger.REJECTED}]
)
def test_any_other_trajectory_trouble_raises_replans(trigger):
    target = "completion-claim" if trigger is Trigger.UNGROUNDED else "run_command"
    assert patches(saw(trigger, target, 2)) == [make(set={"planning_max_replans": 4})]


@pytest.mark.parametrize(("evidence", "raised"), [(0, 4), (1, 4), (4, 7), (5, 7), (4_000_000_000, 7)])
def test_a_bump_is_one_to_four_whatever_the_evidence(evidence, raised):
    assert patches(saw(Trigger.RETRIED, evidence=evidence)) == [make(set={"max_retries": raised})]


def test_a_bump_is_relative_to_what_is_in_force():
    assert patches(RETRIED, of=state(knobs={"max_retries": 5})) == [make(set={"max_retries": 8})]


def test_a_bump_is_clamped_at_the_declared_bound():
    assert patches(RETRIED, of=state(knobs={"max_retries": 8})) == [make(set={"max_retries": 10})]


def test_at_the_bound_nothing_is_proposed():
    at_bound = state(knobs={"max_retries": 10})
    assert patches(RETRIED, of=at_bound) == []
    assert reasons(RETRIED, of=at_bound) == ["max_retries is at its bound of 10"]


def test_rounds_cannot_ratchet_without_end():
    of, rounds = state(), 0
    while change := patches(saw(Trigger.RETRIED, evidence=9), of=of):
        of, rounds = patch.apply(change[0], of), rounds + 1
    assert (of.knobs, rounds) == ({"max_retries": 10}, 2)


def test_equal_bumps_collapse_by_fingerprint():
    assert len(patches(saw(Trigger.FAILED, "t"), saw(Trigger.FAILED, "t"), saw(Trigger.FAILED, "u"))) == 1


def test_every_distinct_bump_is_proposed():
    assert patches(saw(Trigger.FAILED, "a", 2), saw(Trigger.FAILED, "b", 1)) == [
        make(set={"planning_max_replans": 4}),
        make(set={"planning_max_replans": 3}),
    ]


def test_a_knob_that_is_not_declared_is_left_to_a_person():
    bare = state(harness="version = 1\n")
    assert "max_retries is not declared" in reasons(RETRIED, of=bare)[0]


def test_a_knob_without_a_value_is_not_counted_from_zero():
    bare = state(harness=DEFAULT.replace("default = 3\n", ""))
    assert reasons(RETRIED, of=bare) == ["max_retries has no value to start from"]


def test_an_environment_diagnosis_appends_a_line_of_its_own_words():
    (change,) = patches(REJECTED)
    assert change.add_guidance == (bridge.guidance_line(REJECTED),)
    assert REJECTED.wording in change.add_guidance[0]
    assert "recurring: rejected edit_file" in change.add_guidance[0]


def test_guidance_that_is_in_force_stays_beside_the_new_line():
    of = state(overlay=(Entry(1, "Approved before."),))
    texts = [entry.text for entry in patch.apply(patches(REJECTED, of=of)[0], of).overlay]
    assert texts == ["Approved before.", bridge.guidance_line(REJECTED)]


def test_two_diagnoses_in_one_round_both_survive():
    first, second = patches(REJECTED, saw(Trigger.REJECTED, "bash"))
    assert len(patch.apply(second, patch.apply(first, state())).overlay) == 2


def test_a_line_already_in_force_proposes_nothing():
    applied = patch.apply(patches(REJECTED)[0], state())
    assert patches(REJECTED, of=applied) == []
    assert reasons(REJECTED, of=applied) == [bridge.IN_FORCE]


def test_the_same_diagnosis_counted_again_is_the_same_line():
    assert patches(saw(Trigger.REJECTED, "edit_file", 2)) == patches(saw(Trigger.REJECTED, "edit_file", 90))


def test_guidance_needs_a_person_and_a_bump_does_not():
    declaration = state().declaration
    assert derivation.needs_person(patches(REJECTED)[0], declaration)
    assert not derivation.needs_person(patches(RETRIED)[0], declaration)


def test_no_fixed_wording_trips_over_a_guarded_word():
    kinds = [derivation.change_class(one, state().declaration) for one in patches(REJECTED)]
    assert kinds == ["prose"]


def test_every_draft_becomes_a_document_that_can_be_falsified():
    for one in bridge.bridge([RETRIED, EXHAUSTED, REJECTED], state()).drafts:
        contract = mutation.build(one, state(), commit=COMMIT).contract
        assert "A/B" in contract.falsifying_evaluation
        assert contract.metric in contract.falsifying_evaluation


def test_a_document_says_from_what_to_what_and_on_how_much_evidence():
    document = mutation.build(bridge.bridge([RETRIED], state()).drafts[0], state(), commit=COMMIT)
    assert "raise max_retries from 3 to 6" in document.contract.predicted_improvement
    assert document.evidence.counters == {"occurrences": 3}


@pytest.mark.parametrize(
    ("one", "metric"),
    [
        (RETRIED, Metric.TOOL_ERROR_RATE),
        (REJECTED, Metric.TURNS),
        (EXHAUSTED, Metric.CUT_SHORT),
        (saw(Trigger.FAILED), Metric.ENDED_ON_FAILED_CALL),
    ],
)
def test_each_trigger_predicts_the_cost_that_it_shows_in(one, metric):
    assert bridge.bridge([one], state()).drafts[0].metric == metric


def test_interventions_without_a_knob_are_said_to_need_human_design():
    found = bridge.bridge([WRONG_CALL], state())
    assert found.drafts == ()
    assert "1 need human design" in found.note


def test_nothing_diagnosed_proposes_nothing():
    assert bridge.bridge([], state()).note == "0 proposed, 0 need human design, 0 have nothing left to change"
