"""Builders for tests of the store: real git, in a folder of the test's own."""

import os
import subprocess
import sys
from pathlib import Path

from githarness.store import layout
from githarness.store.create import create
from githarness.store.find import open_store
from githarness.store.writer import Writer

ROOT = Path(__file__).parent.parent
NOW = 1_700_000_000


def made(tmp_path, name="store"):
    """Make a store and return its path."""
    return create(tmp_path / name, {"harness.toml": b"# knobs\n"}).path


EMPTY = b'{"recording":{"parts":[]}}'


def run_id(number):
    return f"{number:032x}"


def write(path, *parts, run=None, text=EMPTY):
    """Record parts and, with `run`, a manifest; return the commit."""
    with open_store(path) as store, Writer(store) as writer:
        for part in parts:
            writer.part(part)
        if run is not None:
            writer.revise(layout.run(run_id(run)), lambda _: text)
        return writer.commit("test: write", now=NOW)


def revise(path, name, change):
    """Commit one mutable file; return the commit."""
    with open_store(path) as store, Writer(store) as writer:
        writer.revise(name, change)
        return writer.commit("test: revise", now=NOW)


def read(path, name):
    with open_store(path) as store:
        return store.read(name)


def tip(path):
    with open_store(path) as store:
        return store.tip(layout.RECORDINGS)


def tree(path):
    with open_store(path) as store:
        return store.commit(store.recordings()).tree


def git(path, *args, data=None):
    """Plain git on a store, as a person would use it."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
    who = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
    command = ["git", *who, f"--git-dir={path}", *args]
    return subprocess.run(command, input=data, capture_output=True, check=True, env=env).stdout


def loose(path, data):
    """Write a loose blob with plain git; return the path of its object file."""
    oid = git(path, "hash-object", "-w", "--stdin", data=data).decode().strip()
    return path / "objects" / oid[:2] / oid[2:]


def unpack(path):
    """Turn every pack of a store into loose objects."""
    for pack in list((path / "objects" / "pack").glob("*.pack")):
        moved = path / pack.name
        pack.rename(moved)
        pack.with_suffix(".idx").unlink()
        git(path, "unpack-objects", "-q", data=moved.read_bytes())
        moved.unlink()


def object_file(path, name):
    """Return the loose object file of what stands at `name` in recordings."""
    with open_store(path) as store:
        oid = store.oid(name)
    file = path / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    return file


def python(code, *args, **options):
    """Start another Python on `code`."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], env=env, **options)
