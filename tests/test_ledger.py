"""The ledger: what counts, what is void and why, and what is missing."""

import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ledger import COMMIT, MUTATION, NOW, Person, alone, decision, pair, place, rules

from githarness import canon
from githarness.govern import ledger, payload, policy, succession, tag
from githarness.govern.reading import Found

EVA = Person("eva")


def problems(book, **options):
    return {problem.rule for problem in book.load(**options).problems}


def valid(book, entry, **options):
    return entry in book.load(**options).entries


def resign(book, person, entry, **changes):
    """Sign a changed copy of an entry."""
    what = msgspec.structs.replace(tag.parse(book.ref(entry), book.data(entry)).payload, **changes)
    return book.add(person, what, COMMIT, what.issued, seen=False)


def test_an_empty_ledger_is_the_policy_alone():
    _, book = alone()
    found = book.load()
    assert (len(found.entries), found.void, found.problems, found.heads) == (1, (), (), book.heads)


def test_a_decision_by_a_listed_key_counts():
    ada, book = alone()
    entry = book.approve(ada)
    assert book.load().entries[entry].payload.principal == "ada"


def test_the_newest_entries_are_the_heads():
    ada, ben, book = pair()
    both = book.approve(ada, seen=False), book.reject(ben, seen=False)
    assert book.load().heads == tuple(sorted(both))


def test_more_heads_than_one_entry_may_name_join_little_by_little():
    ada, book = alone()
    for _ in range(300):
        book.approve(ada, seen=False)
    first = book.load()
    assert (len(first.heads), len(first.prev)) == (300, 256)
    book.approve(ada, prev=first.prev)
    assert len(book.load().heads) == 45


def test_the_order_in_which_refs_arrive_changes_nothing():
    ada, ben, book = pair()
    book.approve(ada)
    book.reject(ben)
    before = book.load()
    book.refs = dict(reversed(book.refs.items()))
    assert book.load() == before


# Who signs.


def test_a_key_that_no_policy_lists_is_void():
    _, book = alone()
    entry = book.approve(EVA)
    assert rules(book) == {entry: "unknown-key"}


def test_a_key_that_claims_another_principal_is_void():
    _ada, ben, book = pair()
    entry = book.approve(ben, principal="ada")
    assert rules(book) == {entry: "principal"}


def test_a_principal_with_a_key_that_is_not_theirs_is_void():
    _, book = alone()
    entry = book.approve(EVA, principal="ada")
    assert rules(book) == {entry: "unknown-key"}


def test_a_payload_that_names_a_listed_key_and_is_signed_by_another_is_void():
    ada, book = alone()
    entry = book.add(EVA, decision(ada, book), COMMIT, NOW)
    assert rules(book) == {entry: "key"}


def test_a_signature_of_other_bytes_is_void():
    ada, book = alone()
    unsigned = tag.unsigned(COMMIT, decision(ada, book), NOW)
    ref = book.put(unsigned + ada.sign(unsigned + b" "))
    assert rules(book) == {ref[-32:]: "signature"}


# Where it stands.


def test_a_tag_moved_to_another_signed_object_is_void():
    ada, _, book = pair()
    no, yes = book.reject(ada), book.approve(ada)
    book.refs[book.ref(no)] = book.refs[book.ref(yes)]
    assert rules(book) == {no: "name"}


def test_a_target_commit_that_was_swapped_is_void():
    ada, book = alone()
    entry = book.approve(ada)
    book.put(book.data(entry).replace(COMMIT.encode(), b"9" * 40))
    assert rules(book) == {entry: "signature"}


def test_a_lightweight_tag_is_void():
    ada, book = alone()
    entry = book.approve(ada)
    book.refs[book.ref(entry)] = Found(COMMIT, "commit", b"tree 1\n")
    assert rules(book) == {entry: "kind"}


def test_an_object_whose_bytes_are_not_those_of_its_name_is_void():
    ada, _, book = pair()
    yes, no = book.approve(ada), book.reject(ada)
    swapped = Found(book.refs[book.ref(no)].oid, "tag", book.data(yes))
    book.refs[book.ref(no)] = swapped
    assert rules(book) == {no: "object"}


def test_an_object_that_cannot_be_read_is_void():
    ada, book = alone()
    entry = book.approve(ada)
    book.refs[book.ref(entry)] = Found("1" * 40, "tag", None)
    assert rules(book) == {entry: "object"}


@pytest.mark.parametrize(
    "name", ["x", "decision/a/b", f"decision/{'a' * 64}/{'0' * 32}\n", "policy/" + "１" * 64]
)
def test_a_ref_with_any_other_name_is_void_and_listed(name):
    _, book = alone()
    book.refs[tag.LEDGER + name] = Found("1" * 40, "tag", b"")
    assert [void.rule for void in book.load().void] == ["name"]


def test_a_sha_256_repository_is_read_like_any_other():
    ada, book = alone()
    entry = book.approve(ada)
    data = book.data(entry)
    book.refs[book.ref(entry)] = Found(tag.object_id("tag", data, "0" * 64), "tag", data)
    assert valid(book, entry)


# What it is for.


def test_a_decision_carried_over_from_another_ledger_is_void():
    ada, book = alone()
    other = alone("ben")[1]
    data = book.data(book.approve(ada))
    entry = other.put(data)[-32:]
    assert rules(other)[entry] == "ledger"
    assert not other.load().problems


def test_a_decision_under_a_policy_that_was_never_in_force_is_void():
    _ada, book = alone()
    mine = succession.add(book.policy, "eva", EVA.key, place(2))
    book.agree(EVA, mine)
    entry = book.approve(EVA, policy=policy.digest(mine))
    assert rules(book)[entry] == "unknown-key"


def test_a_decision_that_does_not_descend_from_the_policy_it_cites_is_void():
    ada, _ben, book = pair()
    first = book.load().versions[0].signatures
    entry = book.approve(ada, prev=tuple(first))
    assert rules(book) == {entry: "descent"}


def test_a_decision_with_no_links_at_all_is_void():
    ada, book = alone()
    entry = book.approve(ada, prev=())
    assert rules(book) == {entry: "descent"}


# Keys that go.


def test_a_decision_before_an_honest_rotation_survives_it():
    ada, ben, book = pair()
    entry = book.approve(ben)
    book.adopt(succession.remove(book.policy, "ben", place(3)), ada)
    assert valid(book, entry)


def test_a_rotation_of_ones_own_key_keeps_ones_decisions():
    ada, book = alone()
    entry = book.approve(ada)
    fresh = Person("ada", "fresh")
    book.adopt(succession.add(book.policy, "ada", fresh.key, place(2)), ada)
    book.adopt(succession.remove_key(book.policy, ada.fingerprint, place(3)), fresh)
    assert valid(book, entry)
    assert valid(book, book.approve(fresh))


def test_back_dating_cannot_revive_a_removed_key():
    ada, ben, book = pair()
    seen, old = book.heads, book.policy_digest
    book.adopt(succession.remove(book.policy, "ben", place(3)), ada)
    entry = book.approve(ben, prev=seen, policy=old, issued=NOW - 10**6, seen=False)
    assert rules(book) == {entry: "removed"}


def test_a_late_signature_of_a_policy_lets_nothing_in():
    ada, ben, book = pair()
    seen, old = book.heads, book.policy_digest
    book.adopt(succession.add(book.policy, "eva", EVA.key, place(3)), ada)
    without = succession.remove(book.policy, "ben", place(4))
    book.adopt(without, ada)
    entry = book.approve(ben, prev=seen, policy=old, seen=False)
    book.agree(EVA, without, prev=(*book.heads, entry))
    assert rules(book) == {entry: "removed"}


def test_a_key_that_comes_back_does_not_bring_what_it_signed_in_between():
    ada, ben, book = pair()
    seen, old = book.heads, book.policy_digest
    book.adopt(succession.remove(book.policy, "ben", place(3)), ada)
    entry = book.approve(ben, prev=seen, policy=old, seen=False)
    book.adopt(succession.add(book.policy, "ben", ben.key, place(4)), ada)
    assert rules(book) == {entry: "removed"}
    assert valid(book, book.approve(ben))


def test_a_revoked_key_voids_what_it_ever_signed_unless_it_is_upheld():
    ada, ben, book = pair()
    kept, lost = book.approve(ben), book.approve(ben, mutation="9" * 64)
    book.adopt(succession.revoke(book.policy, ben.fingerprint, place(3), upheld=(kept,)), ada)
    assert rules(book) == {lost: "revoked"}
    assert valid(book, kept)


def test_revoking_the_key_that_signed_the_policies_does_not_end_the_ledger():
    ada, book = alone()
    fresh = Person("ada", "fresh")
    book.adopt(succession.add(book.policy, "ada", fresh.key, place(2)), ada)
    book.adopt(succession.revoke(book.policy, ada.fingerprint, place(3)), fresh)
    assert not problems(book)
    assert valid(book, book.approve(fresh))


def test_what_lies_behind_a_void_entry_is_still_behind():
    ada, ben, book = pair()
    book.approve(ben)
    after = book.approve(ada)
    book.adopt(succession.revoke(book.policy, ben.fingerprint, place(3)), ada)
    assert valid(book, after)
    assert not problems(book)


# What is gone.


def test_a_deleted_entry_that_another_names_is_a_problem_with_its_id():
    ada, ben, book = pair()
    gone = book.reject(ben)
    book.approve(ada)
    book.drop(gone)
    found = book.load()
    assert [(one.path, one.rule) for one in found.problems] == [(gone, "entry-missing")]


def test_an_entry_whose_signature_was_spoilt_counts_as_deleted():
    ada, ben, book = pair()
    no = book.reject(ben)
    book.approve(ada)
    book.put(book.data(no).replace(COMMIT.encode(), b"9" * 40))
    assert problems(book) == {"entry-missing"}


def test_a_deleted_newest_entry_is_seen_only_by_a_pin():
    ada, ben, book = pair()
    book.approve(ada)
    gone = book.reject(ben)
    book.drop(gone)
    assert not problems(book)
    assert problems(book, heads=[gone]) == {"entry-missing"}


def test_a_ledger_rolled_back_to_an_older_copy_is_seen_by_the_pin():
    _ada, ben, book = pair()
    copy = dict(book.refs)
    book.reject(ben)
    heads = book.load().heads
    book.refs = copy
    assert problems(book, heads=heads) == {"entry-missing"}


def test_a_policy_whose_tags_are_gone_is_missed_by_those_who_cite_it():
    ada, _ben, book = pair()
    signed = book.heads
    book.approve(ada)
    book.drop(signed[0])
    assert "policy-missing" in problems(book)


def test_a_policy_whose_blob_is_gone_is_missed():
    _ada, _ben, book = pair()
    newest = [oid for oid, data in book.blobs.items() if b'"version":2' in data]
    del book.blobs[newest[0]]
    assert problems(book) == {"policy-missing"}


def test_a_policy_blob_with_other_bytes_is_missed():
    _ada, _ben, book = pair()
    newest = next(oid for oid, data in book.blobs.items() if b'"version":2' in data)
    book.blobs[newest] = book.blobs[newest].replace(b'"threshold":1', b'"threshold":2')
    assert problems(book) == {"policy-missing"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plain: plain["root"].update(threshold=9),
        lambda plain: plain.update(version=0),
        lambda plain: plain.update(prev_policy=""),
    ],
    ids=["threshold", "version", "no policy before it"],
)
def test_a_policy_that_is_here_and_cannot_take_force_is_void_and_stops_nobody(spoil):
    ada, ben, book = pair()
    plain = book.policy.model_dump(mode="json") | {"version": 3, "prev_policy": book.policy_digest}
    spoil(plain)
    data = canon.encode(plain)
    target = tag.object_id("blob", data, "0" * 40)
    book.blobs[target] = data
    words = {"ledger": book.id, "policy": canon.sha256(data), "prev": book.heads, "nonce": book.nonce()}
    entry = book.add(
        ben, payload.PolicySignature(**words, principal="ben", key=ben.fingerprint), target, seen=False
    )
    found = book.load()
    assert (found.problems, entry in found.entries) == ((), False)
    assert book.approve(ada) in book.load().entries


def test_a_stranger_with_links_to_nowhere_stops_nobody():
    _, book = alone()
    book.approve(EVA, prev=("0" * 32,), seen=False)
    book.agree(EVA, succession.first("eva", EVA.key, place(7)), prev=("1" * 32,), seen=False)
    assert not problems(book)


def test_a_removed_key_with_links_to_nowhere_stops_nobody():
    ada, ben, book = pair()
    seen, old = book.heads, book.policy_digest
    book.adopt(succession.remove(book.policy, "ben", place(3)), ada)
    book.approve(ben, prev=(*seen, "0" * 32), policy=old, seen=False)
    book.approve(ben, prev=seen, policy="0" * 64, seen=False)
    assert not problems(book)


def test_a_policy_that_waits_for_signatures_is_no_problem():
    ada, ben, book = pair()
    book.adopt(succession.set_threshold(book.policy, "root", 2, place(3)), ada, ben)
    waiting = book.agree(ada, succession.set_threshold(book.policy, "root", 1, place(4)))
    assert valid(book, waiting)
    assert not problems(book)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_with_pinned_heads_no_deletion_goes_unseen(data):
    dropped = data.draw(st.sets(st.sampled_from(sorted(FULL.refs)), min_size=1))
    refs = {ref: found for ref, found in FULL.refs.items() if ref not in dropped}
    found = ledger.load(refs, blob=FULL.blobs.get, pinned=FULL.id, heads=FULL_HEADS)
    assert found.problems


def full_book():
    ada, ben, book = pair()
    book.approve(ada)
    book.reject(ben)
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(3)), ada)
    book.approve(ben, seen=False)
    book.approve(ada, seen=False)
    return book


FULL = full_book()
FULL_ENTRIES = FULL.load().entries
FULL_HEADS = FULL.load().heads


# Main keeps copies.


def test_a_decision_whose_tag_is_gone_is_read_from_main():
    ada, ben, book = pair()
    entry = book.approve(ada)
    book.reject(ben)
    book.main[tag.file_of_ref(book.ref(entry))] = book.data(entry)
    book.drop(entry)
    found = book.load()
    assert (found.problems, found.lost) == ((), (entry,))


def test_a_copy_on_main_replaces_a_tag_whose_signature_was_spoilt():
    ada, book = alone()
    entry = book.approve(ada)
    book.main[tag.file_of_ref(book.ref(entry))] = book.data(entry)
    book.put(book.data(entry).replace(COMMIT.encode(), b"9" * 40))
    assert valid(book, entry)
    assert rules(book) == {entry: "signature"}


def test_a_copy_on_main_counts_once():
    ada, book = alone()
    entry = book.approve(ada)
    book.main[tag.file_of_ref(book.ref(entry))] = book.data(entry)
    assert book.load().lost == ()
    assert len(book.load().decisions(MUTATION)) == 1


def test_what_is_no_decision_on_main_is_void():
    ada, book = alone()
    entry = book.approve(ada)
    book.main = {"decisions/x": b"", f"decisions/{'9' * 64}/{entry}": book.data(entry)}
    assert sorted(void.rule for void in book.load().void) == ["name", "name"]


def test_a_policy_is_never_read_from_main():
    _ada, _ben, book = pair()
    entry = book.heads[0]
    book.main = {f"decisions/{book.policy_digest}/{entry}": book.data(entry)}
    book.drop(entry)
    assert not valid(book, entry)


# Supersession.


def test_ones_own_earlier_word_can_be_taken_back():
    ada, book = alone()
    no = book.reject(ada)
    yes = book.approve(ada, supersedes=(no,))
    assert [one.id for one, _ in book.load().decisions(MUTATION)] == [yes]


def test_the_word_of_somebody_else_cannot_be_taken_back():
    ada, ben, book = pair()
    no = book.reject(ben)
    book.approve(ada, supersedes=(no,))
    assert book.load().superseded == frozenset()


def test_a_word_on_another_mutation_cannot_be_taken_back():
    ada, book = alone()
    no = book.reject(ada, mutation="9" * 64)
    book.approve(ada, supersedes=(no,))
    assert book.load().superseded == frozenset()


def test_a_word_that_was_not_seen_cannot_be_taken_back():
    ada, book = alone()
    seen = book.heads
    no = book.reject(ada)
    book.approve(ada, supersedes=(no,), prev=seen)
    assert book.load().superseded == frozenset()


def test_a_void_entry_takes_nothing_back():
    _ada, ben, book = pair()
    no = book.reject(ben)
    resign(book, EVA, no, decision="approve", prev=(no,), supersedes=(no,), key=EVA.fingerprint)
    assert no not in book.load().superseded


def test_an_entry_that_names_what_it_takes_back_needs_it_to_be_there():
    ada, book = alone()
    no = book.reject(ada)
    book.approve(ada, supersedes=(no,))
    book.drop(no)
    assert problems(book) == {"entry-missing"}


# Size and noise.


def test_more_refs_than_a_ledger_can_have_are_refused_in_words():
    _, book = alone()
    junk = Found("1" * 40, "tag", b"")
    book.refs |= {f"{tag.LEDGER}x/{at}": junk for at in range(ledger.MOST_REFS)}
    assert problems(book) == {"size"}


def test_a_hundred_thousand_junk_tags_are_listed_and_stop_nothing():
    ada, book = alone()
    entry = book.approve(ada)
    junk = Found("1" * 40, "tag", b"junk")
    book.refs |= {f"{tag.LEDGER}decision/{MUTATION}/{at:032x}": junk for at in range(100_000)}
    begin = time.process_time()
    found = book.load()
    assert (len(found.void), entry in found.entries, found.problems) == (100_000, True, ())
    assert time.process_time() - begin < 10  # under 1 s where nothing else runs


@given(st.integers(min_value=0))
@settings(max_examples=120, deadline=None)
def test_no_flipped_bit_anywhere_yields_another_decision(bit):
    entry = FULL_HEADS[0]
    data = bytearray(FULL.data(entry))
    bit %= 8 * len(data)
    data[bit // 8] ^= 1 << bit % 8
    spoilt = Found(tag.object_id("tag", bytes(data), "0" * 40), "tag", bytes(data))
    refs = {**FULL.refs, FULL.ref(entry): spoilt}
    found = ledger.load(refs, blob=FULL.blobs.get, pinned=FULL.id)
    assert set(found.entries) == set(FULL_ENTRIES) - {entry}


def test_the_ledgers_that_could_be_pinned_are_shown_with_their_keys():
    _ada, _ben, book = pair()
    found = ledger.roots(book.refs, blob=book.blobs.get)
    assert {digest: sorted(one.keys) for digest, one in found.items()} == {book.id: ["ada"]}


def test_a_policy_that_its_own_root_did_not_sign_cannot_be_pinned():
    _, book = alone()
    mallory = Person("mallory")
    theirs = succession.first("eva", EVA.key, place(5))
    book.agree(mallory, theirs, ledger=policy.digest(theirs), principal="eva", prev=())
    assert set(ledger.roots(book.refs, blob=book.blobs.get)) == {book.id}


def test_a_payload_for_another_branch_is_an_entry_that_names_it():
    ada, book = alone()
    entry = book.approve(ada, target="refs/heads/other")
    assert book.load().entries[entry].payload.target != payload.MAIN
