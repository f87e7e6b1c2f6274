"""Text that a model or a person will read: what may not stand in it, and how long it may be.

The gap this closes: a reviewer signs what is visible, and a model obeys what is not:
zero-width, bidirectional and tag characters carry whole sentences past a reader. The
decision: text that goes into a proposal holds none of them. The ranges are written
out, because a signed document must be legal or not on every Python alike, and the
tables of the standard library change with its version; characters that this Python
does not know are refused when a text is proposed and never when one is read.

What it does not do: it judges no meaning, and letters that look like others are
visible, so they are reported elsewhere and not refused.
"""

import re
import unicodedata

from githarness.errors import RefusedError

# One entry is one thing to say, and a review shows all of it on a screen or two.
GUIDANCE_LIMIT = 2_000
# The longest description met in recorded surfaces is half of this.
DESCRIPTION_LIMIT = 20_000
RATIONALE_LIMIT = 2_000
NAME_LIMIT = 200

# Controls but line feed and tab; format, bidirectional and tag characters; fillers and
# blanks; line and paragraph separators; variation selectors; surrogates, private use.
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u070f\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\uffff\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff]"
)


def unseen(text: str) -> tuple[str, ...]:
    """Name the characters of `text` that draw nothing or move what is drawn, as code points."""
    return tuple(dict.fromkeys(f"U+{ord(character):04X}" for character in _UNSEEN.findall(text)))


def hidden(text: str) -> tuple[str, ...]:
    """Name what `unseen` names, and the characters this Python's Unicode does not know."""
    if text.isascii():
        return unseen(text)
    unknown = (f"U+{ord(one):04X}" for one in text if unicodedata.category(one) == "Cn")
    return tuple(dict.fromkeys((*unseen(text), *unknown)))


def fault(text: str, limit: int, *, lines: bool = True) -> str | None:
    """Say why a stored text is not legal; None when it is. The same on every Python."""
    points = unseen(text)
    if points:
        return f"holds characters that cannot be seen ({', '.join(points[:8])})"
    if len(text) > limit:
        return f"has {len(text)} characters, of which {limit} are allowed"
    if not lines and ("\n" in text or "\t" in text):
        return "must be one line"
    return None


def check(text: str, what: str, limit: int, *, lines: bool = True) -> str:
    """Return `text`; RefusedError when it may not be proposed, naming the characters."""
    reason = fault(text, limit, lines=lines)
    points = hidden(text)
    if reason is None and points:
        reason = f"holds characters that this Python does not know ({', '.join(points[:8])})"
    if reason is not None:
        raise RefusedError(f"{what} {reason}", hint="write it short, in visible characters")
    return text
