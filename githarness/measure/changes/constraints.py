"""Which way one validator keyword moved: tightened, loosened, or not at all.

The gap this closes: "maximum changed" does not say whether a recorded call may now be
refused or a new kind of call is now let through, and those are opposite worries. The
decision: every keyword with an order gets a number that grows with strictness, absent
included, so that `minLength: 0` beside nothing is no change in meaning.

What it does not do: it does not compare regular expressions or formats. That neither is
within the other is all that is claimed of them: `other.changed`.
"""

from typing import Any

from msgspec import UNSET

TIGHTENED, LOOSENED = "constraint.tightened", "constraint.loosened"
OTHER, FORMAT = "other.changed", "format.only"

_AT_LEAST = frozenset(
    {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"}
)
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
# A count cannot be below zero, so a lower bound of zero says nothing.
_COUNTS = frozenset({"minLength", "minItems", "minProperties"})
_OPEN = frozenset({"additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems"})
# There or not is all the order these have.
_PRESENCE = frozenset(
    {
        "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema", "not", "if", "then",
        "else", "contains", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies",
        "patternProperties", "items", "prefixItems", "enum", "const", "allOf", "anyOf", "oneOf", "multipleOf",
    }
)  # fmt: skip

KEYWORDS = _AT_LEAST | _AT_MOST | _OPEN | _PRESENCE | {"uniqueItems"}


def moved(keyword: str, was: Any, now: Any) -> str:
    """Return the class of a keyword that differs; UNSET stands for absent."""
    if keyword == "multipleOf":
        return _multiple(was, now)
    before, after = _strictness(keyword, was), _strictness(keyword, now)
    if before is None or after is None:
        return OTHER
    if before == after:
        return OTHER if keyword in _PRESENCE else FORMAT
    return TIGHTENED if after > before else LOOSENED


def _strictness(keyword: str, value: Any) -> float | int | None:
    """A number that grows with strictness; None for a value the keyword cannot have."""
    if keyword in _PRESENCE:
        return int(value is not UNSET)
    if keyword in _OPEN:
        return _closed(value)
    if keyword == "uniqueItems":
        return int(value is True)
    if value is UNSET:
        return 0 if keyword in _COUNTS else float("-inf")
    if isinstance(value, bool):
        # Older drafts have `exclusiveMinimum: true` beside `minimum`.
        return 0 if value else float("-inf")
    if not isinstance(value, int | float):
        return None
    return -value if keyword in _AT_MOST else value


def _closed(value: Any) -> int | None:
    """Rank what other members are let in: all of them, those of a schema, none."""
    if value is UNSET or value is True or value == {}:
        return 0
    if isinstance(value, dict):
        return 1
    return 2 if value is False else None


def _multiple(was: Any, now: Any) -> str:
    if was is UNSET or now is UNSET:
        return LOOSENED if now is UNSET else TIGHTENED
    if not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in (was, now)):
        return OTHER
    if was == now:
        return FORMAT
    if now % was == 0:
        return TIGHTENED
    return LOOSENED if was % now == 0 else OTHER
