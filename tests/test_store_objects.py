import zlib

import pytest
from stores import NOW, git, made, object_file, read, revise, run_id, unpack, write

from githarness import canon
from githarness.errors import CorruptError
from githarness.store import layout
from githarness.store.find import open_store

PART = b'{"role":"user"}\n'
PLACE = layout.part(canon.sha256(PART))


def stored(tmp_path):
    """Make a store that holds PART and run 1, all as loose objects."""
    path = made(tmp_path)
    write(path, PART, run=1, text=b'{"run":1}')
    unpack(path)
    return path


def compressed(data):
    return zlib.compress(b"blob %d\0%s" % (len(data), data))


def test_what_was_written_is_read(tmp_path):
    path = stored(tmp_path)
    assert read(path, PLACE) == PART
    assert read(path, layout.run(run_id(1))) == b'{"run":1}'


def test_absent_is_none_and_not_empty(tmp_path):
    path = stored(tmp_path)
    assert read(path, layout.run(run_id(2))) is None
    write(path, b"")
    assert read(path, layout.part(canon.sha256(b""))) == b""


def test_a_branch_that_is_not_there_is_none(tmp_path):
    with open_store(stored(tmp_path)) as store:
        assert store.tip("refs/heads/proposals/none") is None


def test_a_path_is_read_at_the_commit_that_is_asked_for(tmp_path):
    path = stored(tmp_path)
    with open_store(path) as store:
        before = store.recordings()
        write(path, run=1, text=b'{"run":"later"}')
        assert store.read(layout.run(run_id(1)), at=before) == b'{"run":1}'
        assert store.read(layout.run(run_id(1))) == b'{"run":"later"}'
        assert store.read("harness.toml", at=store.tip(layout.MAIN)) == b"# knobs\n"


@pytest.mark.parametrize(
    "damage",
    [b"", b"garbage", compressed(b"{}")[:-4], compressed(b"other bytes"), compressed(PART.upper())],
    ids=["empty", "garbage", "cut short", "substituted", "same size"],
)
def test_a_damaged_object_is_an_error_that_names_it(tmp_path, damage):
    path = stored(tmp_path)
    object_file(path, PLACE).write_bytes(damage)
    with pytest.raises(CorruptError, match=PLACE) as caught:
        read(path, PLACE)
    assert "fsck --full" in caught.value.hint


def test_a_missing_object_that_a_commit_names_is_an_error_and_not_absent(tmp_path):
    path = stored(tmp_path)
    object_file(path, PLACE).unlink()
    with pytest.raises(CorruptError, match="missing"):
        read(path, PLACE)


def test_a_good_object_is_still_read_after_a_damaged_one(tmp_path):
    path = stored(tmp_path)
    object_file(path, PLACE).write_bytes(compressed(b"x" * 90_000)[:60])
    with open_store(path) as store:
        assert not store.is_intact(PLACE)
        assert store.read(layout.run(run_id(1))) == b'{"run":1}'


def test_a_substituted_folder_is_found_out(tmp_path):
    path = stored(tmp_path)
    folder = object_file(path, layout.RUNS)
    other = object_file(path, layout.PARTS)
    folder.write_bytes(other.read_bytes())
    with pytest.raises(CorruptError, match="do not hash"):
        read(path, layout.run(run_id(1)))


def test_a_file_under_the_digest_of_other_bytes_is_found_out(tmp_path):
    path = made(tmp_path)
    name = layout.part("a" * 64)
    git(path, "fast-import", "--quiet", data=(
        f"commit {layout.RECORDINGS}\ncommitter t <t@t> 1 +0000\ndata 0\nfrom {layout.RECORDINGS}^0\n"
        f"M 100644 inline {name}\ndata 1\nx\n"
    ).encode())  # fmt: skip
    with pytest.raises(CorruptError, match="another SHA-256"):
        read(path, name)


def test_a_store_whose_branch_is_gone_is_damaged_and_not_empty(tmp_path):
    path = stored(tmp_path)
    with open_store(path) as store:
        (path / layout.RECORDINGS).unlink()
        with pytest.raises(CorruptError, match="refs/heads/recordings"):
            store.read(PLACE)


def test_paths_lists_files_below_a_folder_with_their_ids(tmp_path):
    with open_store(stored(tmp_path)) as store:
        listed = dict(store.paths(layout.PARTS))
        assert listed == {PLACE: store.oid(PLACE)}
        assert set(store.paths()) > set(listed.items())
        assert list(store.paths("nothing")) == []


def test_many_files_are_read_in_the_order_they_were_asked_for(tmp_path):
    path = made(tmp_path)
    parts = [b"%d\n" % number * 2000 for number in range(300)]
    write(path, *parts)
    with open_store(path) as store:
        oids = dict(store.paths(layout.PARTS))
        wanted = [oids[layout.part(canon.sha256(part))] for part in parts]
        assert list(store.blobs(wanted)) == parts


def test_many_can_be_left_half_read(tmp_path):
    path = made(tmp_path)
    write(path, *(b"%d\n" % number for number in range(50)))
    with open_store(path) as store:
        oids = [oid for _, oid in store.paths(layout.PARTS)] * 3000
        assert len(next(store.blobs(oids))) in {2, 3}
        assert next(store.paths())[0] == layout.ATTRIBUTES


def test_a_damaged_one_among_many_is_an_error(tmp_path):
    path = stored(tmp_path)
    with open_store(path) as store:
        oids = [oid for _, oid in store.paths()]
        object_file(path, PLACE).write_bytes(compressed(b"other"))
        with pytest.raises(CorruptError, match=store.oid(PLACE)):
            list(store.blobs(oids))


def test_no_objects_are_no_answers(tmp_path):
    with open_store(stored(tmp_path)) as store:
        assert list(store.blobs([])) == []


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 7, 31, 32])
def test_a_run_is_found_by_any_beginning_of_its_id(tmp_path, digits):
    path = made(tmp_path)
    names = ["ab12" + "0" * 28, "cd12" + "0" * 28]
    for name in names:
        write(path, run=int(name, 16))
    with open_store(path) as store:
        assert store.find(names[0][:digits]) == [names[0]]


def test_a_beginning_that_several_share_gives_all_of_them_in_order(tmp_path):
    path = made(tmp_path)
    names = ["ab12" + "0" * 28, "ab12" + "f" * 28, "ab13" + "0" * 28]
    for name in names:
        write(path, run=int(name, 16))
    with open_store(path) as store:
        assert store.find("ab1") == names
        assert store.find("ab12") == names[:2]


@pytest.mark.parametrize("prefix", ["", "xy", "AB", "0/", "..", "\u0660", "a" * 65])
def test_what_is_no_beginning_of_an_id_finds_nothing(tmp_path, prefix):
    with open_store(stored(tmp_path)) as store:
        assert store.find(prefix) == []


def test_a_surface_is_found_through_its_sightings_by_its_digest(tmp_path):
    path, digest = made(tmp_path), "fe" * 32
    revise(path, layout.sighting(digest, "0" * 32), lambda _: b"{}")
    with open_store(path) as store:
        assert store.find("fefe", (layout.SIGHTINGS,)) == [digest]
        assert store.find("fefe", (layout.RUNS, layout.SURFACES)) == []


def test_a_store_that_never_recorded_has_no_time_and_not_the_year_1970(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store:
        assert store.last_commit_time() is None
        write(path, PART)
        assert store.last_commit_time() == NOW


def test_packing_and_pruning_beside_a_reader_changes_no_answer(tmp_path):
    path = stored(tmp_path)
    with open_store(path) as store:
        assert store.read(PLACE) == PART
        git(path, "gc", "--prune=now", "--quiet")
        assert store.read(layout.run(run_id(1))) == b'{"run":1}'
        assert store.read(PLACE) == PART


def test_a_store_whose_objects_have_sha256_names_is_written_and_read(tmp_path):
    path = tmp_path / "store"
    git(path, "init", "--bare", "--quiet", "--object-format=sha256", "--initial-branch=main")
    for ref in (layout.MAIN, layout.RECORDINGS):
        git(
            path,
            "fast-import",
            "--quiet",
            data=f"commit {ref}\ncommitter t <t@t> 1 +0000\ndata 0\n\n".encode(),
        )
    git(path, "config", "githarness.store", "1")
    write(path, PART, run=1)
    with open_store(path) as store:
        assert len(store.oid(PLACE)) == 64
        assert store.read(PLACE) == next(store.blobs([store.oid(PLACE)])) == PART


@pytest.mark.parametrize("name", ["harness.toml/x", "none/x", ".gitattributes/x/y"])
def test_nothing_stands_below_a_file(tmp_path, name):
    with open_store(stored(tmp_path)) as store:
        assert store.read(name, at=store.tip(layout.MAIN)) is None


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(CorruptError, match="it is a tree and no blob"):
        read(stored(tmp_path), layout.RUNS)


def test_what_is_no_commit_is_not_read_as_one(tmp_path):
    with (
        open_store(stored(tmp_path)) as store,
        pytest.raises(CorruptError, match="it is a blob and no commit"),
    ):
        store.read(PLACE, at=store.oid(PLACE))
