"""Laws of SQLite containers: one state, the same bytes, nothing written to the source."""

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from githarness.capture import sqlite
from githarness.errors import MissingError, UnreadableError

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text,
  cost real, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
"""


def database(path, script=SCHEMA):
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA synchronous = OFF;" + script)
    return db


def add_session(db, id="ses_a", made=1, title="Taxes"):
    row = (id, None, "/srv/shop", title, "1.18.0", 0.5, made)
    db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def add_message(db, id, made, data='{"role":"user"}', session="ses_a"):
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (id, session, made, data))


def add_part(db, id, owner, made, data='{"type":"text"}', session="ses_a"):
    db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", (id, owner, session, made, data))


def sample(path):
    """Two messages with their parts, written out of order."""
    with closing(database(path)) as db:
        add_session(db)
        add_part(db, "p2", "m2", 4)
        add_message(db, "m2", 3)
        add_part(db, "p1", "m1", 2)
        add_message(db, "m1", 1)
    return path


def take(path, tmp_path, **options):
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return {taken.native: list(taken.lines) for taken in sqlite.sessions(path, scratch, **options)}


def ids(lines):
    return [json.loads(line)["row"]["id"] for line in lines]


def test_a_database_is_known_by_its_first_bytes(tmp_path):
    assert sqlite.is_sqlite(sample(tmp_path / "a.db").read_bytes())
    assert not sqlite.is_sqlite(b"SQLite format 3.1")


def test_a_session_is_its_row_then_each_message_with_its_parts(tmp_path):
    lines = take(sample(tmp_path / "a.db"), tmp_path)["ses_a"]
    assert ids(lines) == ["ses_a", "m1", "p1", "m2", "p2"]


def test_a_row_is_one_line_of_canonical_json_with_its_data_parsed(tmp_path):
    line = take(sample(tmp_path / "a.db"), tmp_path)["ses_a"][1]
    row = b'{"data":{"role":"user"},"id":"m1","session_id":"ses_a","time_created":1}'
    assert line == b'{"row":' + row + b',"table":"message"}'


def test_the_same_state_gives_the_same_bytes_everywhere(tmp_path):
    lines = take(sample(tmp_path / "a.db"), tmp_path)["ses_a"]
    whole = hashlib.sha256(b"\n".join(lines)).hexdigest()
    assert whole == "838d5c2a22825d3725ff8395692f106f8da3401bbdacffa11bce99cff0df1281"


def test_parts_moved_from_an_older_store_still_follow_their_message(tmp_path):
    with closing(database(tmp_path / "a.db")) as db:
        add_session(db)
        for number in (1, 2):
            add_message(db, f"m{number}", number)
            add_part(db, f"p{number}", f"m{number}", 9_000)
    assert ids(take(tmp_path / "a.db", tmp_path)["ses_a"]) == ["ses_a", "m1", "p1", "m2", "p2"]


def test_a_part_without_its_message_comes_last(tmp_path):
    with closing(database(sample(tmp_path / "a.db"), "")) as db:
        add_part(db, "p0", "gone", 0)
    assert ids(take(tmp_path / "a.db", tmp_path)["ses_a"])[-1] == "p0"


def test_a_session_that_grows_only_appends(tmp_path):
    before = take(sample(tmp_path / "a.db"), tmp_path)["ses_a"]
    with closing(database(tmp_path / "a.db", "")) as db:
        add_message(db, "m3", 5)
        add_part(db, "p3", "m3", 6)
    after = take(tmp_path / "a.db", tmp_path)["ses_a"]
    assert after[: len(before)] == before
    assert ids(after[len(before) :]) == ["m3", "p3"]


def test_sessions_come_oldest_first_each_with_its_own_rows(tmp_path):
    with closing(database(sample(tmp_path / "a.db"), "")) as db:
        add_session(db, "ses_0", made=0)
        add_message(db, "m9", 9, session="ses_0")
    found = take(tmp_path / "a.db", tmp_path)
    assert [(native, len(lines)) for native, lines in found.items()] == [("ses_0", 2), ("ses_a", 5)]


def test_a_log_that_a_writer_holds_open_is_read_with_the_file(tmp_path):
    with closing(database(tmp_path / "a.db", "PRAGMA journal_mode = WAL;" + SCHEMA)) as writer:
        add_session(writer)
        bare = (tmp_path / "a.db").stat().st_size
        assert bare < (tmp_path / "a.db-wal").stat().st_size
        assert len(take(tmp_path / "a.db", tmp_path)["ses_a"]) == 1


def test_what_a_writer_has_not_committed_is_not_there(tmp_path):
    with closing(database(tmp_path / "a.db", "PRAGMA journal_mode = WAL;" + SCHEMA)) as writer:
        add_session(writer)
        writer.execute("BEGIN IMMEDIATE")
        add_message(writer, "m1", 1)
        assert len(take(tmp_path / "a.db", tmp_path)["ses_a"]) == 1


def test_reading_changes_neither_file_nor_log(tmp_path):
    with closing(database(tmp_path / "a.db", "PRAGMA journal_mode = WAL;" + SCHEMA)) as writer:
        add_session(writer)
        before = [(tmp_path / name).read_bytes() for name in ("a.db", "a.db-wal")]
        take(tmp_path / "a.db", tmp_path)
        assert [(tmp_path / name).read_bytes() for name in ("a.db", "a.db-wal")] == before


def test_a_database_that_nobody_has_open_gets_nothing_laid_beside_it(tmp_path):
    with closing(database(tmp_path / "a.db", "PRAGMA journal_mode = WAL;" + SCHEMA)) as writer:
        add_session(writer)
    assert len(take(tmp_path / "a.db", tmp_path)["ses_a"]) == 1
    assert sorted(path.name for path in tmp_path.glob("a.db*")) == ["a.db"]


def crashed(tmp_path):
    """A file and its log as a killed writer leaves them, where no index of the log can be made."""
    with closing(database(tmp_path / "live.db", "PRAGMA journal_mode = WAL;" + SCHEMA)) as writer:
        add_session(writer)
        for end in ("", "-wal"):
            (tmp_path / f"a.db{end}").write_bytes((tmp_path / f"live.db{end}").read_bytes())
    (tmp_path / "a.db-shm").mkdir()
    return tmp_path / "a.db"


def test_where_the_log_cannot_be_indexed_both_files_are_copied(tmp_path):
    assert len(take(crashed(tmp_path), tmp_path)["ses_a"]) == 1


def test_a_log_without_its_index_is_read_and_no_index_is_laid_beside_it(tmp_path):
    path = crashed(tmp_path)
    (tmp_path / "a.db-shm").rmdir()
    before = {one: one.read_bytes() for one in tmp_path.glob("a.db*")}
    assert len(take(path, tmp_path)["ses_a"]) == 1
    assert {one: one.read_bytes() for one in tmp_path.glob("a.db*")} == before


def test_nothing_of_the_copy_remains(tmp_path):
    take(sample(tmp_path / "a.db"), tmp_path)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_copy_is_private_and_goes_when_the_reader_stops_early(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    reading = sqlite.sessions(sample(tmp_path / "a.db"), scratch)
    next(reading)
    copy = next(scratch.rglob("copy.db"))
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    reading.close()
    assert list(scratch.iterdir()) == []


def first_row(tmp_path, table, **columns):
    with closing(database(sample(tmp_path / "a.db"), "")) as db:
        for name, value in columns.items():
            db.execute(f"UPDATE {table} SET {name} = ?", (value,))
    lines = take(tmp_path / "a.db", tmp_path)["ses_a"]
    return next(row for row in map(json.loads, lines) if row["table"] == table)["row"]


def test_a_title_that_looks_like_json_stays_a_title(tmp_path):
    assert first_row(tmp_path, "session", title="[1]")["title"] == "[1]"


def test_data_that_is_no_json_stays_text(tmp_path):
    assert first_row(tmp_path, "message", data="{oops")["data"] == "{oops"


def test_bytes_are_kept_as_marked_base64(tmp_path):
    assert first_row(tmp_path, "message", data=b"\x00\xff")["data"] == {"$base64": "AP8="}


def test_text_that_is_not_utf8_is_kept_as_bytes(tmp_path):
    with closing(database(sample(tmp_path / "a.db"), "")) as db:
        db.execute("UPDATE session SET title = CAST(X'C3' AS TEXT)")
    line = take(tmp_path / "a.db", tmp_path)["ses_a"][0]
    assert json.loads(line)["row"]["title"] == {"$base64": "ww=="}


def test_half_a_character_stays_escaped(tmp_path):
    data = first_row(tmp_path, "message", data='{"text":"a\\ud83d"}')["data"]
    assert data == {"text": "a\ud83d"}


def test_a_number_json_cannot_hold_is_kept_as_its_name(tmp_path):
    assert first_row(tmp_path, "session", cost=float("inf"))["cost"] == "inf"


def refusal(path, tmp_path):
    with pytest.raises(UnreadableError) as caught:
        take(path, tmp_path, patience=0.05)
    return caught.value.message


def test_a_database_of_no_known_agent_is_refused_by_its_tables(tmp_path):
    database(tmp_path / "a.db", "CREATE TABLE agent_x (y); CREATE TABLE b (c);").close()
    words = refusal(tmp_path / "a.db", tmp_path)
    assert words.endswith("a.db: an SQLite database with tables agent_x, b, of no known agent")


def test_tables_of_the_same_names_and_other_columns_are_no_known_agent(tmp_path):
    script = "CREATE TABLE session (id); CREATE TABLE message (id); CREATE TABLE part (id);"
    database(tmp_path / "a.db", script).close()
    assert refusal(tmp_path / "a.db", tmp_path).endswith("of no known agent")


def test_an_empty_database_has_no_tables(tmp_path):
    database(tmp_path / "a.db", "PRAGMA user_version = 1;").close()
    assert "tables none" in refusal(tmp_path / "a.db", tmp_path)


def test_a_locked_database_is_said_to_be_locked(tmp_path):
    with closing(database(sample(tmp_path / "a.db"), "BEGIN EXCLUSIVE")):
        words = refusal(tmp_path / "a.db", tmp_path)
    assert words.endswith("a.db: the database is locked by another program")


def many_rows(path):
    with closing(database(path)) as db:
        add_session(db)
        db.execute("BEGIN")
        for number in range(200):
            add_part(db, f"p{number}", "m1", number, data='{"text":"' + "x" * 300 + '"}')
        db.execute("COMMIT")
    return path


def test_a_truncated_database_is_refused_whole(tmp_path):
    path = many_rows(tmp_path / "a.db")
    path.write_bytes(path.read_bytes()[:-9000])
    assert "a damaged SQLite database" in refusal(path, tmp_path)


def test_a_corrupt_database_is_refused_whole(tmp_path):
    path = many_rows(tmp_path / "a.db")
    data = bytearray(path.read_bytes())
    data[20_000:24_000] = b"\xee" * 4_000
    path.write_bytes(data)
    assert "a damaged SQLite database" in refusal(path, tmp_path)


def test_a_file_that_only_begins_like_a_database_is_refused(tmp_path):
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0" + b"not at all" * 400)
    assert "a damaged SQLite database" in refusal(tmp_path / "a.db", tmp_path)


def test_a_database_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(MissingError):
        take(tmp_path / "a.db", tmp_path)


AGENTS = """
CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT,
  created_at TIMESTAMP);
"""


def agents(path, *items, session="talk", updated="9"):
    with closing(database(path, AGENTS)) as db:
        db.execute("INSERT INTO agent_sessions VALUES (?, '2026-05-01', ?)", (session, updated))
        for item in items:
            row = (session, json.dumps(item))
            columns = "(session_id, message_data, created_at) VALUES (?, ?, '2026-05-01')"
            db.execute(f"INSERT INTO agent_messages {columns}", row)
    return path


def test_a_store_of_agent_items_is_its_session_row_then_its_items_parsed(tmp_path):
    lines = take(agents(tmp_path / "a.db", {"role": "user"}, {"type": "compaction"}), tmp_path)["talk"]
    assert lines[0] == b'{"row":{"created_at":"2026-05-01","session_id":"talk"},"table":"agent_sessions"}'
    items = [json.loads(line)["row"]["message_data"] for line in lines[1:]]
    assert items == [{"role": "user"}, {"type": "compaction"}]


def test_a_session_of_agent_items_that_grows_only_appends(tmp_path):
    before = take(agents(tmp_path / "a.db", {"n": 1}), tmp_path)["talk"]
    after = take(agents(tmp_path / "b.db", {"n": 1}, {"n": 2}, updated="10"), tmp_path)["talk"]
    assert after[: len(before)] == before
