import os
from pathlib import Path

import platformdirs
import pytest
from stores import git, made

from githarness.errors import CorruptError, MissingError, StorageError, UnreadableError
from githarness.store import layout, mark
from githarness.store.find import locate, open_store


def project(tmp_path, value=None):
    """Make a repository of a user's own, with a folder to stand in."""
    top = tmp_path / "project"
    (top / "deep").mkdir(parents=True)
    git(top / ".git", "init", "--quiet", str(top))
    if value is not None:
        git(top / ".git", "config", "githarness.store", value)
    return top


def test_the_flag_wins_over_everything(tmp_path):
    top = project(tmp_path, "/configured")
    assert locate("flag", {"GITHARNESS_STORE": "/env"}, top) == top / "flag"


def test_the_environment_wins_over_the_repository(tmp_path):
    assert locate(None, {"GITHARNESS_STORE": "/env"}, project(tmp_path, "/configured")) == Path("/env")


def test_the_repository_stood_in_names_its_store(tmp_path):
    assert locate(None, {}, project(tmp_path, "/configured") / "deep") == Path("/configured")


def test_a_relative_store_counts_from_the_top_of_the_repository(tmp_path):
    top = project(tmp_path, "../store")
    assert locate(None, {}, top / "deep") == top / "../store"


def test_an_empty_value_is_no_value(tmp_path):
    assert locate("", {"GITHARNESS_STORE": ""}, project(tmp_path, "/configured")) == Path("/configured")


def test_whoever_stands_in_a_store_means_it(tmp_path):
    path = made(tmp_path)
    assert locate(None, {}, path) == path


def test_without_a_word_the_store_is_the_users_own(tmp_path):
    expected = platformdirs.user_data_path("githarness") / "store.git"
    assert locate(None, {}, tmp_path) == locate(None, {}, project(tmp_path)) == expected


def test_a_repository_that_is_merely_lying_around_names_nothing(tmp_path):
    git(tmp_path / "bare", "init", "--quiet", "--bare")
    git(tmp_path / "bare", "config", "githarness.store", "/trap")
    assert locate(None, {}, tmp_path / "bare") != Path("/trap")


def test_a_place_without_a_store_names_the_command_that_makes_one(tmp_path):
    with pytest.raises(MissingError, match="no store at") as caught:
        open_store(tmp_path / "nowhere")
    assert caught.value.hint == f"githarness --store {tmp_path / 'nowhere'} init"


def test_a_folder_that_is_no_store_is_told_from_an_absent_one(tmp_path):
    with pytest.raises(MissingError, match="is no store of githarness"):
        open_store(tmp_path)


def test_a_users_own_repository_is_no_store(tmp_path):
    with pytest.raises(MissingError, match="is no store"):
        open_store(project(tmp_path, "/configured") / ".git")


def test_a_store_that_was_never_completed_says_so(tmp_path):
    path = made(tmp_path)
    git(path, "config", "--unset", mark.KEY)
    with pytest.raises(MissingError, match="never completed"):
        open_store(path)


def test_a_store_of_a_newer_version_is_left_to_the_newer_program(tmp_path):
    path = made(tmp_path)
    git(path, "config", mark.KEY, "2")
    with pytest.raises(UnreadableError, match="version '2'"):
        open_store(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_store_that_belongs_to_somebody_else_is_refused(tmp_path):
    path = made(tmp_path)
    os.chown(path, 65534, -1)
    with pytest.raises(StorageError, match="belongs to user 65534"):
        open_store(path)


def test_packed_branches_are_still_branches(tmp_path):
    path = made(tmp_path)
    git(path, "pack-refs", "--all")
    assert not (path / layout.MAIN).exists()
    with open_store(path) as store:
        assert store.tip(layout.MAIN) is not None


def test_a_store_that_lost_a_branch_is_no_store_and_says_what_it_lost(tmp_path):
    path = made(tmp_path)
    (path / layout.RECORDINGS).unlink()
    assert mark.read(path) is None
    with pytest.raises(CorruptError, match="has lost refs/heads/recordings"):
        open_store(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[githarness]\n\tstore = 1\n", {"githarness.store": "1"}),
        ("[GitHarness] Store=1 ; why\n", {"githarness.store": "1"}),
        ("[a]\nstore = 1\n[githarness]\n# store = 1\n", {"a.store": "1"}),
        ('[remote "Up"]\n url = "x"\n', {"remote.Up.url": "x"}),
        ("[a]\nb = 1\nb = 2\n", {"a.b": "2"}),
        ("store = 1\n", {".store": "1"}),
        ("", {}),
    ],
)
def test_a_configuration_is_read_as_git_reads_it(text, expected):
    assert mark.parse(text) == expected
