"""Asking a program: the question on its standard input, its reply from its standard output.

What it closes: every way to reach a model is somebody's own. The decision: any command
of the shell will do, and its reply is text that is believed nothing. What this does not
do: it knows no model, and keeps no reply.
"""

import subprocess

from githarness.errors import UnreadableError

# A model that thinks for longer is not going to answer.
PATIENCE = 600.0
# The transcript of an agent that looked at much; a proposal is one screen.
LIMIT = 16 << 20


def ask(command: str, question: str, *, patience: float = PATIENCE) -> str:
    """Run `command` in a shell with `question` on its input; return what it wrote.

    UnreadableError when it fails, takes longer than `patience` seconds, or writes more
    than 16 MiB.
    """
    try:
        # the command is the user's own words, as an editor or a pager would be
        done = subprocess.run(  # noqa: S602
            command, shell=True, input=question.encode(), capture_output=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnreadableError(f"--ask: no reply within {patience:.0f} s") from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise UnreadableError(f"--ask: the command ended with {done.returncode}: {' '.join(last)[:200]}")
    if len(done.stdout) > LIMIT:
        raise UnreadableError(f"--ask: a reply of {len(done.stdout)} bytes, of which {LIMIT} are read")
    return done.stdout.decode("utf-8", "replace")
