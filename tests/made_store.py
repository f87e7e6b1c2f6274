"""Builders: a store in a temporary folder, small transcripts, and the command line in process."""

import json
import os
import subprocess
import sys
from pathlib import Path

from githarness.capture.cache import Cache
from githarness.commands import init, record
from githarness.commands.record.result import Options
from githarness.store.find import open_store

ROOT = Path(__file__).parent.parent
NOW = 1_780_000_000


def store(tmp_path):
    """Make an empty store; return its path."""
    path = tmp_path / "s.git"
    init.run(path)
    return path


def call_lines(session="s-1", calls=1, *, failed=(), start=0):
    """Return the lines of a Claude Code session: one turn, then `calls` calls with results."""
    head = {"sessionId": session, "cwd": "/p", "version": "2.1.197", "isSidechain": False}
    lines = []
    if start == 0:
        lines.append(
            {
                "type": "user",
                "uuid": f"{session}-t",
                **head,
                "timestamp": "2026-11-01T10:00:00.000Z",
                "message": {"role": "user", "content": "do it"},
            }
        )
    for number in range(start, start + calls):
        block = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {"file_path": f"f{number}"}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"text {number}"}
        if number in failed:
            result["is_error"] = True
        moment = f"2026-11-01T10:{number // 60 % 60:02d}:{number % 60:02d}.500Z"
        said = {"id": f"m{number}", "role": "assistant", "model": "m-1", "content": [block]}
        lines += [
            {
                "type": "assistant",
                "uuid": f"{session}-a{number}",
                **head,
                "timestamp": moment,
                "message": said,
            },
            {
                "type": "user",
                "uuid": f"{session}-u{number}",
                **head,
                "timestamp": moment,
                "message": {"role": "user", "content": [result]},
            },
        ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def write(path, text):
    """Write text, or bytes, and return the path as a string."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def keep(path, *names, options=None, cache=None, stdin=b"", now=NOW):
    """Record into the store at `path`; return the result."""
    with open_store(path) as opened:
        return record.run(
            store=opened,
            paths=[str(name) for name in names],
            options=options or Options(),
            now=now,
            cache=Cache(cache),
            stdin=lambda: stdin,
            progress=lambda _: None,
        )


def tip(path):
    """Return the commit of recordings."""
    return git(path, "rev-parse", "refs/heads/recordings").strip()


def git(path, *words):
    """Run git on the store, as a stranger would."""
    done = subprocess.run(["git", f"--git-dir={path}", *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def tree(path):
    """Return every path of recordings with its blob."""
    return git(path, "ls-tree", "-r", "recordings")


def cli(*words, store=None, stdin=b"", env=None):
    """Run the program in a process of its own; return the finished process."""
    given = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    if store is not None:
        given["GITHARNESS_STORE"] = str(store)
    command = [sys.executable, "-W", "error", "-m", "githarness", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, env=given | (env or {}), check=False)


def answer(*words, store=None, stdin=b"", env=None):
    """Run the program for its JSON answer; return (exit code, object)."""
    done = cli("--json", *words, store=store, stdin=stdin, env=env)
    return done.returncode, json.loads(done.stdout)
