"""Governance: verifying a ledger against `git verify-tag`, and what a person waits for.

python benchmarks/govern.py [--decisions 1000] [--landings 100]
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from timing import in_turn, once, ratio, table

from githarness.commands import filed, governed
from githarness.commands.propose import ByHand, Who, by_hand
from githarness.govern import payload, sshsig, tag
from githarness.govern import policy as policies
from githarness.govern.payload import Base, Decision
from githarness.govern.sshwire import string
from githarness.store import tags, tidy
from githarness.store.find import open_store

PYTHON = sys.executable
HARNESS = [PYTHON, "-m", "githarness"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--landings", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), words.decisions, words.landings, words.runs)


def measure(folder: Path, decisions: int, landings: int, runs: int) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GITHARNESS_STORE": str(folder / "s.git")}
    os.environ.pop("XDG_CONFIG_HOME", None)
    key = folder / "key"
    run = lambda *line: subprocess.run([*HARNESS, *line], env=env, check=True, capture_output=True)  # noqa: E731
    run("init", "--new-key", str(key))
    config = folder / ".config/githarness"
    with open_store(folder / "s.git") as store:
        approve_all(store, config, key, decisions)
    for name in first_ids(folder, landings):
        run("apply", name)
    with open_store(folder / "s.git") as store:
        # as it happens on its own after some dozens of decisions; here they come too fast
        tidy.tidy(store.git)
    verify(folder, env, decisions, runs)
    wait(env, key, runs)


def approve_all(store, config: Path, key: Path, count: int) -> None:
    """Propose and approve `count` changes; signed in process, in the very form of ssh-keygen."""
    private = load_ssh_private_key(key.read_bytes(), None)
    now = int(time.time())
    for number in range(count):
        hand = ByHand(guidance=f"Line {number} of what the agent is told.", metric="turns")
        by_hand(store, config, hand, Who(key=None, cwd=config, home=None, env={}), now)
    harness = governed.load(store, config)
    own = next(iter(harness.policy.holders()))
    blob = key_blob(harness.policy)
    for one in filed.every(store):
        asked = filed.question(one, harness.state)
        said = Decision(
            ledger=harness.ledger.id, policy=policies.digest(harness.policy), prev=harness.ledger.prev,
            decision="approve", mutation=one.id, document=one.digest,
            base=Base(commit=harness.tip, state=asked.base), result=asked.result, target=payload.MAIN,
            principal="owner", key=own, display="0" * 64, supersedes=(), issued=now, expires=0,
            nonce=one.id[:32], reason="",
        )  # fmt: skip
        unsigned = tag.unsigned(one.commit, said, now)
        signed = private.sign(sshsig.signed_bytes(unsigned, b"sha512"))
        proof = string(b"ssh-ed25519") + string(signed)
        body = (
            b"SSHSIG"
            + (1).to_bytes(4, "big")
            + string(blob)
            + string(b"git")
            + string(b"")
            + string(b"sha512")
        )
        tags.create(store, tag.ref_of(said), tag.assemble(unsigned, sshsig.enarmor(body + string(proof))))


def key_blob(policy) -> bytes:
    return base64.b64decode(policy.keys["owner"][0].split()[1])


def first_ids(folder: Path, count: int) -> list[str]:
    with open_store(folder / "s.git") as store:
        return [one.id for one in list(filed.every(store))[:count]]


def verify(folder: Path, env: dict[str, str], decisions: int, runs: int) -> None:
    store = folder / "s.git"
    signers = subprocess.run(
        [*HARNESS, "policy", "export", "--allowed-signers"], env=env, check=True, capture_output=True
    ).stdout
    (folder / "signers").write_bytes(signers)
    script = (
        f"cd {store} && git for-each-ref --format='%(refname:strip=2)' refs/tags | grep decision | "
        f'while read t; do git -c gpg.ssh.allowedSignersFile={folder}/signers verify-tag "$t" 2>/dev/null || exit 1; done'
    )
    done = in_turn(
        {
            "githarness verify --all": lambda _: once([*HARNESS, "verify", "--all"], env=env),
            "githarness verify, nothing moved": lambda _: once([*HARNESS, "verify"], env=env),
            "git verify-tag, one by one": lambda _: once(["bash", "-c", script], env=env),
        },
        max(2, runs // 2),
    )
    base = done["githarness verify --all"]
    rows = [(name, f"{t.median:.2f}", f"{ratio(t, base):.1f}") for name, t in done.items()]
    table(f"Verifying {decisions} decisions", ("command", "seconds", "times ours"), rows)


def wait(env: dict[str, str], key: Path, runs: int) -> None:
    """What a person waits for: propose, review, approve, apply, and export of a verified state."""
    sign = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(key)]
    here: dict[str, str] = {}

    def asked(*words: str) -> dict:
        done = subprocess.run([*HARNESS, "--json", *words], env=env, check=True, capture_output=True)
        return json.loads(done.stdout)

    def propose(number: int) -> tuple:
        words = ["propose", "--guidance", f"Another line {number}.", "--metric", "turns"]
        timed = once([*HARNESS, *words], env=env)
        here["id"] = asked(*words)["proposals"][0]["id"]
        return timed

    def approve(_: int) -> tuple:
        digest = asked("review", here["id"])["digest"]
        return once([*HARNESS, "approve", here["id"], "--digest", digest, "--key", str(key)], env=env)

    def export(_: int) -> tuple:
        once([*HARNESS, "export"], env=env)
        return once([*HARNESS, "export", "--format", "env"], env=env)

    done = in_turn(
        {
            "githarness --version": lambda _: once([*HARNESS, "--version"], env=env),
            "propose": propose,
            "review": lambda _: once([*HARNESS, "review", here["id"]], env=env),
            "approve, signing included": approve,
            "ssh-keygen -Y sign": lambda _: once(sign, b"x", env=env),
            "apply": lambda _: once([*HARNESS, "apply", here["id"]], env=env),
            "export, verified before": export,
        },
        runs,
    )
    base = done["githarness --version"]
    rows = [(name, f"{t.median * 1000:.0f}", f"{ratio(t, base):.2f}") for name, t in done.items()]
    table("What a person waits for", ("command", "ms", "times --version"), rows)


if __name__ == "__main__":
    main()
