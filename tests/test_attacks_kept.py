"""What was verified before: when a "yes" may be given again, and what makes a main one that was set back."""

import os
import shutil

import pytest
from made_govern import BEN, world

from githarness.commands import verify
from githarness.errors import CorruptError, MissingError
from githarness.store import layout
from githarness.store.derived import Derived
from githarness.store.find import open_store

WORDS = ("--guidance", "Read the test before you change what it tests.")


def test_a_yes_is_given_again_until_something_moves_and_all_replays(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    assert [made.verify().replayed for _ in range(3)] == [True, False, False]
    with open_store(made.path) as store:
        assert verify.run(store, made.config, Derived(made.config / "kept"), everything=True).replayed
    made.push({"knobs/max_retries": b"9\n"})
    assert [(made.verify().ok, made.verify().replayed)] == [(False, True)]


def test_a_yes_from_before_does_not_outlive_an_object_that_is_written_again_in_place(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    assert made.verify().ok
    for path in (made.path / "objects" / "pack").glob("*.pack"):
        data, before = path.read_bytes(), path.stat()
        path.chmod(0o644)
        path.write_bytes(data[:20] + bytes([data[20] ^ 1]) + data[21:])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(CorruptError):
        made.verify()


def test_a_kept_yes_that_somebody_put_into_the_cache_is_not_believed(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    assert made.verify().ok
    for path in (made.config / "kept").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b'"problems":[]', b'"problems": []'))
    assert made.verify().replayed


def test_a_branch_is_replayed_as_if_it_were_main_and_pins_nothing(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    made.verify()
    made.git("update-ref", "refs/heads/wild", layout.MAIN)
    made.push({"knobs/max_retries": b"9\n"}, ref="refs/heads/wild")
    pinned = made.read().pin
    with open_store(made.path) as store:
        kept = Derived(made.config / "kept")
        assert not verify.run(store, made.config, kept, ref="wild").ok
        assert verify.run(store, made.config, kept, ref="main").ok
        with pytest.raises(MissingError, match="names no commit"):
            verify.run(store, made.config, kept, ref="--all")
    assert made.read().pin == pinned


def test_a_merge_that_makes_an_older_main_its_first_parent_is_a_main_that_was_set_back(tmp_path):
    made = world(tmp_path)
    root = made.git("rev-parse", layout.MAIN)
    made.land(*WORDS)
    made.verify()
    swapped = made.git("commit-tree", f"{root}^{{tree}}", "-p", root, "-p", layout.MAIN, "-m", "merge")
    made.git("update-ref", layout.MAIN, swapped)
    assert "main-rewound" in made.rules()


def test_a_graft_does_not_hide_that_main_was_set_back(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    made.verify()
    later = made.git("rev-parse", layout.MAIN)
    root = made.git("rev-parse", f"{layout.MAIN}^")
    made.git("update-ref", layout.MAIN, root)
    (made.path / "info").mkdir(exist_ok=True)
    (made.path / "info" / "grafts").write_text(f"{root} {later}\n")
    assert "main-rewound" in made.rules()


def test_status_says_who_decides_alone_what_waits_and_whether_main_is_verified(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    made.propose("--set", "max_retries=5")
    made.reject(made.propose("--set", "max_retries=6"))
    code, said = made.ask("status")
    assert (code, said["verified"], said["waiting"], said["alone"]) == (0, True, 1, ["*"])
    made.join(BEN)
    assert made.ask("status")[1]["alone"] == []
    made.push({"knobs/max_retries": b"9\n"})
    assert (made.ask("status")[0], made.ask("status")[1]["verified"]) == (1, False)


def test_a_no_of_verify_takes_back_what_export_had_kept(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    assert made.run("export")[0] == 0
    made.push({"knobs/max_retries": b"9\n"})
    assert made.run("verify")[0] == 1
    made.git("update-ref", layout.MAIN, f"{layout.MAIN}^")
    assert made.read().pin.states == ()


def test_an_object_that_verify_could_not_read_is_exported_by_nobody(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    assert made.run("export")[0] == 0
    for path in (made.path / "objects" / "pack").glob("*.pack"):
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:60])
    assert made.run("verify", "--all")[0] == 3
    assert made.run("export")[0] == 3


def test_a_ref_whose_name_is_no_text_is_void_and_the_answer_is_given(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    name = os.fsencode(str(made.path / layout.LEDGER)) + b"caf\xe9"
    with open(name, "w") as ref:  # noqa: PTH123 - a name that is no text
        ref.write(f"{made.tip()}\n")
    for words in (("verify",), ("verify",), ("verify", "--all")):
        code, found = made.ask(*words)
        assert (code, found["ok"]) == (0, True)
    assert made.run("verify")[0] == 0


def test_a_decision_whose_tag_is_gone_is_listed_and_survives_the_rollback_of_its_change(tmp_path):
    made = world(tmp_path)
    first = made.propose(*WORDS)
    entry = made.approve(first)
    made.apply()
    made.land("--set", "max_retries=5")
    made.drop(entry)
    found = made.verify()
    assert (found.ok, [ref.rsplit("/", 1)[1] for ref in found.lost]) == (True, [entry])
    made.rollback(first)
    assert (made.verify().ok, entry in made.tags()) == (True, True)


def test_apply_writes_a_lost_tag_again(tmp_path):
    made = world(tmp_path)
    entry = made.approve(made.propose(*WORDS))
    made.apply()
    made.drop(entry)
    made.apply()
    assert entry in made.tags()


def test_a_copy_is_kept_where_its_tag_was_spoilt_and_its_change_is_taken_back(tmp_path):
    made = world(tmp_path)
    one = made.propose(*WORDS)
    entry = made.approve(one)
    made.apply()
    made.plant(made.data(entry)[:-60] + b"\n", made.tags()[entry])
    made.rollback(one)
    assert made.verify().ok
    assert [path for path in made.files() if path.endswith(entry)]


def test_what_was_deleted_by_agreement_is_forgotten_by_a_persons_word_alone(tmp_path):
    made = world(tmp_path)
    entry = made.reject(made.propose(*WORDS))
    made.drop(entry)
    ledger = made.verify().ledger
    assert made.rules() == {"entry-missing"}
    made.ask("trust", ledger)
    assert made.rules() == {"entry-missing"}
    assert made.ask("trust", ledger, "--forget")[0] == 0
    assert made.verify().ok


def test_a_file_in_place_of_a_branch_hides_the_packed_one_as_it_does_for_git(tmp_path):
    made = world(tmp_path)
    made.git("pack-refs", "--all")
    (made.path / layout.MAIN).write_text("garbage\n")
    assert made.run("verify", "--all")[0] == 3
    assert made.run("export")[0] == 3


def test_a_review_says_that_an_approval_has_expired(tmp_path):
    made = world(tmp_path)
    one = made.propose(*WORDS)
    made.approve(one, expires=made.time + 9)
    assert made.ask("review", one)[1]["standing"] == "pending"


@pytest.mark.parametrize("seconds", ["9" * 30, "-1", "soon"])
def test_a_time_that_is_none_is_a_usage_error(tmp_path, seconds):
    made = world(tmp_path)
    code, found = made.ask("approve", made.propose(*WORDS), "--expires", seconds)
    assert (code, found["kind"]) == (2, "usage")


def test_a_cache_that_was_emptied_is_filled_again(tmp_path):
    made = world(tmp_path)
    made.land(*WORDS)
    assert [made.verify().replayed for _ in range(2)] == [True, False]
    shutil.rmtree(made.config / "kept")
    assert [made.verify().replayed for _ in range(2)] == [True, False]
