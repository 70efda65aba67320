"""The rows of a sheet's tables, typed: numbers by their values, not as their formats show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from wenyuan.language.tables.cell_values import cell_value, shown_number
from wenyuan.parsers.sheets.sheet_cells import Cell, SheetRow
from wenyuan.parsers.typed_tables import TypedTable, TypedTables
from wenyuan.types import CellValue, TableRows

_LINK = re.compile(r"\[(.*)\]\(\S+\)", re.DOTALL)


class TypedRows:
    """Takes the rows below the header of one table after the other."""

    def __init__(self, file: TypedTables, sheet: str) -> None:
        self.file = file
        self._sheet = sheet
        self._table: TypedTable | None = None

    def take(
        self, row: SheetRow, title: Sequence[str], names: Mapping[int, str], header: Sequence[SheetRow]
    ) -> Iterator[TableRows]:
        """Take a row, with the title, the names of the columns and the header of the table that it is in."""
        if self._table is None:
            at = (header[0].number, header[-1].number) if header else None
            self._table = self.file.begin(" ".join(title), self._sheet, "cells", names, at)
        piece = self._table.add(
            row.number,
            row.number,
            [cell.column for cell in row.cells],
            [_value(cell) for cell in row.cells],
            [cell.text for cell in row.cells if not cell.is_repeated],
            (cell.column for cell in row.cells if cell.is_repeated and cell.kind == "number"),
        )
        if piece is not None:
            yield piece

    def end(self) -> Iterator[TableRows]:
        """The table ends."""
        table, self._table = self._table, None
        if table is not None and (piece := table.finish()) is not None:
            yield piece


def _value(cell: Cell) -> CellValue:
    if cell.kind == "number" and cell.number is not None:
        return shown_number(cell.text, cell.number)
    if cell.text.startswith("[") and (link := _LINK.fullmatch(cell.text)):
        return cell_value(link[1])
    return cell_value(cell.text)
