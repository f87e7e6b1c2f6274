"""demo: the whole story on bundled data, offline, in seconds.

What it closes: a tool that must be believed before it can be tried. The decision:
each step is the real command line in a process of its own, printed before it runs,
and its exit code is checked. What it does not do: it touches no store but its own,
and reads nothing of the user's.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from githarness.errors import OK, HarnessError

# When the second run of the same task began; how it is told from the first.
AGAIN = "2026-11-03T09:00:00.000Z"

Say = Callable[[str], None]


def run(keep: str | None, say: Say) -> int:
    """Tell the story in a temporary store, or in one at `keep` that is left there."""
    with tempfile.TemporaryDirectory(prefix="githarness-demo-") as scratch:
        store = Path(keep).absolute() if keep else Path(scratch, "store.git")
        with resources.as_file(resources.files("githarness.data")) as data:
            _tell(_Stage(store, data / "demo", say), say)
        if keep:
            say(f"\nThe store is at {store}")
    return OK


class _Stage:
    """Runs commands as a person would type them, from the folder of the bundled data."""

    def __init__(self, store: Path, folder: Path, say: Say) -> None:
        self._folder = folder
        self._say = say
        self.store = store
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT")}
        # what the demo runs is this very version, wherever it was started from
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        self._env = kept | {"GITHARNESS_STORE": str(store), "PYTHONPATH": path}

    def run(self, *words: str, code: int = OK) -> str:
        """Print a githarness command, run it, print what it says, check its exit code."""
        self._say(f"\n$ githarness {shlex.join(words)}")
        done = self._process([sys.executable, "-m", "githarness", *words])
        self._say(done.stdout.rstrip())
        if done.returncode != code:
            raise HarnessError(
                f"the demo's step ended with {done.returncode}, not {code}: {done.stderr.strip()}"
            )
        if code:
            self._say(f"(exit code {code})")
        return done.stdout

    def shell(self, line: str) -> None:
        """Print a command of the shell, run it, print what it says."""
        self._say(f"\n$ {line}")
        self._say(self._process(["sh", "-c", line]).stdout.rstrip())

    def ask(self, *words: str) -> dict[str, list[dict[str, str]]]:
        """Run a command for its JSON answer, without a word."""
        answer: dict[str, list[dict[str, str]]] = json.loads(
            self._process([sys.executable, "-m", "githarness", "--json", *words]).stdout
        )
        return answer

    def _process(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=self._folder, env=self._env, capture_output=True, text=True, check=False
        )


def _tell(stage: _Stage, say: Say) -> None:
    say("What was an agent really sent, and would a replay send the same? (files: the package's data/demo)")
    stage.run("init")
    say("\nThree sessions of three agents, and nothing about them but their content:")
    stage.run("record", "shop-run.json", "invoice.jsonl", "rollout.jsonl")
    stage.run("log")
    runs = {line["agent"]: line for line in stage.ask("log")["runs"]}
    shop, claude = runs["openai-chat"]["id"][:12], runs["claude-code"]["id"][:12]
    say("\nOne of them, call by call. A person's refusal is no failure, and the token is gone:")
    stage.run("show", claude)
    say("\nThe shop's agent was sent these tools, byte for byte:")
    stage.run("fidelity", shop, "--against", "tools-then.json")
    say("\nToday's list has the same names. One description changed:")
    stage.run("fidelity", shop, "--against", "tools-now.json", code=1)
    say("\nThis client writes down no tools. That is unknown, and never a match:")
    stage.run("fidelity", claude, "--against", "tools-now.json", code=4)
    say("\nNothing of this needs githarness to be checked:")
    digest = runs["openai-chat"]["surface"]
    path = f"surfaces/{digest[:2]}/{digest[2:4]}/{digest}.json"
    stage.shell(f'git --git-dir="$GITHARNESS_STORE" show recordings:{path} | sha256sum')
    say("\nWhat exactly changed, how severe it is, and whom it would have hit:")
    stage.run("diff", "tools-then.json", "tools-now.json", code=1)
    say("\nThe same task by the same agent a day later. First what it was sent, then what it did:")
    stage.run("record", "invoice-again.jsonl")
    again = next(line["id"] for line in stage.ask("log")["runs"] if line["started"] == AGAIN)
    stage.run("diff", claude, again[:12], code=1)
    say("\nWhat a diagnosis may be built on: numbers, and no word of any transcript:")
    stage.run("evidence")
    stage.run("status")
