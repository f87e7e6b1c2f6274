"""Knobs: the settings that may be changed, as harness.toml declares them.

The gap this closes: a loop that may bump a number relative to what it was, without
a bound, ratchets: the system this follows accepted 4294967295 retries. And proposers
that are asked for a setting invent its name (three nights in a row, in one report).
The decision: a knob is declared or it cannot be set; an integer has bounds at both
ends; one parser reads a value from text, so that what was measured and what is
applied are spelled alike. Where a declaration is silent about safety or component,
the stricter reading holds.

What it does not do: it holds no value in force (`state`), and it reads no file.
"""

import functools
import re
import tomllib
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from githarness.errors import MissingError, RefusedError, UnreadableError
from githarness.propose import fault, text

# Integers beyond this are not the same number for every reader of JSON.
LARGEST = 2**53 - 1
# Some hundred knobs with comments; a limit only so that the answer is a sentence.
DECLARATION_LIMIT = 64_000

Component = Literal[
    "tool_schema", "retrieval_policy", "planning_config", "retry_config", "context_budget",
    "workflow_topology", "permission_rule", "validator", "prompt", "declaration",
]  # fmt: skip
# What a knob may belong to: everything but the declaration of knobs itself.
KnobComponent = Literal[
    "tool_schema", "retrieval_policy", "planning_config", "retry_config", "context_budget",
    "workflow_topology", "permission_rule", "validator", "prompt",
]  # fmt: skip

Integer = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Value = bool | Integer | str

KnobName = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,62}$")]
Word = Annotated[str, StringConstraints(pattern="^[!-~]{1,64}$")]


def _visible(written: str) -> str:
    """Refuse what TOML can spell with an escape and nobody can see."""
    reason = text.fault(written, text.NAME_LIMIT, lines=False)
    if reason is not None:
        raise ValueError(reason)
    return written


Line = Annotated[str, AfterValidator(_visible)]

_ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9_.\[\]-]{1,128})\s*=\s*(.*?)\s*", re.DOTALL)
_INTEGER = re.compile("-?[0-9]{1,17}")


class _Declared(BaseModel):
    """What every knob may say of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    describe: Line = ""
    unit: Line = ""
    # A knob that does not say where it belongs is taken for one that needs a person,
    # and so is one that is silent about safety: leaving out must not lower anything.
    component: KnobComponent = "workflow_topology"
    safety: bool = True


class IntegerKnob(_Declared):
    """A whole number between two bounds, both of them allowed."""

    type: Literal["integer"]
    minimum: Integer
    maximum: Integer
    default: Integer | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"minimum {self.minimum} is above maximum {self.maximum}")
        if self.default is not None and not self.minimum <= self.default <= self.maximum:
            raise ValueError(f"default {self.default} is outside {self.minimum} to {self.maximum}")
        return self

    def clamp(self, value: int) -> int:
        """Return the allowed value nearest to `value`."""
        return min(max(value, self.minimum), self.maximum)

    def read(self, written: str) -> int | None:
        """Read a value from text; None when it is no whole number in plain digits."""
        return int(written) if _INTEGER.fullmatch(written) else None

    def admits(self, value: Value) -> bool:
        """Tell whether `value` is of the type and within the bounds."""
        return type(value) is int and self.minimum <= value <= self.maximum

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        return f"a whole number from {self.minimum} to {self.maximum}"


class ChoiceKnob(_Declared):
    """One of several words."""

    type: Literal["choice"]
    values: Annotated[tuple[Word, ...], Field(strict=False, min_length=1)]
    default: Word | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(frozenset(self.values)) != len(self.values):
            raise ValueError("values holds one of them twice")
        if self.default is not None and self.default not in self.values:
            raise ValueError(f"default {self.default} is not among the values")
        return self

    def read(self, written: str) -> str | None:
        """Read a value from text; None when it is none of the words."""
        return written if written in self.values else None

    def admits(self, value: Value) -> bool:
        """Tell whether `value` is one of the words."""
        return type(value) is str and value in self.values

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        return f"one of {', '.join(self.values)}"


class BooleanKnob(_Declared):
    """On or off."""

    type: Literal["boolean"]
    default: bool | None = None

    def read(self, written: str) -> bool | None:
        """Read a value from text; None for anything but true and false."""
        return {"true": True, "false": False}.get(written)

    def admits(self, value: Value) -> bool:
        """Tell whether `value` is a truth value, and not a number that passes for one."""
        return type(value) is bool

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        return "true or false"


Knob = Annotated[IntegerKnob | ChoiceKnob | BooleanKnob, Field(discriminator="type")]


class Declaration(BaseModel):
    """All knobs that may be set."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    # An integer: for Python true and 1.0 are 1 as well, and for another reader they are not.
    version: Annotated[int, Field(ge=1, le=1)]
    knob: dict[KnobName, Knob] = {}

    def read(self, name: str, written: str) -> Value:
        """Read the text of a value by its knob's type; RefusedError names what was wanted."""
        knob = self.knob.get(name)
        if knob is None:
            raise self.undeclared(name)
        value = knob.read(written.strip())
        if value is None or not knob.admits(value):
            raise RefusedError(
                f"{name} must be {knob.wanted}, not {written.strip()[:60]!r}",
                hint=f"githarness propose --set {name}=VALUE",
            )
        return value

    def undeclared(self, name: str) -> MissingError:
        """Make the error for a knob that is not here, with those that are."""
        known = ", ".join(sorted(self.knob)) or "none"
        return MissingError(
            f"no knob {name[:64]!r} is declared; declared are: {known}",
            hint="declare it first: githarness propose --declare FILE",
        )


# main is replayed step by step, and nearly every step stands on the declaration before it
@functools.lru_cache(maxsize=8)
def parse(source: str) -> Declaration:
    """Read the text of harness.toml; UnreadableError names the knob and the field."""
    reason = text.fault(source, DECLARATION_LIMIT)
    if reason is not None:
        raise UnreadableError(f"harness.toml {reason}", hint="save it as plain text with line feeds")
    try:
        return Declaration.model_validate(tomllib.loads(source))
    except ValidationError as error:
        raise UnreadableError(f"harness.toml: {fault.words(error)}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnreadableError(f"harness.toml is not valid TOML: {str(error)[:200]}") from error


def assignment(written: str) -> tuple[str, str] | None:
    """Split KEY=VALUE, white space tolerated; None when it is not of that form."""
    match = _ASSIGNMENT.fullmatch(written)
    return (match[1], match[2]) if match else None
