"""Libraries are opened, made and migrated: in a folder, or in PostgreSQL."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from wenyuan.config import FILE_NAME, Settings, load_settings
from wenyuan.errors import InvalidValue, LibraryNotFound, LibraryReadOnly, NotALibrary
from wenyuan.runtime.conversations import PROMPTS
from wenyuan.runtime.library import Library
from wenyuan.runtime.storage import Storage, storage_of
from wenyuan.store import migrate
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.opening import agree_on_storage, is_address, migrate_postgres, open_postgres, open_replica
from wenyuan.store.replica import ReplicaFirst


def open_library(
    path: str | os.PathLike[str],
    *,
    blobs: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    replica: str | None = None,
    create: bool = True,
    environment: Mapping[str, str] | None = None,
    today: Callable[[], datetime.date] = datetime.date.today,
) -> Library:
    """Open the library in a folder, making it (and its default knowledge base) where there is none.

    Migrates an older database by itself. A `postgresql://` address names a library in PostgreSQL, and an older one
    waits for `migrate`. Then `blobs` is the folder of its files, which every machine must see, or `database` where
    they are in that as well, or `s3://bucket/folder`; `home` is the folder of `wenyuan.toml` and of what this
    machine keeps, usually that of the files. `replica` is the address of a copy that follows the database, which
    searches and documents are read from as long as it answers; else `search.replica` of the settings.

    Raises `LibraryNotFound` (with `create=False`), `NotALibrary` for a folder that holds something else,
    `LibraryNewer`, `LibraryReadOnly`, `LibraryDamaged`, `ConfigurationInvalid`, and of PostgreSQL `MigrationNeeded`,
    `InvalidValue`, `DatabaseUnreachable`, `DatabaseRefused` or `DatabaseUnsuitable`.
    """
    if is_address(path):
        environment = os.environ if environment is None else environment
        storage = storage_of(str(path), blobs, home, environment)
        return _open_address(str(path), storage, replica, create, environment, today)
    if replica:
        raise InvalidValue(what="A replica", value="given", reason="a library in a folder has none")
    folder = Path(path).expanduser().absolute()
    database_file = folder / "wenyuan.db"
    if not database_file.exists():
        if not create:
            raise LibraryNotFound(path=folder)
        _make_folder(folder)
    environment = os.environ if environment is None else environment
    settings = load_settings(folder, environment)
    database = migrate.open_database(folder, settings.worker.lock_seconds)
    try:
        library = Library(folder, settings, database, BlobDirectory(folder / "blobs"), today, environment)
        library.knowledge_bases.ensure_default()
    except BaseException:
        database.close()
        raise
    return library


def _open_address(
    address: str,
    storage: Storage,
    replica: str | None,
    create: bool,
    environment: Mapping[str, str],
    today: Callable[[], datetime.date],
) -> Library:
    settings = load_settings(storage.home, environment)
    database = open_postgres(address, settings.worker.lock_seconds, create=create)
    try:
        agree_on_storage(database, storage.kind)
        reading = _reading(database, settings.search.replica if replica is None else replica, settings)
        library = Library(storage.home, settings, database, storage.blobs(database), today, environment, reading)
        library.knowledge_bases.ensure_default()
    except BaseException:
        database.close()
        raise
    return library


def _reading(database: LibraryDatabase, replica: str, settings: Settings) -> ReplicaFirst:
    if replica and not is_address(replica):
        raise InvalidValue(what="The address of the replica", value=replica, reason="it begins with postgresql://")
    return ReplicaFirst(database, partial(open_replica, replica, settings.worker.lock_seconds) if replica else None)


def migrate_library(address: str, environment: Mapping[str, str] | None = None) -> int:
    """Bring a library in PostgreSQL to the schema of this program, or make it one, and return its number.

    Raises `InvalidValue` for a folder: a library there migrates when it is opened.
    """
    if not is_address(address):
        raise InvalidValue(what="The library to migrate", value=address, reason="it is not a postgresql:// address")
    # How long to wait for those who write is all that matters of the settings.
    settings = load_settings(Path("none"), os.environ if environment is None else environment)
    return migrate_postgres(address, settings.worker.lock_seconds)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {item.name for item in folder.iterdir()}
        # A database that has appeared meanwhile is another process opening the same new library.
        if "wenyuan.db" not in names and names - {FILE_NAME, PROMPTS}:
            raise NotALibrary(path=folder, reason="the folder holds other files")
    except (FileExistsError, NotADirectoryError) as error:
        raise NotALibrary(path=folder, reason="it is a file") from error
    except OSError as error:
        raise LibraryReadOnly(path=folder, reason=error.strerror or str(error)) from error
