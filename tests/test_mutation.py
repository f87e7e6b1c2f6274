"""The document: one canonical spelling, an identity that survives new evidence."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import COMMIT, document, draft, state

from githarness.errors import RefusedError, UnreadableError
from githarness.measure.metrics import Metric
from githarness.propose import mutation
from githarness.propose.mutation import Cited
from githarness.propose.overlay import Entry
from githarness.propose.patch import make

GUIDANCE = make(add_guidance=("Read the file first.",))
BYTES = mutation.encode(document())


def changed(**fields):
    """The document's bytes with fields replaced, in canonical form otherwise."""
    return json.dumps(json.loads(BYTES) | fields, sort_keys=True, separators=(",", ":")).encode()


def deep(path, value):
    """The same, with one field inside another part replaced."""
    whole = json.loads(BYTES)
    whole[path[0]][path[1]] = value
    return json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()


def fault(data):
    with pytest.raises(UnreadableError) as caught:
        mutation.decode(data)
    return caught.value.message


def test_a_document_is_exactly_these_bytes():
    assert BYTES == (
        b'{"base":{"commit":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0",'
        b'"state":"cc2a2270bd784db055212e995844052c0efa9be481b26babddd004bc7f203712"},"change_class":"config",'
        b'"contract":{"component":"planning_config","falsifying_evaluation":'
        b'"an A/B trial on tasks drawn after this proposal, in which the metric cut_short does not fall",'
        b'"invariants":["nothing but the keys of this patch changes",'
        b'"no tool, permission or validator is added"],'
        b'"metric":"cut_short","predicted_improvement":"fewer runs are cut short (metric cut_short)",'
        b'"rollback":"apply the inverse patch: it restores what was set before, and unsets what was not",'
        b'"target_failure":"runs are cut short","win_share":[3,4]},'
        b'"evidence":{"corpus":null,"counters":{}},"inverse":{"unset":["max_turns"]},'
        b'"patch":{"set":{"max_turns":40}},"proposer":"","raised":false,'
        b'"rationale":"runs end at the ceiling","rederived":[],"source":"hand",'
        b'"type":"githarness.mutation.v1"}'
    )


def test_a_document_is_named_by_the_sha256_of_its_bytes():
    assert mutation.digest(document()) == "0f25eca649a4b505ff11441d87f61c8be883395b1517cf26a28935abe2223811"


def test_a_fingerprint_is_of_component_and_patch():
    assert (
        mutation.fingerprint(document()) == "22f0aa23eca941432ce19540266ff5468a541974b1155a7f2465a52aef890ccf"
    )


def test_new_evidence_and_another_reason_leave_the_fingerprint_alone():
    other = document(
        rationale="another reason", metric=Metric.TURNS, source="reply", counters={"occurrences": 9}
    )
    assert mutation.fingerprint(other) == mutation.fingerprint(document())
    assert mutation.digest(other) != mutation.digest(document())


def test_another_base_leaves_the_fingerprint_alone_and_is_another_document():
    other = mutation.build(draft(), state(), commit="d0" * 20)
    assert mutation.fingerprint(other) == mutation.fingerprint(document())
    assert mutation.digest(other) != mutation.digest(document())


@pytest.mark.parametrize("change", [GUIDANCE, make(design="Split it."), make(describe={"grep": ""})])
def test_a_document_reads_back_as_what_was_written(change):
    made = document(change)
    assert mutation.decode(mutation.encode(made)) == made


@pytest.mark.parametrize("field", sorted(json.loads(BYTES)))
def test_a_document_without_one_of_its_fields_is_refused(field):
    whole = json.loads(BYTES)
    del whole[field]
    assert fault(json.dumps(whole, sort_keys=True, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (changed(extra=1), "extra is not a field here"),
        (deep(("contract", "approved"), True), "contract.approved is not a field here"),
        (deep(("patch", "grant"), "all"), "patch.grant is not a field here"),
        (BYTES.replace(b'"raised":false', b'"raised":false,"raised":true'), "duplicate key"),
        (BYTES.replace(b'"max_turns":40', b'"max_turns":40.0'), "patch.set.max_turns"),
        (BYTES.replace(b'"max_turns":40', b'"max_turns":4e1'), "patch.set.max_turns"),
        (BYTES.replace(b'"max_turns":40', b'"max_turns":NaN'), "not valid JSON"),
        (BYTES.replace(b'"max_turns":40', b'"max_turns":9007199254740992'), "patch.set.max_turns"),
        (BYTES + b"\n", "not in canonical form"),
        (BYTES.replace(b":40", b": 40"), "not in canonical form"),
        (BYTES.replace(b'"hand"', b'"h\\u0061nd"'), "not in canonical form"),
        (
            json.dumps(dict(reversed(json.loads(BYTES).items())), separators=(",", ":")).encode(),
            "canonical form",
        ),
        (deep(("patch", "unset"), []), "not in canonical form"),
        (deep(("contract", "win_share"), [1, 2]), "above one half"),
        (deep(("contract", "metric"), "vibes"), "contract.metric"),
        (deep(("contract", "component"), "retry"), "contract.component"),
        (deep(("base", "commit"), "main"), "base.commit"),
        (deep(("base", "state"), "A" * 64), "base.state"),
        (changed(change_class="harmless"), "change_class"),
        (changed(proposer="Al ice"), "proposer"),
        (changed(rationale="hid\u202eden"), "U+202E"),
        (changed(rederived=["hid\u200bden"]), "U+200B"),
        (changed(type="githarness.mutation.v2"), "type"),
        (b"[" * 5000 + b"]" * 5000, "nested deeper"),
        (b"\xff", "not valid JSON"),
        (b"null", "mutation document"),
        (b"", "not valid JSON"),
        (b" " * (mutation.DOCUMENT_LIMIT + 1), "are allowed"),
    ],
)
def test_a_document_in_any_other_form_is_refused_with_the_reason(data, said):
    assert said in fault(data)


def test_unsorted_sets_of_a_patch_are_not_canonical():
    made = mutation.encode(
        document(make(unset=("effort", "max_turns")), state(knobs={"effort": "low", "max_turns": 9}))
    )
    assert "canonical" in fault(
        made.replace(b'"unset":["effort","max_turns"]', b'"unset":["max_turns","effort"]')
    )


def test_the_inverse_is_of_the_state_the_proposal_met():
    assert document(of=state(knobs={"max_turns": 20})).inverse == make(set={"max_turns": 20})


def test_a_patch_that_would_change_nothing_makes_no_document():
    with pytest.raises(RefusedError, match="already set"):
        document(of=state(knobs={"max_turns": 40}))


def test_a_design_makes_a_document_without_an_inverse():
    made = document(make(design="Split the agent in two."))
    assert (made.inverse, made.contract.component, made.change_class) == (
        None,
        "workflow_topology",
        "architecture",
    )


def test_a_hidden_character_in_the_reason_is_refused_by_name():
    with pytest.raises(RefusedError, match=r"the rationale .*U\+200B"):
        document(rationale="be\u200bcause")


@pytest.mark.parametrize(
    ("fields", "said"), [({"win_share": (1, 2)}, "win_share"), ({"counters": {"A b": 1}}, "counters")]
)
def test_a_draft_that_makes_no_legal_document_is_refused_by_field(fields, said):
    with pytest.raises(RefusedError, match=said):
        document(**fields)


def test_evidence_is_counters_and_the_digest_of_their_corpus():
    cited = Cited(corpus="e" * 64, counters={"runs": 40, "malformed_args": None})
    made = mutation.build(draft(counters={"occurrences": 3}), state(), commit=COMMIT, evidence=cited)
    assert made.evidence.corpus == "e" * 64
    assert made.evidence.counters == {"runs": 40, "malformed_args": None, "occurrences": 3}


def test_no_corpus_is_null_and_not_the_digest_of_an_empty_one():
    assert document().evidence.corpus is None


def test_a_number_needs_no_person_until_a_label_raises_it():
    declaration = state().declaration
    assert not mutation.needs_person(document(), declaration)
    assert mutation.needs_person(document(labelled_component="validator"), declaration)


def test_a_text_needs_a_person_whatever_the_document_says():
    lying = document(GUIDANCE).model_copy(update={"change_class": "config", "raised": False})
    assert mutation.needs_person(lying, state().declaration)


def test_what_was_rederived_is_in_the_document():
    made = document(GUIDANCE, labelled_component="retry_config")
    assert "labelled retry_config" in made.rederived[0]


def test_a_document_agrees_with_the_state_it_was_made_on():
    assert list(mutation.disagreements(document(), state())) == []


def test_a_document_agrees_where_only_other_keys_changed():
    later = state(knobs={"max_retries": 5}, overlay=(Entry(1, "Read the file first."),))
    assert list(mutation.disagreements(document(), later)) == []


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"contract": document(GUIDANCE).contract}, "names component prompt"),
        ({"inverse": make(set={"max_turns": 1})}, "does not lead back"),
        ({"patch": make(set={"max_retries": 5})}, "another state"),
    ],
)
def test_a_document_that_lies_about_its_patch_is_found_out(update, said):
    lying = document().model_copy(update=update)
    assert any(said in reason for reason in mutation.disagreements(lying, state()))


def test_a_class_below_what_the_patch_contains_is_found_out():
    lying = document(GUIDANCE).model_copy(update={"change_class": "config"})
    assert list(mutation.disagreements(lying, state())) == ["names class config, and is prose"]


def test_a_changed_key_makes_a_document_disagree():
    assert any(
        "another state" in one for one in mutation.disagreements(document(), state(knobs={"max_turns": 9}))
    )


@settings(max_examples=80, deadline=None)
@given(st.integers(0, len(BYTES) - 1), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_is_another_canonical_document(at, byte):
    data = BYTES[:at] + bytes([byte]) + BYTES[at + 1 :]
    try:
        made = mutation.decode(data)
    except UnreadableError:
        return
    assert mutation.encode(made) == data
