import os
import time

import pytest
from stores import NOW, git, made, object_file, read, revise, run_id, tip, tree, unpack, write

from githarness import canon
from githarness.errors import CorruptError, LockedError, StorageError, UsageError
from githarness.store import layout
from githarness.store.find import open_store
from githarness.store.lock import Lock
from githarness.store.writer import Writer

RUN = layout.run(run_id(1))


def clean(path):
    """Tell whether git finds nothing wrong with a store."""
    return git(path, "fsck", "--full", "--strict", "--no-dangling") == b""


def elsewhere(path, name, data=b"theirs"):
    """Move recordings on, as a program does that knows no lock of ours."""
    git(path, "fast-import", "--quiet", data=(
        f"commit {layout.RECORDINGS}\ncommitter t <t@t> 1 +0000\ndata 0\nfrom {layout.RECORDINGS}^0\n"
        f"M 100644 inline {name}\ndata {len(data)}\n"
    ).encode() + data + b"\n")  # fmt: skip


def test_a_commit_is_pinned_to_the_byte(tmp_path):
    path = made(tmp_path)
    assert write(path, b"one\n", run=1) == "7b477c0599fc61ab37b871d9b4257a3c0651995a"


def test_every_file_is_named_by_its_own_sha256(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store, Writer(store) as writer:
        named = [
            layout.part(writer.part(b"1")),
            layout.surface(writer.surface(b"[]")),
            layout.prompt(writer.prompt(b"be")),
        ]
        writer.commit("test", now=NOW)
        assert [store.read(name) for name in named] == [b"1", b"[]", b"be"]


def test_one_call_is_one_commit_on_top_of_the_last(tmp_path):
    path = made(tmp_path)
    before = tip(path)
    made_commit = write(path, b"one\n", b"two\n", run=1)
    assert git(path, "rev-list", "--parents", "-1", layout.RECORDINGS).decode().split() == [
        made_commit,
        before,
    ]
    assert clean(path)


def test_files_that_were_there_stay(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n")
    write(path, b"two\n", run=1)
    assert read(path, layout.part(canon.sha256(b"one\n"))) == b"one\n"


def test_nothing_new_is_no_commit_and_no_file(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n", run=1)
    before = sorted(path.rglob("*"))
    assert write(path, b"one\n", run=1) is None
    assert sorted(path.rglob("*")) == before


def test_an_empty_writer_commits_nothing(tmp_path):
    assert write(made(tmp_path)) is None


def test_what_the_caller_knows_to_be_stored_is_not_sent_again(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n")
    with open_store(path) as store, Writer(store, known={canon.sha256(b"one\n")}) as writer:
        writer.part(b"one\n")
        assert writer.commit("test", now=NOW) is None


def test_a_writer_that_is_left_without_a_commit_moves_nothing(tmp_path):
    path = made(tmp_path)
    before = tip(path)
    with open_store(path) as store, Writer(store) as writer:
        writer.part(b"one\n")
    assert tip(path) == before
    assert not list(path.glob("fast_import_crash_*"))


def test_a_writer_can_commit_more_than_once(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store, Writer(store) as writer:
        writer.part(b"one\n")
        first = writer.commit("test", now=NOW)
        writer.part(b"one\n")
        assert writer.commit("test", now=NOW) is None
        writer.part(b"two\n")
        assert store.commit(writer.commit("test", now=NOW)).parents == (first,)


def test_a_change_is_given_the_bytes_at_the_tip(tmp_path):
    path, seen = made(tmp_path), []
    for text in (b"1", b"2"):
        revise(path, RUN, lambda old, text=text: seen.append(old) or text)
    assert seen == [None, b"1"]
    assert read(path, RUN) == b"2"


@pytest.mark.parametrize("same", [lambda _: None, lambda old: old])
def test_a_change_that_leaves_a_file_commits_nothing(tmp_path, same):
    path = made(tmp_path)
    write(path, run=1)
    assert revise(path, RUN, same) is None


def test_two_changes_of_one_file_follow_each_other(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store, Writer(store) as writer:
        writer.revise(RUN, lambda _: b"1")
        writer.revise(RUN, lambda old: old + b"2")
        writer.revise(RUN, lambda _: None)
        writer.commit("test", now=NOW)
        assert store.read(RUN) == b"12"


def test_a_path_that_is_none_of_a_store_is_refused_before_anything_is_sent(tmp_path):
    with open_store(made(tmp_path)) as store, Writer(store) as writer, pytest.raises(UsageError):
        writer.revise("runs/../../config", lambda _: b"")


def test_a_branch_that_moved_is_written_again_on_top_of_what_moved_it(tmp_path):
    path, calls = made(tmp_path), []

    def change(old):
        if len(calls) < 3:
            elsewhere(path, RUN, b"theirs %d" % len(calls))
        calls.append(old)
        return (old or b"") + b" and ours"

    with open_store(path) as store, Writer(store) as writer:
        part = layout.part(writer.part(b"one\n"))
        writer.revise(RUN, change)
        assert writer.commit("test", now=NOW) == store.recordings()
        assert store.read(RUN) == b"theirs 2 and ours"
        assert store.read(part) == b"one\n"
    assert calls == [None, b"theirs 0", b"theirs 1", b"theirs 2"]
    assert clean(path)


def test_a_branch_that_never_stands_still_is_given_up_on(tmp_path):
    path, turn = made(tmp_path), iter(range(1000))

    def change(_):
        elsewhere(path, "other", b"%d" % next(turn))
        return b"ours"

    with open_store(path) as store, Writer(store, attempts=3) as writer:
        writer.revise(RUN, change)
        with pytest.raises(LockedError, match="moved on 3 times"):
            writer.commit("test", now=NOW)


def test_a_lock_that_git_left_is_named_and_not_deleted(tmp_path):
    path = made(tmp_path)
    lock = path / f"{layout.RECORDINGS}.lock"
    lock.write_text("")
    os.utime(lock, (time.time() - 3600,) * 2)
    before = tip(path)
    with pytest.raises(LockedError, match=r"recordings\.lock has stood for 360\d s") as caught:
        write(path, b"one\n", run=1)
    assert lock.exists()
    assert f"rm {lock}" in caught.value.hint
    assert tip(path) == before


def test_without_the_stale_lock_the_same_call_succeeds(tmp_path):
    path = made(tmp_path)
    lock = path / f"{layout.RECORDINGS}.lock"
    lock.write_text("")
    with pytest.raises(LockedError):
        write(path, b"one\n", run=1)
    lock.unlink()
    assert write(path, b"one\n", run=1) == tip(path)


def test_a_git_that_dies_half_way_moves_nothing(tmp_path):
    path = made(tmp_path)
    before = tip(path)
    with open_store(path) as store, Writer(store) as writer:
        writer.part(b"one\n")
        writer.revise(RUN, lambda _: os.kill(writer._import._process.pid, 9) or b"x" * 200_000)
        with pytest.raises(StorageError, match="signal 9"):
            writer.commit("test", now=NOW)
    assert tip(path) == before
    assert write(path, b"one\n", run=1) == tip(path)


def test_an_error_in_a_change_leaves_the_store_as_it_was_and_free(tmp_path):
    path = made(tmp_path)
    before = tip(path)
    with pytest.raises(ZeroDivisionError):
        revise(path, RUN, lambda _: b"x" * (1 // 0))
    assert tip(path) == before
    assert write(path, run=1)


def test_recording_again_repairs_a_damaged_part(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n")
    unpack(path)
    name = layout.part(canon.sha256(b"one\n"))
    object_file(path, name).write_bytes(b"")
    with pytest.raises(CorruptError):
        read(path, name)
    write(path, b"one\n")
    assert read(path, name) == b"one\n"


def test_a_part_of_many_megabytes_is_written_and_read(tmp_path):
    path, big = made(tmp_path), os.urandom(3_000_000)
    write(path, big)
    assert read(path, layout.part(canon.sha256(big))) == big


@pytest.mark.parametrize("data", [b"", b"\n", b"done\n", b"\0\r\n", b"data 3\nabc\n", bytes(range(256))])
def test_any_bytes_come_back_as_they_were(tmp_path, data):
    path = made(tmp_path)
    write(path, data)
    assert read(path, layout.part(canon.sha256(data))) == data


def test_a_message_of_any_text_is_kept_in_one_commit(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store, Writer(store) as writer:
        writer.part(b"one\n")
        writer.commit("record: caf\u00e9\n\ndone\nM 100644 x\n\udcff", now=NOW)
    said = git(path, "log", "-1", "--format=%B", layout.RECORDINGS).decode()
    assert said.startswith("record: caf\u00e9\n\ndone\nM 100644 x\n?")


def test_the_same_files_give_the_same_tree_in_any_order(tmp_path):
    first, second = made(tmp_path, "a"), made(tmp_path, "b")
    write(first, b"one\n", b"two\n", run=1)
    write(second, b"two\n", run=1)
    write(second, b"one\n")
    assert tree(first) == tree(second)


def test_a_lock_that_is_held_is_waited_for_only_so_long(tmp_path):
    with (
        Lock(tmp_path / "lock"),
        pytest.raises(LockedError, match="has held"),
        Lock(tmp_path / "lock", patience=0.01),
    ):
        pass


def test_a_lock_can_be_taken_again(tmp_path):
    for _ in range(2):
        with Lock(tmp_path / "lock"):
            assert (tmp_path / "lock").exists()


def test_what_is_chosen_is_taken_away_in_the_same_commit(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n", b"two\n", run=1)
    gone = layout.part(canon.sha256(b"one\n"))
    with open_store(path) as store, Writer(store) as writer:
        writer.part(b"three\n")
        writer.remove(lambda _: [gone])
        writer.commit("test", now=NOW)
        kept = {name for name, _ in store.paths(layout.PARTS)}
    assert kept == {layout.part(canon.sha256(data)) for data in (b"two\n", b"three\n")}
    assert clean(path)


def test_what_is_written_again_is_not_taken_away(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store, Writer(store) as writer:
        name = layout.part(writer.part(b"one\n"))
        writer.remove(lambda _: [name])
        writer.commit("test", now=NOW)
        assert store.read(name) == b"one\n"


def test_a_choice_is_asked_again_on_the_tip_that_it_was_moved_to(tmp_path):
    path, asked = made(tmp_path), []

    def choose(at):
        if not asked:
            elsewhere(path, "other")
        asked.append(at)
        return ()

    with open_store(path) as store, Writer(store) as writer:
        writer.part(b"one\n")
        writer.remove(choose)
        writer.commit("test", now=NOW)
        assert asked[1] == store.commit(store.recordings()).parents[0]


def test_a_part_that_is_dropped_is_in_no_commit(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store, Writer(store) as writer:
        writer.drop([writer.part(b"one\n")])
        assert writer.commit("test", now=NOW) is None


def test_a_part_of_the_store_is_not_dropped(tmp_path):
    path = made(tmp_path)
    write(path, b"one\n")
    with open_store(path) as store, Writer(store) as writer:
        writer.drop([writer.part(b"one\n")])
        writer.part(b"two\n")
        writer.commit("test", now=NOW)
        assert store.read(layout.part(canon.sha256(b"one\n"))) == b"one\n"


def test_an_import_that_fails_takes_its_own_unfinished_pack_away(tmp_path):
    path = made(tmp_path)
    other = path / "objects/pack/tmp_pack_other"
    with open_store(path) as store, Writer(store) as writer:
        writer.part(os.urandom(100_000))
        other.write_text("")
        writer._import._process.kill()
        writer._import._process.wait()
        with other.open(), pytest.raises(StorageError):
            writer.part(os.urandom(3_000_000))
    assert list(path.rglob("tmp_*")) == [other]
