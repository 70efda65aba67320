"""The store's statements as PostgreSQL reads them.

A statement is found where it is executed, in the source, so that none can be forgotten.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from types import ModuleType

from tests.source_code import last_name, read_modules

NOT_SHARED = ("wenyuan.store.sqlite", "wenyuan.store.fts5", "wenyuan.store.postgresql")
"""Modules and packages that are one database's own."""

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
    return sorted(
        module.name for module in read_modules() if module.top == "store" and not module.name.startswith(NOT_SHARED)
    )


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
