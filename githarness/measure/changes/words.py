"""What a text hides or asks for: invisible characters, look-alikes, added instructions.

The gap this closes: the description of a tool is an instruction to a model, and the
edits that matter are those a reviewer does not see: a zero-width character, a Cyrillic
letter in a known name, one added sentence that names another tool or a key file. The
decision: compare what a text holds now with what it held, and note only what was added,
so that a description that always had a link raises nothing.

What it does not do: it does not judge meaning. A note is a reason to look, and no note
is no proof of harmlessness.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

# Letters of other scripts that most fonts draw like a Latin one. NFKC, applied first,
# already folds full-width, mathematical and superscript forms.
_DRAWN_LIKE = {
    "a": "аα", "b": "Ь", "c": "с", "d": "ԁ", "e": "е", "g": "ɡց", "h": "һհ", "i": "іιı", "j": "јϳ",
    "k": "кκ", "l": "ӏǀ", "n": "ո", "o": "оοօ", "p": "рρ", "q": "ԛ", "r": "г", "s": "ѕ", "t": "т",
    "u": "սυ", "v": "νѵ", "w": "ԝ", "x": "хχ", "y": "уγ", "A": "АΑ", "B": "ВΒ", "C": "С", "E": "ЕΕ",
    "G": "Ԍ", "H": "НΗ", "I": "ІΙӀ", "J": "ЈͿ", "K": "КΚ", "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ",
    "Q": "Ԛ", "S": "Ѕ", "T": "ТΤ", "V": "Ѵ", "W": "Ԝ", "X": "ХΧ", "Y": "ҮΥ", "Z": "Ζ",
}  # fmt: skip
_LATIN = str.maketrans({twin: letter for letter, twins in _DRAWN_LIKE.items() for twin in twins})

# Categories that draw nothing, or move what is drawn: control, format, separators of
# lines, surrogates, private use and unassigned.
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_PLAIN_CONTROLS = frozenset("\n\t\r")
# Fillers and blanks that Unicode files under letters and symbols.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")

_PLAIN = re.compile(r"[\n\t\r\x20-\x7e]*")
_WORD = re.compile(r"\w+")
_URL = re.compile(r"\b(?:https?|ftp|file|data|ssh)://?[^\s\"'`<>)\]]+|\bwww\.[^\s\"'`<>)\]]+", re.IGNORECASE)
_PATH = re.compile(
    r"(?<![\w/:.])(?:~/|\.\.?/|/[\w.{}-]+/|[A-Za-z]:\\)[^\s\"'`<>),;]*"
    r"|(?<![\w/])\.(?:env|ssh|aws|netrc|npmrc|git|config)\b[\w./-]*|\bid_(?:rsa|ed25519|ecdsa)\b"
)
_SENTENCE = re.compile(r"[^.!?\n]+")
_IMPERATIVE = re.compile(
    r"\b(?:always|never|must|should|before|after|first|instead|only|do not|don't|call|use|run|invoke|ignore|"
    r"prefer|avoid|pass|send|include|read)\b",
    re.IGNORECASE,
)
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your )?(?:previous|prior|above|other|earlier)\b"
    r"|\bdo(?: not|n't) (?:tell|mention|inform|show|reveal)\b|<(?:important|system|secret)\b"
    r"|\bwithout (?:asking|telling|informing)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_QUOTED = re.compile(r"[`'\"]([A-Za-z0-9_.-]+)[`'\"]")


def invisible(text: str) -> Counter[str]:
    """Count the characters a reader cannot see; joiners inside an emoji are left out."""
    found: Counter[str] = Counter()
    if _PLAIN.fullmatch(text):
        return found
    before = ""
    for character in text:
        emoji = character in _JOINERS and before != "" and unicodedata.category(before) in {"So", "Sk", "Mn"}
        if not emoji and _is_invisible(character):
            found[character] += 1
        before = character
    return found


def _is_invisible(character: str) -> bool:
    if character in _PLAIN_CONTROLS:
        return False
    # Variation selectors carry hidden data as well as any zero-width character.
    variation = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return variation or character in _BLANKS or unicodedata.category(character) in _UNSEEN


def lookalikes(text: str) -> Counter[str]:
    """Count letters drawn like a Latin one that stand in a word beside Latin letters."""
    found: Counter[str] = Counter()
    if text.isascii():
        return found
    for word in _WORD.findall(text):
        if any(letter.isascii() and letter.isalpha() for letter in word):
            found.update(letter for letter in word if ord(letter) in _LATIN)
    return found


def skeleton(text: str) -> str:
    """Reduce a text to what a reader sees: equal skeletons look the same."""
    if _PLAIN.fullmatch(text):
        return text
    folded = unicodedata.normalize("NFKC", text).translate(_LATIN)
    return "".join(letter for letter in folded if not _is_invisible(letter))


def looks_the_same(was: str, now: str) -> bool:
    """Tell whether two texts differ and a reader could not tell."""
    return was != now and skeleton(was) == skeleton(now)


def added(was: str, now: str, tools: Collection[str], own: str | None) -> tuple[str, ...]:
    """Note what `now` holds that `was` did not; `own` is the name of the tool that says it.

    Notes are fixed words and code points, so they may be shown anywhere.
    """
    notes = [*hidden(was, now)]
    if Counter(_PATH.findall(now)) - Counter(_PATH.findall(was)):
        notes.append("adds a file path")
    if Counter(_URL.findall(now)) - Counter(_URL.findall(was)):
        notes.append("adds a URL")
    before, after = _sentences(was), _sentences(now)
    fresh = _orders(after - before, tools) - _orders(before - after, tools)
    if any(name != own for name, _ in fresh):
        notes.append("adds an instruction about another tool")
    if Counter(_OVERRIDE.findall(now)) - Counter(_OVERRIDE.findall(was)):
        notes.append("adds an instruction to set other instructions aside")
    return tuple(notes)


def hidden(was: str, now: str) -> Iterator[str]:
    """Note invisible and look-alike characters that were added, by code point."""
    for what, find in (("an invisible", invisible), ("a look-alike", lookalikes)):
        extra = find(now) - find(was)
        if extra:
            points = ", ".join(f"U+{ord(character):04X}" for character in sorted(extra)[:8])
            yield f"adds {what} character ({points})"


def _sentences(text: str) -> set[str]:
    return {sentence.strip() for sentence in _SENTENCE.findall(text)}


def _orders(sentences: Iterable[str], names: Collection[str]) -> set[tuple[str, str]]:
    """Return each tool with each word of command that stands in one sentence with it."""
    return {
        (name, word.lower())
        for sentence in sentences
        for name in mentioned(sentence, names)
        for word in _IMPERATIVE.findall(sentence)
    }


def mentioned(sentence: str, names: Collection[str]) -> set[str]:
    """Return the tools that a sentence names.

    A name that is a plain word ("read") counts only in quotes or before "tool", since
    prose is full of such words; one that no prose would hold ("read_file") counts bare.
    """
    tokens = [token.rstrip(".-") for token in _TOKEN.findall(sentence)]
    plain = {*_QUOTED.findall(sentence), *(one for one, then in pairwise(tokens) if then == "tool")}
    return {name for name in (*plain, *tokens) if name in names and (name in plain or _is_coined(name))}


def _is_coined(name: str) -> bool:
    return not (name.isalpha() and (name.islower() or name.istitle()))
