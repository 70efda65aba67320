"""What PostgreSQL is asked for: one writer at a time, clear errors, connections that come back, migrations."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest

from tests.own_postgres import own_server
from tests.postgres_server import empty_database, library_database, server_address
from tests.store.library_builder import DIMENSIONS, build_library, in_threads
from wenyuan.errors import (
    DatabaseRefused,
    DatabaseUnreachable,
    DatabaseUnsuitable,
    LeaseLost,
    LibraryLocked,
    LibraryNewer,
    LibraryNotFound,
    LibraryReadOnly,
    MigrationChanged,
    MigrationNeeded,
    WenyuanError,
)
from wenyuan.flows.work import Work
from wenyuan.store import migrate, queue
from wenyuan.store.database import Reading
from wenyuan.store.postgresql import connections, opening
from wenyuan.store.postgresql.database import PostgresDatabase
from wenyuan.store.postgresql.lexical import PostingsIndex
from wenyuan.store.postgresql.opening import migrate_url, open_postgres
from wenyuan.store.sqlite import SqliteDatabase
from wenyuan.store.vector_cache import VectorCache
from wenyuan.types import Posting

_PATIENCE = 10.0


@pytest.fixture
def address() -> Iterator[str]:
    with library_database() as address:
        yield address


@pytest.fixture
def database(address: str) -> Iterator[PostgresDatabase]:
    opened = open_postgres(address, _PATIENCE, create=False)
    yield opened
    opened.close()


def _value(tx: Reading) -> int:
    row = tx.first("SELECT value FROM counters WHERE name = 'chunk'")
    return int(row[0]) if row is not None else -1


def _set(database: PostgresDatabase, value: int) -> None:
    with database.write() as tx:
        tx.run("UPDATE counters SET value = :value WHERE name = 'chunk'", {"value": value})


def _cut(address: str) -> None:
    """End every connection to a database but the one that does it."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# --- Transactions --------------------------------------------------------------------------------


def test_what_was_read_is_still_so_when_it_is_written(address: str, database: PostgresDatabase) -> None:
    others = [database, *(PostgresDatabase(address, 60.0) for _ in range(3))]

    def count_up(number: int) -> None:
        for _ in range(25):
            with others[number % len(others)].write(durable=False, lock_seconds=60.0) as tx:
                value = _value(tx)
                tx.run("UPDATE counters SET value = :value WHERE name = 'chunk'", {"value": value + 1})

    in_threads(6, count_up)
    with database.read() as tx:
        assert _value(tx) == 150
    for other in others:
        other.close()


def test_a_read_sees_one_moment_and_cannot_write(database: PostgresDatabase) -> None:
    _set(database, 1)
    with database.read() as tx:
        assert _value(tx) == 1
        _set(database, 2)
        assert _value(tx) == 1
    with pytest.raises(LibraryReadOnly), database.read() as tx:
        tx.all("UPDATE counters SET value = 3")
    with database.read() as tx:
        assert _value(tx) == 2


def test_an_exception_undoes_everything(database: PostgresDatabase) -> None:
    with pytest.raises(KeyboardInterrupt), database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 9")
        raise KeyboardInterrupt
    with pytest.raises(WenyuanError, match="SyntaxError"), database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 9")
        tx.run("UPDATE nonsense")
    with database.write() as tx:
        assert _value(tx) == 0


def test_a_writer_waits_only_so_long(address: str, database: PostgresDatabase) -> None:
    other = PostgresDatabase(address)
    with database.write():
        for waiting in (other, database):
            with pytest.raises(LibraryLocked), waiting.write(lock_seconds=0.05):
                pass
        # Traces are written under a lock of their own, and who reads waits for nobody.
        with other.traces.write(lock_seconds=0.05), other.read() as tx:
            assert _value(tx) == 0
    other.close()


def test_the_clock_of_a_writer_begins_when_its_turn_comes(address: str, database: PostgresDatabase) -> None:
    other = PostgresDatabase(address)
    seen: list[int] = []
    waiting = threading.Thread(target=lambda: seen.append(_now(other)))
    with database.write() as tx:
        waiting.start()
        with psycopg.connect(address, autocommit=True) as connection:
            while (
                connection.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").fetchone()
                is None
            ):
                pass
        before = int(tx.all("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")[0][0])
    waiting.join()
    other.close()
    assert seen[0] >= before


def _now(database: PostgresDatabase) -> int:
    with database.write() as tx:
        return tx.now


def test_text_keeps_what_postgresql_can_keep(database: PostgresDatabase) -> None:
    with database.write() as tx:
        tx.run(
            "INSERT INTO sweeps (name, position) VALUES (:name, :text)",
            {"name": "a\x00b", "text": "%s :name \\u0000 😀"},
        )
        assert tx.all("SELECT name, position FROM sweeps") == [("a\x00b", "%s :name \\u0000 😀")]
        assert tx.all("SELECT 1 FROM sweeps WHERE name = :name", {"name": "a\x00b"}) == [(1,)]
        listed = tx.all("SELECT value FROM json_each(:list)", {"list": '["a\\u0000b", "\\\\u0000", 3, [1, "x"], null]'})
        assert listed == [("a\x00b",), ("\\u0000",), ("3",), ('[1, "x"]',), (None,)]


# --- Connections ---------------------------------------------------------------------------------


def test_connections_that_were_cut_while_idle_are_not_missed(address: str, database: PostgresDatabase) -> None:
    _set(database, 5)
    _cut(address)
    with database.read() as tx:
        assert _value(tx) == 5
    _cut(address)
    _set(database, 6)
    with database.read() as tx:
        assert _value(tx) == 6


def test_a_connection_that_is_cut_in_a_transaction_undoes_it(address: str, database: PostgresDatabase) -> None:
    with pytest.raises(DatabaseUnreachable) as caught, database.write() as tx:  # noqa: PT012
        tx.run("UPDATE counters SET value = 9")
        _cut(address)
    assert caught.value.retryable
    with pytest.raises(DatabaseUnreachable), database.read() as tx:  # noqa: PT012
        _value(tx)
        _cut(address)
        _value(tx)
    with database.write() as tx:
        assert _value(tx) == 0


def test_what_was_saved_last_before_a_loss_is_not_relied_on(address: str, database: PostgresDatabase) -> None:
    """A server that crashed may have taken it along, which whoever lost the connection cannot know."""
    with database.write() as tx:
        queue.enqueue(tx, "job", "ingest", "revision", "rev", "kb", "local", 1)
    (lease,) = queue.claim(database, "worker", 60_000, ("ingest",))
    work = Work(lease, 60_000, threading.Event())
    for _ in range(2):
        with database.write(durable=False) as tx:
            work.hold(tx)
    _cut(address)
    with pytest.raises(DatabaseUnreachable), database.write(durable=False) as tx:
        work.hold(tx)
    with database.write() as tx:
        queue.release(tx, lease)
    (again,) = queue.claim(database, "worker", 60_000, ("ingest",))
    with database.write(durable=False) as tx:
        Work(again, 60_000, threading.Event()).hold(tx)


def test_a_fence_that_was_given_twice_is_its_workers_alone(database: PostgresDatabase) -> None:
    with database.write() as tx:
        queue.enqueue(tx, "job", "ingest", "revision", "rev", "kb", "local", 1)
    (lease,) = queue.claim(database, "one", 60_000, ("ingest",))
    with database.write() as tx:
        # As after a crash that undid this claim, and the claim of another.
        tx.run("UPDATE jobs SET worker = 'other'")
    with pytest.raises(LeaseLost), database.write() as tx:
        queue.hold(tx, lease, 60_000)
    with pytest.raises(LeaseLost), database.write() as tx:
        queue.finish(tx, lease)
    with database.write() as tx:
        queue.release(tx, lease)
        assert tx.first("SELECT state, worker FROM jobs") == ("running", "other")


def test_words_in_memory_are_read_anew_after_a_loss(address: str, database: PostgresDatabase) -> None:
    """Segments that were undone may have given their numbers to others."""
    with database.write() as tx:
        tx.lexical.create(tx, 1)
        tx.lexical.add(tx, 1, [(7, Posting("", "", "heron", ""))])

    def found() -> list[int]:
        with database.read() as tx:
            return [key for key, _ in tx.lexical.search(tx, 1, ["heron"], [], 5)]

    assert found() == [7]
    with database.write() as tx:
        # What a crash and the next change do to the numbers.
        tx.run("UPDATE lexical_segments SET keys = :keys", {"keys": np.array([9], np.int64).tobytes()})
    assert found() == [7]
    _cut(address)
    assert found() == [9]


def test_words_of_an_index_that_others_dropped_are_let_go_of(address: str, database: PostgresDatabase) -> None:
    with database.write() as tx:
        for number in (1, 2):
            tx.lexical.create(tx, number)
            tx.lexical.add(tx, number, [(number, Posting("", "", "heron", ""))])
    with database.read() as tx:
        tx.lexical.search(tx, 1, ["heron"], [], 5)
    with PostgresDatabase(address, 60.0).write() as tx:
        tx.lexical.drop(tx, 1)
    with database.read() as tx:
        tx.lexical.search(tx, 2, ["heron"], [], 5)
        assert isinstance(tx.lexical, PostingsIndex)
        assert list(tx.lexical._states) == [2]


def test_codes_in_memory_are_read_anew_after_a_loss(address: str, tmp_path: Path) -> None:
    """Changes that were undone may have given their numbers to others."""
    library, cache = build_library(tmp_path, url=address), VectorCache()
    base = library.knowledge_base("birds", embedding_model="test/model")
    one = library.published(base, "/one", "heron")
    rows = np.eye(1, DIMENSIONS, dtype=np.float32)
    library.embed(one, rows)
    generation = library.vector(base.id)

    def seen() -> tuple[int, int]:
        with library.database.read() as tx:
            return cache.coverage(tx, generation)

    assert seen() == (1, 1)
    with library.database.write() as tx:
        # What a crash and the next change do to the numbers.
        tx.run("UPDATE documents SET enabled = 0")
    assert seen() == (1, 1)
    _cut(address)
    assert seen() == (0, 0)
    library.database.close()


def test_a_job_is_noticed_and_so_is_a_lost_listener(address: str, database: PostgresDatabase) -> None:
    other = PostgresDatabase(address)
    with database.commits() as commits:
        before = commits()
        with other.write() as tx:
            tx.run(
                "INSERT INTO jobs (id, kind, subject_kind, subject_id, knowledge_base_id, owner, state, priority, "
                "weight, attempts, fence, worker, run_after, lease_until, cancel_requested, stage, done, total, "
                "created_at) "
                "VALUES ('j', 'ingest', 'r', 's', 'k', 'o', 'queued', 1, 1, 0, 0, '', 0, 0, 0, '', 0, 0, 0)"
            )
        while commits() == before:
            pass
        before = commits()
        _cut(address)
        while commits() == before:
            pass
    other.close()


# --- Refusals ------------------------------------------------------------------------------------


def test_a_database_of_another_encoding_or_order_is_refused() -> None:
    with (
        empty_database(encoding="SQL_ASCII") as address,
        pytest.raises(DatabaseUnsuitable, match="SQL_ASCII") as caught,
    ):
        open_postgres(address, _PATIENCE, create=True)
    assert "CREATE DATABASE" in caught.value.advice


def test_a_database_in_the_order_of_a_language_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # No machine has to have another one than this.
    monkeypatch.setattr(connections, "_CODE_POINT_ORDERS", ("another",))
    with pytest.raises(DatabaseUnsuitable, match="in the order of C"):
        open_postgres(address, _PATIENCE, create=True)


def test_a_server_that_is_too_old_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "OLDEST_VERSION", 990_000)
    with pytest.raises(DatabaseUnsuitable, match="PostgreSQL 1"):
        open_postgres(address, _PATIENCE, create=False)


@pytest.mark.soak
def test_postgresql_16_is_refused() -> None:
    with own_server(16) as server, pytest.raises(DatabaseUnsuitable, match=r"PostgreSQL 16\.") as caught:
        open_postgres(server.address, _PATIENCE, create=True)
    assert "17" in caught.value.advice


def test_another_programs_database_is_left_alone() -> None:
    with empty_database() as address:
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE invoices (id INT)")
        with pytest.raises(DatabaseUnsuitable, match="another program"):
            open_postgres(address, _PATIENCE, create=True)


def test_a_user_without_rights_is_told_so() -> None:
    with empty_database() as address, psycopg.connect(server_address(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
        with pytest.raises(DatabaseRefused, match="permission denied"):
            open_postgres(address.replace("postgres@", "guest@"), _PATIENCE, create=True)


def test_what_cannot_be_reached_and_who_is_refused_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnreachable) as caught:
        open_postgres(f"postgresql://me:secret@/library?host={tmp_path}", _PATIENCE, create=True)
    assert "secret" not in caught.value.message
    with pytest.raises(DatabaseRefused, match="does not exist"):
        open_postgres(server_address().replace("/postgres?", "/nowhere?"), _PATIENCE, create=True)
    with pytest.raises(DatabaseRefused):
        open_postgres("postgresql://h/x?no_such_option=1", _PATIENCE, create=True)


# --- Migrations ----------------------------------------------------------------------------------


def test_an_older_library_waits_to_be_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    known = migrate.known_migrations
    with empty_database() as address:
        with pytest.raises(LibraryNotFound):
            open_postgres(address, _PATIENCE, create=False)
        with monkeypatch.context() as older:
            older.setattr(opening, "known_migrations", lambda kind="": known(kind) if kind else known()[:-1])
            open_postgres(address, _PATIENCE, create=True).close()
        with pytest.raises(MigrationNeeded):
            open_postgres(address, _PATIENCE, create=True)
        assert migrate_url(address, _PATIENCE) == known()[-1].number
        open_postgres(address, _PATIENCE, create=False).close()


def test_a_newer_or_edited_schema_is_refused(address: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE schema_migrations_postgresql SET sha256 = 'edited'")
    with pytest.raises(MigrationChanged):
        open_postgres(address, _PATIENCE, create=False)
    with psycopg.connect(address) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (9999, 'x', 'x', 0)")
    with pytest.raises(LibraryNewer):
        migrate_url(address, _PATIENCE)


def test_several_may_make_the_same_library_at_once() -> None:
    with empty_database() as address:
        in_threads(3, lambda _: open_postgres(address, _PATIENCE, create=True).close())


# --- The lexical index ---------------------------------------------------------------------------


def test_segments_are_merged_and_nothing_is_lost(database: PostgresDatabase, tmp_path: Path) -> None:
    beside = SqliteDatabase(tmp_path / "fts5.db")
    postings = {
        key: Posting(f"n{key % 7}", "head", f"body w{key % 13} w{key % 17} w{key}", "a:1") for key in range(200)
    }
    for one in (database, beside):
        with one.write() as tx:
            tx.lexical.create(tx, 1)
        for key, posting in postings.items():
            with one.write(durable=False) as tx:
                tx.lexical.add(tx, 1, [(key, posting)])
                if key % 5 == 0:
                    tx.lexical.remove(tx, 1, [key // 2])
                if key % 9 == 0:
                    tx.lexical.add(tx, 1, [(key // 3, postings[key // 3])])
    tokens = ["w3", "w5", "n1", "w199", "none"]
    with database.read() as ours, beside.read() as theirs:
        segments = ours.all("SELECT chunks FROM lexical_segments")
        assert len(segments) < 30
        for asked, excluded in ((tokens, []), (tokens, ["w1"]), (["head"], ["w3"])):
            found = ours.lexical.search(ours, 1, asked, excluded, 1000)
            assert dict(found) == pytest.approx(dict(theirs.lexical.search(theirs, 1, asked, excluded, 1000)))
        assert ours.lexical.keys(ours, 1, 40, 50) == theirs.lexical.keys(theirs, 1, 40, 50)
        assert ours.lexical.size(ours, 1) == theirs.lexical.size(theirs, 1)
    assert sorted(database.indexed_tokens(1)) == sorted(beside.indexed_tokens(1))
    beside.close()


def test_a_dropped_index_leaves_nothing(database: PostgresDatabase) -> None:
    with database.write() as tx:
        tx.lexical.create(tx, 1)
        tx.lexical.add(tx, 1, [(1, Posting("", "", "word", ""))])
        tx.lexical.drop(tx, 1)
        tx.lexical.drop(tx, 1)
        for table in ("lexical_indexes", "lexical_segments", "lexical_pages"):
            assert tx.all(f"SELECT 1 FROM {table}") == []
