"""What is asked on a terminal: a real one, since what is asked there is asked nowhere else."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios

import pytest
from made_govern import ADA, BEN, world

WORDS = ("--guidance", "Read the test before you change what it tests.")
ROWS, COLUMNS = 200, 100
PATIENCE = 20
# The terminal becomes the one whose Ctrl-C reaches the program.
RUN = (
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "from githarness.__main__ import run; run()"
)


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, made, *words, rows=ROWS, columns=COLUMNS):
        self.screen, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, "--store", str(made.path), *map(str, words)],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=made.env() | {"TERM": "xterm"},
            start_new_session=True,
        )
        os.close(inside)
        self.shown = ""
        self.control = b""

    def until(self, words):
        """Read what is shown up to these words."""
        while words not in self.shown:
            data = self._read()
            assert data, self.shown
            self.shown += data
        return self

    def type(self, text):
        os.write(self.screen, text.encode())
        self.control = text.encode() if text < " " else b""
        return self

    def end(self):
        """Read to the end; return the exit code."""
        while data := self._read():
            self.shown += data
        os.close(self.screen)
        return self.process.wait(timeout=30)

    def _read(self):
        for _ in range(PATIENCE):
            if select.select([self.screen], [], [], 1)[0]:
                break
            # a control letter that comes while the prompt changes the terminal's mode is lost
            os.write(self.screen, self.control)
        else:
            self.process.kill()
            raise AssertionError(f"nothing more came in {PATIENCE} s after:\n{self.shown}")
        try:
            return os.read(self.screen, 65536).decode().replace("\r\n", "\n")
        except OSError:
            return ""


def decided(made, *words, **options):
    """Begin a decision by Ada on the one change that is proposed; return id and terminal."""
    one = made.propose(*WORDS)
    return one, Terminal(made, *words, one, "--key", made.key(ADA), **options)


@pytest.mark.parametrize(("verb", "standing"), [("approve", "approved"), ("reject", "rejected")])
def test_a_decision_shows_all_that_is_signed_and_asks_for_the_first_digits(tmp_path, verb, standing):
    made = world(tmp_path)
    one, terminal = decided(made, verb)
    _, review = made.ask("review", one)
    terminal.until("to sign: ").type(f"{review['digest'][:6]}\n")
    assert terminal.end() == 0
    assert review["text"] in terminal.shown
    assert made.standing(one) == standing


@pytest.mark.parametrize(
    ("typed", "code"),
    [("000000\n", 1), ("y\n", 1), ("\x03", 130), ("\x04", 130)],
    ids=["other digits", "yes", "interrupt", "end of input"],
)
def test_whatever_else_is_typed_signs_nothing(tmp_path, typed, code):
    made = world(tmp_path)
    one, terminal = decided(made, "approve")
    assert terminal.until("to sign: ").type(typed).end() == code
    assert "Traceback" not in terminal.shown
    assert made.standing(one) == "pending"


@pytest.mark.parametrize(("rows", "columns"), [(10, COLUMNS), (60, 20)], ids=["low", "narrow"])
def test_a_terminal_that_cannot_show_all_of_it_signs_nothing(tmp_path, rows, columns):
    made = world(tmp_path)
    one, terminal = decided(made, "approve", rows=rows, columns=columns)
    assert terminal.end() == 1
    assert f"this terminal shows {rows}" in terminal.shown.replace("\n", "")
    assert made.standing(one) == "pending"


def test_an_answer_for_machines_asks_nothing_on_a_terminal(tmp_path):
    made = world(tmp_path)
    one = made.propose(*WORDS)
    terminal = Terminal(made, "--json", "approve", one, "--key", made.key(ADA))
    assert terminal.end() == 1
    assert "there is no terminal" in terminal.shown


def stranger(tmp_path):
    """Somebody who has the store and was told the ledger's id, and has pinned nothing."""
    made = world(tmp_path, BEN)
    ledger = made.read().pin.ledger
    (made.config / "trust.json").unlink()
    return made, ledger


def test_trust_shows_the_keys_and_pins_what_is_typed(tmp_path):
    made, ledger = stranger(tmp_path)
    terminal = Terminal(made, "trust").until("as its owner told you: ")
    assert ADA.fingerprint in terminal.shown
    assert terminal.type(f"{ledger}\n").end() == 0
    assert made.read().pin.ledger == ledger


@pytest.mark.parametrize(
    ("typed", "code"),
    [("0" * 64 + "\n", 3), ("yes\n", 2), ("\x03", 130), ("\x04", 130)],
    ids=["another id", "yes", "interrupt", "end of input"],
)
def test_whatever_else_is_typed_pins_nothing(tmp_path, typed, code):
    made, _ = stranger(tmp_path)
    assert Terminal(made, "trust").until("as its owner told you: ").type(typed).end() == code
    assert made.read().pin is None


def test_verify_on_a_terminal_asks_nothing_and_is_unknown_until_something_is_pinned(tmp_path):
    made, ledger = stranger(tmp_path)
    terminal = Terminal(made, "verify")
    assert terminal.end() == 4
    assert "hint: githarness trust ID" in terminal.shown
    assert ledger not in terminal.shown
