import os
import stat

import pytest
from stores import git as plain
from stores import made, read, write

from githarness import canon
from githarness.errors import MissingError, StorageError
from githarness.store import git, layout
from githarness.store.git import Git


def program(folder, text):
    """Put an executable script named git into a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


def test_the_environment_of_git_is_ours_and_nothing_else(monkeypatch):
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "LD_PRELOAD", "PAGER", "GIT_TRACE"):
        monkeypatch.setenv(name, "hostile")
    assert set(git.environment()) == {
        "PATH", "HOME", "LC_ALL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_ATTR_NOSYSTEM",
        "GIT_NO_REPLACE_OBJECTS", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_NO_LAZY_FETCH",
        "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
    }  # fmt: skip
    assert "hostile" not in git.environment().values()


def test_inherited_git_variables_do_not_move_what_is_written(tmp_path, monkeypatch):
    path, other = made(tmp_path), made(tmp_path, "other")
    before = plain(other, "for-each-ref")
    hostile = {
        "GIT_DIR": other, "GIT_OBJECT_DIRECTORY": other / "objects", "GIT_INDEX_FILE": other / "index",
        "GIT_COMMON_DIR": other, "GIT_NAMESPACE": "x", "GIT_CONFIG_PARAMETERS": "'core.bare=false'",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "touch /tmp/no",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": other / "objects", "GIT_REPLACE_REF_BASE": "refs/heads/",
    }  # fmt: skip
    for name, value in hostile.items():
        monkeypatch.setenv(name, str(value))
    write(path, b"one\n")
    assert read(path, layout.part(canon.sha256(b"one\n"))) == b"one\n"
    assert plain(other, "for-each-ref") == before


def test_programs_that_a_repository_names_are_never_run(tmp_path):
    path, trace = made(tmp_path), tmp_path / "trace"
    hook = path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\necho ran >> {trace}\n")
    hook.chmod(0o700)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "gpg.program", "alias.fast-import"):
        plain(path, "config", key, f"!touch {trace}")
    plain(path, "config", "core.hooksPath", str(hook.parent))
    write(path, b"one\n", run=1)
    assert not trace.exists()


def test_the_guard_above_would_see_a_hook_that_runs(tmp_path):
    path, trace = made(tmp_path), tmp_path / "trace"
    hook = path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\necho ran >> {trace}\n")
    hook.chmod(0o700)
    plain(path, "update-ref", "refs/heads/other", layout.MAIN)
    assert trace.exists()


def test_git_is_found_in_absolute_folders_only(tmp_path, monkeypatch):
    program(tmp_path / "near", "exit 0")
    expected = program(tmp_path / "far", "exit 0")
    monkeypatch.chdir(tmp_path)
    assert git.resolve(os.pathsep.join(["near", "", str(tmp_path / "far")])) == str(expected)


def test_a_file_that_cannot_be_run_is_not_git(tmp_path):
    program(tmp_path / "bin", "exit 0").chmod(stat.S_IRUSR)
    with pytest.raises(MissingError, match="git is not on the PATH") as caught:
        git.resolve(str(tmp_path / "bin"))
    assert caught.value.hint == "install git 2.36 or newer"


@pytest.mark.parametrize("said", ["git version 2.35.9", "git version 1.9", "hello", ""])
def test_a_git_that_would_not_fsync_is_refused(said):
    with pytest.raises(StorageError, match="too old"):
        git.supported(said.encode())


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("git version 2.36.0", (2, 36)),
        ("git version 2.39.5 (Apple Git-154)", (2, 39)),
        ("git version 3.0.0", (3, 0)),
    ],
)
def test_a_version_is_read_as_two_numbers(said, found):
    assert git.supported(said.encode()) == found


def test_the_reason_is_the_fatal_line_and_not_where_the_crash_report_lies():
    err = b"warning: x\nfatal: write error: No space left\nfast-import: dumping crash report to y\n"
    assert git.reason(128, err) == "write error: No space left"


def test_a_git_that_dies_of_a_signal_or_without_a_word_is_still_explained():
    assert git.reason(-25, b"") == "ended by signal 25"
    assert git.reason(7, b"\n") == "exit code 7 without a word"


def test_a_failing_git_names_the_command_and_the_store(tmp_path):
    with pytest.raises(StorageError, match=r"git rev-parse on .*nowhere"):
        Git(tmp_path / "nowhere").run("rev-parse", "HEAD")


def test_what_git_refuses_in_a_question_is_none_and_not_an_error(tmp_path):
    assert git.ask(tmp_path, "config", "--local", "--get", "githarness.store") is None


def test_a_program_is_found_in_absolute_folders_alone(tmp_path, monkeypatch):
    program = tmp_path / "tool"
    program.touch(mode=0o700)
    monkeypatch.chdir(tmp_path)
    assert git.on_path("tool", f".::{tmp_path}") == str(program)
    assert git.on_path("tool", ".:") is None
