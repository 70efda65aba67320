"""The small language in which a model asks a table, as JSON: read strictly, with errors that say how to mend it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wenyuan.types import (
    JsonObject,
    TableCondition,
    TableFigure,
    TableFunction,
    TableOperator,
    TableQuery,
    Wanted,
)

MOST_ROWS_GIVEN = 50
"""So many rows or groups are given at most."""

_LONGEST = 20_000
_MOST_PARTS = 20
_LONGEST_VALUE = 500
_OPERATORS: Mapping[str, TableOperator] = {
    **{sign: sign for sign in ("=", "!=", "<", "<=", ">", ">=", "contains", "empty")},
    "not-empty": "not-empty",
    "not_empty": "not-empty",
    "not empty": "not-empty",
    "in": "=",
    "==": "=",
    "<>": "!=",
    "not in": "!=",
    "not_in": "!=",
    "is": "=",
    "is not": "!=",
}
_FUNCTIONS: Mapping[str, TableFunction] = {
    **{name: name for name in ("count", "distinct", "sum", "average", "min", "max")},
    "avg": "average",
    "mean": "average",
    "total": "sum",
    "count_distinct": "distinct",
    "minimum": "min",
    "maximum": "max",
}
_KNOWN = ("table", "where", "figures", "group_by", "select", "order_by", "descending", "limit")

PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "table": {
            "type": "string",
            "description": "The id of a table, such as T1. Leave it out to be told the tables.",
        },
        "where": {
            "type": "array",
            "description": "Conditions that a row must all meet.",
            "items": {
                "type": "object",
                "properties": {
                    "column": {"type": "string"},
                    "is": {
                        "type": "string",
                        "enum": ["=", "!=", "<", "<=", ">", ">=", "contains", "empty", "not-empty"],
                    },
                    "value": {
                        "description": "A word, a number or a date such as 2026-04-14 or 2026-04; or a list of them.",
                        "anyOf": [
                            {"type": "string"},
                            {"type": "number"},
                            {"type": "array", "items": {"type": ["string", "number"]}},
                        ],
                    },
                },
                "required": ["column", "is"],
            },
        },
        "figures": {
            "type": "array",
            "description": "What to work out over the rows; count needs no column. Leave it out to be given the rows.",
            "items": {
                "type": "object",
                "properties": {
                    "function": {"type": "string", "enum": ["count", "distinct", "sum", "average", "min", "max"]},
                    "column": {"type": "string"},
                },
                "required": ["function"],
            },
        },
        "group_by": {"type": "array", "items": {"type": "string"}, "description": "Columns; a figure for each value."},
        "select": {"type": "array", "items": {"type": "string"}, "description": "Which columns of rows to give."},
        "order_by": {"type": "string", "description": "A column that is given, or a figure such as sum(amount)."},
        "descending": {"type": "boolean"},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS_GIVEN},
    },
    "additionalProperties": False,
}
"""The JSON Schema of a query."""


class QueryInvalid(Exception):
    """A query that cannot be understood; its text says what is wrong and what would be right."""


def read_arguments(arguments: str) -> Mapping[str, Any]:
    """The object that a model wrote; empty where it wrote nothing. Raises `QueryInvalid`."""
    if len(arguments) > _LONGEST:
        raise QueryInvalid(f"The arguments have {len(arguments)} characters; {_LONGEST} are allowed.")
    try:
        value = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError) as error:
        raise QueryInvalid(f"The arguments are no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise QueryInvalid(
            'The arguments must be a JSON object such as {"table": "T…", "figures": [{"function": "count"}]}.'
        )
    unknown = [name for name in value if name not in _KNOWN]
    if unknown:
        raise QueryInvalid(f"Unknown: {', '.join(unknown[:5])[:200]}. Known are {', '.join(_KNOWN)}.")
    return value


def read_query(
    value: Mapping[str, Any],
    columns: Sequence[str],
    wanted: Callable[[str], Wanted],
    folded: Callable[[str], str],
) -> TableQuery:
    """The query about a table with these columns. Raises `QueryInvalid`."""
    return _Reader(columns, wanted, folded).read(value)


def figure_name(figure: TableFigure, columns: Sequence[str]) -> str:
    """`sum(amount)`; `count` of rows."""
    return f"{figure.function}({columns[figure.column]})" if figure.column >= 0 else figure.function


class _Reader:
    def __init__(self, columns: Sequence[str], wanted: Callable[[str], Wanted], folded: Callable[[str], str]) -> None:
        self._columns = columns
        self._wanted = wanted
        self._folded = folded
        self._by_name = {folded(name): at for at, name in enumerate(columns)}

    def read(self, value: Mapping[str, Any]) -> TableQuery:
        where = tuple(self._condition(one) for one in _list(value, "where"))
        figures = tuple(self._figure(one) for one in _list(value, "figures"))
        group_by = tuple(self._column(name, "group_by") for name in _list(value, "group_by"))
        select = tuple(self._column(name, "select") for name in _list(value, "select"))
        if group_by and not figures:
            figures = (TableFigure("count"),)
        if figures and select:
            raise QueryInvalid(
                "select gives rows and figures give figures: leave one of them out; group_by goes with figures."
            )
        if not figures and not select:
            select = tuple(range(min(len(self._columns), _MOST_PARTS)))
        limit, descending = value.get("limit", MOST_ROWS_GIVEN), value.get("descending", False)
        if type(limit) is not int or not 1 <= limit <= MOST_ROWS_GIVEN:
            raise QueryInvalid(f"limit must be a whole number from 1 to {MOST_ROWS_GIVEN}.")
        if type(descending) is not bool:
            raise QueryInvalid("descending must be true or false.")
        given = [
            *(self._columns[at] for at in group_by or select),
            *(figure_name(one, self._columns) for one in figures),
        ]
        return TableQuery(
            where, figures, group_by, select, self._order(value.get("order_by"), given), descending, limit
        )

    def _condition(self, value: Any) -> TableCondition:
        if not isinstance(value, dict) or "column" not in value:
            raise QueryInvalid('A condition looks like {"column": "status", "is": "=", "value": "open"}.')
        column = self._column(value["column"], "where")
        sign = str(value.get("is", value.get("operator", "=")))[:20]
        operator = _OPERATORS.get(sign.lower())
        if operator is None:
            raise QueryInvalid(f"is {sign!r} is unknown; known are =, !=, <, <=, >, >=, contains, empty, not-empty.")
        if operator in ("empty", "not-empty"):
            return TableCondition(column, operator)
        given = value.get("value", value.get("values"))
        values = given if isinstance(given, list) else [given]
        if not values or len(values) > _MOST_PARTS:
            raise QueryInvalid(f"value must be one value, or a list of up to {_MOST_PARTS}.")
        read = tuple(self._value(one) for one in values)
        if operator in ("<", "<=", ">", ">=") and not all(one.number is not None or one.days for one in read):
            raise QueryInvalid(f"{operator} compares with a number or with a date such as 2026-04-14.")
        return TableCondition(column, operator, read)

    def _value(self, value: Any) -> Wanted:
        if isinstance(value, bool):
            return self._wanted("TRUE" if value else "FALSE")
        if isinstance(value, int | float) and len(str(value)) <= _LONGEST_VALUE:
            return self._wanted(str(value))
        if isinstance(value, str) and value.strip() and len(value) <= _LONGEST_VALUE:
            return self._wanted(value)
        raise QueryInvalid("A value must be a word, a number or a date; for empty cells, is must be empty.")

    def _figure(self, value: Any) -> TableFigure:
        if isinstance(value, str):
            value = {"function": value}
        if not isinstance(value, dict):
            raise QueryInvalid('A figure looks like {"function": "sum", "column": "amount"}.')
        name = str(value.get("function", ""))[:40]
        function = _FUNCTIONS.get(name.lower())
        if function is None:
            raise QueryInvalid(f"The function {name!r} is unknown; known are count, distinct, sum, average, min, max.")
        column = value.get("column")
        if column in (None, "", "*"):
            if function != "count":
                raise QueryInvalid(f"{function} needs a column. Columns: {self._all()}.")
            return TableFigure("count")
        return TableFigure(function, self._column(column, "figures"))

    def _column(self, name: Any, where: str) -> int:
        at = self._by_name.get(self._folded(name)) if isinstance(name, str) and len(name) <= _LONGEST_VALUE else None
        if at is None:
            raise QueryInvalid(f"{where} names the column {str(name)[:80]!r}, which is none of: {self._all()}.")
        return at

    def _order(self, name: Any, given: Sequence[str]) -> int | None:
        if name in (None, ""):
            return None
        wanted = self._folded(str(name)[:_LONGEST_VALUE])
        for at, one in enumerate(given):
            if self._folded(one) == wanted:
                return at
        raise QueryInvalid(f"order_by must be one of what is given: {', '.join(given)[:1000]}.")

    def _all(self) -> str:
        return ", ".join(self._columns)[:1500]


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        found = [found]
    if len(found) > _MOST_PARTS:
        raise QueryInvalid(f"{name} has {len(found)} entries; {_MOST_PARTS} are allowed.")
    return found
