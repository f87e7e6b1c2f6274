"""Every kind of bad input gets a clear answer, and nothing is lost."""

import json
import os

import made_store as made
import pytest
from made_store import answer, call_lines, cli, keep, write

DEEP = b'{"a":' * 5000 + b"1" + b"}" * 5000
TOOL = b'[{"name": "t", "description": "d", "input_schema": {"type": "object"%s}}]'


def reason(tmp_path, data):
    """Record one named file; return why it was skipped, with the exit code checked."""
    result = keep(made.store(tmp_path), write(tmp_path / "in", data))
    assert result.exit_code == 3
    return result.skipped[0].reason


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty file"),
        (b"\x7fELF\0\0\0", "binary data"),
        (b"not json at all", "not JSON"),
        (b"[]", "JSON, but no session or surface (a list of 0)"),
        (b"{}", "an empty object"),
        (b"null", "JSON, but no session or surface"),
        (b"\xff\xfe{\0}\0", "UTF-16 text; transcripts are UTF-8"),
        (b"PK\x03\x04rest", "a damaged zip archive"),
        (DEEP, "not JSON"),
        (TOOL % b',"type":"x"', "duplicate key"),
        (TOOL % b',"minimum":NaN', "not JSON"),
        (TOOL % b',"minimum":1e999', "out of range"),
        (b'["read", "write"]', "names only"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_cannot_be_recorded_says_why(tmp_path, data, said):
    assert said in reason(tmp_path, data)


def recorded(tmp_path, text):
    return keep(made.store(tmp_path), write(tmp_path / "in", text)).recorded[0]


def test_a_truncated_last_line_is_counted_and_the_rest_is_read(tmp_path):
    item = recorded(tmp_path, call_lines(calls=2)[:-20])
    assert (item.calls, item.unreadable) == (2, 1)


def test_a_line_nested_five_thousand_deep_is_counted(tmp_path):
    item = recorded(tmp_path, call_lines().encode() + DEEP + b"\n")
    assert (item.calls, item.unreadable) == (1, 1)


def test_nan_in_a_line_is_counted(tmp_path):
    assert recorded(tmp_path, call_lines() + '{"type":"user","x":NaN}\n').unreadable == 1


def test_a_lone_surrogate_is_kept_as_it_was_written(tmp_path):
    item = recorded(tmp_path, call_lines().replace("text 0", "half \\ud83d"))
    assert (item.calls, item.unreadable) == (1, 0)


def test_line_separators_inside_strings_split_nothing(tmp_path):
    item = recorded(
        tmp_path, call_lines().replace("text 0", "a\u2028b\u0085c\u2029d\x0bX".replace("\x0b", ""))
    )
    assert (item.calls, item.unreadable) == (1, 0)


def test_a_line_of_nine_megabytes_is_read(tmp_path):
    assert recorded(tmp_path, call_lines().replace("text 0", "y" * 9_000_000)).calls == 1


def test_a_folder_that_may_not_be_read_is_said_so(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    (tmp_path / "closed").mkdir(mode=0o000)
    result = keep(made.store(tmp_path), tmp_path / "closed")
    assert (result.skipped[0].reason, result.exit_code) == ("permission denied", 3)


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    result = keep(made.store(tmp_path), tmp_path / "gone")
    assert (result.skipped[0].reason, result.exit_code) == ("no such file or directory", 3)


def test_without_a_store_the_way_to_make_one_is_named(tmp_path):
    code, said = answer("log", store=tmp_path / "none")
    assert (code, said["kind"]) == (3, "missing")
    assert said["hint"].endswith("init")


def test_a_folder_that_is_no_store_is_said_so(tmp_path):
    write(tmp_path / "other" / "file", "x")
    code, said = answer("status", store=tmp_path / "other")
    assert code == 3
    assert "no store" in said["message"]


def test_init_refuses_a_folder_in_use(tmp_path):
    write(tmp_path / "other" / "file", "x")
    code, said = answer("init", tmp_path / "other")
    assert (code, said["kind"]) == (1, "refused")


def test_a_damaged_object_is_named_and_never_shown(tmp_path):
    store = made.store(tmp_path)
    item = keep(store, write(tmp_path / "a", call_lines())).recorded[0]
    for pack in (store / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o600)
        data = bytearray(pack.read_bytes())
        data[len(data) // 2] ^= 0xFF
        pack.write_bytes(data)
    done = cli("show", item.id, store=store)
    assert done.returncode == 3
    assert b"error: " in done.stderr
    assert b"hint: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_error_is_one_json_object_too(tmp_path):
    code, said = answer("show", "zzzz", store=made.store(tmp_path))
    assert (code, said["schema"], said["kind"]) == (2, "githarness/error/1", "usage")


def test_an_error_shows_hostile_words_escaped(tmp_path):
    done = cli("show", "\x1b[31m\u202e", store=made.store(tmp_path))
    assert b"\x1b" not in done.stderr
    assert b"\\u{1b}" in done.stderr


def test_a_reader_who_leaves_early_is_no_error(tmp_path):
    store = made.store(tmp_path)
    keep(store, write(tmp_path / "a", call_lines(calls=400)))
    run = json.loads(cli("--json", "log", store=store).stdout)["runs"][0]["id"]
    script = f"{os.sys.executable} -m githarness show {run} | head -1"
    done = made.subprocess.run(
        ["bash", "-c", script],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(made.ROOT), "GITHARNESS_STORE": str(store)},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
