"""Which database a library is in: the one in its folder, or PostgreSQL at an address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

from wenyuan.errors import DatabaseUnsuitable
from wenyuan.store.blobs import StagedBlob
from wenyuan.store.database import LibraryDatabase
from wenyuan.store.shared_blobs import BlobStorage

Watch = Callable[[int, int], None]
"""Told how much is done, and of how much."""

# Loaded where a library is in PostgreSQL: what it imports is there only if that was asked for.
_POSTGRESQL = "wenyuan.store.postgresql.opening"
_OBJECTS = "wenyuan.store.postgresql.objects"
IN_FOLDER, IN_DATABASE = "folder", "database"
"""Where files may be, besides an address of their own."""

_SCHEMES = ("postgresql://", "postgres://")


def is_address(place: str | os.PathLike[str]) -> bool:
    """Whether this is the address of a database, and no folder."""
    return isinstance(place, str) and place.startswith(_SCHEMES)


def open_postgres(address: str, lock_seconds: float, *, create: bool) -> LibraryDatabase:
    """The library in PostgreSQL at an address. Raises what `wenyuan.store.postgresql.opening` says."""
    database: LibraryDatabase = _postgresql().open_postgres(address, lock_seconds, create=create)
    return database


def open_replica(address: str, lock_seconds: float) -> LibraryDatabase:
    """A copy in PostgreSQL that follows a library, to be read; whether it answers is known in two seconds."""
    database: LibraryDatabase = _postgresql().open_replica(address, lock_seconds)
    return database


def migrate_postgres(address: str, lock_seconds: float) -> int:
    """Bring the library at an address to the schema of this program, or make it one, and return its number."""
    schema: int = _postgresql().migrate_url(address, lock_seconds)
    return schema


def shared_storage(database: LibraryDatabase, kind: str, library: str = "") -> BlobStorage:
    """Where the files of a library in PostgreSQL are: in its `database`, or at a place such as `s3://bucket/folder`.

    A `library` that is not made yet is named by its id. Raises `DatabaseUnsuitable` where what it takes is not
    installed, or `FilesUnreachable`.
    """
    storage: BlobStorage
    if kind == IN_DATABASE:
        storage = _postgresql().BlobPieces(database)
    else:
        storage = _imported(_OBJECTS, "obstore", "s3").BlobObjects(database, kind, library)
    return storage


def agree_on_storage(database: LibraryDatabase, kind: str) -> None:
    """Remember where the files of a library at an address are. Raises `InvalidValue` where they are elsewhere."""
    _postgresql().agree_on_storage(database, kind)


def require_empty(address: str) -> str:
    """Raise `DatabaseUnsuitable` unless a database has no tables yet; returns its address without a password."""
    shown: str = _postgresql().require_empty(address)
    return shown


def fill_postgres(
    address: str, lock_seconds: float, folder: Path, kind: str, blobs: Iterable[StagedBlob], watch: Watch
) -> None:
    """Make a library of an empty database: all that is in the databases of a folder, and the bytes of some files.

    Its files are in a folder already, or go where the `kind` of `shared_storage` says. It is there as a whole or
    not at all. Raises what `migrate_postgres` and `shared_storage` raise.
    """
    storage_for = None if kind == IN_FOLDER else lambda database, library: shared_storage(database, kind, library)
    _postgresql().fill_url(address, lock_seconds, folder, kind, storage_for, blobs, watch)


def _postgresql() -> ModuleType:
    return _imported(_POSTGRESQL, "psycopg", "postgres")


def _imported(module: str, needed: str, extra: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != needed:
            raise
        remedy = f"`pip install 'wenyuan[{extra}]'` adds it"
        raise DatabaseUnsuitable(path="at that address", reason=f"{needed} is not installed", remedy=remedy) from error
