"""SQLite containers: an agent's database in, one stream of row lines per session out.

The gap this closes: a client that keeps sessions in SQLite keeps the newest ones
in the write-ahead log. Of a database that had just run one session the file
itself held one empty page, and the log beside it all 23 rows. The decision: take
SQLite's own online backup of file and log into a private copy, check it, and read
that; where the index of the log is not there, which opening would lay beside it, file
and log are copied instead. Each row becomes one line of canonical JSON, in an order of
time and id, so that the same state gives the same bytes on every machine.

A known agent is one entry of `_KNOWN`: the columns that betray it, and a function
from a database to its sessions.

What it does not do: it understands no row (`formats` does), keeps no copy, and
never writes to the source, nor beside it.
"""

import base64
import math
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from githarness import canon
from githarness.errors import MissingError, StorageError, UnreadableError

CONTAINER = "sqlite"

_MAGIC = b"SQLite format 3\0"

# A writer holds its lock for milliseconds; who holds it longer has the database to itself.
PATIENCE = 2.0

_COPY_TRIES = 3

# Columns in which a client keeps JSON as text. Only these are parsed: a title may
# look like JSON and still be a title.
_JSON_COLUMNS = frozenset({
    "data", "message_data", "metadata", "model", "permission", "revert", "summary_diffs",
})  # fmt: skip


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a container. `lines` must be read before the next is asked for."""

    native: str
    lines: Iterator[bytes]


def is_sqlite(head: bytes) -> bool:
    """Tell whether a file that begins with `head` is an SQLite database."""
    return head.startswith(_MAGIC)


def sessions(path: Path, scratch: Path | None = None, *, patience: float = PATIENCE) -> Iterator[Taken]:
    """Yield the sessions of the database at `path`, oldest first.

    The copy lives in a private folder inside `scratch` (the system's) and is deleted when the
    iterator ends or is closed. Raises UnreadableError for a database that is
    locked, damaged or of no known agent.
    """
    if not path.is_file():
        raise MissingError(f"{path}: there is no such file")
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=scratch) as folder:
        copy = Path(folder) / "copy.db"
        copy.touch(mode=0o600)
        with _in_words(path):
            _take(path, copy, patience)
        with closing(sqlite3.connect(copy)) as db:
            db.text_factory = _text
            with _in_words(path):
                _check(path, db)
                found = _known(path, db)(db)
                yield from (_guarded(path, taken) for taken in found)


def _guarded(path: Path, taken: Taken) -> Taken:
    def lines() -> Iterator[bytes]:
        with _in_words(path):
            yield from taken.lines

    return Taken(native=taken.native, lines=lines())


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk say into one sentence about `path`."""
    try:
        yield
    except sqlite3.Error as error:
        code = _code(error)
        if code == sqlite3.SQLITE_FULL:
            raise StorageError(f"{path}: no room for a private copy of it") from error
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise _locked(path) from error
        raise UnreadableError(f"{path}: a damaged SQLite database ({error})") from error
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be copied ({error.strerror})") from error


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code; the driver's own errors carry none and give 1."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _locked(path: Path) -> UnreadableError:
    return UnreadableError(
        f"{path}: the database is locked by another program",
        hint="close the program that uses it, then record it again",
    )


def _take(path: Path, copy: Path, patience: float) -> None:
    """Back up file and log in one step, so that the copy is one state and not a blend."""
    if _is_idle(path):
        _copy_files(path, copy)
        return
    try:
        _back_up(path, copy, patience)
    except sqlite3.OperationalError as error:
        if _code(error) not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise
        _copy_files(path, copy)


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _is_idle(path: Path) -> bool:
    """Tell whether a database that uses a log lacks it or its index: then nobody shares it.

    Opened even for reading, SQLite would lay an empty log and an index beside it.
    """
    with path.open("rb") as stream:
        versions = stream.read(20)[18:]
    index = path.with_name(f"{path.name}-shm")
    return versions == b"\2\2" and not (_log(path).exists() and index.exists())


def _back_up(path: Path, copy: Path, patience: float) -> None:
    def once(status: int, _remaining: int, _total: int) -> None:
        # The driver retries a busy step for ever; by now the patience is used up.
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise _locked(path)

    source = f"{path.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(source, uri=True, timeout=patience)) as live:
        live.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with closing(sqlite3.connect(copy)) as target:
            live.backup(target, progress=once)


def _copy_files(path: Path, copy: Path) -> None:
    """Copy file and log as they are, again if either changed meanwhile."""
    log = _log(path)
    for _ in range(_COPY_TRIES):
        before = _stamps(path, log)
        shutil.copyfile(path, copy)
        if log.is_file():
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        if _stamps(path, log) == before:
            return
    raise UnreadableError(
        f"{path}: changed each time while it was copied", hint="record it again when its program is idle"
    )


def _stamps(*paths: Path) -> list[tuple[int, int]]:
    found = [path.stat() for path in paths if path.is_file()]
    return [(stat.st_size, stat.st_mtime_ns) for stat in found]


def _check(path: Path, db: sqlite3.Connection) -> None:
    """Refuse a damaged database whole: half a session would pass for a short one."""
    # What SQLite must sort stays in memory: no temporary file elsewhere sees a transcript.
    db.execute("PRAGMA temp_store = MEMORY")
    verdict = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict is None or verdict[0] != "ok":
        reason = str(verdict[0]).splitlines()[-1] if verdict else "no verdict"
        raise UnreadableError(f"{path}: a damaged SQLite database ({reason})")


def _known(path: Path, db: sqlite3.Connection) -> Callable[[sqlite3.Connection], Iterator[Taken]]:
    tables = _tables(db)
    for needed, read in _KNOWN:
        if all(columns <= tables.get(table, set()) for table, columns in needed.items()):
            return read
    shown = ", ".join(name[:40] for name in sorted(tables)[:8]) or "none"
    raise UnreadableError(f"{path}: an SQLite database with tables {shown}, of no known agent")


def _tables(db: sqlite3.Connection) -> dict[str, set[str]]:
    named = (
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    found: dict[str, set[str]] = {}
    for table, column in db.execute(named):
        found.setdefault(str(table), set()).add(str(column))
    return found


def _text(raw: bytes) -> str | bytes:
    """Read a text column; what is not UTF-8 is kept as the bytes it is."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


_OPENCODE: Mapping[str, set[str]] = {
    "session": {"id", "parent_id", "directory", "version", "time_created"},
    "message": {"id", "session_id", "time_created", "data"},
    "part": {"id", "message_id", "session_id", "time_created", "data"},
}

# A message is followed by its parts, as opencode itself reads them: parts that were
# brought over from the older storage all bear the time of that move, and would
# otherwise stand behind every message. Creation times never change, so a session
# that grows gets its rows at the end. Rows are fetched one by one since sorting them
# whole would hold a session in memory.
_OPENCODE_ORDER = """
    SELECT 'message', rowid, time_created, id, 0, 0, '' FROM message WHERE session_id = :session
    UNION ALL SELECT 'part', p.rowid, m.time_created, m.id, 1, p.time_created, p.id
    FROM part p LEFT JOIN message m ON m.id = p.message_id WHERE p.session_id = :session
    ORDER BY 3 NULLS LAST, 4, 5, 6, 7"""
_ROW = {
    "session": "SELECT * FROM session WHERE rowid = ?",
    "message": "SELECT * FROM message WHERE rowid = ?",
    "part": "SELECT * FROM part WHERE rowid = ?",
    # Not `updated_at`: it would change the first line of a session that grew.
    "agent_sessions": "SELECT session_id, created_at FROM agent_sessions WHERE rowid = ?",
    "agent_messages": "SELECT * FROM agent_messages WHERE rowid = ?",
}


def _opencode(db: sqlite3.Connection) -> Iterator[Taken]:
    listed = db.execute("SELECT rowid, id FROM session ORDER BY time_created, id").fetchall()
    for place, native in listed:
        yield Taken(native=str(native), lines=_opencode_lines(db, place, native))


def _opencode_lines(db: sqlite3.Connection, place: int, native: object) -> Iterator[bytes]:
    yield _line(db, "session", place)
    for table, row, *_ in db.execute(_OPENCODE_ORDER, {"session": native}):
        yield _line(db, table, row)


_OPENAI_AGENTS: Mapping[str, set[str]] = {
    "agent_sessions": {"session_id", "created_at"},
    "agent_messages": {"id", "session_id", "message_data", "created_at"},
}


def _openai_agents(db: sqlite3.Connection) -> Iterator[Taken]:
    listed = db.execute("SELECT rowid, session_id FROM agent_sessions ORDER BY created_at, session_id")
    for place, native in listed.fetchall():
        yield Taken(native=str(native), lines=_openai_agents_lines(db, place, native))


def _openai_agents_lines(db: sqlite3.Connection, place: int, native: object) -> Iterator[bytes]:
    yield _line(db, "agent_sessions", place)
    rows = db.execute("SELECT id FROM agent_messages WHERE session_id = ? ORDER BY id", (native,))
    for (row,) in rows:
        yield _line(db, "agent_messages", row)


def _line(db: sqlite3.Connection, table: str, place: int) -> bytes:
    cursor = db.execute(_ROW[table], (place,))
    names = [column[0] for column in cursor.description]
    row = {name: _value(name, value) for name, value in zip(names, cursor.fetchone(), strict=True)}
    return _canonical({"row": row, "table": table})


def _value(name: str, value: Any) -> Any:
    """Return a column as JSON: marked base64 for bytes, parsed where JSON is kept as text."""
    if isinstance(value, bytes):
        return {"$base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if name in _JSON_COLUMNS and isinstance(value, str):
        try:
            return canon.read(value.encode("utf-8"))
        except ValueError:
            return value
    return value


def _canonical(record: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(record, order="sorted")
    except UnicodeEncodeError:  # a lone surrogate, which stays escaped
        return canon.compact(record, sort=True)


_KNOWN: tuple[tuple[Mapping[str, set[str]], Callable[[sqlite3.Connection], Iterator[Taken]]], ...] = (
    (_OPENCODE, _opencode),
    (_OPENAI_AGENTS, _openai_agents),
)
