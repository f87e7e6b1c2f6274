"""Filters are checked before anything is read: a typing error is no empty answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.commands import filters
from githarness.errors import UsageError

NOW = 1_780_000_000


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("2026", "2026"),
        ("2026-11", "2026-11"),
        ("2026-11-01", "2026-11-01"),
        ("2026-11-01 14:05", "2026-11-01T14:05"),
        ("2026-11-01T14:05:06.123Z", "2026-11-01T14:05:06"),
        ("2026-11-01T00:30:00+02:00", "2026-10-31T22:30:00"),
        ("7d", "2026-05-21T20:26:40"),
        ("12h ago", "2026-05-28T08:26:40"),
    ],
)
def test_a_time_is_the_beginning_of_an_iso_time_or_an_age(words, meant):
    assert filters.since(words, NOW) == meant


@pytest.mark.parametrize(
    "words",
    ["", "yesterday", "2026-13", "2026-11-31", "2026-1", "T14", "2026T14", "2026-11-01Z", "1577836800d"],
)
def test_what_is_no_time_is_a_usage_error(words):
    with pytest.raises(UsageError, match="not a time"):
        filters.since(words, NOW)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=24) | st.from_regex(r"[0-9T:+ -]{1,20}", fullmatch=True))
def test_any_word_is_a_time_or_a_usage_error(words):
    try:
        found = filters.since(words, NOW)
    except UsageError:
        return
    assert found is not None
    assert found[:4].isdecimal()


def test_a_digest_is_told_in_either_case():
    assert filters.digest("--surface", "AB12") == "ab12"


@pytest.mark.parametrize("words", ["", "xyz", "ab ", "a" * 65, "\u0661"])
def test_what_is_no_digest_is_a_usage_error(words):
    with pytest.raises(UsageError, match="not the beginning of a digest"):
        filters.digest("--state", words)


def test_what_was_not_given_stays_ungiven():
    assert filters.checked({"since": None, "surface": None, "agent": "a"}, NOW) == {
        "since": None,
        "surface": None,
        "agent": "a",
    }
