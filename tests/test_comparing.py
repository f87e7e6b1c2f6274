"""Comparing runs, surfaces and folders: what is unknown stays unknown, and the words agree."""

import json
from pathlib import Path

import made_store as made
import pytest
from made_store import answer, call_lines, cli, keep, write

from githarness.commands import fidelity, inputs
from githarness.commands.record.result import Options
from githarness.store import layout
from githarness.store.find import open_store
from githarness.store.objects import Store

VECTORS = Path(__file__).parent / "vectors"
SESSIONS = sorted(path for path in VECTORS.glob("*/*") if path.parent.name != "surfaces")

TOOLS = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]
SAY = [{"role": "user", "content": "hi"}]
REQUESTS = {
    "anthropic": {"model": "m", "max_tokens": 9, "system": "be brief", "messages": SAY, "tools": TOOLS},
    "chat": {
        "model": "m",
        "messages": SAY,
        "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
    },
    "responses": {
        "model": "m",
        "input": "hi",
        "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "read", "description": "d"}]}],
    },
}


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def named(store, path):
    with open_store(store) as opened:
        return inputs.named(opened, str(path))


# -- what a file states ----------------------------------------------------------


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_transcript_in_a_file_is_a_run_and_what_it_leaves_out_is_unknown(store, path):
    assert named(store, path).side.complete


@pytest.mark.parametrize("body", REQUESTS.values(), ids=REQUESTS)
def test_the_body_of_a_request_states_what_it_states(store, tmp_path, body):
    assert not named(store, write(tmp_path / "r", json.dumps(body))).side.complete


def test_two_sessions_without_tools_never_match(store, tmp_path):
    run = keep(store, write(tmp_path / "a", call_lines())).recorded[0].id
    code, said = answer("fidelity", run, "--against", write(tmp_path / "b", call_lines("b")), store=store)
    assert (code, said["parts"]) == (4, {"tools": "unknown", "system": "unknown", "model": "matches"})


# -- divergences and what is said of them ----------------------------------------


def diff(store, tmp_path, *texts):
    names = [write(tmp_path / f"run{at}", text) for at, text in enumerate(texts)]
    return answer("diff", *names, store=store), cli("diff", *names, store=store).stdout.decode()


def test_other_arguments_alone_differ_and_the_note_says_that_the_calls_agree(store, tmp_path):
    (code, said), text = diff(store, tmp_path, call_lines(), call_lines().replace("f0", "other"))
    assert (code, said["replays"]["on_tape"], said["replays"]["other_arguments"]) == (1, 1, 1)
    assert said["note"].startswith("1 of 1 replays made the recorded calls, 1 of them with other arguments.")
    assert "1 divergence(s), 0 structural and 1 in arguments alone" in text


def test_every_replay_has_its_own_counts(store, tmp_path):
    other = call_lines().replace("f0", "other")
    (_, said), text = diff(store, tmp_path, call_lines(), call_lines(), other, call_lines(calls=0))
    assert [(one["divergences"], one["structural"]) for one in said["each"]] == [(0, 0), (1, 0), (1, 1)]
    assert "run3: 1 divergence(s), 1 structural" in text


def test_an_outcome_that_flipped_is_counted_and_is_no_divergence(store, tmp_path):
    (code, said), text = diff(store, tmp_path, call_lines(calls=2), call_lines(calls=2, failed={1}))
    assert (code, said["divergences"], said["outcomes_changed"]) == (0, [], 1)
    assert "results and texts are not compared: 1 outcome(s) changed between ok and failed" in text


def closing(text):
    said = {"id": "m-last", "role": "assistant", "model": "m-1", "content": [{"type": "text", "text": text}]}
    line = {"type": "assistant", "uuid": "last", "sessionId": "s-1", "cwd": "/p", "message": said}
    return call_lines() + json.dumps(line) + "\n"


@pytest.mark.parametrize(
    ("other", "same"), [(closing("done"), True), (closing("gone"), False), (call_lines(), None)]
)
def test_the_last_text_is_the_same_another_or_unknown(store, tmp_path, other, same):
    (code, said), _ = diff(store, tmp_path, closing("done"), other)
    assert (code, said["final_text_same"]) == (0, same)


# -- folders ---------------------------------------------------------------------


def tools(folder, **described):
    for name, description in described.items():
        tool = {"name": name, "description": description, "inputSchema": {"type": "object"}}
        write(folder / f"{name}.json", json.dumps(tool))
    return str(folder)


def test_a_folder_of_one_tool_files_is_one_surface(store, tmp_path):
    names = tools(tmp_path / "a", x="one", y="two"), tools(tmp_path / "b", x="one", y="2")
    code, said = answer("diff", *names, store=store)
    assert (code, [one["tool"] for one in said["changes"]]) == (1, ["y"])


def test_a_folder_may_be_the_other_side_of_fidelity(store, tmp_path):
    folder = tools(tmp_path / "a", x="one")
    run = keep(
        store,
        write(tmp_path / "s", call_lines()),
        options=Options(surface=write(tmp_path / "t", joined(folder))),
    )
    code, said = answer("fidelity", run.recorded[0].id, "--against", folder, store=store)
    assert (code, said["fidelity"]) == (0, "matches")
    assert "minimal JSON" in said["caveat"]


def joined(folder):
    return "[" + ",".join(path.read_text() for path in sorted(Path(folder).iterdir())) + "]"


def test_a_folder_of_anything_else_is_refused_with_a_way_out(store, tmp_path):
    write(tmp_path / "mixed" / "run", call_lines())
    tools(tmp_path / "mixed", x="one")
    for folder in (tmp_path / "mixed", tmp_path):
        code, said = answer("diff", folder, folder, store=store)
        assert (code, said["kind"], "one-tool files" in said["message"]) == (3, "unreadable", True)


# -- many runs -------------------------------------------------------------------


class Counting(Store):
    """Counts how often an area of the store is listed."""

    listed = 0

    def paths(self, prefix="", *, at=None):
        self.listed += prefix == layout.SIGHTINGS
        return super().paths(prefix, at=at)


@pytest.mark.parametrize("runs", [1, 12])
def test_what_was_met_is_listed_once_however_many_runs_ask(store, tmp_path, runs):
    keep(store, *(write(tmp_path / str(at), call_lines(f"s{at}")) for at in range(runs)))
    with Counting(store) as opened:
        found = fidelity.run(opened, [], fidelity.LAST)
        assert (len(found.runs), opened.listed) == (runs, 1)
