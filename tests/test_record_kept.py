"""Which recording of a run is kept, and that nothing of the other one is written."""

import made_store as made
import pytest
from made_store import call_lines, keep, write
from msgspec.structs import replace

from githarness import canon
from githarness.commands.record import held
from githarness.commands.record.merging import FULLER, Merge
from githarness.commands.record.raw import Raw
from githarness.commands.record.result import Item, Options
from githarness.model.manifest import run_id
from githarness.store import runs
from githarness.store.find import open_store

SECRET = "ghp_" + "Zk3vQ9xT1mWb7LrYc5NdJ8sHf2GpKu4EaR6o"
RAW = Options(redact=False)
TOOLS = b'[{"name": "read", "description": "Read.", "input_schema": {"type": "object"}}]'


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


@pytest.fixture
def small(monkeypatch):
    """Let a recording of a few parts be one that does not wait in memory."""
    monkeypatch.setattr(held, "HELD", 1 << 19)


def manifest(path, run):
    with open_store(path) as store:
        return runs.manifest(store, run)


def recording(path, run):
    with open_store(path) as store:
        return runs.recording(store, runs.manifest(store, run))


def state(store):
    return made.tip(store), sorted(path for path in (store / "objects").rglob("*"))


def secretive(calls=3):
    return call_lines(calls=calls).replace("text 1", f"token {SECRET}")


def in_tree(store, words):
    return any(
        words in made.git(store, "cat-file", "-p", line.split()[2]) for line in made.tree(store).splitlines()
    )


LONG = call_lines(calls=4)
WORSE = {
    "shorter": call_lines(calls=2),
    "shorter with lines that nobody can read": call_lines(calls=2) + "{nonsense\n" * 99,
    "its end cut off": LONG[:-30],
    "shorter in front of another session": call_lines(calls=2) + call_lines("s-2", calls=50) + LONG[-330:],
}


@pytest.mark.parametrize("text", WORSE.values(), ids=WORSE)
def test_a_worse_copy_replaces_nothing_and_writes_nothing(store, tmp_path, text):
    run = keep(store, write(tmp_path / "a", LONG)).recorded[0].id
    before = state(store)
    result = keep(store, write(tmp_path / "b", text))
    assert (result.recorded[0].id, result.recorded[0].status, result.commit) == (run, "unchanged", None)
    assert (state(store), recording(store, run)) == (before, LONG.encode())


def test_a_long_worse_copy_writes_nothing_either(store, tmp_path, small):
    keep(store, write(tmp_path / "a", call_lines(calls=5000)))
    before = state(store)
    assert keep(store, write(tmp_path / "b", call_lines(calls=4000))).recorded[0].status == "unchanged"
    assert state(store) == before


def test_a_long_session_of_a_new_run_is_streamed_and_stored_whole(store, tmp_path, small):
    text = call_lines(calls=5000)
    run = keep(store, write(tmp_path / "a", text)).recorded[0].id
    assert recording(store, run) == text.encode()


def test_a_long_session_that_grew_much_is_read_again_and_stored_whole(store, tmp_path, small):
    keep(store, write(tmp_path / "a", call_lines(calls=10)))
    text = call_lines(calls=5000)
    item = keep(store, write(tmp_path / "a", text)).recorded[0]
    assert (item.status, recording(store, item.id)) == ("updated", text.encode())


def test_a_long_resumed_session_is_known_by_its_end(store, tmp_path, small):
    run = keep(store, write(tmp_path / "b", call_lines("new", calls=9))).recorded[0].id
    before = state(store)
    resumed = call_lines("old", calls=5000) + call_lines("new", calls=5)
    item = keep(store, write(tmp_path / "ab", resumed)).recorded[0]
    assert (item.id, item.status, state(store)) == (run, "unchanged", before)


def test_two_sessions_in_one_input_are_said_to_be_two(store, tmp_path):
    text = call_lines("s-1", calls=3) + call_lines("s-2", calls=2)
    item = keep(store, write(tmp_path / "ab", text)).recorded[0]
    assert item.id == run_id("claude-code", "s-2", "")
    assert item.notes == ["7 of its 12 records belong to other sessions and count for none"]


def test_of_two_copies_in_one_call_the_fuller_is_written_alone(store, tmp_path):
    names = [
        write(tmp_path / name, call_lines(calls=calls)) for name, calls in (("a", 1), ("b", 3), ("c", 2))
    ]
    items = keep(store, *names).recorded
    assert ([item.status for item in items], len({item.id for item in items})) == (
        ["new", "updated", "unchanged"],
        1,
    )
    assert recording(store, items[0].id) == call_lines(calls=3).encode()
    assert sum("\trecordings/" in line for line in made.tree(store).splitlines()) == 1


def test_without_redaction_nothing_of_a_redacted_run_is_written(store, tmp_path):
    name = write(tmp_path / "a", secretive())
    keep(store, name)
    before = state(store)
    result = keep(store, name, options=RAW)
    assert (result.recorded[0].status, result.commit, state(store)) == ("unchanged", None, before)
    assert SECRET not in made.git(store, "cat-file", "--batch-all-objects", "--batch")


@pytest.mark.parametrize("calls", [3, 5000])
def test_a_redacted_recording_takes_the_raw_one_out_of_the_tree(store, tmp_path, calls, small):
    name = write(tmp_path / "a", secretive(calls))
    run = keep(store, name, options=RAW).recorded[0].id
    assert in_tree(store, SECRET)
    item = keep(store, name).recorded[0]
    assert "they stay in the history until it is purged" in item.notes[0]
    assert (manifest(store, run).recording.redacted, in_tree(store, SECRET)) == (True, False)
    assert recording(store, run).count(b"[REDACTED:github-token:1]") >= 1


def test_raw_parts_that_another_run_lists_stay(store, tmp_path):
    shared = call_lines(calls=2000).replace("text 7", f"token {SECRET}")
    ids = [
        keep(store, write(tmp_path / str(n), shared + call_lines(f"s-{n}", start=2000)), options=RAW)
        .recorded[0]
        .id
        for n in range(2)
    ]
    keep(store, str(tmp_path / "0"))
    assert SECRET.encode() in recording(store, ids[1])
    assert SECRET.encode() not in recording(store, ids[0])


def test_nothing_is_said_of_raw_parts_where_redaction_found_nothing(store, tmp_path):
    name = write(tmp_path / "a", call_lines())
    keep(store, name, options=RAW)
    item = keep(store, name).recorded[0]
    assert (item.status, item.notes) == ("updated", [])


def test_a_surface_that_a_person_names_later_is_said_to_replace_the_first(store, tmp_path):
    name = write(tmp_path / "a", call_lines())
    first, second = (write(tmp_path / at, TOOLS.replace(b"Read", at.encode())) for at in ("one", "two"))
    digest = keep(store, name, options=Options(surface=first)).recorded[0].surface
    item = keep(store, name, options=Options(surface=second)).recorded[0]
    assert item.notes == [f"replaces {digest[:12]} as the surface that this run cites"]


def test_a_run_shows_the_surface_that_it_cites_also_when_it_is_recorded_again(store, tmp_path):
    name, tools = write(tmp_path / "a", call_lines()), write(tmp_path / "t", TOOLS)
    digest = keep(store, name, options=Options(surface=tools)).recorded[0].surface
    assert keep(store, name).recorded[0].surface == digest


def merge(new, **more):
    item = Item(kind="session", id=new.id, path="a", format="f")
    given = {"kept": False, "person": False} | more
    return Merge(new=new, item=item, raw=Raw(None), **given)


def test_a_recording_whose_parts_were_not_written_never_becomes_the_runs(store, tmp_path):
    longer = manifest(store, keep(store, write(tmp_path / "a", LONG)).recorded[0].id)
    shorter = manifest(store, keep(store, write(tmp_path / "b", call_lines("s-2"))).recorded[0].id)
    old = canon.encode(replace(shorter, id=longer.id))
    assert merge(longer).into(None) is None
    assert b'"tool_calls":1' in merge(longer).into(old)
    assert b'"tool_calls":4' in merge(longer, kept=True).into(old)


def test_a_note_is_made_once_however_often_the_branch_moves(store, tmp_path):
    longer = manifest(store, keep(store, write(tmp_path / "a", LONG)).recorded[0].id)
    one = merge(replace(longer, recording=replace(longer.recording, records=1)))
    for _ in range(3):
        one.into(canon.encode(longer))
    assert one.item.notes == [FULLER]
