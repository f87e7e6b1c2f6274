import os
import stat
import subprocess

import pytest
from stores import EMPTY, git, made, python, read, run_id, tip, write

from githarness.errors import CorruptError, MissingError, RefusedError, StorageError
from githarness.store import create as making
from githarness.store import layout, mark
from githarness.store.create import create
from githarness.store.find import open_store

ROOT_OF_RECORDINGS = "bd64d6450f5412504fcfe1dc2ced5f23ba1ed367"


def test_the_root_of_recordings_is_the_same_on_every_machine(tmp_path):
    path = create(tmp_path / "store", {"harness.toml": b"x"}, now=5).path
    assert git(path, "rev-parse", layout.RECORDINGS).decode().strip() == ROOT_OF_RECORDINGS


def test_the_root_of_main_holds_the_given_files_and_its_date(tmp_path):
    path = create(tmp_path / "store", {"harness.toml": b"x = 1\n"}, now=5).path
    assert git(path, "ls-tree", "--name-only", layout.MAIN).split() == [b".gitattributes", b"harness.toml"]
    assert git(path, "show", "main:harness.toml") == b"x = 1\n"
    assert git(path, "log", "--format=%ct %at", "main") == b"5 5\n"


def test_the_same_files_and_date_give_the_same_main(tmp_path):
    first = create(tmp_path / "a", {"b": b"1", "a": b"2"}, now=5).path
    second = create(tmp_path / "b", {"a": b"2", "b": b"1"}, now=5).path
    assert git(first, "rev-parse", "main") == git(second, "rev-parse", "main")


def test_a_second_init_changes_nothing(tmp_path):
    path = made(tmp_path)
    before = git(path, "for-each-ref")
    assert create(path, {"harness.toml": b"other"}) == making.Created(path=path, created=False)
    assert git(path, "for-each-ref") == before


def test_a_store_is_readable_by_nobody_else_whatever_the_umask(tmp_path):
    old = os.umask(0)
    try:
        path = made(tmp_path)
    finally:
        os.umask(old)
    modes = [stat.S_IMODE(file.stat().st_mode) & 0o077 for file in [path, *path.rglob("*")]]
    assert set(modes) == {0}
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_the_store_is_bare_and_opens_on_main(tmp_path):
    path = made(tmp_path)
    assert git(path, "rev-parse", "--is-bare-repository") == b"true\n"
    assert (path / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_no_conversion_stands_between_bytes_and_a_work_tree(tmp_path):
    path = made(tmp_path)
    said = git(path, "show", "recordings:.gitattributes")
    assert said == (path / "info" / "attributes").read_bytes() == layout.ATTRIBUTES_TEXT


def test_a_file_is_refused(tmp_path):
    (tmp_path / "store").write_text("mine")
    with pytest.raises(RefusedError, match="is a file"):
        create(tmp_path / "store", {})


@pytest.mark.parametrize("name", ["notes.txt", "HEAD", "config", ".hidden"])
def test_a_folder_with_something_else_in_it_is_refused_and_left_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(RefusedError, match="is not empty"):
        create(tmp_path, {})
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_an_empty_folder_becomes_a_store(tmp_path):
    (tmp_path / "store").mkdir()
    assert create(tmp_path / "store", {}).created


def test_a_place_that_cannot_be_made_is_an_inability(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be made"):
        create(tmp_path / "file" / "store", {})


@pytest.mark.parametrize("lost", ["config", "main", "recordings", "all", "attributes"])
def test_an_interrupted_init_is_completed_by_the_next(tmp_path, lost):
    path = made(tmp_path)
    complete = git(path, "for-each-ref")
    git(path, "config", "--unset", mark.KEY)
    for name in {"main": ["refs/heads/main"], "recordings": ["refs/heads/recordings"],
                 "all": ["HEAD", "config", "refs/heads/main", "refs/heads/recordings"],
                 "attributes": ["info/attributes"]}.get(lost, []):  # fmt: skip
        (path / name).unlink()
    assert create(path, {"harness.toml": b"# knobs\n"}).created
    assert git(path, "for-each-ref") == complete
    assert mark.read(path) is not None


def test_inits_at_the_same_time_make_one_store(tmp_path):
    code = (
        "import sys; from pathlib import Path; from githarness.store.create import create;"
        "print(create(Path(sys.argv[1]), {}).created)"
    )
    racers = [python(code, tmp_path / "store", stdout=-1) for _ in range(3)]
    said = sorted(racer.communicate()[0].strip() for racer in racers)
    assert said == [b"False", b"False", b"True"]


@pytest.mark.parametrize("lost", ["refs/heads/main", "refs/heads/recordings"])
def test_a_store_that_lost_a_branch_is_not_completed_but_said_to_have_lost_it(tmp_path, lost):
    path = made(tmp_path)
    (path / lost).unlink()
    before = git(path, "for-each-ref")
    with pytest.raises(CorruptError, match=f"has lost {lost}") as caught:
        create(path, {})
    assert (git(path, "for-each-ref"), caught.value.exit_code) == (before, 3)
    assert all(words in caught.value.hint for words in ("fsck --lost-found", "reflog", f"update-ref {lost}"))


def test_what_the_hint_says_puts_a_lost_branch_back(tmp_path):
    path = made(tmp_path)
    git(path, "update-ref", "-d", layout.RECORDINGS)
    found = git(path, "fsck", "--lost-found").decode().split()
    git(path, "update-ref", layout.RECORDINGS, found[found.index("commit") + 1])
    assert not create(path, {}).created


def test_a_bare_clone_of_a_store_becomes_one_as_it_is(tmp_path):
    path = made(tmp_path)
    write(path, run=1)
    subprocess.run(["git", "clone", "-q", "--mirror", path, tmp_path / "copy"], check=True)
    with pytest.raises(MissingError):
        open_store(tmp_path / "copy")
    assert not create(tmp_path / "copy", {}).created
    assert read(tmp_path / "copy", layout.run(run_id(1))) == EMPTY
    assert tip(tmp_path / "copy") == tip(path)


def test_another_bare_repository_does_not_become_a_store(tmp_path):
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "other"], check=True)
    with pytest.raises(RefusedError, match="no store of githarness"):
        create(tmp_path / "other", {})
