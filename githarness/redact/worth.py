"""Whether a value that stands where a secret would stand is one.

The gap this closes: `token=token`, `password: str`, `${API_KEY}` and `<your-key>`
outnumber real secrets in transcripts by thousands, since agents write code. The
decision: the name raises the question, and the shape of the value answers it.
Refused: an entropy threshold, which real passwords fail and identifiers pass.

What this does not do: it does not find passwords made of plain words with
spaces, nor short ones made of letters alone; those look like prose.
"""

import re

from githarness.redact.rule import MARKER

# Far above any token seen (Azure AD: 2.5 KB), and short enough to stay cheap.
LONGEST = 65_536
# No more of a value than this is read to judge it.
JUDGED = 256
# A six-letter password is one; a six-letter `token` is a word of some grammar.
SHORTEST_PASSWORD = 6
SHORTEST_TOKEN = 10
# Letters alone are a word up to this length (the longest in common use has 28,
# but words that long stand in no assignment).
LONGEST_WORD = 19

_PLACEHOLDER = re.compile(
    r"(?ai)your[-_a-z]|example|placeholder|change[-_]?me|replace[-_]?(?:me|with)|redacted|dummy"
    r"|insert[-_]|x{4,}|\*{3,}|\.{3}|\u2026|\$\{|\{\{|<%|%\(|\$\(|^[$<{%(@!&]|>$"
)
# Only words: a run of `x` in a key with a vendor's prefix may be chance.
_WORDED = re.compile(r"(?ai)your[-_]|example|placeholder|replace[-_]|[-_]here|change[-_]?me|insert[-_]")
_ELSEWHERE = re.compile(
    r"(?ai)[~.]{0,2}/|[a-z]:\\|(?:https?|arn|env|file|vault|op|keychain|sha\d+|urn|data|projects):?[:/]"
)
_SMALL_PATH = re.compile(r"(?a)[a-z0-9._-]+(?:/[a-z0-9._-]+)+/?")
_PART = r"(?:[A-Za-z]{1,15}[0-9]{0,3}|[0-9]{1,3})"
_SLUG = re.compile(rf"{_PART}(?:[-_.:/]{_PART})*")
_REFERENCE = re.compile(r"(?a)[A-Za-z_$][\w$]*(?:[.-][A-Za-z_$][\w$]*)*")
_SPACE = re.compile(r"\s")
_SPECIAL = re.compile(r"[^\w.\\=-]")


def is_placeholder(value: str) -> bool:
    """Tell whether `value` only holds a secret's place; one of our markers does."""
    rest = MARKER.sub("", value)
    return len(set(rest)) < 3 or _PLACEHOLDER.search(rest) is not None


def is_worded(value: str) -> bool:
    """Tell whether a vendor's shape is filled with words that ask for a key."""
    return _WORDED.search(value) is not None


def is_password(value: str) -> bool:
    """Tell whether a value under a password's name is a password."""
    value = value[:JUDGED] if len(value) <= LONGEST else ""
    if not _is_candidate(value, SHORTEST_PASSWORD):
        return False
    if value.isalpha():
        return len(value) > LONGEST_WORD
    return any(c.isdigit() for c in value) or _SPECIAL.search(value) is not None


def is_token(value: str) -> bool:
    """Tell whether a value under a token's or key's name is a machine's secret."""
    value = value[:JUDGED] if len(value) <= LONGEST else ""
    if not _is_candidate(value, SHORTEST_TOKEN) or _SMALL_PATH.fullmatch(value):
        return False
    if value.isalpha():
        return len(value) > LONGEST_WORD and not value.islower() and not value.isupper()
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and not _SLUG.fullmatch(value)


def is_reference(value: str) -> bool:
    """Tell whether an unquoted value reads as code: an identifier, perhaps dotted.

    Two digits or more make a password of it: `hunter2hunter2` is none of a
    programmer's names, `oauth2_token` is.
    """
    return _REFERENCE.fullmatch(value) is not None and sum(c.isdigit() for c in value) < 2


def _is_candidate(value: str, shortest: int) -> bool:
    if len(value) < shortest or _SPACE.search(value) is not None:
        return False
    return not is_placeholder(value) and _ELSEWHERE.match(value) is None
