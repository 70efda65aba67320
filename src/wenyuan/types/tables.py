"""Tables as what they are: named columns, rows of typed cells, and what is asked of all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

Number = int | float | Decimal
"""Of what a reader hands over a float; of what was stored a Decimal, in which nothing is lost by adding."""


class Amount(NamedTuple):
    """A number of a unit: a currency as it is written, or `%`, of which 12% has the number 12."""

    number: Number
    unit: str


class Days(NamedTuple):
    """A day, month or the like: its first and last day as ordinals, and how the cell shows it."""

    first: int
    last: int
    text: str


CellValue = None | bool | Number | str | Amount | Days
"""What is in a cell; None where that is nothing."""

TablePlace = Literal["lines", "cells", "paragraph"]
"""What places of rows count: lines of the file, rows of a sheet, paragraphs; as the kinds of anchors do."""

RowMark = Literal["", "total", "remark"]
"""What a row is besides data: it sums up others, or is a note below them."""


class TableRow(NamedTuple):
    """A row, and the lines of its file or the row of its sheet that it stands on; cells stand in the columns' order."""

    first: int
    last: int
    mark: RowMark
    cells: tuple[CellValue, ...]


@dataclass(frozen=True, slots=True)
class TableRows:
    """Some rows of a table, in their order; all rows of a file's tables come in such pieces.

    `number` counts the tables of the file from 1 and `start` the rows of the table from 0. Rows that were not
    kept, because there were too many, are counted in `left_out`, by the last piece. What is said of the table
    is what is known so far: the last piece says it best. Cells missing at the end of a row are empty.
    """

    number: int
    start: int
    title: str
    sheet: str
    place: TablePlace
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    header: tuple[int, int] | None = None
    """On which lines or rows the names of the columns stand; None where nothing looked like names."""
    merged: tuple[int, ...] = ()
    """Columns, counted from 0, in which the number of a merged cell stands in several rows."""
    left_out: int = 0


TableOperator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "empty", "not-empty"]
TableFunction = Literal["count", "distinct", "sum", "average", "min", "max"]


class Wanted(NamedTuple):
    """A value to compare cells with, in every way it may be meant: folded words, a number, days."""

    shown: str
    folded: str
    number: Decimal | None = None
    unit: str = ""
    days: tuple[int, int] | None = None


class TableCondition(NamedTuple):
    """What a cell of a column must be. Several values are alternatives; after `!=` none of them may be there."""

    column: int
    operator: TableOperator
    values: tuple[Wanted, ...] = ()


class TableFigure(NamedTuple):
    """What is to be worked out over rows; `column` is -1 where it is about rows, as in counting them."""

    function: TableFunction
    column: int = -1


@dataclass(frozen=True, slots=True)
class TableQuery:
    """What is asked of all rows of a table; columns are counted from 0.

    Rows that meet every condition are counted, summed and so on, all together or for each value of `group_by`;
    without figures they are given themselves, their `select` cells. `order_by` is a place among what is given.
    """

    where: tuple[TableCondition, ...] = ()
    figures: tuple[TableFigure, ...] = ()
    group_by: tuple[int, ...] = ()
    select: tuple[int, ...] = ()
    order_by: int | None = None
    descending: bool = False
    limit: int = 50


@dataclass(frozen=True, slots=True)
class TableFinding:
    """What a query came to.

    `scanned` are the rows of data that were looked at, `matched` those that met the conditions; `totals`,
    `remarks` and `hidden` are rows that were not counted: they sum up others, are notes, or are switched off.
    `without_number` says of how many matched rows a figure found no number (or day) in its column, `rounded`
    which figures were. `cited` are rows to be shown for it. `more` is whether the limit left something out.
    """

    rows: tuple[tuple[CellValue, ...], ...]
    scanned: int
    matched: int
    totals: int
    remarks: int
    hidden: int
    without_number: tuple[int, ...]
    rounded: tuple[bool, ...]
    cited: tuple[TableRow, ...]
    more: bool
