"""Where a store lies when nobody said where: the user's data directory.

A module of its own because `platformdirs` is loaded only when it comes to that.
"""

from pathlib import Path

import platformdirs


def default() -> Path:
    """Return the path of the store of this user."""
    return platformdirs.user_data_path("githarness") / "store.git"


def config() -> Path:
    """Return the folder of this user's configuration, where trust is pinned."""
    return platformdirs.user_config_path("githarness")


def cache(kind: str) -> Path:
    """Return this user's cache folder for one kind of thing that can be made again."""
    return platformdirs.user_cache_path("githarness") / kind
