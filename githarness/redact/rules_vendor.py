r"""Secrets that say themselves what they are: a vendor's prefix and a shape.

The gap this closes: these need no name beside them, so they are found in prose,
in error messages and in URLs. The decision: one rule per vendor, at least as long
as the shortest token that vendor issues, so that a mention of the prefix stays.
A token starts where no letter or digit stands before it, except the letter of an
escape (`\n`), which text inside text leaves there. Documented example keys are
removed like real ones: nobody can tell them apart for certain.

What this does not do: vendors whose keys are bare hex or a bare UUID are only
found by name (`rules_named`).
"""

import re
from collections.abc import Iterable

from githarness.redact.lazy import lazy
from githarness.redact.rule import Found, Rule
from githarness.redact.worth import is_worded

# A block without its END line is followed this far: 16-kbit keys take 13 KB.
_PEM_REACH = 16_384

_PEM_END = lazy(r"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINE = lazy(r"[A-Za-z0-9+/=]{40,}+")
_PEM_BODY = lazy(r"(?:[A-Za-z0-9+/=]++|\\+[rn]|[\s\\\"',+>|-])*+")


def _pattern(head: str, rest: str) -> re.Pattern[str]:
    # The boundary is looked for after the head, so that a search can jump from head to head.
    start = rf"(?:(?<![A-Za-z0-9]{head})|(?<=\\[nrtbf]{head}))"
    return lazy(f"{head}{start}{rest}(?![A-Za-z0-9])")


def _shaped(name: str, literals: str, head: str, rest: str, *coarse: bytes) -> Rule:
    return Rule(
        names=(name,), literals=tuple(literals.split()), patterns=(_pattern(head, rest),), coarse=coarse
    )


def _worded(name: str, literals: str, head: str, *rests: str) -> Rule:
    """Make a rule whose shape also fits words: `sk-ant-your-key-goes-in-here`."""
    patterns = tuple(_pattern(head, rest) for rest in rests)
    return Rule(names=(name,), literals=tuple(literals.split()), patterns=patterns, judge=_unless_words)


def _unless_words(match: re.Match[str], _text: str) -> Iterable[Found]:
    if not is_worded(match[0]):
        yield *match.span(), ""


def _pem(match: re.Match[str], text: str) -> Iterable[Found]:
    body = match.end()
    following = text.find("-----BEGIN", body, body + _PEM_REACH)
    limit = following if following >= 0 else body + _PEM_REACH
    end = _PEM_END.search(text, body, limit)
    if end is not None:
        if _PEM_LINE.search(text, body, end.start()):
            yield match.start(), end.end(), ""
        return
    run = _PEM_BODY.match(text, body, limit)
    if run is not None and _PEM_LINE.search(run[0]):
        yield match.start(), body + len(run[0].rstrip(" \r\n\t\\\"',>|")), ""


_PREFIXED = (
    _shaped("age-key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _shaped(
        "aws-access-key", "AKIA ASIA ABIA ACCA", "A[KSBC][IC]A", "[A-Z0-9]{16}", b"a[ksbc][ic]a[a-z0-9]{16}"
    ),
    _shaped("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", "[A-Za-z0-9]{36,}+", b"gh[pousr]_"),
    _shaped("github-fine-grained", "github_pat_", "github_pat_", "[A-Za-z0-9_]{50,}+"),
    _shaped(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent-",
        "gl",
        r"(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-(?=[A-Za-z_.-]{0,40}[0-9])[A-Za-z0-9_.-]{20,}+",
        b"gl[a-z]{2,5}-",
    ),
    _shaped("slack-token", "xox", "xox", r"[a-z](?:\.xox[a-z])?-[0-9][A-Za-z0-9-]{20,}+"),
    _shaped("slack-token", "xapp-", "xapp-", "[0-9]-[A-Z0-9]{1,32}-[0-9]{1,32}-[a-z0-9]{20,}+"),
    _shaped(
        "slack-webhook",
        "hooks.slack",
        r"hooks\.slack",
        r"(?:-gov)?\.com/(?:services|workflows|triggers)/"
        r"([A-Z0-9]{6,32}/[A-Za-z0-9]{6,32}/[A-Za-z0-9/]{16,}+)",
    ),
    _shaped(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        "[sr]k_",
        "(?:live|test)_[A-Za-z0-9]{16,}+",
        b"k_live_",
        b"k_test_",
    ),
    _shaped("stripe-key", "whsec_", "whsec_", "[A-Za-z0-9+/]{24,}+=*"),
    _shaped("google-api-key", "AIza", "AIza", "[A-Za-z0-9_-]{35}"),
    _worded("anthropic-key", "sk-ant-", "sk-ant-", "[A-Za-z0-9_-]{20,}+"),
    _worded(
        "openai-key",
        "sk-",
        "sk-",
        "(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}+",
        "[A-Za-z0-9]{32,}+",
    ),
    _shaped("inference-key", "sk-or-", "sk-or-", "(?:v1-)?[0-9a-f]{32,}+"),
    _shaped("inference-key", "gsk_", "gsk_", "[A-Za-z0-9]{40,}+"),
    _shaped("inference-key", "xai-", "xai-", "[A-Za-z0-9]{60,}+"),
    _shaped("inference-key", "pplx-", "pplx-", "[A-Za-z0-9]{40,}+"),
    _shaped("inference-key", "r8_", "r8_", "[A-Za-z0-9]{37}"),
    _shaped("huggingface-token", "hf_", "hf_", "[A-Za-z0-9]{30,}+"),
    _shaped("npm-token", "npm_", "npm_", "[A-Za-z0-9]{36}"),
    _shaped("pypi-token", "pypi-AgE", "pypi-AgE", "[A-Za-z0-9_-]{32,}+"),
    _shaped("docker-token", "dckr_pat_ dckr_oat_", "dckr_[po]at_", "[A-Za-z0-9_-]{20,}+", b"dckr_"),
    _shaped("sendgrid-key", "SG.", r"SG\.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _shaped("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "do[por]_v1_", "[0-9a-f]{64}", b"do[por]_v1_"),
    _shaped("databricks-token", "dapi", "dapi", "[0-9a-f]{32}(?:-[0-9])?"),
    _shaped("supabase-key", "sb_secret_", "sb_secret_", "[A-Za-z0-9_-]{20,}+"),
    _shaped("supabase-key", "sbp_", "sbp_", "(?:v0_)?[0-9a-f]{40}"),
    _shaped("mailgun-key", "key-", "key-", "[0-9a-f]{32}"),
    _shaped(
        "shopify-token",
        "shpat_ shpss_ shpca_ shppa_",
        "shp[acsp][ats]_",
        "[0-9a-fA-F]{32}",
        b"shp[acsp][ats]_",
    ),
    _shaped(
        "linear-key", "lin_api_ lin_oauth_", "lin_", "(?:api|oauth)_[A-Za-z0-9]{32,}+", b"lin_(?:api|oauth)_"
    ),
    _shaped("notion-token", "ntn_", "ntn_", "[A-Za-z0-9]{40,}+"),
    _shaped("atlassian-token", "ATATT3", "ATATT3", "[A-Za-z0-9_=-]{50,}+"),
    _shaped(
        "vault-token",
        "hvs. hvb. hvr.",
        r"hv[sbr]\.",
        "(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{24,}+",
        rb"hv[sbr]\.",
    ),
)

_PLACED = (
    Rule(
        names=("private-key",),
        literals=("PRIVATE KEY",),
        patterns=(lazy(r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"),),
        judge=_pem,
    ),
    Rule(
        names=("twilio-key",),
        literals=("SK",),
        patterns=(_pattern("SK", "[0-9a-f]{32}"),),
        coarse=(b"sk[0-9a-f]{32}",),  # base64 has `SK` in one line of twenty
    ),
    Rule(
        names=("azure-storage-key",),
        literals=("AccountKey=", "SharedAccessKey="),
        patterns=(lazy("(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,}+={0,2})"),),
        coarse=(b"accountkey=", b"accesskey="),
    ),
    Rule(
        names=("signed-url",),
        literals=("sig=", "-Signature="),
        patterns=(
            lazy("(?<=[?&;])sig=((?=[A-Za-z%/+]{0,40}[0-9])[A-Za-z0-9%+/]{40,}+={0,2})"),
            lazy("(?<=[?&;]X-)(?:Amz|Goog)-Signature=([0-9a-f]{64,}+)"),
        ),
    ),
    Rule(
        names=("discord-token",),
        literals=("discord", "Discord", "DISCORD"),
        coarse=(b"discord",),
        patterns=(
            lazy(
                r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,25}"
                r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![\w-])"
            ),
        ),
    ),
    _shaped(
        "discord-webhook",
        "discord",
        "discord",
        r"(?:app)?\.com/api(?:/v[0-9]+)?/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{50,}+)",
        b"discord",
    ),
    Rule(
        names=("telegram-token",),
        literals=(":AA",),
        patterns=(lazy("(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9])"),),
    ),
    Rule(
        names=("jwt",),
        literals=("eyJ",),
        # The class stands in the look-behind too: a run that is no token is tried once, not at each `-eyJ`.
        patterns=(
            lazy(
                r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\\[nrtbf]eyJ))"
                r"[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{16,}+"
            ),
        ),
    ),
)

VENDOR = (*_PREFIXED, *_PLACED)
