import os
import time

import pytest
from stores import git, made, object_file, revise, run_id, unpack, write

from githarness import canon
from githarness.store import check, layout
from githarness.store.check import Problem, fsck
from githarness.store.find import open_store
from githarness.store.lock import Lock

PART = b"one\n"
DIGEST = canon.sha256(PART)
RUN = layout.run(run_id(1))


def found(path):
    with open_store(path) as store:
        return list(fsck(store, now=time.time()))


def rules(path):
    return {problem.rule for problem in found(path)}


def citing(parts=(), **more):
    return canon.encode({"recording": {"parts": [{"digest": digest} for digest in parts]}} | more)


def test_a_good_store_has_no_problems(tmp_path):
    path = made(tmp_path)
    write(path, PART, run=1, text=citing([DIGEST]))
    assert found(path) == []


@pytest.mark.parametrize(
    "lock",
    ["refs/heads/recordings.lock", "refs/tags/a/b.lock", "packed-refs.lock", "HEAD.lock", "index.lock"],
)
def test_a_lock_of_gits_is_named_with_its_age(tmp_path, lock):
    path = made(tmp_path)
    (path / lock).parent.mkdir(parents=True, exist_ok=True)
    (path / lock).write_text("")
    os.utime(path / lock, (1000, 1000))
    with open_store(path) as store:
        (problem,) = check.obstacles(store, now=1060.4)
    assert (problem.rule, problem.path) == ("stale-lock", lock)
    assert problem.message.startswith("has stood for 60 s")


def test_our_own_locks_are_no_obstacle(tmp_path):
    path = made(tmp_path)
    (path / layout.TIDY_LOCK).write_text("")
    assert found(path) == []


LEFT = ("fast_import_crash_1", "objects/pack/tmp_pack_x", "objects/ab/tmp_obj_y", "tmp_mend_z/x")


def leave(path, *names, age=3700):
    """Put what git leaves into a store, written `age` seconds ago."""
    for name in names:
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text("")
        then = time.time() - age
        os.utime(path / name, (then, then))
        os.utime((path / name).parent, (then, then))
    return path


def left_over(path):
    with open_store(path) as store:
        return [problem.path for problem in check.obstacles(store, now=time.time())]


def test_what_a_killed_git_left_is_named_of_every_kind(tmp_path):
    assert left_over(leave(made(tmp_path), *LEFT)) == sorted([*LEFT[:3], "tmp_mend_z"])


def test_what_a_git_at_work_may_still_write_is_no_leftover(tmp_path):
    assert left_over(leave(made(tmp_path), *LEFT, age=3500)) == []


def test_while_a_writer_of_ours_commits_nothing_is_a_leftover(tmp_path):
    path = leave(made(tmp_path), *LEFT)
    with Lock(path / layout.WRITE_LOCK):
        assert left_over(path) == []


def test_a_leftover_is_only_to_be_removed_when_nobody_is_at_work(tmp_path):
    with open_store(leave(made(tmp_path), LEFT[0])) as store:
        (problem,) = check.obstacles(store, now=time.time())
    assert "when no git process is at work: rm " in problem.message


def test_a_damaged_object_is_found_by_its_path(tmp_path):
    path = made(tmp_path)
    write(path, PART, b"two\n")
    unpack(path)
    object_file(path, layout.part(DIGEST)).write_bytes(b"")
    problems = found(path)
    assert {problem.rule for problem in problems} == {"git-fsck", "damaged"}
    assert [problem.path for problem in problems if problem.rule == "damaged"] == [layout.part(DIGEST)]


def test_a_file_that_is_not_what_its_name_says_is_found(tmp_path):
    path = made(tmp_path)
    revise(path, layout.part("a" * 64), lambda _: b"x")
    assert found(path) == [
        Problem(
            rule="misnamed", path=layout.part("a" * 64), message="the SHA-256 of the file is not its name"
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        citing(["b" * 64]),
        citing(surfaces=[{"position": 0, "digest": "b" * 64}]),
        citing(prompts=[{"position": 0, "digest": "b" * 64, "withheld": False}]),
        citing(surfaces={"conflict": [[{"digest": DIGEST, "withheld": True}], [{"digest": "b" * 64}]]}),
    ],
)
def test_a_citation_of_what_is_not_there_is_found(tmp_path, text):
    path = made(tmp_path)
    write(path, run=1, text=text)
    (problem,) = found(path)
    assert (problem.rule, problem.path) == ("missing-file", RUN)
    assert "b" * 64 in problem.message


def test_what_was_withheld_was_never_there_to_be_missing(tmp_path):
    path = made(tmp_path)
    write(path, run=1, text=citing(surfaces=[{"digest": "b" * 64, "withheld": True}]))
    assert found(path) == []


def test_what_was_purged_is_not_missing(tmp_path):
    path = made(tmp_path)
    write(path, run=1, text=citing(["b" * 64]))
    revise(path, layout.purged("b" * 64), lambda _: b"")
    assert found(path) == []


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"null", b"{}", b'{"recording":{}}', b'{"recording":{"parts":[1]}}', citing(["../../x"]),
     citing([None]), citing(surfaces={"other": []}), citing(surfaces=7)],
)  # fmt: skip
def test_a_manifest_that_is_none_is_a_problem_and_no_traceback(tmp_path, text):
    path = made(tmp_path)
    write(path, run=1, text=text)
    assert rules(path) == {"unreadable-manifest"}


def test_whoever_asks_may_stop_at_the_first_problem(tmp_path):
    path = made(tmp_path)
    leave(path, LEFT[0])
    with open_store(path) as store:
        assert next(iter(fsck(store, now=time.time()))).rule == "leftover"


def test_a_commit_that_is_damaged_is_seen_by_git(tmp_path):
    path = made(tmp_path)
    write(path, PART)
    main = git(path, "rev-parse", "main").decode().strip()
    unpack(path)
    (path / "objects" / main[:2] / main[2:]).unlink()
    assert rules(path) == {"git-fsck"}
