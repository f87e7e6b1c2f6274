"""status: what the store holds, how much of it is known, and what is wrong.

What it closes: a recorder that stopped, a surface nobody captured and a damaged
object are silent until they are needed. The decision: coverage is always a count of
a count, and every problem is named with its object. What it does not do: it writes
nothing and repairs nothing.
"""

import importlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from githarness.errors import NO, OK, UNABLE
from githarness.store import check, layout, refs, runs
from githarness.store.objects import Store

# Checking this many files takes about a second; `--full` checks any number.
QUICK_FILES = 3000


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over the store. `last_recorded` is in seconds since 1970, None when never.

    `complete` says that every file was hashed again, not only counted. `waiting` are
    proposals that have neither landed nor been rejected; `verified` is None where no ledger
    is pinned; `newest` is when the last decision was signed; `alone` are the components whose
    proposer may approve.
    """

    store: str
    runs: int
    surfaces: int
    with_surface: int
    last_recorded: int | None
    waiting: int
    files: int
    complete: bool
    agents: dict[str, int]
    problems: tuple[check.Problem, ...]
    governed: bool
    verified: bool | None
    newest: int | None
    alone: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 when nothing is wrong, 1 for a main nobody decided, 3 for what is missing or in the way."""
        return UNABLE if self.problems else NO if self.verified is False else OK


def run(store: Store, config: Path, *, full: bool, now: float, progress: Callable[[str], None]) -> Result:
    """Count the store and check it: every byte of a small one or with `full`, else the locks."""
    agents: dict[str, int] = {}
    with_surface = 0
    for one in runs.manifests(store):
        agents[one.agent] = agents.get(one.agent, 0) + 1
        with_surface += bool(one.surfaces)
    files = sum(1 for _ in store.paths())
    complete = full or files <= QUICK_FILES
    problems = []
    for problem in check.fsck(store, now=now) if complete else chain(check.obstacles(store, now=now)):
        progress(problem.path)
        problems.append(problem)
    return Result(
        store=str(store.path),
        runs=sum(agents.values()),
        surfaces=len({one.surface for one in runs.sightings(store)}),
        with_surface=with_surface,
        last_recorded=store.last_commit_time(),
        files=files,
        complete=complete,
        agents=agents,
        problems=tuple(problems),
        **_ruled(store, config),
    )


def _ruled(store: Store, config: Path) -> dict[str, Any]:
    places = (layout.LEDGER, layout.PROPOSALS)
    if not any(refs.listed(store.git, place) for place in places):
        return {"governed": False, "waiting": 0, "verified": None, "newest": None, "alone": ()}
    # pydantic and cryptography are loaded here, where there is something to verify
    found = importlib.import_module("githarness.commands.ruled").ruled(store, config)
    return {"governed": True, **found}
