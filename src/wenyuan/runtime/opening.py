"""Libraries are opened, made and migrated: in a folder, or in PostgreSQL."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from wenyuan.config import FILE_NAME, load_settings
from wenyuan.errors import InvalidValue, LibraryNotFound, LibraryReadOnly, NotALibrary
from wenyuan.runtime.conversations import PROMPTS
from wenyuan.runtime.library import Library
from wenyuan.store import migrate
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.opening import is_address, migrate_postgres, open_postgres


def open_library(
    path: str | os.PathLike[str],
    *,
    blobs: str | os.PathLike[str] | None = None,
    create: bool = True,
    environment: Mapping[str, str] | None = None,
    today: Callable[[], datetime.date] = datetime.date.today,
) -> Library:
    """Open the library in a folder, making it (and its default knowledge base) where there is none.

    Migrates an older database by itself. A `postgresql://` address names a library in PostgreSQL; then
    `blobs` is the folder of its files, its settings and what its workers share, and an older one waits
    for `migrate`. Raises `LibraryNotFound` (with `create=False`), `NotALibrary` for a folder that holds
    something else, `LibraryNewer`, `LibraryReadOnly`, `LibraryDamaged`, `ConfigurationInvalid`, and of
    PostgreSQL `MigrationNeeded`, `DatabaseUnreachable`, `DatabaseRefused` or `DatabaseUnsuitable`.
    """
    if is_address(path):
        return _open_address(str(path), blobs, create, os.environ if environment is None else environment, today)
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
    blobs: str | os.PathLike[str] | None,
    create: bool,
    environment: Mapping[str, str],
    today: Callable[[], datetime.date],
) -> Library:
    if blobs is None:
        raise InvalidValue(what="The folder of files", value=blobs, reason="a library in PostgreSQL needs one")
    folder = Path(blobs).expanduser().absolute()
    settings = load_settings(folder, environment)
    database = open_postgres(address, settings.worker.lock_seconds, create=create)
    try:
        library = Library(folder, settings, database, BlobDirectory(folder), today, environment)
        library.knowledge_bases.ensure_default()
    except BaseException:
        database.close()
        raise
    return library


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
