"""Whether a value that stands where a secret would stand is one.

The gap this closes: `token=token`, `password: str`, `${API_KEY}` and `<your-key>`
outnumber real secrets in transcripts by thousands, since agents write code. The
decision: the name raises the question, and the shape of the value answers it.
Refused: an entropy threshold, which real passwords fail and identifiers pass.

What this does not do: it does not find passwords made of plain words with
spaces, nor short ones made of letters alone; those look like prose.
"""


from githarness.redact.lazy import lazy
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

_PLACEHOLDER = lazy(
    r"(?ai)your[-_a-z]|example|placeholder|change[-_]?me|replace[-_]?(?:me|with)|redacted|dummy"
    r"|insert[-_]|x{4,}|\*{3,}|\.{3}|\u2026|\$\{|\{\{|<%|%\(|\$\(|^[$<{%(@!&]|>$"
)
# Only words: a run of `x` in a key with a vendor's prefix may be chance.
_WORDED = lazy(r"(?ai)your[-_]|example|placeholder|replace[-_]|[-_]here|change[-_]?me|insert[-_]")
_ELSEWHERE = lazy(
    r"(?ai)[~.]{0,2}/|[a-z]:\\|(?:https?|arn|env|file|vault|op|keychain|sha\d+|urn|data|projects):?[:/]"
)
_SMALL_PATH = lazy(r"(?a)[a-z0-9._-]+(?:/[a-z0-9._-]+)+/?")
_PART = r"(?:[A-Za-z]{1,15}[0-9]{0,3}|[0-9]{1,3})"
_SLUG = lazy(rf"{_PART}(?:[-_.:/]{_PART})*")
_REFERENCE = lazy(r"(?a)[A-Za-z_$][\w$]*(?:[.-][A-Za-z_$][\w$]*)*")
_DIGIT = lazy("[0-9]")
_LETTER = lazy("[A-Za-z]")
_SPACE = lazy(r"\s")
_SPECIAL = lazy(r"[^\w.\\=-]")


def is_placeholder(value: str) -> bool:
    """Tell whether `value` only holds a secret's place; one of our markers does."""
    rest = MARKER.sub("", value)
    return len(set(rest)) < 3 or _PLACEHOLDER.search(rest) is not None


def is_worded(value: str) -> bool:
    """Tell whether a vendor's shape is filled with words that ask for a key."""
    return _WORDED.search(value) is not None


def is_password(value: str) -> bool:
    """Tell whether a value under a password's name is a password."""
    head = value[:JUDGED] if len(value) <= LONGEST else ""
    if head.isalpha():
        return len(head) > LONGEST_WORD and _is_candidate(head, SHORTEST_PASSWORD)
    unlike_words = _DIGIT.search(head) is not None or _SPECIAL.search(head) is not None
    return unlike_words and _is_candidate(head, SHORTEST_PASSWORD)


def is_token(value: str) -> bool:
    """Tell whether a value under a token's or key's name is a machine's secret."""
    head = value[:JUDGED] if len(value) <= LONGEST else ""
    if head.isalpha():
        mixed = not head.islower() and not head.isupper()
        return mixed and len(head) > LONGEST_WORD and _is_candidate(head, SHORTEST_TOKEN)
    if _DIGIT.search(head) is None or _LETTER.search(head) is None:
        return False
    like_words = _SLUG.fullmatch(head) is not None or _SMALL_PATH.fullmatch(head) is not None
    return not like_words and _is_candidate(head, SHORTEST_TOKEN)


def is_reference(value: str) -> bool:
    """Tell whether an unquoted value reads as code: an identifier, perhaps dotted.

    Without a dot, two digits or more make a password of it: `hunter2hunter2` is
    none of a programmer's names, `oauth2_token` is.
    """
    if _REFERENCE.fullmatch(value) is None:
        return False
    return "." in value or len(_DIGIT.findall(value)) < 2


def _is_candidate(value: str, shortest: int) -> bool:
    if len(value) < shortest or _SPACE.search(value) is not None:
        return False
    return not is_placeholder(value) and _ELSEWHERE.match(value) is None
