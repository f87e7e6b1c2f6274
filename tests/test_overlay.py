"""Guidance entries: named by their text, ordered by file name, one file each."""

import pytest

from githarness.errors import CorruptError, MissingError, RefusedError, UnreadableError
from githarness.propose import overlay, text
from githarness.propose.overlay import Entry

# printf 'Read the file first.' | sha256sum
FIRST = "Read the file first."


def test_an_entry_is_named_by_the_sha256_of_its_text():
    assert Entry(1, FIRST).id == "bbec6f0b0ae74c784ad03f12ab07800e5c5c29d6f197cf9e7d362348605e4c7c"


def test_an_entrys_file_is_its_number_and_twelve_digits_of_its_id():
    assert Entry(7, FIRST).path == "overlay/0007-bbec6f0b0ae7.md"


def test_an_entrys_file_holds_the_text_and_one_line_feed():
    assert Entry(1, FIRST).data == b"Read the file first.\n"


def test_a_file_reads_back_as_the_entry_it_was():
    entry = Entry(7, "Two lines.\nThe second.")
    assert overlay.read(entry.path, entry.data) == entry


def test_new_guidance_comes_after_all_others():
    entries = overlay.append(overlay.append((), "b"), "a")
    assert [(entry.seq, entry.text) for entry in entries] == [(1, "b"), (2, "a")]


def test_a_dropped_entry_leaves_a_gap_that_keeps_the_order():
    entries = overlay.append((Entry(5, "kept"),), "new")
    assert [entry.seq for entry in entries] == [5, 6]


def test_entries_of_one_number_are_ordered_by_their_digests():
    entries = overlay.ordered([Entry(1, "a"), Entry(1, "b")])
    assert [entry.path for entry in entries] == sorted(entry.path for entry in entries)


def test_after_the_last_number_entries_share_it():
    assert {entry.seq for entry in overlay.append((Entry(overlay.LAST, "x"),), "y")} == {overlay.LAST}


def test_the_rendered_overlay_is_the_files_in_order():
    entries = (Entry(1, "one"), Entry(2, "two"))
    assert overlay.render(entries).encode() == b"".join(entry.data for entry in entries)


def test_no_guidance_renders_as_nothing():
    assert overlay.render(()) == ""


def test_a_text_under_another_texts_name_is_corrupt():
    with pytest.raises(CorruptError, match="another digest"):
        overlay.read(Entry(1, FIRST).path, b"Something else.\n")


@pytest.mark.parametrize(
    "path",
    [
        "overlay/1-bbec6f0b0ae7.md",
        "overlay/0000-bbec6f0b0ae7.md",
        "overlay/0001-bbec6f0b0ae7.md\n",
        "overlay/٠٠٠١-bbec6f0b0ae7.md",
        "overlay/0001-bbec6f0b0ae7.txt",
        "overlay/x/0001-bbec6f0b0ae7.md",
    ],
)
def test_a_name_in_any_other_form_is_no_entry(path):
    with pytest.raises(UnreadableError, match="no name of a guidance entry"):
        overlay.read(path, b"Read the file first.\n")


@pytest.mark.parametrize("data", [b"Read the file first.", b"", b"\xff\n"])
def test_a_file_without_its_line_feed_or_in_another_encoding_is_refused(data):
    with pytest.raises(UnreadableError):
        overlay.read(Entry(1, FIRST).path, data)


@pytest.mark.parametrize(
    "words", ["", " ", " padded", "padded\n", "zero\u200bwidth", "x" * (text.GUIDANCE_LIMIT + 1)]
)
def test_guidance_that_cannot_be_read_by_a_person_is_at_fault(words):
    assert overlay.fault(words) is not None


def test_an_unambiguous_beginning_names_an_entry():
    entries = (Entry(1, FIRST), Entry(2, "other"))
    assert overlay.resolve("bbec", entries) == entries[0].id


@pytest.mark.parametrize("prefix", ["", "b", "0000"])
def test_a_beginning_that_names_no_entry_or_is_too_short_is_missing(prefix):
    with pytest.raises(MissingError, match="in force are: bbec6f0b0ae7"):
        overlay.resolve(prefix, (Entry(1, FIRST),))


@pytest.mark.parametrize(
    ("character", "point"),
    [
        ("\0", "U+0000"), ("\x1b", "U+001B"), ("\r", "U+000D"), ("\x85", "U+0085"), ("\u00ad", "U+00AD"),
        ("\u200b", "U+200B"), ("\u200d", "U+200D"), ("\u202e", "U+202E"), ("\u2066", "U+2066"),
        ("\u2028", "U+2028"), ("\ufeff", "U+FEFF"), ("\ufe0f", "U+FE0F"), ("\U000e0041", "U+E0041"),
        ("\U000e0100", "U+E0100"), ("\u3164", "U+3164"), ("\ue000", "U+E000"), ("\ud800", "U+D800"),
    ],
)  # fmt: skip
def test_a_character_that_cannot_be_seen_is_named(character, point):
    assert text.unseen(f"plain{character}text") == (point,)


@pytest.mark.parametrize(
    "words", ["plain\ttext\n", "naïve café", "日本語", "а Cyrillic а", "😀 → ok", "שלום"]
)
def test_what_can_be_seen_is_not_hidden(words):
    assert text.hidden(words) == ()


def test_a_character_unknown_to_this_python_is_refused_when_proposed_and_not_when_read():
    assert text.hidden("\u0378") == ("U+0378",)
    assert text.fault("\u0378", 10) is None


def test_a_refusal_names_the_characters_and_what_held_them():
    with pytest.raises(RefusedError, match=r"the guidance holds .*U\+202E"):
        text.check("abc\u202edef", "the guidance", 100)
