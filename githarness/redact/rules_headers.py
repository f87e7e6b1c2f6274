"""Secrets that a protocol gives away: credentials in URLs, and HTTP headers.

The gap this closes: agents run `curl -v` and clients log requests, so the same
header appears as text, as a JSON key and inside quoted commands. The decision:
the scheme or header name stays and only the credential goes, so a transcript
still shows that a request was signed and how. `Basic` is only believed when it
decodes to `name:something`, since the word is an ordinary one.

What this does not do: a URL whose user name alone is the secret has no shape of
its own and is found only by a vendor's prefix.
"""

import base64
import binascii
import re
from collections.abc import Iterable

from githarness.redact.lazy import lazy
from githarness.redact.rule import Found, Rule
from githarness.redact.worth import is_placeholder, is_reference, is_token

_START = r"(?:\b|(?<=\\[nrtbf]))"
_QUOTED = r"\\{0,7}[\"'`]?"
_CREDENTIAL = r"[A-Za-z0-9._~+/=:-]"
# Words that stand for a password in the example URLs of every manual.
_URL_WORDS = {"password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "pw"}
_COOKIE_ATTRIBUTES = {"path", "domain", "expires", "max-age", "samesite", "priority", "version"}

_CONSTANT = lazy("[A-Z_]+")
_PAIR = lazy(r"([\w.%$-]{1,128})=([^;\s\"'\\,\[\]]*)(?:;[ \t]*|\Z)?")
_SCHEMED = lazy(rf"(?ai)(?:([a-z0-9-]{{2,20}})[ \t]+)?({_CREDENTIAL}+)")


def _url(match: re.Match[str], text: str) -> Iterable[Found]:
    secret = text[match.start(1) : match.end(1)]
    if secret.lower() not in _URL_WORDS and not is_placeholder(secret) and not _CONSTANT.fullmatch(secret):
        yield *match.span(1), ""


def _bearer(match: re.Match[str], text: str) -> Iterable[Found]:
    if is_token(text[match.start(1) : match.end(1)]):
        yield *match.span(1), ""


def _basic(match: re.Match[str], text: str) -> Iterable[Found]:
    if _is_basic(text[match.start(1) : match.end(1)]):
        yield *match.span(1), ""


def _is_basic(value: str) -> bool:
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


def _authorization(match: re.Match[str], text: str) -> Iterable[Found]:
    return under_authorization(text, match.end())


def under_authorization(text: str, at: int = 0) -> Iterable[Found]:
    """Give the credential of an Authorization value that starts at `at`."""
    found = _SCHEMED.match(text, at)
    if found is None:
        return
    scheme = (found[1] or "").lower()
    if _is_authorization(scheme, found[2]):
        yield *found.span(2), "authorization"


def _is_authorization(scheme: str, value: str) -> bool:
    if scheme == "basic":
        return _is_basic(value)
    # AWS signs the request: its first word is the key's id, which has a rule of its own.
    return is_token(value) and not scheme.startswith("aws4") and (scheme != "" or not is_reference(value))


def _cookie(match: re.Match[str], text: str) -> Iterable[Found]:
    return under_cookie(text, match.end())


def under_cookie(text: str, at: int = 0) -> Iterable[Found]:
    """Give the values of a Cookie or Set-Cookie header that tell one client from another."""
    while (pair := _PAIR.match(text, at)) is not None:
        if pair[1].lower() not in _COOKIE_ATTRIBUTES and is_token(pair[2]):
            yield *pair.span(2), "cookie"
        at = pair.end()
        while text.startswith(("HttpOnly", "Secure", "Partitioned"), at):
            at = text.find(";", at) + 1 or len(text)
            at += len(text[at : at + 8]) - len(text[at : at + 8].lstrip(" \t"))


HEADERS = (
    Rule(
        names=("url-credentials",),
        literals=("://",),
        folded=True,
        patterns=(lazy(r"://[^\s/:@\"'<>\\]{0,128}:([^\s/@\"'<>\\]{3,256})@(?=[a-z0-9\[$])"),),
        judge=_url,
        coarse=(
            rb"://[^\s/:@\"]{0,2000}:[^\s/@\"]{3,4000}@",
            rb":\\[\\/]{1,300}+[^\s/:@\"]{0,2000}:[^\s/@\"]{3,4000}@",
        ),
    ),
    Rule(
        names=("bearer-token",),
        literals=("bearer",),
        folded=True,
        patterns=(lazy(rf"{_START}bearer[ \t]+({_CREDENTIAL}{{10,}}+)"),),
        judge=_bearer,
    ),
    Rule(
        names=("basic-auth",),
        literals=("basic ",),
        folded=True,
        patterns=(lazy(rf"{_START}basic[ ]+([a-z0-9+/]{{8,}}+={{0,2}})"),),
        judge=_basic,
        coarse=(rb"basic +[a-z0-9+/]{8}",),
    ),
    Rule(
        names=("authorization",),
        literals=("authorization",),
        folded=True,
        patterns=(lazy(rf"{_START}authorization{_QUOTED}[ \t]*[:=][ \t]*{_QUOTED}"),),
        judge=_authorization,
    ),
    Rule(
        names=("cookie",),
        literals=("cookie",),
        folded=True,
        patterns=(lazy(rf"{_START}(?:set-)?cookie{_QUOTED}[ \t]*:[ \t]*{_QUOTED}"),),
        judge=_cookie,
    ),
)
