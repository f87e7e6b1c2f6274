"""Made-up transcripts and stores for the benchmarks: deterministic, and of realistic shape."""

import hashlib
import json
import random
import subprocess
from pathlib import Path

from githarness.commands import init
from githarness.store.find import open_store

WORDS = (
    "the run reads a file and writes what it found into the module that parses the answer of the server "
    "before a test fails with an error in line and the agent looks at input_tokens password field token"
).split()


def prose(source: random.Random, length: int) -> str:
    """Return about `length` characters of words."""
    return " ".join(source.choices(WORDS, k=length // 6))


def turn(source: random.Random, session: str, number: int) -> list[bytes]:
    """Return the lines of one call with its result, as Claude Code writes them; about 6 KB."""
    call = f"toolu_{number:08d}"
    head = {"sessionId": session, "cwd": "/home/dev/project", "version": "2.1.197", "isSidechain": False}
    moment = {
        "timestamp": f"2026-11-{1 + number // 100000 % 28:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
    }
    said = {
        "type": "assistant", "uuid": f"a{session}{number}", **head, **moment, "requestId": f"req_{number}",
        "message": {
            "id": f"msg_{number}", "model": "claude-sonnet-4-5", "role": "assistant", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": prose(source, 40)}}],
            "usage": {"input_tokens": number, "output_tokens": 40, "cache_read_input_tokens": 9},
        },
    }  # fmt: skip
    got = {
        "type": "user", "uuid": f"u{session}{number}", **head, **moment,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": prose(source, 5000)}]},
    }  # fmt: skip
    return [json.dumps(line).encode() + b"\n" for line in (said, got)]


def transcript(path: Path, size: int, session: str, seed: int = 1) -> None:
    """Write a session of at least `size` bytes."""
    source = random.Random(seed)
    written = number = 0
    with path.open("wb") as stream:
        while written < size:
            for line in turn(source, session, number):
                written += stream.write(line)
            number += 1


def store(path: Path, runs: int) -> None:
    """Make a store that holds `runs` runs of 2 KB, written in one import."""
    init.run(path)
    with open_store(path) as opened:
        tip = opened.tip("refs/heads/recordings")
    source = random.Random(7)
    process = subprocess.Popen(
        ["git", f"--git-dir={path}", "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
    )
    put = process.stdin.write
    put(f"commit refs/heads/recordings\ncommitter g <g@localhost> 1 +0000\ndata 0\nfrom {tip}\n".encode())
    for number in range(runs):
        body = (prose(source, 1900) + f" {number}\n").encode()
        digest = hashlib.sha256(body).hexdigest()
        for name, data in manifest(number, digest, body):
            put(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data))
    put(b"\ndone\n")
    process.stdin.close()
    if process.wait():
        raise RuntimeError("the store could not be made")


def manifest(number: int, digest: str, body: bytes):
    """Yield the two files of one made-up run."""
    run = hashlib.sha256(b"made\0%d" % number).hexdigest()[:32]
    stats = dict.fromkeys(
        ("turns", "steps", "tool_calls", "tool_errors", "tool_denied", "tool_cancelled", "tool_unknown"), 1
    )
    document = {
        "schema": "githarness/run/1", "id": run, "agent": "claude-code", "native": str(number), "parent": None,
        "surfaces": [], "prompts": [], "partial_names": False, "state": None,
        "recording": {
            "format": "claude-code", "reader": 1, "digest": digest, "bytes": len(body),
            "parts": [{"digest": digest, "bytes": len(body)}], "records": 3, "source_bytes": len(body),
            "unreadable": 0, "unfamiliar": {}, "copied": 0, "redacted": True, "rules": 1, "redactions": {},
            "container": None, "project": "/home/dev/project", "branch": None, "started": "2026-11-01T00:00:00Z",
            "ended": None, "models": ["claude-sonnet-4-5"], "versions": [], "steered": False,
            "stats": {**stats, "malformed_args": 0, "compactions": 0, "ended_on_failed_call": False,
                      "stop_cause": None, "stop_inferred": False},
        },
    }  # fmt: skip
    yield f"recordings/{digest[:2]}/{digest[2:4]}/{digest}", body
    yield (
        f"runs/{run[:2]}/{run[2:4]}/{run}.json",
        json.dumps(document, sort_keys=True, separators=(",", ":")).encode(),
    )
