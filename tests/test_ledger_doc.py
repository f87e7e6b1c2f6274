"""docs/format.md on main and the ledger, held to what the program makes by a second verifier."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from made_ledger import Person
from second_verifier import (
    BEGIN,
    LEDGER,
    canonical,
    entries,
    entry,
    fingerprint,
    git,
    part,
    replay,
    rules,
    sha,
    signer,
    state,
    touched,
    tree,
    whole,
)

from githarness.commands import apply, decide, governed, policy, propose, rollback, signed
from githarness.commands.propose import ByHand
from githarness.govern import policy as policies
from githarness.govern import succession
from githarness.govern.payload import Base, Decision, PolicySignature
from githarness.propose import text as words
from githarness.propose.derivation import COMPONENTS, GUARDED
from githarness.store import create, proposals, tags, trust
from githarness.store import main as branch
from githarness.store.find import open_store

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/format.md"
NOW = 1_780_000_000
HARNESS = """version = 1

[knob.max_retries]
type = "integer"
minimum = 0
maximum = 10
default = 3
component = "retry_config"
safety = false
"""
GUIDANCE = "Run the tests before you say that you are done."
GUIDANCE_ID, GUIDANCE_FILE = sha(GUIDANCE.encode()), f"{GUIDANCE}\n".encode()
CONTRACT = {
    "component": "prompt",
    "falsifying_evaluation": "a trial in which as many runs end like this",
    "invariants": ["nothing else changes"],
    "metric": "ended_on_failed_call",
    "predicted_improvement": "fewer runs do",
    "rollback": "drop it again",
    "target_failure": "runs end on a failed call",
    "win_share": [3, 4],
}
DOCUMENT = {
    "type": "githarness.mutation.v1",
    "patch": {"add_guidance": [GUIDANCE]},
    "inverse": {"drop_guidance": [GUIDANCE_ID]},
    "contract": CONTRACT,
    "change_class": "prose",
    "rederived": [],
    "raised": False,
    "rationale": "9 of 40 runs ended on a failed call",
    "evidence": {"corpus": None, "counters": {"runs": 40, "ended_on_failed_call": 9}},
    "source": "hand",
    "proposer": "ada",
}


def plain(proposal):
    return json.loads(proposal.data)["patch"]


class Office:
    """A store, its owner ada with a key of a fixed seed, and the program's own commands on it."""

    def __init__(self, folder):
        self.path, self.config = folder / "s.git", folder / "config"
        create.create(self.path, {"harness.toml": HARNESS.encode()})
        self.ada = Person("ada")
        self.key, self.env = self.ada.private_file(folder), {"PATH": os.environ["PATH"]}
        self.store = open_store(self.path)

    @property
    def ledger(self):
        return trust.read(self.config, self.store.path).ledger

    def sign(self, target, words, now):
        return signed.sign(self.store, target, words, key=self.key, now=now, env=self.env)

    def begin(self):
        """Make the policy with a nonce that anybody can repeat."""
        place = succession.Place(branch.tip(self.store), "01")
        first = succession.first("ada", self.ada.key, place)
        name = policies.digest(first)
        target = tags.put_blob(self.store, policies.encode(first))
        words = {"ledger": name, "policy": name, "principal": "ada", "key": self.ada.fingerprint}
        self.sign(target, PolicySignature(**words, prev=(), nonce="02"), NOW)
        policy.pin(self.store, name, self.config)

    @property
    def who(self):
        return propose.Who(key=str(self.key), cwd=self.config, home=None, env=self.env)

    def propose(self, now, **words):
        asked = ByHand(metric="turns", rationale="runs stop early", **words)
        found = propose.by_hand(self.store, self.config, asked, self.who, now)
        return found.proposals[0].id

    def propose_as_written(self, now):
        """Propose in words of this page, which no wording of the program changes."""
        base = branch.tip(self.store)
        of = state(branch.files(self.store, base))
        document = DOCUMENT | {"base": {"commit": base, "state": part(of, touched(DOCUMENT["patch"]))}}
        data, name = canonical(document), fingerprint(document)
        writes = {f"mutations/{sha(data)}.json": data, f"overlay/0001-{GUIDANCE_ID[:12]}.md": GUIDANCE_FILE}
        known = {"base": base, "removes": (), "message": "a proposal\n", "now": now}
        proposals.file(self.store, name, **known, writes=writes)
        return name

    def approve(self, proposal, now):
        reading = decide.read(self.store, self.config, proposal)
        known = {"key": self.key, "now": now, "env": self.env, "config": self.config}
        return decide.decide(reading, decide.Said(decision="approve"), **known)

    def approve_as_written(self, proposal, now):
        """Approve with a nonce that anybody can repeat."""
        reading = decide.read(self.store, self.config, proposal)
        of, one = reading.harness, reading.proposal
        parts = [part(state(files), touched(plain(one))) for files in (of.files, tree(self.path, one.commit))]
        words = {"ledger": of.ledger.id, "policy": of.ledger.id, "prev": of.ledger.prev, "mutation": one.id}
        words |= {"document": one.digest, "base": Base(of.tip, parts[0]), "result": parts[1]}
        # Not what was shown: the words of a review are no part of the format.
        words |= {"principal": "ada", "key": self.ada.fingerprint, "display": sha(b"review")}
        said = Decision(
            **words, decision="approve", target="refs/heads/main", supersedes=(), issued=now, expires=0,
            nonce="03", reason="",
        )  # fmt: skip
        self.sign(one.commit, said, now)

    def apply(self, now):
        return apply.run(self.store, self.config, [], optimistic=False, now=now)

    def roll_back(self, proposal, now):
        return rollback.run(self.store, self.config, proposal, cascade=False, now=now)

    def tag(self, proposal):
        (ref,) = git(self.path, "for-each-ref", "--format=%(refname)", f"{LEDGER}decision/{proposal}").split()
        return ref.decode(), git(self.path, "cat-file", "tag", ref.decode())


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """The store of the page's worked values: one landing and its rollback."""
    office = Office(tmp_path_factory.mktemp("worked"))
    office.begin()
    office.mutation = office.propose_as_written(NOW + 10)
    office.approve_as_written(office.mutation, NOW + 20)
    office.apply(NOW + 30)
    office.roll_back(office.mutation, NOW + 40)
    yield office
    office.store.close()


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A store that nothing but the program's own commands wrote to."""
    office = Office(tmp_path_factory.mktemp("lived"))
    signed = policy.Signer(key=office.key, now=NOW, env=office.env, config=office.config)
    policy.begin(office.store, "ada", signed)
    asked = ({"set": ("max_retries=5",)}, {"guidance": GUIDANCE}, {"describe": ("find", "Find files.")})
    office.ids = [office.propose(NOW + 1, **words) for words in asked]
    for one in office.ids:
        office.approve(one, NOW + 2)
    office.apply(NOW + 3)
    office.roll_back(office.ids[1], NOW + 4)
    yield office
    office.store.close()


def steps(office):
    found = entries(office.path)
    return list(replay(office.path, found, rules(office.path, office.ledger, found)))


def test_a_landing_and_its_rollback_are_explained_from_the_page_alone(worked):
    assert steps(worked) == [("apply", worked.mutation, ["ada"]), ("rollback", worked.mutation, [])]


def test_every_step_that_the_program_made_is_explained_from_the_page_alone(lived):
    landed = {one for what, one, names in steps(lived) if what == "apply" and names == ["ada"]}
    assert landed == set(lived.ids)
    assert steps(lived)[-1] == ("rollback", lived.ids[1], [])


def test_the_state_that_is_left_has_the_digest_that_the_program_says(lived):
    verdict = governed.load(lived.store, lived.config).verdict
    assert verdict.ok
    assert whole(state(tree(lived.path, "main"))) == rollback.state.digest(verdict.state)


def test_without_its_decision_a_landing_is_allowed_by_nobody(worked):
    found = entries(worked.path)
    law = rules(worked.path, worked.ledger, found)
    left = [one for one in found if "mutation" not in one]
    assert [names for _, _, names in replay(worked.path, left, law)] == [[], []]


@pytest.mark.parametrize("name", ["document", "result", "target"])
def test_a_decision_on_something_else_allows_nothing(worked, name):
    found = [one | {name: "0" * 64} for one in entries(worked.path)]
    law = rules(worked.path, worked.ledger, entries(worked.path))
    assert next(replay(worked.path, found, law))[2] == []


def test_a_tag_with_another_reason_is_not_signed(worked):
    ref, data = worked.tag(worked.mutation)
    with pytest.raises(ValueError, match="name"):
        entry(ref, data.replace(b'"reason":""', b'"reason":"x"'))


def test_a_signature_of_other_bytes_is_none(worked):
    _, data = worked.tag(worked.mutation)
    at = data.index(BEGIN)
    assert signer(data[at:], data[:at]) == worked.ada.fingerprint
    with pytest.raises(ValueError, match="signature"):
        signer(data[at:], data[:at] + b"\n")


def test_a_file_that_no_document_explains_is_found_by_the_second_verifier(lived, tmp_path):
    copy = tmp_path / "copy.git"
    subprocess.run(["cp", "-r", lived.path, copy], check=True)
    with open_store(copy) as store:
        known = {"base": branch.tip(store), "removes": [], "message": "by hand", "now": NOW}
        branch.land(store, **known, writes={"knobs/max_retries": b"9\n"})
    lived_on = entries(copy)
    with pytest.raises(ValueError, match="unexplained"):
        list(replay(copy, lived_on, rules(copy, lived.ledger, lived_on)))


def test_files_on_main_are_named_and_spelled_as_the_page_says(lived):
    found = tree(lived.path, "main~1")
    assert found["knobs/max_retries"] == b"5\n"
    assert found[f"tools/{sha(b'find')}.md"] == b"find\nFind files.\n"
    assert found[f"overlay/0001-{sha(GUIDANCE.encode())[:12]}.md"] == f"{GUIDANCE}\n".encode()


def test_what_allowed_a_landing_stands_beside_it_as_the_bytes_of_its_tag(worked):
    ref, data = worked.tag(worked.mutation)
    path = "decisions/" + ref.removeprefix(f"{LEDGER}decision/")
    assert tree(worked.path, "main~1")[path] == data


# -- the page ------------------------------------------------------------------


def section(title, level="##"):
    """Return one section of the page, up to the next of its level or above."""
    after = PAGE.read_text().split(f"\n{level} {title}\n")[1]
    return re.split(r"\n##+ " if level == "###" else r"\n## ", after)[0]


def shown():
    """Return the documents that the page shows, each as the one line that it is."""
    return [text.replace("\n", "").encode() for text in re.findall(r"```json\n([^`]*)```", values())]


def values():
    return section("Worked values of the ledger")


def test_every_document_that_the_page_shows_is_stored_or_hashes_to_what_stands_below():
    pairs = re.findall(r"```json\n([^`]*)```\n\n    ([0-9a-f]{64})\n", values())
    assert len(pairs) == 8
    assert [sha(text.replace("\n", "").encode()) for text, _ in pairs] == [digest for _, digest in pairs]


def test_every_document_that_the_page_shows_is_one_of_the_worked_store(worked):
    stored = b"".join(git(worked.path, "cat-file", "--batch-all-objects", "--batch").splitlines())
    hashed = {b'"githarness.patch.v1"}', b'"githarness.part.v1"}', b'"githarness.state.v1"}'}
    kept = [text for text in shown() if text[text.rindex(b":") + 1 :] not in hashed]
    assert len(kept) == 4
    assert all(text in stored for text in kept)


def test_the_tag_of_the_page_is_the_one_that_is_stored(worked):
    _, data = worked.tag(worked.mutation)
    head, armor = values().split("```text\n")[1].split("```")[0].split("<the payload, on one line>")
    assert data.startswith(head.encode())
    assert data.endswith(armor.encode())


def test_every_name_in_the_values_is_one_of_the_worked_store(worked):
    held = git(worked.path, "cat-file", "--batch-all-objects", "--batch").decode("latin-1")
    held += git(worked.path, "for-each-ref").decode() + sha(HARNESS.encode())
    # The digests of parts, states and fingerprints are held to their bytes above.
    hashed = "".join(re.findall(r"```\n\n    ([0-9a-f]{64})\n", values()))
    names = re.findall(r"\b[0-9a-f]{32,64}\b", values())
    assert [one for one in names if one not in held + hashed] == []
    assert worked.ada.key in values()


def test_the_harness_of_the_values_is_the_one_that_is_stored():
    assert values().split("```toml\n")[1].split("```")[0] == HARNESS


def columns(text):
    """Return the names in the first column of the tables of a text."""
    cells = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| [^-]", text, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


def test_the_page_has_every_field_of_a_policy_and_of_a_decision(worked):
    (said,) = (one for one in entries(worked.path) if "mutation" in one)
    law = rules(worked.path, worked.ledger, entries(worked.path))
    assert columns(section("Payloads", "###")) == set(said) - {"id", "commit"}
    assert columns(section("Policies", "###")) == set(law)


def test_the_page_has_every_field_of_a_mutation_and_its_contract(worked):
    (data,) = (one for path, one in tree(worked.path, "main~1").items() if path.startswith("mutations/"))
    document = json.loads(data)
    assert columns(section("Mutation documents")) == set(document) | set(document["contract"])


def test_the_page_has_every_field_of_the_file_of_trust(lived):
    document = json.loads((lived.config / "trust.json").read_bytes())
    (pin,) = document["stores"].values()
    assert columns(section("What was seen before")) == set(document) | set(pin)


def test_the_components_and_guarded_words_of_the_page_are_those_of_the_program():
    text = section("Patches and states")
    listed = text.split("The components are ")[1].split(". A knob")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(COMPONENTS)
    assert tuple(text.split("read likewise")[1].split("\n\n    ")[1].split("\n\n")[0].split()) == GUARDED


def test_the_characters_of_the_page_are_those_that_no_text_may_hold():
    ranges = re.findall(r"\b([0-9A-F]{4,6})(?:-([0-9A-F]{4,6}))?\b", section("Text", "###").split("\n\n")[1])
    points = {p for low, high in ranges for p in range(int(low, 16), int(high or low, 16) + 1)}
    unseen = words.unseen("".join(map(chr, range(0x110000))))
    assert {f"U+{point:04X}" for point in points} == set(unseen)


def test_every_rule_that_can_be_reported_stands_in_the_page_and_no_other():
    sources = [*(ROOT / "githarness/govern").glob("*.py"), ROOT / "githarness/commands/governed.py"]
    text = "".join(path.read_text() for path in sources)
    called = re.findall(r'(?:VoidError|Void|Problem|fault|_stopped)\((?:[^"]*"")*[^"]*"([a-z][a-z-]+)"', text)
    cells = re.findall(r"^\| (`.+?`) \|", section("Rules that are reported", "###"), re.MULTILINE)
    named = {word for cell in cells for word in re.findall(r"`([a-z-]+)`", cell)}
    assert named == set(called) | {"rejected", "not-approved"}


PAGES = ["docs/threat-model.md", "docs/governance.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/decisions").glob("000[6-9]-*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_the_prose_of_a_page_of_governance_fits_eighty_columns(name):
    prose = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(), flags=re.MULTILINE | re.DOTALL)
    long = [line for line in prose.splitlines() if len(line) > 80 and not line.startswith(("|", "    "))]
    assert long == []


def test_every_test_that_the_threat_model_names_is_there():
    named = re.findall(r"`(test_\w+)`", (ROOT / "docs/threat-model.md").read_text())
    there = "".join(path.read_text() for path in (ROOT / "tests").glob("test_*.py"))
    assert len(named) > 40
    assert [one for one in named if f"def {one}(" not in there] == []
