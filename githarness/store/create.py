"""Making a store: a bare repository, two root commits, and the mark that completes it.

The gap this closes: an init that dies half way leaves a folder that neither is a
store nor can become one. The decision: a lock file is the first thing in the
folder, so that an unfinished store is told from somebody's files; every step can be
taken again; the mark is the last. The root of `recordings` carries a fixed date, so
that it is the same on every machine and histories can be joined.

What it does not do: it decides nothing about what main holds, signs nothing and
never touches a store that is complete.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from githarness.errors import RefusedError, StorageError
from githarness.store import layout, mark, refs
from githarness.store.git import EMAIL, IDENTITY, Git, version
from githarness.store.lock import Lock

# Reftables came with this version and may become the default; `mark` reads files.
_REF_FORMATS = (2, 45)


class Created(msgspec.Struct, frozen=True, kw_only=True):
    """A store; `created` is False when it was there and this call changed nothing."""

    path: Path
    created: bool


_BRANCHES = (layout.MAIN, layout.RECORDINGS)


def create(path: Path, main_files: Mapping[str, bytes], *, now: int = 0) -> Created:
    """Make the store at `path`, with `main_files` as the root of main, dated `now`; idempotent.

    A bare clone of a store becomes a store as it is.
    Raises RefusedError, with nothing touched, for a file or for a folder that
    holds anything else, and CorruptError for a store that lost a branch: an empty
    one in its place would pass for a store in which nothing was ever recorded.
    """
    path = path.absolute()
    if mark.read(path) is not None:
        return Created(path=path, created=False)
    mark.refuse_lost(path)
    version()
    if _is_copy(path):
        _adopt(Git(path))
        return Created(path=path, created=False)
    _refuse_foreign(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise StorageError(f"{path} cannot be made: {error.strerror}") from error
    with Lock(path / layout.WRITE_LOCK):
        if mark.read(path) is not None:
            return Created(path=path, created=False)
        _build(Git(path), main_files, now)
    return Created(path=path, created=True)


def _is_copy(path: Path) -> bool:
    """Tell whether a folder is a bare clone of a store, which git makes without its mark."""
    if (path / layout.WRITE_LOCK).exists() or not (path / "HEAD").is_file():
        return False  # one of ours that was not completed, or no repository
    if any(refs.tip(path, one) is None for one in _BRANCHES):
        return False
    git = Git(path)
    named = (f"{layout.MAIN}:harness.toml", f"{layout.RECORDINGS}:{layout.ATTRIBUTES}")
    bare = git.call("rev-parse", "--is-bare-repository").out.strip() == b"true"
    return bare and all(git.call("cat-file", "-e", one).code == 0 for one in named)


def _adopt(git: Git) -> None:
    git.dir.chmod(0o700)
    git.run("config", "core.sharedRepository", "0600")
    _write_attributes(git.dir)
    git.run("config", mark.KEY, mark.VERSION)


def _refuse_foreign(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise RefusedError(f"{path} is a file", hint="name a folder that does not exist yet: --store PATH")
    names = {item.name for item in path.iterdir()}
    if names and layout.WRITE_LOCK not in names:
        raise RefusedError(
            f"{path} is not empty and no store of githarness",
            hint="name a folder that does not exist yet: --store PATH",
        )


def _build(git: Git, main_files: Mapping[str, bytes], now: int) -> None:
    formats = ["--ref-format=files"] if version() >= _REF_FORMATS else []
    git.run(
        "init", "--bare", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1", *formats
    )
    git.run("config", "core.sharedRepository", "0600")
    attributes = {layout.ATTRIBUTES: layout.ATTRIBUTES_TEXT}
    roots = {
        layout.RECORDINGS: _root(layout.RECORDINGS, attributes, 0),
        layout.MAIN: _root(layout.MAIN, attributes | dict(main_files), now),
    }
    missing = b"".join(stream for ref, stream in roots.items() if refs.tip(git.dir, ref) is None)
    git.run("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--done", data=missing + b"done\n")
    _write_attributes(git.dir)
    git.run("config", mark.KEY, mark.VERSION)


def _root(ref: str, files: Mapping[str, bytes], date: int) -> bytes:
    message = f"{ref.rsplit('/', 1)[-1]}: the first commit of a store\n".encode()
    who = f"committer {IDENTITY} <{EMAIL}> {date} +0000"
    head = f"commit {ref}\n{who}\ndata {len(message)}\n".encode() + message
    return head + b"".join(_inline(name, files[name]) for name in sorted(files)) + b"\n"


def _inline(path: str, data: bytes) -> bytes:
    return b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)


def _write_attributes(path: Path) -> None:
    # These win over every .gitattributes, whatever a fetched tree holds.
    info = path / "info"
    try:
        info.mkdir(exist_ok=True, mode=0o700)
        (info / "attributes").write_bytes(layout.ATTRIBUTES_TEXT)
        (info / "attributes").chmod(0o600)
    except OSError as error:
        raise StorageError(f"{info} cannot be written: {error.strerror}") from error
