from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.capture import parts
from githarness.capture.parts import PART, Cutter, cut

LINE = b"x" * 99_999 + b"\n"


def test_a_part_ends_at_the_first_line_end_at_or_past_its_size():
    assert [len(part) for part in cut(LINE * 4)] == [300_000, 100_000]


def test_a_line_end_exactly_at_the_size_ends_the_part():
    assert [len(part) for part in cut(b"a" * (PART - 1) + b"\n" + b"b")] == [PART, 1]


def test_a_long_last_line_without_an_end_stays_whole():
    assert cut(b"a" * (PART * 3)) == [b"a" * (PART * 3)]


def test_nothing_makes_no_part():
    assert cut(b"") == []


def test_appending_never_moves_an_earlier_cut():
    before, after = cut(LINE * 7), cut(LINE * 7 + b"more\n")
    assert after[: len(before) - 1] == before[:-1]


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 90_000), max_size=12), st.lists(st.integers(1, 200_000), min_size=1, max_size=9)
)
def test_cuts_do_not_depend_on_how_the_bytes_arrive(lengths, blocks):
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    cutter, done, at = Cutter(), [], 0
    for size in blocks * (len(data) // sum(blocks) + 1):
        done += cutter.add(data[at : at + size])
        at += size
    done += [cutter.rest()] if cutter.rest() else []
    assert done == cut(data)
    assert b"".join(done) == data


def test_the_size_of_a_part_is_fixed_for_ever():
    assert parts.PART == 262_144
