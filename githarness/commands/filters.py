"""What a person may filter by: times and digests, checked before anything is read.

The gap this closes: a filter that takes any word answers "nothing" to a typing error,
and nothing looks like an answer. The decision: a time is the beginning of an ISO time
or an age (`7d`, `12h`), a digest is the beginning of one; anything else is a usage
error. What this does not do: it filters nothing, and names of models, agents and
labels are not checked, since any word may be one.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from githarness.errors import UsageError

_AGE = re.compile(r"(\d{1,5})\s*([dh])(?: ago)?")
_MOMENT = re.compile(
    r"(?P<day>\d{4}(-\d\d(-\d\d)?)?)"
    r"(?:(?<=-\d\d-\d\d)[T ](?P<clock>\d\d(:\d\d(:\d\d(\.\d+)?)?)?)(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_PREFIX = re.compile("[0-9a-f]{1,64}")
_UNITS = {"d": "days", "h": "hours"}
_SHOWN = 40


def since(words: str | None, now: float) -> str | None:
    """Return the beginning of an ISO time in UTC; UsageError for what is neither a time nor an age."""
    if words is None:
        return None
    age = _AGE.fullmatch(words.strip())
    try:
        if age:
            past = timedelta(**{_UNITS[age[2]]: int(age[1])})
            return (datetime.fromtimestamp(now, UTC) - past).strftime("%Y-%m-%dT%H:%M:%S")
        return _moment(words.strip())
    except (ValueError, OverflowError):
        raise UsageError(
            f"--since {words[:_SHOWN]}: not a time",
            hint="give the beginning of a time, such as 2026-11-01 or 2026-11-01T14, or an age: 7d, 12h",
        ) from None


def _moment(words: str) -> str:
    found = _MOMENT.fullmatch(words)
    if found is None:
        raise ValueError(words)
    day, clock, zone = found["day"], found["clock"] or "", found["zone"]
    whole = f"{day}{'-01-01'[len(day) - 4 :]}T{clock}{'00:00:00'[len(clock[:8]) :]}"
    moment = datetime.fromisoformat(whole + (zone or ""))  # also refuses the 31st of a short month
    if zone:
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{day}T{clock}" if clock else day


def digest(option: str, words: str | None) -> str | None:
    """Return the beginning of a digest in lower case; UsageError for what can be none."""
    if words is None:
        return None
    if not _PREFIX.fullmatch(words.lower()):
        raise UsageError(
            f"{option} {words[:_SHOWN]}: not the beginning of a digest",
            hint="a digest is 64 hex digits, and its first few are enough; see githarness log --surfaces",
        )
    return words.lower()


def checked(given: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return options that select runs, those that name a time or a digest made exact."""
    digests = {name: digest(f"--{name}", given[name]) for name in ("surface", "state") if name in given}
    return {**given, **digests, "since": since(given.get("since"), now)}
