"""Strategies for surfaces that look like real ones and for ones that no one would write."""

from hypothesis import strategies as st
from made_surface import surface

from githarness.canon import Spelled
from githarness.model.surface import ToolSpec

NAMES = st.sampled_from(["path", "repoPath", "repo_path", "note", "force", "$ref", "description", ""])
WORDS = st.sampled_from(["", "Read.", "Read it.", "Rеad.", "Read\u200b.", "See /etc/passwd first."])
NUMBERS = st.sampled_from([0, 1, 10**30, True, Spelled("1.0"), Spelled("1e0")])
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS)
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
TYPES = st.sampled_from(["string", "integer", "number", "null", ["string", "null"], "object", "array"])
REFS = st.sampled_from(["#/$defs/A", "#/$defs/B", "#", "#/properties/path", "https://example.org/a"])


def keywords(inner):
    branches = st.lists(inner, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=3)
    return {
        "type": TYPES,
        "description": WORDS,
        "title": WORDS,
        "default": LEAVES,
        "enum": st.lists(LEAVES, max_size=4),
        "const": LEAVES,
        "minimum": NUMBERS,
        "maxLength": NUMBERS,
        "pattern": WORDS,
        "nullable": st.booleans(),
        "properties": named,
        "required": st.lists(NAMES, max_size=3),
        "additionalProperties": inner,
        "items": inner,
        "anyOf": branches,
        "allOf": branches,
        "$defs": st.dictionaries(st.sampled_from("AB"), inner, max_size=2),
        "$ref": REFS,
        "x-other": JUNK,
    }


def objects(inner):
    """Any few keywords in any order, each now and then with a value that it cannot have."""
    pairs = [st.tuples(st.just(key), values) for key, values in keywords(inner).items()]
    odd = st.tuples(st.sampled_from(list(keywords(inner))), JUNK)
    return st.lists(st.one_of(*pairs, odd), max_size=5).map(dict)


SCHEMAS = st.recursive(st.booleans() | st.just({}), objects, max_leaves=8)
HINTS = st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint", "title", "x"]), JUNK, max_size=3)
REST = st.fixed_dictionaries(
    {},
    optional={"annotations": HINTS | JUNK, "title": WORDS, "outputSchema": SCHEMAS, "strict": st.booleans()},
)
TOOLS = st.builds(
    ToolSpec,
    name=st.sampled_from(["read", "reed", "read_file", "rеad", "a"]),
    description=st.none() | WORDS,
    input_schema=st.none() | SCHEMAS,
    rest=REST,
)
SURFACES = st.lists(TOOLS, max_size=4).map(lambda tools: surface(*tools))
