"""Finding the store: the flag, the environment, the repository stood in, the user's own.

The gap this closes: a tool that makes up a store where it finds none records into
places nobody looks at. The decision: one order, the first answer counts, and a
place that holds no store is an error that names the command to make one.

What it does not do: it makes nothing. Git's global configuration is not asked:
`--local` is what a repository says about itself.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path

from githarness.errors import MissingError
from githarness.store import git, layout, mark
from githarness.store.objects import Store

VARIABLE = "GITHARNESS_STORE"


def locate(explicit: str | None, env: Mapping[str, str], cwd: Path) -> Path:
    """Return where the store is, or would be.

    `--store`, then GITHARNESS_STORE, then `githarness.store` of the repository around
    `cwd` (or the store stood in), then the user data directory. An empty value is no
    value. Relative ones count from `cwd`, in a repository's configuration from its top.
    """
    said = explicit or env.get(VARIABLE)
    if said:
        return cwd / said
    return _configured(cwd) or _default()


def _configured(cwd: Path) -> Path | None:
    if mark.read(cwd) is not None:
        return cwd
    said = git.ask(cwd, "config", "--local", "--type=path", "--get", mark.KEY)
    if not said:
        return None
    if Path(said).is_absolute():
        return Path(said)
    top = git.ask(cwd, "rev-parse", "--show-toplevel")
    return Path(top or cwd) / said


def _default() -> Path:
    place = importlib.import_module("githarness.store.place")
    found: Path = place.default()
    return found


def open_store(path: Path) -> Store:
    """Open the store at `path`; MissingError, with the way to make one, when there is none."""
    found = mark.read(path)
    if found is not None:
        return Store(path, found.algorithm)
    mark.refuse_lost(path)
    hint = f"githarness --store {path} init"
    if not path.exists():
        raise MissingError(f"there is no store at {path}", hint=hint)
    if (path / layout.WRITE_LOCK).exists():
        raise MissingError(f"the store at {path} was never completed", hint=hint)
    raise MissingError(
        f"{path} is no store of githarness",
        hint=f"githarness --store {path} init, where it is a bare clone of one; or name another place",
    )
