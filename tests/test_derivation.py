"""Component, class and need of a person: from the content, and only ever raised."""

import pytest
from made_state import DEFAULT, declared

from githarness.errors import RefusedError
from githarness.propose import derivation, knobs
from githarness.propose.patch import make

DECLARATION = knobs.parse(DEFAULT)
GUIDANCE = {"add_guidance": ("Read the file first.",)}


def derive(keys, declaration=DECLARATION, **labels):
    return derivation.derive(make(**keys), declaration, **labels)


def one(**fields):
    """A declaration of the knob `it`, bounded 0 to 9 and not affecting safety."""
    return knobs.parse(declared("integer", minimum=0, maximum=9, **{"safety": "false"} | fields))


@pytest.mark.parametrize(
    ("keys", "component", "kind"),
    [
        ({"set": {"max_retries": 5}}, "retry_config", "config"),
        ({"unset": ("planning_max_replans",)}, "planning_config", "config"),
        ({"set": {"compact_at_tokens": 8000}}, "context_budget", "config"),
        (GUIDANCE, "prompt", "prose"),
        ({"drop_guidance": ("0" * 64,)}, "prompt", "prose"),
        ({"describe": {"grep": "Search."}}, "tool_schema", "prose"),
        ({"undescribe": ("grep",)}, "tool_schema", "prose"),
        ({"declare": "version = 1\n"}, "declaration", "architecture"),
        ({"design": "Split the agent in two."}, "workflow_topology", "architecture"),
        ({"set": {"not_declared": 1}}, "workflow_topology", "architecture"),
    ],
)
def test_component_and_class_follow_from_the_keys_of_a_patch(keys, component, kind):
    found = derive(keys)
    assert (found.component, found.change_class) == (component, kind)


@pytest.mark.parametrize(
    ("component", "kind"), [("validator", "security"), ("permission_rule", "security"), ("prompt", "prose")]
)
def test_a_knob_of_a_safety_affecting_component_has_that_class(component, kind):
    found = derive({"set": {"it": 1}}, one(component=f'"{component}"'))
    assert (found.component, found.change_class, found.needs_person) == (component, kind, True)


@pytest.mark.parametrize("keys", [{"set": {"max_retries": 5}}, {"unset": ("max_retries",)}])
def test_a_bounded_number_that_affects_no_safety_needs_no_person(keys):
    assert not derivation.needs_person(make(**keys), DECLARATION)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        (GUIDANCE, "text that a model reads"),
        ({"drop_guidance": ("0" * 64,)}, "text that a model reads"),
        ({"describe": {"grep": ""}}, "text that a model reads"),
        ({"undescribe": ("grep",)}, "text that a model reads"),
        ({"declare": "version = 1\n"}, "what may be set"),
        ({"design": "Split the agent."}, "only a person"),
        ({"set": {"not_declared": 1}}, "not declared"),
        ({"set": {"effort": "low"}}, "no number"),
        ({"unset": ("max_turns",)}, "no value"),
        ({"set": {"max_retries": 5}} | GUIDANCE, "text that a model reads"),
        ({"design": "Turn the sandbox off."}, "'sandbox'"),
    ],
)
def test_everything_else_needs_a_person_and_says_why(keys, why):
    assert any(why in reason for reason in derivation.reasons(make(**keys), DECLARATION))


def test_a_knob_that_is_declared_safe_by_nobody_needs_a_person():
    silent = knobs.parse(declared("integer", minimum=0, maximum=9, component='"retry_config"'))
    assert derivation.needs_person(make(set={"it": 1}), silent)


def test_a_change_of_two_components_is_refused_and_both_are_named():
    with pytest.raises(RefusedError, match="prompt, retry_config"):
        derive({"set": {"max_retries": 5}} | GUIDANCE)


def test_a_retry_labelled_patch_that_carries_text_needs_a_person():
    found = derive(GUIDANCE, labelled_component="retry_config", labelled_class="config")
    assert (found.component, found.change_class, found.needs_person) == ("prompt", "prose", True)


def test_what_was_derived_otherwise_than_labelled_is_noted():
    found = derive(GUIDANCE, labelled_component="retry_config", labelled_class="config")
    assert "labelled config, raised to prose" in found.notes[0]
    assert "labelled retry_config: by what it contains it is prompt" in found.notes[1]


def test_a_label_that_agrees_leaves_no_note():
    assert derive({"set": {"max_turns": 40}}, labelled_class="config").notes == ()


def test_a_label_may_raise_the_class_of_a_number():
    found = derive({"set": {"max_turns": 40}}, labelled_class="security")
    assert (found.change_class, found.needs_person) == ("security", True)


def test_a_component_label_may_raise_the_need_and_never_the_component():
    found = derive({"set": {"max_turns": 40}}, labelled_component="validator")
    assert (found.component, found.needs_person) == ("planning_config", True)


@pytest.mark.parametrize("label", ["config", "prose"])
def test_a_label_lowers_nothing(label):
    assert derive({"design": "Turn the sandbox off."}, labelled_class=label).change_class == "security"


@pytest.mark.parametrize(
    "words",
    [
        "Run without the sandbox.",
        "Run without the SAND-BOX.",
        "Run without the s a n d b o x.",
        "Run without the ѕаndbох.",  # in Cyrillic letters that look alike
        "Set security.level to low.",
        "Approve what the person would approve.",
        "allowed_domains may grow",
    ],
)
def test_words_of_confinement_make_a_change_security_in_any_spelling(words):
    assert derive({"add_guidance": (words,)}).change_class == "security"


def test_a_guarded_word_in_a_knobs_own_name_needs_a_person():
    source = 'version = 1\n[knob.sandbox_level]\ntype = "integer"\nminimum = 0\nmaximum = 3\n'
    safe = knobs.parse(source + 'component = "retry_config"\nsafety = false\n')
    assert derive({"set": {"sandbox_level": 0}}, safe).change_class == "security"


@pytest.mark.parametrize("words", ["Read the file first.", "Use fewer tokens.", "Retry what timed out."])
def test_ordinary_guidance_is_prose(words):
    assert derive({"add_guidance": (words,)}).change_class == "prose"


def test_no_declared_knob_of_the_bundled_file_is_guarded_by_its_name():
    assert not derivation.guarded(make(unset=tuple(DECLARATION.knob)))


def test_a_note_about_many_changes_stays_one_line():
    found = derive({"unset": tuple(f"k{n}" for n in range(32))}, labelled_class="config")
    assert "and 29 more" in found.notes[0]
