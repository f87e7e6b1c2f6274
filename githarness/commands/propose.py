"""propose: a change of the harness as one reviewable commit, from whoever thought of it.

What it closes: a change that is made in place has no reason, no falsifier and no way
back. The decision: evidence, a model's reply and a person's words all end in the same
typed document on a branch of its own; nothing lands. What this does not do: it decides
nothing, and it never proposes again what is on file.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from githarness import canon
from githarness.commands import filed, gather, governed, heard, signed, story
from githarness.commands.governed import Harness
from githarness.commands.story import Event
from githarness.drive import ask as asking
from githarness.errors import NO, OK, HarnessError, MissingError, RefusedError, UnreadableError, UsageError
from githarness.govern import keys
from githarness.govern.policy import Policy
from githarness.govern.void import VoidError
from githarness.measure import evidence, interventions, names
from githarness.measure.corpus import Corpus
from githarness.measure.metrics import Metric
from githarness.propose import ask as questions
from githarness.propose import bridge, change, mutation, patch, reply
from githarness.propose import files as state_files
from githarness.propose.mutation import Cited, Draft, Mutation
from githarness.propose.patch import Patch
from githarness.propose.reply import Declined, Malformed
from githarness.propose.state import State
from githarness.store import layout, proposals, signing
from githarness.store.derived import Derived
from githarness.store.objects import Store

_EVIDENCE_COUNTERS = ("runs", "tool_calls", "tool_errors", "tool_denied", "ended_on_failed_call", "cut_short")


FORM = "a line PROPOSAL, then a line each: class:, change:, metric:, rationale:"


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for on the command line; at least one of the changes."""

    set: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    guidance: str | None = None
    drop_guidance: str | None = None
    describe: tuple[str, str] | None = None
    undescribe: str | None = None
    declare: str | None = None
    metric: str | None = None
    rationale: str = ""


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """Where the key of whoever proposes is looked for; `key` is the one that was named."""

    key: str | None
    cwd: Path
    home: Path | None
    env: dict[str, str]

    def name(self, policy: Policy | None) -> str:
        """Name the principal whose key it is; "" when the policy knows none."""
        if policy is None:
            return ""
        if self.key is not None:
            # one that was named and cannot be read must not make a proposer whom nobody excludes
            named = signing.find_key(self.key, cwd=self.cwd, home=self.home)
            return policy.holders().get(signed.own_key(named, self.env).fingerprint, "") if named else ""
        try:
            path = signing.find_key(self.key, cwd=self.cwd, home=self.home)
            if path is None:
                return ""
            fingerprint = keys.parse(signing.public_key(path, env=self.env)).fingerprint
        except (HarnessError, VoidError):
            return ""
        return policy.holders().get(fingerprint, "")


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """One proposal; when the same change was on file already, `created` is False and `history` its story."""

    id: str
    component: str
    needs_person: bool
    standing: str
    branch: str
    commit: str
    created: bool
    summary: str
    in_force: bool
    # It landed, or what it changes has changed, and it would fit what is in force now.
    again: bool
    history: tuple[Event, ...]


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was not proposed, and why."""

    reason: str
    hint: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What was filed, refused and left to a person."""

    proposals: tuple[Filed, ...]
    refused: tuple[Refused, ...]
    deferred: tuple[Refused, ...]
    note: str

    @property
    def exit_code(self) -> int:
        """1 when everything was refused; proposing nothing is a legitimate answer."""
        return NO if self.refused and not self.proposals else OK


class Proposer:
    """Files drafts on the state in force; `who` is the principal who proposes, "" for nobody known."""

    def __init__(self, harness: Harness, who: str, now: int) -> None:
        self._harness = harness
        self._who = who
        self._now = now
        self.filed: list[Filed] = []
        self.refused: list[Refused] = []

    def file(self, draft: Draft, cited: Cited | None, *, again: bool = False) -> None:
        """File one draft, or list why not."""
        try:
            self.filed.append(self._file(draft, cited, again))
        except RefusedError as error:
            self.refuse(error)

    def refuse(self, error: HarnessError) -> None:
        """List what was not proposed."""
        self.refused.append(Refused(reason=error.message, hint=error.hint))

    def _file(self, draft: Draft, cited: Cited | None, again: bool) -> Filed:
        harness = self._harness
        of = harness.state
        document = mutation.build(draft, of, commit=harness.tip, proposer=self._who, evidence=cited)
        name = mutation.fingerprint(document)
        put = self._put(name, document, replace=again)
        one = filed.read(harness.store, name, put.commit)
        return Filed(
            id=name,
            component=one.document.contract.component,
            needs_person=mutation.needs_person(one.document, of.declaration),
            standing=filed.stands(harness, one).verdict,
            branch=layout.proposal_ref(name),
            commit=put.commit,
            created=put.created,
            summary="; ".join(patch.summary(one.document.patch)),
            in_force=filed.is_in_force(harness, one),
            again=filed.may_again(harness, one),
            history=() if put.created else story.tell(harness, one),
        )

    def _put(self, name: str, document: Mutation, *, replace: bool) -> proposals.Filed:
        """Put a proposal on its branch, over what stands there only when that is none or when asked."""
        harness = self._harness
        data = mutation.encode(document)
        writes = {layout.mutation(canon.sha256(data)): data}
        removes: list[str] = []
        if document.patch.design is None:
            of = harness.state
            before, after = state_files.files(of), state_files.files(patch.apply(document.patch, of))
            writes |= {path: new for path, new in after.items() if before.get(path) != new}
            removes = [path for path in before if path not in after]
        put = proposals.file(
            harness.store, name, base=harness.tip, writes=writes, removes=removes,
            message=_message(document, name), now=self._now, replace=replace,
        )  # fmt: skip
        if put.created or replace or filed.is_sound(harness.store, name, put.commit):
            return put
        # whoever can push could otherwise keep a change from ever being proposed
        return self._put(name, document, replace=True)


def _message(document: Mutation, name: str) -> str:
    head = f"propose: {'; '.join(patch.summary(document.patch))}"
    return f"{head[:200]}\n\nMutation: {name}\nComponent: {document.contract.component}\n"


def by_hand(store: Store, config: Path, words: ByHand, who: Who, now: int) -> Result:
    """Propose what a person wrote."""
    harness = governed.load(store, config)
    proposer = Proposer(harness, who.name(harness.policy), now)
    makers = list(_makers(words, harness.state))
    if not makers:
        raise UsageError("nothing to propose", hint="githarness propose --help")
    if words.metric is None:
        raise UsageError("a proposal predicts one metric that will fall", hint=f"--metric {'|'.join(Metric)}")
    for make in makers:
        try:
            made = make()
        except UsageError:
            raise
        except HarnessError as error:
            proposer.refuse(error)
            continue
        draft = Draft(patch=made, metric=Metric(words.metric), rationale=words.rationale, source="hand")
        proposer.file(draft, None)
    return _result(proposer)


def _makers(words: ByHand, of: State) -> Iterator[Callable[[], Patch]]:
    """Yield what makes each change that was asked for: one mutation each."""
    declaration = of.declaration
    yield from (partial(change.setting, [one], declaration) for one in words.set)
    yield from (partial(change.unsetting, [one]) for one in words.unset)
    if words.guidance is not None:
        yield partial(change.guidance, words.guidance)
    if words.drop_guidance is not None:
        yield partial(change.drop, words.drop_guidance, of)
    if words.describe is not None:
        yield partial(change.describe, *words.describe)
    if words.undescribe is not None:
        yield partial(change.undescribe, words.undescribe)
    if words.declare is not None:
        yield partial(change.declare, words.declare)


def from_evidence(store: Store, config: Path, corpus: Corpus, derived: Derived, who: Who, now: int) -> Result:
    """Propose what recurring trouble in one model's runs calls for, by the bridge's closed rules."""
    harness = governed.load(store, config)
    proposer = Proposer(harness, who.name(harness.policy), now)
    chosen = corpus.main_model()
    part = corpus.by_model().get(chosen)
    found = interventions.diagnose(gather.signs(store, part, derived))
    bridged = bridge.bridge(found, harness.state)
    cited = _cited(chosen, corpus)
    for draft in bridged.drafts:
        proposer.file(draft, cited)
    deferred = tuple(
        Refused(reason=f"{one.intervention.recurring}: {one.reason}") for one in bridged.deferred
    )
    known = sum(not one.created for one in proposer.filed)
    note = bridged.note + (f"; {known} of them on file already" if known else "")
    return _result(proposer, deferred, f"{_looked_at(corpus, chosen)}: {note}")


def _looked_at(corpus: Corpus, chosen: str | None) -> str:
    """Say whose runs were looked at, and whose were not."""
    parts = {
        names.model(name): len(part.rows) for name, part in corpus.by_model().items() if name is not None
    }
    if chosen is None:
        return "no run that names its model matches"
    shown = names.model(chosen)
    others = [name for name in parts if name != shown]
    more = f" (and not of {', '.join(others[:4])}; --model says whose)" if others else ""
    return f"{parts[shown]} runs of {shown}{more}"


def _cited(model: str | None, corpus: Corpus) -> Cited:
    """Name what was counted: the recordings of the rows, and the numbers of the brief."""
    part = corpus.by_model().get(model)
    if part is None or not part.rows:
        return Cited()
    rows = sorted(row.recording for row in part.rows)
    numbers = evidence.of(model, corpus)
    counters: dict[str, int | None] = {name: getattr(numbers, name) for name in _EVIDENCE_COUNTERS}
    return Cited(corpus=canon.sha256(canon.encode(rows)), counters=counters)


def question(store: Store, config: Path, corpus: Corpus, model: str | None) -> str:
    """Return exactly what a model is given: role, brief, settings, form."""
    brief = evidence.brief(evidence.of(model if model is not None else corpus.main_model(), corpus))
    return questions.question(brief, governed.load(store, config).state)


def from_reply(
    store: Store,
    config: Path,
    corpus: Corpus,
    text: str,
    sources: Sequence[str],
    who: Who,
    now: int,
) -> Result:
    """Propose what a model's reply says, if it says anything; malformed is refused with the field.

    `sources` are texts that its author read, beside those that the reply itself shows.
    """
    harness = governed.load(store, config)
    proposer = Proposer(harness, who.name(harness.policy), now)
    said = heard.heard(text)
    found = reply.parse(said.words)
    if isinstance(found, Declined):
        return _result(proposer, note="the reply proposes nothing, which is an answer")
    if isinstance(found, Malformed):
        reason = f"the proposal is malformed: {found.field} {found.reason}"
        proposer.refused.append(Refused(reason=reason, hint=FORM))
        return _result(proposer)
    try:
        draft = reply.draft(found, harness.state.declaration, (*sources, *said.read))
    except HarnessError as error:
        proposer.refuse(error)
        return _result(proposer)
    proposer.file(draft, _cited(corpus.main_model(), corpus))
    return _result(proposer)


def asked(command: str, words: str) -> str:
    """Ask a program; return its reply."""
    return asking.ask(command, words)


def text_of(path: Path) -> str:
    """Return the text of a file that somebody named; MissingError or UnreadableError without one."""
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingError(f"there is no file {path}", hint="name one that is there") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read as text: {error}", hint="save it as UTF-8") from error


def again(store: Store, config: Path, prefix: str, words: ByHand, who: Who, now: int) -> Result:
    """Propose a change that is on file once more, on what is in force now.

    Of `words` only metric and rationale are looked at; without them those on file stand.
    """
    harness = governed.load(store, config)
    one = filed.proposal(store, prefix)
    if filed.stands(harness, one).verdict == "rejected":
        raise RefusedError(
            f"{one.id[:12]} was rejected, and a reject sticks until its signer takes it back",
            hint=f"githarness approve {one.id[:12]} --supersede, by the one who rejected it",
        )
    document = one.document
    draft = Draft(
        patch=document.patch,
        metric=Metric(words.metric) if words.metric else document.contract.metric,
        rationale=words.rationale or document.rationale,
        source="hand",
        # both say what the metric means
        target_failure="" if words.metric else document.contract.target_failure,
        predicted_improvement="" if words.metric else document.contract.predicted_improvement,
        invariants=document.contract.invariants,
        win_share=document.contract.win_share,
        # what a label once raised stays raised
        labelled_class=document.change_class,
    )
    proposer = Proposer(harness, who.name(harness.policy), now)
    proposer.file(draft, document.evidence, again=True)
    return _result(proposer)


def _result(proposer: Proposer, deferred: tuple[Refused, ...] = (), note: str = "") -> Result:
    return Result(
        proposals=tuple(proposer.filed), refused=tuple(proposer.refused), deferred=deferred, note=note
    )
