"""Asking a program: the question on its standard input, its reply from its standard output.

What it closes: every way to reach a model is somebody's own. The decision: any command
of the shell will do, and its reply is text that is believed nothing. It runs in a
session of its own, which ends with it: what it left in the background is not waited
for, and what writes without end is stopped. What this does not do: it knows no model, and keeps
no reply.
"""

import os
import selectors
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import IO

from githarness.errors import UnreadableError

# A model that thinks for longer is not going to answer.
PATIENCE = 600.0
# The transcript of an agent that looked at much; a proposal is one screen.
LIMIT = 16 << 20
_BLOCK = 1 << 16
# How often an exit is looked for while something else holds the output open.
_TICK = 0.2


def ask(command: str, question: str, *, patience: float = PATIENCE) -> str:
    """Run `command` in a shell with `question` on its input; return what it wrote.

    UnreadableError when it fails, takes longer than `patience` seconds, or writes more
    than 16 MiB.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(question.encode())
        given.seek(0)
        # the command is the user's own words, as an editor or a pager would be
        process = subprocess.Popen(  # noqa: S602
            command,
            shell=True,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=complaints,
            # no terminal: what would ask there fails at once, and does not wait unseen
            start_new_session=True,
        )
        try:
            reply = _reply(process, time.monotonic() + patience, patience)
        finally:
            _end(process)
        if process.returncode:
            raise UnreadableError(
                f"--ask: the command ended with {process.returncode}: {_last(complaints)[:200]}",
                hint="run it by hand first, with any text on its standard input",
            )
    return reply.decode("utf-8", "replace")


def _reply(process: subprocess.Popen[bytes], until: float, patience: float) -> bytes:
    if process.stdout is None:
        raise ValueError("a process without an output")
    found = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            has_ended = process.poll() is not None
            if ready.select(0 if has_ended else _TICK):
                block = os.read(process.stdout.fileno(), _BLOCK)
                found += block
                if not block:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(max(0, until - time.monotonic()))
                    return bytes(found)
            elif has_ended:
                return bytes(found)
            if len(found) > LIMIT:
                raise UnreadableError(
                    f"--ask: a reply of more than {LIMIT} bytes", hint="have it print its answer alone"
                )
            if time.monotonic() > until:
                raise UnreadableError(
                    f"--ask: no reply within {patience:.0f} s", hint="--reply FILE takes one that is there"
                )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and all that it started and left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last(complaints: IO[bytes]) -> str:
    complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, complaints.tell() - _BLOCK))
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no word"
