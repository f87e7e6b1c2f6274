"""A governed store in a test's own folder, its people, and what an attacker with push access does to it.

Making a store and its first policy takes some tenths of a second, so it is done once and copied.
"""

import atexit
import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from unittest import mock

import made_ledger
from made_ledger import Person

from githarness import cli
from githarness.commands import apply, decide, filed, governed, init, policy, rollback, verify
from githarness.govern import payload, tag
from githarness.govern import policy as policies
from githarness.store import layout
from githarness.store.derived import Derived
from githarness.store.find import open_store

NOW = 1_780_000_000
ADA, BEN, CAT, EVE = Person("ada"), Person("ben"), Person("cat"), Person("eve")
PEOPLE = (ADA, BEN, CAT, EVE)
LEDGER = layout.LEDGER
METRIC = ("--metric", "tool_error_rate")


class World:
    """One store, with configuration and cache of a user of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "store.git"
        self.config = folder / "config" / "githarness"
        self.time = NOW
        # What else is in the environment.
        self.around = {}

    def env(self):
        return {
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "HOME": str(self.folder / "home"),
            "PATH": os.environ["PATH"],
            **self.around,
        }

    def key(self, person):
        """The key of a person as a file for ssh-keygen; its public half beside it."""
        path = self.folder / f"{person.name}.key"
        if not path.exists():
            person.private_file(self.folder)
            path.with_name(f"{path.name}.pub").write_text(f"{person.key} {person.name}\n")
        return path

    def run(self, *words, stdin=""):
        """Run the program in this process; return its exit code and what it wrote to both streams."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.env()),
            mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()))),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                cli.main(["--store", str(self.path), *map(str, words)])
            except SystemExit as left:
                return left.code, out.getvalue(), err.getvalue()
        return 0, out.getvalue(), err.getvalue()

    def ask(self, *words, stdin=""):
        """Run the program for its JSON answer; return exit code and object."""
        code, out, _ = self.run("--json", *words, stdin=stdin)
        return code, json.loads(out)

    def git(self, *words, data=None):
        """Plain git on the store, as whoever can push or sits on the server would use it."""
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
        who = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
        command = ["git", *who, f"--git-dir={self.path}", *map(str, words)]
        done = subprocess.run(command, input=data, capture_output=True, check=True, env=env)
        return done.stdout.decode("utf-8", "replace").strip()

    def read(self):
        """Read store, ledger and main as every verb does."""
        with open_store(self.path) as store:
            return governed.load(store, self.config)

    # What honest people do.

    def propose(self, *words, person=None):
        """Propose by hand; return the fingerprint."""
        key = () if person is None else ("--key", self.key(person))
        code, found = self.ask("propose", *words, *METRIC, *key)
        assert code == 0, found
        return found["proposals"][0]["id"]

    def decide(self, one, person=ADA, verdict="approve", **options):
        """Sign a decision on what stands there now; return the id of the entry."""
        self.time += 1
        with open_store(self.path) as store:
            reading = decide.read(store, self.config, one)
            found = decide.decide(
                reading, decide.Said(decision=verdict, **options),
                key=self.key(person), now=self.time, env=self.env(), config=self.config,
            )  # fmt: skip
        return found.tag.rsplit("/", 1)[1]

    def approve(self, one, person=ADA, **options):
        return self.decide(one, person, "approve", **options)

    def reject(self, one, person=ADA, **options):
        return self.decide(one, person, "reject", **options)

    def apply(self, *ids, optimistic=False):
        self.time += 1
        with open_store(self.path) as store:
            return apply.run(store, self.config, list(ids), optimistic=optimistic, now=self.time)

    def land(self, *words, person=ADA):
        """Propose, approve and apply; return the fingerprint."""
        one = self.propose(*words)
        self.approve(one, person)
        assert [line.id for line in self.apply(one).applied] == [one]
        return one

    def rollback(self, one, *, cascade=False):
        self.time += 1
        with open_store(self.path) as store:
            return rollback.run(store, self.config, one, cascade=cascade, now=self.time)

    def verify(self):
        with open_store(self.path) as store:
            return verify.run(store, self.config, Derived(self.config / "kept"))

    def policy(self, *words, person=ADA):
        return self.ask("policy", *words, "--key", self.key(person))

    def join(self, person, by=ADA):
        """Give a person a key in the policy."""
        code, found = self.policy("add", person.name, f"{self.key(person)}.pub", person=by)
        assert code == 0, found

    def forget(self):
        """Become somebody who knows the ledger's id, and never saw an entry of it or a commit of main."""
        ledger = self.read().pin.ledger
        (self.config / "trust.json").unlink()
        with open_store(self.path) as store:
            policy.pin(store, ledger, self.config)

    # What can be said of it.

    def rules(self):
        """Which rules verify finds broken."""
        return {one.rule for one in self.verify().problems}

    def void(self):
        """Which rule each void entry breaks, by the last part of its name."""
        return {one.path.rsplit("/", 1)[1]: one.rule for one in self.verify().void}

    def standing(self, one):
        with open_store(self.path) as store:
            return filed.stands(governed.load(store, self.config), filed.proposal(store, one)).verdict

    def tip(self, ref=layout.MAIN):
        return self.git("rev-parse", ref)

    def files(self, commit=layout.MAIN):
        return self.git("ls-tree", "-r", "--name-only", commit).splitlines()

    def tags(self):
        """Every ref of the ledger by the last part of its name."""
        found = self.git("for-each-ref", "--format=%(refname)", LEDGER).splitlines()
        return {ref.rsplit("/", 1)[1]: ref for ref in found}

    def data(self, entry):
        """The bytes of a tag."""
        found = self.read().refs[self.tags()[entry]].data
        assert found is not None
        return found

    # What whoever can push does.

    def plant(self, data, ref=None, kind="tag"):
        """Write any object, and have a ref name it: the one its own `tag` line says, or any other."""
        oid = self.git("hash-object", "-t", kind, "-w", "--stdin", "--literally", data=data)
        if ref is None:
            ref = f"refs/tags/{data.split(b'tag ', 1)[1].splitlines()[0].decode()}"
        path = self.path / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written as a file: git itself refuses some of the names that are tried.
        path.write_text(f"{oid}\n")
        return ref.rsplit("/", 1)[1]

    def words(self, one, person, **fields):
        """The payload of a decision as this person would sign it now, with fields as one likes."""
        harness = self.read()
        with open_store(self.path) as store:
            found = filed.proposal(store, one)
            asked = filed.question(found, harness.state)
        known = {
            "ledger": harness.pin.ledger,
            "policy": policies.digest(harness.policy),
            "prev": harness.ledger.prev,
            "decision": "approve",
            "mutation": one,
            "document": asked.document,
            "base": payload.Base(harness.tip, asked.base),
            "result": asked.result,
            "target": payload.MAIN,
            "principal": person.name,
            "key": person.fingerprint,
            "display": made_ledger.DISPLAY,
            "supersedes": (),
            "issued": NOW,
            "expires": 0,
            "nonce": "0f",
            "reason": "",
        }
        return payload.Decision(**known | fields)

    def head(self, one, person, *, commit=None, **fields):
        """The bytes that a decision signs."""
        found = self.words(one, person, **fields)
        return tag.unsigned(commit or self.tip(layout.proposal_ref(one)), found, found.issued)

    def forge(self, one, person, *, signer=None, commit=None, sign=None, **fields):
        """Sign a decision past every check of the program, and push it; return its id."""
        head = self.head(one, person, commit=commit, **fields)
        return self.plant(head + (signer or person).sign(head, **(sign or {})))

    def drop(self, entry):
        """Delete a tag."""
        self.git("update-ref", "-d", self.tags()[entry])

    def push(self, changes, *, parent=None, ref=layout.MAIN, message="by hand", merge=None):
        """Put a commit with these files changed on a branch; None removes one. Returns it."""
        parent = parent or self.tip(ref)
        index = self.folder / "index"
        env = {"PATH": os.environ["PATH"], "GIT_INDEX_FILE": str(index), "HOME": "/nonexistent"}
        command = ["git", f"--git-dir={self.path}"]
        subprocess.run([*command, "read-tree", parent], env=env, check=True)
        for path, data in changes.items():
            mode, oid = "0", "0" * 40
            if data is not None:
                mode, oid = "100644", self.git("hash-object", "-w", "--stdin", data=data)
            words = ["update-index", "--add", "--index-info"]
            subprocess.run([*command, *words], env=env, check=True, input=f"{mode} {oid}\t{path}\n".encode())
        tree = subprocess.run([*command, "write-tree"], env=env, check=True, capture_output=True).stdout
        parents = ["-p", parent, *(["-p", merge] if merge else [])]
        commit = self.git("commit-tree", tree.decode().strip(), *parents, "-m", message)
        self.git("update-ref", ref, commit)
        return commit

    def show(self, commit, path):
        """The bytes of one file at a commit."""
        return subprocess.run(
            ["git", f"--git-dir={self.path}", "cat-file", "blob", f"{commit}:{path}"],
            capture_output=True, check=True,
        ).stdout  # fmt: skip

    def checkout(self):
        """A clone with a work tree, in which a person uses git by hand; returns how to."""
        folder = self.folder / "clone"
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C", "GIT_EDITOR": "true"}
        who = ("-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "merge.renames=true")

        def by_hand(*words):
            command = ["git", *who, "-C", str(folder), *map(str, words)]
            return subprocess.run(command, capture_output=True, check=True, env=env).stdout.decode().strip()

        folder.mkdir()
        by_hand("init", "-q", "-b", "main")
        by_hand("remote", "add", "origin", self.path)
        by_hand("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
        by_hand("reset", "-q", "--hard", "origin/main")
        return by_hand


def world(tmp_path, *others):
    """A store whose ledger was begun by Ada, with these others in the policy as well."""
    return _copied(tmp_path / "w", _template(*others))


def _copied(folder, of):
    shutil.copytree(of.folder, folder)
    made = World(folder)
    made.time = of.time
    with open_store(made.path) as store:
        policy.pin(store, of.read().pin.ledger, made.config)
    made.verify()
    return made


@functools.cache
def _template(*others):
    folder = Path(tempfile.mkdtemp(prefix="governed-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if others:
        made = _copied(folder / "w", _template(*others[:-1]))
        made.join(others[-1])
        return made
    made = World(folder)
    init.run(made.path)
    for person in PEOPLE:
        made.key(person)
    signer = policy.Signer(key=made.key(ADA), now=NOW, env=made.env(), config=made.config)
    with open_store(made.path) as store:
        policy.begin(store, "ada", signer)
    return made
