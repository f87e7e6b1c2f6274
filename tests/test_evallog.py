"""Laws of evaluation logs: one run per sample and epoch, with every reference resolved."""

import hashlib
import json
import zipfile

import made_evallog as made
import pytest

from githarness.capture import evallog
from githarness.errors import MissingError, UnreadableError


def taken(*samples, **more):
    return {one.native: list(one.lines) for one in evallog.sessions_of_log(made.log(*samples, **more))}


def records(*samples, **more):
    (lines,) = taken(*samples, **more).values()
    return [json.loads(line) for line in lines]


def kinds(*samples):
    return [
        next((record[key].get("role") or record[key].get("event") or key) for key in record if key != "own")
        for record in records(*samples)
    ]


def archived(path):
    return {one.native: list(one.lines) for one in evallog.sessions(path)}


def test_each_sample_and_epoch_is_a_run_of_its_own():
    runs = [made.sample([made.user()], key="x", epoch=epoch) for epoch in (1, 2)]
    assert list(taken(*runs)) == ["ev/x/1", "ev/x/2"]


def test_the_oldest_logs_are_named_by_their_run():
    head = {"run_id": "old", "model": "m"}
    assert list(taken(made.sample([]), eval=head)) == ["old/1/1"]


def test_a_model_event_stands_just_before_the_message_it_produced():
    order = [
        "header",
        "span_begin",
        "system",
        "user",
        "model",
        "assistant",
        "tool",
        "tool",
        "model",
        "assistant",
    ]
    assert kinds(made.spoken()) == order


def test_the_event_of_a_message_is_marked_and_a_scorers_is_not():
    answer = made.assistant("Twelve.")
    grader = made.model({"id": "g1", "role": "assistant", "content": "Good."})
    lines = records(made.sample([made.user(), answer], [made.model(answer), grader]))
    assert [line.get("own", False) for line in lines if "event" in line] == [True, False]


def test_messages_without_ids_are_placed_by_their_text():
    answer = {"role": "assistant", "content": "Twelve."}
    assert kinds(made.sample([made.user(), answer], [made.model(answer)]))[-2:] == ["model", "assistant"]


def test_a_tool_description_is_what_the_attachment_says():
    tools = next(line["event"]["tools"] for line in records(made.spoken()) if "own" in line)
    assert tools[0]["description"] == "Show a file."


def test_the_older_form_of_attachments_is_resolved():
    old = {
        "id": 1,
        "messages": [made.user(f"tc://{made.ATTACHED}")],
        "transcript": {"content": {made.ATTACHED: "Hi."}},
    }
    assert records(old)[1]["message"]["content"] == "Hi."


def test_a_reference_to_nothing_stays_as_it_is():
    text = "attachment://" + "f" * 32
    assert records(made.sample([made.user(text)]))[1]["message"]["content"] == text


def test_the_history_an_event_repeats_is_left_out():
    events = [line["event"] for line in records(made.spoken()) if "own" in line]
    assert not any({"input", "call"} & event.keys() for event in events)


def test_the_header_holds_nothing_of_other_samples():
    header = records(made.spoken(), results={"scores": [1]})[0]["header"]
    assert "sample_ids" not in header["eval"]["dataset"]
    assert set(header) == {"run", "version", "status", "eval", "plan", "sample"}


def test_what_a_sample_says_of_itself_is_in_the_header():
    header = records(made.sample([], limit={"type": "token"}, store={"x": 1}))[0]["header"]
    assert header["sample"] == {"id": 1, "epoch": 1, "limit": {"type": "token"}}


def test_the_same_log_gives_the_same_bytes_everywhere():
    (lines,) = taken(made.spoken()).values()
    whole = hashlib.sha256(b"\n".join(lines)).hexdigest()
    assert whole == "9efe9f1bf47e803d39f6d0732be51c65160d7ca1c115f169adcea9a425d3c58a"


def test_a_number_that_is_none_costs_no_log():
    header = records(made.sample([], scores={"s": float("nan")}))[0]["header"]
    assert header["sample"]["scores"] == {"s": "NaN"}


def test_a_lone_surrogate_stays_escaped():
    lines = next(iter(taken(made.sample([made.user("cut \ud83d")])).values()))
    assert rb"cut \ud83d" in lines[1]


def test_an_archive_says_what_the_document_says(tmp_path):
    path = made.archive(tmp_path / "log.eval", made.spoken())
    assert archived(path) == taken(made.spoken())


def test_a_log_that_is_still_being_written_is_read_from_its_journal(tmp_path):
    path = made.archive(tmp_path / "log.eval", made.spoken(), header="_journal/start.json")
    assert list(archived(path)) == ["ev/1/1"]


def test_one_damaged_sample_costs_no_other_and_is_named_last(tmp_path):
    path = made.archive(tmp_path / "log.eval", made.spoken())
    with zipfile.ZipFile(path, "a") as more:
        more.writestr("samples/0_epoch_1.json", "{")
    found = evallog.sessions(path)
    assert next(found).native == "ev/1/1"
    with pytest.raises(UnreadableError, match=r"samples/0_epoch_1.json: not valid JSON"):
        next(found)


def test_a_compression_that_this_python_cannot_read_is_named(tmp_path):
    path = made.archive(tmp_path / "log.eval", made.spoken(), method=zipfile.ZIP_STORED)
    # Method 250 stands for one that no Python reads, in the local and the central record.
    data = path.read_bytes().replace(b"PK\x03\x04\x14\0\0\0\0\0", b"PK\x03\x04\x14\0\0\0\xfa\0")
    path.write_bytes(data.replace(b"PK\x01\x02\x14\x03\x14\0\0\0\0\0", b"PK\x01\x02\x14\x03\x14\0\0\0\xfa\0"))
    with pytest.raises(UnreadableError, match="method 250"):
        archived(path)


def test_a_zip_that_is_no_log_is_refused_in_words(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as other:
        other.writestr("a.txt", "x")
    with pytest.raises(UnreadableError, match="no known recording"):
        archived(tmp_path / "a.zip")


def test_a_torn_zip_is_refused_in_words(tmp_path):
    path = made.archive(tmp_path / "log.eval", made.spoken())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UnreadableError, match="damaged zip"):
        archived(path)


def test_a_missing_archive_is_missing(tmp_path):
    with pytest.raises(MissingError):
        archived(tmp_path / "gone.eval")


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"eval":1}', made.log(), b"\xff"])
def test_what_holds_no_sample_is_refused_in_words(data):
    with pytest.raises(UnreadableError):
        list(evallog.sessions_of_log(data))


def test_a_log_nested_too_deeply_is_refused_in_words():
    deep = b'{"eval":{},"samples":[{"messages":' + b"[" * 400 + b"]" * 400 + b"}]}"
    with pytest.raises(UnreadableError, match="deeper"):
        list(evallog.sessions_of_log(deep))


def test_a_log_is_known_by_its_first_members_and_an_archive_by_its_mark(tmp_path):
    assert evallog.is_log(made.log()[:200])
    assert not evallog.is_log(b'{"version":2,"spans":[]}')
    assert evallog.is_zip(made.archive(tmp_path / "a.eval").read_bytes()[:8])
