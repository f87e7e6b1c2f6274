"""A builder of main: steps as files, with the mutations that explain them."""

import hashlib

from made_ledger import ROOT_COMMIT, place

from githarness.govern import history, payload, replay, succession, tag
from githarness.govern.step import Step
from githarness.measure.metrics import Metric
from githarness.propose import files, mutation, patch
from githarness.propose import state as states
from githarness.propose.mutation import Draft
from githarness.propose.state import State

HARNESS = """
version = 1

[knob.max_retries]
type = "integer"
minimum = 0
maximum = 9
default = 3
component = "retry_config"
safety = false

[knob.replans]
type = "integer"
minimum = 0
maximum = 9
component = "planning_config"
safety = false

[knob.ask_first]
type = "boolean"
component = "permission_rule"
"""
ATTRIBUTES = {".gitattributes": b"* -text\n"}


def proposed(of, *, proposer="", commit=ROOT_COMMIT, labelled=None, **keys):
    """The document of a patch on a state."""
    draft = Draft(
        patch=patch.make(**keys),
        metric=Metric.TOOL_ERROR_RATE,
        rationale="calls fail more often than they should",
        source="hand",
        labelled_class=labelled,
    )
    return mutation.build(draft, of, commit=commit, proposer=proposer)


def path_of(document):
    return f"mutations/{mutation.digest(document)}.json"


class Main:
    """Main in the making. `tip` is its state, as it should be."""

    def __init__(self, **state):
        self.tip = State(harness=HARNESS, **state)
        self.steps = [Step(commit=ROOT_COMMIT, files={**files.files(self.tip), **ATTRIBUTES})]
        self.before = {}

    @property
    def files(self):
        return dict(self.steps[-1].files)

    @property
    def commit(self):
        return self.steps[-1].commit

    def step(self, changes, **options):
        """Add a commit that changes these files; None removes one."""
        held = {**self.files, **changes}
        held = {path: data for path, data in held.items() if data is not None}
        name = hashlib.sha1(f"{len(self.steps)}".encode()).hexdigest()
        self.steps.append(Step(commit=name, files=held, **options))
        return name

    def change(self, after, extra, **options):
        """Add a commit that leads to a state."""
        old, new = files.files(self.tip), files.files(after)
        changed = {path: new.get(path) for path in old | new if old.get(path) != new.get(path)}
        self.tip = after
        return self.step(changed | extra, **options)

    def land(self, *documents, decisions=None):
        """Land documents as `apply` would, in one step."""
        after = self.tip
        for document in documents:
            self.before[mutation.digest(document)] = after
            after = patch.apply(document.patch, after)
        extra = {path_of(one): mutation.encode(one) for one in documents}
        return self.change(after, extra | (decisions or {}))

    def roll_back(self, *documents):
        """Take documents back as `rollback` would, in one step."""
        after = self.tip
        for document in documents:
            after = patch.undo(document.patch, self.before[mutation.digest(document)], after)
        return self.change(after, {path_of(one): None for one in documents})


def approval(book, person, document, of, /, *, commit="c" * 40, verdict="approve", **fields):
    """Decide on a document that is to land on a state."""
    touched = document.patch.touched
    known = {
        "mutation": mutation.fingerprint(document),
        "document": mutation.digest(document),
        "base": payload.Base(document.base.commit, states.part_digest(of, touched)),
        "result": states.part_digest(patch.apply(document.patch, of), touched),
        "commit": commit,
    }
    return book.decide(person, verdict, **{**known, **fields})


def landed(main, book, person, *, commit="c" * 40, **keys):
    """Propose, approve and land; return the document."""
    document = proposed(main.tip, **keys)
    approval(book, person, document, main.tip, commit=commit)
    main.land(document)
    return document


def verified(main, book):
    return replay.judge(history.read(main.steps), book.load())


def found(main, book):
    """What is wrong, as rule and path."""
    return {(one.rule, one.path) for one in verified(main, book).problems}


def is_good(main, book):
    return verified(main, book).ok


def optimistic(book, person, *components):
    book.adopt(succession.set_optimistic(book.policy, components, place(90)), person)


def on_main(book, entry):
    """The bytes of a decision, as they stand on main."""
    return {tag.file_of_ref(book.ref(entry)): book.data(entry)}
