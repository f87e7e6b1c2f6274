import stat

import pytest

from githarness.errors import StorageError
from githarness.store import disk


def test_a_file_is_replaced_in_one_step_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before = path.stat().st_ino
    disk.replace(path, b"new")
    assert (path.read_bytes(), path.stat().st_ino != before) == (b"new", True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_stays_beside_a_file_that_was_replaced(tmp_path):
    disk.replace(tmp_path / "file", b"new")
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_replaced_is_an_error_and_leaves_nothing(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(StorageError, match="file cannot be written"):
        disk.replace(tmp_path / "file", b"new")
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_went_away_meanwhile_needs_no_settling(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    disk.settle(tmp_path / "a" / "b" / "gone", up_to=tmp_path)
