import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_branch import blob, clean, commit, files, head, land, survey, tree
from stores import NOW, git, made, python, unpack, write

from githarness.errors import (
    CorruptError,
    LockedError,
    RefusedError,
    StorageError,
    UnreadableError,
    UsageError,
)
from githarness.store import layout, main, publish
from githarness.store.find import open_store
from githarness.store.main import Moved
from githarness.store.objects import Store
from githarness.store.trees import MAX_PATHS

MUTATION = layout.mutation("ab" * 32)

LANDER = """
import sys
from pathlib import Path
from made_branch import head, land
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    answer = None
    while not isinstance(answer, str):
        answer = land(path, {f"knobs/{name}": b"%d\\n" % number})
    print(answer, flush=True)
"""

TIDIER = """
import subprocess, sys
while True:
    subprocess.run(["git", "--git-dir", sys.argv[1], "gc", "--quiet"])
"""


def plain(path, name):
    """Return the first-parent commits of a branch, newest first, as git lists them."""
    return git(path, "rev-list", "--first-parent", name).decode().split()


def test_a_commit_on_main_is_pinned_to_the_byte(tmp_path):
    path = made(tmp_path)
    assert land(path, {"knobs/retries": b"3\n"}) == "b53d506d04e55062aa9b1f0dd4856f0a86885ca2"


def test_what_lands_is_one_commit_on_the_tip_with_the_message_as_given(tmp_path):
    path = made(tmp_path)
    before = head(path)
    answer = land(path, {MUTATION: b"{}"}, message="apply: one\n\nMutation: ab\n")
    assert git(path, "rev-list", "--parents", "-1", "main").decode().split() == [answer, before]
    assert git(path, "cat-file", "commit", "main").endswith(
        b"\ncommitter githarness <githarness@localhost> %d +0000\n\napply: one\n\nMutation: ab\n" % NOW
    )


def test_what_was_written_is_read_and_what_was_not_named_stays(tmp_path):
    path = made(tmp_path)
    land(path, {"knobs/a": b"1\n", "knobs/b": b"2\n", "overlay/0001-abc.md": b"x\n"})
    land(path, {"knobs/a": b"3\n"}, removes=["overlay/0001-abc.md"])
    assert files(path) == {
        layout.ATTRIBUTES: layout.ATTRIBUTES_TEXT,
        "harness.toml": b"# knobs\n",
        "knobs/a": b"3\n",
        "knobs/b": b"2\n",
    }
    assert clean(path)


def test_removing_what_was_written_gives_back_the_very_tree(tmp_path):
    path = made(tmp_path)
    land(path, {layout.decision("ab" * 32, "c" * 32): b"tag", "knobs/a": b"1\n"})
    land(path, removes=[layout.decision("ab" * 32, "c" * 32), "knobs/a"])
    assert git(path, "rev-parse", "main^{tree}") == git(path, "rev-parse", "main~2^{tree}")


@settings(max_examples=12, deadline=None)
@given(st.dictionaries(st.from_regex(r"(a|b|a-|a\.b|a0)(/(c|a|c\.d)){0,2}", fullmatch=True), st.binary()))
def test_any_files_are_spelled_as_git_spells_them(tmp_path_factory, wanted):
    wanted = {name: wanted[name] for name in wanted if not any(f.startswith(f"{name}/") for f in wanted)}
    path = made(tmp_path_factory.mktemp("any"))
    land(path, {**wanted, "knobs/z": b"1"})
    assert clean(path)
    assert {name: files(path)[name] for name in wanted} == wanted


def test_everything_can_be_removed(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store:
        objects = publish.fresh(store, "tree", b"")
    base = commit(path, tree(path, (b"100644", b"a", blob(path))), head(path))
    git(path, "update-ref", layout.MAIN, base)
    land(path, removes=["a"])
    assert git(path, "rev-parse", "main^{tree}").decode().strip() == objects.oid
    assert clean(path)


def test_of_two_that_land_on_one_base_one_wins_and_the_other_is_told(tmp_path):
    path = made(tmp_path)
    base = head(path)
    first = land(path, {"knobs/a": b"1\n"}, base=base)
    assert land(path, {"knobs/b": b"2\n"}, base=base) == Moved(expected=base, found=first)
    assert "knobs/b" not in files(path)


def test_a_main_that_was_set_back_is_not_moved_forward_again(tmp_path):
    path = made(tmp_path)
    root = head(path)
    later = land(path, {"knobs/a": b"1\n"})
    git(path, "update-ref", layout.MAIN, root)
    assert land(path, {"knobs/b": b"1\n"}, base=later) == Moved(expected=later, found=root)
    assert head(path) == root


def test_a_main_that_is_gone_is_told_as_none(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store:
        base = head(path)
        git(path, "update-ref", "-d", layout.MAIN)
        answer = main.land(store, base=base, writes={"knobs/a": b"1"}, removes=[], message="x", now=NOW)
    assert answer == Moved(expected=base, found=None)


def test_four_that_land_at_once_lose_nothing_that_was_acknowledged(tmp_path):
    path = made(tmp_path)
    landers = [python(LANDER, path, f"k{number}", 6, stdout=-1) for number in range(4)]
    said = {line.decode() for lander in landers for line in lander.communicate()[0].split()}
    assert len(said) == 24
    assert said < set(plain(path, "main"))
    assert len(plain(path, "main")) == 25
    assert clean(path)


def test_landing_beside_somebody_who_tidies_loses_nothing(tmp_path):
    path = made(tmp_path)
    tidier = python(TIDIER, path, stderr=-3)
    try:
        answers = [land(path, {"knobs/a": b"%d\n" % number}) for number in range(12)]
    finally:
        tidier.kill()
        tidier.wait()
    assert plain(path, "main")[:12] == answers[::-1]
    assert files(path)["knobs/a"] == b"11\n"


def test_landing_that_is_killed_at_any_moment_is_there_or_is_not(tmp_path):
    path = made(tmp_path)
    acknowledged = set()
    for _ in range(4):
        lander = python(LANDER, path, "a", 1000, stdout=-1)
        acknowledged |= {lander.stdout.readline().decode().strip() for _ in range(3)}
        lander.kill()
        lander.communicate()
    assert acknowledged <= set(plain(path, "main"))
    assert clean(path)


def test_recording_and_landing_do_not_meet(tmp_path):
    path = made(tmp_path)
    land(path, {"knobs/a": b"1\n"})
    write(path, b"one\n", run=1)
    assert isinstance(land(path, {"knobs/a": b"2\n"}), str)
    assert clean(path)


@pytest.mark.parametrize(
    ("writes", "removes", "words"),
    [
        ({}, [], "nothing would change"),
        ({"harness.toml": b"# knobs\n"}, [], "nothing would change"),
        ({}, ["knobs/none"], "knobs/none is to be removed"),
        ({"harness.toml/a": b""}, [], "harness.toml stands on main as something else"),
    ],
)
def test_what_would_change_nothing_or_something_else_is_refused_and_main_stays(
    tmp_path, writes, removes, words
):
    path = made(tmp_path)
    before = head(path)
    with pytest.raises(RefusedError, match=words):
        land(path, writes, removes)
    assert head(path) == before


@pytest.mark.parametrize(
    ("writes", "removes"),
    [
        ({"a": b"", "a/b": b""}, []),
        ({"a": b""}, ["a"]),
        ({"../a": b""}, []),
        ({".git/config": b""}, []),
        ({"a\nb": b""}, []),
        ({layout.ATTRIBUTES: b""}, []),
        ({}, ["/etc/passwd"]),
    ],
)
def test_a_path_that_is_none_is_refused_before_anything_is_read(tmp_path, writes, removes):
    with pytest.raises(UsageError):
        land(made(tmp_path), writes, removes)


def test_a_message_with_a_nul_is_refused(tmp_path):
    with pytest.raises(UsageError, match="NUL"):
        land(made(tmp_path), {"a": b""}, message="a\0b")


def test_a_lock_of_gits_that_stays_is_named_and_main_stays(tmp_path):
    path = made(tmp_path)
    before = head(path)
    (path / "refs/heads/main.lock").touch()
    with pytest.raises(LockedError, match=r"main\.lock has stood"):
        land(path, {"a": b"1"})
    assert head(path) == before


def test_a_store_that_cannot_be_written_says_so_and_main_stays(tmp_path):
    path = made(tmp_path)
    before = head(path)
    unpack(path)
    packs = path / "objects" / "pack"
    shutil.rmtree(packs)
    packs.write_text("a file where the folder of packs is to be")
    with pytest.raises(StorageError, match="could not be written"):
        land(path, {"a": b"1"})
    assert head(path) == before


@pytest.mark.parametrize(
    ("mode", "name", "reason"),
    [
        (b"120000", b"knobs", "symbolic link"),
        (b"100755", b"harness.toml", "program"),
        (b"160000", b"sub", "submodule"),
        (b"100664", b"a", "mode 100664"),
        (b"100644", b".git", "such a name"),
        (b"100644", b".GIT", "such a name"),
        (b"40000", b"..", "such a name"),
        (b"100644", b"a/b", "such a name"),
        (b"100644", b"a b", "such a name"),
        (b"100644", b"\xff", "such a name"),
        (b"100644", "\u202e".encode(), "such a name"),
    ],
)
def test_what_is_no_plain_file_under_a_plain_name_is_named_with_its_commit(tmp_path, mode, name, reason):
    path = made(tmp_path)
    target = git(path, "rev-parse", "main^{tree}").decode().strip() if mode == b"40000" else blob(path)
    odd = commit(path, tree(path, (mode, name, target)))
    with pytest.raises(UnreadableError, match=f"commit {odd} holds .*{reason}"):
        files(path, odd)


def test_a_fault_stands_beside_the_files_that_are_none(tmp_path):
    path = made(tmp_path)
    odd = commit(path, tree(path, (b"120000", b"a", blob(path)), (b"100644", b"b", blob(path))))
    found = survey(path, odd)
    assert found.files == {"b": b"x\n"}
    assert [fault.path for fault in found.faults] == ["a"]


def test_a_tree_that_names_one_thing_twice_is_a_fault(tmp_path):
    path = made(tmp_path)
    odd = commit(path, tree(path, (b"100644", b"a", blob(path, b"1")), (b"100644", b"a", blob(path, b"2"))))
    assert [fault.reason for fault in survey(path, odd).faults] == ["not a tree that git writes"]


def test_a_tree_that_spells_out_millions_of_paths_is_given_up(tmp_path):
    path = made(tmp_path)
    top = tree(path, *((b"100644", b"f%02d" % number, blob(path)) for number in range(30)))
    for _ in range(5):
        top = tree(path, *((b"40000", b"d%02d" % number, top) for number in range(30)))
    assert survey(path, commit(path, top)).faults[-1].reason == f"more than {MAX_PATHS} paths"


def test_a_folder_that_git_would_not_have_written_is_never_built_upon(tmp_path):
    path = made(tmp_path)
    twice = tree(path, (b"100644", b"a", blob(path, b"1")), (b"100644", b"a", blob(path, b"2")))
    odd = commit(path, tree(path, (b"40000", b"knobs", twice)), head(path))
    git(path, "update-ref", layout.MAIN, odd)
    with pytest.raises(CorruptError, match=r"knobs/\) is not a tree"):
        land(path, {"knobs/b": b"1"})


def test_what_stands_elsewhere_on_main_is_kept_as_it_is_whatever_it_is(tmp_path):
    path = made(tmp_path)
    odd = commit(
        path, tree(path, (b"120000", b"link", blob(path)), (b"100644", b"a", blob(path))), head(path)
    )
    git(path, "update-ref", layout.MAIN, odd)
    land(path, {"b": b"1"})
    assert git(path, "ls-tree", "main", "link").startswith(b"120000 blob ")


def test_a_path_of_too_many_folders_is_a_fault(tmp_path):
    path = made(tmp_path)
    top = tree(path, (b"100644", b"f", blob(path)))
    for _ in range(12):
        top = tree(path, (b"40000", b"d", top))
    assert [fault.reason for fault in survey(path, commit(path, top)).faults] == ["deeper than 8 folders"]


def test_a_file_too_large_for_a_state_is_a_fault_and_its_bytes_are_not_kept(tmp_path):
    path = made(tmp_path)
    big = blob(path, b"x" * (main.FILE_LIMIT + 1))
    odd = commit(path, tree(path, (b"100644", b"a", big), (b"100644", b"b", blob(path))))
    found = survey(path, odd)
    assert [fault.reason for fault in found.faults] == ["1048577 bytes, of which 1048576 are allowed"]
    assert found.files == {"b": b"x\n"}


def test_a_substituted_object_is_damage_and_never_a_file(tmp_path):
    path = made(tmp_path)
    good, other = blob(path, b"good"), blob(path, b"other")
    there = commit(path, tree(path, (b"100644", b"a", good)))
    target, source = (path / "objects" / oid[:2] / oid[2:] for oid in (good, other))
    target.chmod(0o600)
    target.write_bytes(source.read_bytes())
    with pytest.raises(CorruptError, match="do not hash"):
        files(path, there)


def test_a_replace_ref_changes_nothing_that_is_read(tmp_path):
    path = made(tmp_path)
    good, other = blob(path, b"good"), blob(path, b"other")
    there = commit(path, tree(path, (b"100644", b"a", good)))
    git(path, "replace", good, other)
    assert files(path, there) == {"a": b"good"}


def test_hostile_configuration_and_hooks_are_inert(tmp_path):
    path = made(tmp_path)
    hook = path / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    hook.chmod(0o700)
    for setting in ("core.hooksPath", "core.worktree"):
        git(path, "config", setting, str(hook.parent))
    assert isinstance(land(path, {"a": b"1"}), str)
    assert not (tmp_path / "ran").exists()


def test_a_branch_that_is_a_link_to_another_is_not_followed(tmp_path):
    path = made(tmp_path)
    base = head(path)
    git(path, "symbolic-ref", layout.MAIN, layout.RECORDINGS)
    with Store(path) as store:
        answer = main.land(store, base=base, writes={"a": b"1"}, removes=[], message="x", now=NOW)
    assert answer == Moved(expected=base, found=None)


def test_the_head_of_an_object_in_a_pack_is_read_by_git_at_any_size(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store:
        items = [publish.fresh(store, "blob", b"x" * size) for size in (0, 1, 15, 16, 2047, 2048, 300_000)]
        publish.write(store, items)
        assert [len(data) for data in store.blobs(item.oid for item in items)] == [
            0, 1, 15, 16, 2047, 2048, 300_000,
        ]  # fmt: skip
