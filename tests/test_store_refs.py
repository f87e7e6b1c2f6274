import pytest
from stores import git, made, write

from githarness.store import layout, refs


def branch(path):
    return git(path, "rev-parse", layout.RECORDINGS).decode().strip()


def test_a_loose_branch_is_read(tmp_path):
    path = made(tmp_path)
    assert refs.tip(path, layout.RECORDINGS) == branch(path)


def test_a_packed_branch_is_read(tmp_path):
    path = made(tmp_path)
    git(path, "pack-refs", "--all")
    assert not (path / layout.RECORDINGS).exists()
    assert refs.tip(path, layout.RECORDINGS) == branch(path)


def test_a_loose_branch_wins_over_an_older_packed_one(tmp_path):
    path = made(tmp_path)
    git(path, "pack-refs", "--all")
    assert refs.tip(path, layout.RECORDINGS) != write(path, b"one\n") == refs.tip(path, layout.RECORDINGS)


def test_a_tag_is_the_tag_object_and_not_what_it_points_at(tmp_path):
    path = made(tmp_path)
    git(path, "tag", "-a", "-m", "x", "githarness/v1/a", "main")
    git(path, "pack-refs", "--all")
    assert (
        refs.tip(path, "refs/tags/githarness/v1/a")
        == git(path, "rev-parse", "githarness/v1/a").decode().strip()
    )


@pytest.mark.parametrize("name", ["refs/heads/mai", "refs/heads/main2", "refs/heads/m.in", "refs/heads"])
def test_a_name_is_matched_whole(tmp_path, name):
    path = made(tmp_path)
    git(path, "pack-refs", "--all")
    assert refs.tip(path, name) is None


@pytest.mark.parametrize(
    "name", ["", "main", "HEAD", "refs/heads/../../config", "refs//heads/main", "refs/heads/a\nb"]
)
def test_what_is_no_name_of_a_ref_is_no_ref(tmp_path, name):
    assert refs.tip(made(tmp_path), name) is None


@pytest.mark.parametrize("text", ["", "ref: refs/heads/main\n", "0123", "g" * 40])
def test_a_file_that_holds_no_id_is_no_ref(tmp_path, text):
    path = made(tmp_path)
    (path / "refs/heads/odd").write_text(text)
    assert refs.tip(path, "refs/heads/odd") is None
