import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import git, made

from githarness.store import batch, gitobject
from githarness.store.batch import Batch, Damaged, Large, Missing, Object
from githarness.store.git import Git

ABSENT = "0" * 39 + "1"


def blob(path, data):
    return git(path, "hash-object", "-w", "--stdin", data=data).decode().strip()


def answer(data, oid=None, size=None):
    """Frame a blob as git does."""
    oid = oid or gitobject.identify("blob", data, "sha1")
    return b"%s blob %d\n%s\n" % (oid.encode(), len(data) if size is None else size, data)


@settings(max_examples=50)
@given(st.binary(max_size=300), st.binary(max_size=40))
def test_any_answer_is_read_to_its_end_and_no_further(data, rest):
    pipe = io.BytesIO(answer(data) + rest)
    assert batch.receive(pipe, "x", "sha1").data == data
    assert pipe.read() == rest


@pytest.mark.parametrize(
    ("pipe", "why"),
    [
        (b"", "gave up"),
        (b"0123", "gave up"),
        (answer(b"abc")[:-3], "cut short"),
        (answer(b"abc", oid=ABSENT), "do not hash"),
        (answer(b"abc", size=2), "do not hash"),
    ],
)
def test_an_answer_that_is_not_whole_is_damaged(pipe, why):
    found = batch.receive(io.BytesIO(pipe), "x", "sha1")
    assert isinstance(found, Damaged)
    assert why in found.why


@pytest.mark.parametrize("pipe", [b"x missing\n", b"a b missing\n", b"x ambiguous\n", b" missing\n"])
def test_what_git_does_not_have_is_missing(pipe):
    assert batch.receive(io.BytesIO(pipe), "x", "sha1") == Missing(oid="x")


def test_one_process_answers_many_questions(tmp_path):
    path = made(tmp_path)
    oids = [blob(path, b"%d" % number) for number in range(5)]
    asking = Batch(Git(path), "sha1")
    assert [asking.get(oid).data for oid in oids] == [b"0", b"1", b"2", b"3", b"4"]
    assert asking.get(ABSENT) == Missing(oid=ABSENT)
    asking.close()


def test_closing_twice_or_before_the_first_question_is_harmless(tmp_path):
    path = made(tmp_path)
    asking = Batch(Git(path), "sha1")
    asking.close()
    oid = blob(path, b"x")
    assert asking.get(oid) == Object(oid=oid, kind="blob", data=b"x")
    asking.close()
    asking.close()


def test_a_process_that_was_killed_is_replaced(tmp_path):
    path = made(tmp_path)
    asking, oid = Batch(Git(path), "sha1"), blob(path, b"x")
    asking.get(oid)
    asking._process.kill()
    asking._process.wait()
    assert isinstance(asking.get(oid), Damaged)
    assert asking.get(oid).data == b"x"
    asking.close()


def test_among_many_a_missing_one_and_a_damaged_one_keep_their_places(tmp_path):
    path = made(tmp_path)
    good, bad = blob(path, b"good"), blob(path, b"bad")
    file = path / "objects" / bad[:2] / bad[2:]
    file.chmod(0o600)
    file.write_bytes((path / "objects" / good[:2] / good[2:]).read_bytes())
    found = list(batch.stream(Git(path), [good, ABSENT, bad, good], "sha1"))
    assert [one.data if isinstance(one, Object) else one.why for one in found] == [
        b"good", "missing", "its bytes do not hash to its name", b"good",
    ]  # fmt: skip


def test_an_object_over_the_limit_is_passed_over_and_the_next_one_is_read(tmp_path):
    path = made(tmp_path)
    oids = [blob(path, data) for data in (b"x" * 5_000_000, b"small", b"12345")]
    large, *rest = batch.stream(Git(path), oids, "sha1", limit=5)
    assert large == Large(oid=oids[0], kind="blob", size=5_000_000)
    assert [found.data for found in rest] == [b"small", b"12345"]


def test_an_object_over_the_limit_that_is_cut_short_is_damaged():
    found = batch.receive(io.BytesIO(answer(b"abc", size=300)), "x", "sha1", 2)
    assert (type(found), found.why) == (Damaged, "cut short")


def test_a_question_between_two_answers_of_many_is_answered_by_another_process(tmp_path):
    path = made(tmp_path)
    oids = [blob(path, b"%d" % number) for number in range(4)]
    asking = Batch(Git(path), "sha1")
    many = asking.many(oids)
    assert next(many).data == b"0"
    assert asking.get(oids[3]).data == b"3"
    assert [found.data for found in many] == [b"1", b"2", b"3"]
    assert asking.get(oids[0]).data == b"0"
    asking.close()


def test_one_process_answers_for_one_and_for_many_in_turn(tmp_path):
    path = made(tmp_path)
    oids = [blob(path, b"%d" % number) for number in range(3)]
    asking = Batch(Git(path), "sha1")
    asking.get(oids[0])
    first = asking._process.pid
    assert [found.data for found in asking.many([*oids, *oids])] == [b"0", b"1", b"2"] * 2
    asking.get(oids[1])
    assert asking._process.pid == first
    asking.close()


def test_many_that_nobody_reads_to_the_end_leave_no_answer_to_the_next_question(tmp_path):
    path = made(tmp_path)
    oids = [blob(path, b"%d" % number * 50_000) for number in range(9)]
    asking = Batch(Git(path), "sha1")
    many = asking.many(oids)
    next(many)
    many.close()
    assert asking.get(oids[5]).data == b"5" * 50_000
    assert list(asking.many([])) == []
    asking.close()
