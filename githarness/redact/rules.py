r"""The table of rules in order of precedence, and the secrets of one text.

The gap this closes: one secret is often several rules' (a GitHub token behind
`Authorization: Bearer`), and it must get one marker. The decision: spans that
overlap become one secret, shown under the rule that stands first in the table,
vendors before protocols before names. Escapes that text inside text leaves
(`\u0041`, `\/`) are read before any rule looks, and removed with the secret.

What this does not do: it numbers nothing and knows no JSON beyond those escapes.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable

import msgspec

from githarness.redact.rule import Found, Rule
from githarness.redact.rules_headers import HEADERS, under_authorization, under_cookie
from githarness.redact.rules_named import NAMED, read_name
from githarness.redact.rules_vendor import VENDOR

RULES_VERSION = 2

TABLE: tuple[Rule, ...] = (*VENDOR, *HEADERS, *NAMED)

_RANK = {name: rank for rank, name in enumerate(name for rule in TABLE for name in rule.names)}
_VENDORS = frozenset(name for rule in VENDOR for name in rule.names)
_UPPER = re.compile("[A-Z]+")
_ESCAPE = re.compile(r"\\+(?:u00([2-7][0-9a-fA-F])|/)")
_KEYED = {
    "authorization": under_authorization,
    "proxy-authorization": under_authorization,
    "cookie": under_cookie,
    "set-cookie": under_cookie,
}


class Hit(msgspec.Struct, frozen=True):
    """One secret in a text: where it stands, who found it, and its unescaped words."""

    start: int
    end: int
    rule: str
    secret: str


def find(text: str, key: str) -> list[Hit]:
    """Find the secrets of `text` in order; `key` is the JSON key it stands under, or empty."""
    plain, places = _unescaped(text)
    lowered = _lowered(plain)
    found = [one for rule in TABLE for one in rule.find(plain, lowered)]
    found += _under(key, plain)
    return [
        Hit(_place(places, start), _place(places, end), rule, plain[start:end])
        for start, end, rule in _merged(found)
    ]


def is_vendor(rule: str) -> bool:
    """Tell whether a rule knows its secrets by a vendor's shape, and needs nothing beside them."""
    return rule in _VENDORS


def is_secret_key(key: str) -> bool:
    """Tell whether a JSON key alone can make its value a secret."""
    return key.lower() in _KEYED or read_name(key) is not None


def _under(key: str, text: str) -> Iterable[Found]:
    header = _KEYED.get(key.lower())
    if header is not None:
        return header(text)
    name = read_name(key)
    return [(0, len(text), name.rule)] if name is not None and name.admits(text) else []


def _lowered(text: str) -> str:
    """Lower-case at the same length; `str.lower` makes two characters of a dotted capital I."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else _UPPER.sub(lambda m: m[0].lower(), text)


def _merged(found: list[Found]) -> list[Found]:
    merged: list[Found] = []
    for start, end, rule in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, shown = merged[-1]
            merged[-1] = first, max(last, end), min(shown, rule, key=_RANK.__getitem__)
        else:
            merged.append((start, end, rule))
    return merged


def _unescaped(text: str) -> tuple[str, list[tuple[int, int]]]:
    r"""Read `\u0020` to `\u007f` and `\/`; the list maps places back to `text`."""
    pieces: list[str] = []
    places = [(0, 0)]
    done = length = 0
    for escape in _ESCAPE.finditer(text):
        pieces += [text[done : escape.start()], chr(int(escape[1], 16)) if escape[1] else "/"]
        length += escape.start() - done + 1
        done = escape.end()
        places.append((length, done))
    return ("".join([*pieces, text[done:]]) if pieces else text), places


def _place(places: list[tuple[int, int]], at: int) -> int:
    plain, real = places[bisect_right(places, at, key=lambda pair: pair[0]) - 1]
    return real + at - plain
