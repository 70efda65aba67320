"""Connections to PostgreSQL, through psycopg: how values travel, what is asked of the server, what errors mean.

A connection is set up once and used for one transaction after the other. Rows travel in binary, for
packed vectors and postings are most of what is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import conninfo, errors
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import StrDumperUnknown, TextBinaryLoader

from wenyuan.errors import (
    DatabaseRefused,
    DatabaseUnreachable,
    DatabaseUnsuitable,
    DiskFull,
    LibraryDamaged,
    LibraryLocked,
    LibraryReadOnly,
    WenyuanError,
)
from wenyuan.store.database import Row

Connection = psycopg.Connection[Row]

OLDEST_VERSION = 170_000
"""PostgreSQL 17 is the first with `JSON()`, which the shared statements use."""

_CODE_POINT_ORDERS = ("C", "POSIX", "C.UTF-8", "C.UTF8", "PG_UNICODE_FAST")
_CONNECT_SECONDS = 10
_STATEMENTS_KEPT = 300
# A generic plan is made without the parameters, of which some make an index useless. Compiling pays for
# statements that take seconds. Nobody notices within minutes that the other machine is gone, but for the
# kernel's own questions.
_SETTINGS = "SET plan_cache_mode = force_custom_plan; SET jit = off; SET client_min_messages = warning"
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}

_NAMED = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-z_][a-z0-9_]*)")
# Text cannot hold a null character here. In its place stands a code point that is no character and that Unicode
# leaves to programs (https://www.unicode.org/faq/private_use.html#nonchar1), which no other program sees.
_NULL, _STANDS_FOR_NULL = "\x00", "\ufdd0"
# Of the errors that libpq reports without a code, when a connection is made.
_SERVER_SAID = re.compile(r"FATAL:\s+(.*)", re.DOTALL)
_COMES_BACK = re.compile(r"starting up|shutting down|recovery|too many|remaining connection slots|terminating")


class _TextGiven(StrDumperUnknown):
    """Text of no declared type, which PostgreSQL finds from where it stands."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace(_NULL, _STANDS_FOR_NULL) if _NULL in obj else obj)


class _TextRead(TextBinaryLoader):
    def load(self, data: Any) -> Any:
        text: Any = super().load(data)
        return text.replace(_STANDS_FOR_NULL, _NULL) if _STANDS_FOR_NULL in text else text


class _PlainNumber(NumericBinaryLoader):
    """What sums of big integers are: as plain a number as on SQLite."""

    def load(self, data: Any) -> Any:
        number: Decimal = super().load(data)
        return int(number) if number == number.to_integral_value() else float(number)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is; printed without its password."""

    url: str

    def __str__(self) -> str:
        try:
            parts = conninfo.conninfo_to_dict(self.url)
        except psycopg.Error:
            return "PostgreSQL"
        where = f"{parts.get('host', 'localhost')}{':' + str(parts['port']) if 'port' in parts else ''}"
        return f"postgresql://{where}/{parts.get('dbname', '')}"


def connect(address: Address) -> Connection:
    """A new connection, outside of any transaction. Raises `DatabaseUnreachable` or `DatabaseRefused`."""
    try:
        connection: Connection = psycopg.connect(
            address.url, autocommit=True, **{"connect_timeout": _CONNECT_SECONDS, **_KEEPALIVES, **_given(address.url)}
        )
    except psycopg.OperationalError as error:
        raise _connecting(error, address) from error
    except psycopg.Error as error:
        raise DatabaseRefused(path=address, reason=_sentence(error)) from error
    with translated(address):
        connection.prepared_max = _STATEMENTS_KEPT
        connection.adapters.register_dumper(str, _TextGiven)
        connection.adapters.register_loader("text", _TextRead)
        # One type for all integers: a statement is prepared anew for each combination of types.
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        connection.adapters.register_loader("numeric", _PlainNumber)
        connection.execute(_SETTINGS)
    return connection


def with_defaults(url: str, **usual: int) -> str:
    """An address that says of how to connect what it says itself, and else what is `usual`."""
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        raise DatabaseRefused(path=Address(url), reason=_sentence(error)) from error
    missing = [f"{name}={value}" for name, value in usual.items() if not given.get(name)]
    return url + ("&" if "?" in url else "?") + "&".join(missing) if missing else url


def require(connection: Connection, address: Address) -> None:
    """Raise `DatabaseUnsuitable` where the server or the database has not what a library needs."""
    if connection.info.server_version < OLDEST_VERSION:
        version = connection.info.parameter_status("server_version")
        raise DatabaseUnsuitable(
            path=address, reason=f"it is PostgreSQL {version}", remedy="Use PostgreSQL 17 or a newer one"
        )
    row = connection.execute(
        "SELECT pg_encoding_to_char(encoding), datlocprovider::text, datcollate, coalesce(datlocale, '') "
        "FROM pg_database WHERE datname = current_database()"
    ).fetchone()
    encoding, provider, collation, locale = row or ("", "", "", "")
    remedy = "Make it with `CREATE DATABASE name TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`"
    if encoding != "UTF8":
        raise DatabaseUnsuitable(path=address, reason=f"its encoding is {encoding}, not UTF8", remedy=remedy)
    if (collation if provider == "c" else locale) not in _CODE_POINT_ORDERS:
        reason = f"its text is in the order of {locale or collation}, not of characters"
        raise DatabaseUnsuitable(path=address, reason=reason, remedy=remedy)


@lru_cache(maxsize=1024)
def bound(sql: str) -> Any:
    """The same statement as psycopg takes it."""
    escaped = sql.replace("%", "%%")
    return _NAMED.sub(lambda match: match[0] if match[1] is None else f"%({match[1]})s", escaped)


@contextmanager
def translated(address: Address, lock_seconds: float = 0.0) -> Iterator[None]:
    """Raise errors of psycopg as ours."""
    try:
        yield
    except psycopg.Error as error:
        raise storage_error(error, address, lock_seconds) from error


def storage_error(error: psycopg.Error, address: Address, lock_seconds: float) -> WenyuanError:
    """What an error of PostgreSQL means to the caller; a mistake in our own SQL is nobody's damaged library."""
    reason = _sentence(error)
    match error:
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
            return LibraryLocked(path=address, seconds=lock_seconds)
        case errors.DiskFull():
            return DiskFull(path=address)
        case errors.ReadOnlySqlTransaction():
            return LibraryReadOnly(path=address, reason=reason)
        case errors.InsufficientPrivilege():
            return DatabaseRefused(path=address, reason=reason)
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return LibraryDamaged(path=address, reason=reason)
    if _is_lost(error):
        return DatabaseUnreachable(path=address, reason=reason)
    return WenyuanError(reason=f"{type(error).__name__}: {reason}")


def _is_lost(error: psycopg.Error) -> bool:
    """Whether the server is to blame, or the way to it: class 08, 53 and 57 of PostgreSQL's error codes, or none."""
    code = error.sqlstate or ""
    return code[:2] in ("08", "53", "57") or (not code and isinstance(error, psycopg.OperationalError))


def _connecting(error: psycopg.OperationalError, address: Address) -> WenyuanError:
    said = _SERVER_SAID.search(str(error))
    if said is None or _COMES_BACK.search(said[1]):
        return DatabaseUnreachable(path=address, reason=_sentence(error))
    return DatabaseRefused(path=address, reason=said[1].strip().splitlines()[0])


def _sentence(error: psycopg.Error) -> str:
    told = error.diag.message_primary or str(error)
    return " ".join(told.split()).rstrip(".") or type(error).__name__


def _given(url: str) -> dict[str, Any]:
    """What the address itself says of how to connect goes before what is usual here."""
    usual = {"connect_timeout", *_KEEPALIVES}
    return {name: value for name, value in conninfo.conninfo_to_dict(url).items() if name in usual and value}
