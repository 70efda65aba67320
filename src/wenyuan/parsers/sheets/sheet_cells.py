"""What every reader of spreadsheets makes of a sheet: rows of cells that are not empty, at their addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

LAST_ROW = 1_048_576
LAST_COLUMN = 16_384
"""The largest sheet there is (ECMA-376, and OpenDocument's programs)."""

_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_WIDEST_REPEATED = 64
_MOST_MERGES = 100_000

CellKind = Literal["text", "number", "date", "other"]


class Cell(NamedTuple):
    """A cell that shows something; columns count from 1."""

    column: int
    text: str
    kind: CellKind = "text"
    number: float | None = None
    """The value of a number, of which `text` shows what its format lets be seen."""
    is_repeated: bool = False
    """Whether it is in a place that a merged cell covers, and not where that begins."""


class SheetRow(NamedTuple):
    """The cells of a row that show something, from left to right; rows count from 1."""

    number: int
    cells: list[Cell]


class Area(NamedTuple):
    """A rectangle of cells."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


class Remark(NamedTuple):
    """Words that stand at a place of a sheet but in none of its cells: a comment, a text box, a chart's title."""

    kind: Literal["comment", "drawing"]
    area: Area
    text: str


@dataclass(slots=True)
class Sheet:
    """One sheet. `rows` come in order and can be gone through once."""

    name: str
    rows: Iterable[SheetRow] = ()
    is_hidden: bool = False
    merged: list[Area] = field(default_factory=list)
    header_rows: frozenset[int] = frozenset()
    """Rows that the file itself declares to be headers."""
    remarks: list[Remark] = field(default_factory=list)


def column_name(column: int) -> str:
    """`A` for 1, `AA` for 27."""
    letters = ""
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


@lru_cache(maxsize=LAST_COLUMN)
def column_number(letters: str) -> int:
    """1 for `A`, 27 for `AA`."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def address(text: str) -> tuple[int, int] | None:
    """Row and column of `B7`, or None for what is no address on a sheet."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    row, column = int(found[2]), column_number(found[1])
    return (row, column) if 1 <= row <= LAST_ROW and column <= LAST_COLUMN else None


def area(text: str) -> Area | None:
    """The rectangle of `B2:C4` or of a single address, or None for what is none."""
    first_text, _, last_text = text.partition(":")
    first, last = address(first_text), address(last_text or first_text)
    if first is None or last is None:
        return None
    rows, columns = sorted((first[0], last[0])), sorted((first[1], last[1]))
    return Area(rows[0], columns[0], rows[1], columns[1])


class MergedCells:
    """Repeats what merged cells show in each of their places, row by row.

    A row that consists of a single merged cell shows it once: it is a title. Rows in which nothing
    begins stay empty.
    """

    def __init__(self, merged: list[Area]) -> None:
        self._merged = merged
        self._seen = 0
        self._waiting: list[Area] = []
        self._open: dict[int, tuple[Area, Cell | None]] = {}

    def filled(self, row: SheetRow) -> SheetRow:
        """The row with the cells that reach into it. Rows must come in order."""
        if self._seen < len(self._merged):
            # Some formats say of a cell that it is merged only where it stands.
            self._waiting.extend(self._merged[self._seen : _MOST_MERGES])
            self._waiting.sort(key=lambda found: found.first_row, reverse=True)
            self._seen = len(self._merged)
        if not self._waiting and not self._open:
            return row
        own = {cell.column: cell for cell in row.cells}
        self._enter(row.number, own)
        if not row.cells or not self._open:
            return row
        cells = dict(own)
        origins = {column: column for column in own}
        for column, (found, cell) in self._open.items():
            if cell is None:
                continue
            width = min(found.last_column - column + 1, _WIDEST_REPEATED)
            for at in range(column, column + width):
                if at not in cells:
                    cells[at] = Cell(at, cell.text, cell.kind, cell.number, is_repeated=True)
                    origins[at] = column
        if len(set(origins.values())) == 1:
            return row
        return SheetRow(row.number, [cells[column] for column in sorted(cells)])

    def reaches(self, row: int) -> bool:
        """Whether a merged cell from above covers a place in this row."""
        return any(found.first_row < row <= found.last_row for found, _ in self._open.values())

    def _enter(self, number: int, own: dict[int, Cell]) -> None:
        for column in [column for column, (found, _) in self._open.items() if found.last_row < number]:
            del self._open[column]
        while self._waiting and self._waiting[-1].first_row <= number:
            found = self._waiting.pop()
            if found.last_row >= number:
                cell = own.get(found.first_column) if found.first_row == number else None
                self._open[found.first_column] = (found, cell)
