"""The manifest of a run: the one mutable document about one agent session.

The gap this closes: a transcript grows, is rewritten, is shortened by its client
and is recorded on two machines, and a record that keeps the last writer's view
loses the best one. The decision: a run is identified by agent and native session
id; the fuller recording wins, everything else merges field by field, and the
outcome is the same on every machine in every order.

What it does not do: it stores nothing and reads no clock.
"""

import hashlib
from typing import Any

import msgspec

from githarness.errors import UnreadableError

SCHEMA = "githarness/run/1"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One stored part of a recording: the SHA-256 that is its name, and its size."""

    digest: str
    bytes: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Deterministic counts over one run, never from the content of a tool result.

    `turns` are things a person said, `steps` model responses. `tool_errors` are
    failures, refused arguments and unknown tools; denials, cancellations and calls
    of unknown outcome are counted apart. None is unknown, never zero.
    """

    turns: int
    steps: int
    tool_calls: int
    tool_errors: int
    tool_denied: int
    tool_cancelled: int
    tool_unknown: int
    malformed_args: int | None
    compactions: int | None
    ended_on_failed_call: bool | None
    stop_cause: str | None
    stop_inferred: bool = False


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored of the transcript, and what was read from it before redaction.

    `digest` is of all parts joined. `records` and `source_bytes` were counted
    before redaction; with `unreadable` and `copied` they decide which of two
    recordings is fuller. `redacted` is
    False only for `--no-redact`; `redactions` counts markers per rule. `container`
    names what the records were taken out of (sqlite), if anything.
    """

    format: str
    reader: int
    digest: str
    bytes: int
    parts: tuple[Part, ...]
    records: int
    source_bytes: int
    unreadable: int
    unfamiliar: dict[str, int]
    copied: int
    redacted: bool
    rules: int
    redactions: dict[str, int]
    container: str | None
    project: str | None
    branch: str | None
    started: str | None
    ended: str | None
    models: tuple[str, ...]
    versions: tuple[str, ...]
    steered: bool
    stats: Stats


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """A surface or prompt in force from model response `position` + 1 on, by digest.

    `withheld` says that a redaction rule fired, so only the digest was kept.
    """

    position: int
    digest: str
    kind: str = "sent"
    reconstructed: bool = False
    withheld: bool = False


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest. An empty `surfaces` means unknown, never "no tools".

    `label` is what a person calls the runs that belong together. `surfaces`,
    `prompts`, `label` and `state` hold `{"conflict": [a, b, …]}` where two
    machines know different things. `partial_names` says that names of some tools
    are known and nothing else.
    """

    schema: str = SCHEMA
    id: str
    agent: str
    native: str | None
    parent: str | None
    recording: Recorded
    surfaces: tuple[Cited, ...] | dict[str, Any] = ()
    prompts: tuple[Cited, ...] | dict[str, Any] = ()
    partial_names: bool = False
    label: str | dict[str, Any] | None = None
    state: dict[str, Any] | None = None


def decode(data: bytes) -> Run:
    """Read a manifest; UnreadableError for bytes that are none, or of a later version."""
    try:
        run = msgspec.json.decode(data, type=Run)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UnreadableError(f"not the manifest of a run: {error}") from error
    if run.schema != SCHEMA:
        raise UnreadableError(
            f"a manifest of the form {run.schema[:40]}, and this version reads {SCHEMA}",
            hint="install a newer githarness",
        )
    return run


def run_id(agent: str, native: str | None, digest: str) -> str:
    """Name a run: 32 hex of SHA-256(agent NUL native id), or of its recording's digest."""
    if native is None:
        return digest[:32]
    return hashlib.sha256(f"{agent}\0{native}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_fuller(left: Recorded, right: Recorded) -> bool:
    """Tell whether `left` is kept over `right`: total, and the same on every machine."""
    return _rank(left) > _rank(right)


def _rank(recorded: Recorded) -> tuple[int, int, int, bool, int, int]:
    # Neither lines that nobody can read nor another session's records make a recording
    # fuller: a damaged copy, or two files joined, would replace a good one.
    own = recorded.records - recorded.unreadable - recorded.copied
    # The smaller digest wins the last tie: any rule would do that two machines share.
    smaller = -int(recorded.digest, 16)
    return (own, -recorded.copied, recorded.source_bytes, recorded.redacted, recorded.rules, smaller)


def merge(left: Run, right: Run) -> Run:
    """Join two manifests of one run; commutative, associative and idempotent."""
    best = right if is_fuller(right.recording, left.recording) else left
    return msgspec.structs.replace(
        best,
        parent=min((one for one in (left.parent, right.parent) if one is not None), default=None),
        surfaces=_join(left.surfaces, right.surfaces),
        prompts=_join(left.prompts, right.prompts),
        partial_names=left.partial_names or right.partial_names,
        label=_join(left.label, right.label),
        state=_join(left.state, right.state),
    )


def _join(left: Any, right: Any) -> Any:
    """Known beats unknown, more beats less; what disagrees is kept, sorted, as a conflict.

    The sides that no other side contains are kept: the same set whatever the order
    in which manifests meet.
    """
    if not right or left == right:
        return left
    if not left:
        return right
    sides = {msgspec.json.encode(side, order="sorted"): side for side in _sides(left) + _sides(right)}
    best = [
        key
        for key, side in sides.items()
        if not any(_contains(other, side) for name, other in sides.items() if name != key)
    ]
    if len(best) > 1:
        return {"conflict": [sides[key] for key in sorted(best)]}
    side = sides[best[0]]
    return msgspec.convert(side, tuple[Cited, ...]) if isinstance(side, list) else side


def _sides(value: Any) -> list[Any]:
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict) and list(plain) == ["conflict"]:
        return list(plain["conflict"])
    return [_ordered(plain) if isinstance(plain, list | tuple) else plain]


def _ordered(cited: Any) -> list[Any]:
    """Sort citations, so that the same set is the same side."""
    return sorted(cited, key=lambda one: (one["position"], msgspec.json.encode(one, order="sorted")))


def _contains(larger: Any, smaller: Any) -> bool:
    lists = isinstance(larger, list) and isinstance(smaller, list)
    return lists and all(item in larger for item in smaller)
