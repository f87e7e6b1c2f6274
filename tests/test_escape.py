import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.render import escape


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J", r"\u{1b}[2J"),
        ("a\rb", r"a\u{d}b"),
        ("a\nb", r"a\u{a}b"),
        ("\u202eabc", r"\u{202e}abc"),
        ("a\u200bb", r"a\u{200b}b"),
        ("\U000e0041", r"\u{e0041}"),
        ("a\u00a0b", r"a\u{a0}b"),
        ("\ufe0f", r"\u{fe0f}"),
        ("\u3164", r"\u{3164}"),
        ("\x9b31m", r"\u{9b}31m"),
        ("\ud800", r"\u{d800}"),
        (r"\u{1b}", r"\u{5c}u{1b}"),
        (r"C:\new", r"C:\new"),
        ("Grüße 你好", "Grüße 你好"),
    ],
)
def test_what_is_not_plainly_visible_is_spelled_out(hostile, shown):
    assert escape.line(hostile) == shown


@settings(max_examples=300)
@given(st.text(), st.text())
def test_two_texts_never_look_the_same(one, two):
    assert (escape.line(one) == escape.line(two)) == (one == two)


@pytest.mark.parametrize("backslash", ["\\", "\\u", "\\u{", "\\\\u{5c}", "\\u{5c}u{1b}"])
def test_a_backslash_cannot_forge_an_escape(backslash):
    shown = escape.line(backslash)
    assert shown.replace("\\u{5c}", "\\") == backslash or "\\u{" not in shown


def test_every_character_comes_out_visible():
    for code in range(0x110000):
        for char in escape.line(chr(code)):
            assert char == " " or unicodedata.category(char)[0] not in "CZ"


def test_a_block_keeps_its_line_feeds_and_nothing_else():
    assert escape.block("a\nb\tc\r\n") == "a\nb\\u{9}c\\u{d}\n"


def test_a_cut_says_how_much_is_missing():
    assert escape.short("abcdefghij", 4) == "abcd… (+6)"
