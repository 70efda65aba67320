"""The store's statements as PostgreSQL reads them, and a database of that kind to try them on.

A statement is found where it is executed, in the source, so that none can be forgotten.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import psycopg

from tests.source_code import last_name, read_modules
from wenyuan.store.database import NO_PARAMETERS, LexicalIndex, Parameters, Reading, Row, Writing
from wenyuan.store.migrate import TRACES, known_migrations
from wenyuan.types import Posting

NOT_SHARED = frozenset({"wenyuan.store.sqlite", "wenyuan.store.fts5"})
"""Modules that are SQLite's own."""

JSON_EACH = """
    CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT * FROM jsonb_array_elements_text(list::jsonb) $$
"""
"""The one function that the shared statements need and PostgreSQL lacks.

Its rows are text, as SQLite's are: an element that is an array itself is taken apart with
`json(value) ->> 0`, a number is cast.
"""

_EXECUTING = frozenset({"all", "first", "run", "run_many"})
_TRANSACTIONS = frozenset({"tx", "_tx"})
_NAMED = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-z_][a-z0-9_]*)")


@dataclass(frozen=True)
class Statement:
    """One statement, and where it is executed."""

    place: str
    sql: str


class UnknownStatementError(Exception):
    """A statement that is made of more than constants, so that nobody can tell what it will be."""


def store_modules() -> list[str]:
    """Names of the store's modules whose statements both databases share."""
    return sorted(module.name for module in read_modules() if module.top == "store" and module.name not in NOT_SHARED)


def source_of(name: str) -> str:
    return inspect.getsource(importlib.import_module(name))


def statements_of(module: ModuleType, source: str) -> list[Statement]:
    """Every statement a module executes, with its own constants filled in. Raises `UnknownStatementError`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _executes(node.func):
            place = f"{module.__name__}:{node.lineno}"
            try:
                sql = eval(compile(ast.Expression(node.args[0]), place, "eval"), dict(vars(module)))
            except (NameError, IndexError) as error:
                raise UnknownStatementError(f"{place}: {error}") from error
            found.append(Statement(place, sql))
    return sorted(found, key=lambda statement: int(statement.place.rpartition(":")[2]))


@functools.cache
def shared_statements() -> tuple[Statement, ...]:
    """Every statement of the store that both databases share."""
    found: list[Statement] = []
    for name in store_modules():
        found += statements_of(importlib.import_module(name), source_of(name))
    return tuple(found)


def is_definition(statement: Statement) -> bool:
    """Whether it makes a table, and so cannot be prepared, only executed."""
    return statement.sql.startswith("CREATE ")


def schema() -> str:
    """The migrations as they stand, and what the store defines besides."""
    migrations = [*known_migrations(), *known_migrations(TRACES)]
    return "\n".join(
        [*(one.sql for one in migrations), *(f"{one.sql};" for one in shared_statements() if is_definition(one))]
    )


def numbered(sql: str) -> str:
    """The same statement with `$1`, `$2` … for its named parameters."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else f"${numbers.setdefault(match[1], len(numbers) + 1)}"

    return _NAMED.sub(number, sql)


def _executes(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _EXECUTING
        and last_name(function.value) in _TRANSACTIONS
    )


class _NoLexicalIndex:
    """Stands where PostgreSQL will have its own; it finds nothing."""

    def create(self, tx: Writing, number: int) -> None: ...

    def drop(self, tx: Writing, number: int) -> None: ...

    def add(self, tx: Writing, number: int, postings: Iterable[tuple[int, Posting]]) -> None: ...

    def remove(self, tx: Writing, number: int, chunk_keys: Iterable[int]) -> None: ...

    def search(
        self,
        tx: Reading,  # noqa: ARG002
        number: int,  # noqa: ARG002
        tokens: Sequence[str],  # noqa: ARG002
        excluded: Sequence[str],  # noqa: ARG002
        limit: int,  # noqa: ARG002
        frequency: Mapping[str, int] | None = None,  # noqa: ARG002
        among: Sequence[int] | None = None,  # noqa: ARG002
    ) -> list[tuple[int, float]]:
        return []

    def document_frequency(self, tx: Reading, number: int, tokens: Sequence[str]) -> dict[str, int]:  # noqa: ARG002
        return dict.fromkeys(tokens, 0)

    def size(self, tx: Reading, number: int) -> int:  # noqa: ARG002
        return 0

    def keys(self, tx: Reading, number: int, after: int, limit: int) -> list[int]:  # noqa: ARG002
        return []


class PostgresTransaction:
    """Just enough of a transaction to run the store's functions."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self.now = int(self.all("SELECT CAST(extract(epoch FROM now()) * 1000 AS BIGINT)")[0][0])

    @property
    def lexical(self) -> LexicalIndex:
        return _NoLexicalIndex()

    def all(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> list[Row]:
        return self._connection.execute(_bound(sql), parameters).fetchall()

    def first(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> Row | None:
        return self._connection.execute(_bound(sql), parameters).fetchone()

    def run(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> int:
        return self._connection.execute(_bound(sql), parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        for row in rows:
            self.run(sql, row)


class PostgresDatabase:
    """Opens such transactions, each on a connection of its own."""

    def __init__(self, address: str) -> None:
        self._address = address

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        with psycopg.connect(self._address) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            yield PostgresTransaction(connection)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[PostgresTransaction]:
        with psycopg.connect(self._address) as connection:
            connection.execute(f"SET LOCAL synchronous_commit = {'on' if durable else 'off'}".encode())
            yield PostgresTransaction(connection)

    @property
    def traces(self) -> PostgresDatabase:
        return self

    def close(self) -> None: ...


def _bound(sql: str) -> Any:
    """The same statement as psycopg takes it."""
    escaped = sql.replace("%", "%%")
    return _NAMED.sub(lambda match: match[0] if match[1] is None else f"%({match[1]})s", escaped)
