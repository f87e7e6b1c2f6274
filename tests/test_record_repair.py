"""Recording again after damage: what the hint promises is what happens."""

import re

import made_store as made
import pytest
from made_store import answer, call_lines, cli, keep, write
from stores import object_file, unpack

from githarness.commands.record.result import Options
from githarness.commands.record.sessions import MENDED, REWRITTEN
from githarness.errors import CorruptError
from githarness.store import layout, runs
from githarness.store.find import open_store

TOOLS = b'[{"name": "read", "description": "Read.", "input_schema": {"type": "object"}}]'
TEXT = call_lines(calls=300)


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def manifest(path, run):
    with open_store(path) as store:
        return runs.manifest(store, run)


def recording(path, run):
    with open_store(path) as store:
        return runs.recording(store, runs.manifest(store, run))


def paths(store, run):
    """Name a file of each kind that recording writes."""
    of = manifest(store, run)
    part, surface = of.recording.parts[0].digest, of.surfaces[0].digest
    return {"part": layout.part(part), "manifest": layout.run(run), "surface": layout.surface(surface)}


def garble_pack(store, path):
    """Damage one object inside its pack, where git goes on believing that it has it."""
    oid = made.git(store, "rev-parse", f"recordings:{path}").strip()
    for index in (store / "objects/pack").glob("*.idx"):
        listed = made.git(store, "verify-pack", "-v", str(index))
        found = re.search(rf"^{oid} \S+ +\d+ (\d+) (\d+)", listed, re.MULTILINE)
        if found:
            pack = index.with_suffix(".pack")
            pack.chmod(0o600)
            data = bytearray(pack.read_bytes())
            at = int(found[2]) + int(found[1]) // 2
            data[at] ^= 0xFF
            pack.write_bytes(data)


def garble_loose(store, path):
    unpack(store)
    object_file(store, path).write_bytes(b"damaged")


def lose_loose(store, path):
    unpack(store)
    object_file(store, path).unlink()


def recorded(store, tmp_path):
    tools = write(tmp_path / "t", TOOLS)
    given = Options(surface=tools, label="nightly")
    return keep(store, write(tmp_path / "a", TEXT), options=given).recorded[0].id, given


def damaged(path, name):
    """Tell whether the store cannot read a file."""
    with open_store(path) as store:
        try:
            store.read(name)
        except CorruptError:
            return True
    return False


@pytest.mark.parametrize("kind", ["part", "manifest", "surface"])
@pytest.mark.parametrize("damage", [garble_pack, garble_loose, lose_loose])
def test_recording_again_repairs_each_kind_of_file_however_it_was_damaged(store, tmp_path, kind, damage):
    run, given = recorded(store, tmp_path)
    path = paths(store, run)[kind]
    damage(store, path)
    assert damaged(store, path)
    keep(store, str(tmp_path / "a"), options=given)
    assert not damaged(store, path)
    assert recording(store, run) == TEXT.encode()


def test_a_repair_is_said(store, tmp_path):
    run, given = recorded(store, tmp_path)
    garble_pack(store, paths(store, run)["part"])
    assert MENDED in keep(store, str(tmp_path / "a"), options=given).recorded[0].notes


def test_a_manifest_that_is_written_anew_says_what_is_gone(store, tmp_path):
    run, _ = recorded(store, tmp_path)
    garble_pack(store, layout.run(run))
    item = keep(store, str(tmp_path / "a")).recorded[0]
    assert (item.status, item.notes, manifest(store, run).label) == ("new", [REWRITTEN], None)


def test_a_repaired_store_is_clean_once_git_drops_the_damaged_copy(store, tmp_path):
    run, given = recorded(store, tmp_path)
    garble_pack(store, paths(store, run)["part"])
    keep(store, str(tmp_path / "a"), options=given)
    made.git(store, "repack", "-a", "-d", "-q")
    assert answer("status", store=store)[1]["problems"] == []


def test_the_hint_of_a_damaged_recording_is_true(store, tmp_path):
    run, _ = recorded(store, tmp_path)
    garble_pack(store, paths(store, run)["part"])
    done = cli("show", run, "--raw", store=store)
    assert (done.returncode, b"record its source again, which writes it anew" in done.stderr) == (3, True)


def test_no_repair_by_recording_is_promised_for_a_damaged_tree(store, tmp_path):
    recorded(store, tmp_path)
    unpack(store)
    tree = made.git(store, "rev-parse", "recordings:runs").strip()
    (store / "objects" / tree[:2] / tree[2:]).unlink()
    code, said = answer("record", tmp_path / "a", store=store)
    assert (code, said["kind"], "record its source" in said["hint"]) == (3, "corrupt", False)
    assert said["hint"].endswith("restore the store from a copy")


def test_nothing_damaged_is_nothing_written(store, tmp_path):
    recorded(store, tmp_path)
    before = sorted((store / "objects").rglob("*"))
    assert keep(store, str(tmp_path / "a")).commit is None
    assert sorted((store / "objects").rglob("*")) == before


def test_a_long_session_is_repaired_also_where_a_state_of_it_is_kept(store, tmp_path):
    name, cache = write(tmp_path / "a", call_lines(calls=3000)), tmp_path / "cache"
    run = keep(store, name, cache=cache).recorded[0].id
    garble_pack(store, layout.part(manifest(store, run).recording.parts[0].digest))
    assert keep(store, name, cache=cache).recorded[0].notes == [MENDED]
    assert recording(store, run) == call_lines(calls=3000).encode()
