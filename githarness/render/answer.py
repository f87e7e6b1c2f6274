"""Answers as JSON: one object with its schema, the same for successes and failures.

What it closes: a script that cannot tell an empty answer from a failed one. The
decision: every object names its schema, and the text is plain ASCII, so that no
terminal or log obeys what a transcript put in it. What it does not do: it adds no
key of its own besides the schema.
"""

import json
from fractions import Fraction
from typing import Any

import msgspec

from githarness.errors import HarnessError


def as_json(command: str, result: Any) -> str:
    """Render `result` as `githarness/<command>/1`: its `document`, or the struct itself."""
    document = getattr(result, "document", None)
    plain = document() if document is not None else msgspec.to_builtins(result, enc_hook=_number)
    return _dump({"schema": f"githarness/{command}/1", **plain})


def error_as_json(error: HarnessError) -> str:
    """Render an inability as `githarness/error/1`."""
    return _dump(
        {"schema": "githarness/error/1", "kind": error.kind, "message": error.message, "hint": error.hint}
    )


def _number(value: Any) -> float:
    if isinstance(value, Fraction):
        return float(value)
    raise NotImplementedError(type(value).__name__)


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")
