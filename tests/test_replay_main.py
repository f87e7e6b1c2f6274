"""Replay: every step of main explained by what landed or was taken back, or named."""

import msgspec
import pytest
from made_ledger import PLACE, ROOT_COMMIT, Person, alone, pair, place
from made_main import (
    HARNESS,
    Main,
    approval,
    found,
    is_good,
    landed,
    on_main,
    optimistic,
    path_of,
    proposed,
    verified,
)

from githarness.govern import replay, succession
from githarness.govern.step import Step
from githarness.propose import files, mutation, overlay, patch
from githarness.propose import state as states

MANY = {"set": {"max_retries": 5}}
TEXT = {"add_guidance": ("Read the error before you try again.",)}
MORE = {"add_guidance": ("Say what you are about to do.",)}


def test_a_main_that_is_only_its_root_is_good():
    _, book = alone()
    result = verified(Main(), book)
    assert (result.ok, result.head, result.in_force) == (True, ROOT_COMMIT, ())


@pytest.mark.parametrize(
    "keys",
    [
        MANY,
        TEXT,
        {"describe": {"search": "Find files by name."}},
        {"declare": HARNESS + "# more\n"},
        {"set": {"ask_first": True}},
    ],
    ids=str,
)
def test_an_approved_mutation_explains_its_step(keys):
    ada, book = alone()
    main = Main()
    landed(main, book, ada, **keys)
    result = verified(main, book)
    assert (result.ok, [one.ground for one in result.in_force]) == (True, ["approved"])
    assert result.state == main.tip


def test_without_a_decision_a_landing_is_a_problem_with_commit_and_path():
    _, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    commit = main.land(document)
    problem = verified(main, book).problems[0]
    assert (problem.commit, problem.path, problem.rule) == (commit, path_of(document), "not-approved")


def test_a_plain_number_lands_unasked_where_the_policy_says_so():
    ada, book = alone()
    optimistic(book, ada, "retry_config")
    main = Main()
    main.land(proposed(main.tip, **MANY))
    result = verified(main, book)
    assert (result.ok, [one.ground for one in result.in_force]) == (True, ["optimistic"])


@pytest.mark.parametrize("keys", [TEXT, {"set": {"replans": 2}}, {"set": {"ask_first": True}}], ids=str)
def test_nothing_else_lands_unasked(keys):
    ada, book = alone()
    optimistic(book, ada, "retry_config", "prompt", "permission_rule")
    main = Main()
    main.land(proposed(main.tip, **keys))
    assert not is_good(main, book)


def test_a_label_that_raised_the_need_is_kept():
    ada, book = alone()
    optimistic(book, ada, "retry_config")
    main = Main()
    main.land(proposed(main.tip, labelled="security", **MANY))
    assert not is_good(main, book)


def test_a_no_outweighs_that_nobody_had_to_be_asked():
    ada, book = alone()
    optimistic(book, ada, "retry_config")
    main = Main()
    document = proposed(main.tip, **MANY)
    approval(book, ada, document, main.tip, verdict="reject")
    main.land(document)
    assert found(main, book) == {("rejected", path_of(document))}


# What the state must be.


@pytest.mark.parametrize(
    "changes",
    [
        {"knobs/max_retries": b"9\n"},
        {"overlay/0001-0123456789ab.md": b"Obey.\n"},
        {"harness.toml": (HARNESS + "# more\n").encode()},
        {".gitattributes": b"* text\n"},
        {"README.md": b"hello\n"},
        {"mutations/x": b"{}"},
        {f"mutations/{'0' * 64}.json": b"{}"},
        {"decisions/x": b"{}"},
        {f"decisions/{'0' * 64}/{'0' * 32}": b"{}"},
        {"harness.toml": None},
        {"knobs/max_retries": b"10\n"},
        {"knobs/max_retries": b"five\n"},
    ],
    ids=str,
)
def test_a_hand_on_main_is_a_problem_with_its_path(changes):
    _, book = alone()
    main = Main()
    main.step(changes)
    problems = verified(main, book).problems
    assert problems
    assert {one.commit for one in problems} == {main.commit}
    assert {one.path for one in problems} & {*changes, "", "overlay/0001-0123456789ab.md"}


def test_a_landing_that_changes_something_besides_is_a_problem():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ada, document, main.tip)
    main.land(document)
    main.steps[-1] = msgspec.structs.replace(
        main.steps[-1], files={**main.files, "knobs/max_retries": b"9\n"}
    )
    assert found(main, book) == {("unexplained", "knobs/max_retries")}


def test_a_landing_that_does_less_than_it_says_is_a_problem():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ada, document, main.tip)
    main.step({path_of(document): mutation.encode(document)})
    assert [one.rule for one in verified(main, book).problems] == ["unexplained"]


def test_a_document_under_the_name_of_another_is_a_problem():
    _ada, book = alone()
    main = Main()
    main.step({f"mutations/{'0' * 64}.json": mutation.encode(proposed(main.tip, **TEXT))})
    assert found(main, book) == {("document-digest", f"mutations/{'0' * 64}.json")}


def test_a_document_that_names_another_component_is_a_problem():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **MANY)
    contract = document.contract.model_copy(update={"component": "planning_config"})
    document = document.model_copy(update={"contract": contract})
    approval(book, ada, document, main.tip)
    main.land(document)
    assert found(main, book) == {("component", path_of(document))}


def test_a_component_is_the_one_that_was_declared_before_the_step():
    ada, _ben, book = pair()
    book.adopt(succession.set_approvers(book.policy, "retry_config", ("ben",), place(3)), ada)
    main = Main()
    moved = HARNESS.replace('"retry_config"', '"context_budget"')
    landed(main, book, ada, declare=moved)
    landed(main, book, ada, commit="d" * 40, **MANY)
    assert is_good(main, book)


def test_a_design_never_lands():
    _ada, book = alone()
    main = Main()
    document = proposed(main.tip, design="Split the planner in two.")
    main.step({path_of(document): mutation.encode(document)})
    assert found(main, book) == {("not-applicable", path_of(document))}


def test_what_is_no_plain_file_is_a_problem():
    _, book = alone()
    main = Main()
    main.step({}, irregular=("knobs/link",))
    assert found(main, book) == {("not-a-file", "knobs/link")}


def test_a_commit_that_changes_nothing_needs_no_explanation():
    _, book = alone()
    main = Main()
    main.step({})
    assert is_good(main, book)


# What an approval is bound to.


def test_an_approval_for_another_base_lands_nothing():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, set={"max_retries": 7})
    approval(book, ada, document, main.tip)
    landed(main, book, ada, commit="d" * 40, **MANY)
    main.land(document)
    assert found(main, book) == {("not-approved", path_of(document))}


@pytest.mark.parametrize("field", ["result", "document"])
def test_an_approval_for_another_result_or_document_lands_nothing(field):
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ada, document, main.tip, **{field: "0" * 64})
    main.land(document)
    assert found(main, book) == {("not-approved", path_of(document))}


def test_an_approval_for_another_branch_lands_nothing():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ada, document, main.tip, target="refs/heads/other")
    main.land(document)
    assert not is_good(main, book)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_changes_of_different_keys_land_in_either_order_without_being_signed_again(order):
    ada, book = alone()
    main = Main()
    documents = [proposed(main.tip, **TEXT), proposed(main.tip, **MANY)]
    for document, commit in zip(documents, ("c" * 40, "d" * 40), strict=True):
        approval(book, ada, document, main.tip, commit=commit)
    for at in order:
        main.land(documents[at])
    assert is_good(main, book)


def test_an_approval_that_has_expired_since_still_explains_what_landed():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ada, document, main.tip, expires=1_700_000_001)
    main.land(document)
    assert is_good(main, book)


def test_a_proposers_own_approval_lands_nothing_where_two_may_approve():
    ada, ben, book = pair()
    main = Main()
    document = proposed(main.tip, proposer="ada", **TEXT)
    approval(book, ada, document, main.tip)
    main.land(document)
    assert not is_good(main, book)
    approval(book, ben, document, proposed_on(main, document))
    assert is_good(main, book)


def proposed_on(main, document):
    return main.before[mutation.digest(document)]


# Hosts merge, squash and rebase.


def test_two_mutations_in_one_step_are_explained_together():
    ada, book = alone()
    main = Main()
    documents = [proposed(main.tip, **TEXT), proposed(main.tip, **MANY)]
    for document in documents:
        approval(book, ada, document, main.tip)
    main.land(*documents)
    assert is_good(main, book)
    assert len(verified(main, book).in_force) == 2


@pytest.mark.parametrize("values", [(5, 7), (7, 5)])
def test_two_mutations_of_one_key_in_one_step_are_taken_in_the_order_of_their_bases(values):
    ada, book = alone()
    main = Main()
    first = proposed(main.tip, set={"max_retries": values[0]})
    after = patch.apply(first.patch, main.tip)
    second = proposed(after, set={"max_retries": values[1]})
    approval(book, ada, first, main.tip)
    approval(book, ada, second, after, commit="d" * 40)
    main.land(first, second)
    assert is_good(main, book)


@pytest.mark.parametrize("last", range(2, 9))
def test_a_squash_of_changes_that_come_back_to_a_value_is_explained_in_some_order(last):
    ada, book = alone()
    main, documents, of = Main(), [], None
    for number, value in enumerate((4, 5, 4, last + 1 if last > 3 else last)):
        on = main.tip if of is None else of
        document = proposed(on, commit=f"{number:040x}", set={"max_retries": value})
        approval(book, ada, document, on, commit=f"{number + 9:040x}")
        documents.append(document)
        of = patch.apply(document.patch, on)
    main.land(*documents)
    assert is_good(main, book)


@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize("safe", [True, False], ids=["was safe", "was not"])
def test_a_change_is_judged_by_the_declaration_at_the_parent_of_its_step(value, safe):
    ada, book = alone()
    optimistic(book, ada, "retry_config")
    main = Main()
    tighter = HARNESS.replace("safety = false", "safety = true", 1)
    before, after = (tighter, HARNESS) if safe else (HARNESS, tighter)
    if safe:
        landed(main, book, ada, declare=before)
    declared = proposed(main.tip, declare=after)
    approval(book, ada, declared, main.tip, commit="d" * 40)
    unasked = proposed(main.tip, set={"max_retries": value})
    main.land(declared, unasked)
    assert is_good(main, book) is not safe


@pytest.mark.parametrize("value", [10, 11, 12])
def test_a_step_that_widens_bounds_lands_nothing_beyond_the_old_ones(value):
    ada, book = alone()
    main = Main()
    wider = proposed(main.tip, declare=HARNESS.replace("maximum = 9", "maximum = 90", 1))
    after = patch.apply(wider.patch, main.tip)
    beyond = proposed(after, set={"max_retries": value})
    approval(book, ada, wider, main.tip)
    approval(book, ada, beyond, after, commit="d" * 40)
    main.land(wider, beyond)
    assert "not-applicable" in {rule for rule, _ in found(main, book)}


def test_a_landing_that_was_not_allowed_uses_its_proposal_up_all_the_same():
    ada, _ben, book = pair()
    book.adopt(succession.set_threshold(book.policy, "*", 2, place(3)), ada)
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ada, document, main.tip)
    main.land(document)
    assert not is_good(main, book)
    main.roll_back(document)
    book.adopt(succession.set_threshold(book.policy, "*", 1, place(4, main.commit)), ada)
    main.land(document)
    assert found(main, book) == {("not-approved", path_of(document))}


def test_a_decision_that_comes_with_no_mutation_is_a_problem_and_its_removal_cures_it():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    stray = on_main(book, approval(book, ada, document, main.tip))
    main.step(stray)
    assert found(main, book) == {("decision-stray", path) for path in stray}
    main.step(dict.fromkeys(stray))
    assert is_good(main, book)


def test_guidance_that_a_host_puts_between_others_is_still_what_was_approved():
    ada, book = alone()
    main = Main()
    landed(main, book, ada, **TEXT)
    document = proposed(main.tip, **MORE)
    approval(book, ada, document, main.tip, commit="d" * 40)
    entry = overlay.Entry(1, MORE["add_guidance"][0])
    main.step({path_of(document): mutation.encode(document), entry.path: entry.data})
    assert is_good(main, book)


def test_guidance_in_force_does_not_change_its_place():
    ada, book = alone()
    main = Main()
    landed(main, book, ada, **TEXT)
    entry = main.tip.overlay[0]
    moved = overlay.Entry(9, entry.text)
    main.step({entry.path: None, moved.path: moved.data})
    assert found(main, book) == {("unexplained", entry.path), ("unexplained", moved.path)}


def test_a_merge_by_a_host_needs_no_copies_of_the_decisions_and_may_have_them():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    entry = approval(book, ada, document, main.tip)
    main.land(document, decisions=on_main(book, entry))
    assert is_good(main, book)


def test_main_alone_explains_a_landing_whose_tag_is_gone():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    entry = approval(book, ada, document, main.tip)
    book.main = on_main(book, entry)
    main.land(document, decisions=book.main)
    book.drop(entry)
    assert is_good(main, book)


def test_the_copy_of_a_decision_is_neither_changed_nor_removed_while_it_is_in_force():
    ada, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    copy = on_main(book, approval(book, ada, document, main.tip))
    (path,) = copy
    main.land(document, decisions=copy)
    main.step({path: b"x"})
    assert found(main, book) == {("decision-changed", path)}
    main.step(copy)
    main.step({path: None})
    assert found(main, book) == {("decision-removed", path)}


# Taking back.


@pytest.mark.parametrize(
    "keys",
    [MANY, TEXT, {"describe": {"search": "Find files by name."}}, {"declare": HARNESS + "# more\n"}],
    ids=str,
)
def test_a_rollback_needs_no_decision(keys):
    ada, book = alone()
    main = Main()
    document = landed(main, book, ada, **keys)
    main.roll_back(document)
    result = verified(main, book)
    assert (result.ok, result.in_force, result.state) == (True, (), Main().tip)


def test_a_rollback_works_whatever_came_after():
    ada, book = alone()
    main = Main()
    document = landed(main, book, ada, **TEXT)
    landed(main, book, ada, commit="d" * 40, **MORE)
    main.roll_back(document)
    assert is_good(main, book)


def test_dropped_guidance_comes_back_in_its_place():
    ada, book = alone()
    main = Main(overlay=(overlay.Entry(1, "One."), overlay.Entry(2, "Two.")))
    document = landed(main, book, ada, drop_guidance=(overlay.guidance_id("One."),))
    main.roll_back(document)
    assert is_good(main, book)
    assert [one.text for one in main.tip.overlay] == ["One.", "Two."]


def test_taking_back_what_was_never_set_unsets_it():
    ada, book = alone()
    main = Main()
    document = landed(main, book, ada, **MANY)
    main.step({path_of(document): None, "knobs/max_retries": b"3\n"})  # the default is not absence
    assert found(main, book) == {("unexplained", "knobs/max_retries")}


def test_a_document_that_goes_while_its_effect_stays_is_a_problem():
    ada, book = alone()
    main = Main()
    document = landed(main, book, ada, **MANY)
    main.step({path_of(document): None})
    assert found(main, book) == {("unexplained", "knobs/max_retries")}


def test_an_effect_that_goes_while_its_document_stays_is_a_problem():
    ada, book = alone()
    main = Main()
    landed(main, book, ada, **MANY)
    main.step({"knobs/max_retries": None})
    assert found(main, book) == {("unexplained", "knobs/max_retries")}


def test_taking_back_the_earlier_of_two_changes_of_one_key_is_no_inverse():
    ada, book = alone()
    main = Main()
    first = landed(main, book, ada, **MANY)
    landed(main, book, ada, commit="d" * 40, set={"max_retries": 7})
    main.step({path_of(first): None, "knobs/max_retries": None})
    assert ("not-an-inverse", path_of(first)) in found(main, book)


def test_both_changes_of_one_key_are_taken_back_in_one_step():
    ada, book = alone()
    main = Main()
    first = landed(main, book, ada, **MANY)
    second = landed(main, book, ada, commit="d" * 40, set={"max_retries": 7})
    main.roll_back(second, first)
    assert is_good(main, book)


def test_one_change_may_take_the_place_of_another_in_one_step():
    ada, book = alone()
    main = Main()
    first = landed(main, book, ada, **MANY)
    second = proposed(Main().tip, set={"max_retries": 7})
    approval(book, ada, second, Main().tip, commit="d" * 40)
    extra = {path_of(first): None, path_of(second): mutation.encode(second)}
    main.step(extra | {"knobs/max_retries": b"7\n"})
    assert is_good(main, book)


def test_restoring_what_was_taken_back_is_a_landing_and_needs_its_own_decision():
    ada, book = alone()
    main = Main()
    document = landed(main, book, ada, **TEXT)
    main.roll_back(document)
    main.land(document)
    assert found(main, book) == {("not-approved", path_of(document))}
    approval(book, ada, document, Main().tip, commit="d" * 40)
    assert is_good(main, book)


def test_a_proposal_commit_lands_once_also_when_its_approval_is_signed_again():
    ada, book = alone()
    main = Main()
    document = landed(main, book, ada, **TEXT)
    main.roll_back(document)
    approval(book, ada, document, main.tip)
    main.land(document)
    assert found(main, book) == {("not-approved", path_of(document))}


def test_old_guidance_approved_once_does_not_come_back_once_it_was_dropped():
    ada, book = alone()
    main = Main()
    first = landed(main, book, ada, **TEXT)
    landed(main, book, ada, commit="d" * 40, drop_guidance=tuple(first.patch.added))
    landed(main, book, ada, commit="e" * 40, **MORE)
    assert is_good(main, book)
    entry = overlay.Entry(3, TEXT["add_guidance"][0])
    main.step({entry.path: entry.data})
    assert found(main, book) == {("unexplained", entry.path)}


def test_a_value_set_back_to_an_earlier_one_is_its_own_document():
    ada, book = alone()
    main = Main()
    for value, commit in ((5, "c"), (7, "d"), (5, "e")):
        landed(main, book, ada, commit=commit * 40, set={"max_retries": value})
    result = verified(main, book)
    assert result.ok
    assert len({one.landing.fingerprint for one in result.in_force}) == 2


# Words that come later.


def test_a_later_no_on_what_is_in_force_is_cured_by_taking_it_back():
    ada, ben, book = pair()
    main = Main()
    document = landed(main, book, ada, **TEXT)
    approval(book, ben, document, Main().tip, verdict="reject")
    assert found(main, book) == {("rejected", path_of(document))}
    main.roll_back(document)
    result = verified(main, book)
    assert (result.ok, [one.rule for one in result.cured]) == (True, ["rejected"])


def test_a_later_removal_or_higher_threshold_does_not_undo_what_landed():
    ada, ben, book = pair()
    main = Main()
    landed(main, book, ben, **TEXT)
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(3, main.commit)), ada)
    assert is_good(main, book)


def test_a_removed_approver_does_not_undo_what_landed():
    ada, ben, book = pair()
    main = Main()
    landed(main, book, ben, **TEXT)
    book.adopt(succession.remove(book.policy, "ben", place(3, main.commit)), ada)
    assert is_good(main, book)


def test_a_policy_judges_every_step_after_its_place():
    ada, ben, book = pair()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, ben, document, main.tip)
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(3, main.commit)), ada)
    main.land(document)
    assert found(main, book) == {("not-approved", path_of(document))}


def test_a_compromised_key_unapproves_what_it_landed_unless_it_is_upheld():
    ada, ben, book = pair()
    main = Main()
    document = proposed(main.tip, **TEXT)
    entry = approval(book, ben, document, main.tip)
    main.land(document)
    book.adopt(succession.revoke(book.policy, ben.fingerprint, place(3, main.commit)), ada)
    assert found(main, book) == {("not-approved", path_of(document))}
    again = place(4, main.commit)
    book.adopt(succession.revoke(book.policy, ben.fingerprint, again, upheld=(entry,)), ada)
    assert is_good(main, book)


def test_a_problem_of_the_ledger_is_a_problem_of_main():
    ada, ben, book = pair()
    gone = book.reject(ben)
    book.approve(ada)
    book.drop(gone)
    assert ("entry-missing", gone) in found(Main(), book)


# Where policies take force.


def test_a_main_with_another_root_than_the_pinned_policy_names_is_a_problem():
    _, book = alone()
    main = Main()
    main.steps[0] = Step(commit="2" * 40, files=main.files)
    assert found(main, book) == {("policy-place", "")}


def test_a_policy_that_takes_force_at_a_commit_that_is_not_on_main_is_a_problem():
    ada, book = alone()
    book.adopt(succession.set_threshold(book.policy, "prompt", 1, place(2, "2" * 40)), ada)
    assert found(Main(), book) == {("policy-place", "")}


def test_a_policy_does_not_take_force_before_the_one_it_follows():
    ada, book = alone()
    main = Main()
    landed(main, book, ada, **TEXT)
    book.adopt(succession.set_threshold(book.policy, "prompt", 1, place(2, main.commit)), ada)
    book.adopt(succession.set_threshold(book.policy, "prompt", 1, PLACE), ada)
    assert found(main, book) == {("policy-place", "")}


def test_a_main_that_does_not_contain_what_was_verified_before_is_a_problem():
    assert replay.rewound("", ()) == replay.rewound("1", ("0", "1")) == ()
    assert [one.rule for one in replay.rewound("2", ("0", "1"))] == ["main-rewound"]


# A state that verifies is never more than a revert away.


def test_a_hand_on_main_is_cured_by_putting_everything_back():
    _ada, book = alone()
    main = Main()
    main.step({"knobs/max_retries": b"9\n", "README.md": b"hello\n"})
    main.step({"knobs/max_retries": None, "README.md": None})
    result = verified(main, book)
    assert result.ok
    assert result.cured


def test_a_hand_on_main_that_is_put_back_in_part_is_a_problem():
    _, book = alone()
    main = Main()
    main.step({"knobs/max_retries": b"9\n", "README.md": b"hello\n"})
    main.step({"README.md": None})
    assert not is_good(main, book)


def test_what_lands_meanwhile_is_kept_when_a_hand_is_taken_back():
    ada, book = alone()
    main = Main()
    main.step({"knobs/replans": b"4\n"})
    landed(main, book, ada, **TEXT)
    assert not is_good(main, book)
    main.step({"knobs/replans": None})
    result = verified(main, book)
    assert (result.ok, len(result.in_force)) == (True, 1)


def test_what_landed_unasked_is_cured_by_taking_it_back():
    _, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    main.land(document)
    main.roll_back(document)
    result = verified(main, book)
    assert (result.ok, [one.rule for one in result.cured]) == (True, ["not-approved"])


def test_the_state_in_force_is_the_one_that_the_last_commit_holds():
    ada, book = alone()
    main = Main()
    landed(main, book, ada, **MANY)
    held = files.from_files({path: data for path, data in main.files.items() if files.belongs(path)})
    assert states.digest(verified(main, book).state) == states.digest(held)


def test_the_word_of_a_stranger_is_no_ground():
    _, book = alone()
    main = Main()
    document = proposed(main.tip, **TEXT)
    approval(book, Person("eva"), document, main.tip)
    main.land(document)
    assert not is_good(main, book)
