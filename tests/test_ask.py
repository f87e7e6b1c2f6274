"""Asking a program: what it may do, and what it may not do to whoever asks."""

import os
import signal
import subprocess
import sys
import time

import pytest

from githarness.drive import ask as asking
from githarness.errors import UnreadableError


def test_the_question_is_on_standard_input_and_the_reply_is_standard_output():
    assert asking.ask("tr a-z A-Z; echo noise >&2", "what?") == "WHAT?"


def test_a_command_that_reads_nothing_is_answered_all_the_same():
    assert asking.ask("echo yes", "x" * 1_000_000) == "yes\n"


def test_a_command_that_fails_is_named_by_its_code_and_its_last_word():
    with pytest.raises(UnreadableError, match="ended with 7: no model here"):
        asking.ask("echo first >&2; echo no model here >&2; exit 7", "")


def test_what_a_command_left_in_the_background_is_neither_waited_for_nor_left(tmp_path):
    begin = time.monotonic()
    assert asking.ask(f"sleep 60 & echo $! > {tmp_path}/pid; echo yes", "") == "yes\n"
    assert time.monotonic() - begin < 10
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_command_that_writes_without_end_is_stopped(tmp_path):
    with pytest.raises(UnreadableError, match="a reply of more than"):
        asking.ask(f"echo $$ > {tmp_path}/pid; exec yes", "")
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_command_that_does_not_answer_is_stopped(tmp_path):
    with pytest.raises(UnreadableError, match="no reply within 1 s"):
        asking.ask(f"echo $$ > {tmp_path}/pid; exec sleep 60", "", patience=1)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_an_interrupt_ends_the_command_as_well(tmp_path):
    command = f"echo $$ > {tmp_path}/pid; exec sleep 60"
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listen}; from githarness.drive.ask import ask; ask({command!r}, '')"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    assert is_gone(int((tmp_path / "pid").read_text()))


def is_gone(process):
    """Tell whether a process has ended, or ends within a moment."""
    for _ in range(200):
        try:
            os.kill(process, 0)
            with open(f"/proc/{process}/stat") as stat:  # noqa: PTH123
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False
