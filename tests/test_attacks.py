"""What whoever can push may sign, forge and carry elsewhere, each against a real repository."""

import json

import made_ledger
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_govern import ADA, BEN, EVE, LEDGER, world
from made_ledger import Person

from githarness.govern import payload, sshsig
from githarness.store import layout

FIVE = ("--set", "max_retries=5")
SIX = ("--set", "max_retries=6")
WORDS = ("--guidance", "Read the test before you change what it tests.")


def tried(made, entry):
    """The rule that voids an entry; None for one that counts."""
    return made.void().get(entry)


# Who signs


def test_an_unknown_key_is_void(tmp_path):
    made = world(tmp_path)
    entry = made.forge(made.propose(*FIVE), EVE)
    assert tried(made, entry) == "unknown-key"


def test_a_listed_key_that_claims_to_be_somebody_else_is_void(tmp_path):
    made = world(tmp_path, BEN)
    one = made.propose(*FIVE, person=BEN)
    entry = made.forge(one, BEN, principal="ada")
    assert tried(made, entry) == "principal"
    assert made.standing(one) == "pending"


def test_a_known_principal_with_a_key_that_is_not_theirs_is_void(tmp_path):
    made = world(tmp_path)
    entry = made.forge(made.propose(*FIVE), EVE, principal="ada", key=EVE.fingerprint)
    assert tried(made, entry) == "unknown-key"


def test_a_payload_that_names_the_key_of_another_than_the_signer_is_void(tmp_path):
    made = world(tmp_path)
    entry = made.forge(made.propose(*FIVE), ADA, signer=EVE)
    assert tried(made, entry) == "key"


def test_one_person_with_two_keys_is_one_approval(tmp_path):
    made = world(tmp_path, BEN)
    second = Person("ada", "second key of ada")
    made.policy("add", "ada", _public(made, second))
    made.policy("threshold", "*", "2")
    one = made.propose(*FIVE)
    made.approve(one, ADA)
    made.forge(one, second)
    assert made.standing(one) == "pending"


def _public(made, person):
    path = made.folder / "another.pub"
    path.write_text(f"{person.key} another\n")
    return path


def test_one_key_with_two_names_is_refused_when_it_is_listed(tmp_path):
    made = world(tmp_path)
    code, found = made.policy("add", "ben", f"{made.key(ADA)}.pub")
    assert (code, found["kind"]) == (1, "refused")
    assert "a key is listed twice" in found["message"]


def test_ones_own_proposal_is_not_approved_by_oneself_where_there_are_two(tmp_path):
    made = world(tmp_path, BEN)
    one = made.propose(*FIVE, person=BEN)
    made.approve(one, BEN)
    assert made.standing(one) == "pending"
    assert [line.id for line in made.apply().pending] == [one]


# What is signed, carried elsewhere


def test_an_approval_from_another_ledger_is_void(tmp_path):
    made = world(tmp_path)
    entry = made.forge(made.propose(*FIVE), ADA, ledger="7" * 64)
    assert tried(made, entry) == "ledger"


@pytest.mark.parametrize("field", ["base", "result", "target", "document"])
def test_an_approval_for_another_base_result_branch_or_document_lands_nothing(tmp_path, field):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    other = {
        "base": payload.Base(made.tip(), "0" * 64),
        "result": "0" * 64,
        "target": "refs/heads/release",
        "document": "0" * 64,
    }[field]
    entry = made.forge(one, ADA, **{field: other})
    assert tried(made, entry) is None
    assert [line.id for line in made.apply().pending] == [one]


def test_an_approval_of_another_mutation_lands_nothing(tmp_path):
    made = world(tmp_path)
    wanted, other = made.propose(*FIVE), made.propose(*SIX)
    made.forge(other, ADA, commit=made.tip(layout.proposal_ref(wanted)))
    assert made.standing(wanted) == "pending"


def test_an_approval_replayed_after_a_rollback_lands_nothing(tmp_path):
    made = world(tmp_path)
    one = made.land(*WORDS)
    made.rollback(one)
    assert made.apply(one).applied == ()
    assert "lands once" in made.apply(one).stale[0].reason


def test_a_landing_replayed_by_hand_after_a_rollback_is_not_approved(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    landed = made.tip()
    undone = made.rollback(made.verify().in_force[0]).commit
    again = made.git("commit-tree", f"{landed}^{{tree}}", "-p", undone, "-m", "again")
    made.git("update-ref", layout.MAIN, again)
    assert made.rules() == {"not-approved"}


def test_a_signed_revert_of_a_revert_is_a_landing_that_needs_its_own_approval(tmp_path):
    made = world(tmp_path)
    one = made.land(*WORDS)
    made.rollback(one)
    by_hand = made.checkout()
    by_hand("revert", "--no-edit", "HEAD")
    by_hand("push", "-q", "origin", "HEAD:main")
    assert made.rules() == {"not-approved"}


def test_a_target_commit_that_was_swapped_under_the_signature_is_void(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    entry = made.approve(one)
    data = made.data(entry)
    swapped = b"object " + made.tip().encode() + data[47:]
    made.plant(swapped, made.tags()[entry])
    assert tried(made, entry) == "signature"


def test_an_approval_of_another_commit_of_the_same_change_lands_nothing(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    made.forge(one, ADA, commit=made.tip())
    assert made.standing(one) == "pending"


# The form of a tag


def spoiled(head, armor):
    """Every form of a tag that is not the one form: what is signed, and what stands there."""
    lines = head.split(b"\n")
    blob = sshsig.unarmor(armor)
    wide = armor.replace(b"\n", b" \n", 2)
    return {
        "trailing text": head + armor + b"and he approves everything else as well\n",
        "two signatures": head + armor + armor,
        "CRLF": (head + armor).replace(b"\n", b"\r\n"),
        "no signature": head,
        "bytes after the signature's fields": head + sshsig.enarmor(blob + b"\0"),
        "a filled reserved field": head + sshsig.enarmor(_reserved(blob)),
        "spaces in the base64": head + wide,
        "longer lines of base64": head + armor.replace(b"\n", b"").replace(b"-----BEGIN", b"\n-----BEGIN"),
        "an OpenPGP block": head + b"-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----\n",
        "a subject that lies": head.replace(b"githarness approve", b"githarness reject") + armor,
        "an extra header": b"\n".join([*lines[:3], b"gpgsig none", *lines[3:]]) + armor,
        "no tagger": b"\n".join(lines[:3] + lines[4:]) + armor,
    }


def _reserved(blob):
    at = blob.index(b"\0\0\0\x03git") + 7
    return blob[:at] + b"\0\0\0\x01x" + blob[at + 4 :]


FORMS = sorted(spoiled(b"a\nb\nc\nd\ne", made_ledger.signed(ADA, b"x")))


@pytest.mark.parametrize("form", FORMS)
def test_a_tag_in_any_other_form_is_void_and_approves_nothing(tmp_path, form):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    head = made.head(one, ADA)
    data = spoiled(head, ADA.sign(head))[form]
    made.plant(data, f"refs/tags/{head.split(b'tag ', 1)[1].splitlines()[0].decode()}")
    assert len(made.void()) == 1
    assert made.standing(one) == "pending"


SIGNED = {
    "an extra header": lambda head: head.replace(b"\ntagger", b"\ngpgsig none\ntagger"),
    "no tagger": lambda head: b"\n".join([*head.split(b"\n")[:3], *head.split(b"\n")[4:]]),
    "a subject that lies": lambda head: head.replace(b"approve", b"reject", 1),
    "another time": lambda head: head.replace(b" +0000", b"1 +0000", 1),
    "a time zone": lambda head: head.replace(b" +0000", b" +0200", 1),
    "a name in the tagger": lambda head: head.replace(b"tagger githarness", b"tagger ada", 1),
    "a blob as its type": lambda head: head.replace(b"type commit", b"type blob"),
    "a tree as its type": lambda head: head.replace(b"type commit", b"type tree"),
    "a tag as its type": lambda head: head.replace(b"type commit", b"type tag"),
    "spaces in the JSON": lambda head: head.replace(b'":"', b'": "'),
    "keys in another order": lambda head: _body(head, lambda one: dict(reversed(one.items()))),
    "a field that nobody knows": lambda head: _body(head, lambda one: one | {"zz": 1}),
    "a field that is missing": lambda head: _body(
        head, lambda one: {k: one[k] for k in one if k != "reason"}
    ),
    "a field twice": lambda head: head.replace(b'"reason":""', b'"reason":"","reason":""'),
    "a float": lambda head: head.replace(b'"expires":0', b'"expires":0.0'),
    "deep nesting": lambda head: head.replace(b'"reason":""', b'"reason":' + b"[" * 9000 + b"]" * 9000),
    "an escape in the reason": lambda head: _body(head, lambda one: one | {"reason": "\x1b[2J"}),
    "bidi in the reason": lambda head: _body(head, lambda one: one | {"reason": "no \u202eseY"}),
    "a NUL": lambda head: head.replace(b'"reason":""', b'"reason":"\0"'),
    "64 KiB and more": lambda head: head.replace(b'"reason":""', b'"reason":"' + b"x" * 65_536 + b'"'),
}


def _body(head, change):
    lines = head.split(b"\n")
    lines[-2] = json.dumps(change(json.loads(lines[-2])), separators=(",", ":"), ensure_ascii=False).encode()
    return b"\n".join(lines)


@pytest.mark.parametrize("form", SIGNED)
def test_a_form_that_its_own_signer_changed_is_void_as_well(tmp_path, form):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    head = SIGNED[form](made.head(one, ADA))
    body = head.rstrip(b"\n").rsplit(b"\n", 1)[-1]
    name = f"githarness/v1/decision/{one}/{payload.identity(body)}"
    lines = head.split(b"\n")
    lines[2] = b"tag " + name.encode()
    head = b"\n".join(lines)
    entry = made.plant(head + ADA.sign(head), f"refs/tags/{name}")
    assert tried(made, entry) is not None
    assert made.standing(one) == "pending"


def test_a_signature_for_another_namespace_is_void(tmp_path):
    made = world(tmp_path)
    entry = made.forge(made.propose(*FIVE), ADA, sign={"namespace": b"file"})
    assert tried(made, entry) == "namespace"


def test_a_tag_that_stands_under_another_name_is_void(tmp_path):
    made = world(tmp_path)
    one, other = made.propose(*FIVE), made.propose(*SIX)
    entry = made.approve(one)
    made.plant(made.data(entry), f"{LEDGER}decision/{other}/{entry}")
    assert [void.rule for void in made.verify().void] == ["name"]
    assert made.standing(other) == "pending"


def test_a_name_that_its_own_signer_gave_to_another_mutation_is_void(tmp_path):
    made = world(tmp_path)
    one, other = made.propose(*FIVE), made.propose(*SIX)
    head = made.head(one, ADA).replace(f"decision/{one}".encode(), f"decision/{other}".encode())
    assert tried(made, made.plant(head + ADA.sign(head))) == "name"


def test_a_tag_moved_to_another_signed_object_is_void_and_its_own_is_missed(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    yes, no = made.approve(one), made.reject(one, supersede=True)
    made.git("update-ref", made.tags()[no], made.git("rev-parse", made.tags()[yes]))
    assert tried(made, no) == "name"
    assert "entry-missing" in made.rules()


def test_a_tag_of_a_tag_is_void(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    entry = made.approve(one)
    inner = made.git("rev-parse", made.tags()[entry])
    head = made.head(one, ADA, commit=inner, nonce="01").replace(b"type commit", b"type tag")
    entry = made.plant(head + ADA.sign(head))
    assert tried(made, entry) == "grammar"


@pytest.mark.parametrize("kind", ["commit", "tree", "blob"])
def test_a_lightweight_tag_of_anything_is_void(tmp_path, kind):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    oid = {
        "commit": made.tip(),
        "tree": made.tip(f"{layout.MAIN}^{{tree}}"),
        "blob": made.tip("main:harness.toml"),
    }[kind]
    made.git("update-ref", f"{LEDGER}decision/{one}/{'0' * 32}", oid)
    assert tried(made, "0" * 32) == "kind"


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(where=st.integers(min_value=0), bit=st.integers(min_value=0, max_value=7))
def test_no_flipped_bit_of_a_tag_leaves_an_approval(tmp_path_factory, where, bit):
    made, one, data, ref = _approved(tmp_path_factory)
    spoilt = bytearray(data)
    spoilt[where % len(data)] ^= 1 << bit
    made.plant(bytes(spoilt), ref)
    assert made.standing(one) == "pending"


APPROVED = []


def _approved(tmp_path_factory):
    if not APPROVED:
        made = world(tmp_path_factory.mktemp("flip"))
        one = made.propose(*FIVE)
        entry = made.approve(one)
        APPROVED.append((made, one, made.data(entry), made.tags()[entry]))
    return APPROVED[0]


@pytest.mark.parametrize("spell", [lambda one: f"{one}\n", lambda one: _wide(one), lambda one: one.upper()])
def test_a_name_in_any_other_spelling_is_none(tmp_path, spell):
    made = world(tmp_path)
    one = made.propose(*FIVE)
    entry = made.approve(one)
    data = made.data(entry)
    made.drop(entry)
    made.plant(data, f"{LEDGER}decision/{spell(one)}/{entry}")
    assert made.standing(one) == "pending"
    assert made.ask("review", spell(one))[0] == 2


def _wide(text):
    """The same in full-width digits, which Python's int() and \\d take for digits."""
    return "".join(chr(0xFF10 + int(one)) if one.isdecimal() else one for one in text)
