"""Many processes that record into one store at once: how fast, and is anything lost.

    python benchmarks/writers.py [--writers 16] [--each 50] [--no-lock]

Every writer records `each` runs with a part of 20 KB, one commit per run, and says
which it was told are stored. Afterwards every acknowledged run must be reachable and
`git fsck` clean; exit code 1 when not. `--no-lock` gives every writer a lock of its
own, so that compare-and-swap alone decides: that is what the lock is measured by.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from githarness import canon
from githarness.store import layout
from githarness.store.check import fsck
from githarness.store.create import create
from githarness.store.find import open_store
from githarness.store.writer import Writer


def record(path, number, each, lock, start, said):
    if not lock:
        layout.WRITE_LOCK = f"githarness-{number}.lock"
    start.wait()
    done = []
    with open_store(path) as store:
        for turn in range(each):
            part = os.urandom(10_000) + b"x" * 10_000
            document = b'{"recording":{"parts":[{"digest":"%s"}]}}' % canon.sha256(part).encode()
            name = layout.run(f"{canon.sha256(b'%d %d' % (number, turn))[:32]}")
            with Writer(store, attempts=10_000) as writer:
                writer.part(part)
                writer.revise(name, lambda _, document=document: document)
                writer.commit("record: 1 session", now=int(time.time()))
            done.append(name)
    said.put(done)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--no-lock", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="writers-") as folder:
        path = create(Path(folder, "store"), {}).path
        start, said = multiprocessing.Event(), multiprocessing.Queue()
        writers = [
            multiprocessing.Process(target=record, args=(path, n, args.each, not args.no_lock, start, said))
            for n in range(args.writers)
        ]
        for writer in writers:
            writer.start()
        time.sleep(0.5)
        started = time.perf_counter()
        start.set()
        acknowledged = [name for _ in writers for name in said.get(timeout=600)]
        seconds = time.perf_counter() - started
        for writer in writers:
            writer.join()
        with open_store(path) as store:
            lost = set(acknowledged) - {name for name, _ in store.paths(layout.RUNS)}
            problems = [found for found in fsck(store, now=time.time()) if found.rule != "stale-lock"]
    count = len(acknowledged)
    rate = count / seconds
    print(f"{count} records in {seconds:.1f} s: {rate:.0f}/s, {len(lost)} lost, {len(problems)} problems")
    return 1 if lost or problems or count != args.writers * args.each else 0


if __name__ == "__main__":
    sys.exit(main())
