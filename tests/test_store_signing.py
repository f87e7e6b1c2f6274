import os
import stat
import subprocess

import pytest
from made_branch import ENV, fake, key, script
from stores import ROOT

from githarness.errors import MissingError, RefusedError, StorageError, UnreadableError
from githarness.store import signing

DATA = b"object 0\n\nsubject\n\xff\x00 any bytes"
# Fails at once instead of asking on whatever terminal the tests run in.
NO_PROMPT = ENV | {"SSH_ASKPASS": "/bin/false", "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}


def verified(private, data, signature, namespace="git"):
    """Have ssh-keygen check a signature; return its exit code."""
    allowed, proof, public = (private.with_name(name) for name in ("allowed", "proof", f"{private.name}.pub"))
    allowed.write_text(f"somebody {public.read_text()}")
    proof.write_bytes(signature)
    command = ["ssh-keygen", "-Y", "verify", "-n", namespace, "-I", "somebody", "-f", allowed, "-s", proof]
    return subprocess.run(command, input=data, capture_output=True, check=False).returncode


def configured(home, text):
    home.mkdir(exist_ok=True)
    (home / ".gitconfig").write_text(text)
    return home


def find(tmp_path, explicit=None, home=None):
    return signing.find_key(explicit, cwd=tmp_path, home=home or tmp_path)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_what_was_signed_verifies_and_nothing_else_does(tmp_path, kind):
    private = key(tmp_path, kind=kind)
    signature = signing.sign(private, DATA, env=ENV)
    assert verified(private, DATA, signature) == 0
    assert verified(private, DATA + b"x", signature) != 0
    assert verified(private, DATA, signature, namespace="file") != 0


def test_the_signature_is_one_armored_block_and_nothing_else(tmp_path):
    signature = signing.sign(key(tmp_path), b"", env=ENV)
    assert signature.startswith(b"-----BEGIN SSH SIGNATURE-----\n")
    assert signature.endswith(b"\n-----END SSH SIGNATURE-----\n")


def test_a_path_that_looks_like_an_option_is_a_path(tmp_path):
    assert signing.sign(key(tmp_path, "-key"), DATA, env=ENV)


def test_an_agent_signs_with_the_public_file_alone(tmp_path):
    private, socket = key(tmp_path), tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE)
    try:
        agent.stdout.readline()
        env = ENV | {"SSH_AUTH_SOCK": str(socket)}
        subprocess.run(["ssh-add", "-q", str(private)], env=env, check=True, capture_output=True)
        private.unlink()
        signature = signing.sign(tmp_path / "id.pub", DATA, env=env)
    finally:
        agent.kill()
        agent.communicate()
    assert verified(tmp_path / "id", DATA, signature) == 0


def test_a_public_file_without_an_agent_says_what_to_do(tmp_path):
    private = key(tmp_path)
    private.rename(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match=r"id\.pub could not sign") as error:
        signing.sign(tmp_path / "id.pub", DATA, env=NO_PROMPT)
    assert f"ssh-add {private}" in error.value.hint


def test_a_passphrase_that_nobody_gives_is_an_error_and_no_wait(tmp_path):
    private = key(tmp_path, passphrase="something long")
    with pytest.raises(StorageError, match=r"could not sign: .*passphrase"):
        signing.sign(private, DATA, env=NO_PROMPT)


def test_a_key_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingError, match=r"no key at .*nothing"):
        signing.sign(tmp_path / "nothing", DATA, env=ENV)


def test_a_file_that_is_no_key_is_named(tmp_path):
    (tmp_path / "junk").write_text("junk")
    (tmp_path / "junk").chmod(0o600)
    with pytest.raises(StorageError, match="junk could not sign"):
        signing.sign(tmp_path / "junk", DATA, env=NO_PROMPT)


def test_without_the_program_the_answer_says_what_to_install(tmp_path):
    with pytest.raises(MissingError, match="ssh-keygen is not on the PATH") as error:
        signing.sign(key(tmp_path), DATA, env={"PATH": str(tmp_path / "empty")})
    assert "OpenSSH 8.2" in error.value.hint


def test_a_program_in_a_relative_folder_is_not_run(tmp_path, monkeypatch):
    private = key(tmp_path)
    script(tmp_path / "bin", "ssh-keygen", "open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingError):
        signing.sign(private, DATA, env={"PATH": "bin"})


def test_a_program_too_old_to_sign_says_what_to_install(tmp_path):
    env = fake(tmp_path / "bin", "import sys; sys.exit('unknown option -- Y\\nusage: ssh-keygen [-q]')")
    with pytest.raises(StorageError) as error:
        signing.sign(key(tmp_path), DATA, env=env)
    assert error.value.hint == "install OpenSSH 8.2 or newer"


def test_a_program_that_hangs_is_ended(tmp_path):
    env = fake(tmp_path / "bin", "import time; time.sleep(60)")
    with pytest.raises(StorageError, match=r"did not answer within 0\.2 s"):
        signing.sign(key(tmp_path), DATA, env=env, patience=0.2)


@pytest.mark.parametrize("said", ["", "garbage", "-----BEGIN SSH SIGNATURE-----"])
def test_a_program_that_prints_no_signature_is_not_believed(tmp_path, said):
    with pytest.raises(StorageError, match="gave no signature"):
        signing.sign(key(tmp_path), DATA, env=fake(tmp_path / "bin", f"print({said!r})"))


def test_the_program_is_given_nothing_of_the_environment_but_what_signing_needs(tmp_path):
    env = fake(tmp_path / "bin", "import os, sys; sys.exit(' '.join(sorted(os.environ)))")
    with pytest.raises(StorageError) as error:
        signing.sign(key(tmp_path), DATA, env=env | {"LD_PRELOAD": "x", "GIT_DIR": "x", "SSH_AUTH_SOCK": "x"})
    assert "SSH_AUTH_SOCK" in error.value.message
    assert "GIT_DIR" not in error.value.message


def test_it_stays_in_our_process_group_so_that_it_can_ask_on_the_terminal(tmp_path):
    env = fake(tmp_path / "bin", "import os, sys; sys.exit(str(os.getpgrp()))")
    with pytest.raises(StorageError, match=f"sign: {os.getpgrp()}$"):
        signing.sign(key(tmp_path), DATA, env=env)


def test_the_public_half_is_type_and_base64_without_the_comment(tmp_path):
    private = key(tmp_path)
    words = (tmp_path / "id.pub").read_text().split()
    assert words[2:] == ["a", "comment"]
    assert signing.public_key(private, env=ENV) == signing.public_key(tmp_path / "id.pub", env=ENV)
    assert signing.public_key(private, env=ENV) == " ".join(words[:2])


def test_the_public_half_is_told_by_the_private_one_when_its_file_is_gone(tmp_path):
    private = key(tmp_path)
    before = signing.public_key(private, env=ENV)
    (tmp_path / "id.pub").unlink()
    assert signing.public_key(private, env=ENV) == before


@pytest.mark.parametrize("text", ["", "junk", "ssh-ed25519", "ssh-ed25519 !!!", "a b\nc d", "\x1b[31m x"])
def test_a_public_file_that_holds_no_key_is_named(tmp_path, text):
    private = key(tmp_path)
    (tmp_path / "id.pub").write_text(text)
    with pytest.raises(UnreadableError, match=r"id\.pub does not hold one public key"):
        signing.public_key(private, env=ENV)


def test_a_new_key_signs_and_is_its_owners_alone(tmp_path):
    made = signing.new_key(tmp_path / "deep" / "er" / "key", env=ENV)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert verified(made, DATA, signing.sign(made, DATA, env=ENV)) == 0
    assert signing.public_key(made, env=ENV).startswith("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5")


@pytest.mark.parametrize("taken", ["key", "key.pub"])
def test_a_key_that_exists_is_never_replaced(tmp_path, taken):
    (tmp_path / taken).write_text("mine")
    with pytest.raises(RefusedError, match="is not replaced"):
        signing.new_key(tmp_path / "key", env=ENV)
    assert (tmp_path / taken).read_text() == "mine"


def test_without_any_key_there_is_none(tmp_path):
    assert find(tmp_path) is None
    assert signing.find_key(None, cwd=tmp_path, home=None) is None


def test_the_usual_files_are_tried_best_first(tmp_path):
    (tmp_path / ".ssh").mkdir()
    for name in ("id_rsa", "id_ecdsa", "id_ed25519"):
        (tmp_path / ".ssh" / name).touch()
    assert find(tmp_path) == tmp_path / ".ssh/id_ed25519"


def test_a_public_file_serves_where_no_private_one_is_since_an_agent_may_hold_it(tmp_path):
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519.pub").touch()
    assert find(tmp_path) == tmp_path / ".ssh/id_ed25519.pub"


def test_the_key_that_was_named_comes_before_all_others(tmp_path):
    named, other = key(tmp_path, "named"), key(tmp_path, "other")
    configured(tmp_path, f"[gpg]\nformat = ssh\n[user]\nsigningkey = {other}\n")
    assert find(tmp_path, "named") == named
    assert find(tmp_path, "~/named") == named
    assert find(tmp_path) == other


def test_a_key_that_was_named_and_is_not_there_is_never_replaced_by_another(tmp_path):
    (tmp_path / ".ssh").mkdir()
    key(tmp_path / ".ssh", "id_ed25519")
    with pytest.raises(MissingError):
        find(tmp_path, "nothing")
    configured(tmp_path, "[gpg]\nformat = ssh\n[user]\nsigningkey = /nothing\n")
    with pytest.raises(MissingError, match="no key at /nothing"):
        find(tmp_path)


def test_a_signing_key_of_another_family_is_not_ours(tmp_path):
    configured(tmp_path, "[user]\nsigningkey = 0123456789ABCDEF\n")
    assert find(tmp_path) is None


def test_the_repository_stood_in_comes_before_the_users_own_configuration(tmp_path):
    mine, theirs = key(tmp_path, "mine"), key(tmp_path, "theirs")
    home = configured(tmp_path / "home", f"[gpg]\nformat = ssh\n[user]\nsigningkey = {mine}\n")
    here = tmp_path / "here"
    subprocess.run(["git", "init", "-q", str(here)], check=True)
    assert signing.find_key(None, cwd=here, home=home) == mine
    subprocess.run(["git", "-C", str(here), "config", "user.signingkey", str(theirs)], check=True)
    assert signing.find_key(None, cwd=here, home=home) == theirs


@pytest.mark.parametrize("prefix", ["", "key::"])
def test_a_signing_key_that_is_the_key_itself_is_found_by_its_file(tmp_path, prefix):
    (tmp_path / ".ssh").mkdir()
    key(tmp_path / ".ssh", "other")
    public = signing.public_key(key(tmp_path / ".ssh", "work"), env=ENV)
    configured(tmp_path, f"[gpg]\nformat = ssh\n[user]\nsigningkey = {prefix}{public} me\n")
    assert find(tmp_path) == tmp_path / ".ssh/work.pub"


def test_a_signing_key_that_is_the_key_itself_and_in_no_file_says_so(tmp_path):
    configured(tmp_path, "[gpg]\nformat = ssh\n[user]\nsigningkey = ssh-ed25519 AAAA\n")
    with pytest.raises(MissingError, match="is a key itself"):
        find(tmp_path)


def test_no_source_of_ours_opens_a_private_key():
    text = (ROOT / "githarness/store/signing.py").read_text()
    assert text.count(".open(") == 1
    assert "read_bytes" not in text
