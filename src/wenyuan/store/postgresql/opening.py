"""How a library in PostgreSQL is opened, and how its schema is brought up to date.

The numbered migrations that both databases share are followed by PostgreSQL's own. An empty database
becomes a library when it is opened to be made; an older library is left alone until it is told to
migrate, for other programs may be working in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.errors import DatabaseUnsuitable, LibraryNewer, LibraryNotFound, MigrationChanged, MigrationNeeded
from wenyuan.store.migrate import TRACES, Migration, known_migrations
from wenyuan.store.postgresql.connections import connect, require, translated
from wenyuan.store.postgresql.database import PostgresDatabase, PostgresTransaction

_KINDS = ("", TRACES, "postgresql")
_APPLIED = {"": "schema_migrations", TRACES: "schema_migrations_traces", "postgresql": "schema_migrations_postgresql"}


def open_postgres(url: str, lock_seconds: float, *, create: bool) -> PostgresDatabase:
    """The database at an address, if its schema is the one this program works with.

    Raises `LibraryNotFound` for an empty one unless it may be made a library, `MigrationNeeded` for
    an older schema, `LibraryNewer`, `MigrationChanged`, `DatabaseUnreachable`, `DatabaseRefused` or
    `DatabaseUnsuitable`.
    """
    database = PostgresDatabase(url, lock_seconds)
    try:
        _require(database)
        missing = _missing(database)
        if missing == _everything() and create:
            migrate_postgres(database)
        elif missing == _everything():
            raise LibraryNotFound(path=database.address)
        elif missing:
            raise MigrationNeeded(path=database.address, found=_schema(database), known=known_migrations()[-1].number)
    except BaseException:
        database.close()
        raise
    return database


def migrate_url(url: str, lock_seconds: float) -> int:
    """Bring the library at an address up to date, or make it one, and return its schema number."""
    database = PostgresDatabase(url, lock_seconds)
    try:
        _require(database)
        return migrate_postgres(database)
    finally:
        database.close()


def migrate_postgres(database: PostgresDatabase) -> int:
    """Apply what is missing, all of it in one transaction, under the lock of those who write."""
    with database.write() as tx:
        missing = {kind: _missing_of(tx, kind, database) for kind in _KINDS}
        for kind, migrations in missing.items():
            for migration in migrations:
                _apply(tx, kind, migration)
    return known_migrations()[-1].number


def _require(database: PostgresDatabase) -> None:
    connection = connect(database.address)
    try:
        with translated(database.address):
            require(connection, database.address)
    finally:
        connection.close()


def _everything() -> list[tuple[str, int]]:
    return [(kind, migration.number) for kind in _KINDS for migration in known_migrations(kind)]


def _missing(database: PostgresDatabase) -> list[tuple[str, int]]:
    with database.read() as tx:
        return [(kind, one.number) for kind in _KINDS for one in _missing_of(tx, kind, database)]


def _missing_of(tx: PostgresTransaction, kind: str, database: PostgresDatabase) -> Sequence[Migration]:
    known = known_migrations(kind)
    if tx.first("SELECT to_regclass(:name)", {"name": _APPLIED[kind]}) == (None,):
        if kind == "" and tx.first("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"):
            raise DatabaseUnsuitable(
                path=database.address, reason="it holds the tables of another program", remedy="Make a new database"
            )
        return known
    by_number = {migration.number: migration for migration in known}
    rows = tx.all(f"SELECT number, sha256 FROM {_APPLIED[kind]} ORDER BY number")
    for number, sha256 in rows:
        if number not in by_number:
            raise LibraryNewer(path=database.address, found=rows[-1][0], known=known[-1].number)
        if by_number[number].sha256 != sha256:
            raise MigrationChanged(path=database.address, number=number)
    return [migration for migration in known if migration.number not in {row[0] for row in rows}]


def _schema(database: PostgresDatabase) -> int:
    with database.read() as tx:
        row = tx.first("SELECT max(number) FROM schema_migrations")
    return int(row[0] or 0) if row is not None else 0


def _apply(tx: PostgresTransaction, kind: str, migration: Migration) -> None:
    tx.run(
        f"CREATE TABLE IF NOT EXISTS {_APPLIED[kind]} "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL)"
    )
    tx.script(migration.sql)
    tx.run(
        f"INSERT INTO {_APPLIED[kind]} (number, name, sha256, applied_at) VALUES (:number, :name, :sha256, :now)",
        {"number": migration.number, "name": migration.name, "sha256": migration.sha256, "now": tx.now},
    )
