"""Carry-over: whether a proposal reproduces words of something its author read.

The gap this closes: a page or a tool result that a diagnostician read may dictate
what it proposes. There is no list of what an injection looks like, and none is
needed: reproduction is the sign. Comparing words as they are written misses 14 of 17
ways of writing the same words (zero-width characters, look-alikes, spaced letters,
hyphens, tags, other scripts' forms).

The decision: a text carries over when eight consecutive words of a source, with
everything but letters and digits squeezed out of them, stand in the text squeezed
likewise. Scripts written without spaces count half a word per character. Only the
proposal is indexed, so a source is walked once whatever its size (5 MB: well under
two seconds). Twelve in a hundred honest diagnoses share eight words with what they
read, mostly wording of the task, so a refusal shows the words and can be answered
by writing one's own.

What it does not do: a translation, a paraphrase, a synonym in every eighth word and
digits for letters pass. Counters-only evidence and typed changes are the barrier;
this is the second one. A value of three words is too short for it, so values are
held by their types.
"""

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from githarness.measure.changes import words as looks

# Shorter runs meet by accident in technical prose; longer ones let a sentence through.
CARRY_OVER_WORDS = 8
# Above this almost nothing that a person would call copied is found any more.
MOST_WORDS = 12

# Eight words squeezed have at least eight characters, so no match lacks such a piece.
_PIECE = 8
# Squeezed runs shorter than this ("C O N T E N T S") also occur inside plain words:
# they count only where the proposal has the same words, not just the same letters.
_SQUEEZED = 16

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Text until they are used: whoever only verifies waits 7 ms for tables this large.
_TOKEN = rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+"
_ASCII_WORD = "[a-z0-9]+"
_IS_UNSPACED = f"[{_UNSPACED}]"
_FOREIGN = re.compile("[^\0-\x7f]+")
_HYPHENATED = re.compile(r"-[ \t]*\r?\n[ \t]*")
_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]{0,500}|!--[^<>]{0,500}--)>")

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_LETTERS = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " "}
# What `cat -n`, `grep -n` and the tools of agents put before a line, and tables between.
_NUMBERED = re.compile(r"(?m)^(?:[^\s:|]{1,200}[:-])?[ \t|]*\d{1,7}(?:[ \t]*[\u2192|:-]|\t)")

# Line ends that Unicode files under what cannot be seen; they part words all the same.
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
_MARKS = frozenset({"Mn", "Me"})

# A source may be written as one long word. Longer than any word of prose, such a
# thing is read as words of a common length.
_LONGEST_WORD = 24
_COMMON_WORD = 5

# Letters whose capital is drawn like one Latin letter and whose small form like another
# (Greek nu is N and v): to be sure of either, both Latin letters are taken for one.
_ONE_FOR_TWO = str.maketrans("vyl", "nui")


class Quotation(msgspec.Struct, frozen=True, kw_only=True):
    """The run of words that was reproduced, and which of the sources holds it.

    The words are a third party's: show them as a quotation, escaped.
    """

    words: str
    source: int


class _Text(msgspec.Struct, frozen=True):
    """A text as words and squeezed.

    `starts` holds where each word begins in the squeezed text, `weights` what all
    words before it weigh in half words; both have one entry more than there are words.
    """

    tokens: list[str]
    starts: list[int]
    weights: Sequence[int]
    squeezed: str


class _Proposal(msgspec.Struct, frozen=True):
    """One reading of a proposal: squeezed, its pieces, and its words between spaces."""

    squeezed: str
    spaced: str
    pieces: frozenset[str]


class _Folding(dict[int, str]):
    """Fills itself: each character is folded once, however often it occurs."""

    def __missing__(self, point: int) -> str:
        seen = looks.skeleton(chr(point))
        bare = "".join(
            one for one in unicodedata.normalize("NFKD", seen) if unicodedata.category(one) not in _MARKS
        )
        # Looked at again: a mark may have stood between a letter and the one it is drawn like.
        folded = looks.skeleton(looks.skeleton(bare).casefold())
        self[point] = folded = unicodedata.normalize("NFC", folded)
        return folded


class _Weights(dict[str, int]):
    """What a word that begins with a character weighs, in half words."""

    def __missing__(self, first: str) -> int:
        self[first] = weight = 1 if re.match(_IS_UNSPACED, first) else 2
        return weight


_FOLDING = _Folding()
_WEIGHTS = _Weights()


def fold(text: str) -> str:
    """Reduce a text to how it reads: case, marks, look-alikes and unseen characters are gone."""
    text = _LINE_ENDS.sub(" ", _HYPHENATED.sub("", text))
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = _FOREIGN.sub(lambda run: run[0].translate(_FOLDING), text)
    return text.lower()


def squeeze(text: str) -> str:
    """Reduce a text to its letters and digits, alike ones taken for one another."""
    return _split(text).squeezed


def find(text: str, sources: Iterable[str], *, words: int = CARRY_OVER_WORDS) -> Quotation | None:
    """Return the first run of `words` words of a source that `text` reproduces, or None.

    Give all of a proposal as one text, so that a quotation cannot be split over its
    parts; give no source that we wrote ourselves, such as the brief.
    """
    if not CARRY_OVER_WORDS <= words <= MOST_WORDS:
        raise ValueError(f"between {CARRY_OVER_WORDS} and {MOST_WORDS} words")
    proposals = [_proposal(reading) for reading in _readings(text)]
    proposals = [one for one in proposals if one.pieces]
    if not proposals:
        return None
    for index, source in enumerate(sources):
        for reading in _readings(source):
            found = _search(_split(reading), proposals, words)
            if found is not None:
                return Quotation(words=found, source=index)
    return None


def _readings(text: str) -> Iterator[str]:
    """Give the text as it is, and as it shows where that is not the same.

    A page shows without its tags; a record of a session, which is JSON, without its
    escapes; a file that a tool printed, without the numbers of its lines.
    """
    seen = {text}
    yield text
    spelled = _unescaped(text) if "\\" in text else text
    for one in (_as_page(text), spelled, _as_page(_NUMBERED.sub("", spelled))):
        if one not in seen:
            seen.add(one)
            yield one


def _as_page(text: str) -> str:
    return html.unescape(_TAG.sub(" ", text)) if "<" in text or "&" in text else text


def _unescaped(text: str) -> str:
    """Undo the escapes of JSON; twice, since sessions hold JSON in JSON."""
    for _ in range(2):
        text = _ESCAPED.sub(_meant, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meant(escape: re.Match[str]) -> str:
    code, letter = escape.groups()
    return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)


def _proposal(text: str) -> _Proposal:
    split = _split(text)
    pieces = frozenset(split.squeezed[at : at + _PIECE] for at in range(len(split.squeezed) - _PIECE + 1))
    return _Proposal(split.squeezed, f" {' '.join(split.tokens)} ", pieces)


def _split(text: str) -> _Text:
    folded = fold(text)
    plain = folded.isascii()
    tokens = _words(re.findall(_ASCII_WORD if plain else _TOKEN, folded))
    starts = list(accumulate(map(len, tokens), initial=0))
    weights: Sequence[int] = range(0, 2 * len(tokens) + 2, 2)
    if not plain:
        weights = list(accumulate((_WEIGHTS[one[0]] for one in tokens), initial=0))
    return _Text(tokens, starts, weights, "".join(tokens).translate(_ONE_FOR_TWO))


def _words(tokens: list[str]) -> list[str]:
    if max(map(len, tokens), default=0) <= _LONGEST_WORD:
        return tokens
    parted: list[str] = []
    for token in tokens:
        # With digits in it, it is an identifier or a digest, and one thing.
        is_word = len(token) <= _LONGEST_WORD or not token.isalpha()
        size = len(token) if is_word else _COMMON_WORD
        parted.extend(token[at : at + size] for at in range(0, len(token), size))
    return parted


def _search(source: _Text, proposals: list[_Proposal], words: int) -> str | None:
    pieces = frozenset[str]().union(*(one.pieces for one in proposals))
    # A source that repeats itself is asked about once.
    missed: set[str] = set()
    for index, start in enumerate(source.starts[:-1]):
        if source.squeezed[start : start + _PIECE] not in pieces:
            continue
        end = bisect_left(source.weights, source.weights[index] + 2 * words)
        if end == len(source.starts):
            return None
        if source.starts[end] - start < _SQUEEZED:
            if _has_words(source.tokens[index:end], proposals, missed):
                return " ".join(source.tokens[index:end])
            end = bisect_left(source.starts, start + _SQUEEZED)
        if end < len(source.starts) and _has_letters(
            source.squeezed[start : source.starts[end]], proposals, missed
        ):
            return " ".join(source.tokens[index:end])
    return None


def _has_words(run: list[str], proposals: list[_Proposal], missed: set[str]) -> bool:
    spaced = f" {' '.join(run)} "
    found = spaced not in missed and any(spaced in one.spaced for one in proposals)
    missed.add(spaced)
    return found


def _has_letters(run: str, proposals: list[_Proposal], missed: set[str]) -> bool:
    found = run not in missed and any(run in one.squeezed for one in proposals)
    missed.add(run)
    return found
