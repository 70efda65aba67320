"""Transactions on a real file: what they see, what they leave, and what stands in their way."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.store.library_builder import LibraryBuilder, build_library, in_threads
from tests.store.processes import answer, hold_the_write_lock, other_process, write_without_permission
from wenyuan.errors import (
    DiskFull,
    InvalidValue,
    LibraryDamaged,
    LibraryLocked,
    LibraryReadOnly,
    NotALibrary,
    WenyuanError,
)
from wenyuan.store.sqlite import SqliteDatabase, SqliteTransaction
from wenyuan.types import Posting

pytestmark = pytest.mark.only_sqlite

_COUNTERS = 4
"""How many counters a new library has."""
_COUNT = "SELECT value FROM counters WHERE name = 'chunk'"
_CHANGED = "SELECT value FROM counters WHERE name IN ('chunk', 'generation')"
_GROW = "INSERT INTO counters (name, value) VALUES (:name, 0)"


def _value(tx: SqliteTransaction) -> int:
    row = tx.first(_COUNT)
    assert row is not None
    return int(row[0])


def _set(database: SqliteDatabase, value: int) -> None:
    with database.write() as tx:
        tx.run("UPDATE counters SET value = :value WHERE name = 'chunk'", {"value": value})


def _grown(database: SqliteDatabase) -> int:
    """How many long rows could be committed before the disk was full."""
    grown = 0
    while True:
        try:
            with database.write() as tx:
                tx.run(_GROW, {"name": f"{grown} {time.monotonic_ns()} {'x' * 20_000}"})
        except DiskFull:
            return grown
        grown += 1


# --- What a transaction sees ---------------------------------------------------------------------


def test_a_read_sees_one_moment(database: SqliteDatabase) -> None:
    with database.read() as before:
        assert _value(before) == 0
        _set(database, 7)
        assert _value(before) == 0
        with database.read() as after:
            assert _value(after) == 7


@pytest.mark.parametrize(
    "sql", ["DELETE FROM counters", "CREATE TABLE more (a)", "INSERT INTO counters VALUES ('more', 1)"]
)
def test_a_read_cannot_write(database: SqliteDatabase, sql: str) -> None:
    with pytest.raises(LibraryReadOnly), database.read() as tx:
        tx.all(sql)
    with database.read() as tx:
        assert tx.all("SELECT count(*) FROM counters") == [(_COUNTERS,)]


def test_a_read_connection_that_failed_is_used_again(database: SqliteDatabase) -> None:
    for _ in range(3):
        with pytest.raises(LibraryReadOnly), database.read() as tx:
            tx.all("DELETE FROM counters")
        _set(database, 1)
        with database.read() as tx:
            assert _value(tx) == 1


def test_a_transaction_has_one_clock(database: SqliteDatabase) -> None:
    before = time.time_ns() // 1_000_000
    with database.write() as tx:
        first = tx.now
        while time.time_ns() // 1_000_000 <= first + 1:
            pass
        assert tx.now == first
    assert before - 1 <= first <= time.time_ns() // 1_000_000


def test_run_tells_how_many_rows_it_changed(database: SqliteDatabase) -> None:
    with database.write() as tx:
        assert tx.run("UPDATE counters SET value = 1") == _COUNTERS
        assert tx.run("UPDATE counters SET value = 1 WHERE name = 'none'") == 0
        insert = "INSERT INTO counters (name, value) VALUES ('chunk', 5) ON CONFLICT DO NOTHING"
        assert tx.run(insert) == 0


# --- What a transaction leaves -------------------------------------------------------------------


@pytest.mark.parametrize("error", [InvalidValue(what="x", value=1, reason="y"), ValueError(), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_nothing(database: SqliteDatabase, error: BaseException) -> None:
    with pytest.raises(type(error)), database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 99")
        raise error
    with database.read() as tx:
        assert _value(tx) == 0
    _set(database, 1)


def test_a_statement_that_fails_leaves_nothing(database: SqliteDatabase) -> None:
    with pytest.raises(WenyuanError) as failure, database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 99")
        tx.run("INSERT INTO counters (name, value) VALUES ('chunk', 1)")
    # A mistake in our SQL must not send anyone to their backups.
    assert failure.value.code == "internal"
    with database.read() as tx:
        assert _value(tx) == 0


def test_foreign_keys_are_kept(database: SqliteDatabase) -> None:
    with pytest.raises(WenyuanError, match="FOREIGN KEY"), database.write() as tx:
        tx.run("INSERT INTO revision_text (revision_id, seq, start_offset, text) VALUES ('none', 0, 0, '')")


def test_what_is_committed_survives_reopening(tmp_path: Path) -> None:
    library = build_library(tmp_path)
    _set(library.sqlite, 42)
    library.sqlite.close()
    again = build_library(tmp_path)
    with again.sqlite.read() as tx:
        assert _value(tx) == 42
    again.sqlite.close()


# --- Threads and processes -----------------------------------------------------------------------


def test_threads_write_one_after_another_and_lose_nothing(database: SqliteDatabase) -> None:
    def add(_: int) -> None:
        for _ in range(20):
            with database.write() as tx:
                value = _value(tx)
                tx.run("UPDATE counters SET value = :value WHERE name = 'chunk'", {"value": value + 1})

    in_threads(8, add)
    with database.read() as tx:
        assert _value(tx) == 160


def test_threads_read_while_others_read_and_write(database: SqliteDatabase) -> None:
    # Both counters are always changed together: a read that sees them differ saw two moments.
    def work(number: int) -> None:
        for _ in range(30):
            if number % 2:
                with database.write() as tx:
                    tx.run("UPDATE counters SET value = value + 1 WHERE name = 'chunk'")
                    tx.run("UPDATE counters SET value = value + 1 WHERE name = 'generation'")
            else:
                with database.read() as outer, database.read() as inner:
                    first = {row[0] for row in outer.all(_CHANGED)}
                    assert len(first) == 1
                    assert len({row[0] for row in inner.all(_CHANGED)}) == 1
                    assert {row[0] for row in outer.all(_CHANGED)} == first

    in_threads(6, work)


def test_a_thread_waits_for_another_no_longer_than_it_was_told(tmp_path: Path) -> None:
    database = build_library(tmp_path, lock_seconds=0.05).sqlite
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with database.write():
            held.set()
            assert release.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    with pytest.raises(LibraryLocked), database.write():
        pass
    release.set()
    thread.join()
    _set(database, 1)
    database.close()


def test_a_process_waits_for_another_no_longer_than_it_was_told(tmp_path: Path) -> None:
    database = build_library(tmp_path, lock_seconds=0.05).sqlite
    with other_process(hold_the_write_lock, tmp_path / "wenyuan.db") as other:
        assert answer(other) == "held"
        with pytest.raises(LibraryLocked) as locked:
            _set(database, 5)
        assert str(tmp_path) in locked.value.message
        with database.read() as tx:
            assert _value(tx) == 0
        other.send("go on")
        assert answer(other) == "released"
    with database.write() as tx:
        assert _value(tx) == 1
    database.close()


def test_closing_waits_for_the_writer(database: SqliteDatabase) -> None:
    entered = threading.Event()

    def write() -> None:
        with database.write() as tx:
            entered.set()
            for _ in range(50):
                tx.run("UPDATE counters SET value = value + 1 WHERE name = 'chunk'")

    thread = threading.Thread(target=write)
    thread.start()
    assert entered.wait(30)
    database.close()
    thread.join()
    with database.read() as tx:
        assert _value(tx) == 50


# --- A full disk ---------------------------------------------------------------------------------


def test_a_full_disk_leaves_nothing_half_done(database: SqliteDatabase) -> None:
    with database.write() as tx:
        tx.all("PRAGMA max_page_count = 200")
    grown = _grown(database)
    assert grown > 0
    with pytest.raises(DiskFull), database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 99 WHERE name = 'chunk'")
        tx.run(_GROW, {"name": "x" * 1_000_000})
    with database.read() as tx:
        assert tx.all("SELECT count(*) FROM counters") == [(_COUNTERS + grown,)]
        assert _value(tx) == 0
    with database.write() as tx:
        tx.all("PRAGMA max_page_count = 100000")
    with database.write() as tx:
        tx.run(_GROW, {"name": "x" * 1_000_000})
    assert database.integrity_problems() == []


def _fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1024))
    return ballast


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    database = build_library(small_disk).sqlite
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1 << 20))
    grown = _grown(database)
    with database.read() as tx:
        assert tx.all("SELECT count(*) FROM counters") == [(_COUNTERS + grown,)]
    ballast.unlink()
    assert _grown(database) > 0
    assert database.integrity_problems() == []
    database.close()


def test_a_library_on_a_full_disk_is_not_called_damaged(small_disk: Path) -> None:
    build_library(small_disk).sqlite.close()
    ballast = _fill(small_disk)
    database = SqliteDatabase(small_disk / "wenyuan.db", 1.0)
    with pytest.raises(DiskFull), database.read() as tx:
        tx.first(_COUNT)
    with pytest.raises(DiskFull):
        _set(database, 5)
    ballast.unlink()
    _set(database, 5)
    database.close()


# --- Files that are something else ---------------------------------------------------------------


def test_a_file_that_may_not_be_written() -> None:
    # Not below pytest's folder, whose parents are closed to the other user that root becomes here.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_library(folder).database.close()
        (folder / "wenyuan.db").chmod(0o444)
        folder.chmod(0o555)
        with other_process(write_without_permission, folder / "wenyuan.db") as other:
            assert answer(other) == LibraryReadOnly.code
        folder.chmod(0o755)
        database = SqliteDatabase(folder / "wenyuan.db", 1.0)
        with database.read() as tx:
            assert _value(tx) == 0
        database.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "none" / "wenyuan.db", 1.0)
    with pytest.raises(LibraryReadOnly), database.write():
        pass
    with pytest.raises(LibraryReadOnly), database.read():
        pass


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "wenyuan.db"
    path.write_bytes(b"These are minutes of a meeting, not a database. " * 200)
    content = path.read_bytes()
    database = SqliteDatabase(path, 1.0)
    with pytest.raises(NotALibrary), database.read() as tx:
        tx.first("SELECT 1 FROM sqlite_schema")
    with pytest.raises(NotALibrary), database.write():
        pass
    database.close()
    assert path.read_bytes() == content


def _damaged(library: LibraryBuilder) -> SqliteDatabase:
    """The same database with its documents' pages overwritten."""
    knowledge_base = library.knowledge_base()
    for number in range(60):
        library.add(knowledge_base, f"/{number}.md")
    library.sqlite.close()
    path = library.folder / "wenyuan.db"
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        if b"/30.md" in content[start : start + 4096]:
            content[start : start + 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    return SqliteDatabase(path, 1.0)


def test_a_damaged_database_says_so(library: LibraryBuilder) -> None:
    database = _damaged(library)
    with pytest.raises(LibraryDamaged), database.read() as tx:
        tx.all("SELECT source, owner FROM documents ORDER BY created_at")
    assert database.integrity_problems() != []
    database.close()


def test_a_sound_database_has_no_problems(library: LibraryBuilder) -> None:
    library.published(library.knowledge_base(), "/a.md", "some words")
    assert library.sqlite.integrity_problems() == []


def test_a_database_that_was_written_to_since_it_was_read_has_no_problems(database: SqliteDatabase) -> None:
    with database.write() as tx:
        tx.lexical.create(tx, 50)
    for start in range(0, 600, 50):
        postings = [
            (key, Posting("", "", " ".join(f"w{key * n % 97}" for n in range(150)), ""))
            for key in range(start, start + 50)
        ]
        with database.write() as tx:
            tx.lexical.add(tx, 50, postings)
            tx.lexical.remove(tx, 50, range(start, start + 20))
        assert database.integrity_problems() == []
        with database.read() as tx:
            assert len(tx.lexical.search(tx, 50, ["w1"], [], 1000)) > 0


def test_a_database_that_is_cut_short_says_so(library: LibraryBuilder) -> None:
    library.sqlite.close()
    path = library.folder / "wenyuan.db"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    database = SqliteDatabase(path, 1.0)
    with pytest.raises(LibraryDamaged), database.read() as tx:
        tx.all("SELECT * FROM turns")
    database.close()
