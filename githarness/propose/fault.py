"""Faults: what a validator found, in words a person can act on.

The gap this closes: a validation report names classes and links, and leaves the
person who wrote one wrong line to find it. The decision: one clause per fault, the
place first, at most five of them. What it does not do: it decides nothing.
"""

from pydantic import ValidationError

# More than this is not read, and the rest usually follows from the first.
_SHOWN = 5

_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a field here",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "union_tag_not_found": "needs a type: integer, choice or boolean",
    "union_tag_invalid": "has an unknown type: it is integer, choice or boolean",
    "too_short": "must not be empty",
}
# What a discriminated union adds to a place; nobody wrote these words.
_TAGS = frozenset({"integer", "choice", "boolean", "[key]"})


def words(error: ValidationError) -> str:
    """Say what is wrong and where, first faults first."""
    faults = error.errors(include_url=False, include_input=False)
    said = [f"{_place(fault['loc'])}{_reason(fault['type'], fault['msg'])}" for fault in faults[:_SHOWN]]
    more = len(faults) - len(said)
    return "; ".join([*said, *([f"and {more} more"] if more else [])])


def _place(parts: tuple[int | str, ...]) -> str:
    # A field may itself be called like a tag; only tags in the middle are noise.
    kept = [str(part) for index, part in enumerate(parts) if index == 0 or part not in _TAGS]
    return f"{'.'.join(kept)} " if kept else ""


def _reason(kind: str, message: str) -> str:
    return _WORDS.get(kind) or message.removeprefix("Value error, ")
