"""Tags: exactly these lines, one signature, and nothing else."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ledger import (
    BASE,
    COMMIT,
    DISPLAY,
    DOCUMENT,
    MUTATION,
    NOW,
    RESULT,
    Curve,
    Person,
    alone,
    decision,
    sign_with_ssh_keygen,
)
from stores import git

from githarness import canon
from githarness.govern import payload, policy, sshsig, tag
from githarness.govern.sshwire import string
from githarness.govern.void import VoidError

ADA, BOOK = alone()
DECISION = decision(ADA, BOOK, nonce="01")
UNSIGNED = tag.unsigned(COMMIT, DECISION, NOW)
DATA = UNSIGNED + ADA.sign(UNSIGNED)
REF = tag.ref_of(DECISION)


def refused(data, ref=REF):
    with pytest.raises(VoidError) as caught:
        tag.parse(ref, data)
    return caught.value.rule


def read_and_check(data):
    found = tag.parse(REF, data)
    sshsig.check(found.signature, found.signed)


def resigned(change):
    """Change the bytes and sign them again: what a key holder could do."""
    data = change(UNSIGNED)
    return data + ADA.sign(data)


def test_the_lines_of_a_tag_are_written_out():
    assert (
        f"object {COMMIT}\n"
        "type commit\n"
        f"tag githarness/v1/decision/{MUTATION}/{payload.identity(payload.encode(DECISION))}\n"
        f"tagger githarness <githarness@localhost> {NOW} +0000\n"
        "\n"
        f"githarness approve {MUTATION[:12]} by ada\n"
        "\n"
        '{"base":{"commit":"1111111111111111111111111111111111111111","state":"' + BASE + '"},'
        '"decision":"approve","display":"' + DISPLAY + '","document":"' + DOCUMENT + '","expires":0,'
        '"issued":1700000000,"key":"' + ADA.fingerprint + '","ledger":"' + BOOK.id + '",'
        '"mutation":"'
        + MUTATION
        + '","nonce":"01","policy":"'
        + BOOK.id
        + '","prev":["'
        + BOOK.heads[0]
        + '"],'
        '"principal":"ada","reason":"","result":"' + RESULT + '","supersedes":[],'
        '"target":"refs/heads/main","type":"githarness.decision.v1"}\n'
    ).encode() == UNSIGNED


def test_a_whole_tag_is_pinned():
    assert canon.sha256(DATA) == "ea9a0c6f4d47a26070ca992a6b1dd4df90c0068145a2e2521356c759d624e06a"


def test_a_policy_tag_names_a_blob_and_its_policy():
    entry = next(iter(BOOK.refs))
    lines = BOOK.refs[entry].data.decode().splitlines()
    assert lines[1] == "type blob"
    assert lines[5] == f"githarness policy {BOOK.id[:12]} by ada"
    assert entry.startswith(f"refs/tags/githarness/v1/policy/{BOOK.id}/")


def test_a_tag_is_read_as_it_was_made():
    found = tag.parse(REF, DATA)
    assert (found.payload, found.target, found.seconds) == (DECISION, COMMIT, NOW)


def test_a_tag_is_only_put_together_when_its_signature_holds():
    assert tag.assemble(UNSIGNED, ADA.sign(UNSIGNED)) == DATA
    with pytest.raises(VoidError):
        tag.assemble(UNSIGNED, ADA.sign(UNSIGNED + b"\n"))


def test_a_decision_stands_on_main_under_its_own_name():
    path = tag.file_of_ref(REF)
    assert path == f"decisions/{MUTATION}/{REF[-32:]}"
    assert tag.ref_of_file(path) == REF


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"object c", b"object C"),
        lambda data: data.replace(b"object " + COMMIT.encode(), b"object " + b"c" * 41),
        lambda data: data.replace(b"type commit", b"type tag"),
        lambda data: data.replace(b"type commit", b"type tree"),
        lambda data: data.replace(b"tagger githarness", b"tagger Githarness"),
        lambda data: data.replace(b"@localhost", b"@example.com"),
        lambda data: data.replace(b" +0000", b" +0100"),
        lambda data: data.replace(b" +0000", b" -0000"),
        lambda data: data.replace(b"> 1", b"> 01"),
        lambda data: data.replace(b"> 1", b"> -1"),
        lambda data: data.replace(b"type commit\n", b"type commit\ntype commit\n"),
        lambda data: data.replace(b"\n\n", b"\nencoding UTF-8\n\n", 1),
        lambda data: data.replace(b"\n\n", b"\n\n\n", 1),
        lambda data: data.replace(b"by ada\n\n", b"by ada\nmore words\n\n"),
        lambda data: data.replace(b"by ada\n\n", b"by ada\n"),
        lambda data: data + b"\n",
        lambda data: data + b"more\n",
        lambda data: data[:-1],
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"by ada", b"by ada\0"),
        lambda data: b"\n".join(line for line in data.split(b"\n") if not line.startswith(b"tagger")),
        lambda data: b"",
    ],
    ids=range(22),
)
def test_lines_that_are_not_exactly_these_are_refused_also_when_they_are_signed(change):
    assert refused(resigned(change)) in {"grammar", "signature"}


def test_a_blob_as_the_target_of_a_decision_is_refused():
    assert refused(resigned(lambda data: data.replace(b"type commit", b"type blob"))) == "target"


def test_a_subject_line_that_lies_is_refused():
    assert (
        refused(resigned(lambda data: data.replace(b"githarness approve", b"githarness reject"))) == "subject"
    )
    assert refused(resigned(lambda data: data.replace(b" by ada\n", b" by ben\n"))) == "subject"


def test_a_tagger_line_with_another_time_than_the_payload_is_refused():
    assert refused(resigned(lambda data: data.replace(b"> 1700000000", b"> 1500000000"))) == "time"


def test_a_header_with_another_name_than_the_ref_is_refused():
    assert refused(resigned(lambda data: data.replace(b"tag githarness/v1", b"tag githarness/v2"))) == "name"
    assert refused(DATA, REF[:-1] + ("0" if REF[-1] != "0" else "1")) == "name"


def test_a_name_that_is_not_the_digest_of_the_payload_is_refused():
    other = REF[:-32] + "0" * 32
    renamed = resigned(lambda data: data.replace(REF[-32:].encode(), b"0" * 32))
    assert refused(renamed, other) == "name"


def test_a_decision_under_the_name_of_another_mutation_is_refused():
    moved = REF.replace(MUTATION, "9" * 64)
    renamed = resigned(lambda data: data.replace(b"decision/" + MUTATION.encode(), b"decision/" + b"9" * 64))
    assert refused(renamed, moved) == "name"


def test_text_after_the_signature_is_refused():
    assert refused(DATA + b"Approved by everybody\n") == "signature"


def test_two_signatures_are_refused():
    assert refused(DATA + ADA.sign(UNSIGNED)) == "signature"
    assert refused(DATA + ADA.sign(DATA)) == "signature"


def test_an_openpgp_block_is_refused():
    block = b"-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n"
    assert refused(UNSIGNED + block) == "signature"
    assert refused(UNSIGNED + block + ADA.sign(UNSIGNED + block)) == "grammar"


def test_an_unsigned_tag_is_refused():
    assert refused(UNSIGNED) == "signature"


def test_a_signature_for_another_namespace_is_refused():
    assert refused(UNSIGNED + ADA.sign(UNSIGNED, namespace=b"file")) == "namespace"


def test_a_key_that_is_not_the_one_in_the_payload_is_refused():
    assert refused(UNSIGNED + Person("ben").sign(UNSIGNED)) == "key"


def test_a_tag_over_64_kib_is_refused_before_it_is_read():
    assert refused(b"x" * (tag.TAG_LIMIT + 1)) == "size"


def test_the_longest_honest_tag_fits():
    heads = tuple(f"{at:032x}" for at in range(256))
    longest = decision(ADA, BOOK, prev=heads, supersedes=heads, reason="語" * 2_000, nonce="0" * 128)
    data = tag.unsigned(COMMIT, longest, NOW)
    assert tag.parse(tag.ref_of(longest), data + ADA.sign(data)).payload == longest


@pytest.mark.parametrize(
    "name",
    [
        REF + "\n",
        REF.replace(MUTATION, "１" * 64),
        REF.replace(MUTATION, "A" * 64),
        REF.replace("decision", "Decision"),
        REF + "/x",
        REF.replace("refs/tags/", "refs/heads/"),
        REF.replace("/v1/", "/v1/../v1/"),
    ],
)
def test_a_name_of_any_other_form_is_none(name):
    assert tag.is_name(REF)
    assert not tag.is_name(name)


@pytest.mark.parametrize("path", ["decisions/x", f"decisions/{MUTATION}/{'0' * 32}\n", "mutations/x", ""])
def test_a_path_of_any_other_form_holds_no_decision(path):
    assert tag.ref_of_file(path) is None


@given(st.integers(min_value=0, max_value=8 * len(DATA) - 1))
@settings(max_examples=200, deadline=None)
def test_no_flipped_bit_anywhere_leaves_a_decision(bit):
    data = bytearray(DATA)
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(VoidError):
        read_and_check(bytes(data))


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_no_bytes_make_the_reader_fail_in_another_way(data):
    with pytest.raises(VoidError):
        tag.parse(REF, data + ADA.sign(data))


def test_plain_git_accepts_our_tags(tmp_path):
    store = tmp_path / "store.git"
    subprocess.run(["git", "init", "-q", "--bare", store], check=True)
    tree = git(store, "mktree", data=b"").strip().decode()
    commit = git(store, "commit-tree", tree, "-m", "a proposal").strip().decode()
    unsigned = tag.unsigned(commit, DECISION, NOW)
    data = unsigned + sign_with_ssh_keygen(ADA.private_file(tmp_path), unsigned)
    oid = git(store, "hash-object", "-t", "tag", "-w", "--stdin", data=data).strip().decode()
    git(store, "update-ref", REF, oid)
    (tmp_path / "signers").write_text(policy.allowed_signers(BOOK.policy))
    git(
        store,
        "-c",
        f"gpg.ssh.allowedSignersFile={tmp_path / 'signers'}",
        "verify-tag",
        REF.removeprefix("refs/tags/"),
    )
    git(store, "fsck", "--strict")
    assert tag.object_id("tag", data, oid) == oid
    assert tag.parse(REF, git(store, "cat-file", "tag", oid)).payload == DECISION


def test_an_object_is_named_by_the_hash_of_its_repository():
    assert tag.object_id("blob", b"", "0" * 40) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert tag.object_id("blob", b"", "0" * 64) == (
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
    )


def test_a_tag_by_a_key_on_p256_is_read_like_any_other():
    ben = Curve("ben")
    theirs = decision(ben, BOOK, nonce="02")
    data = tag.unsigned(COMMIT, theirs, NOW)
    assert tag.assemble(data, ben.sign(data))
    assert string(ben.point) in sshsig.unarmor(ben.sign(data))
