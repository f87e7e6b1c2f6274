import hashlib
import json

import made_store as made
import pytest
from made_store import call_lines, keep, write

from githarness.capture.parts import PART
from githarness.commands.record.result import Options
from githarness.errors import MissingError
from githarness.store import runs
from githarness.store.find import open_store

TOOLS = b'[{"name": "read",  "description": "Read.", "input_schema": {"type": "object"}}]'


def manifest(path, run_id):
    with open_store(path) as store:
        return runs.manifest(store, run_id)


def test_a_session_is_recorded_with_its_counts(tmp_path):
    store = made.store(tmp_path)
    item = keep(store, write(tmp_path / "a", call_lines(calls=3, failed={1}))).recorded[0]
    assert (item.status, item.agent, item.calls, item.failed, item.malformed) == (
        "new",
        "claude-code",
        3,
        1,
        0,
    )


def test_recording_the_same_file_again_writes_nothing(tmp_path):
    store, name = made.store(tmp_path), write(tmp_path / "a", call_lines())
    keep(store, name)
    before = made.tip(store), sorted((store / "objects").rglob("*"))
    result = keep(store, name, now=made.NOW + 9)
    assert (result.recorded[0].status, result.commit) == ("unchanged", None)
    assert (made.tip(store), sorted((store / "objects").rglob("*"))) == before


def test_a_session_that_grew_replaces_its_shorter_recording(tmp_path):
    store = made.store(tmp_path)
    first = keep(store, write(tmp_path / "a", call_lines(calls=1))).recorded[0]
    second = keep(store, write(tmp_path / "a", call_lines(calls=2))).recorded[0]
    assert (second.id, second.status, second.calls) == (first.id, "updated", 2)


def test_a_shorter_file_never_replaces_a_fuller_recording(tmp_path):
    store = made.store(tmp_path)
    keep(store, write(tmp_path / "a", call_lines(calls=2)))
    item = keep(store, write(tmp_path / "a", call_lines(calls=1))).recorded[0]
    assert (item.status, item.notes) == ("unchanged", ["a fuller recording of this run is kept"])
    assert manifest(store, item.id).recording.stats.tool_calls == 2


def test_a_grown_session_writes_its_last_part_and_its_manifest_and_nothing_else(tmp_path):
    store, long = made.store(tmp_path), call_lines(calls=2000)
    keep(store, write(tmp_path / "a", long))
    before = set(made.tree(store).splitlines())
    keep(store, write(tmp_path / "a", long + call_lines(calls=1, start=2000)))
    changed = {line.split("\t")[1].split("/")[0] for line in set(made.tree(store).splitlines()) - before}
    fresh = set(made.tree(store).splitlines()) - before
    assert (changed, len(fresh)) == ({"recordings", "runs"}, 2)


def test_stored_bytes_are_the_transcripts_own(tmp_path):
    text = call_lines(calls=2).replace('"text 0"', '"text   \\u0030"')
    store = made.store(tmp_path)
    item = keep(store, write(tmp_path / "a", text)).recorded[0]
    with open_store(store) as opened:
        assert runs.recording(opened, runs.manifest(opened, item.id)) == text.encode()


def test_parts_join_to_the_digest_in_the_manifest(tmp_path):
    store, text = made.store(tmp_path), call_lines(calls=3000)
    recorded = manifest(store, keep(store, write(tmp_path / "a", text)).recorded[0].id).recording
    assert len(recorded.parts) > 1
    assert all(part.bytes >= PART for part in recorded.parts[:-1])
    assert recorded.digest == hashlib.sha256(text.encode()).hexdigest()


def test_sha256sum_agrees_with_every_content_addressed_name(tmp_path):
    store = made.store(tmp_path)
    keep(store, write(tmp_path / "a", call_lines()), write(tmp_path / "t", TOOLS))
    checked = 0
    for line in made.tree(store).splitlines():
        path = line.split("\t")[1]
        stem = path.rsplit("/", 1)[-1].split(".")[0]
        if len(stem) == 64:
            data = made.git(store, "show", f"recordings:{path}").encode()
            assert hashlib.sha256(data).hexdigest() == stem
            checked += 1
    assert checked == 2


def test_a_secret_is_replaced_before_anything_is_written(tmp_path):
    secret = "ghp_" + "Zk3vQ9xT1mWb7LrYc5NdJ8sHf2GpKu4EaR6o"
    store = made.store(tmp_path)
    item = keep(store, write(tmp_path / "a", call_lines().replace("text 0", f"token {secret}"))).recorded[0]
    objects = made.git(store, "cat-file", "--batch-all-objects", "--batch")
    assert item.redacted == 1
    assert secret not in objects


def test_not_redacting_is_written_into_the_manifest(tmp_path):
    store = made.store(tmp_path)
    result = keep(store, write(tmp_path / "a", call_lines()), options=Options(redact=False))
    assert not manifest(store, result.recorded[0].id).recording.redacted


def test_one_bad_file_never_stops_the_rest(tmp_path):
    store = made.store(tmp_path)
    result = keep(store, write(tmp_path / "bad", "{nonsense"), write(tmp_path / "good", call_lines()))
    assert [item.calls for item in result.recorded] == [1]
    assert (result.skipped[0].reason, result.exit_code) == ("not JSON", 3)


def test_what_walking_finds_and_cannot_read_is_listed_and_no_failure(tmp_path):
    store = made.store(tmp_path)
    write(tmp_path / "folder" / "notes.md", "# notes")
    write(tmp_path / "folder" / "a.jsonl", call_lines())
    result = keep(store, tmp_path / "folder")
    assert ([skip.reason for skip in result.skipped], result.exit_code) == (["not JSON"], 0)


def test_the_name_of_a_file_says_nothing(tmp_path):
    store = made.store(tmp_path)
    assert keep(store, write(tmp_path / "photo.png", call_lines())).recorded[0].format == "claude-code"


def test_standard_input_is_an_input(tmp_path):
    store = made.store(tmp_path)
    assert keep(store, "-", stdin=call_lines(calls=2).encode()).recorded[0].calls == 2


def test_a_tools_array_is_kept_as_its_exact_bytes(tmp_path):
    store = made.store(tmp_path)
    item = keep(store, write(tmp_path / "t.json", b"\n " + TOOLS + b"\n")).recorded[0]
    with open_store(store) as opened:
        assert runs.surface(opened, item.id) == TOOLS
    assert item.id == hashlib.sha256(TOOLS).hexdigest()


def test_a_surface_with_a_secret_keeps_its_digest_and_loses_its_bytes(tmp_path):
    tools = TOOLS.replace(b"Read.", b"Use " + b"AKIA" + b"Q3EXMPL7ZK5JRW2T")
    store = made.store(tmp_path)
    item = keep(store, write(tmp_path / "t.json", tools)).recorded[0]
    with open_store(store) as opened:
        assert runs.surface(opened, item.id) is None
        assert runs.seen(opened, item.id)[0].withheld
    assert item.id == hashlib.sha256(tools).hexdigest()


def test_a_request_body_gives_one_session_and_one_surface(tmp_path):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": "@"}
    text = json.dumps(body).encode().replace(b'"@"', TOOLS)
    result = keep(made.store(tmp_path), write(tmp_path / "r.json", text))
    assert [(item.kind, item.surface) for item in result.recorded] == [
        ("session", hashlib.sha256(TOOLS).hexdigest()),
        ("surface", hashlib.sha256(TOOLS).hexdigest()),
    ]


def test_a_run_without_a_recorded_surface_says_unknown(tmp_path):
    assert keep(made.store(tmp_path), write(tmp_path / "a", call_lines())).recorded[0].surface is None


def test_a_person_can_cite_a_surface_by_file(tmp_path):
    tools = write(tmp_path / "t.json", TOOLS)
    result = keep(made.store(tmp_path), write(tmp_path / "a", call_lines()), options=Options(surface=tools))
    assert result.recorded[0].surface == hashlib.sha256(TOOLS).hexdigest()


def test_a_person_can_cite_a_surface_of_the_store_by_digest(tmp_path):
    store = made.store(tmp_path)
    digest = keep(store, write(tmp_path / "t.json", TOOLS)).recorded[0].id
    item = keep(store, write(tmp_path / "a", call_lines()), options=Options(surface=digest[:8])).recorded[0]
    assert item.surface == digest


def test_a_surface_that_is_nowhere_is_missing_and_never_empty(tmp_path):
    store, name = made.store(tmp_path), write(tmp_path / "a", call_lines())
    with pytest.raises(MissingError, match="0 surfaces by that digest"):
        keep(store, name, options=Options(surface="deadbeef"))


def test_citing_a_surface_later_changes_the_manifest_alone(tmp_path):
    store, name = made.store(tmp_path), write(tmp_path / "a", call_lines())
    keep(store, name)
    item = keep(store, name, options=Options(surface=write(tmp_path / "t.json", TOOLS))).recorded[0]
    assert (item.status, len(manifest(store, item.id).surfaces)) == ("updated", 1)


def test_a_folder_of_one_tool_files_is_one_surface(tmp_path):
    for name in ("b", "a"):
        tool = {"name": name, "description": "d", "inputSchema": {"type": "object"}}
        write(tmp_path / "snaps" / f"{name}.snap", json.dumps(tool))
    item = keep(made.store(tmp_path), tmp_path / "snaps").recorded[0]
    assert (item.kind, item.tools) == ("surface", 2)


def test_a_session_taken_up_again_is_the_same_as_one_read_at_once(tmp_path):
    secret = "ghp_" + "Zk3vQ9xT1mWb7LrYc5NdJ8sHf2GpKu4EaR6o"
    text = call_lines(calls=3000).replace("text 7", f"text {secret} 7")
    grown = text + call_lines(calls=2, start=3000).replace("text 3001", f"text {secret}")
    one, other = made.store(tmp_path / "one"), made.store(tmp_path / "other")
    name, cache = tmp_path / "a.jsonl", tmp_path / "cache"
    for content in (text, grown):
        taken = keep(one, write(name, content), cache=cache).recorded[0]
    whole = keep(other, write(name, grown)).recorded[0]
    assert manifest(one, taken.id) == manifest(other, whole.id)
    assert whole.redacted == 112


def test_a_saved_state_of_other_bytes_is_not_used(tmp_path):
    store, name, cache = made.store(tmp_path), tmp_path / "a.jsonl", tmp_path / "cache"
    keep(store, write(name, call_lines(calls=3000)), cache=cache)
    text = call_lines(calls=3001).replace("text 5", "TEXT 5")
    item = keep(store, write(name, text), cache=cache).recorded[0]
    assert manifest(store, item.id).recording.digest == hashlib.sha256(text.encode()).hexdigest()


def test_the_cache_is_readable_by_its_owner_alone_and_holds_no_secret(tmp_path):
    secret = "ghp_" + "Zk3vQ9xT1mWb7LrYc5NdJ8sHf2GpKu4EaR6o"
    cache = tmp_path / "cache"
    text = call_lines(calls=3000).replace("text 7", f"text {secret}")
    keep(made.store(tmp_path), write(tmp_path / "a", text), cache=cache)
    files = list(cache.iterdir())
    assert len(files) == 2
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    assert not any(secret.encode() in file.read_bytes() for file in files)


def test_a_line_over_fifty_megabytes_is_refused_before_anything_is_written(tmp_path):
    store = made.store(tmp_path)
    text = call_lines(calls=3000).encode() + b'{"type":"user","x":"' + b"y" * 50_000_001 + b'"}\n'
    before = sorted((store / "objects").rglob("*"))
    result = keep(store, write(tmp_path / "a", text))
    assert result.skipped[0].reason == "line 6002 is over 50 MB"
    assert sorted((store / "objects").rglob("*")) == before


def test_two_machines_store_the_same_bytes(tmp_path):
    name = write(tmp_path / "a", call_lines(calls=5))
    one, other = made.store(tmp_path / "one"), made.store(tmp_path / "other")
    keep(one, name, cache=tmp_path / "c1")
    keep(other, name, cache=tmp_path / "c2")
    assert made.tree(one) == made.tree(other)
