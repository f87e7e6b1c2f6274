"""Fidelity tells whether a replay can send what the recording was sent.

The gap this closes: records that keep tools as names call two runs equal when the
model was told different things (70 % of 154 public changes leave every name alone).
The decision: each part (tools, system prompt, model) gets one of three states from
digests alone, so a verdict needs no stored bytes; bytes only add the class. What is
absent is unknown and never a match.

Rules, in the order in which they are asked of two surfaces:

1. a conflict, nothing recorded, or names only: unknown;
2. one was sent and the other only offered: unknown, equal digests or not;
3. one is the 64-bit value of old recordings: equal or not by that value;
4. one is reconstructed: minimal JSON of both is compared, and a caveat says so;
5. else the wire digests decide, so two dialects never match.

A surface or prompt that changed within a run is compared stretch by stretch: at
every position where either side changes, what was in force on both.

An alias and a dated name of one model (`m-4` and `m-4-20250101`) are unknown: an
alias is moved by its provider, so it is no proof of sameness, and calling it a
difference would be a claim as well. The same holds for one name by two routes
(`vendor/m-4`).

What it does not do: it reads no store and parses no dialect; callers hand over the
citations, and whatever bytes they have.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from githarness import canon
from githarness.measure.changes.summary import summarise
from githarness.model.manifest import Cited
from githarness.model.surface import Surface

MATCHES = "matches"
DIFFERS = "differs"
UNKNOWN = "unknown"

# Worst first: a proven difference is worse than not knowing.
WORST = (DIFFERS, UNKNOWN, MATCHES)

_OLD = re.compile("[0-9a-f]{16}")
_DATE = re.compile(r"([-@](\d{8}|\d{4}-\d{2}-\d{2})|-latest)$")

Citations = tuple[Cited, ...] | dict[str, Any] | None


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one part; `cls` is None unless bytes of both sides name a class.

    `caveat` is set on a match that rests on less than the bytes as sent.
    """

    state: str
    cls: str | None = None
    reason: str
    caveat: str | None = None


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What one side states, as cited by its manifest or made for a file.

    None and empty both mean "not stated" (a run without tools cites the array `[]`).
    With `complete` the side was sent something of each part, so what it does not state
    is unknown instead of left out: another run is such a side, also one that lies in a
    file; a tools array or the body of a request is not.
    A digest of 16 hex digits is the 64-bit value of old recordings. `surfaces` and
    `prompts` hold what bytes the caller has, by digest; they may be empty.
    """

    tools: Citations = None
    names_only: bool = False
    complete: bool = False
    system: Citations = None
    models: tuple[str, ...] | None = None
    surfaces: Mapping[str, Surface] = {}
    prompts: Mapping[str, bytes] = {}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: a part is None where the live side does not state it.

    `caveat` is one sentence for a report, and None on a match of bytes as sent.
    """

    overall: str
    parts: dict[str, Part | None]
    cls: str | None
    caveat: str | None


def cite(surface: Surface) -> Side:
    """Make the side that a surface in hand states: its tools, in force from the start."""
    cited = Cited(position=0, digest=surface.wire, kind=surface.kind, reconstructed=surface.reconstructed)
    return Side(tools=(cited,), surfaces={surface.wire: surface})


def compare(recorded: Side, live: Side) -> Verdict:
    """Compare a recorded side against what a replay would send today."""
    parts = {
        "tools": _tools(recorded, live),
        "system": _system(recorded, live),
        "model": _model(recorded, live),
    }
    stated = [part for part in parts.values() if part is not None]
    overall = _worst(part.state for part in stated)
    cls = next((part.cls for part in stated if part.state == DIFFERS), None)
    return Verdict(overall=overall, parts=parts, cls=cls, caveat=_caveat(overall, parts))


def _worst(states: Iterable[str]) -> str:
    """Nothing stated is nothing compared, hence unknown."""
    found = set(states)
    return next((state for state in WORST if state in found), UNKNOWN)


def _unknown(reason: str) -> Part:
    return Part(state=UNKNOWN, reason=reason)


def _matches(reason: str, caveat: str | None = None) -> Part:
    return Part(state=MATCHES, reason=reason, caveat=caveat)


def _differs(reason: str, cls: str | None = None) -> Part:
    return Part(state=DIFFERS, cls=cls, reason=reason)


def _left_out(what: str, live: Side) -> Part | None:
    return _unknown(f"no {what} was recorded on the live side") if live.complete else None


# -- tools ---------------------------------------------------------------------


def _tools(recorded: Side, live: Side) -> Part | None:
    if not live.tools and live.names_only:
        return _unknown("only tool names are known of the live side")
    if not live.tools:
        return _left_out("tool surface", live)
    if not recorded.tools and recorded.names_only:
        return _unknown("only tool names were recorded")

    def pair(was: Cited, now: Cited) -> Part:
        return _surface(was, recorded.surfaces.get(was.digest), now, live.surfaces.get(now.digest))

    return _stretches("tool surface", recorded.tools, live.tools, pair)


def _surface(was: Cited, old: Surface | None, now: Cited, new: Surface | None) -> Part:
    if was.kind != now.kind:
        return _unknown(f"one tool surface was {was.kind} and the other {now.kind}")
    if _is_old(was) or _is_old(now):
        return _by_old_value(was, old, now, new)
    if was.reconstructed or now.reconstructed:
        return _by_minimal_json(was, old, now, new)
    if was.digest == now.digest:
        return _matches("the tool surfaces are equal byte for byte")
    return _surface_differs(old, new)


def _is_old(cited: Cited) -> bool:
    return _OLD.fullmatch(cited.digest) is not None


def _by_old_value(was: Cited, old: Surface | None, now: Cited, new: Surface | None) -> Part:
    left, right = _old_value(was, old), _old_value(now, new)
    if left is None or right is None:
        return _unknown("one side holds only a 64-bit value and the bytes to compute the other are not here")
    if left == right:
        return _matches("the tool surfaces are equal by the 64-bit value of old recordings")
    return _surface_differs(old, new)


def _old_value(cited: Cited, surface: Surface | None) -> str | None:
    if _is_old(cited):
        return cited.digest
    return None if surface is None else surface.fnv


def _by_minimal_json(was: Cited, old: Surface | None, now: Cited, new: Surface | None) -> Part:
    left, right = _minimal(was, old), _minimal(now, new)
    if left is not None and left == right:
        return _matches(
            "the tool surfaces are equal as minimal JSON",
            "the tools match as minimal JSON only, since the bytes as sent were not kept on both sides",
        )
    if left is None or right is None:
        return _unknown("one tool surface was reconstructed and the bytes of the other are not here")
    return _surface_differs(old, new)


def _minimal(cited: Cited, surface: Surface | None) -> str | None:
    """Digest of minimal JSON; a reconstructed surface was stored in that form."""
    if surface is not None:
        return canon.sha256(canon.compact(canon.parse(surface.raw, "surface"), sort=False))
    return cited.digest if cited.reconstructed else None


def _surface_differs(old: Surface | None, new: Surface | None) -> Part:
    if old is None or new is None:
        return _differs("the tool surfaces have different digests")
    cls = summarise(old, new)
    if old.dialect != new.dialect:
        return _differs(f"the tool surfaces are of two dialects, {old.dialect} and {new.dialect}", cls)
    return _differs(f"the tool surfaces differ: {cls}", cls)


# -- stretches of a run --------------------------------------------------------


def _stretches(what: str, was: Citations, now: Citations, pair: Callable[[Cited, Cited], Part]) -> Part:
    """Compare what was in force on both sides wherever either changed; the worst decides."""
    if isinstance(was, dict) or isinstance(now, dict):
        return _unknown(f"two machines recorded different facts about the {what} of one run")
    if not was or not now:
        return _unknown(f"no {what} was recorded")
    pairs = _in_force(was, now)
    parts = [pair(*both) for both in pairs if both is not None]
    if None in pairs:
        parts.append(_unknown(f"no {what} is known before a later part of the run"))
    worst = [part for part in parts if part.state == _worst(one.state for one in parts)]
    return next((part for part in worst if part.caveat), worst[0])


def _in_force(was: tuple[Cited, ...], now: tuple[Cited, ...]) -> list[tuple[Cited, Cited] | None]:
    """Return each distinct pair that was in force at once; None where one side is not known yet."""
    left, right = _timeline(was), _timeline(now)
    old: Cited | None = None
    new: Cited | None = None
    pairs: dict[tuple[str, ...], tuple[Cited, Cited] | None] = {}
    for position in sorted({*left, *right}):
        old, new = left.get(position, old), right.get(position, new)
        if old is None or new is None:
            pairs[()] = None
        else:
            pairs.setdefault((old.digest, old.kind, new.digest, new.kind), (old, new))
    return list(pairs.values())


def _timeline(cited: tuple[Cited, ...]) -> dict[int, Cited]:
    """Index citations by position; of two at one position the later replaced the earlier."""
    return {one.position: one for one in cited}


# -- system prompt -------------------------------------------------------------


def _system(recorded: Side, live: Side) -> Part | None:
    if not live.system:
        return _left_out("system prompt", live)

    def pair(was: Cited, now: Cited) -> Part:
        return _prompt(was, recorded.prompts.get(was.digest), now, live.prompts.get(now.digest))

    return _stretches("system prompt", recorded.system, live.system, pair)


def _prompt(was: Cited, old: bytes | None, now: Cited, new: bytes | None) -> Part:
    if was.digest == now.digest:
        return _matches("the system prompts are equal byte for byte")
    if old is None or new is None:
        return _differs("the system prompts have different digests")
    if old.split() == new.split():
        return _differs("the system prompts differ in white space only", "format-only")
    return _differs("the system prompts have other words", "re-worded")


# -- model ---------------------------------------------------------------------


def _model(recorded: Side, live: Side) -> Part | None:
    if not live.models:
        return _left_out("model", live)
    if not recorded.models:
        return _unknown("no model was recorded")
    if recorded.models == live.models:
        return _matches("the model names are equal")
    if len(recorded.models) == len(live.models) and all(map(_may_be_one, recorded.models, live.models)):
        return _unknown("one model name may be an alias of the other, and an alias can be moved")
    return _differs("the model names differ")


def _may_be_one(was: str, now: str) -> bool:
    """Two dated names are two models; a name and its alias or its route may be one."""
    if was == now:
        return True
    left, right = was.rpartition("/")[2], now.rpartition("/")[2]
    if left == right:
        return True
    dated = [name for name in (left, right) if _DATE.search(name) and not name.endswith("-latest")]
    return len(dated) < 2 and _DATE.sub("", left) == _DATE.sub("", right)


# -- the sentence --------------------------------------------------------------

_NOUNS = {"tools": "tool surface", "system": "system prompt", "model": "model"}


def _caveat(overall: str, parts: dict[str, Part | None]) -> str | None:
    """One sentence without a full stop, so that it can stand in brackets."""
    stated = [(name, part) for name, part in parts.items() if part is not None]
    if not stated:
        return "nothing to compare with was stated, so how faithfully this replays is unknown"
    if overall == MATCHES:
        return next((part.caveat for _, part in stated if part.caveat), None)
    changed = [_named(name, part) for name, part in stated if part.state == DIFFERS]
    unknown = [f"{_NOUNS[name]}: {part.reason}" for name, part in stated if part.state == UNKNOWN]
    clauses = []
    if changed:
        clauses.append(
            f"the {' and the '.join(changed)} changed since this was recorded, "
            "so a replay does not send the model what the recording was sent"
        )
    if unknown:
        clauses.append(f"how faithfully this replays is unknown ({'; '.join(unknown)})")
    return ", and beyond that ".join(clauses)


def _named(name: str, part: Part) -> str:
    return f"{_NOUNS[name]} ({part.cls})" if part.cls else _NOUNS[name]
