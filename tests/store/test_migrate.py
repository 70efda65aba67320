"""The schema grows one step at a time, wholly or not at all, and never under a program that does not know it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.store.library_builder import LibraryBuilder
from tests.store.processes import answer, open_when_told, other_process
from wenyuan.errors import LibraryNewer, MigrationChanged, NotALibrary, WenyuanError
from wenyuan.store.migrate import Migration, known_migrations, migrate
from wenyuan.store.sqlite import SqliteDatabase

pytestmark = pytest.mark.only_sqlite

_FIRST = Migration(1, "0001_first", "CREATE TABLE first (a TEXT); INSERT INTO first VALUES ('kept');")
_SECOND = Migration(2, "0002_second", "CREATE TABLE second (b TEXT); ALTER TABLE first ADD COLUMN c TEXT;")
_BROKEN = Migration(
    2, "0002_broken", "CREATE TABLE second (b TEXT); DELETE FROM first; INSERT INTO nowhere VALUES (1);"
)


def _tables(database: SqliteDatabase) -> list[str]:
    with database.read() as tx:
        return [str(row[0]) for row in tx.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]


def _database(folder: Path) -> SqliteDatabase:
    return SqliteDatabase(folder / "wenyuan.db", 10.0)


def test_the_migrations_are_numbered_without_gaps() -> None:
    known = known_migrations()
    assert [migration.number for migration in known] == list(range(1, len(known) + 1))
    assert all(migration.name.startswith(f"{migration.number:04d}_") for migration in known)


def test_a_new_library_gets_every_migration(tmp_path: Path) -> None:
    database = _database(tmp_path)
    assert migrate(database, tmp_path) == known_migrations()[-1].number
    with database.read() as tx:
        rows = tx.all("SELECT number, name, sha256 FROM schema_migrations ORDER BY number")
    assert rows == [(migration.number, migration.name, migration.sha256) for migration in known_migrations()]
    assert {"documents", "chunks", "jobs"} <= set(_tables(database))
    database.close()


def test_migrating_again_changes_nothing(library: LibraryBuilder) -> None:
    with library.sqlite.read() as tx:
        before = tx.all("SELECT * FROM schema_migrations")
    assert migrate(library.sqlite, library.folder) == known_migrations()[-1].number
    with library.sqlite.read() as tx:
        assert tx.all("SELECT * FROM schema_migrations") == before


def test_what_is_missing_is_applied_and_what_is_there_is_kept(tmp_path: Path) -> None:
    database = _database(tmp_path)
    assert migrate(database, tmp_path, (_FIRST,)) == 1
    assert migrate(database, tmp_path, (_FIRST, _SECOND)) == 2
    with database.read() as tx:
        assert tx.all("SELECT a, c FROM first") == [("kept", None)]
    database.close()


def test_a_newer_library_is_refused_and_left_alone(tmp_path: Path) -> None:
    database = _database(tmp_path)
    migrate(database, tmp_path, (_FIRST, _SECOND))
    before = _tables(database)
    with pytest.raises(LibraryNewer) as refused:
        migrate(database, tmp_path, (_FIRST,))
    assert (refused.value.details["found"], refused.value.details["known"]) == (2, 1)
    assert _tables(database) == before
    database.close()


def test_an_edited_migration_is_refused_before_anything_is_applied(tmp_path: Path) -> None:
    database = _database(tmp_path)
    migrate(database, tmp_path, (_FIRST,))
    edited = Migration(1, _FIRST.name, _FIRST.sql + " ")
    with pytest.raises(MigrationChanged):
        migrate(database, tmp_path, (edited, _SECOND))
    assert "second" not in _tables(database)
    database.close()


def test_a_migration_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    database = _database(tmp_path)
    migrate(database, tmp_path, (_FIRST,))
    with pytest.raises(WenyuanError):
        migrate(database, tmp_path, (_FIRST, _BROKEN))
    assert _tables(database) == ["first", "schema_migrations"]
    with database.read() as tx:
        assert tx.all("SELECT a FROM first") == [("kept",)]
    assert migrate(database, tmp_path, (_FIRST, _SECOND)) == 2
    database.close()


def test_a_first_migration_that_fails_can_be_made_good(tmp_path: Path) -> None:
    database = _database(tmp_path)
    broken = Migration(1, "0001_broken", "CREATE TABLE first (a TEXT); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(WenyuanError):
        migrate(database, tmp_path, (broken,))
    assert _tables(database) == []
    assert migrate(database, tmp_path, (_FIRST,)) == 1
    database.close()


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    database = _database(tmp_path)
    with database.write() as tx:
        tx.run("CREATE TABLE photographs (name TEXT)")
    with pytest.raises(NotALibrary):
        migrate(database, tmp_path)
    assert _tables(database) == ["photographs"]
    database.close()


def test_several_processes_may_make_the_same_library_at_once(tmp_path: Path) -> None:
    times = 12
    for number in range(times):
        (tmp_path / str(number)).mkdir()
    newest = known_migrations()[-1].number
    with ExitStack() as stack:
        others = [stack.enter_context(other_process(open_when_told, tmp_path, times)) for _ in range(3)]
        assert [answer(other) for other in others] == ["ready"] * 3
        for number in range(times):
            for other in others:
                other.send("open")
            assert [answer(other) for other in others] == [newest] * 3, number
