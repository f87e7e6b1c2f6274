import os

from githarness.capture.walk import files


def names(found):
    return [(one.path.name, one.reason) for one in found]


def test_folders_are_walked_in_sorted_order(tmp_path):
    for name in ("b/2", "b/1", "a"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert names(files([tmp_path])) == [("a", ""), ("1", ""), ("2", "")]


def test_a_loop_of_links_ends(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert ("file", "") in names(files([tmp_path]))


def test_a_link_to_itself_is_an_obstacle_with_its_reason(tmp_path):
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert names(files([tmp_path])) == [("self", "too many levels of symbolic links")]


def test_two_names_of_one_file_are_one_file(tmp_path):
    (tmp_path / "one").write_text("x")
    os.link(tmp_path / "one", tmp_path / "two")
    assert len(list(files([tmp_path]))) == 1


def test_a_pipe_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert names(files([tmp_path])) == [("pipe", "not a regular file")]


def test_a_named_file_that_is_not_there_is_the_persons_own_word(tmp_path):
    found = list(files([tmp_path / "gone"]))
    assert found[0].named
    assert found[0].reason == "no such file or directory"


def test_what_walking_finds_is_not_the_persons_own_word(tmp_path):
    (tmp_path / "file").write_text("x")
    assert not next(files([tmp_path])).named
