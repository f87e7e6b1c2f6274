"""Whole processes, timed in turn, so that a ratio holds when the machine's speed drifts."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Timed:
    """Wall seconds and peak memory of each run of one command."""

    wall: list[float] = field(default_factory=list)
    peak_mb: float = 0.0

    @property
    def median(self) -> float:
        return statistics.median(self.wall)


def once(
    command: Sequence[str], data: bytes | None = None, env: dict[str, str] | None = None, cwd=None
) -> tuple:
    """Run one process; return (seconds, peak MB). Raises when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
    )
    if data is not None:
        process.stdin.write(data)
        process.stdin.close()
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{list(command)[:4]}: {error.decode(errors='replace')[:500]}")
    return seconds, usage.ru_maxrss / 1024


def in_turn(jobs: dict[str, Callable[[int], tuple]], runs: int) -> dict[str, Timed]:
    """Run every job `runs` times after one warm-up, in turn; a job gets the run's number."""
    done = {name: Timed() for name in jobs}
    for run in range(-1, runs):
        for name, job in jobs.items():
            seconds, peak = job(run)
            if run >= 0:
                done[name].wall.append(seconds)
                done[name].peak_mb = max(done[name].peak_mb, peak)
    return done


def ratio(one: Timed, other: Timed) -> float:
    """Return the median of the pairwise ratios of two jobs that ran in turn."""
    return statistics.median(a / b for a, b in zip(one.wall, other.wall, strict=True))


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print one Markdown table."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()
