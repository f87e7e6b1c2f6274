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
# The kinds a knob's value may have: each complains, and together they mean one thing.
_KINDS = frozenset({"bool", "constrained-int", "str"})
_NO_VALUE = "must be a whole number that JSON can hold, true or false, or a text"


def words(error: ValidationError) -> str:
    """Say what is wrong and where, first faults first."""
    faults = error.errors(include_url=False, include_input=False)
    said = list(dict.fromkeys(_fault(fault["loc"], fault["type"], fault["msg"]) for fault in faults))
    more = len(said) - _SHOWN
    return "; ".join([*said[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _fault(parts: tuple[int | str, ...], kind: str, message: str) -> str:
    if parts and parts[-1] in _KINDS:
        parts, kind, message = parts[:-1], "", _NO_VALUE
    # A field may itself be called like a tag; only those further in are noise.
    kept = [str(part) for index, part in enumerate(parts) if index == 0 or part not in _TAGS]
    reason = _WORDS.get(kind) or message.removeprefix("Value error, ")
    place = f"{'.'.join(kept)} " if kept else ""
    return place + reason.replace("Input should be", "must be").replace("String should", "must")
