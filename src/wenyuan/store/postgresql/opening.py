"""How a library in PostgreSQL is opened, and how its schema is brought up to date.

The numbered migrations that both databases share are followed by PostgreSQL's own. An empty database
becomes a library when it is opened to be made; an older library is left alone until it is told to
migrate, for other programs may be working in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from wenyuan.errors import (
    DatabaseUnsuitable,
    InvalidValue,
    LibraryNewer,
    LibraryNotFound,
    MigrationChanged,
    MigrationNeeded,
)
from wenyuan.store.blobs import StagedBlob
from wenyuan.store.migrate import Migration, known_migrations, open_database
from wenyuan.store.postgresql.blobs import BlobPieces as BlobPieces
from wenyuan.store.postgresql.connections import connect, require, translated, with_defaults
from wenyuan.store.postgresql.copying import Watch, copy_in
from wenyuan.store.postgresql.database import APPLIED, PostgresDatabase, PostgresTransaction
from wenyuan.store.shared_blobs import BlobStorage


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
            known = ".".join(str(known_migrations(kind)[-1].number) for kind in APPLIED)
            raise MigrationNeeded(path=database.address, found=_schema(database), known=known)
    except BaseException:
        database.close()
        raise
    return database


def open_replica(url: str, lock_seconds: float) -> PostgresDatabase:
    """A copy that follows a library. Raises what `open_postgres` raises.

    The library itself answers as well, so that nobody waits long for a machine that is gone.
    """
    return open_postgres(with_defaults(url, connect_timeout=2, tcp_user_timeout=5000), lock_seconds, create=False)


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
        _migrate(tx, database)
    return known_migrations()[-1].number


def require_empty(url: str) -> str:
    """Raise `DatabaseUnsuitable` unless a database has no tables yet; returns its address without a password."""
    database = PostgresDatabase(url)
    try:
        _require(database)
        with database.read() as tx:
            _require_empty(tx, database)
    finally:
        database.close()
    return str(database.address)


def fill_url(
    url: str,
    lock_seconds: float,
    folder: Path,
    kind: str,
    storage_for: Callable[[PostgresDatabase, str], BlobStorage] | None,
    blobs: Iterable[StagedBlob],
    watch: Watch,
) -> None:
    """Make a library of an empty database, in one transaction, of the SQLite files in a folder.

    These are migrated first. The bytes of some files are stored where `storage_for` says for a library with that
    id; nobody waits for the database meanwhile.
    """
    library = str(uuid4())
    source = open_database(folder, lock_seconds)
    database = PostgresDatabase(url, lock_seconds)
    try:
        _require(database)
        with database.write() as tx:
            _require_empty(tx, database)
            _migrate(tx, database)
            copy_in(source, tx, watch)
            if source.traces.exists():
                copy_in(source.traces, tx, watch)
            tx.run(
                "INSERT INTO blob_storage (kind, library) VALUES (:kind, :library)", {"kind": kind, "library": library}
            )
            if storage_for is not None:
                storage = storage_for(database, library)
                for blob in blobs:
                    storage.keep(tx, [blob])
            # Until the server has looked at the tables itself, it would plan as if they were empty.
            tx.run("ANALYZE")
    finally:
        database.close()
        source.close()


def agree_on_storage(database: PostgresDatabase, kind: str) -> None:
    """Remember where the files of a library are. Raises `InvalidValue` where they are elsewhere."""
    known = _storage(database)
    if known is None:
        with database.write() as tx:
            # Before it was remembered, files were in a folder.
            has_files = tx.first("SELECT 1 FROM blobs LIMIT 1") is not None
            tx.run(
                "INSERT INTO blob_storage (kind) SELECT CAST(:kind AS TEXT) "
                "WHERE NOT EXISTS (SELECT 1 FROM blob_storage)",
                {"kind": "folder" if has_files else kind},
            )
        known = _storage(database)
    if known != kind:
        where = "a folder" if known == "folder" else repr(known)
        raise InvalidValue(what="The place of files", value=kind, reason=f"this library has them in {where}")


def _storage(database: PostgresDatabase) -> str | None:
    with database.read() as tx:
        row = tx.first("SELECT kind FROM blob_storage")
    return str(row[0]) if row is not None else None


def _migrate(tx: PostgresTransaction, database: PostgresDatabase) -> None:
    missing = {kind: _missing_of(tx, kind, database) for kind in APPLIED}
    for kind, migrations in missing.items():
        for migration in migrations:
            _apply(tx, kind, migration)


def _require_empty(tx: PostgresTransaction, database: PostgresDatabase) -> None:
    if tx.first("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"):
        raise DatabaseUnsuitable(path=database.address, reason="it holds tables already", remedy="Make a new database")


def _require(database: PostgresDatabase) -> None:
    connection = connect(database.address)
    try:
        with translated(database.address):
            require(connection, database.address)
    finally:
        connection.close()


def _everything() -> list[tuple[str, int]]:
    return [(kind, migration.number) for kind in APPLIED for migration in known_migrations(kind)]


def _missing(database: PostgresDatabase) -> list[tuple[str, int]]:
    with database.read() as tx:
        return [(kind, one.number) for kind in APPLIED for one in _missing_of(tx, kind, database)]


def _missing_of(tx: PostgresTransaction, kind: str, database: PostgresDatabase) -> Sequence[Migration]:
    known = known_migrations(kind)
    if tx.first("SELECT to_regclass(:name)", {"name": APPLIED[kind]}) == (None,):
        if kind == "" and tx.first("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"):
            raise DatabaseUnsuitable(
                path=database.address, reason="it holds the tables of another program", remedy="Make a new database"
            )
        return known
    by_number = {migration.number: migration for migration in known}
    rows = tx.all(f"SELECT number, sha256 FROM {APPLIED[kind]} ORDER BY number")
    for number, sha256 in rows:
        if number not in by_number:
            raise LibraryNewer(path=database.address, found=rows[-1][0], known=known[-1].number)
        if by_number[number].sha256 != sha256:
            raise MigrationChanged(path=database.address, number=number)
    return [migration for migration in known if migration.number not in {row[0] for row in rows}]


def _schema(database: PostgresDatabase) -> str:
    """The newest migration of each kind, as `12.1.2`."""
    with database.read() as tx:
        there = [kind for kind in APPLIED if tx.first("SELECT to_regclass(:name)", {"name": APPLIED[kind]}) != (None,)]
        newest = {kind: tx.first(f"SELECT max(number) FROM {APPLIED[kind]}") for kind in there}
    return ".".join(str((newest.get(kind) or (0,))[0] or 0) for kind in APPLIED)


def _apply(tx: PostgresTransaction, kind: str, migration: Migration) -> None:
    tx.run(
        f"CREATE TABLE IF NOT EXISTS {APPLIED[kind]} "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL)"
    )
    tx.script(migration.sql)
    tx.run(
        f"INSERT INTO {APPLIED[kind]} (number, name, sha256, applied_at) VALUES (:number, :name, :sha256, :now)",
        {"number": migration.number, "name": migration.name, "sha256": migration.sha256, "now": tx.now},
    )
