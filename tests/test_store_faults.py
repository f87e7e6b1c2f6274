"""What must hold when processes are killed, disks are full and many write at once."""

import os
import time

import pytest
from stores import EMPTY, git, made, python, read, run_id, tip, tree, unpack, write

from githarness import canon
from githarness.errors import StorageError
from githarness.store import layout
from githarness.store.check import fsck
from githarness.store.find import open_store

# Writes `count` runs with a part each, and says after each one that it is stored.
RECORDER = """
import sys
from stores import EMPTY, write
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
from pathlib import Path
for number in range(first, first + count):
    write(Path(path), b"part of %d\\n" % number * 900, run=number)
    print(number, flush=True)
"""
# One commit of many parts, slow enough to be killed anywhere in it.
BULK = """
import sys
from pathlib import Path
from stores import EMPTY, write
write(Path(sys.argv[1]), *(b"%d\\n" % number * 20000 for number in range(60)), run=1)
"""


def problems(path):
    with open_store(path) as store:
        return [problem for problem in fsck(store, now=time.time()) if problem.rule != "leftover"]


def part_name(number):
    return layout.part(canon.sha256(b"part of %d\n" % number * 900))


def test_eight_writers_lose_nothing_that_was_acknowledged(tmp_path):
    path = made(tmp_path)
    writers = [python(RECORDER, path, 100 * number, 20, stdout=-1) for number in range(8)]
    said = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    with open_store(path) as store:
        listed = {name for name, _ in store.paths()}
    assert len(said) == 160
    assert {name for n in said for name in (part_name(n), layout.run(run_id(n)))} <= listed
    assert git(path, "rev-list", "--count", layout.RECORDINGS) == b"161\n"
    assert git(path, "rev-list", "--merges", layout.RECORDINGS) == b""
    assert problems(path) == []


def test_a_writer_killed_at_any_moment_commits_all_or_nothing(tmp_path):
    whole = made(tmp_path, "whole")
    python(BULK, whole).wait()
    path = made(tmp_path)
    before = tree(path)
    for moment in range(8):
        writer = python(BULK, path)
        time.sleep(0.06 + 0.02 * moment)
        writer.kill()
        writer.wait()
        assert tree(path) in {before, tree(whole)}
    python(BULK, path).wait()
    assert tree(path) == tree(whole)
    assert problems(path) == []


def test_what_was_acknowledged_before_a_kill_is_there(tmp_path):
    path = made(tmp_path)
    writer = python(RECORDER, path, 0, 1000, stdout=-1)
    said = [int(writer.stdout.readline()) for _ in range(5)]
    writer.kill()
    writer.communicate()
    for number in said:
        assert read(path, part_name(number)) is not None
    assert problems(path) == []


def test_a_full_disk_moves_nothing_and_says_so(tmp_path):
    path = made(tmp_path)
    before = tip(path)
    code = (
        "import resource, sys; from pathlib import Path; from stores import EMPTY, write; import os\n"
        "from githarness.errors import StorageError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "try: write(Path(sys.argv[1]), *(os.urandom(30_000) for _ in range(20)), run=1)\n"
        "except StorageError as error: print(error.exit_code, error.message, error.hint)\n"
    )
    said = python(code, path, stdout=-1).communicate()[0].decode()
    assert said.startswith("3 the store at ")
    assert "nothing was changed" in said
    assert not list(path.glob("fast_import_crash_*"))
    assert tip(path) == before


def test_after_a_full_disk_the_same_record_succeeds(tmp_path):
    path = made(tmp_path)
    test_a_full_disk_moves_nothing_and_says_so(tmp_path / "other")
    write(path, b"one\n", run=1)
    assert problems(path) == []


@pytest.mark.parametrize("blocked", ["objects/pack", "githarness.lock"])
def test_a_store_that_cannot_be_written_is_an_inability(tmp_path, blocked):
    path = made(tmp_path)
    unpack(path)
    place = path / blocked
    # As root nothing is read-only: what is in the way is of the wrong kind instead.
    place.unlink() if place.is_file() else place.rename(tmp_path / "moved")
    place.mkdir() if blocked == "githarness.lock" else place.write_text("")
    with pytest.raises(StorageError) as caught:
        write(path, b"one\n", run=1)
    assert caught.value.exit_code == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_store_can_be_read(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n", run=1)
    for folder in (path, path / "objects" / "pack", path / "refs" / "heads"):
        folder.chmod(0o500)
    assert read(path, layout.run(run_id(1))) == EMPTY
    with pytest.raises(StorageError):
        write(path, b"two\n", run=2)


def test_housekeeping_between_and_beside_records_loses_nothing(tmp_path):
    path = made(tmp_path)
    writers = [python(RECORDER, path, 100 * number, 12, stdout=-1) for number in range(2)]
    while any(writer.poll() is None for writer in writers):
        git(path, "pack-refs", "--all")
        git(path, "repack", "-a", "-d", "-q")
    said = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    assert len(said) == 24
    assert all(read(path, part_name(number)) for number in said)
    assert problems(path) == []
