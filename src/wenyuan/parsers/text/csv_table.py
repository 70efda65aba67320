"""The table of a file of separated values, typed: which of its first rows are titles, which names its columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wenyuan.language.tables.cell_values import cell_value
from wenyuan.parsers.typed_tables import TypedTable, TypedTables
from wenyuan.types import Notice, TableRows

_MOST_TITLES = 6
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")

_Record = tuple[Sequence[str], int, int]


class CsvTable:
    """Takes the records of a file in order."""

    def __init__(self) -> None:
        self._file = TypedTables()
        self._table: TypedTable | None = None
        self._waiting: list[_Record] = []

    def take(self, cells: Sequence[str], first: int, last: int) -> Iterator[TableRows]:
        """Take a record with its first and last line."""
        if self._table is None:
            self._waiting.append((cells, first, last))
            if is_title(cells) and len(self._waiting) <= _MOST_TITLES:
                return
            yield from self._begin()
        else:
            yield from self._add(self._table, cells, first, last)

    def finish(self) -> Iterator[TableRows | Notice]:
        if self._table is None and self._waiting:
            yield from self._begin()
        if self._table is not None and (piece := self._table.finish()) is not None:
            yield piece
        yield from self._file.notices()

    def _begin(self) -> Iterator[TableRows]:
        """The last of the rows that waited is the first wide one; what stands alone above it is its title."""
        waiting, self._waiting = self._waiting, []
        titles: list[_Record] = []
        if not is_title(waiting[-1][0]):
            *titles, _ = waiting
        names, header = {}, None
        if _is_header(waiting[-1][0]):
            cells, first, last = waiting[-1]
            names, header = {column: cell for column, cell in enumerate(cells, start=1) if cell.strip()}, (first, last)
        title = next((cell for record in titles for cell in record[0] if cell.strip()), "")
        self._table = self._file.begin(title, "", "lines", names, header)
        for cells, first, last in [] if header else waiting[len(titles) :]:
            yield from self._add(self._table, cells, first, last)

    @staticmethod
    def _add(table: TypedTable, cells: Sequence[str], first: int, last: int) -> Iterator[TableRows]:
        values = [cell_value(cell) for cell in cells]
        if (piece := table.add(first, last, range(1, len(cells) + 1), values, cells)) is not None:
            yield piece


def is_title(cells: Sequence[str]) -> bool:
    """Whether a record has one cell that is not blank, and others that are, or stands for nothing else."""
    return sum(bool(cell and not cell.isspace()) for cell in cells) == 1


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a row names columns: words, and besides them nothing but years."""
    shown = [cell.strip() for cell in cells if cell and not cell.isspace()]
    words = sum(isinstance(cell_value(cell), str) for cell in shown)
    return (
        len(shown) > 1
        and words > 0
        and all(isinstance(cell_value(cell), str) or _YEAR.fullmatch(cell) for cell in shown)
    )
