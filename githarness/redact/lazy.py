"""Patterns that are compiled when they are first used.

The gap this closes: the table's patterns take 30 ms to compile, and a recording
without a secret uses none of them. The decision: a stand-in that compiles itself on
first use. What it does not do: it checks no pattern; a test compiles them all.
"""

import re
from typing import Any, cast


class _Lazy:
    """Becomes the compiled pattern's methods the first time one of them is asked for."""

    def __init__(self, source: str) -> None:
        self.__dict__["source"] = source

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.__dict__["source"])
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)


def lazy(source: str) -> re.Pattern[str]:
    """Return what serves as the compiled `source` and costs nothing until it is used."""
    return cast("re.Pattern[str]", _Lazy(source))
