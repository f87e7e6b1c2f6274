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
