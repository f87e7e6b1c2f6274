"""Laws of policies, trust, export and the terminal, end to end on a real store."""

import json
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from made_govern import ADA, BEN, CAT, EVE, LEDGER, NOW, World, world

from githarness import canon
from githarness.govern import payload, tag

ROOT = Path(__file__).parent.parent
FIVE = ("--set", "max_retries=5")
WORDS = ("--guidance", "Read the test before you change what it tests.")


# Who decides


def test_init_with_a_new_key_makes_a_ledger_that_verifies(tmp_path):
    made = World(tmp_path)
    code, found = made.ask("init", "--new-key", tmp_path / "own")
    assert (code, found["key"]) == (0, str(tmp_path / "own"))
    assert (made.verify().ok, made.verify().ledger) == (True, found["ledger"])
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600


def test_init_with_a_key_can_be_repeated_and_keeps_its_ledger(tmp_path):
    made = World(tmp_path)
    first = made.ask("init", "--key", made.key(ADA))[1]["ledger"]
    assert made.ask("init", "--key", made.key(ADA))[1]["ledger"] == first


def test_the_second_person_ends_self_approval(tmp_path):
    made = world(tmp_path)
    one = made.propose(*FIVE, person=ADA)
    made.approve(one)
    assert made.standing(one) == "approved"
    made.join(BEN)
    assert made.standing(one) == "pending"


def test_as_many_must_agree_as_the_threshold_says(tmp_path):
    made = world(tmp_path, BEN, CAT)
    assert made.policy("threshold", "*", "2")[0] == 0
    one = made.propose(*FIVE)
    made.approve(one, BEN)
    assert made.standing(one) == "pending"
    made.approve(one, CAT)
    assert made.standing(one) == "approved"


def test_a_policy_waits_until_its_root_approvers_have_signed(tmp_path):
    made = world(tmp_path, BEN)
    code, found = made.policy("threshold", "root", "2")
    assert (code, found["in_force"]) == (0, False)
    code, found = made.policy("sign", found["digest"][:12], person=BEN)
    assert (code, found["in_force"], found["policy"]["root"]["threshold"]) == (0, True, 2)


def test_init_again_makes_no_second_key_and_says_so(tmp_path):
    made = World(tmp_path)
    ledger = made.ask("init", "--new-key", tmp_path / "own")[1]["ledger"]
    again = made.ask("init", "--new-key", tmp_path / "own")[1]
    assert (again["ledger"], again["key"]) == (ledger, None)
    assert is_refused(made.ask("init", "--new-key", tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def is_refused(answer):
    code, found = answer
    return (code, found["kind"]) == (1, "refused")


def test_a_policy_that_nobody_in_office_signed_does_not_wait_for_anybody(tmp_path):
    made = world(tmp_path)
    digest = made.ask("policy", "show")[1]["digest"]
    taken = made.read().policy.model_dump(mode="json") | {"version": 2, "prev_policy": digest, "nonce": "ee"}
    taken["keys"] = {"eve": [EVE.key]}
    taken["root"] = {"approvers": ["eve"], "threshold": 1}
    taken["rules"] = {"*": {"approvers": ["eve"], "threshold": 1, "self_approval": True}}
    data = canon.encode(taken)
    target = made.git("hash-object", "-w", "--stdin", data=data)
    words = payload.PolicySignature(
        ledger=made.read().pin.ledger, policy=canon.sha256(data), prev=made.read().ledger.prev,
        principal="eve", key=EVE.fingerprint, nonce="0e",
    )  # fmt: skip
    head = tag.unsigned(target, words, NOW)
    made.plant(head + EVE.sign(head))
    junk = f"{LEDGER}policy/{canon.sha256(data)}/{'0' * 32}"
    made.plant(b"object " + target.encode() + b"\n", junk, "blob")
    assert made.ask("policy", "show")[1]["note"] == ""
    assert made.policy("sign", canon.sha256(data)[:12])[1]["kind"] == "missing"
    assert made.verify().ok


def test_one_of_two_keys_is_taken_off_and_what_it_signed_still_counts(tmp_path):
    made = world(tmp_path, BEN)
    one = made.propose(*WORDS)
    made.approve(one, BEN)
    made.policy("add", "ben", f"{made.key(CAT)}.pub")
    assert made.policy("remove", BEN.fingerprint)[1]["policy"]["keys"]["ben"] == [CAT.key]
    assert made.standing(one) == "approved"
    assert is_refused(made.policy("remove", BEN.fingerprint))


def test_who_may_approve_a_component_is_said_by_name(tmp_path):
    made = world(tmp_path, BEN)
    _, found = made.policy("approvers", "prompt", "ben")
    assert found["policy"]["rules"]["prompt"]["approvers"] == ["ben"]
    one = made.propose(*WORDS)
    made.approve(one, ADA)
    assert made.standing(one) == "pending"
    made.approve(one, BEN)
    assert made.standing(one) == "approved"
    assert is_refused(made.policy("approvers", "prompt", "nobody"))


def test_a_policy_that_waits_is_shown_before_it_is_signed(tmp_path):
    made = world(tmp_path, BEN)
    waiting = made.policy("threshold", "root", "2")[1]["digest"]
    code, found = made.ask("policy", "show", waiting[:12])
    assert (code, found["digest"], found["in_force"]) == (0, waiting, False)


def test_no_policy_is_changed_on_a_main_that_nobody_can_explain(tmp_path):
    made = world(tmp_path)
    made.push({"knobs/max_retries": b"9\n"})
    assert is_refused(made.policy("optimistic", "retry_config"))


def test_upholding_cures_what_a_revoked_key_unapproved(tmp_path):
    made = world(tmp_path, BEN)
    one = made.propose(*WORDS)
    entry = made.approve(one, BEN)
    made.apply()
    made.policy("revoke", BEN.fingerprint)
    assert made.verify().ok is False
    assert made.policy("revoke", BEN.fingerprint, "--uphold", entry)[0] == 0
    assert made.verify().ok


def test_a_store_with_a_ledger_is_not_given_a_second_one(tmp_path):
    made = world(tmp_path)
    other = elsewhere(made, tmp_path)
    code, found = other.ask("policy", "init", "--key", other.key(EVE))
    assert (code, found["kind"]) == (1, "refused")
    assert made.verify().ledger in found["hint"]


def test_a_threshold_that_nobody_could_meet_is_refused(tmp_path):
    code, found = world(tmp_path).policy("threshold", "*", "2")
    assert (code, found["kind"]) == (1, "refused")


def test_a_key_of_nobody_signs_no_policy(tmp_path):
    made = world(tmp_path)
    assert is_refused(made.policy("add", "eve", f"{made.key(EVE)}.pub", person=CAT))


def test_a_policy_of_a_person_who_is_unknown_is_refused(tmp_path):
    assert is_refused(world(tmp_path).policy("remove", "ben"))


def test_optimistic_components_are_listed_and_cleared(tmp_path):
    made = world(tmp_path)
    assert made.policy("optimistic", "retry_config")[1]["policy"]["optimistic"] == ["retry_config"]
    assert made.policy("optimistic")[1]["policy"]["optimistic"] == []


def test_a_later_higher_threshold_does_not_undo_what_landed(tmp_path):
    made = world(tmp_path, BEN)
    made.land(*WORDS)
    made.policy("threshold", "*", "2")
    assert made.verify().ok


# Whom a store is believed


def elsewhere(made, tmp_path):
    """The same store copied to another user, who never saw it."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copytree(made.path, folder / "store.git")
    return World(folder)


def test_without_a_pin_verify_knows_nothing_and_names_the_command(tmp_path):
    made = world(tmp_path)
    other = elsewhere(made, tmp_path)
    code, found = other.ask("verify")
    assert (code, found["ok"]) == (4, None)
    assert found["hint"].startswith("githarness trust ID, ")


def test_trust_pins_and_verifies_nothing(tmp_path):
    made = world(tmp_path)
    made.push({"knobs/max_retries": b"9\n"})
    other = elsewhere(made, tmp_path)
    code, found = other.ask("trust", made.verify().ledger)
    assert (code, found["ledger"]) == (0, made.verify().ledger)
    assert other.ask("verify")[0] == 1


def test_trust_without_an_id_shows_the_keys_of_what_could_be_pinned_and_pins_nothing(tmp_path):
    made = world(tmp_path)
    other = elsewhere(made, tmp_path)
    code, found = other.ask("trust")
    assert (code, found["ledger"]) == (4, None)
    assert found["candidates"] == {made.verify().ledger: {"ada": [ADA.fingerprint]}}


@pytest.mark.parametrize("verb", ["apply", "export", "rollback"])
def test_without_a_pin_nothing_is_decided_or_delivered(tmp_path, verb):
    made = world(tmp_path)
    one = made.land(*FIVE)
    other = elsewhere(made, tmp_path)
    code, found = other.ask(verb, *([one] if verb == "rollback" else []))
    assert (code, found["kind"]) == (3, "missing")
    assert found["hint"].startswith("githarness trust ")


def test_a_ledger_that_is_not_there_cannot_be_pinned(tmp_path):
    assert world(tmp_path).ask("trust", "abcdef")[0] == 3


# What is exported


def test_export_holds_defaults_and_what_is_in_force(tmp_path):
    made = world(tmp_path)
    made.land(*FIVE)
    found = made.ask("export")[1]
    assert found["knobs"] == {"max_retries": 5, "planning_max_replans": 2, "retry_backoff_ms": 0}
    assert found["commit"] == made.tip()


@pytest.mark.parametrize("form", ["text", "args", "claude-code", "codex", "gemini"])
def test_without_guidance_a_form_for_a_prompt_has_no_bytes(tmp_path, form):
    made = world(tmp_path)
    made.land(*FIVE)
    assert made.run("export", "--format", form) == (0, "", "")


HARD = 'Say "it\'s done" only when it is: é, 漢, 🙂 and \\ `x`\n\tnever $HOME.'


def exported(made, form):
    code, out, _ = made.run("export", "--format", form)
    assert code == 0
    return out


def test_every_form_gives_the_guidance_back_to_the_letter(tmp_path):
    made = world(tmp_path)
    made.land("--guidance", HARD)
    text = f"{HARD}\n"
    assert exported(made, "text") == text
    assert json.loads(exported(made, "json"))["overlay"] == text
    assert tomllib.loads(exported(made, "toml"))["overlay"] == text
    assert tomllib.loads(exported(made, "codex")) == {"developer_instructions": text}
    assert shlex.split(exported(made, "args")) == ["--append-system-prompt", text]
    said = json.loads(exported(made, "claude-code"))["hookSpecificOutput"]
    assert said == {"hookEventName": "SessionStart", "additionalContext": text}


def test_a_shell_reads_the_environment_as_it_was_meant(tmp_path):
    made = world(tmp_path)
    made.land("--guidance", HARD)
    script = f'{exported(made, "env")}printf %s "$GITHARNESS_OVERLAY"'
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode() == f"{HARD}\n"


def kept(made):
    """Every file of the export cache."""
    return [path for path in (made.folder / "cache").rglob("*") if path.is_file()]


def test_an_export_is_served_from_the_cache_while_nothing_changed(tmp_path):
    made = world(tmp_path)
    first = exported(made, "json")
    (path,) = kept(made)
    stamp = path.stat().st_mtime_ns
    assert exported(made, "json") == first
    assert path.stat().st_mtime_ns == stamp


def test_a_cache_that_was_tampered_with_is_not_served(tmp_path):
    made = world(tmp_path)
    made.land(*FIVE)
    first = exported(made, "json")
    (path,) = kept(made)
    path.write_bytes(path.read_bytes().replace(b'"max_retries":5', b'"max_retries":9'))
    assert exported(made, "json") == first


def test_an_older_export_put_in_the_place_of_the_newest_is_not_served(tmp_path):
    made = world(tmp_path)
    exported(made, "json")
    (path,) = kept(made)
    old = path.read_bytes()
    made.land(*FIVE)
    first = exported(made, "json")
    for one in kept(made):
        one.write_bytes(old)
    assert exported(made, "json") == first


def test_a_cached_export_is_not_served_once_an_entry_was_added(tmp_path):
    made = world(tmp_path, BEN)
    one = made.land(*WORDS)
    exported(made, "json")
    made.reject(one, BEN)
    assert made.run("export")[0] == 1


def test_a_cached_export_is_not_served_once_main_moved(tmp_path):
    made = world(tmp_path)
    exported(made, "json")
    made.push({"knobs/max_retries": b"9\n"})
    assert made.run("export")[0] == 1


def test_a_cached_export_is_not_served_under_another_pin(tmp_path):
    made = world(tmp_path)
    exported(made, "json")
    path = made.config / "trust.json"
    path.write_text(path.read_text().replace(made.verify().ledger, "7" * 64))
    code, found = made.ask("export")
    assert (code, found["kind"]) == (3, "missing")


def test_export_reads_no_branch_but_main(tmp_path):
    made = world(tmp_path)
    before = exported(made, "json")
    made.approve(made.propose(*FIVE))
    assert json.loads(exported(made, "json")) == json.loads(before)


@pytest.mark.parametrize(
    "words",
    [("threshold", "nosuch", "1"), ("approvers", "nosuch", "ada"), ("add", "Eve X", "KEY")],
    ids=["threshold", "approvers", "a name"],
)
def test_a_word_that_no_policy_can_hold_is_a_usage_error(tmp_path, words):
    made = world(tmp_path)
    code, found = made.policy(*(f"{made.key(EVE)}.pub" if word == "KEY" else word for word in words))
    assert (code, found["kind"]) == (2, "usage")
