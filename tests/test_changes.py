"""Every class of change, by the smallest pair of surfaces that shows it."""

import msgspec
import pytest
from made_surface import of_json, params, surface, tool

from githarness import canon
from githarness.measure.changes.change import fails_on, pointer, worst
from githarness.measure.changes.compare import compare

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def ids(before, after):
    return [change.id for change in changes(before, after)]


def changes(before, after):
    return compare(surface(*before), surface(*after))


def within(before, after):
    """The changes between two schemas of one parameter `x`."""
    left, right = (tool(schema=params(x=schema)) for schema in (before, after))
    return changes([left], [right])


def only(found):
    assert len(found) == 1, [change.id for change in found]
    return found[0]


# -- whole tools ---------------------------------------------------------------

A, B, C = tool("alpha", "First."), tool("beta", "Second."), tool("gamma", "Third.")


def test_a_tool_that_is_gone_is_removed():
    change = only(changes([A, B], [A]))
    assert (change.id, change.tool, change.place, change.now) == ("tool.removed", "beta", "/tools/1", None)


def test_a_new_tool_has_its_place_in_the_second_surface():
    change = only(changes([A, B], [C, A, B]))
    assert (change.id, change.tool, change.place, change.was) == ("tool.added", "gamma", "/tools/0", None)


def test_order_is_a_class_of_its_own():
    change = only(changes([A, B, C], [C, A, B]))
    assert (change.id, change.severity, change.tool, change.place) == (
        "tool.reordered",
        "info",
        None,
        "/tools",
    )


def test_a_new_tool_in_the_middle_reorders_nothing():
    assert ids([A, C], [A, B, C]) == ["tool.added"]


def test_order_is_told_beside_other_changes():
    redescribed = msgspec.structs.replace(A, description="Else.")
    assert ids([A, B], [B, redescribed]) == ["tool.redescribed", "tool.reordered"]


def test_a_tool_with_another_name_and_an_equal_body_is_renamed():
    change = only(changes([A, B], [A, tool("delta", "Second.")]))
    assert (change.id, change.place) == ("tool.renamed", "/tools/1/name")


def test_a_renamed_tool_may_have_a_few_other_words():
    long = "Write a label to an issue of a repository and return the labels that it has by now"
    was, now = (
        tool("label_write", f"{long}.", params(x=TEXT)),
        tool("write_label", f"{long} too.", params(x=TEXT)),
    )
    assert ids([was], [now]) == ["tool.renamed", "tool.redescribed"]


def test_tools_that_say_nothing_are_no_rename_of_each_other():
    assert ids([tool("a", None)], [tool("b", None)]) == ["tool.removed", "tool.added"]


def test_a_duplicate_name_loses_no_tool():
    change = only(changes([A, A], [A, msgspec.structs.replace(A, description="Else.")]))
    assert (change.id, change.place) == ("tool.redescribed", "/tools/1/description")


@pytest.mark.parametrize(
    ("was", "now"),
    [("Read.", "Read it."), (None, "Read."), ("Read.", None), ("", None), ("Read.", "Read.\n")],
)
def test_any_other_description_is_redescribed_and_absent_is_not_empty(was, now):
    change = only(changes([tool(description=was)], [tool(description=now)]))
    assert (change.id, change.severity, change.place) == (
        "tool.redescribed",
        "review",
        "/tools/0/description",
    )


# -- parameters ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now", "found"),
    [
        (params(), params(x=WHOLE), "param.added.optional"),
        (params(), params(["x"], x=WHOLE), "param.added.required"),
        (params(x=TEXT), params(["x"], x=TEXT), "param.became_required"),
        (params(["x"], x=TEXT), params(x=TEXT), "param.became_optional"),
        (params(x=TEXT), params(), "param.removed"),
        (params(["x"], x=TEXT), params(), "param.removed"),
        (params(repoPath=TEXT), params(repo_path=TEXT), "param.renamed"),
        (params(["repoPath"], repoPath=TEXT), params(["repo_path"], repo_path=TEXT), "param.renamed"),
        (params(["x"]), params(), "param.became_optional"),
        (params(), params(["x"]), "param.became_required"),
        ({"type": "object"}, {"type": "object", "properties": {"x": WHOLE}}, "param.added.optional"),
        ({"type": "object", "properties": {"x": WHOLE}}, {"type": "object"}, "param.removed"),
    ],
)
def test_a_parameter_is_read_from_both_lists(was, now, found):
    assert ids([tool(schema=was)], [tool(schema=now)]) == [found]


def test_a_renamed_parameter_is_known_by_its_words():
    words = {"type": "string", "description": "The folder to look into, below the root."}
    assert ids([tool(schema=params(dir=words))], [tool(schema=params(folder=words))]) == ["param.renamed"]


def test_parameters_that_only_share_a_type_are_two_parameters():
    found = ids([tool(schema=params(owner=TEXT))], [tool(schema=params(query=TEXT))])
    assert found == ["param.removed", "param.added.optional"]


def test_a_parameter_inside_an_array_of_objects_is_found():
    before = {"type": "array", "items": params(y=TEXT)}
    change = only(within(before, {"type": "array", "items": params(["y"], y=TEXT)}))
    assert (change.id, change.param) == ("param.became_required", "y")
    assert change.place == "/tools/0/input_schema/properties/x/items/required"


# -- types, values and limits --------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now", "found"),
    [
        ({"type": "integer"}, {"type": "number"}, "type.widened"),
        ({"type": "number"}, {"type": "integer"}, "type.narrowed"),
        ({"type": "string"}, {"type": ["string", "null"]}, "type.widened"),
        ({"type": "string"}, {}, "type.widened"),
        ({}, {"type": "string"}, "type.narrowed"),
        ({"type": "string"}, {"type": "integer"}, "type.changed"),
        ({"type": "string"}, {"type": ["string"]}, "format.only"),
        (TEXT, {"anyOf": [TEXT, {"type": "null"}]}, "type.widened"),
        ({"anyOf": [TEXT, {"type": "null"}]}, TEXT, "type.narrowed"),
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}, "format.only"),
        ({"anyOf": [TEXT]}, {"anyOf": [TEXT, WHOLE]}, "type.widened"),
        ({"oneOf": [TEXT, WHOLE]}, {"oneOf": [WHOLE]}, "type.narrowed"),
        ({"anyOf": [TEXT, WHOLE]}, {"anyOf": [WHOLE, TEXT]}, "key.order"),
        ({"allOf": [TEXT]}, {"allOf": [TEXT, {"minLength": 1}]}, "constraint.tightened"),
        ({"type": "string"}, {"type": "string", "nullable": True}, "type.widened"),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, "enum.added"),
        ({"enum": ["a", "b"]}, {"enum": ["b"]}, "enum.removed"),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}, "key.order"),
        ({"enum": [1]}, {"enum": [1, True]}, "enum.added"),
        (TEXT, {"type": "string", "enum": ["a"]}, "constraint.tightened"),
        ({"const": 1}, {"const": 2}, "type.changed"),
        ({"minimum": 1}, {"minimum": 2}, "constraint.tightened"),
        ({"maximum": 1}, {"maximum": 2}, "constraint.loosened"),
        ({"maximum": 1}, {}, "constraint.loosened"),
        ({}, {"minLength": 1}, "constraint.tightened"),
        ({}, {"minLength": 0}, "format.only"),
        ({"multipleOf": 2}, {"multipleOf": 4}, "constraint.tightened"),
        ({"uniqueItems": False}, {}, "format.only"),
        ({"pattern": "a"}, {"pattern": "b"}, "other.changed"),
        ({}, {"pattern": "a"}, "constraint.tightened"),
        ({"additionalProperties": False}, {}, "constraint.loosened"),
        ({}, {"additionalProperties": True}, "format.only"),
        ({"additionalProperties": True}, {"additionalProperties": TEXT}, "constraint.tightened"),
        ({"items": TEXT}, {"items": WHOLE}, "type.changed"),
        ({"default": 1}, {"default": 2}, "default.changed"),
        ({}, {"default": None}, "default.added"),
        ({"default": False}, {}, "default.removed"),
        ({"title": "X"}, {"title": "Y"}, "title"),
        ({"description": "X"}, {"description": "Y"}, "tool.redescribed"),
        ({"$comment": "X"}, {}, "meta"),
        ({"x-vendor": 1}, {"x-vendor": 2}, "other.changed"),
        ({"type": "string", "title": "X"}, {"title": "X", "type": "string"}, "key.order"),
        (True, False, "constraint.tightened"),
        (False, {}, "constraint.loosened"),
    ],
)  # fmt: skip
def test_a_keyword_has_its_class(was, now, found):
    assert [change.id for change in within(was, now)] == [found]


def test_a_branch_that_took_the_place_of_a_schema_is_compared_with_it():
    after = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]}
    assert [change.id for change in within(TEXT, after)] == ["type.widened", "constraint.tightened"]


def test_an_enum_changes_value_by_value():
    found = within({"enum": ["asc", "desc"]}, {"enum": ["ASC", "desc", "none"]})
    assert [(one.id, (one.was or one.now).text) for one in found] == [
        ("enum.removed", "asc"),
        ("enum.added", "ASC"),
        ("enum.added", "none"),
    ]


# -- references ----------------------------------------------------------------


def defined(name, definition, **properties):
    return {
        "type": "object",
        "properties": properties or {"x": {"$ref": f"#/$defs/{name}"}},
        "$defs": {name: definition},
    }


def test_a_shared_definition_is_reported_once():
    uses = {"x": {"$ref": "#/$defs/A"}, "y": {"$ref": "#/$defs/A"}}
    change = only(
        changes([tool(schema=defined("A", TEXT, **uses))], [tool(schema=defined("A", WHOLE, **uses))])
    )
    assert (change.id, change.place) == ("type.changed", "/tools/0/input_schema/$defs/A/type")


def test_another_reference_is_compared_by_what_it_stands_for():
    found = ids([tool(schema=defined("A", TEXT))], [tool(schema=defined("B", WHOLE))])
    assert found == ["type.changed", "other.changed", "other.changed"]


def test_a_reference_to_an_equal_definition_is_a_matter_of_form():
    found = changes([tool(schema=defined("A", TEXT))], [tool(schema=defined("B", TEXT))])
    assert found[0].id == "format.only"


def test_a_recursive_schema_under_another_name_ends():
    def tree(name, kind):
        return defined(name, params(value=kind, next={"$ref": f"#/$defs/{name}"}))

    found = ids([tool(schema=tree("A", TEXT))], [tool(schema=tree("B", WHOLE))])
    assert found[:2] == ["type.changed", "format.only"]


def test_a_reference_that_leads_nowhere_is_other():
    found = within({"$ref": "#/$defs/A"}, {"$ref": "https://example.org/a"})
    assert [change.id for change in found] == ["other.changed"]


def test_references_that_fan_out_sixty_times_are_compared_once_each():
    def fan(letter, leaf):
        both = [
            params(l={"$ref": f"#/$defs/{letter}{n}"}, r={"$ref": f"#/$defs/{letter}{n}"})
            for n in range(1, 61)
        ]
        named = {f"{letter}{n}": schema for n, schema in enumerate([*both, leaf])}
        return {"$ref": f"#/$defs/{letter}0", "$defs": named}

    assert len(ids([tool(schema=fan("A", TEXT))], [tool(schema=fan("B", WHOLE))])) < 250


def test_a_schema_nested_very_deeply_is_told_whole():
    def deep(leaf):
        for _ in range(240):
            leaf = {"items": leaf}
        return leaf

    assert ids([tool(schema=deep(TEXT))], [tool(schema=deep(WHOLE))]) == ["other.changed"]


# -- what clients read ---------------------------------------------------------


def hinted(**hints):
    return tool(annotations=hints)


@pytest.mark.parametrize(
    ("was", "now", "found", "severity"),
    [
        (tool(), hinted(readOnlyHint=True), "annotation.loosened", "critical"),
        (hinted(readOnlyHint=True), hinted(readOnlyHint=False), "annotation.tightened", "high"),
        (hinted(readOnlyHint=True), tool(), "annotation.tightened", "high"),
        (tool(), hinted(destructiveHint=False), "annotation.loosened", "critical"),
        (hinted(openWorldHint=False), hinted(openWorldHint=True), "annotation.tightened", "high"),
        (tool(), hinted(readOnlyHint=False), "annotation.explicit_default", "none"),
        (tool(), hinted(destructiveHint=True), "annotation.explicit_default", "none"),
        (hinted(openWorldHint=True), tool(), "annotation.explicit_default", "none"),
        (tool(), hinted(idempotentHint="yes"), "other.changed", "review"),
        (tool(), hinted(title="Reader"), "title", "low"),
        (tool(), hinted(), "format.only", "info"),
        (tool(), tool(title="Reader"), "title", "low"),
        (tool(), tool(icons=[{"src": "a.png"}]), "icons", "low"),
        (tool(), tool(_meta={"ui": 1}), "meta", "low"),
        (tool(), tool(strict=True), "other.changed", "review"),
        (tool(), tool(outputSchema={"type": "object"}), "output_schema.changed", "review"),
        (tool(), tool(schema=False), "other.changed", "review"),
    ],
)
def test_a_field_has_its_class_and_severity(was, now, found, severity):
    change = only(changes([was], [now]))
    assert (change.id, change.severity) == (found, severity)


def test_a_loosened_hint_beside_another_change_of_the_tool_is_high():
    after = tool(description="Read it all.", annotations={"readOnlyHint": True})
    assert {one.id: one.severity for one in changes([tool()], [after])}["annotation.loosened"] == "high"


@pytest.mark.parametrize("beside", [{"title": "Reader"}, {"icons": []}, {"_meta": {}}])
def test_a_cosmetic_change_does_not_make_a_loosened_hint_less_critical(beside):
    after = tool(annotations={"readOnlyHint": True, "openWorldHint": True}, **beside)
    assert worst(changes([tool()], [after])) == "critical"


def test_a_change_of_another_tool_does_not_make_a_loosened_hint_less_critical():
    after = [tool(annotations={"readOnlyHint": True}), tool("beta", "Else.")]
    assert worst(changes([tool(), B], after)) == "critical"


# -- bytes ---------------------------------------------------------------------


def test_equal_bytes_have_no_changes():
    assert changes([A, B], [A, B]) == ()


def test_key_order_is_one_change_for_a_tool_however_many_objects_moved():
    before = tool(schema={"type": "object", "properties": {"x": TEXT, "y": TEXT}, "required": ["x", "y"]})
    after = tool(schema={"required": ["y", "x"], "properties": {"y": TEXT, "x": TEXT}, "type": "object"})
    change = only(changes([before], [after]))
    assert (change.id, change.severity, change.place) == ("key.order", "info", "/tools/0")


def test_the_order_of_a_tools_own_keys_is_seen_in_its_bytes():
    raw = b'[{"description":"First.","name":"alpha","input_schema":{"type":"object"}}]'
    change = only(compare(surface(A), surface(A, raw=raw)))
    assert (change.id, change.edits) == ("key.order", ())


def test_white_space_alone_is_format_only():
    spaced = surface(A, raw=surface(A).raw.replace(b":", b": "))
    change = only(compare(surface(A), spaced))
    assert (change.id, change.place) == ("format.only", "/tools")


def test_another_dialect_is_told_first():
    raw = b'[{"type":"function","name":"alpha","description":"First.","parameters":{"type":"object"}}]'
    change = only(compare(surface(A), surface(A, raw=raw, dialect="openai-responses")))
    assert (change.id, change.was.text, change.now.text) == ("format.only", "anthropic", "openai-responses")


def test_another_spelling_of_a_number_is_no_new_limit():
    from_text, to_text = (b'[{"name":"a","input_schema":{"maximum":%s}}]' % one for one in (b"1.0", b"1e0"))
    left, right = (of_json(canon.parse(raw, "test"), raw=raw) for raw in (from_text, to_text))
    assert [change.id for change in compare(left, right)] == ["format.only"]


# -- the shape of a change -----------------------------------------------------


def test_the_span_shows_what_differs_with_context_on_both_sides():
    text = "x" * 100
    change = only(
        changes([tool(description=f"{text} read {text}")], [tool(description=f"{text} write {text}")])
    )
    was, now = change.was, change.now
    assert (was.text[was.start : was.end], now.text[now.start : now.end]) == ("read", "write")
    assert (was.offset, was.length, was.start, len(was.text)) == (61, 206, 40, 84)


def test_a_span_is_never_cut_in_its_middle():
    long = "y" * 5000
    change = only(changes([tool(description="a")], [tool(description=long)]))
    assert change.now.text == long


def test_added_text_leaves_an_empty_span_where_it_was_put():
    change = only(changes([tool(description="Read.")], [tool(description="Read it.")]))
    assert (change.was.start, change.was.end) == (4, 4)


def test_a_place_is_a_json_pointer():
    assert pointer((3, "input_schema", "properties", "a/b~c")) == "/tools/3/input_schema/properties/a~1b~0c"


def test_the_other_fields_of_a_tool_have_no_segment_of_their_own():
    assert pointer((3, "rest", "annotations", "readOnlyHint")) == "/tools/3/annotations/readOnlyHint"


def test_a_parameter_called_rest_keeps_its_segment():
    assert pointer((3, "input_schema", "properties", "rest")) == "/tools/3/input_schema/properties/rest"


def test_what_only_transport_sees_is_not_visible_to_the_model():
    change = only(changes([tool()], [tool(cache_control={"type": "ephemeral"})]))
    assert (change.wire, change.model, change.call) == (True, False, False)


def test_a_limit_is_visible_to_the_validator_and_words_are_not():
    limit, words = within({}, {"maxLength": 1})[0], within({}, {"description": "X"})[0]
    assert (limit.call, words.call) == (True, False)


# -- levels --------------------------------------------------------------------


def test_without_a_level_any_change_fails_even_one_of_no_severity():
    found = changes([tool()], [hinted(readOnlyHint=False)])
    assert fails_on(found, None)
    assert not fails_on((), None)


@pytest.mark.parametrize(
    ("level", "fails"), [("none", True), ("low", True), ("review", True), ("high", False)]
)
def test_a_level_fails_on_itself_and_above(level, fails):
    assert fails_on(changes([A], [B]), level) is fails


def test_nothing_has_no_worst():
    assert worst(()) is None
