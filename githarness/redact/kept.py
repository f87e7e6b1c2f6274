"""What is kept although a rule fires: signatures and opaque content, and of ids what is no key.

The gap this closes: redactors that treated every string alike have cut signatures
and encrypted reasoning out of sessions, which then could not be resumed, and ids
out of results, which then belonged to no call. The decision: this closed list, by
JSON key. In an id only the rules of vendors count, since their shapes are no accident:
somebody used a key as an id, and equal ids get equal markers, so what they join stays
joined. A rule that would have fired otherwise is counted (`Redactor.spared`), so that a
caller may refuse what it must not alter.

| key | reason |
|---|---|
| `id`, `uuid`, `*_id`, `*Id`, `*Uuid`, their plurals | results, parents and runs are joined by them |
| `signature`, `thoughtSignature`, `*_signature` | verified by the provider on resume |
| `encrypted_content`, `encrypted_index`, `reasoningOpaque`, … | ciphertext only the provider reads |
| `data` beside `redacted_thinking`, `reasoning.encrypted`, base64 or an image type | ciphertext or an image |
| `data` that is nothing but base64 | the same, where the client names no type |

Names that hold a secret word as well (`aws_access_key_id`, `secret_id`) are not on
the list. What this does not do: it is not asked inside plain text, where a key is
a guess.
"""

import re

_IDENTITY = re.compile(r"(?a)ids?|ID|uuid|\w*(?:_ids?|[a-z0-9]I[dD]s?|_uuid|[a-z]U(?:uid|UID)s?)")
_SECRET_WORD = re.compile(r"(?ai)key|secret|token|passw")
_OPAQUE = frozenset(
    (
        "signature", "thoughtSignature", "thought_signature", "reasoning_signature",
        "encrypted_content", "encryptedContent", "encrypted_index", "encrypted_stdout",
        "reasoningOpaque", "reasoning_opaque", "reasoningEncryptedContent", "reasoning_encrypted_content",
    )
)  # fmt: skip
_TYPE_KEYS = frozenset((b'"type"', b'"mimeType"', b'"mime_type"', b'"mediaType"', b'"media_type"'))
_OPAQUE_TYPE = re.compile(
    rb'"(?:redacted_thinking|reasoning\.encrypted|base64|(?:image|audio|video)(?:\\?/[^"]*)?)"'
)
# 64: longer than any vendor's key that is made of base64's letters alone.
_BASE64 = re.compile(rb'"[A-Za-z0-9+/\\]{64,}={0,2}"')


def is_opaque_key(key: str) -> bool:
    """Tell whether whatever stands under `key` is never touched."""
    return key in _OPAQUE


def is_identity_key(key: str) -> bool:
    """Tell whether an id stands under `key`, which joins records."""
    return _IDENTITY.fullmatch(key) is not None and _SECRET_WORD.search(key) is None


def marks_opaque(key: bytes, literal: bytes) -> bool:
    """Tell whether this pair of literals says that the `data` beside it is opaque."""
    return key in _TYPE_KEYS and _OPAQUE_TYPE.fullmatch(literal) is not None


def is_opaque_data(literal: bytes) -> bool:
    """Tell whether a string literal under `data` is base64 and nothing else."""
    return _BASE64.fullmatch(literal) is not None
