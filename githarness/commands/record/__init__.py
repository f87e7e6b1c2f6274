"""record: sessions and surfaces into the store, each one once, in one write.

The gap this closes: transcripts are deleted after 30 days, rewritten and cut short
by their clients, and never say what the model was sent. The decision: whatever is
named is looked at by content, redacted, cut and handed to one writer; recording
twice changes nothing, and a shorter file never replaces a fuller recording. One
bad file never stops the rest, nor does one that the disk has no room for: then the
inputs are written one by one, and those that did not fit are named. What this does
not do: it follows no session while it runs, and asks no model.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache as once
from itertools import chain
from pathlib import Path

import msgspec

from githarness.capture import look, walk
from githarness.capture import source as sources
from githarness.capture.cache import Cache
from githarness.capture.walk import Found
from githarness.commands.record.inputs import Inputs
from githarness.commands.record.result import Item, Options, Result, Skipped
from githarness.commands.record.sessions import Sessions
from githarness.commands.record.surfaces import Keeper
from githarness.errors import StorageError, UnreadableError
from githarness.store.objects import Store
from githarness.store.writer import Writer

# After so many inputs that did not fit, one after the other, the next one will not either.
GIVE_UP = 8

_STDIN = "-"

# What is written together: files, or the word for standard input.
_Unit = Sequence[Found | str]


class _Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call of `record`; `stdin` may be asked any number of times."""

    store: Store
    options: Options
    now: int
    cache: Cache
    stdin: Callable[[], bytes]
    progress: Callable[[str], None]


def run(
    *,
    store: Store,
    paths: list[str],
    options: Options,
    now: int,
    cache: Cache,
    stdin: Callable[[], bytes],
    progress: Callable[[str], None],
) -> Result:
    """Record every input of `paths` ("-" is standard input) and say what became of each.

    Raises only what concerns the store or the call as a whole.
    """
    look.require(options.format)
    call = _Call(store=store, options=options, now=now, cache=cache, stdin=once(stdin), progress=progress)
    named = [Path(path) for path in paths if path != _STDIN]
    last: tuple[str, ...] = (_STDIN,) if _STDIN in paths else ()
    try:
        return _write(call, chain(walk.files(named), last))
    except StorageError as error:
        units = list(_units(walk.files(named), last))
        if len(units) < 2:
            raise
        return _one_by_one(call, units, error)


def _write(call: _Call, inputs: Iterable[Found | str]) -> Result:
    """Record `inputs` in one write."""
    store, options = call.store, call.options
    with Writer(store) as writer:
        keeper = Keeper(store, writer, call.now)
        cited = None if options.surface is None else keeper.person_cites(options.surface, options.source)
        sessions = Sessions(store, writer, keeper, call.cache, options, cited)
        taken = Inputs(sessions, keeper, options)
        for found in inputs:
            if isinstance(found, Found):
                call.progress(str(found.path))
                taken.file(found)
            else:
                taken.take(sources.memory(_STDIN, call.stdin()), named=True)
        taken.join_tools()
        sessions.ready()
        counts = f"{len(taken.sessions)} session(s), {len(keeper.items)} surface(s)"
        commit = writer.commit(f"record: {counts}", now=call.now)
        sessions.committed()
    return Result(
        store=str(store.path),
        recorded=(*taken.sessions, *keeper.items),
        skipped=tuple(taken.skipped),
        commit=commit,
    )


def _units(found: Iterable[Found], last: tuple[str, ...]) -> Iterator[_Unit]:
    """Yield what is written together: each input alone, and a folder's one-tool files, which are one."""
    tools: dict[Path, list[Found]] = {}
    for one in found:
        if not one.named and _is_tool(one):
            tools.setdefault(one.path.parent, []).append(one)
        else:
            yield [one]
    yield from tools.values()
    yield from ([one] for one in last)


def _is_tool(found: Found) -> bool:
    try:
        return not found.reason and look.look(sources.file(found.path)).kind == look.TOOL
    except (UnreadableError, OSError, MemoryError):
        return False  # taking it says why


def _one_by_one(call: _Call, units: list[_Unit], first: StorageError) -> Result:
    """Write each unit on its own, so that what did not fit costs nothing else its place."""
    done: list[Result] = []
    failed: list[Skipped] = []
    row = 0
    for unit in units:
        try:
            done.append(_write(call, unit))
            row = 0
        except StorageError as error:
            failed += [_unfit(one, error) for one in unit]
            row += 1
            if row >= GIVE_UP:
                raise first from error
    if not any(result.recorded for result in done):
        raise first
    commits = [result.commit for result in done if result.commit is not None]
    return Result(
        store=str(call.store.path),
        recorded=tuple(_distinct(item for result in done for item in result.recorded)),
        skipped=(*(skip for result in done for skip in result.skipped), *failed),
        commit=commits[-1] if commits else None,
    )


def _unfit(one: Found | str, error: StorageError) -> Skipped:
    """List an input that the store did not take; it counts as a person's own word."""
    name = one if isinstance(one, str) else str(one.path)
    return Skipped(path=name, reason=error.message, named=True, hint=error.hint)


def _distinct(items: Iterable[Item]) -> Iterator[Item]:
    """Yield each item, and of a surface that several inputs bring only the first."""
    seen = set()
    for item in items:
        key = (item.kind, item.id) if item.kind == look.SURFACE else (item.kind, item.path)
        if key not in seen:
            seen.add(key)
            yield item
