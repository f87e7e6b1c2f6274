"""demo: the whole story on bundled data, offline, in seconds.

What it closes: a tool that must be believed before it can be tried. The decision:
each step is the real command line in a process of its own, printed before it runs as
a person could type it, and its exit code is checked. What it does not do: it touches
no store but its own, and reads and writes nothing of the user's, caches included.
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

import msgspec

from githarness.errors import OK, HarnessError

# When the second run of the same task began; how it is told from the first.
AGAIN = "2026-11-03T09:00:00.000Z"

Say = Callable[[str], None]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One command as it was printed, and what came of it."""

    command: str
    exit_code: int
    stdout: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Every step in order; `store` is None where it was deleted again."""

    store: str | None
    steps: tuple[Step, ...]

    @property
    def exit_code(self) -> int:
        """Always 0: a step that went wrong is raised."""
        return OK


def run(keep: str | None, say: Say) -> Result:
    """Tell the story in a temporary store, or in one at `keep` that is left there."""
    with tempfile.TemporaryDirectory(prefix="githarness-demo-") as scratch:
        store = Path(keep).absolute() if keep else Path(scratch, "store.git")
        with resources.as_file(resources.files("githarness.data")) as data:
            stage = _Stage(store, data / "demo", Path(scratch), say)
            stage.open(keep=keep is not None)
            for chapter in _CHAPTERS:
                chapter(stage)
        if keep:
            say(f"\nThe store is at {store}")
    return Result(store=str(store) if keep else None, steps=tuple(stage.steps))


class _Stage:
    """Runs commands as a person would type them, from the folder of the bundled data."""

    def __init__(self, store: Path, folder: Path, scratch: Path, say: Say) -> None:
        self._folder = folder
        self.say = say
        self.store = store
        self.scratch = scratch
        self.steps: list[Step] = []
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT")}
        # what the demo runs is this very version, wherever it was started from
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        own = {f"XDG_{kind}_HOME": str(scratch / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        self._env = kept | own | {"GITHARNESS_STORE": str(store), "PYTHONPATH": path}

    def open(self, *, keep: bool) -> None:
        """Say what a person types before the first command; with `keep` the rest then works as printed."""
        if not keep:
            self.say(
                "(githarness demo --keep PATH leaves the store, and what is printed here can be repeated)"
            )
        self.say(f"\n$ cd {shlex.quote(str(self._folder))}")
        self.say(f"$ export GITHARNESS_STORE={shlex.quote(str(self.store))}")

    def run(self, *words: str, code: int = OK) -> str:
        """Print a githarness command, run it, print what it says, check its exit code."""
        done = self._step(f"githarness {shlex.join(words)}", [sys.executable, "-m", "githarness", *words])
        if done.returncode != code:
            raise HarnessError(
                f"the demo's step ended with {done.returncode}, not {code}: {done.stderr.strip()}"
            )
        if code:
            self.say(f"(exit code {code})")
        return done.stdout

    def shell(self, line: str) -> None:
        """Print a command of the shell, run it, print what it says."""
        self._step(line, ["sh", "-c", line])

    def ask(self, *words: str) -> dict[str, list[dict[str, str]]]:
        """Run a command for its JSON answer, without a word."""
        answer: dict[str, list[dict[str, str]]] = json.loads(
            self._process([sys.executable, "-m", "githarness", "--json", *words]).stdout
        )
        return answer

    def runs(self) -> dict[str, dict[str, str]]:
        """Return what `log` says of the newest run of each agent."""
        return {line["agent"]: line for line in reversed(self.ask("log")["runs"])}

    def _step(self, shown: str, command: list[str]) -> "subprocess.CompletedProcess[str]":
        self.say(f"\n$ {shown}")
        done = self._process(command)
        self.say((done.stdout or done.stderr).rstrip())
        self.steps.append(Step(command=shown, exit_code=done.returncode, stdout=done.stdout))
        return done

    def _process(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=self._folder, env=self._env, capture_output=True, text=True, check=False
        )


def _recording(stage: _Stage) -> None:
    stage.say("\nWhat was an agent really sent, and would a replay send the same? First a store:")
    stage.run("init")
    stage.say("\nThree sessions of three agents, and nothing about them but their content:")
    stage.run("record", "shop-run.json", "invoice.jsonl", "rollout.jsonl")
    stage.run("log")
    stage.say("\nOne of them, call by call. A person's refusal is no failure, and the token is gone:")
    stage.run("show", stage.runs()["claude-code"]["id"][:12])


def _fidelity(stage: _Stage) -> None:
    runs = stage.runs()
    shop, claude = runs["openai-chat"]["id"][:12], runs["claude-code"]["id"][:12]
    stage.say("\nThe shop's agent was sent these tools, byte for byte:")
    stage.run("fidelity", shop, "--against", "tools-then.json")
    stage.say("\nToday's list has the same names. One description changed:")
    stage.run("fidelity", shop, "--against", "tools-now.json", code=1)
    stage.say("\nThis client writes down no tools. That is unknown, and never a match:")
    stage.run("fidelity", claude, "--against", "tools-now.json", code=4)
    stage.say("\nNothing of this needs githarness to be checked:")
    digest = runs["openai-chat"]["surface"]
    path = f"surfaces/{digest[:2]}/{digest[2:4]}/{digest}.json"
    stage.shell(f'git --git-dir="$GITHARNESS_STORE" show recordings:{path} | sha256sum')


def _comparing(stage: _Stage) -> None:
    stage.say("\nWhat exactly changed, how severe it is, and whom it would have hit:")
    stage.run("diff", "tools-then.json", "tools-now.json", code=1)
    stage.say("\nThe same task by the same agent a day later. First what it was sent, then what it did:")
    stage.run("record", "invoice-again.jsonl")
    mine = [line for line in stage.ask("log")["runs"] if line["agent"] == "claude-code"]
    again, first = (line["id"][:12] for line in sorted(mine, key=_is_first))
    stage.run("diff", first, again, code=1)


def _is_first(line: dict[str, str]) -> bool:
    return line["started"] != AGAIN


def _counting(stage: _Stage) -> None:
    stage.say("\nWhat a diagnosis may be built on: numbers, and no word of any transcript:")
    stage.run("evidence")
    stage.run("status")


# Somebody who can push writes a setting that nobody signed.
_TAMPER = (
    "printf 'commit refs/heads/main\\ncommitter x <x@localhost> 1 +0000\\ndata 0\\nfrom refs/heads/main^0\\n"
    "M 100644 inline knobs/max_retries\\ndata 2\\n9\\n\\n' "
    '| git --git-dir="$GITHARNESS_STORE" fast-import --quiet'
)
_UNDO = 'git --git-dir="$GITHARNESS_STORE" update-ref refs/heads/main refs/heads/main~1'


def _governing(stage: _Stage) -> None:
    key = str(stage.scratch / "key")
    stage.say("\nNow somebody answers for it. A key (of this demo alone) makes the first policy:")
    stage.run("init", "--new-key", key)
    first = stage.ask("verify")["state"]
    stage.say("\nThe numbers become one change, typed, bounded, and with what would prove it wrong:")
    stage.run("propose", "--from-evidence", "--model", "claude-sonnet-4-5")
    change = stage.ask("log", "--mutations")["mutations"][0]["id"][:12]
    stage.run("review", change)
    stage.say("\nNothing lands that nobody signed:")
    stage.run("apply", code=1)
    stage.say("\nWhat is signed is what was shown, by its digest:")
    digest = str(stage.ask("review", change)["digest"])
    stage.run("approve", change, "--digest", digest, "--key", key, "--reason", "seen twice, worth a try")
    stage.run("apply")
    stage.run("export", "--format", "env")
    stage.say("\nWhoever can push can write. It does not pass for a decision:")
    stage.shell(_TAMPER)
    stage.run("verify", code=1)
    stage.run("export", code=1)
    stage.shell(_UNDO)
    stage.say("\nAnd back, by one command that needs no vote:")
    stage.run("rollback", change)
    last = stage.ask("verify")["state"]
    if first != last:
        raise HarnessError(f"the demo ended in state {last}, and not in {first}, where it began")
    stage.say("\nThe state has the digest that it began with.")
    stage.run("log", "--mutations")


# The story in order. A chapter that changes the harness comes after the counting: it is
# what the counts are for.
_CHAPTERS: tuple[Callable[[_Stage], None], ...] = (
    _recording,
    _fidelity,
    _comparing,
    _counting,
    _governing,
)
