"""Which removed thing an added thing is, under another name.

The gap this closes: a rename told as one removal and one addition hides that every
recorded call of the old name breaks for no other reason. The decision: equal bodies
first, at the cost of a table look-up, then likeness of words, best pair first.

What it does not do: it does not guess from names alone, and it gives up on likeness
(never on equality) where both sides are so many that comparing all pairs takes seconds.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from githarness import canon
from githarness.measure.changes.summary import wordless
from githarness.model.surface import ToolSpec

# Renames in 154 public changes kept nine tenths of their words; unrelated tools of one
# server share up to two thirds of theirs (the same owner, repo and paging parameters).
LIKE = 0.8
# 20,000 comparisons of word sets take about a third of a second.
MOST_PAIRS = 20_000

_WORD = re.compile(r"\w+")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


def tools(gone: Sequence[tuple[int, ToolSpec]], new: Sequence[tuple[int, ToolSpec]]) -> dict[int, int]:
    """Pair removed and added tools that are one tool under two names, by their indices."""
    bodies_gone = {at: _tool_body(spec) for at, spec in gone}
    bodies_new = {at: _tool_body(spec) for at, spec in new}
    pairs = _equal(bodies_gone, bodies_new)
    words_gone = {at: _tool_words(spec) for at, spec in gone if at not in pairs}
    taken = set(pairs.values())
    words_new = {at: _tool_words(spec) for at, spec in new if at not in taken}
    if len(words_gone) * len(words_new) <= MOST_PAIRS:
        scores = _scored(words_gone, words_new)
        pairs |= _best(scores)
    return pairs


def _tool_body(spec: ToolSpec) -> bytes | None:
    """Render a tool without its name; None where that says nothing (no words, no parameters)."""
    if not spec.description and not _properties(spec.input_schema):
        return None
    return canon.compact([spec.description, spec.input_schema], sort=True)


def _tool_words(spec: ToolSpec) -> frozenset[str]:
    """The words of a tool: of its name, its description and its parameters with their types."""
    parameters = {f"{name}:{_kind(schema)}" for name, schema in _properties(spec.input_schema).items()}
    described = _WORD.findall((spec.description or "").lower())
    return frozenset({*described, *parameters, *(f"name {part}" for part in parts(spec.name))})


def _properties(schema: Any) -> dict[str, Any]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _kind(schema: Any) -> str:
    return str(schema.get("type")) if isinstance(schema, dict) else str(schema)


def parts(name: str) -> frozenset[str]:
    """Split a name into lower-case words: `repoPath` and `repo_path` are the same two."""
    return frozenset(part.lower() for part in _NAME_PART.findall(name))


def parameters(gone: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Pair removed and added parameters that are one parameter under two names."""
    if len(gone) * len(new) > MOST_PAIRS // 100:
        bodies = [{name: _parameter_body(schema) for name, schema in side.items()} for side in (gone, new)]
        return _equal(*bodies)
    scores = (
        (likeness, was, now)
        for was in gone
        for now in new
        if (likeness := _alike((was, gone[was]), (now, new[now]))) >= LIKE
    )
    return _best(scores)


def _parameter_body(schema: Any) -> bytes | None:
    described = isinstance(schema, dict) and schema.get("description")
    return canon.compact(schema, sort=True) if described else None


def _alike(was: tuple[str, Any], now: tuple[str, Any]) -> float:
    """Rate two parameters: by name when it is only spelled otherwise, else by equal schema and words."""
    if parts(was[0]) == parts(now[0]) and parts(was[0]):
        return 1.0
    if canon.compact(wordless(was[1]), sort=True) != canon.compact(wordless(now[1]), sort=True):
        return 0.0
    before, after = _words(was[1]), _words(now[1])
    if not before and not after:
        return SequenceMatcher(None, was[0], now[0], autojunk=False).ratio()
    return SequenceMatcher(None, before, after, autojunk=False).ratio()


def _words(schema: Any) -> list[str]:
    described = schema.get("description") if isinstance(schema, dict) else None
    # Sixty words tell two parameters apart, and the comparison is quadratic.
    return _WORD.findall(described.lower())[:60] if isinstance(described, str) else []


def _equal(gone: dict[Any, bytes | None], new: dict[Any, bytes | None]) -> dict[Any, Any]:
    """Pair equal bodies in order; bodies that say nothing are equal to none."""
    waiting: dict[bytes, list[Any]] = {}
    for key, body in gone.items():
        if body is not None:
            waiting.setdefault(body, []).append(key)
    pairs = {}
    for key, body in new.items():
        if body is not None and waiting.get(body):
            pairs[waiting[body].pop(0)] = key
    return pairs


def _scored(
    gone: dict[int, frozenset[str]], new: dict[int, frozenset[str]]
) -> Iterator[tuple[float, int, int]]:
    for was, left in gone.items():
        for now, right in new.items():
            shared = len(left & right)
            likeness = shared / (len(left) + len(right) - shared) if shared else 0.0
            if likeness >= LIKE:
                yield likeness, was, now


def _best(scores: Iterable[tuple[float, Any, Any]]) -> dict[Any, Any]:
    """Take the most alike pair first; each side is used once, ties in order of place."""
    pairs: dict[Any, Any] = {}
    taken: set[Any] = set()
    for _, was, now in sorted(scores, key=lambda one: (-one[0], one[1], one[2])):
        if was not in pairs and now not in taken:
            pairs[was] = now
            taken.add(now)
    return pairs
