"""Builders: commits on main, trees that no program of ours would write, and SSH keys."""

import os
import subprocess
import sys
from pathlib import Path

from stores import NOW, git

from githarness.store import layout, main, signing
from githarness.store.find import open_store

ENV = {"PATH": os.environ["PATH"]}
FINGERPRINT = "ab" * 32


def head(path):
    """Return the tip of main, as plain git says it."""
    return git(path, "rev-parse", layout.MAIN).decode().strip()


def land(path, writes=None, removes=(), *, base=None, message="apply: test\n", now=NOW):
    """Land one commit; return what `land` answered."""
    with open_store(path) as store:
        return main.land(
            store, base=base or head(path), writes=writes or {}, removes=removes, message=message, now=now
        )


def files(path, commit=None):
    with open_store(path) as store:
        return main.files(store, commit or head(path))


def survey(path, commit):
    with open_store(path) as store:
        return main.survey(store, commit)


def blob(path, data=b"x\n"):
    return git(path, "hash-object", "-w", "--stdin", data=data).decode().strip()


def tree(path, *lines):
    """Write a tree of (mode, name, oid) as it is given, whatever git thinks of it."""
    body = b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(oid)) for mode, name, oid in lines)
    written = git(path, "hash-object", "-w", "--stdin", "--literally", "-t", "tree", data=body)
    return written.decode().strip()


def commit(path, root, *parents, message="by hand"):
    """Commit a tree with plain git; return the commit."""
    named = [word for parent in parents for word in ("-p", parent)]
    return git(path, "commit-tree", root, *named, "-m", message).decode().strip()


def clean(path):
    """Tell whether git finds nothing wrong with a store."""
    return git(path, "fsck", "--full", "--strict", "--no-dangling") == b""


def key(folder, name="id", kind="ed25519", passphrase=""):
    """Make a key pair; return the private file."""
    path = folder / name
    words = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "a comment", "-f", str(path)]
    subprocess.run(words, check=True, capture_output=True)
    return path


def unsigned(ref, target, kind="commit"):
    """Return the body of a ledger tag: header, subject, payload, no signature."""
    name = ref.removeprefix("refs/tags/")
    lines = (
        f"object {target}\ntype {kind}\ntag {name}\n"
        f"tagger githarness <githarness@localhost> {NOW} +0000\n\nsubject\n\n{{}}\n"
    )
    return lines.encode()


def signed(ref, target, private):
    """Return the bytes of a signed tag."""
    body = unsigned(ref, target)
    return body + signing.sign(private, body, env=ENV)


def script(folder, name, text):
    """Write a program of a few lines; return its folder for a PATH."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!{sys.executable}\n{text}\n")
    file.chmod(0o700)
    return str(folder)


def fake(folder, text):
    """Return an environment whose ssh-keygen is a program of a few lines."""
    return {"PATH": script(Path(folder), "ssh-keygen", text)}
