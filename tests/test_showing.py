"""What is listed and shown: every id that is printed can be used, and nothing is escaped twice."""

import hashlib
import json

import made_store as made
import pytest
from made_store import answer, call_lines, cli, keep, write

from githarness.render.table import table

TOOLS = b'[{"name":"read","description":"Read a file.","input_schema":{"type":"object"}}]'
SECRET = "AKIA" + "Q3EXMPL7ZK5JRW2T"


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def request(system="be brief"):
    body = {"model": "m", "max_tokens": 9, "system": system, "messages": [{"role": "user", "content": "hi"}]}
    return json.dumps(body)


def cited(store, run):
    """Return the digests that `show` prints of a run's recording and of its prompts."""
    manifest = answer("show", run, store=store)[1]["manifest"]
    return manifest["recording"]["digest"], [one["digest"] for one in manifest["prompts"]]


# -- ids -------------------------------------------------------------------------


def test_the_digest_of_a_recording_shows_its_run_and_its_bytes(store, tmp_path):
    run = keep(store, write(tmp_path / "a", call_lines(calls=3))).recorded[0].id
    digest, _ = cited(store, run)
    assert answer("show", digest, store=store)[1]["id"] == run
    assert hashlib.sha256(cli("show", digest[:20], "--raw", store=store).stdout).hexdigest() == digest


def test_the_digest_of_a_prompt_shows_it(store, tmp_path):
    run = keep(store, write(tmp_path / "r", request())).recorded[0].id
    [digest] = cited(store, run)[1]
    assert answer("show", digest[:9], store=store)[1]["text"] == "be brief"


def test_a_prompt_that_is_withheld_is_known_and_not_shown(store, tmp_path):
    run = keep(store, write(tmp_path / "r", request(f"use {SECRET}"))).recorded[0].id
    [digest] = cited(store, run)[1]
    code, said = answer("show", digest, store=store)
    assert (code, "withheld" in said["message"]) == (3, True)


@pytest.mark.parametrize("spelled", [str, str.upper])
@pytest.mark.parametrize("digits", [2, 7, 32])
def test_a_beginning_of_two_digits_or_more_is_an_id_in_either_case(store, tmp_path, digits, spelled):
    run = keep(store, write(tmp_path / "a", call_lines())).recorded[0].id
    assert answer("show", spelled(run[:digits]), store=store)[1]["id"] == run


@pytest.mark.parametrize("words", ["", "a", "xy", "../a"])
def test_what_can_be_no_id_is_a_usage_error(store, words):
    assert answer("show", words, store=store)[0] == 2


# -- show ------------------------------------------------------------------------


def test_a_text_that_calls_came_after_is_the_last_one_and_not_the_end(store, tmp_path):
    said = {
        "id": "m0",
        "role": "assistant",
        "model": "m-1",
        "content": [{"type": "text", "text": "Now I look."}],
    }
    line = {"type": "assistant", "uuid": "t", "sessionId": "s-1", "cwd": "/p", "message": said}
    lines = call_lines(calls=3).splitlines(keepends=True)
    run = keep(store, write(tmp_path / "a", "".join([*lines[:3], json.dumps(line) + "\n", *lines[3:]])))
    name = run.recorded[0].id
    assert answer("show", name, store=store)[1]["calls_after_text"] == 2
    assert b"last text (2 call(s) came after it)  Now I look." in cli("show", name, store=store).stdout


def test_a_run_without_a_text_has_no_calls_after_it(store, tmp_path):
    run = keep(store, write(tmp_path / "a", call_lines())).recorded[0].id
    assert answer("show", run, store=store)[1]["calls_after_text"] is None


def test_a_source_that_nobody_named_is_said_in_words(store, tmp_path):
    digest = keep(store, write(tmp_path / "t", TOOLS)).recorded[0].id
    assert b"met        sent at a source that nobody named\n" in cli("show", digest, store=store).stdout


# -- lists -----------------------------------------------------------------------


def test_a_cell_is_escaped_once_and_cut():
    shown = table(("A", "B"), [("\u202e\\u{1}", "x" * 9)], {1: 4})
    assert shown.splitlines()[1] == r"\u{202e}\u{5c}u{1}  xxxx… (+5)"


def test_a_hostile_model_name_is_listed_escaped_once(store, tmp_path):
    keep(store, write(tmp_path / "a", call_lines().replace('"m-1"', '"m\\u001b[2J"')))
    shown = cli("log", store=store).stdout.decode()
    assert r"m\u{1b}[2J" in shown
    assert r"\u{5c}" not in shown


def test_a_list_of_surfaces_alone_counts_no_runs(store, tmp_path):
    keep(store, write(tmp_path / "t", TOOLS))
    assert cli("log", "--surfaces", store=store).stdout.endswith(b"\n\n1 of 1 surfaces\n")


@pytest.mark.parametrize("words", [["--since", "soon"], ["--surface", "xyz"]])
def test_a_filter_that_can_match_nothing_is_a_usage_error(store, words):
    code, said = answer("log", *words, store=store)
    assert (code, said["kind"]) == (2, "usage")


# -- init ------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "named"), [([], False), (["other"], True)])
def test_the_next_step_names_the_store_only_where_it_is_not_found(tmp_path, monkeypatch, words, named):
    monkeypatch.chdir(tmp_path)
    shown = cli("init", *words, store=tmp_path / "s").stdout
    assert (b"--store" in shown, b"export GITHARNESS_STORE" in shown) == (named, named)
