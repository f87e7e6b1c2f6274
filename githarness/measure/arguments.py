"""Arguments: whether two calls were asked the same thing, and where they were not.

The gap this closes: a bare "arguments differ" makes a comparison useless within a
week, since a file named by another spelling and a file that is another file look
alike. The decision: equality is JSON equality after trimming strings and nothing
looser (1 is not 1.0, true is not 1), because what a path or a query means is the
tool's business; every difference is then named per JSON pointer with a class, so
that a reader can set the harmless ones aside without the rule being bent.

Markers of redaction are numbered within one recording, so two recordings of the
same secret may number it differently: they agree up to a one-to-one renaming.

What it does not do: it knows no tool, normalises no path and orders no call.
Everything here is a loop over a list of open pairs and not a recursion, since
arguments are written by a model and may nest as deep as a reader lets them.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from githarness import canon

# Unicode's White_Space, written out: `str.strip` without arguments also takes the
# four separators U+001C to U+001F, which that property leaves alone.
WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
WHITE += "\u2028\u2029\u202f\u205f\u3000"

WHITE_SPACE = "white_space"  # strings that differ at their ends only
NUMBER_SPELLING = "number_spelling"  # one number, once with a fraction and once without
KEY_ORDER = "key_order"  # the same keys in another order
DEFAULT_EXPLICIT = "default_explicit"  # an optional argument spelled out with its default
VALUE = "value"  # anything else

# Classes that leave two arguments equal. They are reported beside real
# differences and never make one.
EQUAL = frozenset({WHITE_SPACE, KEY_ORDER})

CHANGED = "changed"
ADDED = "added"
REMOVED = "removed"

MARK = "[REDACTED:"
_MARK = MARK.encode()
_MARKER = re.compile(r"(\[REDACTED:[A-Za-z0-9_.-]{1,64}:[0-9]{1,9}\])")

# Two strings are told apart by their shared ends; past this many characters on
# either side, more of them say nothing about which call answers which.
_ENDS = 256

_ENCODER = msgspec.json.Encoder(order="sorted")


class Delta(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """One difference at one place; `change` says whether a None value is JSON null or absence.

    `pointer` is RFC 6901 into the arguments. `expected` is None where the value
    was added, `actual` where it was removed, both for `key_order`.
    """

    pointer: str
    cls: str
    change: str = CHANGED
    expected: Any = None
    actual: Any = None


class Renaming:
    """The markers of two recordings that were found to stand for each other.

    One-to-one over everything it was asked about: once A was B, A is nothing else
    and nothing else is B.
    """

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def agrees(self, want: str, got: str) -> bool:
        """Tell whether the texts are equal up to the renaming, and extend it if so."""
        if MARK not in want and MARK not in got:
            return want == got
        left, right = _MARKER.split(want), _MARKER.split(got)
        if left[::2] != right[::2]:
            return False
        there: dict[str, str] = {}
        back: dict[str, str] = {}
        for one, other in zip(left[1::2], right[1::2], strict=True):
            if self._there.get(one, there.setdefault(one, other)) != other:
                return False
            if self._back.get(other, back.setdefault(other, one)) != one:
                return False
        # Only now, so that a pair that did not agree leaves no trace.
        self._there |= there
        self._back |= back
        return True


class _Open(msgspec.Struct):
    """A pair of values still to be compared, with the schema in force for it."""

    pointer: str
    want: Any
    got: Any
    schema: Any = None


def deltas(
    expected: Any, actual: Any, schema: Any = None, renaming: Renaming | None = None
) -> tuple[Delta, ...]:
    """Name every difference, outer places before inner ones.

    `schema` is the tool's input schema and decides about defaults; without one no
    difference is called a default. Without `renaming` a marker equals any marker.
    """
    found: list[Delta] = []
    work = [_Open("", expected, actual, schema)]
    while work:
        pair = work.pop()
        inner: list[_Open] = []
        if isinstance(pair.want, dict) and isinstance(pair.got, dict):
            found.extend(_object(pair, inner))
        elif isinstance(pair.want, list | tuple) and isinstance(pair.got, list | tuple):
            found.extend(_array(pair, inner))
        else:
            found.extend(_leaf(pair, renaming))
        work.extend(reversed(inner))
    return tuple(found)


def differ(found: tuple[Delta, ...]) -> bool:
    """Tell whether any of the deltas makes the arguments different."""
    return any(delta.cls not in EQUAL for delta in found)


def same(expected: Any, actual: Any, renaming: Renaming | None = None) -> bool:
    """Tell whether two arguments are equal after trimming strings."""
    return not differ(deltas(expected, actual, renaming=renaming))


def distance(expected: Any, actual: Any) -> tuple[int, int, int]:
    """How far apart two arguments are: whether, at how many places, by how many characters.

    The order of the three makes a pairing of least total distance also one with
    the fewest differing pairs.
    """
    found = [delta for delta in deltas(expected, actual) if delta.cls not in EQUAL]
    return (int(bool(found)), len(found), sum(_changed(delta) for delta in found))


def fingerprint(value: Any) -> bytes:
    """Return bytes that are equal only for equal values: the fast key, and no digest.

    Infinity alone is not told apart from null; `identical` is.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return canonical(value)


def canonical(value: Any) -> bytes:
    """Return compact JSON with sorted keys for any value a reader can give, at any depth.

    The same bytes as `canon.compact`, which refuses what is no JSON and is bound by
    the depth of the stack.
    """
    return _render(value, str)


def identical(expected: Any, actual: Any) -> bool:
    """Tell at once that two arguments are the same. False decides nothing.

    Three tests, since none is enough: 1 == True in Python, infinity has the bytes
    of null, and markers are numbered per recording, so equal ones prove nothing.
    """
    data = fingerprint(expected)
    try:
        return data == fingerprint(actual) and bool(expected == actual) and _MARK not in data
    except RecursionError:
        return False


def loose(value: Any) -> bytes:
    """Return a pairing key: equal where `same` says so, bar infinity, which pairs with null."""
    try:
        return _ENCODER.encode(_trimmed(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return _render(value, lambda text: mask(text.strip(WHITE)))


def _trimmed(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value.strip(WHITE))
    if isinstance(value, dict):
        return {key: _trimmed(item) for key, item in value.items()}
    return [_trimmed(item) for item in value] if isinstance(value, list | tuple) else value


def mask(text: str) -> str:
    """Take the rule and number out of every redaction marker."""
    return _MARKER.sub("[REDACTED]", text) if MARK in text else text


def content_free(value: Any) -> dict[str, Any]:
    """Replace a value by its size and digest, so that a report of it can be shown anywhere.

    Short or guessable values can be found again by hashing guesses: this withholds
    content from readers, not from someone who already suspects it.
    """
    data = canonical(value)
    return {"digest": canon.sha256(data), "bytes": len(data)}


def _object(pair: _Open, inner: list[_Open]) -> Iterator[Delta]:
    want, got = pair.want, pair.got
    if list(want) != list(got) and [k for k in want if k in got] != [k for k in got if k in want]:
        yield Delta(pointer=pair.pointer, cls=KEY_ORDER)
    for key, value in want.items():
        if key not in got:
            cls = _one_sided(pair.schema, key, value)
            yield Delta(pointer=_under(pair.pointer, key), cls=cls, change=REMOVED, expected=value)
        elif not _is_settled(value, got[key]):
            place = _under(pair.pointer, key)
            inner.append(_Open(place, value, got[key], _property(pair.schema, key)))
    for key in [key for key in got if key not in want]:
        cls = _one_sided(pair.schema, key, got[key])
        yield Delta(pointer=_under(pair.pointer, key), cls=cls, change=ADDED, actual=got[key])


def _array(pair: _Open, inner: list[_Open]) -> Iterator[Delta]:
    rule = pair.schema.get("items") if isinstance(pair.schema, dict) else None
    both = min(len(pair.want), len(pair.got))
    inner.extend(
        _Open(f"{pair.pointer}/{at}", pair.want[at], pair.got[at], rule)
        for at in range(both)
        if not _is_settled(pair.want[at], pair.got[at])
    )
    for at, value in enumerate(pair.want[both:], both):
        yield Delta(pointer=f"{pair.pointer}/{at}", cls=VALUE, change=REMOVED, expected=value)
    for at, value in enumerate(pair.got[both:], both):
        yield Delta(pointer=f"{pair.pointer}/{at}", cls=VALUE, change=ADDED, actual=value)


def _is_settled(want: Any, got: Any) -> bool:
    """Tell equal scalars at once, since most of two calls is equal. False decides nothing."""
    kind = type(want)
    if kind is not type(got) or kind is dict or kind is list:
        return False
    return want == got and (kind is not str or MARK not in want)


def _leaf(pair: _Open, renaming: Renaming | None) -> Iterator[Delta]:
    want, got = pair.want, pair.got
    cls: str | None = VALUE
    if isinstance(want, str) and isinstance(got, str):
        cls = _text(want, got, renaming)
    elif _is_number(want) and _is_number(got):
        spelled = NUMBER_SPELLING if isinstance(want, float) != isinstance(got, float) else None
        cls = spelled if want == got else VALUE
    elif type(want) is type(got):
        cls = None if want == got else VALUE
    if cls is not None:
        yield Delta(pointer=pair.pointer, cls=cls, expected=want, actual=got)


def _text(want: str, got: str, renaming: Renaming | None) -> str | None:
    left, right = want.strip(WHITE), got.strip(WHITE)
    agree = renaming.agrees(left, right) if renaming else mask(left) == mask(right)
    if not agree:
        return VALUE
    ends_differ = (left != want or right != got) and want != got
    return WHITE_SPACE if ends_differ else None


def _is_number(value: Any) -> bool:
    # bool is an int in Python and never a number in JSON.
    return isinstance(value, int | float) and not isinstance(value, bool)


def _under(pointer: str, key: str) -> str:
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def _property(schema: Any, key: str) -> Any:
    rules = schema.get("properties") if isinstance(schema, dict) else None
    return rules.get(key) if isinstance(rules, dict) else None


def _one_sided(schema: Any, key: str, value: Any) -> str:
    rule = _property(schema, key)
    if not isinstance(rule, dict) or "default" not in rule:
        return VALUE
    required = schema.get("required")
    optional = not isinstance(required, list) or key not in required
    return DEFAULT_EXPLICIT if optional and same(rule["default"], value) else VALUE


def _changed(delta: Delta) -> int:
    """Count the characters between the shared ends of two values."""
    want, got = (_shown(value) for value in (delta.expected, delta.actual))
    shortest = min(len(want), len(got))
    head = _shared(want, got, shortest)
    tail = _shared(want[::-1], got[::-1], shortest - head)
    return max(len(want), len(got)) - head - tail


def _shown(value: Any) -> str:
    return mask(value.strip(WHITE)) if isinstance(value, str) else fingerprint(value).decode()


def _shared(left: str, right: str, most: int) -> int:
    most = min(most, _ENDS)
    return next((at for at in range(most) if left[at] != right[at]), most)


def _render(value: Any, spell: Callable[[str], str]) -> bytes:
    out: list[str] = []
    work: list[tuple[bool, Any]] = [(False, value)]
    while work:
        is_ready, item = work.pop()
        if is_ready:
            out.append(item)
        elif isinstance(item, dict | list | tuple):
            work.extend(reversed(list(_opened(item))))
        elif isinstance(item, canon.Spelled):
            out.append(item.text)
        else:
            shown = spell(item) if isinstance(item, str) else item
            out.append(json.dumps(shown, ensure_ascii=False))
    return canon.utf8("".join(out))


def _opened(item: Any) -> Iterator[tuple[bool, Any]]:
    """Take one level apart: pieces of text that are ready, and values that are not."""
    is_object = isinstance(item, dict)
    yield True, "{" if is_object else "["
    for at, child in enumerate(sorted(item) if is_object else item):
        if at:
            yield True, ","
        if is_object:
            yield True, json.dumps(child, ensure_ascii=False) + ":"
        yield False, item[child] if is_object else child
    yield True, "}" if is_object else "]"
