import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.errors import UsageError
from githarness.store import layout

DIGEST = "ab12" + "0" * 60


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (layout.surface(DIGEST), f"surfaces/ab/12/{DIGEST}.json"),
        (layout.prompt(DIGEST), f"prompts/ab/12/{DIGEST}.txt"),
        (layout.part(DIGEST), f"recordings/ab/12/{DIGEST}"),
        (layout.run(DIGEST[:32]), f"runs/ab/12/{DIGEST[:32]}.json"),
        (layout.sighting(DIGEST, "c" * 32), f"sightings/ab/12/{DIGEST}/{'c' * 32}.json"),
        (layout.purged(DIGEST), f"purged/ab/12/{DIGEST}"),
        (layout.mutation(DIGEST), f"mutations/{DIGEST}.json"),
        (layout.decision(DIGEST, "c" * 32), f"decisions/{DIGEST}/{'c' * 32}"),
    ],
)
def test_every_path_is_pinned(path, expected):
    assert path == expected
    assert layout.check(path) == path


@pytest.mark.parametrize(
    "name", ["", "AB" + "0" * 62, DIGEST + "\n", DIGEST[:63], "../" + "a" * 61, "\u0660" * 64, "g" * 64]
)
def test_what_is_not_64_hex_digits_never_becomes_a_path(name):
    for make in (layout.surface, layout.prompt, layout.part, layout.purged, layout.sightings):
        with pytest.raises(UsageError, match="not a SHA-256"):
            make(name)


@pytest.mark.parametrize("name", ["", DIGEST, "a" * 31, "a" * 32 + "\n", "A" * 32])
def test_what_is_no_run_id_never_becomes_a_path(name):
    with pytest.raises(UsageError, match="32 hex"):
        layout.run(name)


@settings(max_examples=60)
@given(st.text(max_size=70))
def test_any_text_is_a_digest_or_refused(text):
    try:
        path = layout.part(text)
    except UsageError:
        return
    assert path == f"recordings/{text[:2]}/{text[2:4]}/{text}"


@pytest.mark.parametrize(
    "path",
    ["", "/runs", "runs/", "runs//a", "../a", "runs/../a", ".git/x", "a b", "a\nb", ".gitattributes", "a/.b"],
)
def test_a_path_that_could_leave_the_tree_or_its_line_is_refused(path):
    with pytest.raises(UsageError, match="not a path"):
        layout.check(path)


def test_only_names_that_are_digests_of_their_bytes_are_addressed():
    addressed = [layout.surface(DIGEST), layout.prompt(DIGEST), layout.part(DIGEST)]
    mutable = [layout.run("a" * 32), layout.sighting(DIGEST, "b" * 32), "harness.toml"]
    assert all(map(layout.is_addressed, addressed))
    assert not any(map(layout.is_addressed, mutable))


def test_the_stem_of_every_kind_of_path_is_its_id():
    assert [layout.stem(make(DIGEST)) for make in (layout.surface, layout.prompt, layout.part)] == [
        DIGEST
    ] * 3


def test_every_ref_of_governance_is_pinned():
    assert layout.proposal_ref(DIGEST) == f"refs/heads/proposals/{DIGEST}"
    assert layout.decision_tag(DIGEST, "c" * 32) == f"refs/tags/githarness/v1/decision/{DIGEST}/{'c' * 32}"
    assert layout.policy_tag(DIGEST, "c" * 32) == f"refs/tags/githarness/v1/policy/{DIGEST}/{'c' * 32}"


@pytest.mark.parametrize("make", [layout.decision, layout.decision_tag, layout.policy_tag])
@pytest.mark.parametrize("entry", ["", "c" * 31, "c" * 32 + "\n", "C" * 32, "../" + "c" * 29, "\uff11" * 32])
def test_what_is_no_id_of_an_entry_never_becomes_a_name(make, entry):
    with pytest.raises(UsageError, match="not an id of an entry"):
        make(DIGEST, entry)


@pytest.mark.parametrize("ref", ["", "refs/heads/main", f"refs/heads/proposals/{DIGEST}\n", DIGEST])
def test_a_branch_that_is_no_proposal_has_no_fingerprint(ref):
    assert layout.proposal_of(ref) is None
    assert layout.proposal_of(layout.proposal_ref(DIGEST)) == DIGEST
