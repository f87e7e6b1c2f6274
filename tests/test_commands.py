import hashlib
import json
from itertools import pairwise

import made_store as made
import pytest
from made_store import answer, call_lines, cli, keep, write

from githarness.commands.record.result import Options

TOOLS = b'[{"name":"read","description":"Read a file.","input_schema":{"type":"object"}}]'
CHANGED = TOOLS.replace(b"Read a file.", b"Read a file. \xe2\x80\xae")


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def request(tools=TOOLS):
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": "be brief",
        "messages": [{"role": "user", "content": "hi"}],
    }
    return json.dumps(body).encode()[:-1] + b',"tools":' + tools + b"}"


def test_init_makes_a_private_bare_store_and_may_be_repeated(tmp_path):
    codes = [answer("init", tmp_path / "s") for _ in range(2)]
    assert [(code, said["created"]) for code, said in codes] == [(0, True), (0, False)]
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700


def test_init_declares_the_knobs_on_main(store):
    text = made.git(store, "show", "main:harness.toml")
    assert [f"[knob.{name}]" in text for name in ("max_retries", "planning_max_replans", "effort")] == [
        True
    ] * 3


def test_log_lists_the_newest_run_first(store, tmp_path):
    later = call_lines("s-2").replace("2026-11-01", "2026-11-02")
    keep(store, write(tmp_path / "a", call_lines("s-1")), write(tmp_path / "b", later))
    code, said = answer("log", store=store)
    assert (code, [run["started"][:10] for run in said["runs"]]) == (0, ["2026-11-02", "2026-11-01"])


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--agent", "claude-code"], 1),
        (["--agent", "codex"], 0),
        (["--model", "m-"], 1),
        (["--since", "2026-11-02"], 0),
        (["--project", "/p"], 1),
        (["--surface", "ab"], 0),
    ],
)
def test_log_filters_runs(store, tmp_path, words, count):
    keep(store, write(tmp_path / "a", call_lines()))
    assert len(answer("log", *words, store=store)[1]["runs"]) == count


def test_log_lists_a_surface_with_its_kind(store, tmp_path):
    keep(store, write(tmp_path / "t", TOOLS))
    said = answer("log", "--surfaces", store=store)[1]
    assert [(one["id"], one["tools"], one["kind"]) for one in said["surfaces"]] == [
        (hashlib.sha256(TOOLS).hexdigest(), 1, "sent")
    ]


def test_show_gives_a_run_call_by_call(store, tmp_path):
    run = keep(store, write(tmp_path / "a", call_lines(calls=2, failed={1}))).recorded[0].id
    said = answer("show", run[:6], store=store)[1]
    assert [(call["name"], call["cause"], call["output"]) for call in said["calls"]] == [
        ("Read", None, "text 0"),
        ("Read", "failed", "text 1"),
    ]
    assert (said["stats"]["tool_errors"], said["stats"]["turns"], said["steps"]) == (1, 1, 2)


def test_show_gives_exact_bytes(store, tmp_path):
    text = call_lines(calls=3)
    run = keep(store, write(tmp_path / "a", text)).recorded[0].id
    assert cli("show", run, "--raw", store=store).stdout == text.encode()


def test_show_gives_a_surface_tool_by_tool(store, tmp_path):
    digest = keep(store, write(tmp_path / "t", TOOLS)).recorded[0].id
    said = answer("show", digest[:8], store=store)[1]
    assert [(tool["name"], tool["description"]) for tool in said["tools"]] == [("read", "Read a file.")]


def test_a_digest_that_is_not_there_is_absent_and_no_empty_surface(store):
    code, said = answer("show", "0" * 64, store=store)
    assert (code, said["kind"]) == (3, "missing")


def test_a_beginning_that_two_ids_share_is_refused(store, tmp_path):
    names = [write(tmp_path / str(n), call_lines(f"s-{n}")) for n in range(600)]
    ids = sorted(item.id for item in keep(store, *names).recorded)
    shared = next(one[:4] for one, two in pairwise(ids) if one[:4] == two[:4])
    code, said = answer("show", shared, store=store)
    assert (code, said["hint"]) == (2, "give more digits")


def test_hostile_text_is_shown_escaped(store, tmp_path):
    text = call_lines().replace("text 0", "\\u001b]0;owned\\u0007 \\u202e\\u200b")
    run = keep(store, write(tmp_path / "a", text)).recorded[0].id
    shown = cli("show", run, store=store).stdout.decode()
    assert r"\u{1b}]0;owned\u{7} \u{202e}\u{200b}" in shown
    assert "\x1b" not in shown


def test_status_counts_coverage(store, tmp_path):
    keep(store, write(tmp_path / "a", call_lines()), write(tmp_path / "r", request()))
    code, said = answer("status", store=store)
    assert (code, said["runs"], said["with_surface"], said["surfaces"], said["problems"]) == (0, 2, 1, 1, [])


def test_status_of_an_empty_store_has_never_recorded(store):
    assert answer("status", store=store)[1]["last_recorded"] is None


def test_status_names_a_lock_that_stands_in_the_way(store):
    (store / "refs/heads/recordings.lock").touch()
    code, said = answer("status", store=store)
    assert (code, said["problems"][0]["rule"]) == (3, "stale-lock")


def test_record_names_a_lock_that_stands_in_the_way_and_leaves_it(store, tmp_path):
    lock = store / "refs/heads/recordings.lock"
    lock.touch()
    code, said = answer("record", write(tmp_path / "a", call_lines()), store=store)
    assert (code, said["kind"], lock.exists()) == (3, "locked", True)
    assert str(lock) in said["message"]


def fidelity(store, tmp_path, live, *runs):
    return answer("fidelity", *runs, "--against", write(tmp_path / "live", live), store=store)


def test_the_same_bytes_match(store, tmp_path):
    keep(store, write(tmp_path / "r", request()))
    code, said = fidelity(store, tmp_path, TOOLS)
    assert (code, said["fidelity"], said["parts"]) == (
        0,
        "matches",
        {"tools": "matches", "system": None, "model": None},
    )


def test_a_changed_description_under_an_unchanged_name_differs(store, tmp_path):
    keep(store, write(tmp_path / "r", request()))
    code, said = fidelity(store, tmp_path, CHANGED)
    assert (code, said["fidelity"], said["class"]) == (1, "differs", "re-described")


def test_a_recording_without_a_surface_is_unknown_and_never_a_match(store, tmp_path):
    keep(store, write(tmp_path / "a", call_lines()))
    code, said = fidelity(store, tmp_path, TOOLS)
    assert (code, said["fidelity"]) == (4, "unknown")


def test_a_request_body_states_prompt_and_model_too(store, tmp_path):
    keep(store, write(tmp_path / "r", request()))
    code, said = fidelity(store, tmp_path, request().replace(b"be brief", b"be long"))
    assert (code, said["parts"]) == (1, {"tools": "matches", "system": "differs", "model": "matches"})


def test_the_worst_of_several_runs_decides(store, tmp_path):
    keep(store, write(tmp_path / "r", request()), write(tmp_path / "a", call_lines()))
    code, said = fidelity(store, tmp_path, TOOLS)
    assert (code, sorted(run["fidelity"] for run in said["runs"])) == (4, ["matches", "unknown"])


def test_an_agent_whose_surface_nobody_recorded_has_nothing_to_compare_with(store, tmp_path):
    keep(store, write(tmp_path / "a", call_lines()), write(tmp_path / "r", request()))
    assert answer("fidelity", "--against", "last", store=store)[1]["fidelity"] == "unknown"


def test_the_surface_last_recorded_for_the_agent_is_the_default(store, tmp_path):
    first = keep(store, write(tmp_path / "r", request())).recorded[0].id
    keep(store, write(tmp_path / "q", request(CHANGED)))
    assert answer("fidelity", first, store=store)[1]["fidelity"] == "differs"


def test_a_withheld_surface_still_answers(store, tmp_path):
    secret = TOOLS.replace(b"Read", b"AKIA" + b"Q3EXMPL7ZK5JRW2T")
    keep(store, write(tmp_path / "r", request(secret)))
    assert fidelity(store, tmp_path, secret)[1]["fidelity"] == "matches"


def test_json_may_stand_after_the_verb(store):
    assert json.loads(cli("log", "--json", store=store).stdout)["schema"] == "githarness/log/1"


def test_an_unknown_verb_is_a_usage_error(store):
    code, said = answer("frobnicate", store=store)
    assert (code, said["kind"]) == (2, "usage")


def test_the_demo_tells_its_story_and_leaves_nothing(tmp_path):
    done = cli("demo", env={"TMPDIR": str(tmp_path)})
    assert (done.returncode, list(tmp_path.glob("githarness-*"))) == (0, [])
    assert b"re-described" in done.stdout


def test_the_drift_of_one_server_is_told_step_by_step(store, tmp_path):
    for at, tools in enumerate((TOOLS, CHANGED, CHANGED.replace(b"read", b"view"))):
        keep(store, write(tmp_path / str(at), tools), options=Options(source="files"), now=made.NOW + at)
    said = answer("log", "--surfaces", store=store)[1]
    assert [one["change"] for one in said["surfaces"]] == ["added/removed", "re-described", None]


def test_runs_are_selected_by_their_label(store, tmp_path):
    keep(store, write(tmp_path / "a", call_lines("a")), options=Options(label="nightly"))
    keep(store, write(tmp_path / "b", call_lines("b")))
    assert len(answer("log", "--label", "nightly", store=store)[1]["runs"]) == 1
    assert answer("evidence", "--label", "nightly", store=store)[1]["runs"] == 1
