import subprocess
import time

import pytest
from made_branch import ENV, FINGERPRINT, blob, clean, head, key, script, signed, unsigned
from stores import git, made, python

from githarness.errors import CorruptError, RefusedError, StorageError, UsageError
from githarness.store import layout, signing, tags
from githarness.store.find import open_store
from githarness.store.tags import Entry

REF = layout.decision_tag(FINGERPRINT, "c" * 32)
RACER = """
import sys
from pathlib import Path
from made_branch import head, unsigned
from test_store_tags import REF, create
from githarness.errors import RefusedError
path = Path(sys.argv[1])
try:
    print(create(path, REF, unsigned(REF, head(path)) + sys.argv[2].encode()))
except RefusedError:
    print("refused")
"""


def create(path, ref, data):
    with open_store(path) as store:
        return tags.create(store, ref, data)


def every(path):
    with open_store(path) as store:
        return tags.every(store)


def junk(path, count, target):
    """Write well-formed names straight into packed-refs, as a fetch of many would leave them."""
    lines = [f"{target} {layout.decision_tag(f'{number:064x}', 'd' * 32)}\n" for number in range(count)]
    (path / "packed-refs").write_text("# pack-refs with: sorted \n" + "".join(lines))


def test_a_tag_is_kept_byte_for_byte_under_its_ref(tmp_path):
    path = made(tmp_path)
    body = unsigned(REF, head(path)) + b"odd \xff bytes without an end"
    oid = create(path, REF, body)
    assert git(path, "cat-file", "tag", REF) == body
    assert git(path, "rev-parse", REF).decode().strip() == oid


def test_the_object_of_a_tag_is_pinned(tmp_path):
    path = made(tmp_path)
    assert create(path, REF, unsigned(REF, head(path))) == "db610a3272a57c93a6ca3717b681bdbcaa2409ea"


def test_git_accepts_a_signed_tag_and_finds_nothing_wrong_with_the_store(tmp_path):
    path, private = made(tmp_path), key(tmp_path)
    create(path, REF, signed(REF, head(path), private))
    allowed = tmp_path / "allowed"
    allowed.write_text(f"somebody {signing.public_key(private, env=ENV)}\n")
    command = ["git", "-c", f"gpg.ssh.allowedSignersFile={allowed}", f"--git-dir={path}", "verify-tag"]
    done = subprocess.run([*command, REF.removeprefix("refs/tags/")], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert clean(path)


def test_every_tag_is_read_back_in_order_of_its_ref(tmp_path):
    path = made(tmp_path)
    policy = layout.policy_tag("ef" * 32, "1" * 32)
    with open_store(path) as store:
        target = tags.put_blob(store, b"{}")
    bodies = {REF: unsigned(REF, head(path)), policy: unsigned(policy, target, "blob")}
    oids = {ref: create(path, ref, body) for ref, body in bodies.items()}
    assert every(path).entries == tuple(
        Entry(ref=ref, oid=oids[ref], kind="tag", data=bodies[ref], fault="") for ref in (REF, policy)
    )


def test_a_store_without_a_ledger_has_no_entries(tmp_path):
    assert every(made(tmp_path)) == tags.Listing(entries=(), unread=0)


def test_the_same_tag_written_twice_is_written_once(tmp_path):
    path = made(tmp_path)
    body = unsigned(REF, head(path))
    assert create(path, REF, body) == create(path, REF, body)


def test_an_entry_is_never_replaced(tmp_path):
    path = made(tmp_path)
    body = unsigned(REF, head(path))
    oid = create(path, REF, body)
    with pytest.raises(RefusedError, match=f"names {oid}"):
        create(path, REF, body + b"more\n")
    assert git(path, "cat-file", "tag", REF) == body


def test_of_many_that_create_one_ref_at_once_one_does_and_the_others_are_told(tmp_path):
    path = made(tmp_path)
    racers = [python(RACER, path, number, stdout=-1) for number in range(4)]
    said = [racer.communicate()[0].decode().strip() for racer in racers]
    assert sorted(said)[1:] == ["refused"] * 3
    assert min(said) == git(path, "rev-parse", REF).decode().strip()


@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/main",
        "refs/tags/x",
        REF.replace("decision", "other"),
        REF[:-1],
        REF + "\n",
        REF.upper(),
        REF.replace("c" * 32, "\uff11" * 32),
        f"{layout.LEDGER}decision/../../../heads/main",
    ],
)
def test_what_is_no_name_of_an_entry_never_becomes_a_ref(tmp_path, ref):
    with pytest.raises(UsageError, match="not the name"):
        create(made(tmp_path), ref, b"")


def test_a_tag_over_the_limit_is_refused_before_it_is_written(tmp_path):
    path = made(tmp_path)
    with pytest.raises(UsageError, match="of which 65536 are allowed"):
        create(path, REF, b"x" * (tags.SIZE_LIMIT + 1))


def test_a_tag_of_nothing_is_refused_by_git_and_no_ref_is_made(tmp_path):
    path = made(tmp_path)
    with pytest.raises(StorageError):
        create(path, REF, unsigned(REF, "0" * 39 + "1"))
    assert every(path).entries == ()


@pytest.mark.parametrize("kind", ["commit", "blob"])
def test_a_lightweight_tag_is_listed_as_what_it_names_without_bytes(tmp_path, kind):
    path = made(tmp_path)
    target = head(path) if kind == "commit" else blob(path)
    git(path, "update-ref", REF, target)
    expected = Entry(
        ref=REF, oid=target, kind=kind, data=None, fault=f"it names a {kind} without a tag object"
    )
    assert every(path).entries == (expected,)


def test_a_tag_of_a_tag_and_junk_under_any_name_are_listed_as_their_bytes(tmp_path):
    path = made(tmp_path)
    oid = create(path, REF, unsigned(REF, head(path)))
    nested = f"{layout.LEDGER}anything"
    git(path, "tag", "-a", "-m", "x", nested.removeprefix("refs/tags/"), oid)
    found = every(path).entries
    assert [entry.ref for entry in found] == [nested, REF]
    assert found[0].data.startswith(f"object {oid}\ntype tag\n".encode())


def test_a_tag_over_the_limit_is_passed_over_and_the_next_one_is_read(tmp_path):
    path = made(tmp_path)
    big = unsigned(REF, head(path)) + b"x" * 3_000_000
    oid = git(path, "hash-object", "-w", "--stdin", "-t", "tag", data=big).decode().strip()
    git(path, "update-ref", REF, oid)
    other = layout.decision_tag("ff" * 32, "c" * 32)
    create(path, other, unsigned(other, head(path)))
    first, second = every(path).entries
    assert (first.kind, first.data, first.fault) == (
        "tag",
        None,
        f"{len(big)} bytes, of which 65536 are allowed",
    )
    assert second.data == unsigned(other, head(path))


def test_a_ref_to_nothing_is_listed_with_the_id_that_is_missing(tmp_path):
    path = made(tmp_path)
    create(path, REF, unsigned(REF, head(path)))
    gone = layout.decision_tag("00" * 32, "c" * 32)
    (path / gone).parent.mkdir(parents=True)
    (path / gone).write_text("0" * 39 + "1\n")
    first, second = every(path).entries
    assert first.fault == f"object {'0' * 39}1: missing"
    assert second.kind == "tag"


@pytest.mark.parametrize("text", ["", "db61", "ref: refs/heads/nothing\n"])
def test_a_ref_that_cannot_be_read_is_listed_and_never_passed_over(tmp_path, text):
    path = made(tmp_path)
    create(path, REF, unsigned(REF, head(path)))
    (path / REF).write_text(text)
    assert every(path).entries == (
        Entry(ref=REF, oid="", kind="unknown", data=None, fault="the ref cannot be read"),
    )


def test_a_lock_beside_a_ref_is_no_ref(tmp_path):
    path = made(tmp_path)
    create(path, REF, unsigned(REF, head(path)))
    (path / f"{REF}.lock").touch()
    assert [entry.ref for entry in every(path).entries] == [REF]


def test_a_substituted_tag_is_a_fault_and_never_bytes(tmp_path):
    path = made(tmp_path)
    bodies = [unsigned(REF, head(path)) + more for more in (b"", b"forged\n")]
    oids = [
        git(path, "hash-object", "-w", "--stdin", "-t", "tag", data=body).decode().strip() for body in bodies
    ]
    git(path, "update-ref", REF, oids[0])
    target, source = (path / "objects" / oid[:2] / oid[2:] for oid in oids)
    target.chmod(0o600)
    target.write_bytes(source.read_bytes())
    assert every(path).entries[0].fault.endswith("its bytes do not hash to its name")


def test_a_replace_ref_on_a_tag_is_not_followed(tmp_path):
    path = made(tmp_path)
    body = unsigned(REF, head(path))
    oid = create(path, REF, body)
    forged = git(path, "hash-object", "-w", "--stdin", "-t", "tag", data=body + b"forged\n").decode().strip()
    git(path, "replace", oid, forged)
    assert every(path).entries[0].data == body


def test_a_tag_is_the_same_loose_and_packed(tmp_path):
    path = made(tmp_path)
    create(path, REF, unsigned(REF, head(path)))
    before = every(path)
    git(path, "gc", "--quiet")
    git(path, "pack-refs", "--all")
    assert every(path) == before


def test_a_program_that_the_repository_names_is_not_run(tmp_path):
    path = made(tmp_path)
    script(tmp_path / "bin", "evil", f"open({str(tmp_path / 'ran')!r}, 'w')")
    for name in ("gpg.program", "gpg.ssh.program", "core.fsmonitor", "core.pager", "alias.for-each-ref"):
        git(path, "config", name, str(tmp_path / "bin" / "evil"))
    create(path, REF, unsigned(REF, head(path)))
    assert every(path).entries[0].kind == "tag"
    assert not (tmp_path / "ran").exists()


def test_ten_thousand_junk_tags_are_listed_in_bounded_time(tmp_path):
    path = made(tmp_path)
    create(path, REF, unsigned(REF, head(path)))
    junk(path, 10_000, head(path))
    start = time.monotonic()
    found = every(path)
    assert time.monotonic() - start < 5
    assert [entry.ref for entry in found.entries if entry.kind == "tag"] == [REF]


def test_entries_over_the_limit_on_count_are_counted_and_not_read(tmp_path):
    path = made(tmp_path)
    junk(path, tags.COUNT_LIMIT + 7, "1" * 40)
    assert (every(path).unread, every(path).missed) == (0, 7)


def test_a_policy_comes_back_by_the_id_that_it_was_given(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store:
        oid = tags.put_blob(store, b'{"type":"githarness.policy.v1"}')
        assert tags.blob(store, oid) == b'{"type":"githarness.policy.v1"}'
    assert oid == "f53c09c8cfe16cb0c6bd58a6f82705bc4a82f4d4"


def test_a_policy_that_is_not_there_is_damage(tmp_path):
    with open_store(made(tmp_path)) as store, pytest.raises(CorruptError, match="missing"):
        tags.blob(store, "0" * 39 + "1")
