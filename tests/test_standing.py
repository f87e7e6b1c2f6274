"""Standing: what the signed decisions say of one mutation."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ledger import BASE, COMMIT, DOCUMENT, MUTATION, NOW, RESULT, Person, alone, pair, place, rules

from githarness.govern import ledger, payload, standing, succession
from githarness.govern.standing import Question

OTHER = "9" * 64
QUESTION = Question(
    mutation=MUTATION,
    document=DOCUMENT,
    component="prompt",
    proposer="",
    base=BASE,
    result=RESULT,
    commit=COMMIT,
)


def ask(book, *, now=None, loaded=None, **changes):
    question = msgspec.structs.replace(QUESTION, **changes)
    return standing.standing(loaded or book.load(), book.policy, question, now=now)


def verdict(book, **options):
    return ask(book, **options).verdict


def test_without_a_word_a_mutation_is_pending():
    _, book = alone()
    found = ask(book)
    assert (found.verdict, found.needed, found.reasons) == ("pending", 1, ("0 of 1 approvals",))


def test_one_approval_is_enough_where_one_is_asked_for():
    ada, book = alone()
    entry = book.approve(ada)
    found = ask(book)
    assert (found.verdict, found.approved_by, found.decisions) == ("approved", ("ada",), (entry,))


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("document", "document"),
        ("base", "base"),
        ("result", "result"),
        ("target", "branch"),
        ("commit", "proposal commit"),
    ],
)
def test_an_approval_counts_for_exactly_what_it_names(field, word):
    ada, book = alone()
    book.approve(ada)
    found = ask(book, **{field: OTHER[:40]})
    assert found.verdict == "pending"
    assert f"ada approved another {word}" in found.reasons


def test_an_approval_of_another_mutation_does_not_count():
    ada, book = alone()
    book.approve(ada, mutation=OTHER)
    assert ask(book).reasons == ("0 of 1 approvals",)


def test_an_approval_given_for_another_branch_does_not_count():
    ada, book = alone()
    book.approve(ada, target="refs/heads/other")
    assert verdict(book) == "pending"


def test_where_main_was_is_not_part_of_what_is_compared():
    ada, book = alone()
    book.approve(ada, base=payload.Base("7" * 40, BASE))
    assert verdict(book) == "approved"


def test_two_must_agree_where_two_are_asked_for():
    ada, ben, book = pair()
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(3)), ada)
    book.approve(ada)
    assert ask(book).reasons == ("1 of 2 approvals",)
    book.approve(ben)
    assert verdict(book) == "approved"


def test_one_person_with_two_keys_counts_once():
    ada, _ben, book = pair()
    spare = Person("ada", "spare")
    book.adopt(succession.add(book.policy, "ada", spare.key, place(3)), ada)
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(4)), ada)
    book.approve(ada)
    book.approve(spare)
    assert (verdict(book), ask(book).approved_by) == ("pending", ("ada",))


def test_one_person_who_approves_twice_counts_once():
    ada, _ben, book = pair()
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(3)), ada)
    book.approve(ada, seen=False)
    book.approve(ada, seen=False)
    assert verdict(book) == "pending"


def test_ones_own_proposal_is_not_approved_by_oneself():
    ada, _ben, book = pair()
    book.approve(ada)
    found = ask(book, proposer="ada")
    assert found.verdict == "pending"
    assert "ada proposed it, and cannot approve it" in found.reasons


def test_somebody_else_approves_ones_own_proposal():
    _ada, ben, book = pair()
    book.approve(ben)
    assert verdict(book, proposer="ada") == "approved"


def test_who_is_alone_approves_what_they_proposed():
    ada, book = alone()
    book.approve(ada)
    assert verdict(book, proposer="ada") == "approved"


def test_an_unknown_proposer_excludes_nobody():
    ada, _ben, book = pair()
    book.approve(ada)
    assert verdict(book, proposer="") == "approved"


def test_who_is_no_approver_of_the_component_does_not_count():
    ada, ben, book = pair()
    book.adopt(succession.set_approvers(book.policy, "validator", ("ada",), place(3)), ada)
    book.approve(ben)
    assert verdict(book, component="prompt") == "approved"
    assert "ben is no approver of validator" in ask(book, component="validator").reasons


def test_without_a_rule_nobody_approves():
    ada, book = alone()
    book.approve(ada)
    ruleless = book.policy.model_copy(update={"rules": {}})
    found = standing.standing(book.load(), ruleless, QUESTION)
    assert (found.verdict, found.needed) == ("pending", None)


def test_one_no_outweighs_any_number_of_yes():
    ada, ben, book = pair()
    book.approve(ada)
    book.reject(ben)
    found = ask(book)
    assert (found.verdict, found.rejected_by) == ("rejected", ("ben",))


def test_a_yes_and_a_no_of_one_person_that_did_not_see_each_other_are_a_no():
    ada, book = alone()
    book.approve(ada, seen=False)
    book.reject(ada, seen=False)
    assert verdict(book) == "rejected"


def test_a_later_yes_that_does_not_take_back_the_no_changes_nothing():
    ada, book = alone()
    book.reject(ada)
    book.approve(ada)
    assert verdict(book) == "rejected"


def test_a_no_that_is_taken_back_by_who_said_it_is_gone():
    ada, book = alone()
    no = book.reject(ada)
    book.approve(ada, supersedes=(no,))
    assert verdict(book) == "approved"


def test_a_no_stays_when_somebody_else_takes_it_back():
    ada, ben, book = pair()
    no = book.reject(ben)
    book.approve(ada, supersedes=(no,))
    assert verdict(book) == "rejected"


@pytest.mark.parametrize("field", ["document", "base", "result", "commit"])
def test_a_no_sticks_to_the_change_wherever_it_is_proposed_again(field):
    ada, book = alone()
    book.reject(ada)
    assert verdict(book, **{field: OTHER[:40]}) == "rejected"


def test_a_no_by_who_is_no_approver_is_heard_and_does_not_count():
    ada, ben, book = pair()
    book.adopt(succession.set_approvers(book.policy, "prompt", ("ada",), place(3)), ada)
    book.reject(ben)
    found = ask(book)
    assert (found.verdict, found.reasons[-1]) == ("pending", "ben is no approver of prompt")


def test_a_proposers_own_no_counts():
    ada, _ben, book = pair()
    book.reject(ada)
    assert verdict(book, proposer="ada") == "rejected"


def test_who_leaves_takes_no_word_back():
    ada, ben, book = pair()
    book.reject(ben)
    book.adopt(succession.remove(book.policy, "ben", place(3)), ada)
    assert verdict(book) == "rejected"


def test_the_yes_of_who_left_does_not_count_for_what_comes_after():
    ada, ben, book = pair()
    book.approve(ben)
    book.adopt(succession.remove(book.policy, "ben", place(3)), ada)
    assert verdict(book) == "pending"


def test_a_yes_from_before_a_rotation_counts_after_it():
    ada, book = alone()
    book.approve(ada)
    fresh = Person("ada", "fresh")
    book.adopt(succession.add(book.policy, "ada", fresh.key, place(2)), ada)
    book.adopt(succession.remove_key(book.policy, ada.fingerprint, place(3)), fresh)
    assert verdict(book) == "approved"


def test_a_revoked_yes_does_not_count_and_an_upheld_one_does():
    ada, ben, book = pair()
    entry = book.approve(ben)
    spare = Person("ben", "spare")
    book.adopt(succession.add(book.policy, "ben", spare.key, place(3)), ada)
    revoked = succession.revoke(book.policy, ben.fingerprint, place(4))
    book.adopt(revoked, ada)
    assert verdict(book) == "pending"
    book.adopt(succession.revoke(revoked, ada.fingerprint, place(5), upheld=(entry,)), spare)
    assert rules(book) == {}
    assert verdict(book) == "approved"


def test_an_approval_expires_only_where_a_time_is_given():
    ada, book = alone()
    book.approve(ada, expires=NOW + 60)
    assert verdict(book) == "approved"
    assert verdict(book, now=NOW + 59) == "approved"
    assert "the approval of ada has expired" in ask(book, now=NOW + 60).reasons


def test_an_approval_without_an_end_does_not_expire():
    ada, book = alone()
    book.approve(ada)
    assert verdict(book, now=2**52) == "approved"


def test_a_no_does_not_expire():
    ada, book = alone()
    book.reject(ada, expires=NOW + 60)
    assert verdict(book, now=NOW + 61) == "rejected"


def test_two_changes_of_different_keys_are_both_approved_whichever_lands_first():
    ada, book = alone()
    book.approve(ada)
    book.approve(ada, mutation=OTHER, document=OTHER, base=payload.Base("1" * 40, "8" * 64), result="7" * 64)
    second = {"mutation": OTHER, "document": OTHER, "base": "8" * 64, "result": "7" * 64}
    assert [verdict(book), verdict(book, **second)] == ["approved", "approved"]


def test_nothing_is_approved_by_a_ledger_with_a_problem():
    ada, ben, book = pair()
    no = book.reject(ben, mutation=OTHER)
    book.approve(ada)
    book.drop(no)
    found = ask(book)
    assert found.verdict == "pending"
    assert no in found.reasons[0]


def test_a_no_is_heard_in_a_ledger_with_a_problem():
    ada, ben, book = pair()
    gone = book.approve(ben, mutation=OTHER)
    book.reject(ada)
    book.drop(gone)
    assert verdict(book) == "rejected"


def word_book():
    ada, ben, book = pair()
    book.reject(ada)
    book.approve(ben, seen=False)
    book.approve(ada, seen=False)
    return book


WORDS = word_book()
HEADS = WORDS.load().heads


@given(st.sets(st.sampled_from(sorted(WORDS.refs))))
@settings(max_examples=40, deadline=None)
def test_with_pinned_heads_no_deletion_turns_a_no_into_a_yes(dropped):
    refs = {ref: found for ref, found in WORDS.refs.items() if ref not in dropped}
    loaded = ledger.load(refs, blob=WORDS.blobs.get, pinned=WORDS.id, heads=HEADS)
    assert verdict(WORDS, loaded=loaded) != "approved"


@given(st.permutations(sorted(WORDS.refs)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_arrival_decides_nothing(order):
    loaded = ledger.load({ref: WORDS.refs[ref] for ref in order}, blob=WORDS.blobs.get, pinned=WORDS.id)
    assert ask(WORDS, loaded=loaded) == ask(WORDS)
