"""Policies: who may decide what, and how one version follows another."""

import base64
import json

import pytest
from made_ledger import PLACE, ROOT_COMMIT, Curve, CurveToken, Person, Token, alone, pair, place

from githarness import canon
from githarness.errors import RefusedError
from githarness.govern import keys, policy, succession
from githarness.govern.sshwire import string
from githarness.govern.void import VoidError

ADA = Person("ada")
BEN = Person("ben")
EVA = Person("eva")
FIRST = succession.first("ada", ADA.key, PLACE)
SECOND = succession.add(FIRST, "ben", BEN.key, place(2))


def plain(**changes):
    return {**json.loads(policy.encode(FIRST)), **changes}


def refused(document):
    with pytest.raises(VoidError) as caught:
        policy.decode(canon.encode(document))
    return caught.value.reason


def test_the_bytes_of_the_first_policy_are_written_out():
    assert (
        policy.encode(FIRST)
        == (
            '{"keys":{"ada":["' + ADA.key + '"]},"main":"' + ROOT_COMMIT + '","nonce":"00","optimistic":[],'
            '"prev_policy":"","revoked":[],"root":{"approvers":["ada"],"threshold":1},'
            '"rules":{"*":{"approvers":["ada"],"self_approval":true,"threshold":1}},'
            '"type":"githarness.policy.v1","upheld":[],"version":1}'
        ).encode()
    )


def test_a_ledger_id_is_pinned():
    assert policy.digest(FIRST) == "3e97e3938d4aca1ab08ca020bf030a0a1a5ffad18f48e3d6151ae0c28b404713"


def test_a_policy_is_read_as_it_was_written():
    assert policy.decode(policy.encode(SECOND)) == SECOND


@pytest.mark.parametrize("field", sorted(plain()))
def test_a_missing_field_is_refused(field):
    document = plain()
    del document[field]
    assert refused(document)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": 1},
        {"version": 0},
        {"version": 2},
        {"version": True},
        {"prev_policy": "1" * 64},
        {"type": "githarness.policy.v2"},
        {"main": "main"},
        {"main": ROOT_COMMIT + "\n"},
        {"nonce": ""},
        {"optimistic": ["nonsense"]},
        {"optimistic": ["retry_config", "retry_config"]},
        {"upheld": ["0" * 31]},
        {"revoked": ["SHA256:short"]},
        {"rules": {"nonsense": plain()["rules"]["*"]}},
        {"rules": {"*": {**plain()["rules"]["*"], "self_approval": 1}}},
        {"root": {"approvers": ["ada"], "threshold": 0}},
        {"root": {"approvers": ["ada"], "threshold": 2}},
        {"root": {"approvers": [], "threshold": 1}},
        {"root": {"approvers": ["ada", "ada"], "threshold": 2}},
    ],
    ids=str,
)
def test_every_field_has_its_own_form(changes):
    assert refused(plain(**changes))


@pytest.mark.parametrize("name", ["", "Ada", "*", "*@example", "ada ", "ada\n", "-ada", "a" * 64, "ádá"])
def test_a_principal_is_a_plain_word(name):
    assert refused(plain(keys={"ada": [ADA.key], name: [BEN.key]}))


def test_a_policy_in_another_spelling_is_refused():
    with pytest.raises(VoidError, match="canonical"):
        policy.decode(policy.encode(FIRST) + b" ")


def test_a_repeated_field_is_refused():
    with pytest.raises(VoidError, match="duplicate"):
        policy.decode(policy.encode(FIRST).replace(b'"version":1', b'"version":1,"version":1'))


def test_deep_nesting_is_refused():
    with pytest.raises(VoidError):
        policy.decode(b"[" * 50_000 + b"]" * 50_000)


def test_a_policy_of_more_than_a_megabyte_is_refused_before_it_is_read():
    with pytest.raises(VoidError, match="allowed"):
        policy.decode(b" " * (policy.POLICY_LIMIT + 1))


def test_one_key_belongs_to_one_principal():
    assert "twice" in refused(plain(keys={"ada": [ADA.key], "ben": [ADA.key]}))


def test_a_key_counts_once_for_one_principal():
    assert "twice" in refused(plain(keys={"ada": [ADA.key, ADA.key]}))


def test_an_approver_has_a_key():
    assert "ben" in refused(plain(root={"approvers": ["ada", "ben"], "threshold": 1}))


def test_a_revoked_key_is_not_listed():
    assert "revoked" in refused(plain(revoked=[ADA.fingerprint]))


def weak(y):
    blob = string(b"ssh-ed25519") + string(y.to_bytes(32, "little"))
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


@pytest.mark.parametrize("y", [0, 1, keys._ORDER_EIGHT, 2**255 - 19, 2])
def test_a_weak_key_is_refused_when_the_policy_is_read(y):
    assert "the key" in refused(plain(keys={"ada": [ADA.key, weak(y)]}))


def test_a_weak_key_is_refused_when_it_is_proposed():
    with pytest.raises(RefusedError, match="anybody can sign"):
        succession.read_key(f"{weak(1)} a comment\n")


@pytest.mark.parametrize(
    "spoil", [lambda key: key + " ada", lambda key: "cert-authority " + key, lambda _: "*"]
)
def test_a_key_stands_in_its_one_spelling(spoil):
    assert refused(plain(keys={"ada": [spoil(ADA.key)]}))


@pytest.mark.parametrize(
    "person", [Curve("ben"), Token("ben"), CurveToken("ben")], ids=lambda one: type(one).__name__
)
def test_all_four_key_types_can_be_listed(person):
    grown = succession.add(FIRST, "ben", person.key, place(2))
    assert policy.decode(policy.encode(grown)).holders()[person.fingerprint] == "ben"


def test_one_person_alone_approves_what_they_propose():
    assert FIRST.rule("prompt").self_approval


def test_the_second_principal_ends_self_approval_everywhere():
    own = succession.set_threshold(FIRST, "prompt", 1, place(2))
    grown = succession.add(own, "ben", BEN.key, place(3))
    assert [rule.self_approval for rule in grown.rules.values()] == [False, False]


def test_a_second_key_of_one_person_ends_nothing():
    grown = succession.add(FIRST, "ada", EVA.key, place(2))
    assert grown.rule("prompt").self_approval
    assert grown.holders() == {ADA.fingerprint: "ada", EVA.fingerprint: "ada"}


def test_a_new_principal_approves_everything():
    assert SECOND.root.approvers == SECOND.rule("prompt").approvers == ("ada", "ben")


def test_a_next_version_names_the_one_before_it():
    assert (SECOND.version, SECOND.prev_policy) == (2, policy.digest(FIRST))


def test_a_rule_of_its_own_wins_over_the_rule_for_everything():
    strict = succession.set_threshold(SECOND, "prompt", 2, place(3))
    assert (strict.rule("prompt").threshold, strict.rule("validator").threshold) == (2, 1)


def test_without_a_rule_nobody_approves():
    bare = policy.decode(canon.encode(plain(rules={})))
    assert bare.rule("prompt") is None
    assert not bare.may_approve("ada", "prompt")


def test_a_threshold_that_nobody_could_meet_is_refused():
    with pytest.raises(RefusedError, match="3 must agree"):
        succession.set_threshold(SECOND, "root", 3, place(3))


def test_the_approvers_of_one_component_can_be_set():
    changed = succession.set_approvers(SECOND, "permission_rule", ("ben",), place(3))
    assert not changed.may_approve("ada", "permission_rule")
    assert changed.may_approve("ada", "prompt")


def test_removing_the_last_key_removes_the_principal():
    gone = succession.remove_key(SECOND, BEN.fingerprint, place(3))
    assert "ben" not in gone.keys
    assert gone.root.approvers == ("ada",)


def test_a_principal_without_whom_a_threshold_cannot_be_met_is_not_removed():
    both = succession.set_threshold(SECOND, "root", 2, place(3))
    with pytest.raises(RefusedError, match="2 must agree"):
        succession.remove(both, "ben", place(4))


def test_a_key_or_a_principal_that_is_not_there_is_named():
    with pytest.raises(RefusedError, match="no key SHA256"):
        succession.remove_key(SECOND, Person("eve").fingerprint, place(3))
    with pytest.raises(RefusedError, match="eva"):
        succession.remove(SECOND, "eva", place(3))


def test_a_revoked_key_leaves_the_list_in_the_same_step():
    after = succession.revoke(SECOND, BEN.fingerprint, place(3), upheld=("0" * 32,))
    assert (after.revoked, after.upheld) == ((BEN.fingerprint,), ("0" * 32,))
    assert "ben" not in after.keys


def test_components_may_be_optimistic_only_when_asked_for():
    assert FIRST.optimistic == ()
    assert succession.set_optimistic(FIRST, ("retry_config",), place(2)).optimistic == ("retry_config",)


def test_allowed_signers_name_the_namespace_and_every_key():
    lines = policy.allowed_signers(SECOND).splitlines()
    assert lines == [f'ada namespaces="git" {ADA.key}', f'ben namespaces="git" {BEN.key}']


def follow(book):
    found = book.load()
    return [one.policy.version for one in found.versions], {problem.rule for problem in found.problems}


def test_a_version_follows_when_the_root_of_both_has_signed():
    _, _, book = pair()
    assert follow(book) == ([1, 2], set())


def test_a_new_root_threshold_counts_as_well_as_the_old_one():
    ada, ben, book = pair()
    both = succession.set_threshold(book.policy, "root", 2, place(3))
    book.agree(ada, both)
    assert follow(book)[0] == [1, 2]
    book.agree(ben, both)
    assert follow(book)[0] == [1, 2, 3]


def test_an_old_root_threshold_counts_as_well_as_the_new_one():
    ada, ben, book = pair()
    book.adopt(succession.set_threshold(book.policy, "root", 2, place(3)), ada, ben)
    lower = succession.set_threshold(book.policy, "root", 1, place(4))
    book.agree(ada, lower)
    assert follow(book)[0] == [1, 2, 3]


def test_a_policy_is_not_changed_by_somebody_whom_the_change_empowers():
    _, book = alone()
    book.agree(EVA, succession.add(book.policy, "eva", EVA.key, place(2)))
    assert follow(book)[0] == [1]


def test_a_policy_pushed_together_with_its_own_approval_is_not_in_force():
    _, book = alone()
    mine = succession.add(book.policy, "eva", EVA.key, place(2))
    book.agree(EVA, mine)
    book.agree(EVA, succession.remove(mine, "ada", place(3)))
    assert follow(book)[0] == [1]


def test_one_person_with_two_keys_is_one_root_approver():
    ada, _ben, book = pair()
    spare = Person("ada", "spare")
    book.adopt(succession.add(book.policy, "ada", spare.key, place(3)), ada)
    both = succession.set_threshold(book.policy, "root", 2, place(4))
    book.agree(ada, both)
    book.agree(spare, both)
    assert follow(book)[0] == [1, 2, 3]


def test_a_skipped_version_is_not_in_force():
    ada, _, book = pair()
    skipping = succession.set_threshold(book.policy, "prompt", 2, place(3)).model_copy(update={"version": 4})
    book.agree(ada, skipping)
    assert follow(book)[0] == [1, 2]


def test_two_valid_successors_are_a_fork_and_nothing_is_chosen():
    ada, _, book = pair()
    for number in (3, 4):
        book.agree(ada, succession.set_threshold(book.policy, "prompt", 2, place(number)), seen=False)
    assert follow(book) == ([1, 2], {"policy-fork"})


def test_a_fork_below_the_newest_version_stops_as_well():
    ada, _, book = pair()
    rival = succession.add(book.load().versions[0].policy, "eva", EVA.key, place(9))
    book.agree(ada, rival, seen=False, prev=(book.heads[0],))
    assert follow(book) == ([1], {"policy-fork"})


def test_a_successor_that_is_not_signed_by_enough_is_no_fork():
    ada, ben, book = pair()
    book.adopt(succession.set_threshold(book.policy, "root", 2, place(3)), ada, ben)
    book.agree(ada, succession.set_threshold(book.policy, "prompt", 2, place(4)), seen=False)
    book.adopt(succession.set_threshold(book.policy, "prompt", 2, place(5)), ada, ben)
    assert follow(book) == ([1, 2, 3, 4], set())


def test_a_signature_that_had_not_seen_the_policy_before_it_does_not_count():
    ada, book = alone()
    book.agree(ada, succession.add(book.policy, "ben", BEN.key, place(2)), prev=())
    assert follow(book)[0] == [1]


def test_a_ledger_that_is_not_the_pinned_one_is_missing():
    _, _, book = pair()
    found = book.load(pinned="0" * 64)
    assert [problem.rule for problem in found.problems] == ["ledger-missing"]
    assert found.policy is None


def test_a_later_version_cannot_be_pinned_as_a_ledger():
    _, _, book = pair()
    assert [one.rule for one in book.load(pinned=book.policy_digest).problems] == ["ledger-missing"]


def test_a_first_policy_that_its_root_did_not_sign_starts_no_ledger():
    _ada, book = alone()
    book.drop(book.heads[0])
    book.agree(EVA, book.policy, principal="ada", prev=())
    assert follow(book) == ([], {"policy-unsigned"})
