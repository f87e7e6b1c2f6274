import pytest

from githarness.capture import source
from githarness.errors import UnreadableError


def test_what_is_appended_while_reading_does_not_count(tmp_path):
    path = tmp_path / "grows"
    path.write_bytes(b"one\n")
    found = source.file(path)
    path.write_bytes(b"one\ntwo\n")
    assert found.read() == b"one\n"


def test_a_range_of_blocks_is_that_range():
    found = source.memory("m", bytes(range(256)) * 8192)
    assert b"".join(found.blocks(10, 1_500_000)) == found.read()[10:1_500_000]


def test_a_file_that_shrinks_while_read_ends(tmp_path):
    path = tmp_path / "shrinks"
    path.write_bytes(b"x" * 100)
    found = source.file(path)
    path.write_bytes(b"x")
    assert found.read() == b"x"


def test_a_file_that_may_not_be_read_is_said_so(tmp_path):
    path = tmp_path / "closed"
    path.mkdir()
    with pytest.raises(UnreadableError, match="directory"):
        source.file(path)


def test_a_line_over_fifty_megabytes_is_refused_by_number():
    found = source.memory("big.jsonl", b'{"a":1}\n' + b"x" * 50_000_001 + b"\n{}\n")
    with pytest.raises(UnreadableError, match=r"big\.jsonl: line 2 is over 50 MB"):
        source.refuse_long_lines(found)


def test_many_short_lines_of_more_than_fifty_megabytes_are_fine(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as stream:
        for _ in range(60):
            stream.write(b"y" * 999_999 + b"\n")
    source.refuse_long_lines(source.file(path))
    assert path.stat().st_size == 60_000_000
