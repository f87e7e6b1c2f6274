import re
from pathlib import Path

from githarness.cli import VERBS
from githarness.cli_reference import reference

ROOT = Path(__file__).parent.parent


def test_the_command_reference_is_what_help_says():
    assert (ROOT / "docs/cli.md").read_text() == reference()


def test_every_verb_of_the_readme_exists():
    shown = re.findall(r"^\$ githarness (?:--\S+ )*([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert set(shown) <= set(VERBS)
    assert len(shown) > 3


def test_every_linked_page_exists():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_verb_says_its_exit_codes():
    assert reference().count("Exit codes:") == len(VERBS) + 1
