"""Whatever the system refuses is one line, a hint and an exit code, and never a traceback."""

import os
import subprocess
import sys

import made_store as made
import pytest
from made_store import ROOT, call_lines, cli, keep, write

from githarness import cli as program
from githarness.store.derived import Derived

LONG = "x" * 5000


@pytest.fixture
def store(tmp_path):
    return made.store(tmp_path)


def shell(script, store, **env):
    """Run a script in which $G is the program."""
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "GITHARNESS_STORE": str(store)}
    command = f"G='{sys.executable} -m githarness'; {script}"
    return subprocess.run(["bash", "-c", command], env=given | env, capture_output=True, check=False)


def is_told(done, code):
    """One error, one hint, the code, and nothing of Python."""
    lines = done.stderr.decode().splitlines()
    return done.returncode == code and [line.split(":")[0] for line in lines] == ["error", "hint"]


@pytest.mark.parametrize("words", ["log", "show ab12", "status", "diff a b", "demo --keep x"])
def test_a_folder_that_is_gone_is_told(store, tmp_path, words):
    (tmp_path / "gone").mkdir()
    assert is_told(shell(f"cd {tmp_path}/gone; rmdir ../gone; $G {words}", store), 3)


@pytest.mark.parametrize("words", ["log", "--json log", "--help", "show RUN", "show RUN --raw", "demo"])
def test_a_full_device_is_told(store, tmp_path, words):
    run = keep(store, write(tmp_path / "a", call_lines())).recorded[0].id
    assert is_told(shell(f"$G {words.replace('RUN', run)} > /dev/full", store), 3)


def test_an_error_that_cannot_be_written_keeps_its_code(store):
    assert shell("$G show zz 2> /dev/full", store).returncode == 2


def test_a_closed_output_is_no_traceback(store):
    done = shell("$G log >&-", store)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "env", [{"PYTHONIOENCODING": "latin1"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_what_a_stream_cannot_write_is_spelled_out(store, tmp_path, env):
    run = keep(store, write(tmp_path / "a", call_lines().replace("text 0", "\u65e5\u672c"))).recorded[0].id
    done = shell(f"$G show {run}", store, **env, PYTHONCOERCECLOCALE="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u{65e5}\u{672c}" in done.stdout


@pytest.mark.parametrize("verb", ["evidence --recount", "evidence", "doctor", "log"])
def test_a_cache_folder_that_is_a_file_costs_nothing(store, tmp_path, verb):
    keep(store, write(tmp_path / "a", call_lines(failed={0})))
    write(tmp_path / "home" / ".cache", "a file")
    done = shell(f"$G {verb}", store, HOME=str(tmp_path / "home"))
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_cannot_be_kept_is_not_there(tmp_path):
    derived = Derived(tmp_path / "file" / "counters")
    write(tmp_path / "file", "a file")
    derived.put("key", b"1")
    assert derived.get("key") is None


@pytest.mark.parametrize("words", [["diff", LONG, LONG], ["fidelity", "--against", LONG], ["show", LONG]])
def test_a_very_long_name_is_told_and_cut(store, tmp_path, words):
    keep(store, write(tmp_path / "a", call_lines()))
    done = cli(*words, store=store)
    assert done.returncode in (2, 3)
    assert len(done.stderr) < 300


def test_a_name_that_is_neither_a_file_nor_an_id_is_told(store):
    done = cli("diff", "ab12", "missing.json", store=store)
    assert b"nothing in the store" in done.stderr
    assert b"no such file or id: missing.json" in cli("diff", "missing.json", "ab12", store=store).stderr


def raised(error, capsys, monkeypatch):
    """Run the program with a verb that raises; return (exit code, standard error)."""

    def fail(**_):
        raise error

    monkeypatch.setattr(program.verbs, "main", fail)
    with pytest.raises(SystemExit) as left:
        program.main(["log"])
    return left.value.code, capsys.readouterr().err


def test_too_little_memory_is_told(capsys, monkeypatch):
    code, said = raised(MemoryError(), capsys, monkeypatch)
    assert (code, said.splitlines()[0]) == (3, "error: this needs more memory than there is")


def test_a_file_that_the_system_refuses_is_named(capsys, monkeypatch):
    code, said = raised(PermissionError(13, "Permission denied", "/x"), capsys, monkeypatch)
    assert (code, said.splitlines()[0]) == (3, "error: /x: Permission denied")


def test_what_nobody_thought_of_is_a_sentence_that_asks_for_a_report(capsys, monkeypatch):
    code, said = raised(ZeroDivisionError("by \x1b zero"), capsys, monkeypatch)
    first, hint = said.splitlines()
    assert (code, first) == (
        3,
        r"error: githarness failed in an unexpected way: ZeroDivisionError: by \u{1b} zero",
    )
    assert "report it" in hint
