"""One record (a part of 70 KB and a manifest) into stores of growing size.

    python benchmarks/record_at_size.py [--runs 10,1000,100000] [--repeat 21]

Prints the median in milliseconds inside a warm Python, beside a bare `git
fast-import` of the same bytes and `git add` + `git commit` in a work tree of the same
content. Methods take turns, so that a busy machine slows all of them alike. Stores
are built in a temporary folder by one import of synthetic manifests.
"""

import argparse
import hashlib
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from githarness.store import gitobject, layout
from githarness.store.create import create
from githarness.store.find import open_store
from githarness.store.writer import Writer

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
PERSON = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")


def manifest(seed):
    filler = hashlib.sha256(str(seed).encode()).hexdigest() * 18
    return f'{{"seed":{seed},"recording":{{"parts":[]}},"filler":"{filler}"}}'.encode()


def run_id(seed):
    return hashlib.sha256(f"run {seed}".encode()).hexdigest()[:32]


def build(path, runs):
    """Fill a store in one import: runs manifests and as many small parts."""
    create(path, {})
    tip = git(path, "rev-parse", layout.RECORDINGS).strip().decode()
    with subprocess.Popen(
        ["git", f"--git-dir={path}", "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE, env=ENV
    ) as process:
        put = process.stdin.write
        put(
            f"commit {layout.RECORDINGS}\ncommitter b <b@localhost> 1 +0000\ndata 1\nx\nfrom {tip}\n".encode()
        )
        for seed in range(runs):
            small = b"part %d\n" % seed
            for name, data in (
                (layout.run(run_id(seed)), manifest(seed)),
                (layout.part(hashlib.sha256(small).hexdigest()), small),
            ):
                put(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data))
        put(b"\ndone\n")


def git(path, *args, data=None):
    return subprocess.run(
        ["git", f"--git-dir={path}", *args], input=data, capture_output=True, check=True, env=ENV
    ).stdout


def sample():
    """70 KB that compress to about a third, as transcripts do."""
    words = random.Random(os.urandom(8)).choices([w * 4 for w in ("read ", "write ", "fail ", "x9")], k=400)
    return os.urandom(18_000) + "".join(words).encode() * 8


def ours(store):
    part, seed = sample()[:70_000], os.urandom(8).hex()
    started = time.perf_counter()
    with Writer(store) as writer:
        writer.part(part)
        writer.revise(layout.run(run_id(seed)), lambda _: manifest(hash(seed)))
        writer.commit("record: 1 session", now=int(time.time()))
    return time.perf_counter() - started


def bare(path):
    """The least that git itself needs, with fsync as ours."""
    part, document = sample()[:70_000], manifest(hash(os.urandom(4)))
    names = (layout.part(hashlib.sha256(part).hexdigest()), layout.run(run_id(os.urandom(8))))
    started = time.perf_counter()
    tip = (path / layout.RECORDINGS).read_text().strip()
    stream = b"".join(b"blob\ndata %d\n%s\n" % (len(data), data) for data in (part, document))
    stream += (
        f"commit {layout.RECORDINGS}\ncommitter b <b@localhost> 1 +0000\ndata 1\nx\nfrom {tip}\n".encode()
    )
    for name, data in zip(names, (part, document), strict=True):
        stream += f"M 100644 {gitobject.identify('blob', data, 'sha1')} {name}\n".encode()
    switches = ("-c", "core.fsync=committed,reference", "-c", "gc.auto=0")
    git(path, *switches, "fast-import", "--quiet", "--done", data=stream + b"\ndone\n")
    return time.perf_counter() - started


def porcelain(tree):
    """What a script would do: write the files, add them, commit."""
    part = sample()[:70_000]
    started = time.perf_counter()
    names = []
    for name, data in (
        (layout.part(hashlib.sha256(part).hexdigest()), part),
        (layout.run(run_id(os.urandom(8))), manifest(hash(os.urandom(4)))),
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
        names.append(name)
    for words in (["add", "--", *names], ["commit", "-q", "-m", "record"]):
        subprocess.run(["git", *PERSON, "-C", str(tree), *words], check=True, env=ENV, capture_output=True)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", default="10,1000,100000")
    parser.add_argument("--repeat", type=int, default=21)
    args = parser.parse_args()
    print("runs      ours ms   bare fast-import ms   git add+commit ms")
    for runs in map(int, args.runs.split(",")):
        with tempfile.TemporaryDirectory(prefix="record-at-size-") as folder:
            places = [Path(folder, name) for name in ("ours", "bare")]
            for place in places:
                build(place, runs)
            tree = Path(folder, "tree")
            clone = ["git", "clone", "-q", "--branch", "recordings", str(places[0]), str(tree)]
            subprocess.run(clone, check=True, env=ENV)
            with open_store(places[0]) as store:
                turns = [(ours(store), bare(places[1]), porcelain(tree)) for _ in range(args.repeat)]
        middle = [statistics.median(times) * 1000 for times in zip(*turns, strict=True)]
        print(f"{runs:<9} {middle[0]:7.1f}   {middle[1]:19.1f}   {middle[2]:17.1f}", flush=True)


if __name__ == "__main__":
    main()
