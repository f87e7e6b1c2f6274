"""verify: is main exactly what was decided, from object bytes and the pinned ledger id alone.

What it closes: a branch that is believed because of where it lies. The decision: every
step is explained by a mutation and its decisions, or is named with commit, path and
rule. Without a pin the answer is unknown. A "yes" is kept until main, a ref of the
ledger, what is pinned, or any object file on the disk is another. What this does not do:
it repairs nothing.
"""

# what follows by name is loaded only when something must be verified: pydantic and
# cryptography alone take 0.1 s
import importlib
from pathlib import Path

import msgspec

from githarness.commands import kept
from githarness.commands.kept import Slot
from githarness.errors import NO, OK, UNKNOWN, CorruptError
from githarness.store import disk
from githarness.store.derived import Derived
from githarness.store.objects import Store

# What an answer is kept as; another number when another version answers otherwise.
KIND = "verify-3"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that must be put right; `commit` is empty for a problem of the ledger."""

    commit: str
    path: str
    rule: str
    message: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: `ok` is None when no ledger is pinned. `void` lists entries that do not count.

    `ref` is what was replayed, as it was named. `lost` are decisions whose tags are gone
    and which count by their copies on main.
    `unread` are refs below the ledger's that no entry can have, past the limit on count.
    `replayed` is False for an answer from before, since which nothing has moved.
    """

    ok: bool | None
    ledger: str | None
    ref: str
    head: str
    state: str | None
    problems: tuple[Problem, ...]
    cured: tuple[Problem, ...]
    void: tuple[Problem, ...]
    lost: tuple[str, ...]
    in_force: tuple[str, ...]
    decisions: int
    unread: int
    replayed: bool
    hint: str

    @property
    def exit_code(self) -> int:
        """0 explained, 1 a problem, 4 nothing is pinned."""
        return UNKNOWN if self.ok is None else OK if self.ok else NO


def run(
    store: Store, config: Path, derived: Derived, *, ref: str | None = None, everything: bool = False
) -> Result:
    """Replay main, or `ref` as if it were main, from the pinned root; remember what was verified.

    With `everything` nothing that was verified before is believed. Raises MissingError
    for a `ref` that names no commit.
    """
    if ref is not None:
        return _replayed(store, config, ref, anew=everything)
    slot = Slot(kind=KIND, place=lambda: _place(store), store=store, config=config, derived=derived)
    known = None if everything else slot.recall()
    if known is not None:
        return msgspec.structs.replace(msgspec.json.decode(known, type=Result), replayed=False)
    before = slot.place()
    try:
        found = _replayed(store, config, None, anew=everything)
    except CorruptError:
        slot.forget()
        raise
    if found.ok:
        slot.keep(before, msgspec.json.encode(found, order="sorted"))
    else:
        slot.forget()
    return found


def _replayed(store: Store, config: Path, ref: str | None, *, anew: bool) -> Result:
    if ref is None:
        store.begin(importlib.import_module("githarness.store.snapshot").read)
    words = importlib.import_module("githarness.commands.replayed").replayed(store, config, ref, anew=anew)
    return msgspec.convert({**words, "ref": ref or "main"}, type=Result)


def _place(store: Store) -> str | None:
    """Say where everything is; None when objects also lie elsewhere, where none of it is seen."""
    objects = store.path / "objects"
    if (objects / "info" / "alternates").exists():
        return None
    return f"{kept.moving(store)}-{disk.fingerprint(objects)}"
