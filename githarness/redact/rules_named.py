"""Secrets that only the name beside them gives away: `DB_PASSWORD=…`, `"apiKey": "…"`.

The gap this closes: most keys have no prefix of their own, and every language
writes an assignment its own way. The decision: one reading of names (a secret
word at the end of an identifier) for JSON keys, for text and for command-line
flags, and one judgement of values (`worth`), stricter where no quotes stand,
because there the value may as well be code. Only the value is removed.

What this does not do: `tokens`, `token_count`, `password_field` are not names of
secrets, and neither is a page token: what may follow or precede the word is
listed here, and all else stays. Connection strings need no rule: the password in
one is an assignment or a URL's.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from githarness.redact.lazy import lazy
from githarness.redact.rule import MARKER, Found, Rule
from githarness.redact.worth import JUDGED, LONGEST, is_password, is_reference, is_token

ASSIGNMENT = "assignment"
HEADER = "api-key-header"
AWS_KEY = "aws-secret-key"
FLAG = "secret-flag"

# Longest identifier looked at left of the secret word.
_NAME_REACH = 64

_PASSWORD = ("password", "passwd", "passphrase", "passcode", "pwd")
_KEY = (
    "api", "access", "private", "secret", "account", "auth", "signing", "encryption", "master", "session",
    "deploy", "license", "role",
)  # fmt: skip
# A pattern that starts with a literal is searched 8 times faster than one that
# starts with a choice of them: hence one for each word, over lower-cased text.
_WORDS = (*_PASSWORD, "secret", "token", "key(?:[_-]base)?")

_SUFFIX = r"(?:[_-]?[0-9]{1,2}|[_-](?:prod|production|dev|staging|test|live|value|b64|base64|hex))?"
_SIGN = r"(?:[ \t]*:[ \t]*&?(?:str|string)[ \t]*=|[ \t]*(?::=|=>|=(?![=~>])|:(?![:=/])))[ \t]*"
_QUOTE = r"(?:[bfru]{0,2}(?P<quote>\\{0,7}[\"'`]))?"

# What makes a name with a secret word in it harmless, directly before the word.
_HARMLESS = lazy(
    r"(?ai)(?:page|next|starting|continuation|continue|sync|cursor|pad|eos|bos|unk|sep|cls|mask|special"
    r"|stop|start|public_?key|end|begin|prev|previous|input|output|total|max|min|num|per|cache|each|new_?line|forgot|reset|no|has"
    r"|is|show|hide|toggle|use|without|require|invalid|missing|public|cancellation|resume)[_.-]?\Z"
)
_LEFT = lazy(r"(?a)[\w.$-]*\Z")
_LEFT_OF_KEY = lazy(r"(?a)[\w.$-]* ?\Z")
_KEY_LEFT = lazy(rf"(?ai)(?:{'|'.join(_KEY)})[_. -]?\Z")
_KEY_NAME = lazy(rf"(?ai)(?P<left>[\w.$ -]*?)(?P<word>{'|'.join(_WORDS)}){_SUFFIX}\Z")
_BARE = lazy(r"[^\s\"'`,;&|<>(){}\[\]\\]*+")
_NUMBER = lazy(r"-?[0-9][0-9.eE+-]*+")
_AWS = lazy(r"(?ai)secret[_.-]?access[_.-]?key")


class Name(NamedTuple):
    """A name that says its value is secret: which rule, and how it is judged."""

    rule: str
    is_password: bool

    def admits(self, value: str) -> bool:
        """Tell whether `value` is what such a name holds."""
        return is_password(value) if self.is_password else is_token(value)


def read_name(key: str) -> Name | None:
    """Read a JSON key; None when it is not the name of a secret."""
    found = _KEY_NAME.match(key) if len(key) <= 2 * _NAME_REACH else None
    return None if found is None else _name(found["left"], found["word"].lower())


def _name(left: str, word: str) -> Name | None:
    if word.startswith("key") and _KEY_LEFT.search(left) is None:
        return None
    if _HARMLESS.search(left):
        return None
    if _AWS.search(left + word):
        return Name(AWS_KEY, False)
    return Name(HEADER if left[:2].lower() == "x-" else ASSIGNMENT, word in _PASSWORD)


def _assigned(match: re.Match[str], text: str) -> Iterable[Found]:
    left = _left_of(text, match.start(), _LEFT_OF_KEY if match["word"].startswith("key") else _LEFT)
    name = _name(left, match["word"])
    if name is not None and not _is_segment(text, match.start() - len(left), match["sign"]):
        loud = match["sign"] == "=" and (left + text[match.start() : match.end("word")]).isupper()
        for found in _value(text, match, name, loud=loud):
            # A number under a JSON key stays, as it does in a document that parses.
            if match["closed"] is None or not _NUMBER.fullmatch(text, *found[:2]):
                yield found


def _left_of(text: str, at: int, pattern: re.Pattern[str]) -> str:
    near = pattern.search(text, max(0, at - _NAME_REACH), at)
    return near[0] if near else ""


def _is_segment(text: str, at: int, sign: str) -> bool:
    """Tell whether a name that starts at `at` is part of a longer one: `arn:…:secret:x`, `A::Key`."""
    return text.startswith("::", max(0, at - 2)) or (sign == ":" and text.startswith(":", max(0, at - 1)))


def _flagged(match: re.Match[str], text: str) -> Iterable[Found]:
    name = _name(match["left"], match["word"])
    if name is not None:
        yield from _value(text, match, name._replace(rule=FLAG), loud=True)


def _value(text: str, match: re.Match[str], name: Name, *, loud: bool) -> Iterable[Found]:
    """Find the value after `match`; `loud` is the way environments are written."""
    at, quote = match.end(), match["quote"]
    end = _closing(text, at, quote) if quote else -1
    if end >= 0:
        if name.admits(text[at:end]):
            yield at, end, name.rule
        return
    value = _bare(text, at, at + JUDGED)
    end = at + len(value)
    called = text[end : end + 1] in ("(", "[", "{", "<") and not MARKER.match(text, end)
    if not called and name.admits(value) and (loud or not is_reference(value)):
        yield at, at + len(_bare(text, at, len(text))), name.rule


def _bare(text: str, at: int, limit: int) -> str:
    run = _BARE.match(text, at, limit)
    return run[0].rstrip(".:") if run else ""


def _closing(text: str, at: int, quote: str) -> int:
    """Find the quote that closes: the same, with no further backslash before it."""
    end = text.find(quote, at, at + LONGEST)
    while end > at and text[end - 1] == "\\":
        end = text.find(quote, end + 1, at + LONGEST)
    return end


def _pattern(word: str) -> re.Pattern[str]:
    return lazy(rf"(?P<word>{word}){_SUFFIX}(?P<closed>\\{{0,7}}[\"'`])?\]?(?P<sign>{_SIGN}){_QUOTE}")


# Over lower-cased raw bytes: a quote may have any number of backslashes there, and a tab be `\t`.
_COARSE_TAIL = r"(?:[_-]?[0-9]{1,2}|[_-][a-z0-9]{2,10})?[\\\"'`\] \t\r\nt]{0,260}+[:=]"
_COARSE_KEY = rf"key(?:{'|'.join(f'(?<={left}key)|(?<={left}[_. -]key)' for left in _KEY)})(?:[_-]base)?"
_COARSE = tuple(
    f"{word}{_COARSE_TAIL}".encode()
    for word in ("pass(?:word|wd|phrase|code)", "pwd", "secret", "token", _COARSE_KEY)
)

NAMED = (
    Rule(
        names=(AWS_KEY, HEADER, ASSIGNMENT),
        literals=(*_PASSWORD, "secret", "token", "key"),
        folded=True,
        patterns=tuple(map(_pattern, _WORDS)),
        judge=_assigned,
        coarse=_COARSE,
    ),
    Rule(
        names=(FLAG,),
        literals=("--",),
        folded=True,
        patterns=(
            lazy(
                rf"--(?P<left>(?:[a-z0-9]{{1,16}}-){{0,3}})(?P<word>{'|'.join(_WORDS)})[ \t]+(?!-){_QUOTE}"
            ),
        ),
        judge=_flagged,
        coarse=(rb"--(?:[a-z0-9]{1,16}-){0,3}(?:passw|passp|passc|pwd|secret|token|key)[a-z_-]*+[\\ \t]",),
    ),
)
