"""The tables of a file beside its text: their rows typed, in pieces, as long as there are not too many."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wenyuan.language.tables.cell_values import mark_of
from wenyuan.parsers.text.decoding import without_surrogates
from wenyuan.rules.tables.pages import LONGEST_NAME, MOST_CELLS, MOST_COLUMNS, MOST_ROWS, MOST_TABLES, PAGE_ROWS
from wenyuan.types import CellValue, Notice, TablePlace, TableRow, TableRows

_PAGE_CELLS = 4_000


@dataclass(slots=True)
class TypedTables:
    """The tables of one file, which share its bounds."""

    count: int = 0
    rows: int = 0
    cells: int = 0
    left_out: list[str] = field(default_factory=list)

    def begin(
        self, title: str, sheet: str, place: TablePlace, names: Mapping[int, str], header: tuple[int, int] | None
    ) -> TypedTable:
        """A table that begins; `names` say what stands above which column, counted from 1."""
        self.count += 1
        return TypedTable(self, self.count, _name(title), _name(sheet), place, names, header)

    def notices(self) -> Iterator[Notice]:
        if self.left_out:
            names = ", ".join(f"“{name}”" for name in self.left_out[:5])
            yield Notice(
                "table-too-large",
                f"A table is too large for its rows to be counted and summed ({names}); they are found by their words.",
            )


class TypedTable:
    """One table, row by row. `add` and `finish` return a piece when there is one."""

    def __init__(
        self,
        file: TypedTables,
        number: int,
        title: str,
        sheet: str,
        place: TablePlace,
        names: Mapping[int, str],
        header: tuple[int, int] | None,
    ) -> None:
        self._file = file
        self._number = number
        self._title, self._sheet, self._place, self._header = title, sheet, place, header
        self._columns: list[str] = []
        self._places: dict[int, int] = {}
        self._in_order: list[int] = []
        """The columns as they came to be known."""
        self._known: set[str] = set()
        for column in sorted(names):
            self._column(column, names[column])
        self._merged: set[int] = set()
        self._rows: list[TableRow] = []
        self._cells = 0
        self._start = 0
        self._left_out = 0

    def add(
        self,
        first: int,
        last: int,
        columns: Sequence[int],
        values: Sequence[CellValue],
        texts: Sequence[str],
        merged: Iterable[int] = (),
    ) -> TableRows | None:
        """Take a row: its place, its columns from 1 and their values, what it shows, which columns repeat a number."""
        cells = list(values) if self._are_first(columns) else self._placed(columns, values)
        while cells and cells[-1] is None:
            cells.pop()
        self._merged.update(self._places[column] for column in merged if column in self._places)
        if self._is_over(len(cells)):
            self._left_out += 1
            return None
        self._rows.append(TableRow(first, last, mark_of(texts), tuple([_clean(cell) for cell in cells])))
        self._cells += len(cells)
        return self._piece() if len(self._rows) >= PAGE_ROWS or self._cells >= _PAGE_CELLS else None

    def _are_first(self, columns: Sequence[int]) -> bool:
        """Whether these are columns that are known, in the very order in which cells are kept."""
        count = len(columns)
        return count <= len(self._in_order) and all(map(operator.eq, columns, self._in_order))

    def _placed(self, columns: Sequence[int], values: Sequence[CellValue]) -> list[CellValue]:
        """The values in the order of the columns that there are, which may become more by it."""
        cells: list[CellValue] = [None] * len(self._columns)
        for column, value in zip(columns, values, strict=True):
            if value is None:
                continue
            at = self._places.get(column)
            if at is None:
                at = self._column(column, "")
                cells.append(None)
            cells[at] = value
        return cells

    def finish(self) -> TableRows | None:
        """The last piece; None where the table has no rows."""
        if self._left_out:
            self._file.left_out.append(self._title or self._sheet or str(self._number))
        return self._piece() if self._rows or self._left_out else None

    def _is_over(self, cells: int) -> bool:
        """Whether this row is too much. From the first that is, none is kept: a part of a table gives wrong figures."""
        file = self._file
        file.rows += 1
        file.cells += cells
        is_over = file.rows > MOST_ROWS or file.cells > MOST_CELLS or self._number > MOST_TABLES
        return is_over or self._left_out > 0 or len(self._columns) > MOST_COLUMNS

    def _piece(self) -> TableRows | None:
        if self._number > MOST_TABLES:
            return None
        rows, self._rows, self._cells = self._rows, [], 0
        start, self._start = self._start, self._start + len(rows)
        return TableRows(
            self._number,
            start,
            self._title,
            self._sheet,
            self._place,
            tuple(self._columns[:MOST_COLUMNS]),
            tuple(rows),
            self._header,
            tuple(sorted(self._merged)),
            self._left_out,
        )

    def _column(self, column: int, name: str) -> int:
        """The place of a column among those that there are; one without a name has its letters, as on a sheet."""
        name = _name(name) or letters(column)
        given, count = name, 1
        while name in self._known:
            count += 1
            name = f"{given} ({count})"
        self._known.add(name)
        self._places[column] = len(self._columns)
        self._in_order.append(column)
        self._columns.append(name)
        return self._places[column]


def letters(column: int) -> str:
    """`A` for 1, `AA` for 27."""
    found = ""
    while column:
        column, letter = divmod(column - 1, 26)
        found = chr(65 + letter) + found
    return found


def _name(text: str) -> str:
    return " ".join(without_surrogates(text).split())[: LONGEST_NAME - 10]


def _clean(value: CellValue) -> CellValue:
    """What is not words was read from characters that are known."""
    return value if type(value) is not str or value.isascii() else without_surrogates(value)
