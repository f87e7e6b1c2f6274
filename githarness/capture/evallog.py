"""Evaluation logs: one log of many runs in, one stream of lines per sample and epoch out.

The gap this closes: a log holds every sample times every epoch, a model event repeats
the whole conversation before it (quadratic), and long texts are references into a table
of attachments, tool descriptions included, so that the bytes of a tools array in the
log are not what any model read. The decision: each sample becomes lines of its own, in
the order in which things happened: a header, each message once, and each model event
just before the message it produced, with references resolved. Keys keep the order of
the log, since the order of a schema's properties is part of what a model reads.

What it does not do: it keeps neither the history that a model event repeats nor the raw
call beside it, and no result of other samples. A log in zip whose members are
compressed with zstd needs Python 3.14.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from githarness import canon
from githarness.capture.sqlite import Taken
from githarness.errors import MissingError, UnreadableError

CONTAINER = "inspect-log"

_ZIP = b"PK\x03\x04"
# The writer's first three members, always in this order.
_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,\s*"eval"\s*:\s*\{')

_HEADER = "header.json"
# A log that is still being written has only this.
_STARTED = "_journal/start.json"
_SAMPLES = "samples/"
# A sample is parsed whole, at about five times its size in memory.
_MAX_MEMBER = 256 << 20

# Older logs write the second form.
_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")
# What a sample says of itself beside its conversation; the rest is state of the harness.
_FACTS = (
    "id", "epoch", "uuid", "target", "scores", "error", "limit", "model_usage", "total_time",
    "working_time", "started_at", "completed_at",
)  # fmt: skip
_MODEL_EVENT = (
    "event", "timestamp", "completed", "uuid", "span_id", "model", "role", "tools", "tool_choice", "config",
    "output", "retries", "error", "cache", "working_time",
)  # fmt: skip
# Events beside the model's that say how a run went; the others repeat it or are the harness's own.
_EVENTS = {
    "span_begin": ("event", "timestamp", "id", "parent_id", "type", "name"),
    "tool": ("event", "timestamp", "id", "function", "error", "failed", "agent", "span_id"),
    "approval": ("event", "timestamp", "call", "approver", "decision"),
    "compaction": ("event", "timestamp", "type", "tokens_before", "tokens_after", "span_id"),
    "interrupt": ("event", "timestamp", "span_id"),
    "sample_limit": ("event", "timestamp", "type", "limit", "message"),
}  # fmt: skip


def is_zip(head: bytes) -> bool:
    """Tell whether a file that begins with `head` is a zip archive."""
    return head.startswith(_ZIP)


def is_log(head: bytes) -> bool:
    """Tell whether an input that begins with `head` is such a log in one JSON document."""
    return _LOG.match(head) is not None


def sessions(path: Path) -> Iterator[Taken]:
    """Yield the runs of the archive at `path`, by the names of its samples.

    Raises UnreadableError for an archive that is damaged, encrypted, compressed in a way
    this Python cannot read, or no evaluation log.
    """
    if not path.is_file():
        raise MissingError(f"{path}: there is no such file")
    try:
        with path.open("rb") as stream:
            yield from _archived(path, stream)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror or error})") from error


def sessions_of_log(data: bytes, name: str = "log") -> Iterator[Taken]:
    """Yield the runs of a log that is one JSON document, in its order; `name` is for errors."""
    log = _parse(data, name)
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise UnreadableError(f"{name}: not an evaluation log")
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise UnreadableError(f"{name}: an evaluation log without samples")
    for sample in samples:
        yield _taken(log, sample, name)


def _archived(path: Path, stream: BinaryIO) -> Iterator[Taken]:
    try:
        archive = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UnreadableError(f"{path}: a damaged zip archive ({error})") from error
    with archive:
        names = {entry.filename: entry for entry in archive.infolist()}  # of two, the later one stands
        head = names.get(_HEADER) or names.get(_STARTED)
        if head is None:
            raise UnreadableError(f"{path}: a zip archive, and no known recording is kept in one")
        log = _parse(_member(path, archive, head), f"{path}: {head.filename}")
        samples = sorted(name for name in names if name.startswith(_SAMPLES) and name.endswith(".json"))
        if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or not samples:
            raise UnreadableError(f"{path}: an evaluation log without samples")
        bad: list[UnreadableError] = []
        for name in samples:
            where = f"{path}: {name}"
            try:
                taken = _taken(log, _parse(_member(path, archive, names[name]), where), where)
            except UnreadableError as error:
                bad.append(error)
            else:
                yield taken
    if bad:  # only now, so that one damaged sample costs no other
        raise bad[0]


def _member(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    where = f"{path}: {entry.filename}"
    if entry.file_size > _MAX_MEMBER:
        raise UnreadableError(f"{where} is over {_MAX_MEMBER >> 20} MiB")
    try:
        return archive.read(entry)
    except NotImplementedError as error:
        raise UnreadableError(
            f"{where} is compressed in a way this Python cannot read (method {entry.compress_type})",
            hint="convert the log to JSON with its own tool, or use Python 3.14",
        ) from error
    except RuntimeError as error:
        raise UnreadableError(f"{where} is encrypted") from error
    except (zipfile.BadZipFile, EOFError, ValueError, OSError) as error:
        raise UnreadableError(f"{where} is damaged ({error})") from error


def _parse(data: bytes, where: str) -> Any:
    """Parse a log, which may hold numbers that are none: those become their names."""
    try:
        value = canon.read(data)
    except ValueError:  # perhaps only NaN, which its writer leaves in scores
        try:
            value = json.loads(data.decode("utf-8"), parse_constant=str)
        except (ValueError, RecursionError) as error:
            raise UnreadableError(f"{where}: not valid JSON") from error
    if canon.depth_exceeds(value, canon.MAX_DEPTH):
        raise UnreadableError(f"{where}: nested deeper than {canon.MAX_DEPTH} levels")
    return value


def _taken(log: dict[str, Any], sample: Any, where: str) -> Taken:
    if not isinstance(sample, dict):
        raise UnreadableError(f"{where}: a sample that is no object")
    task = log["eval"]
    run = task.get("eval_id") or task.get("run_id") or ""
    native = f"{run}/{sample.get('id')}/{sample.get('epoch', 1)}"
    return Taken(native=native, lines=_lines(log, sample, native))


def _lines(log: dict[str, Any], sample: dict[str, Any], native: str) -> Iterator[bytes]:
    old = sample.get("transcript")
    old = old if isinstance(old, dict) else {}
    held = sample.get("attachments") or old.get("content")
    held = held if isinstance(held, dict) else {}
    facts = {"run": native, "version": log.get("version"), "status": log.get("status")}
    told = {key: sample[key] for key in _FACTS if key in sample}
    header = {**facts, "eval": _task(log["eval"]), "plan": log.get("plan"), "sample": told}
    yield _line({"header": header}, held)
    for record in _ordered(sample, sample.get("events") or old.get("events")):
        yield _line(record, held)


def _task(task: dict[str, Any]) -> dict[str, Any]:
    """Leave out the ids of all samples, which would be repeated in each."""
    data = task.get("dataset")
    if not isinstance(data, dict):
        return task
    return task | {"dataset": {key: item for key, item in data.items() if key != "sample_ids"}}


def _ordered(sample: dict[str, Any], events: Any) -> Iterator[dict[str, Any]]:
    """Yield messages and events as they happened; messages bear no time, so events place them."""
    events = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    messages = sample.get("messages")
    messages = messages if isinstance(messages, list) else []
    at = 0
    for event in events:
        kept = _MODEL_EVENT if event.get("event") == "model" else _EVENTS.get(str(event.get("event")), ())
        line = {key: event[key] for key in kept if key in event}
        if not line:
            continue
        place = _place(event, messages, at) if event.get("event") == "model" else None
        if place is not None:
            yield from ({"message": message} for message in messages[at:place])
            yield {"event": line, "own": True}
            yield {"message": messages[place]}
            at = place + 1
        else:
            yield {"event": line}
    yield from ({"message": message} for message in messages[at:])


def _place(event: dict[str, Any], messages: list[Any], start: int) -> int | None:
    """Find the message that a model event produced; None for one of a scorer or another agent."""
    produced = _produced(event)
    for place in range(start, len(messages)):
        message = messages[place]
        if isinstance(message, dict) and message.get("role") == "assistant" and _same(message, produced):
            return place
    return None


def _produced(event: dict[str, Any]) -> dict[str, Any]:
    output = event.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def _same(message: dict[str, Any], produced: dict[str, Any]) -> bool:
    """Compare by id; the oldest logs have none, and only the text tells."""
    if message.get("id") and produced.get("id"):
        return bool(message["id"] == produced["id"])
    return bool(produced) and message.get("content") == produced.get("content")


def _line(record: dict[str, Any], held: dict[str, Any]) -> bytes:
    """Encode one line on which every reference into `held` is replaced by what it refers to."""
    try:
        line = msgspec.json.encode(record)
        if b"://" in line:
            line = msgspec.json.encode(_resolved(record, held))
        return line
    except UnicodeEncodeError:  # a lone surrogate, which stays escaped
        return canon.compact(_resolved(record, held), sort=False)


def _resolved(value: Any, held: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _resolved(item, held) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, held) for item in value]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    found = held.get(match[1]) if match else None
    return found if isinstance(found, str) else value
