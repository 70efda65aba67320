"""Brings a database to the schema this program knows, and refuses one that is newer.

Each migration is one numbered SQL file whose SHA-256 is kept in the database, so that an edited
migration is noticed before it can mislead.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from wenyuan.errors import DiskFull, LibraryNewer, LibraryReadOnly, MigrationChanged, NotALibrary
from wenyuan.store.sqlite import LITTLE, SqliteDatabase, SqliteTransaction

_LOG = logging.getLogger("wenyuan.migrate")
_COPY = "wenyuan.db.schema-"
_LARGEST_COPIED = 4 << 30
_ROOM_PER_COPY = 3


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


TRACES = "traces"
"""The migrations of what is kept apart from the library itself."""


def open_database(folder: Path, lock_seconds: float) -> SqliteDatabase:
    """The database in a library's folder, its schema brought up to date.

    The file of traces is made or migrated when it is first used, so that a library answers without
    it. Raises what `migrate` raises and `StorageError`.
    """
    traces = SqliteDatabase(
        folder / "traces.db",
        lock_seconds,
        prepare=lambda database: migrate(database, folder, known_migrations(TRACES)),
        memory=LITTLE,
    )
    database = SqliteDatabase(folder / "wenyuan.db", lock_seconds, traces=traces)
    try:
        _keep_copy(database, folder)
        migrate(database, folder)
    except BaseException:
        database.close()
        raise
    return database


def known_migrations(kind: str = "") -> tuple[Migration, ...]:
    """Every migration this program carries, of the library or of another kind, in order."""
    folder = resources.files("wenyuan.store") / "migrations" / kind
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return tuple(
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text("utf-8")) for file in files
    )


def migrate(database: SqliteDatabase, path: Path, migrations: tuple[Migration, ...] | None = None) -> int:
    """Apply what is missing, all of it in one transaction, and return the schema number.

    Raises `LibraryNewer` when the database has migrations this program lacks, `MigrationChanged`
    when one it has was edited, and `NotALibrary` when it is another program's. Nothing is changed
    in any of these cases.
    """
    known = known_migrations() if migrations is None else migrations
    if _applied(database, path, known) < len(known):
        with database.write() as tx:
            for migration in known:
                _apply(tx, migration)
        # Another version of this program may have been faster with some of them.
        _applied(database, path, known)
    return known[-1].number


def forget_copies(folder: Path, older_than_seconds: float) -> None:
    """Delete the copies that were made so long ago before a migration."""
    for copy in folder.glob(f"{_COPY}*"):
        try:
            if time.time() - copy.stat().st_mtime > older_than_seconds:
                copy.unlink()
        except OSError as error:
            # Gone meanwhile, or not ours to delete.
            _LOG.info("%s was not removed: %s", copy, error)


def _keep_copy(database: SqliteDatabase, folder: Path) -> None:
    """Copy the database of an older program before it is migrated: that program cannot open it afterwards.

    A migration needs no copy to be safe from a crash, so without room there is none. The copy of
    another process, which migrated meanwhile, is as good as ours.
    """
    known = known_migrations()
    found = _applied(database, folder, known)
    size = database.size()
    if not 0 < found < len(known) or size > _LARGEST_COPIED:
        return
    if shutil.disk_usage(folder).free < _ROOM_PER_COPY * size:
        _LOG.info("%s is migrated without keeping a copy, for which there is too little room", folder)
        return
    part = folder / f"{_COPY}{found}.{os.getpid()}.part"
    try:
        database.copy_to(part)
        if _schema_of(part) == found:
            os.replace(part, folder / f"{_COPY}{found}")
    except (DiskFull, LibraryReadOnly, OSError) as error:
        _LOG.info("%s is migrated without keeping a copy: %s", folder, error)
    finally:
        part.unlink(missing_ok=True)


def _schema_of(file: Path) -> int:
    database = SqliteDatabase(file)
    try:
        with database.read() as tx:
            row = tx.first("SELECT max(number) FROM schema_migrations")
    finally:
        database.close()
    return int(row[0]) if row is not None else 0


def _applied(database: SqliteDatabase, path: Path, known: tuple[Migration, ...]) -> int:
    if not database.exists():
        return 0
    with database.read() as tx:
        tables = tx.tables()
        if "schema_migrations" not in tables:
            if tables:
                raise NotALibrary(path=path, reason="its database was made by another program")
            return 0
        rows = tx.all("SELECT number, sha256 FROM schema_migrations ORDER BY number")
    by_number = {migration.number: migration for migration in known}
    for number, sha256 in rows:
        if number not in by_number:
            raise LibraryNewer(path=path, found=rows[-1][0], known=known[-1].number)
        if by_number[number].sha256 != sha256:
            raise MigrationChanged(path=path, number=number)
    return len(rows)


def _apply(tx: SqliteTransaction, migration: Migration) -> None:
    tx.run(
        "CREATE TABLE IF NOT EXISTS schema_migrations "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL)"
    )
    # Looked up again under the write lock: another process may have applied it meanwhile.
    if tx.first("SELECT 1 FROM schema_migrations WHERE number = :number", {"number": migration.number}):
        return
    tx.script(migration.sql)
    tx.run(
        "INSERT INTO schema_migrations (number, name, sha256, applied_at) VALUES (:number, :name, :sha256, :now)",
        {"number": migration.number, "name": migration.name, "sha256": migration.sha256, "now": tx.now},
    )
