from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from githarness.model import manifest
from githarness.model.manifest import Cited, Recorded, Run, Stats

STATS = Stats(
    turns=1, steps=1, tool_calls=0, tool_errors=0, tool_denied=0, tool_cancelled=0, tool_unknown=0,
    malformed_args=0, compactions=0, ended_on_failed_call=False, stop_cause=None,
)  # fmt: skip


def recorded(records=1, size=10, digest="a", *, redacted=True, rules=1, unreadable=0, copied=0):
    return Recorded(
        format="f", reader=1, digest=digest * 64, bytes=size, parts=(), records=records, source_bytes=size,
        unreadable=unreadable, unfamiliar={}, copied=copied, redacted=redacted, rules=rules, redactions={},
        container=None,
        project=None, branch=None, started=None, ended=None, models=(), versions=(), steered=False,
        stats=STATS,
    )  # fmt: skip


def run(recording=None, surfaces=(), **more):
    cited = tuple(Cited(position=at, digest=digest * 64) for at, digest in surfaces)
    return Run(
        id="0" * 32,
        agent="a",
        native="n",
        parent=None,
        recording=recording or recorded(),
        surfaces=cited,
        **more,
    )


def test_a_run_is_named_after_its_agent_and_native_id():
    assert manifest.run_id("claude-code", "s-1", "f" * 64) == "b7d379bd58645bfe50aa09d15b2d8bdc"


def test_a_run_without_a_native_id_is_named_after_its_recording():
    assert manifest.run_id("claude-code", None, "ab" * 32) == "ab" * 16


def test_more_records_are_fuller_than_more_bytes():
    assert manifest.is_fuller(recorded(records=3, size=10), recorded(records=2, size=99))


def test_lines_that_nobody_can_read_make_nothing_fuller():
    assert manifest.is_fuller(recorded(records=3), recorded(records=9, size=99, unreadable=7))


def test_records_of_other_sessions_make_nothing_fuller():
    assert manifest.is_fuller(recorded(records=3), recorded(records=9, size=99, copied=7))
    assert manifest.is_fuller(recorded(records=3), recorded(records=5, size=99, copied=2))


def test_a_redacted_recording_beats_an_unredacted_one_of_the_same_source():
    assert manifest.is_fuller(recorded(redacted=True), recorded(redacted=False))


def test_a_newer_rule_set_beats_an_older_one():
    assert manifest.is_fuller(recorded(rules=2), recorded(rules=1))


def test_the_last_tie_goes_to_the_smaller_digest():
    assert manifest.is_fuller(recorded(digest="a"), recorded(digest="b"))


def test_a_known_surface_beats_an_unknown_one():
    known, unknown = run(surfaces=[(0, "a")]), run()
    assert manifest.merge(unknown, known).surfaces == known.surfaces


def test_a_session_that_grew_a_second_surface_is_no_conflict():
    before, after = run(surfaces=[(0, "a")]), run(recorded(records=2), surfaces=[(0, "a"), (4, "b")])
    assert manifest.merge(before, after).surfaces == after.surfaces


def test_two_parents_join_to_the_same_one_in_either_order():
    one, other = replace(run(), parent="a"), replace(run(), parent="b")
    assert manifest.merge(one, other).parent == manifest.merge(other, one).parent


def test_two_machines_that_disagree_are_both_kept():
    merged = manifest.merge(run(surfaces=[(0, "b")]), run(surfaces=[(0, "a")]))
    assert [side[0]["digest"][0] for side in merged.surfaces["conflict"]] == ["a", "b"]


surface_lists = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), max_size=3, unique=True)
runs = st.builds(
    lambda records, copied, digest, surfaces: run(
        recorded(records=records, copied=copied, digest=digest), surfaces
    ),
    st.integers(1, 3), st.integers(0, 2), st.sampled_from("abc"), surface_lists,
)  # fmt: skip


@settings(max_examples=150)
@given(runs, runs, runs)
def test_merging_is_the_same_in_every_order(one, two, three):
    def settled(result):
        cited = result.surfaces
        return replace(result, surfaces=cited if isinstance(cited, dict) else set(cited))

    left = manifest.merge(manifest.merge(one, two), three)
    right = manifest.merge(three, manifest.merge(two, one))
    assert settled(left) == settled(right)


@settings(max_examples=50)
@given(runs)
def test_merging_a_manifest_with_itself_changes_nothing(one):
    assert manifest.merge(one, one) == one
