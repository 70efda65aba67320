"""Rows of tables as JSON, as they travel from the child process, lie in the library and stand in archives.

None of that is believed: what does not have the agreed shape, or is larger than a reader hands over, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, get_args

from wenyuan.types import Amount, CellValue, Days, RowMark, TablePlace, TableRow, TableRows

MOST_COLUMNS = 200
MOST_ROWS = 200_000
MOST_CELLS = 1_000_000
MOST_TABLES = 500
"""Of the tables of one file; what is beyond is counted and not kept."""
PAGE_ROWS = 200
LONGEST_NAME = 200

_LONGEST_TEXT = 1_000
_LONGEST_PAGE = 20 * PAGE_ROWS
_LARGEST = 1 << 53
_MOST_DIGITS = 400
_LARGEST_WHOLE = 10**_MOST_DIGITS
_MARKS, _PLACES = frozenset(get_args(RowMark)), frozenset(get_args(TablePlace))
_ABOUT = {"title": str, "sheet": str, "place": str, "columns": list, "header": list, "merged": list}


def about(table: TableRows) -> dict[str, Any]:
    """What is said of a table, without its rows."""
    return {
        "title": table.title,
        "sheet": table.sheet,
        "place": table.place,
        "columns": list(table.columns),
        "header": list(table.header or ()),
        "merged": list(table.merged),
    }


def encoded_rows(rows: Sequence[TableRow]) -> list[list[Any]]:
    return [[row.first, row.last, row.mark, list(map(_plain, row.cells))] for row in rows]


def encoded(table: TableRows) -> list[Any]:
    """A piece of a table as JSON can hold it."""
    return [table.number, table.start, about(table), encoded_rows(table.rows), table.left_out]


def decoded(value: Any) -> TableRows:
    """The piece that `encoded` encoded. Raises `ValueError` for anything else."""
    if not isinstance(value, list) or len(value) != 5:
        raise ValueError("no piece of a table")
    number, start, described, rows, left_out = value
    return piece(_count(number, MOST_TABLES), _count(start), described, decoded_rows(rows), _count(left_out))


def piece(number: int, start: int, described: Any, rows: Sequence[TableRow], left_out: int) -> TableRows:
    """A piece of the table of which `about` says that. Raises `ValueError`."""
    if not isinstance(described, Mapping) or not all(isinstance(described.get(key), of) for key, of in _ABOUT.items()):
        raise ValueError("nothing that is said of a table")
    columns = tuple(_text(name, LONGEST_NAME) for name in described["columns"])
    header = tuple(_count(at) for at in described["header"])
    merged = tuple(_count(at, MOST_COLUMNS) for at in described["merged"])
    if described["place"] not in _PLACES or len(columns) > MOST_COLUMNS or len(header) not in (0, 2):
        raise ValueError("nothing that is said of a table")
    if any(len(row.cells) > len(columns) for row in rows):
        raise ValueError("a row that is wider than its table")
    return TableRows(
        number,
        start,
        _text(described["title"]),
        _text(described["sheet"]),
        described["place"],
        columns,
        tuple(rows),
        (header[0], header[1]) if header else None,
        merged,
        left_out,
    )


def decoded_rows(rows: Any) -> list[TableRow]:
    """Rows that `encoded_rows` encoded. Raises `ValueError` for anything else."""
    if not isinstance(rows, list) or len(rows) > _LONGEST_PAGE:
        raise ValueError("no rows of a table")
    return [_row(row) for row in rows]


def _row(row: Any) -> TableRow:
    if type(row) is not list or len(row) != 4 or type(row[3]) is not list or len(row[3]) > MOST_COLUMNS:
        raise ValueError("no row of a table")
    first, last, mark, cells = row
    if type(mark) is not str or mark not in _MARKS:
        raise ValueError("no row of a table")
    return TableRow(_count(first), _count(last), mark, tuple([_cell(cell) for cell in cells]))  # type: ignore[arg-type]


def _cell(value: Any) -> CellValue:
    kind = type(value)
    if kind is str:
        return _text(value)
    if kind is int or kind is Decimal or kind is float:
        return _number(value)
    if value is None or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is list and len(value) == 3:
        return Days(_count(value[0]), _count(value[1]), _text(value[2]))
    if kind is list and len(value) == 2:
        return Amount(_number(value[0]), _text(value[1], LONGEST_NAME))
    raise ValueError("no cell of a table")


def _number(value: Any) -> int | float | Decimal:
    kind = type(value)
    if kind is int and -_LARGEST_WHOLE < value < _LARGEST_WHOLE:
        return value  # type: ignore[no-any-return]
    if kind is float and value - value == 0:
        return value  # type: ignore[no-any-return]
    if kind is Decimal and value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS:
        return value  # type: ignore[no-any-return]
    raise ValueError("no number")


def _plain(value: CellValue) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text(value: Any, most: int = _LONGEST_TEXT) -> str:
    if type(value) is not str or len(value) > most:
        raise ValueError("no text of a table")
    return value


def _count(value: Any, most: int = _LARGEST) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError("no number of a table")
    return value
