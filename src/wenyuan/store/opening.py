"""Which database a library is in: the one in its folder, or PostgreSQL at an address."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from wenyuan.errors import DatabaseUnsuitable
from wenyuan.store.database import LibraryDatabase

# Loaded where a library is in PostgreSQL: what it imports is there only if that was asked for.
_POSTGRESQL = "wenyuan.store.postgresql.opening"
_SCHEMES = ("postgresql://", "postgres://")


def is_address(place: str | os.PathLike[str]) -> bool:
    """Whether this is the address of a database, and no folder."""
    return isinstance(place, str) and place.startswith(_SCHEMES)


def open_postgres(address: str, lock_seconds: float, *, create: bool) -> LibraryDatabase:
    """The library in PostgreSQL at an address. Raises what `wenyuan.store.postgresql.opening` says."""
    database: LibraryDatabase = _postgresql().open_postgres(address, lock_seconds, create=create)
    return database


def migrate_postgres(address: str, lock_seconds: float) -> int:
    """Bring the library at an address to the schema of this program, or make it one, and return its number."""
    schema: int = _postgresql().migrate_url(address, lock_seconds)
    return schema


def _postgresql() -> ModuleType:
    try:
        return import_module(_POSTGRESQL)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "psycopg":
            raise
        remedy = "`pip install 'wenyuan[postgres]'` adds it"
        raise DatabaseUnsuitable(path="at that address", reason="psycopg is not installed", remedy=remedy) from error
