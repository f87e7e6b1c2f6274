import pytest
from made_branch import FINGERPRINT, clean, head, land
from stores import NOW, git, made, python

from githarness.errors import LockedError, RefusedError, UsageError
from githarness.store import layout, proposals
from githarness.store.find import open_store
from githarness.store.proposals import Filed

OTHER = "cd" * 32
RACER = """
import sys
from pathlib import Path
from test_store_proposals import filed
print(filed(Path(sys.argv[1]), {"knobs/a": sys.argv[2].encode()}))
"""


def filed(path, writes, fingerprint=FINGERPRINT, *, base=None, replace=False, now=NOW):
    with open_store(path) as store:
        return proposals.file(
            store, fingerprint, base=base or head(path), writes=writes, removes=[],
            message="propose: test\n", now=now, replace=replace,
        )  # fmt: skip


def branch(path, fingerprint=FINGERPRINT):
    return git(path, "rev-parse", layout.proposal_ref(fingerprint)).decode().strip()


def test_a_proposal_is_one_commit_on_its_base_under_the_fingerprint(tmp_path):
    path = made(tmp_path)
    made_one = filed(path, {"knobs/a": b"1\n"})
    assert made_one == Filed(commit=branch(path), created=True)
    assert git(path, "rev-list", "--parents", "-1", made_one.commit).decode().split()[1:] == [head(path)]
    assert clean(path)


def test_main_stays_where_it_is_when_something_is_proposed(tmp_path):
    path = made(tmp_path)
    before = head(path)
    filed(path, {"knobs/a": b"1\n"})
    assert head(path) == before


def test_the_same_change_proposed_again_is_the_first_proposal(tmp_path):
    path = made(tmp_path)
    first = filed(path, {"knobs/a": b"1\n"})
    assert filed(path, {"knobs/a": b"1\n"}, now=NOW + 60) == Filed(commit=first.commit, created=False)


def test_a_replaced_proposal_stands_on_the_new_main_and_the_old_commit_is_kept(tmp_path):
    path = made(tmp_path)
    first = filed(path, {"knobs/a": b"1\n"})
    land(path, {"knobs/b": b"1\n"})
    second = filed(path, {"knobs/a": b"1\n"}, replace=True)
    assert second.created
    assert second.commit == branch(path) != first.commit
    assert git(path, "cat-file", "-t", first.commit) == b"commit\n"


def test_replacing_with_the_very_same_commit_changes_nothing(tmp_path):
    path = made(tmp_path)
    first = filed(path, {"knobs/a": b"1\n"})
    assert filed(path, {"knobs/a": b"1\n"}, replace=True) == Filed(commit=first.commit, created=False)


def test_of_many_that_propose_one_change_at_once_one_creates_it_and_all_name_it(tmp_path):
    path = made(tmp_path)
    said = [
        racer.communicate()[0].decode().strip()
        for racer in [python(RACER, path, number, stdout=-1) for number in range(4)]
    ]
    created = [f"Filed(commit='{branch(path)}', created={word})" for word in ("False", "True")]
    assert sorted(said) == [created[0]] * 3 + [created[1]]


def test_every_proposal_is_listed_and_branches_of_no_fingerprint_are_none(tmp_path):
    path = made(tmp_path)
    commits = [filed(path, {"knobs/a": b"1\n"}, name).commit for name in (OTHER, FINGERPRINT)]
    git(path, "branch", "proposals/mine", "main")
    git(path, "pack-refs", "--all")
    with open_store(path) as store:
        assert proposals.every(store) == [(FINGERPRINT, commits[1]), (OTHER, commits[0])]


def test_a_proposal_that_changes_nothing_is_refused(tmp_path):
    with pytest.raises(RefusedError, match="nothing would change"):
        filed(made(tmp_path), {"harness.toml": b"# knobs\n"})


@pytest.mark.parametrize("name", ["", "x", "AB" * 32, "ab" * 32 + "\n", "../main", "\uff11" * 64])
def test_what_is_no_fingerprint_never_becomes_a_branch(tmp_path, name):
    with pytest.raises(UsageError, match="not a SHA-256"):
        filed(made(tmp_path), {"knobs/a": b"1\n"}, name)


def test_a_stale_lock_on_the_branch_is_named(tmp_path):
    path = made(tmp_path)
    lock = path / f"{layout.proposal_ref(FINGERPRINT)}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(LockedError, match="has stood for"):
        filed(path, {"knobs/a": b"1\n"})
