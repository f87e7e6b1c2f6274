import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import git, made

from githarness.store import gitobject


def test_the_id_of_a_blob_is_pinned_for_both_hashes():
    assert gitobject.identify("blob", b"hello\n", "sha1") == "ce013625030ba8dba906f756967f9e9ca394464a"
    expected = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"
    assert gitobject.identify("blob", b"hello\n", "sha256") == expected


def test_the_empty_blob_has_gits_own_well_known_id():
    assert gitobject.identify("blob", b"", "sha1") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_a_tree_is_read_as_git_lists_it(tmp_path):
    path = made(tmp_path)
    tree = git(path, "cat-file", "tree", "main^{tree}")
    listed = git(path, "ls-tree", "main").decode().splitlines()
    found = [f"{e.mode} blob {e.oid}\t{e.name}" for e in gitobject.entries(tree, "sha1")]
    assert found == listed


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.from_regex(r"[^\x00/]{1,12}", fullmatch=True), st.binary(min_size=20, max_size=20)))
)
def test_any_tree_comes_back_as_it_was_put_together(lines):
    tree = b"".join(b"100644 %s\0%s" % (name.encode(), oid) for name, oid in lines)
    found = [(entry.name, entry.oid) for entry in gitobject.entries(tree, "sha1")]
    assert found == [(name, oid.hex()) for name, oid in lines]


def test_a_folder_is_told_from_a_file():
    tree = b"40000 runs\0" + b"\1" * 20 + b"100644 runs.json\0" + b"\2" * 20
    assert [entry.is_folder for entry in gitobject.entries(tree, "sha1")] == [True, False]


@pytest.mark.parametrize("tree", [b"100644 name", b"100644 name\0" + b"\1" * 19])
def test_a_tree_that_is_cut_short_is_an_error_and_no_shorter_tree(tree):
    with pytest.raises(ValueError):
        list(gitobject.entries(tree, "sha1"))


COMMIT = b"tree " + b"1" * 40 + b"\nparent " + b"2" * 40 + b"\nparent " + b"3" * 40 + b"\n"
PEOPLE = b"author a <a@a> 5 +0000\ncommitter c <c> d> 7 -0130\n"


def test_a_commit_is_read_with_its_parents_in_order():
    found = gitobject.commit("4" * 40, COMMIT + PEOPLE + b"encoding x\ngpgsig a\n b\n\nsubject\n\nbody\n")
    assert (found.oid, found.tree, found.parents) == ("4" * 40, "1" * 40, ("2" * 40, "3" * 40))
    assert (found.time, found.message) == (7, "subject\n\nbody\n")


def test_a_commit_as_git_makes_it_is_read(tmp_path):
    path = made(tmp_path)
    found = gitobject.commit("4" * 40, git(path, "cat-file", "commit", "main"))
    assert (found.parents, found.message) == ((), "main: the first commit of a store\n")


@pytest.mark.parametrize(
    "data",
    [b"", COMMIT, PEOPLE, COMMIT[:-1], COMMIT + PEOPLE[:-7] + b"\n\nx", COMMIT.replace(b"1", b"g") + PEOPLE],
)
def test_what_git_would_not_have_written_is_no_commit(data):
    assert gitobject.commit("4" * 40, data) is None


@settings(max_examples=50)
@given(st.binary(max_size=80))
def test_no_bytes_make_reading_a_commit_fail(data):
    found = gitobject.commit("4" * 40, COMMIT + PEOPLE + b"\n" + data)
    assert found.message == data.decode("utf-8", "replace")
