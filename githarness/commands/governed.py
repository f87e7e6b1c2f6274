"""What is in force, and what of it may be believed: main, the ledger and the pin together.

The gap this closes: every verb of governance needs the same five readings, and one
that reads less believes more. The decision: one reading, made anew for each command
from object bytes, the pinned ledger id and the pinned heads. What this does not do: it
is no verb, and it changes nothing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from githarness import canon
from githarness.errors import (
    CorruptError,
    HarnessError,
    MissingError,
    RefusedError,
    UnreadableError,
    UsageError,
)
from githarness.govern import ledger as ledgers
from githarness.govern import payload, tag
from githarness.govern import replay as replays
from githarness.govern.history import Step
from githarness.govern.ledger import Ledger
from githarness.govern.policy import Policy
from githarness.govern.reading import Found
from githarness.govern.replay import Verdict
from githarness.govern.standing import Question, Standing, standing
from githarness.govern.tag import ON_MAIN
from githarness.govern.void import Problem, VoidError
from githarness.propose import files as state_files
from githarness.propose import mutation as mutations
from githarness.propose import patch as patches
from githarness.propose import state as states
from githarness.propose.mutation import Mutation
from githarness.propose.state import State
from githarness.store import history, layout, proposals, signing, tags, trust
from githarness.store import main as branch
from githarness.store.objects import Store
from githarness.store.trust import Pin

_MUTATIONS = "mutations/"
MIN_PREFIX = 4


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a store. Without a pin there is no ledger and no verdict.

    `refs` is everything under the ledger's refs, as untrusted as it comes.
    """

    store: Store
    pin: Pin | None
    refs: dict[str, Found]
    tip: str
    files: dict[str, bytes]
    ledger: Ledger | None
    verdict: Verdict | None

    @property
    def state(self) -> State:
        """What stands on main now; UnreadableError when it is no state."""
        return state_files.from_files(
            {path: data for path, data in self.files.items() if state_files.belongs(path)}
        )

    @property
    def policy(self) -> Policy | None:
        """The newest policy in force; None without a ledger."""
        return self.ledger.policy if self.ledger is not None else None

    def blob(self, oid: str) -> bytes | None:
        """Return a policy's bytes; None for what is not there or damaged."""
        return _blob(self.store, oid)


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal on file: its document, and the commit that an approval names."""

    id: str
    commit: str
    document: Mutation
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the document."""
        return canon.sha256(self.data)


def load(store: Store, config: Path) -> Harness:
    """Read everything. Nothing in it is trusted because of where it lies."""
    pin = trust.read(config, store.path)
    tip = branch.tip(store)
    survey = branch.survey(store, tip)
    listing = tags.every(store)
    refs = {one.ref: Found(one.oid, one.kind, one.data) for one in listing.entries}
    ledger = verdict = None
    if pin is not None:
        decisions = {path: data for path, data in survey.files.items() if path.startswith(ON_MAIN)}
        ledger = ledgers.load(
            refs, blob=lambda oid: _blob(store, oid), pinned=pin.ledger, heads=pin.heads, main=decisions
        )
        verdict = _verdict(store, tip, ledger, pin, listing.unread)
    return Harness(
        store=store, pin=pin, refs=refs, tip=tip, files=dict(survey.files), ledger=ledger, verdict=verdict
    )


def _blob(store: Store, oid: str) -> bytes | None:
    try:
        return tags.blob(store, oid)
    except CorruptError:
        return None


def _verdict(store: Store, tip: str, ledger: Ledger, pin: Pin, unread: int) -> Verdict:
    more: list[Problem] = []
    if unread:
        more.append(Problem("", layout.LEDGER, "too-many", f"{unread} more refs than are read"))
    try:
        root = ledger.versions[0].policy.main if ledger.versions else tip
        verdict = replays.replay(steps(store, root, tip), ledger)
    except MissingError as error:
        more.append(Problem(tip, "", "other-root", error.message))
        verdict = replays.replay(steps(store, tip, tip), ledger)
    if pin.main is not None:
        contained = store.git.call("merge-base", "--is-ancestor", pin.main, tip).code == 0
        more += replays.rewound(pin.main, {pin.main} if contained else ())
    problems = (*more, *verdict.problems)
    return msgspec.structs.replace(verdict, ok=not problems, problems=problems)


def steps(store: Store, root: str, tip: str) -> Iterator[Step]:
    """Yield main from its root to its tip, each step with all its files."""
    found = history.steps(store, root, tip)
    survey = branch.survey(store, root)
    files, irregular = dict(survey.files), tuple(one.path for one in survey.faults)
    yield Step(commit=root, files=files, irregular=irregular)
    for step in found:
        files = dict(files)
        for change in step.changed:
            if change.new is None:
                files.pop(change.path, None)
            else:
                files[change.path] = change.new
        if irregular or step.faults:
            # what is no file is told at the step that brought it; whether it left, only a look tells
            irregular = tuple(one.path for one in branch.survey(store, step.commit).faults)
        yield Step(commit=step.commit, files=files, irregular=irregular)


def proposal(store: Store, prefix: str) -> Proposal:
    """Return the one proposal whose fingerprint begins with `prefix`."""
    if not layout.is_prefix(prefix) or len(prefix) < MIN_PREFIX:
        raise UsageError(f"not the id of a proposal: {prefix[:64]}", hint="githarness log --mutations")
    found = [(name, commit) for name, commit in proposals.every(store) if name.startswith(prefix)]
    if not found:
        raise MissingError(
            f"no proposal has an id that begins with {prefix}", hint="githarness log --mutations"
        )
    if len(found) > 1:
        raise UsageError(f"{prefix} is the beginning of {len(found)} proposals", hint="give more digits")
    return read(store, *found[0])


def every(store: Store) -> Iterator[Proposal | str]:
    """Yield every proposal on file; for one that cannot be read, the reason."""
    for name, commit in proposals.every(store):
        try:
            yield read(store, name, commit)
        except HarnessError as error:
            yield f"{name[:12]}: {error.message}"


def read(store: Store, name: str, commit: str) -> Proposal:
    """Read one proposal; UnreadableError unless its commit brings the document its name says."""
    step = history.step(store, commit)
    found = [one.new for one in step.changed if one.path.startswith(_MUTATIONS) and one.new is not None]
    if len(found) != 1:
        raise UnreadableError(f"proposal {name[:12]}: its commit brings {len(found)} documents, not one")
    document = mutations.decode(found[0], f"proposal {name[:12]}")
    if mutations.fingerprint(document) != name:
        raise UnreadableError(f"proposal {name[:12]}: its document is another change")
    return Proposal(id=name, commit=commit, document=document, data=found[0])


def question(one: Proposal, of: State) -> Question:
    """Put the question of whether a proposal may land on a state; RefusedError when it cannot."""
    touched = one.document.patch.touched
    after = patches.apply(one.document.patch, of)
    return Question(
        mutation=one.id,
        document=one.digest,
        component=one.document.contract.component,
        proposer=one.document.proposer,
        base=states.part_digest(of, touched),
        result=states.part_digest(after, touched),
        commit=one.commit,
    )


def stands(harness: Harness, one: Proposal, now: int | None = None) -> Standing:
    """Say what the signed decisions say of a proposal on what is in force now."""
    if harness.ledger is None or harness.policy is None:
        return Standing(verdict="pending", reasons=("no ledger is pinned for this store",))
    try:
        asked = question(one, harness.state)
    except HarnessError as error:
        asked = Question(
            mutation=one.id, document=one.digest, component=one.document.contract.component,
            proposer=one.document.proposer, base="", result="", commit=one.commit,
        )  # fmt: skip
        found = standing(harness.ledger, harness.policy, asked, now=now)
        return msgspec.structs.replace(found, reasons=(error.message, *found.reasons))
    return standing(harness.ledger, harness.policy, asked, now=now)


def require(harness: Harness) -> tuple[Ledger, Policy, Verdict]:
    """Return ledger, policy and verdict; MissingError with the next command without them."""
    ledger, policy, verdict = harness.ledger, harness.policy, harness.verdict
    if harness.pin is None or ledger is None or verdict is None:
        roots = ledgers.roots(harness.refs, blob=harness.blob)
        hint = f"githarness trust {next(iter(roots))}" if roots else "githarness policy init --key FILE"
        raise MissingError("no ledger is pinned for this store, so nothing can be decided", hint=hint)
    if policy is None:
        raise MissingError(
            f"the pinned ledger {harness.pin.ledger[:12]} has no policy here", hint="githarness verify"
        )
    return ledger, policy, verdict


def remember(harness: Harness, config: Path) -> None:
    """Pin what was verified just now: main's tip and the ledger's heads."""
    ledger, verdict = harness.ledger, harness.verdict
    if ledger is None or verdict is None or not verdict.ok:
        return

    def newer(pin: Pin | None) -> Pin | None:
        if pin is None or pin.ledger != ledger.id:
            return pin
        return msgspec.structs.replace(pin, heads=ledger.heads, main=harness.tip)

    trust.update(config, harness.store.path, newer)


def sign(
    store: Store, target: str, words: payload.Payload, *, key: Path, now: int, env: Mapping[str, str]
) -> str:
    """Sign a payload, check the finished tag as a stranger would, and create its ref."""
    unsigned = tag.unsigned(target, words, now)
    try:
        data = tag.assemble(unsigned, signing.sign(key, unsigned, env=env))
        ref = tag.ref_of(words)
        tag.parse(ref, data)
    except VoidError as error:
        raise RefusedError(
            f"the signature that {key} made does not verify: {error.reason}",
            hint="ssh-keygen -Y sign must use an ed25519 or ecdsa-p256 key of the policy",
        ) from error
    tags.create(store, ref, data)
    return ref
