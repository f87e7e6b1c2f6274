from pathlib import Path

import pytest

from githarness.errors import UnreadableError
from githarness.formats import detect, peek

MODULES = {path.stem for path in (Path(__file__).parent.parent / "githarness/formats").glob("*.py")}


@pytest.mark.parametrize("name", detect.names())
def test_a_format_is_found_under_its_own_name(name):
    form = detect.by_name(name)
    assert (form.name, detect.FORMATS[name] in MODULES) == (name, True)


def test_every_module_with_a_reader_is_in_the_list():
    with_reader = {
        stem
        for stem in MODULES
        if "\nREADER = " in (Path(__file__).parent.parent / f"githarness/formats/{stem}.py").read_text()
    }
    assert with_reader == set(detect.FORMATS.values())


def test_a_name_that_is_no_format_is_none():
    assert detect.by_name("surface") is None


def test_a_recording_whose_reader_is_gone_says_so():
    with pytest.raises(UnreadableError, match="no reader for the format 'gone'"):
        detect.read("gone", b"{}")


def test_what_nobody_claims_is_none():
    assert detect.session(peek.document(b'{"a":1}')) is None


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b'{"a":1}', 1),
        (b'{"a":1}\n', 1),
        (b'{"a":1}\n{"b":2}\n', 2),
        (b"{\n}\n", 1),
        (b'{"a":1}\n\nx', 2),
        (b"", 0),
    ],
)
def test_a_recording_is_split_as_its_reader_wants_it(data, count):
    assert len(peek.records(data)) == count
