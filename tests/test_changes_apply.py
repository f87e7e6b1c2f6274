"""A diff is complete: applied to the first surface it gives the second."""

from hypothesis import given, settings
from hypothesis import strategies as st
from made_schemas import SCHEMAS, SURFACES
from made_surface import params, surface, tool

from githarness.measure.changes.change import LEVELS
from githarness.measure.changes.compare import compare
from githarness.measure.changes.edits import apply, document


def same(left, right):
    """Equal down to key order and the spelling of numbers."""
    return repr([document(spec) for spec in left]) == repr([document(spec) for spec in right])


def completes(before, after):
    return same(apply(compare(before, after), before.specs), after.specs)


@settings(max_examples=120, deadline=None)
@given(SURFACES, SURFACES)
def test_applying_every_change_gives_the_second_surface(before, after):
    assert completes(before, after)


@settings(max_examples=120, deadline=None)
@given(SCHEMAS, SCHEMAS)
def test_applying_every_change_of_a_schema_gives_the_second_schema(before, after):
    assert completes(surface(tool(schema=before)), surface(tool(schema=after)))


@settings(max_examples=60, deadline=None)
@given(SURFACES)
def test_a_surface_beside_itself_has_no_changes(one):
    assert compare(one, one) == ()


@settings(max_examples=60, deadline=None)
@given(SURFACES, SURFACES)
def test_surfaces_of_other_bytes_always_have_a_change_with_a_known_severity(before, after):
    changes = compare(before, after)
    assert bool(changes) == (before.wire != after.wire)
    assert all(change.severity in LEVELS for change in changes)


@settings(max_examples=60, deadline=None)
@given(st.permutations([tool(name) for name in "abcde"]))
def test_any_order_of_tools_is_restored(tools):
    assert completes(surface(*(tool(name) for name in "abcde")), surface(*tools))


def test_leaving_out_a_change_leaves_the_surface_unfinished():
    before = surface(tool("a", schema=params(x={"type": "string"})), tool("b"))
    after = surface(
        tool("b", "Other."), tool("a", schema=params(["y"], y={"type": "integer"})), tool("c", "New.")
    )
    changes = compare(before, after)
    for skipped in range(len(changes)):
        part = changes[:skipped] + changes[skipped + 1 :]
        assert not same(apply(part, before.specs), after.specs), changes[skipped].id


def test_edits_do_not_depend_on_the_order_of_changes():
    before = surface(tool("a", schema=params(["x"], x={"type": "string"}, y={})), tool("b"), tool("c"))
    after = surface(tool("c"), tool("a", schema=params(["y", "z"], z={"enum": [1]}, y={"type": "null"})))
    assert same(apply(reversed(compare(before, after)), before.specs), after.specs)
