"""Signing: an SSH signature made by `ssh-keygen`, with whatever key a person has.

The gap this closes: a program that loads a private key can leak it, and cannot use one
that lives in an agent or on a token. The decision: `ssh-keygen -Y sign -n git`, as git
itself does it, with the bytes on its standard input and an environment of names that
it needs. It stays in the terminal's process group, since one that was put apart is
stopped the moment it asks for a passphrase.

What it does not do: it verifies nothing (the caller does, in process, before anything
is kept), and never reads a private key.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from githarness.errors import MissingError, RefusedError, StorageError, UnreadableError
from githarness.store import git

PROGRAM = "ssh-keygen"
NAMESPACE = "git"
# Time for a person to find the token or the passphrase.
PATIENCE = 120.0
# `-Y sign` came with this version.
FLOOR = "8.2"

# In this order, the best first; RSA is not among the types that may sign.
DEFAULTS = ("id_ed25519", "id_ed25519_sk", "id_ecdsa", "id_ecdsa_sk")
# Where agents, prompts and tokens are found; everything else stays behind.
_KEPT = (
    "PATH", "HOME", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
    "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_SK_PROVIDER", "SSH_SK_HELPER", "SSH_PKCS11_HELPER",
)  # fmt: skip
_BEGIN = b"-----BEGIN SSH SIGNATURE-----\n"
_END = b"-----END SSH SIGNATURE-----\n"
_LINE = re.compile(r"([a-z0-9@.-]{1,64}) ([A-Za-z0-9+/]{16,20000}={0,2})(?:[ \t].*)?")
_LITERAL = re.compile(r"(?:key::)?((?:sk-)?(?:ssh|ecdsa)-.*)")
_PUB = ".pub"
# A public key is a line of a few hundred bytes.
_PUBLIC_LIMIT = 64 * 1024


def sign(key: Path, data: bytes, *, env: Mapping[str, str], patience: float = PATIENCE) -> bytes:
    """Return the armored signature of exactly `data`.

    `key` is a private key, or a `.pub` file whose private half an agent holds. A
    passphrase is asked for on the terminal. MissingError without the key or the
    program; StorageError when it would not sign.
    """
    _present(key)
    done = _run(("-Y", "sign", "-n", NAMESPACE, "-f", str(key.absolute())), data, env, patience)
    if done.returncode:
        raise StorageError(f"{key} could not sign: {_reason(done)}", hint=_advice(key, done))
    if not (done.stdout.startswith(_BEGIN) and done.stdout.endswith(_END)):
        raise StorageError(
            f"{PROGRAM} said it signed with {key} and gave no signature",
            hint=f"see which one it is: command -v {PROGRAM}; OpenSSH {FLOOR} or newer is needed",
        )
    return done.stdout


def public_key(key: Path, *, env: Mapping[str, str], patience: float = PATIENCE) -> str:
    """Return type and base64 of a key's public half, without the comment.

    It is read from the `.pub` file beside the key; without one, `ssh-keygen` tells.
    """
    _present(key)
    beside = key if key.suffix == _PUB else key.with_name(key.name + _PUB)
    if beside.exists():
        return _parsed(beside, _text(beside))
    done = _run(("-y", "-f", str(key.absolute())), b"", env, patience)
    if done.returncode:
        raise StorageError(f"{key} would not tell its public half: {_reason(done)}", hint=_advice(key, done))
    return _parsed(key, done.stdout.decode("utf-8", "replace"))


def new_key(path: Path, *, env: Mapping[str, str], patience: float = PATIENCE) -> Path:
    """Make an ed25519 key without a passphrase, readable by its owner alone; return its path."""
    for taken in (path, path.with_name(path.name + _PUB)):
        if os.path.lexists(taken):
            raise RefusedError(f"{taken} exists and is not replaced", hint=f"use it: --key {path}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path.parent} cannot be made: {error.strerror}") from error
    words = ("-q", "-t", "ed25519", "-N", "", "-C", "githarness", "-f", str(path.absolute()))
    done = _run(words, b"", env, patience)
    if done.returncode:
        raise StorageError(f"{path} could not be made: {_reason(done)}")
    return path


def find_key(explicit: str | None, *, cwd: Path, home: Path | None) -> Path | None:
    """Return the key to sign with; None when nothing names one and none of the usual files is there.

    The one that was named, then git's `user.signingkey` where git signs with SSH (of
    the repository around `cwd`, then the user's own), then the usual files. What was
    named and is not there is MissingError, and never passed over for another key.
    """
    if explicit:
        return _present(_expanded(explicit, cwd, home))
    configured = _configured(cwd, home)
    if configured is not None:
        return _chosen(configured, cwd, home)
    # The public half alone will do where an agent holds the private one.
    names = [name + ending for ending in ("", _PUB) for name in DEFAULTS]
    usual = [] if home is None else [home / ".ssh" / name for name in names]
    return next((path for path in usual if path.is_file()), None)


def _expanded(text: str, cwd: Path, home: Path | None) -> Path:
    return home / text[2:] if text.startswith("~/") and home is not None else cwd / text


def _configured(cwd: Path, home: Path | None) -> str | None:
    """Return what git would sign with; None unless it signs with SSH."""
    key = kind = None
    for scope in _scopes(home):
        key = key or git.ask(cwd, "config", *scope, "--type=path", "--get", "user.signingkey")
        kind = kind or git.ask(cwd, "config", *scope, "--get", "gpg.format")
    return key if kind == "ssh" else None


def _scopes(home: Path | None) -> Iterator[tuple[str, ...]]:
    yield ("--local", "--includes")
    if home is not None:
        for name in (".gitconfig", ".config/git/config"):
            if (home / name).is_file():
                yield ("--includes", "--file", str(home / name))


def _chosen(configured: str, cwd: Path, home: Path | None) -> Path:
    literal = _LITERAL.fullmatch(configured)
    if literal is None:
        return _present(cwd / configured)
    wanted = literal[1].split()[:2]
    for path in sorted((home / ".ssh").glob(f"*{_PUB}")) if home is not None else []:
        if _text(path).split()[:2] == wanted:
            return path
    raise MissingError(
        "git's user.signingkey is a key itself, and no file in ~/.ssh holds it",
        hint="write that line to a .pub file, and name it: --key FILE.pub",
    )


def _present(key: Path) -> Path:
    if not key.is_file():
        raise MissingError(
            f"there is no key at {key}",
            hint=f"make one: {PROGRAM} -t ed25519 -f {key}; or name another: --key",
        )
    return key


def _run(
    words: tuple[str, ...], data: bytes, env: Mapping[str, str], patience: float
) -> subprocess.CompletedProcess[bytes]:
    program = git.on_path(PROGRAM, env.get("PATH", os.defpath))
    if program is None:
        raise MissingError(f"{PROGRAM} is not on the PATH", hint=f"install OpenSSH {FLOOR} or newer")
    kept = {name: env[name] for name in _KEPT if name in env} | {"LC_ALL": "C"}
    try:
        return subprocess.run(
            (program, *words),
            input=data,
            capture_output=True,
            env=kept,
            umask=0o077,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StorageError(
            f"{PROGRAM} did not answer within {patience:g} s",
            hint="unlock the agent or touch the token, and run the same command again",
        ) from error
    except OSError as error:
        raise StorageError(f"{program} cannot be run: {error.strerror}") from error


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    return git.reason(done.returncode, done.stderr)


def _advice(key: Path, done: subprocess.CompletedProcess[bytes]) -> str:
    """Say what to do; words of the program choose among hints and nothing else."""
    if b"option" in done.stderr and b"usage" in done.stderr.lower():
        return f"install OpenSSH {FLOOR} or newer"
    private = key.with_suffix("") if key.suffix == _PUB else key
    by_hand = f"{PROGRAM} -Y sign -n {NAMESPACE} -f {key} FILE"
    return f"try it by hand: {by_hand}; or let an agent hold it: ssh-add {private}"


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(_PUBLIC_LIMIT).decode("utf-8", "replace")
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from error


def _parsed(path: Path, text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    match = _LINE.fullmatch(lines[0]) if len(lines) == 1 else None
    if match is None:
        raise UnreadableError(f"{path} does not hold one public key", hint=f"{PROGRAM} -l -f {path}")
    return f"{match[1]} {match[2]}"
