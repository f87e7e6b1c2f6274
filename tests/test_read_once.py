"""What is not done twice: signatures that held, main that was explained, git that is at work already."""

import os
import shutil
import subprocess
import sys
import threading

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_govern import ADA, LEDGER, world
from made_ledger import Person, alone
from stores import git, made

from githarness import canon
from githarness.commands import governed, mainline, verify
from githarness.errors import CorruptError, MissingError
from githarness.govern import history as histories
from githarness.govern import sshsig
from githarness.govern.links import Links
from githarness.store import layout, proofs, snapshot, tidy
from githarness.store.ahead import Ahead
from githarness.store.derived import Derived
from githarness.store.find import open_store
from githarness.store.git import Git
from githarness.store.trees import Trees

WORDS = ("--guidance", "Read the test before you change what it tests.")
_, BOOK = alone()
TAG = next(iter(BOOK.load().entries.values()))


def counted(tmp_path, made, *words):
    """Run the program with a git that writes down what it is asked; return the first words."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = folder / "log"
    (folder / "git").write_text(
        f'#!/bin/sh\nfor word; do case $word in -*|*=*) ;; *) echo "$word" >> {log}; break;; esac; done\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    env = made.env() | {"PATH": f"{folder}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "githarness", "--store", str(made.path), *words]
    subprocess.run(command, env=env, check=True, capture_output=True)
    return log.read_text().split()


@pytest.mark.parametrize("count", [0, 1, 5])
def test_verify_runs_two_git_processes_whatever_there_is_to_verify(tmp_path, count):
    store = world(tmp_path)
    for number in range(count):
        store.land("--guidance", f"Line {number} of what the agent is told.")
    store.reject(store.propose("--guidance", "Something else."))
    assert counted(tmp_path, store, "verify", "--all") == ["for-each-ref", "cat-file"]


# Signatures.


def test_a_signature_that_held_is_a_proof_for_the_next_reading(tmp_path):
    store = world(tmp_path)
    store.approve(store.propose(*WORDS))
    kept = proofs.read(store.config, store.path)
    assert kept == store.read().ledger.proofs
    assert len(kept) == 2


@pytest.mark.parametrize("at", [30, 200, 700, -60])
def test_a_proof_is_for_exact_bytes(tmp_path, at):
    store = world(tmp_path)
    entry = store.approve(store.propose(*WORDS))
    data, ref = bytearray(store.data(entry)), store.tags()[entry]
    data[at] ^= 1
    store.plant(bytes(data), ref)
    assert entry not in store.read().ledger.entries


def test_verify_all_believes_no_proof(tmp_path):
    store = world(tmp_path)
    one = store.propose(*WORDS)
    head = store.head(one, ADA)
    data = head + ADA.sign(head + b"something else")
    entry = store.plant(data)
    assert entry not in store.read().ledger.entries
    proofs.keep(store.config, store.path, [canon.sha256(data)])
    assert entry in store.read().ledger.entries
    with open_store(store.path) as opened:
        found = verify.run(opened, store.config, Derived(None), everything=True)
    assert [one.rule for one in found.void] == ["signature"]


def test_a_ledger_read_with_proofs_is_the_ledger_read_without():
    person, book = alone()
    for number in range(40):
        book.decide(person, "reject" if number % 3 else "approve")
    book.decide(Person("eve"))
    loaded = book.load()
    assert book.load(proofs=loaded.proofs) == loaded
    assert book.load(known=loaded.entries.values()) == loaded


@given(st.sets(st.integers(0, 39)))
@settings(max_examples=20, deadline=None)
def test_many_signatures_are_verified_as_each_one_is(spoilt):
    person, tags = Person("ada"), {}
    for number in range(40):
        signed = b"%d" % number
        armor = person.sign(signed + b"!" if number in spoilt else signed)
        tags[str(number)] = msgspec.structs.replace(TAG, signed=signed, signature=sshsig.read(armor))
    links = Links(tags)
    links.prove(tags)
    assert {one for one in tags if not links.is_authentic(one)} == set(map(str, spoilt))


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o666), lambda path: path.unlink()])
def test_proofs_that_others_may_write_or_that_are_gone_prove_nothing(tmp_path, spoil):
    store = world(tmp_path)
    store.approve(store.propose(*WORDS))
    for path in (store.config / proofs.FOLDER).iterdir():
        spoil(path)
    assert proofs.read(store.config, store.path) == frozenset()
    assert store.verify().ok


def test_proofs_that_cannot_be_kept_stop_nobody(tmp_path):
    store = world(tmp_path)
    shutil.rmtree(store.config / proofs.FOLDER)
    (store.config / proofs.FOLDER).write_text("in the way")
    assert store.approve(store.propose(*WORDS))
    assert store.verify().ok


def test_bytes_that_were_spoilt_since_are_not_read_for_those_that_were_good():
    person, book = alone()
    entry = book.decide(person)
    loaded = book.load()
    data = book.data(entry)
    book.put(data.replace(b'"decision":"approve"', b'"decision":"reject" '), book.ref(entry))
    again = book.load(known=loaded.entries.values(), proofs=loaded.proofs)
    assert entry not in again.entries


# Main.


def line(store):
    with open_store(store.path) as opened:
        return mainline.explained(opened, store.read().walk.root, store.tip()).history()


def test_going_on_from_an_earlier_reading_explains_what_the_root_explains(tmp_path):
    store = world(tmp_path)
    first = store.land(*WORDS)
    with open_store(store.path) as opened:
        earlier = governed.load(opened, store.config)
        store.land("--set", "max_retries=5")
        store.rollback(first)
        later = governed.load(opened, store.config, before=earlier)
        assert earlier.walk.history().commits != later.walk.history().commits
        assert later.walk.history() == line(store)
        assert later.verdict == store.read().verdict


def test_a_step_that_says_what_changed_is_explained_as_one_that_does_not(tmp_path):
    store = world(tmp_path)
    first = store.land(*WORDS)
    store.land("--set", "max_retries=5")
    store.push({"knobs/max_retries": b"9\n", "overlay/0009-000000000000.md": b"x\n"})
    store.push({"knobs/max_retries": b"5\n", "overlay/0009-000000000000.md": None})
    store.rollback(first)
    with open_store(store.path) as opened:
        start = mainline.first(opened, store.read().walk.root)
        told = [start, *mainline.onward(opened, start, store.tip())]
    silent = [msgspec.structs.replace(step, changed=None) for step in told]
    assert [step.changed is None for step in told] == [True, *[False] * 5]
    assert histories.read(told) == histories.read(silent)
    assert len(histories.read(told).cured) == 2


def test_a_main_that_was_set_back_is_explained_from_the_root(tmp_path):
    store = world(tmp_path)
    store.land(*WORDS)
    with open_store(store.path) as opened:
        earlier = governed.load(opened, store.config)
        store.git("update-ref", layout.MAIN, f"{layout.MAIN}^")
        later = governed.load(opened, store.config, before=earlier)
    assert later.walk is not earlier.walk
    assert "main-rewound" in {one.rule for one in later.verdict.problems}


def test_what_somebody_lands_while_this_is_read_is_no_problem(tmp_path):
    store = world(tmp_path)
    with open_store(store.path) as opened:
        opened.begin(snapshot.read)
        opened._begun[snapshot.read][1].wait()
        store.land(*WORDS)
        found = governed.load(opened, store.config)
    assert found.tip == store.tip()
    assert found.verdict.ok


# Git.


def test_a_reading_that_was_begun_is_finished_once_and_then_made_anew(tmp_path):
    calls = []

    def read(store):
        calls.append(threading.current_thread())
        return store.tip(layout.MAIN)

    with open_store(made(tmp_path)) as store:
        store.begin(read)
        store.begin(read)
        assert store.is_begun(read)
        assert store.finish(read) == store.finish(read) == store.tip(layout.MAIN)
    assert len(calls) == 2
    assert calls[0] is not threading.main_thread()


def test_a_reading_that_failed_ahead_fails_where_it_is_waited_for(tmp_path):
    path = made(tmp_path)
    with open_store(path) as store:
        git(path, "update-ref", "-d", layout.MAIN)
        store.begin(snapshot.read)
        with pytest.raises(MissingError):
            store.finish(snapshot.read)


def test_a_reading_that_nobody_waits_for_ends_with_the_store(tmp_path):
    with open_store(made(tmp_path)) as store:
        store.begin(snapshot.read)
    assert not store.is_begun(snapshot.read)
    assert threading.active_count() == 1


def test_a_call_ahead_may_fail_and_succeed_later():
    answers = [FileNotFoundError("not yet"), "there"]

    def call():
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert Ahead(call).result() == "there"


def test_many_pairs_of_trees_are_compared_as_each_pair_is(tmp_path):
    store = world(tmp_path)
    for number in range(3):
        store.land("--guidance", f"Line {number}.")
    commits = store.git("rev-list", layout.MAIN).splitlines()
    trees = [None, *(store.git("rev-parse", f"{one}^{{tree}}") for one in commits)]
    pairs = [(old, new) for old in trees for new in trees]
    with open_store(store.path) as opened:
        together = list(Trees(opened).compared(pairs))
        assert together == [Trees(opened).differences(*pair) for pair in pairs]
    assert len(pairs) == 25


def test_a_tree_of_many_that_is_damaged_is_named(tmp_path):
    store = world(tmp_path)
    store.land(*WORDS)
    absent = "1" * 40
    with open_store(store.path) as opened, pytest.raises(CorruptError, match=absent):
        list(Trees(opened).compared([(None, store.git("rev-parse", "main^{tree}")), (None, absent)]))


def test_tidying_packs_the_tags_of_the_ledger_and_moves_none(tmp_path):
    store = world(tmp_path)
    store.approve(store.propose(*WORDS))
    before = store.tags()
    assert tidy.tidy(Git(store.path))
    assert not any((store.path / LEDGER).rglob("*/*/*"))
    assert store.tags() == before
    assert store.verify().ok
