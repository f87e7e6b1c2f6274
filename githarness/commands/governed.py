"""What is in force, and what of it may be believed: main, the ledger and the pin together.

The gap this closes: every verb of governance needs the same five readings, and one
that reads less believes more. The decision: one reading, made anew for each command
from object bytes, the pinned ledger id and the pinned heads. What this does not do: it
is no verb, and it writes nothing but what was seen, for the next time (`remember`).
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from githarness.commands import mainline
from githarness.errors import CorruptError, MissingError, StorageError
from githarness.govern import ledger as ledgers
from githarness.govern import replay as replays
from githarness.govern.history import History, Walk
from githarness.govern.ledger import Ledger
from githarness.govern.policy import Policy
from githarness.govern.reading import Found
from githarness.govern.replay import Verdict
from githarness.govern.tag import ON_MAIN, Tag
from githarness.govern.void import Problem
from githarness.propose import files as state_files
from githarness.propose.state import State
from githarness.store import layout, proofs, snapshot, tags, trust
from githarness.store import main as branch
from githarness.store.objects import Store
from githarness.store.snapshot import Snapshot
from githarness.store.trust import Pin


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a store. Without a pin there is no ledger and no verdict.

    `refs` is everything under the ledger's refs, as untrusted as it comes; `unread` more
    were there than are read.
    """

    store: Store
    pin: Pin | None
    refs: dict[str, Found]
    unread: int
    tip: str
    files: dict[str, bytes]
    ledger: Ledger | None
    verdict: Verdict | None
    walk: Walk | None

    @property
    def state(self) -> State:
        """What stands on main now; UnreadableError when it is no state."""
        return state_of(self.files)

    @property
    def policy(self) -> Policy | None:
        """The newest policy in force; None without a ledger."""
        return self.ledger.policy if self.ledger is not None else None

    def blob(self, oid: str) -> bytes | None:
        """Return a policy's bytes; None for what is not there or damaged."""
        try:
            return tags.blob(self.store, oid)
        except CorruptError:
            return None


def state_of(files: Mapping[str, bytes]) -> State:
    """Read the state among the files of a commit; UnreadableError when they are none."""
    return state_files.from_files({path: data for path, data in files.items() if state_files.belongs(path)})


def load(
    store: Store, config: Path, ref: str | None = None, *, before: Harness | None = None, anew: bool = False
) -> Harness:
    """Read everything, at main or at `ref`. Nothing in it is trusted because of where it lies.

    A signature that held before is not verified again, unless `anew`. `before` is an
    earlier reading by this command, which main is explained further from.
    """
    is_ahead = store.is_begun(snapshot.read)
    found = _read(store, config, ref, before, anew=anew)
    if is_ahead and found.verdict is not None and not found.verdict.ok:
        # What was pinned after main was read may be what somebody else has just landed:
        # a "no" rests on a reading in order.
        return _read(store, config, ref, found, anew=anew)
    return found


def _read(store: Store, config: Path, ref: str | None, before: Harness | None, *, anew: bool) -> Harness:
    pin = trust.read(config, store.path)
    seen = store.finish(snapshot.read) if ref is None else _at(store, ref)
    found = Harness(
        store=store,
        pin=pin,
        refs={one.ref: Found(one.oid, one.kind, one.data) for one in seen.listing.entries},
        unread=seen.listing.unread,
        tip=seen.tip,
        files=dict(branch.survey(store, seen.tip).files),
        ledger=None,
        verdict=None,
        walk=None,
    )
    if pin is None:
        return found
    known = before.ledger if before is not None else None
    proven = known.proofs if known is not None else frozenset() if anew else proofs.read(config, store.path)
    ledger = _ledger(found, pin, proven, known.entries.values() if known is not None else ())
    walk, problems = _explained(store, seen.tip, ledger, before)
    if missed := seen.listing.missed:
        problems.append(Problem("", layout.LEDGER, "too-many", f"{missed} more entries than are read"))
    verdict = _verdict(walk.history(), ledger, pin, problems)
    return msgspec.structs.replace(found, ledger=ledger, verdict=verdict, walk=walk)


def _ledger(found: Harness, pin: Pin, proven: Collection[str], known: Iterable[Tag]) -> Ledger:
    return ledgers.load(
        found.refs,
        blob=found.blob,
        pinned=pin.ledger,
        heads=pin.heads,
        main={path: data for path, data in found.files.items() if path.startswith(ON_MAIN)},
        proofs=proven,
        known=known,
    )


def _at(store: Store, ref: str) -> Snapshot:
    return Snapshot(tip=branch.named(store, ref), listing=tags.every(store))


def _explained(store: Store, tip: str, ledger: Ledger, before: Harness | None) -> tuple[Walk, list[Problem]]:
    root = ledger.versions[0].policy.main if ledger.versions else tip
    try:
        return mainline.explained(store, root, tip, before.walk if before is not None else None), []
    except MissingError as error:
        problem = Problem(tip, "", "other-root", error.message)
        return mainline.explained(store, tip, tip), [problem]


def _verdict(history: History, ledger: Ledger, pin: Pin, problems: Iterable[Problem]) -> Verdict:
    verdict = replays.judge(history, ledger)
    is_held = pin.main is not None and ledger.versions
    rewound = replays.rewound(pin.main or "", frozenset(history.commits)) if is_held else ()
    found = (*problems, *rewound, *verdict.problems)
    return msgspec.structs.replace(verdict, ok=not found, problems=found)


def require(harness: Harness) -> tuple[Ledger, Policy, Verdict]:
    """Return ledger, policy and verdict; MissingError with the next command without them."""
    ledger, policy, verdict = harness.ledger, harness.policy, harness.verdict
    if harness.pin is None or ledger is None or verdict is None:
        raise MissingError(
            "no ledger is pinned for this store, so nothing can be decided", hint=pin_hint(harness)
        )
    if policy is None:
        raise MissingError(
            f"the pinned ledger {harness.pin.ledger[:12]} has no policy here", hint="githarness verify"
        )
    return ledger, policy, verdict


def pin_hint(harness: Harness) -> str:
    """Say how to pin a ledger. The id is never taken from the store: its owner tells it."""
    if not ledgers.roots(harness.refs, blob=harness.blob):
        return "githarness policy init --key FILE"
    return "githarness trust ID, with the id that its owner tells you; githarness trust shows which are here"


def said(problem: Problem) -> str:
    """Say a problem in one line, with its place."""
    return ": ".join(part for part in (problem.commit[:12], problem.path, problem.message) if part)


def remember(harness: Harness, config: Path) -> None:
    """Pin what was verified just now: the ledger's heads, and main's tip when main is sound too.

    What somebody else pinned since this reading stands. Where the configuration cannot be
    written nothing is pinned, and the answer is the same.
    """
    ledger, verdict, seen = harness.ledger, harness.verdict, harness.pin
    if ledger is None or verdict is None or seen is None or ledger.problems:
        return

    def newer(pin: Pin | None) -> Pin | None:
        if pin is None or pin.ledger != ledger.id:
            return pin
        unread = (one for one in pin.heads if one not in ledger.entries)
        main = harness.tip if verdict.ok and pin.main == seen.main else pin.main
        return msgspec.structs.replace(pin, heads=(*ledger.heads, *unread), main=main)

    with suppress(StorageError):
        trust.update(config, harness.store.path, newer)
    proofs.keep(config, harness.store.path, ledger.proofs)
