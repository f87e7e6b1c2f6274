"""What a full disk, a closed store and too few file handles cost: the input, never the rest."""

import base64
import json
import os
import random

import made_store as made
import pytest
from made_store import answer, call_lines, cli, keep, write
from stores import python, unpack

from githarness.commands.record import GIVE_UP

# Runs the program with a limit on the system's side.
LIMITED = """
import os, resource, sys
which, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(getattr(resource, which), (limit, limit))
os.execv(sys.executable, [sys.executable, "-m", "githarness", "--json", *sys.argv[3:]])
"""
ROOM = 300_000


def limited(which, limit, *words):
    process = python(LIMITED, which, limit, *words, stdout=-1, stderr=-1)
    out, err = process.communicate()
    assert b"Traceback" not in err
    return process.returncode, json.loads(out)


def noise(session, calls=300):
    """A session that does not compress below the room there is."""
    chance = random.Random(session)
    lines = call_lines(session, calls=calls).splitlines()
    return "\n".join(
        line.replace("text ", base64.b64encode(chance.randbytes(3000)).decode() + " ") for line in lines
    )


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def test_small_inputs_are_kept_when_a_big_one_does_not_fit(store, tmp_path):
    small = [write(tmp_path / f"{n}.jsonl", call_lines(f"s-{n}")) for n in range(2)]
    big = write(tmp_path / "big.jsonl", noise("big"))
    code, said = limited("RLIMIT_FSIZE", ROOM, "--store", store, "record", small[0], big, small[1])
    assert (code, [item["path"] for item in said["recorded"]]) == (3, small)
    assert [(skip["path"], "could not be written" in skip["reason"]) for skip in said["skipped"]] == [
        (big, True)
    ]


def test_a_file_that_walking_found_and_that_does_not_fit_is_no_matter_of_course(store, tmp_path):
    write(tmp_path / "in" / "a.jsonl", call_lines())
    write(tmp_path / "in" / "big.jsonl", noise("big"))
    code, said = limited("RLIMIT_FSIZE", ROOM, "--store", store, "record", tmp_path / "in")
    assert (code, len(said["recorded"]), said["skipped"][0]["named"]) == (3, 1, True)


def test_standard_input_is_read_once_and_not_lost(store, tmp_path):
    big = write(tmp_path / "big.jsonl", noise("big"))
    process = python(
        LIMITED, "RLIMIT_FSIZE", ROOM, "--store", store, "record", big, "-", stdin=-1, stdout=-1, stderr=-1
    )
    said = json.loads(process.communicate(call_lines().encode())[0])
    assert [item["path"] for item in said["recorded"]] == ["-"]


def test_the_tools_of_one_folder_stay_one_surface(store, tmp_path):
    for name in ("b", "a"):
        tool = {"name": name, "description": "d", "inputSchema": {"type": "object"}}
        write(tmp_path / "in" / "tools" / f"{name}.json", json.dumps(tool))
    write(tmp_path / "in" / "big.jsonl", noise("big"))
    said = limited("RLIMIT_FSIZE", ROOM, "--store", store, "record", tmp_path / "in")[1]
    assert [(item["kind"], item["tools"]) for item in said["recorded"]] == [("surface", 2)]


def test_what_alone_does_not_fit_is_an_inability(store, tmp_path):
    big = write(tmp_path / "big.jsonl", noise("big"))
    code, said = limited("RLIMIT_FSIZE", ROOM, "--store", store, "record", big)
    assert (code, said["kind"]) == (3, "storage")


def test_an_import_that_failed_leaves_no_room_taken(store, tmp_path):
    others = store / "objects/pack/tmp_pack_other"
    others.write_text("")
    limited("RLIMIT_FSIZE", ROOM, "--store", store, "record", write(tmp_path / "big", noise("big")))
    assert list(store.rglob("tmp_*")) == [others]


def test_a_store_that_takes_nothing_is_given_up_on_early(store, tmp_path):
    names = [write(tmp_path / f"{n}", call_lines(f"s-{n}")) for n in range(3 * GIVE_UP)]
    unpack(store)
    pack = store / "objects/pack"
    pack.rename(tmp_path / "moved")
    pack.write_text("")
    code, said = answer("record", *names, store=store)
    assert (code, said["kind"]) == (3, "storage")


@pytest.mark.parametrize("handles", [6, 7, 8, 9, 10])
def test_too_few_file_handles_are_a_reason_and_no_traceback(store, tmp_path, handles):
    names = [write(tmp_path / f"{n}", call_lines(f"s-{n}")) for n in range(2)]
    code, said = limited("RLIMIT_NOFILE", handles, "--store", store, "record", *names)
    assert code == 0 or (code, bool(said.get("message") or said.get("skipped"))) == (3, True)


def test_a_document_that_memory_does_not_hold_is_named_and_the_rest_goes_on(store, tmp_path):
    huge = write(tmp_path / "huge.json", "[" + ",".join(["[[1],[2]]"] * 5_000_000) + "]")
    good = write(tmp_path / "good.jsonl", call_lines())
    code, said = limited("RLIMIT_AS", 350_000_000, "--store", store, "record", huge, good)
    assert (code, [item["path"] for item in said["recorded"]]) == (3, [good])
    assert [skip["reason"] for skip in said["skipped"]] == ["needs more memory than there is"]


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 300 + "/y", "a\0b"], ids=["long", "part", "nul"])
def test_a_name_that_no_file_can_have_is_a_reason(store, tmp_path, name):
    result = keep(store, name, write(tmp_path / "a", call_lines()))
    assert ([skip.path for skip in result.skipped], len(result.recorded)) == ([name], 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_file_in_a_folder_that_may_not_be_entered_is_a_reason(store, tmp_path):
    name = write(tmp_path / "closed" / "a", call_lines())
    (tmp_path / "closed").chmod(0o000)
    result = keep(store, name, write(tmp_path / "b", call_lines()))
    assert ([skip.reason for skip in result.skipped], len(result.recorded)) == (["permission denied"], 1)


def test_every_named_file_that_was_not_recorded_is_an_error_with_its_hint(store, tmp_path):
    name = write(tmp_path / "a.json", '{"a": 1}')
    done = cli("record", name, tmp_path / "gone", store=store)
    assert done.stderr.decode().splitlines() == [
        f"error: {name}: JSON, but no session or surface (an object with a)",
        "hint: if it is a session or a tools array, say which: --format NAME",
        f"error: {tmp_path / 'gone'}: no such file or directory",
    ]
    assert done.stdout.decode().startswith("0 sessions and 0 surfaces; 2 files skipped")


def test_what_walking_passes_over_is_counted_by_reason_with_three_examples(store, tmp_path):
    for at in range(5):
        write(tmp_path / "in" / f"{at}.md", "# notes")
    done = cli("record", tmp_path / "in", store=store)
    (line,) = [line for line in done.stdout.decode().splitlines() if line.startswith("skipped")]
    assert line.startswith("skipped   5 files: not JSON (")
    assert (line.count(".md"), line.endswith(", …)"), done.stderr) == (3, True, b"")


def test_all_that_walking_passes_over_is_listed_when_it_is_asked_for(store, tmp_path):
    for at in range(5):
        write(tmp_path / "in" / f"{at}.md", "# notes")
    done = cli("record", "--verbose", tmp_path / "in", store=store)
    assert done.stdout.count(b"skipped   ") == 5


def test_a_name_that_begins_with_a_dash_is_told_its_way(store):
    done = cli("record", "--notes.jsonl", store=store)
    assert (done.returncode, b"after a bare --" in done.stderr) == (2, True)
