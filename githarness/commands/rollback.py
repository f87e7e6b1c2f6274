"""rollback: take one landed mutation back, exactly, by one commit that needs no vote.

What it closes: an undo that conflicts, asks, or restores something that merely looks
like what was there. The decision: the inverse is computed from the state the mutation
landed on; what it touched becomes what it was, unset included, and nothing else moves.
A later mutation of the same key is named, or taken back too. What this does not do: it
never rewinds main.
"""

from pathlib import Path

import msgspec

from githarness.commands import governed, picked, signed
from githarness.commands.governed import Harness
from githarness.errors import OK, LockedError, RefusedError
from githarness.govern.step import Landing
from githarness.govern.tag import ON_MAIN
from githarness.propose import files as state_files
from githarness.propose import patch, state
from githarness.propose.state import State
from githarness.store import layout
from githarness.store import main as branch
from githarness.store.main import Moved
from githarness.store.objects import Store

ATTEMPTS = 10


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken back, the commit, and the digest of what is in force now."""

    id: str
    commit: str
    state: str
    undone: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """Always 0: a refusal is raised."""
        return OK


def run(store: Store, config: Path, prefix: str, *, cascade: bool, now: int) -> Result:
    """Roll back the mutation in force whose fingerprint begins with `prefix`."""
    for _ in range(ATTEMPTS):
        harness = governed.load(store, config)
        found = _in_force(harness)
        chosen = _chosen(found, prefix)
        undone = _with_later(found, chosen, cascade=cascade)
        after, landed = _land(harness, undone, found, now)
        if not isinstance(landed, Moved):
            governed.remember(governed.load(store, config, before=harness), config)
            return Result(
                id=chosen.fingerprint,
                commit=landed,
                state=state.digest(after),
                undone=tuple(one.fingerprint for one in undone),
            )
    raise LockedError(f"main moved {ATTEMPTS} times meanwhile", hint=f"githarness rollback {prefix}")


def _in_force(harness: Harness) -> list[Landing]:
    _, _, verdict = governed.require(harness)
    return [allowed.landing for allowed in verdict.in_force]


def _chosen(found: list[Landing], prefix: str) -> Landing:
    name = picked.pick(
        prefix, (one.fingerprint for one in found), "mutation in force", "githarness log --mutations"
    )
    return [one for one in found if one.fingerprint == name][-1]


def _with_later(found: list[Landing], chosen: Landing, *, cascade: bool) -> list[Landing]:
    """Return what must be taken back, newest first: the chosen one and later ones that rest on it."""
    undone = [chosen]
    # By place and not by commit: a host may land two of one key in one step.
    for one in found[found.index(chosen) + 1 :]:
        if any(_share(one, other) or _leans(one, other) for other in undone):
            undone.append(one)
    if len(undone) > 1 and not cascade:
        names = ", ".join(one.fingerprint[:12] for one in undone[1:])
        raise RefusedError(
            f"later mutations changed the same, or rest on it: {names}",
            hint=f"githarness rollback {undone[-1].fingerprint[:12]} first, or --cascade takes all of them",
        )
    return undone[::-1]


def _share(one: Landing, other: Landing) -> bool:
    mine, theirs = one.document.patch.touched, other.document.patch.touched
    groups = ((mine.knobs, theirs.knobs), (mine.overlay, theirs.overlay), (mine.tools, theirs.tools))
    return any(set(a) & set(b) for a, b in groups) or (mine.declaration and theirs.declaration)


def _leans(one: Landing, other: Landing) -> bool:
    """Tell whether `one` set what the declaration before `other` does not admit."""
    if not other.document.patch.touched.declaration:
        return False
    declared = other.was.declaration.knob
    return any(
        name not in declared or not declared[name].admits(value)
        for name, value in one.document.patch.set.items()
    )


def _land(
    harness: Harness, undone: list[Landing], found: list[Landing], now: int
) -> tuple[State, str | Moved]:
    of = harness.state
    after = of
    for one in undone:
        after = patch.undo(one.document.patch, one.was, after)
    before, wanted = state_files.files(of), state_files.files(after)
    removes = [path for path in before if path not in wanted]
    removes += [layout.mutation(one.digest) for one in undone]
    gone = signed.restore(harness)
    removes += [path for path in _decisions(harness, undone, found) if path not in gone]
    names = "; ".join(words for one in undone for words in patch.summary(one.document.patch))[:200]
    trailers = "".join(f"Reverts: {one.fingerprint}\n" for one in undone)
    landed = branch.land(
        harness.store,
        base=harness.tip,
        writes={path: data for path, data in wanted.items() if before.get(path) != data},
        removes=removes,
        message=f"rollback: {names}\n\n{trailers}",
        now=now,
    )
    return after, landed


def _decisions(harness: Harness, undone: list[Landing], found: list[Landing]) -> list[str]:
    """List the decision files that came with what is taken back, and with nothing that stays."""
    stays = {one.fingerprint for one in found if one not in undone}
    gone = {one.fingerprint for one in undone} - stays
    return [path for path in harness.files if path.startswith(ON_MAIN) and path.split("/")[1] in gone]
