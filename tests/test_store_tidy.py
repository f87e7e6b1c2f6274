from stores import EMPTY, git, made, read, run_id, write

from githarness.store import layout
from githarness.store.find import open_store
from githarness.store.git import Git
from githarness.store.lock import Lock
from githarness.store.stream import MANY_PACKS, pack_count
from githarness.store.tidy import DUE, is_due, start, tidy


def filled(tmp_path, count):
    path = made(tmp_path)
    for number in range(count):
        write(path, run=number)
    return path


def test_a_record_is_one_pack(tmp_path):
    path = filled(tmp_path, 3)
    assert pack_count(Git(path)) == 4
    assert git(path, "count-objects") == b"0 objects, 0 kilobytes\n"


def test_tidying_joins_packs_and_loses_nothing(tmp_path):
    path = filled(tmp_path, 5)
    git(path, "hash-object", "-w", "--stdin", data=b"named by nothing yet")
    assert tidy(Git(path))
    assert pack_count(Git(path)) == 1
    assert all(read(path, layout.run(run_id(number))) == EMPTY for number in range(5))
    assert git(
        path,
        "cat-file",
        "-t",
        git(path, "hash-object", "--stdin", data=b"named by nothing yet").decode().strip(),
    )


def test_tidying_is_due_long_before_git_slows_down(tmp_path):
    path = made(tmp_path)
    assert not is_due(Git(path))
    for number in range(DUE):
        (path / "objects" / "pack" / f"pack-{number:040x}.pack").write_text("")
    assert is_due(Git(path))


def test_beyond_many_packs_objects_are_left_loose(tmp_path):
    path = made(tmp_path)
    for number in range(MANY_PACKS):
        (path / "objects" / "pack" / f"pack-{number:040x}.pack").write_text("")
    before = pack_count(Git(path))
    write(path, run=1)
    assert pack_count(Git(path)) == before
    assert read(path, layout.run(run_id(1))) == EMPTY


def test_only_one_tidies_and_the_other_does_not_wait(tmp_path):
    path = filled(tmp_path, 2)
    with Lock(path / layout.TIDY_LOCK):
        assert not tidy(Git(path))
    assert pack_count(Git(path)) == 3


def test_packs_are_joined_while_the_writer_goes_on(tmp_path):
    path = filled(tmp_path, 4)
    start(Git(path))
    with Lock(path / layout.TIDY_LOCK, patience=20):
        assert pack_count(Git(path)) == 1
    assert git(path, "fsck", "--full") == b""


def test_a_store_that_cannot_be_tidied_is_recorded_into_all_the_same(tmp_path):
    path = filled(tmp_path, 1)
    (path / layout.TIDY_LOCK).mkdir()
    start(Git(path))
    assert write(path, run=9)


def test_a_writer_tidies_once_there_are_many_packs(tmp_path):
    path = filled(tmp_path, DUE)
    with Lock(path / layout.TIDY_LOCK, patience=20):
        assert pack_count(Git(path)) < DUE // 2


def test_a_reader_that_stands_by_reads_on(tmp_path):
    path = filled(tmp_path, 5)
    with open_store(path) as store:
        assert store.read(layout.run(run_id(0))) == EMPTY
        tidy(Git(path))
        assert store.read(layout.run(run_id(4))) == EMPTY
