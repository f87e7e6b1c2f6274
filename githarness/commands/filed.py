"""Proposals on file: which there are, whether they say what they do, and where each of them stands.

What it closes: a proposal is a branch that anybody can push. The decision: it is read
from its document, its commit must do what the document says and nothing else before it
is shown, and where it stands is asked anew each time. What this does not do: it is no
verb, and it changes nothing.
"""

from collections.abc import Iterable, Iterator

import msgspec

from githarness import canon
from githarness.commands import governed, picked
from githarness.commands.governed import Harness
from githarness.errors import HarnessError, UnreadableError
from githarness.govern import standing as standings
from githarness.govern.ledger import Ledger
from githarness.govern.policy import Policy
from githarness.govern.standing import Question, Standing
from githarness.propose import files as state_files
from githarness.propose import mutation as mutations
from githarness.propose import patch as patches
from githarness.propose import state as states
from githarness.propose.mutation import Mutation
from githarness.propose.state import State
from githarness.store import history, layout, proposals
from githarness.store import main as branch
from githarness.store.history import Step
from githarness.store.objects import Store

_MUTATIONS = "mutations/"
LANDED = "this proposal has landed before, and lands once"


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


def proposal(store: Store, prefix: str) -> Proposal:
    """Return the one proposal whose fingerprint begins with `prefix`."""
    on_file = dict(proposals.every(store))
    name = picked.pick(prefix, on_file, "proposal", "githarness log --mutations")
    return read(store, name, on_file[name])


def every(store: Store) -> Iterator[Proposal | str]:
    """Yield every proposal on file; for one that cannot be read, the reason."""
    on_file = proposals.every(store)
    steps = _steps(store, (commit for _, commit in on_file))
    for name, commit in on_file:
        try:
            yield read(store, name, commit, steps.get(commit))
        except HarnessError as error:
            yield f"{name[:12]}: {error.message}"


def _steps(store: Store, commits: Iterable[str]) -> dict[str, Step]:
    """Read all commits together; where one of them cannot be read, none: each is then read by itself."""
    try:
        return history.several(store, commits)
    except HarnessError:
        return {}


def read(store: Store, name: str, commit: str, known: Step | None = None) -> Proposal:
    """Read one proposal; UnreadableError unless its commit brings the document its name says.

    `known` is what its commit does, where that was read before.
    """
    step = known if known is not None else history.step(store, commit)
    found = [one.new for one in step.changed if one.path.startswith(_MUTATIONS) and one.new is not None]
    looking = f"git --git-dir={store.path} show {commit}; proposing the change again puts it right"
    if len(found) != 1:
        raise UnreadableError(
            f"proposal {name[:12]}: its commit brings {len(found)} documents, not one", hint=looking
        )
    document = mutations.decode(found[0], f"proposal {name[:12]}")
    if mutations.fingerprint(document) != name:
        raise UnreadableError(f"proposal {name[:12]}: its document is another change", hint=looking)
    return Proposal(id=name, commit=commit, document=document, data=found[0])


def require_plain(store: Store, one: Proposal) -> None:
    """Raise UnreadableError unless the proposal's commit does to its parent what its document says.

    What lands is computed from the document; but a host merges the commit, and a person
    who looks at it must not see another change than the one they sign.
    """
    step = history.step(store, one.commit)
    wanted = {layout.mutation(one.digest): one.data, **_effect(store, step.parent, one)}
    found = {change.path: change.new for change in step.changed}
    odd = [fault.path for fault in step.faults]
    odd += sorted(path for path, _ in wanted.items() ^ found.items())
    if odd:
        raise UnreadableError(
            f"proposal {one.id[:12]}: its commit does not do to {odd[0]!r} what its document says",
            hint=f"git --git-dir={store.path} show {one.commit}; githarness propose --again {one.id[:12]}",
        )


def is_sound(store: Store, name: str, commit: str) -> bool:
    """Tell whether what stands on a branch is the proposal that its name says, and nothing besides."""
    try:
        require_plain(store, read(store, name, commit))
    except HarnessError:
        return False
    return True


def _effect(store: Store, parent: str, one: Proposal) -> dict[str, bytes | None]:
    if one.document.patch.design is not None:
        return {}
    of = governed.state_of(branch.files(store, parent))
    before, after = state_files.files(of), state_files.files(patches.apply(one.document.patch, of))
    paths = (path for path in before | after if before.get(path) != after.get(path))
    return {path: after.get(path) for path in paths}


def has_landed(harness: Harness, one: Proposal) -> bool:
    """Tell whether a proposal ever landed: its commit was used up, or its very document stood on main."""
    verdict, digest = harness.verdict, one.digest
    return verdict is not None and (
        one.commit in verdict.spent or any(landing.digest == digest for landing in verdict.landings)
    )


def is_in_force(harness: Harness, one: Proposal) -> bool:
    """Tell whether a proposal's own document is in force; a later one may have set its key since."""
    verdict, digest = harness.verdict, one.digest
    return verdict is not None and any(allowed.landing.digest == digest for allowed in verdict.in_force)


def may_again(harness: Harness, one: Proposal) -> bool:
    """Tell whether a proposal can no longer land and its change could, proposed once more."""
    change = one.document.patch
    fits = change.design is None and not any(patches.obstacles(change, harness.state))
    return fits and bool(staleness(harness, one))


def way_on(harness: Harness, one: Proposal) -> str:
    """Return the command that proposes a stale change once more; empty where it would be refused."""
    return f"githarness propose --again {one.id[:12]}" if may_again(harness, one) else ""


def staleness(harness: Harness, one: Proposal) -> str:
    """Say why a proposal no longer fits what is in force; empty when it does."""
    if has_landed(harness, one):
        return LANDED
    of, change = harness.state, one.document.patch
    obstacles = () if change.design is not None else tuple(patches.obstacles(change, of))
    if obstacles:
        return "; ".join(obstacles)
    if one.document.base.state != states.part_digest(of, change.touched):
        return "what it changes has changed since it was proposed"
    return ""


def stage(harness: Harness, one: Proposal) -> State:
    """Return the state on which a proposal is shown: what is in force, or its own where it cannot land."""
    change = one.document.patch
    if change.design is not None or not any(patches.obstacles(change, harness.state)):
        return harness.state
    store = harness.store
    return governed.state_of(branch.files(store, store.commit(one.commit).parents[0]))


def question(one: Proposal, of: State) -> Question:
    """Put the question of whether a proposal may land on a state; RefusedError when it cannot.

    A design can be asked about anywhere: it changes nothing.
    """
    change, touched = one.document.patch, one.document.patch.touched
    after = of if change.design is not None else patches.apply(change, of)
    return _question(one, states.part_digest(of, touched), states.part_digest(after, touched))


def _question(one: Proposal, base: str, result: str) -> Question:
    return Question(
        mutation=one.id,
        document=one.digest,
        component=one.document.contract.component,
        proposer=one.document.proposer,
        base=base,
        result=result,
        commit=one.commit,
    )


def stands(harness: Harness, one: Proposal, now: int | None = None) -> Standing:
    """Say what the signed decisions say of a proposal on what is in force now.

    Of one that is in force itself, what they said where it landed; one that has landed and
    was taken back is never approved.
    """
    if harness.ledger is None or harness.policy is None:
        return Standing(verdict="pending", reasons=("no ledger is pinned for this store",))
    landed = _landed(harness, one)
    if landed is not None:
        return landed
    found = _asked(harness.ledger, harness.policy, harness.state, one, now)
    if found.verdict == "approved" and has_landed(harness, one):
        return Standing(verdict="pending", needed=found.needed, reasons=(LANDED,))
    return found


def _landed(harness: Harness, one: Proposal) -> Standing | None:
    verdict = harness.verdict
    found, digest = verdict.in_force if verdict is not None else (), one.digest
    return next((allowed.standing for allowed in found if allowed.landing.digest == digest), None)


def _asked(ledger: Ledger, policy: Policy, of: State, one: Proposal, now: int | None) -> Standing:
    why: tuple[str, ...] = ()
    try:
        asked = question(one, of)
    except HarnessError as error:
        asked, why = _question(one, "", ""), (error.message,)
    found = standings.standing(ledger, policy, asked, now=now)
    return msgspec.structs.replace(found, reasons=(*why, *found.reasons))
