"""What a store may hold that this version cannot read, and words that cannot be written."""

import json

import made_store as made
import pytest
from made_store import answer, call_lines, keep, write

from githarness.commands.record.result import Options
from githarness.model import manifest

SECRET = "ghp_" + "Zk3vQ9xT1mWb7LrYc5NdJ8sHf2GpKu4EaR6o"


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def plant(store, path, data):
    """Put a file on the branch, as another program would."""
    head = "commit refs/heads/recordings\ncommitter t <t@localhost> 2000000000 +0000\ndata 0\n"
    stream = f"{head}from refs/heads/recordings^0\nM 100644 inline {path}\ndata {len(data)}\n".encode()
    command = ["git", f"--git-dir={store}", "fast-import", "--quiet"]
    made.subprocess.run(command, input=stream + data + b"\n", check=True)


def path_of(run):
    return f"runs/{run[:2]}/{run[2:4]}/{run}.json"


@pytest.mark.parametrize("field", ["sessionId", "model", "cwd", "gitBranch", "version"])
def test_a_lone_surrogate_in_a_word_of_the_manifest_is_spelled_out(store, tmp_path, field):
    text = call_lines()
    value = {"sessionId": "s-1", "model": "m-1", "cwd": "/p", "gitBranch": None, "version": "2.1.197"}[field]
    bad = "x\\udc00"
    text = (
        text.replace(f'"{value}"', f'"{bad}"')
        if value
        else text.replace('"cwd"', f'"gitBranch":"{bad}","cwd"')
    )
    item = keep(store, write(tmp_path / "a", text)).recorded[0]
    assert item.status == "new"
    assert b"\\\\udc00" in made.git(store, "show", f"recordings:{path_of(item.id)}").encode()


@pytest.mark.parametrize("id", ["s-1", "s-1-t", "s-1-a0", "c0", "m0"])
def test_a_vendors_key_used_as_an_id_is_in_no_object_and_the_calls_stay_joined(store, tmp_path, id):
    text = call_lines(calls=2).replace(f'"{id}"', f'"{SECRET}"')
    run = keep(store, write(tmp_path / "a", text)).recorded[0].id
    assert SECRET not in made.git(store, "cat-file", "--batch-all-objects", "--batch")
    assert [call["output"] for call in answer("show", run, store=store)[1]["calls"]] == ["text 0", "text 1"]


def test_a_run_whose_session_id_is_a_key_is_named_by_the_real_id(store, tmp_path):
    item = keep(store, write(tmp_path / "a", call_lines(SECRET))).recorded[0]
    assert item.id == manifest.run_id("claude-code", SECRET, "")


def test_an_agents_name_is_redacted_like_everything_else(store, tmp_path):
    document = {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": SECRET, "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
    }
    keep(store, write(tmp_path / "a", json.dumps(document)))
    assert SECRET not in made.git(store, "cat-file", "--batch-all-objects", "--batch")


@pytest.mark.parametrize("data", [b"{}", b"not json", b'{"schema":"githarness/run/2"}'])
def test_a_manifest_that_cannot_be_read_stops_no_listing_and_is_named(store, tmp_path, data):
    keep(store, write(tmp_path / "a", call_lines()))
    plant(store, path_of("ab" * 16), data)
    assert (answer("log", store=store)[0], answer("log", store=store)[1]["unreadable"]) == (0, 1)
    code, said = answer("status", store=store)
    assert (code, [one["rule"] for one in said["problems"]]) == (3, ["unreadable-manifest"])


def test_a_manifest_of_a_later_version_is_never_rewritten(store, tmp_path):
    run = keep(store, write(tmp_path / "a", call_lines())).recorded[0].id
    later = made.git(store, "show", f"recordings:{path_of(run)}").replace("run/1", "run/2").encode()
    plant(store, path_of(run), later)
    item = keep(store, write(tmp_path / "a", call_lines(calls=2))).recorded[0]
    assert "left as it is" in item.notes[0]
    assert made.git(store, "show", f"recordings:{path_of(run)}").encode() == later


def test_citing_a_withheld_surface_says_that_it_is_withheld(store, tmp_path):
    tools = json.dumps([{"name": "t", "description": SECRET, "input_schema": {}}])
    digest = keep(store, write(tmp_path / "t", tools)).recorded[0].id
    keep(store, write(tmp_path / "a", call_lines()), options=Options(surface=digest[:8]))
    assert answer("status", store=store)[1]["problems"] == []


def test_a_secret_in_a_tools_name_is_not_in_the_clear(store, tmp_path):
    tools = json.dumps([{"name": SECRET, "description": "d", "input_schema": {}}])
    keep(store, write(tmp_path / "t", tools))
    assert SECRET not in made.git(store, "cat-file", "--batch-all-objects", "--batch")
