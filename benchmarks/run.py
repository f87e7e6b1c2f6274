"""The benchmark table: ratios in one run against what a user would use instead.

    python benchmarks/run.py [--small] [NAME…]

NAME is one of: start, record, corpus, diff, large, writers. `--small` leaves out the store of
100,000 runs. Everything happens in a temporary folder.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import made
import msgspec
from timing import in_turn, once, ratio, table

from githarness.measure import divergence, trajectory
from githarness.model.session import Call, Session

PYTHON = sys.executable
HARNESS = [PYTHON, "-m", "githarness"]
IDENTITY = ["-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "core.fsync=committed,reference"]


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C"}


def start(folder: Path, runs: int) -> None:
    """How long it takes to say a version."""
    env = environment(folder)
    done = in_turn(
        {
            "githarness --version": lambda _: once([*HARNESS, "--version"], env=env),
            "python -c 'import click'": lambda _: once([PYTHON, "-c", "import click"], env=env),
            "python -c pass": lambda _: once([PYTHON, "-c", "pass"], env=env),
        },
        runs * 3,
    )
    base = done["python -c 'import click'"]
    rows = [(name, f"{t.median * 1000:.1f}", f"{ratio(t, base):.2f}") for name, t in done.items()]
    table("Start", ("command", "ms, median", "against importing click"), rows)


def record(folder: Path, runs: int, sizes: list[int]) -> None:
    """One session of 70 KB into stores of several sizes."""
    env = environment(folder)
    jobs = {}
    for size in sizes:
        store = folder / f"store-{size}.git"
        made.store(store, size)
        tree = work_tree(folder / f"tree-{size}", store)
        jobs |= record_jobs(folder, size, store, tree, env)
    jobs["python with click and msgspec"] = lambda _: once([PYTHON, "-c", "import click, msgspec"], env=env)
    done = in_turn(jobs, runs)
    python = done["python with click and msgspec"]
    first = done[f"record {sizes[0]}"]
    rows = []
    for size in sizes:
        ours, bare, add = (done[f"{name} {size}"] for name in ("record", "fast-import", "add"))
        floor = type(ours)([a + b for a, b in zip(python.wall, bare.wall, strict=True)])
        rows.append(
            (
                f"{size:,}", f"{ours.median * 1000:.0f}", f"{ratio(ours, first):.2f}", f"{ratio(ours, floor):.2f}",
                f"{add.median * 1000:.0f}", f"{ratio(ours, add):.2f}",
            )
        )  # fmt: skip
    head = (
        "runs in the store", "record, ms", "against the smallest", "against python + git fast-import",
        "git add + commit, ms", "record against it",
    )  # fmt: skip
    table("Recording one session of 70 KB", head, rows)


def work_tree(tree: Path, store: Path) -> Path:
    """Check the store's files out: what somebody would have who used git by hand."""
    subprocess.run(
        ["git", "clone", "-q", "--branch=recordings", "--no-hardlinks", str(store), str(tree)],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return tree


def record_jobs(folder: Path, size: int, store: Path, tree: Path, env: dict[str, str]) -> dict:
    """Return the three ways of keeping one more session in a store of `size`."""

    def ours(run: int) -> tuple:
        path = folder / f"session-{size}-{run}.jsonl"
        made.transcript(path, 70_000, f"s{size}-{run}", seed=run + 100)
        return once([*HARNESS, "--store", str(store), "record", str(path)], env=env)

    def bare(run: int) -> tuple:
        data = (folder / f"session-{size}-{run}.jsonl").read_bytes()
        tip = (
            subprocess.check_output(["git", f"--git-dir={store}", "rev-parse", "refs/heads/recordings"])
            .decode()
            .strip()
        )
        name = f"recordings/{run % 90 + 10}/{size % 90 + 10}/bare-{run}"
        stream = (
            b"commit refs/heads/bare\ncommitter b <b@localhost> 1 +0000\ndata 0\nfrom %s\n" % tip.encode()
        )
        stream += b"M 100644 inline %s\ndata %d\n%s\ndone\n" % (name.encode(), len(data), data)
        command = ["git", *IDENTITY, f"--git-dir={store}", "fast-import", "--quiet", "--done", "--force"]
        return once(command, stream, env=env)

    def add(run: int) -> tuple:
        name = tree / f"recordings/{run % 90 + 10}/{run % 80 + 10}"
        name.mkdir(parents=True, exist_ok=True)
        (name / f"s{run}").write_bytes((folder / f"session-{size}-{run}.jsonl").read_bytes())
        script = 'git add "$1" && exec git "${@:2}" commit -qm x'
        return once(["bash", "-c", script, "-", str(name / f"s{run}"), *IDENTITY], env=env, cwd=tree)

    return {f"record {size}": ours, f"fast-import {size}": bare, f"add {size}": add}


def large(folder: Path, runs: int) -> None:
    """A transcript of 300 MB: streamed, and grown by one turn."""
    del runs
    env = environment(folder)
    path = folder / "large.jsonl"
    made.transcript(path, 300_000_000, "large")
    rows = []
    for words in (["--no-redact"], []):
        store = folder / f"large-{len(words)}.git"
        made.store(store, 0)
        command = [*HARNESS, "--store", str(store), "record", *words, str(path)]
        size = path.stat().st_size
        seconds, peak = once(command, env=env)
        name = "without redaction" if words else "with redaction"
        rows.append((f"300 MB {name}", f"{seconds:.1f}", f"{size / 1e6 / seconds:.0f}", f"{peak:.0f}"))
        with path.open("ab") as stream:
            stream.writelines(made.turn(made.random.Random(3), "large", 9_000_000 + len(rows)))
        seconds, peak = once(command, env=env)
        rows.append((f"the same, grown by one turn, {name}", f"{seconds:.2f}", "", f"{peak:.0f}"))
        seconds, peak = once(command, env=env)
        rows.append((f"the same again, unchanged, {name}", f"{seconds:.2f}", "", f"{peak:.0f}"))
    table("A transcript of 300 MB", ("what", "seconds", "MB/s", "peak memory, MB"), rows)


def writers(folder: Path, runs: int) -> None:
    """16 processes record 50 sessions each into one store."""
    del runs
    env = environment(folder)
    store = folder / "writers.git"
    made.store(store, 10)
    script = (
        'for i in $(seq 1 50); do "$0" -m githarness --store "$1" record "$2/w$3-$i.jsonl" || exit 1; done'
    )
    for worker in range(16):
        for number in range(1, 51):
            made.transcript(folder / f"w{worker}-{number}.jsonl", 5000, f"w{worker}-{number}", seed=number)
    before = os.times().elapsed
    processes = [
        subprocess.Popen(
            ["bash", "-c", script, PYTHON, str(store), str(folder), str(worker)],
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for worker in range(16)
    ]  # fmt: skip
    failed = [process.communicate()[1].decode() for process in processes if process.wait()]
    seconds = os.times().elapsed - before
    if failed:
        raise RuntimeError(failed[0])
    listed = subprocess.check_output(
        ["git", f"--git-dir={store}", "ls-tree", "-r", "--name-only", "recordings", "runs/"]
    )
    found = len(listed.splitlines()) - 10
    subprocess.run(
        ["git", f"--git-dir={store}", "fsck", "--full", "--strict"], check=True, capture_output=True
    )
    rows = [("16 x 50", "800", found, f"{seconds:.0f}", f"{800 / seconds:.0f}")]
    table(
        "Writers at once", ("processes", "acknowledged", "reachable", "seconds", "records per second"), rows
    )


def diff(folder: Path, runs: int) -> None:
    """Two runs of 100,000 calls compared call by call, against parsing and printing both with json."""
    del folder
    calls = [
        Call(
            id=str(n),
            step=n + 1,
            name="Read",
            input={"file_path": f"src/module_{n % 997}.py", "limit": n},
            output="",
        )
        for n in range(100_000)
    ]
    other = [msgspec.structs.replace(call, input={**call.input}) for call in calls]
    tape, replay = (
        trajectory.of(Session(agent="a", format="f", calls=tuple(one), steps=len(one)))
        for one in (calls, other)
    )
    rows = []
    raw = [json.dumps([call.input for call in one]) for one in (calls, other)]
    ours, theirs = [], []
    for _ in range(runs):
        started = time.perf_counter()
        assert not divergence.compare(tape, replay).divergences
        middle = time.perf_counter()
        left, right = ([json.dumps(one, sort_keys=True) for one in json.loads(text)] for text in raw)
        assert left == right
        ours.append(middle - started)
        theirs.append(time.perf_counter() - middle)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    rows.append(
        ("equal runs", f"{statistics.median(ours):.2f}", f"{statistics.median(theirs):.2f}", f"{ratio:.2f}")
    )
    table("Two runs of 100,000 calls", ("what", "compare, s", "json of the same arguments, s", "ratio"), rows)


def corpus(folder: Path, runs: int, size: int) -> None:
    """Counting a whole store from its manifests, against git cat-file and json."""
    env = environment(folder)
    store = folder / "corpus.git"
    made.store(store, size)
    script = (
        "import json,subprocess,sys\n"
        "g=['git','--git-dir='+sys.argv[1]]\n"
        "ids=subprocess.run([*g,'ls-tree','-r','recordings','runs/'],capture_output=True).stdout.split(b'\\n')\n"
        "ask=b''.join(l.split()[2]+b'\\n' for l in ids if l)\n"
        "out=subprocess.run([*g,'cat-file','--batch'],input=ask,capture_output=True).stdout\n"
        "print(sum(json.loads(l)['recording']['stats']['tool_calls'] for l in out.split(b'\\n') if l[:1]==b'{'))\n"
    )
    done = in_turn(
        {
            "evidence": lambda _: once(
                [*HARNESS, "--store", str(store), "evidence", "-n", str(size)], env=env
            ),
            "status": lambda _: once([*HARNESS, "--store", str(store), "status"], env=env),
            "log -n 20": lambda _: once([*HARNESS, "--store", str(store), "log", "-n", "20"], env=env),
            "git cat-file + json": lambda _: once([PYTHON, "-c", script, str(store)], env=env),
        },
        max(3, runs // 2),
    )
    base = done["git cat-file + json"]
    rows = [
        (name, f"{t.median:.2f}", f"{ratio(t, base):.2f}", f"{t.peak_mb:.0f}") for name, t in done.items()
    ]
    table(
        f"A store of {size:,} runs",
        ("command", "seconds", "against cat-file + json", "peak memory, MB"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["start", "record", "corpus", "diff", "large", "writers"])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    words = parser.parse_args()
    git = subprocess.check_output(["git", "--version"]).decode().split()[2]
    print(
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, git {git}"
    )
    sizes = [10, 1000] if words.small else [10, 1000, 100_000]
    jobs = {
        "start": start, "large": large, "writers": writers,
        "diff": diff, "corpus": lambda folder, runs: corpus(folder, runs, sizes[-1]),
        "record": lambda folder, runs: record(folder, runs, sizes),
    }  # fmt: skip
    for name in words.names:
        with tempfile.TemporaryDirectory() as folder:
            jobs[name](Path(folder), words.runs)


if __name__ == "__main__":
    main()
