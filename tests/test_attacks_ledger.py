"""What whoever can push may delete, set back and write of policies, each against a real repository."""

import base64

import made_ledger
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_govern import ADA, BEN, EVE, NOW, world

from githarness import canon
from githarness.govern import policy as policies
from githarness.govern import succession, tag
from githarness.govern.payload import PolicySignature
from githarness.govern.succession import Place
from githarness.store import layout

FIVE = ("--set", "max_retries=5")
SIX = ("--set", "max_retries=6")
WORDS = ("--guidance", "Read the test before you change what it tests.")


def tried(made, entry):
    """The rule that voids an entry; None for one that counts."""
    return made.void().get(entry)


# What is gone


def test_an_entry_that_is_gone_from_the_middle_is_named(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    no = made.reject(one)
    made.approve(made.propose(*SIX))
    made.drop(no)
    made.forget()
    assert ("entry-missing", no) in {(found.rule, found.path) for found in made.verify().problems}
    assert made.standing(one) == "pending"


def test_the_newest_entry_that_is_gone_is_missed_by_the_pin(tmp_path):
    made = world(tmp_path)
    no = made.reject(made.propose(*FIVE))
    made.drop(no)
    assert {(found.rule, found.path) for found in made.verify().problems} == {("entry-missing", no)}


def test_a_decision_that_is_gone_is_read_from_main_and_counts(tmp_path):
    made = world(tmp_path)
    one = made.propose(*WORDS)
    entry = made.approve(one)
    made.apply()
    made.drop(entry)
    assert (made.verify().ok, made.standing(one)) == (True, "approved")


def test_a_whole_ledger_set_back_to_an_older_copy_is_missed_by_the_pin(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    yes = made.approve(one)
    no = made.reject(one, supersede=True)
    for entry in [yes, no]:
        made.drop(entry)
    assert "entry-missing" in made.rules()


def test_a_main_that_was_set_back_is_a_problem(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    made.git("update-ref", layout.MAIN, f"{layout.MAIN}^")
    assert "main-rewound" in made.rules()


def test_a_problem_of_main_does_not_keep_new_entries_from_being_pinned(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    made.push({"knobs/max_retries": b"9\n"})
    no = made.reject(one)
    made.drop(no)
    assert "entry-missing" in made.rules()


def test_a_main_with_another_root_is_a_problem(tmp_path):
    made = world(tmp_path)
    root = made.git("commit-tree", f"{layout.MAIN}^{{tree}}", "-m", "another root")
    made.git("update-ref", layout.MAIN, root)
    assert "other-root" in made.rules()


# Policies


def signed_policy(made, after, person, **fields):
    """Push a policy that this person signed, past every check of the program."""
    data = policies.encode(after)
    blob = made.git("hash-object", "-w", "--stdin", data=data)
    harness = made.read()
    known = {
        "ledger": harness.pin.ledger,
        "policy": canon.sha256(data),
        "prev": harness.ledger.prev,
        "principal": person.name,
        "key": person.fingerprint,
        "nonce": "0a",
    }
    head = tag.unsigned(blob, PolicySignature(**known | fields), NOW)
    return made.plant(head + person.sign(head))


def place(made, nonce="0b"):
    return Place(made.tip(), nonce)


def test_a_policy_is_not_changed_by_whom_it_empowers(tmp_path):
    made = world(tmp_path)
    after = succession.add(made.read().policy, "eve", EVE.key, place(made))
    entry = signed_policy(made, after, EVE)
    assert tried(made, entry) == "root"
    assert made.read().policy.version == 1


def test_a_skipped_version_is_not_in_force(tmp_path):
    made = world(tmp_path)
    first = made.read().policy
    after = succession.set_optimistic(first, ("retry_config",), place(made))
    skipped = after.model_copy(update={"version": 3})
    entry = signed_policy(made, skipped, ADA)
    assert tried(made, entry) == "policy"


def test_two_next_versions_are_a_fork_and_nothing_is_believed(tmp_path):
    made = world(tmp_path)
    first, heads = made.read().policy, made.read().ledger.prev
    for nonce in ["0b", "0c"]:
        after = succession.set_optimistic(first, ("retry_config",), place(made, nonce))
        signed_policy(made, after, ADA, prev=heads)
    assert made.rules() == {"policy-fork"}


def test_a_weak_key_is_refused_when_it_is_listed(tmp_path):
    made = world(tmp_path)
    point = (1).to_bytes(32, "little")
    blob = made_ledger.string(b"ssh-ed25519") + made_ledger.string(point)
    path = made.folder / "weak.pub"
    path.write_text(f"ssh-ed25519 {base64.b64encode(blob).decode()}\n")
    code, found = made.policy("add", "ben", path)
    assert code == 1
    assert "small order" in found["message"]


def test_a_decision_from_before_an_honest_removal_survives_it(tmp_path):
    made = world(tmp_path, BEN)
    made.land(*WORDS, person=BEN)
    assert made.policy("remove", "ben")[0] == 0
    assert made.verify().ok
    assert made.verify().void == ()


def test_back_dating_after_the_removal_of_a_key_revives_nothing(tmp_path):
    made = world(tmp_path, BEN)
    old = made.read()
    one = made.propose(*FIVE)
    made.policy("remove", "ben")
    cited = {"policy": policies.digest(old.policy), "prev": old.ledger.prev, "issued": NOW - 10**6}
    entry = made.forge(one, BEN, **cited)
    assert tried(made, entry) == "removed"
    assert made.standing(one) == "pending"


def test_a_compromised_key_unapproves_what_it_landed(tmp_path):
    made = world(tmp_path, BEN)
    one = made.land(*WORDS, person=BEN)
    made.policy("revoke", BEN.fingerprint)
    assert "not-approved" in made.rules()
    made.rollback(one)
    assert made.verify().ok


def test_a_decision_of_a_compromised_key_that_is_upheld_still_counts(tmp_path):
    made = world(tmp_path, BEN)
    one = made.propose(*WORDS)
    entry = made.approve(one, BEN)
    made.apply()
    made.policy("revoke", BEN.fingerprint, "--uphold", entry)
    assert made.verify().ok


def test_a_policy_in_the_blob_of_another_is_missed(tmp_path):
    made = world(tmp_path, BEN)
    (entry,) = made.read().ledger.heads
    other = made.git("hash-object", "-w", "--stdin", data=b"{}")
    spoilt = b"object " + other.encode() + made.data(entry)[47:]
    made.plant(spoilt, made.tags()[entry])
    assert made.verify().ok is False


@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(gone=st.sets(st.integers(min_value=0, max_value=4)))
def test_no_set_of_deleted_tags_turns_a_no_into_a_yes(tmp_path_factory, gone):
    made, one = _disputed(tmp_path_factory)
    refs = dict(sorted(made.tags().items()))
    lost = [ref for at, ref in enumerate(refs.values()) if at in gone]
    held = {ref: made.git("rev-parse", ref) for ref in lost}
    for ref in lost:
        made.git("update-ref", "-d", ref)
    assert made.standing(one) != "approved"
    for ref, oid in held.items():
        made.git("update-ref", ref, oid)


DISPUTED = []


def _disputed(tmp_path_factory):
    if not DISPUTED:
        made = world(tmp_path_factory.mktemp("disputed"), BEN)
        one = made.propose(*FIVE)
        made.approve(one, ADA)
        made.reject(one, BEN)
        made.approve(one, ADA, reason="I insist")
        DISPUTED.append((made, one))
    return DISPUTED[0]
