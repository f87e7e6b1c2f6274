"""What an input is read as: a format that a person names, and a byte-order mark in front of it."""

import json

import made_store as made
import pytest
from made_evallog import log, sample, spoken
from made_store import answer, call_lines, keep, write

from githarness.commands.record.result import Options
from githarness.errors import UsageError
from githarness.formats import detect
from githarness.store import runs
from githarness.store.find import open_store

BOM = b"\xef\xbb\xbf"
TOOLS = b'[{"name": "read", "description": "Read.", "input_schema": {"type": "object"}}]'
BODY = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": []}


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def test_a_format_that_there_is_not_is_a_usage_error_before_anything_is_looked_at(store, tmp_path):
    with pytest.raises(UsageError, match="no format is called 'nope'") as caught:
        keep(store, tmp_path / "gone", options=Options(format="nope"))
    assert all(name in caught.value.hint for name in (*detect.names(), "surface"))


def test_a_format_that_there_is_not_has_the_exit_code_of_a_usage_error(store, tmp_path):
    code, said = answer("record", "--format", "nope", tmp_path / "gone", store=store)
    assert (code, said["kind"]) == (2, "usage")


OTHERS = {"lines": '{"x": 1}\n{"x": 2}\n', "document": '{"x": 1}', "list": '[{"x": 1}]'}


@pytest.mark.parametrize("name", detect.names())
@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_a_forced_format_that_knows_no_record_stores_no_run(store, tmp_path, name, text):
    result = keep(store, write(tmp_path / "a", text), options=Options(format=name))
    assert (result.recorded, result.commit) == ((), None)
    assert f"not of the format {name}" in result.skipped[0].reason


def test_a_forced_format_reads_what_it_knows(store, tmp_path):
    item = keep(store, write(tmp_path / "a", call_lines()), options=Options(format="claude-code")).recorded[0]
    assert (item.format, item.calls) == ("claude-code", 1)


def test_a_forced_surface_without_tools_is_said_so(store, tmp_path):
    result = keep(store, write(tmp_path / "a", '{"x": 1}'), options=Options(format="surface"))
    assert "holds no tools array" in result.skipped[0].reason


def test_a_byte_order_mark_is_kept_and_is_no_part_of_the_first_record(store, tmp_path):
    text = BOM + call_lines(calls=2).encode()
    item = keep(store, write(tmp_path / "a", text)).recorded[0]
    assert (item.format, item.calls, item.unreadable) == ("claude-code", 2, 0)
    with open_store(store) as opened:
        assert runs.recording(opened, runs.manifest(opened, item.id)) == text


def test_a_recording_with_a_byte_order_mark_is_shown_like_one_without(store, tmp_path):
    run = keep(store, write(tmp_path / "a", BOM + call_lines(calls=2).encode())).recorded[0].id
    assert len(answer("show", run, store=store)[1]["calls"]) == 2


def test_a_long_recording_with_a_byte_order_mark_is_taken_up_where_it_ended(store, tmp_path):
    name, cache = tmp_path / "a", tmp_path / "cache"
    grown = BOM + call_lines(calls=3001).encode()
    keep(store, write(name, BOM + call_lines(calls=3000).encode()), cache=cache)
    item = keep(store, write(name, grown), cache=cache).recorded[0]
    with open_store(store) as opened:
        assert runs.recording(opened, runs.manifest(opened, item.id)) == grown
    assert (item.calls, item.status) == (3001, "updated")


def test_a_secret_behind_a_byte_order_mark_is_redacted_as_in_a_document(store, tmp_path):
    secret = "ghp_" + "Zk3vQ9xT1mWb7LrYc5NdJ8sHf2GpKu4EaR6o"
    body = json.dumps(BODY).replace("hi", f"use {secret}").encode()
    item = keep(store, write(tmp_path / "a", BOM + body)).recorded[0]
    with open_store(store) as opened:
        stored = runs.recording(opened, runs.manifest(opened, item.id))
    assert stored == BOM + body.replace(secret.encode(), b"[REDACTED:github-token:1]")


@pytest.mark.parametrize("tools", [TOOLS, b'{"tools": %s}' % TOOLS])
def test_a_surface_behind_a_byte_order_mark_has_the_digest_of_its_array(store, tmp_path, tools):
    plain, marked = (keep(store, write(tmp_path / at, data)).recorded[0].id
                     for at, data in (("a", tools), ("b", BOM + tools)))  # fmt: skip
    assert plain == marked


def test_a_container_behind_a_byte_order_mark_is_opened(store, tmp_path):
    result = keep(store, write(tmp_path / "log.json", BOM + log(sample(spoken()))))
    assert {item.format for item in result.recorded if item.kind == "session"} == {"inspect-ai"}


def test_a_mark_alone_is_no_recording(store, tmp_path):
    assert keep(store, write(tmp_path / "a", BOM)).skipped[0].reason == "not JSON"
