r"""One escaper for hostile text: what is shown is what is there, and no more.

The gap this closes: terminals obey escape sequences, and bidirectional, zero-width
and tag characters let a description read differently from its bytes; git and most
tools print them raw. The decision: every character that is not plainly visible
becomes `\u{hex}`, and so does a backslash that would look like one of ours, so
that two different texts never look the same. What this does not do: it removes
nothing, and it does not judge look-alike letters, which are visible.
"""

import re
import unicodedata

# Letters and symbols by category that nevertheless draw nothing.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc"

# Alphabets whose letters are taken for each other. Japanese mixes scripts in one word.
_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL"})

_PLAIN = re.compile(r"[ -\[\]-~]*")
_PLAIN_LINES = re.compile(r"[ -\[\]-~\n]*")


def line(text: str) -> str:
    r"""Escape `text` for one line: line ends and tabs are `\u{a}` and `\u{9}`."""
    return text if _PLAIN.fullmatch(text) else _escape(text, keep="")


def block(text: str) -> str:
    """Escape `text` for several lines: line feeds stay, everything else is as in `line`."""
    return text if _PLAIN_LINES.fullmatch(text) else _escape(text, keep="\n")


def short(text: str, width: int) -> str:
    """Escape one line and cut it to `width` columns; a cut shows how much is missing."""
    shown = line(text[: width + 1])
    if len(shown) <= width and len(text) <= width:
        return shown
    more = f"… (+{len(text) - width})" if len(text) > width else "…"
    return shown[:width] + more


def _escape(text: str, keep: str) -> str:
    out = []
    for index, char in enumerate(text):
        if char == "\\":
            out.append("\\u{5c}" if text.startswith("u{", index + 1) else char)
        elif char in keep or _visible(char):
            out.append(char)
        else:
            out.append(f"\\u{{{ord(char):x}}}")
    return "".join(out)


def _visible(char: str) -> bool:
    if " " <= char <= "~":
        return True
    category = unicodedata.category(char)
    # marks: variation selectors and the like draw nothing; spaces look like spaces
    if category[0] in "CZ" or char in _BLANK:
        return False
    return not (category == "Mn" and "VARIATION SELECTOR" in unicodedata.name(char, ""))


def scripts(word: str) -> tuple[str, ...]:
    """Name the alphabets that the letters of one word are of, by the first word of their Unicode names."""
    found = (unicodedata.name(char, "").split(" ")[0] for char in word if char.isalpha())
    return tuple(sorted({name for name in found if name in _SCRIPTS}))
