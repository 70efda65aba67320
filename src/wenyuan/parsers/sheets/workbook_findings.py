"""What a person should know of a workbook that was read: what is hidden, what was never calculated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wenyuan.parsers.sheets.sheet_cells import Sheet
from wenyuan.parsers.typed_tables import TypedTables
from wenyuan.types import Notice

_NAMED = 10


class WorkbookFindings:
    """Gathers the findings of every sheet."""

    def __init__(self) -> None:
        self.missing_sheets: list[str] = []
        self.typed = TypedTables()
        self._sheets = 0
        self._tables = 0
        self._hidden_sheets: list[str] = []
        self._hidden_rows = 0
        self._not_calculated = 0
        self._first_not_calculated = ""
        self._blank = 0
        self._first_blank = ""

    def add(self, sheet: Sheet, tables: int, hidden_rows: int = 0) -> None:
        """Note a sheet that has been read."""
        self._sheets += 1
        self._tables += tables
        self._hidden_rows += hidden_rows
        if sheet.is_hidden:
            self._hidden_sheets.append(sheet.name)

    def add_formulas(self, sheet: str, count: int, first: str) -> None:
        """Note formulas whose results the file does not have; the first stands at the address `first`."""
        self._not_calculated += count
        if count and not self._first_not_calculated:
            self._first_not_calculated = f"{sheet}!{first}"

    def add_blank_formulas(self, sheets: Iterable[tuple[str, int, str]]) -> None:
        """Note formulas of which not one has a result, by sheet, with their number and the first one's address."""
        for sheet, count, first in sheets:
            self._blank += count
            if count and not self._first_blank:
                self._first_blank = f"{sheet}!{first}"

    def notices(self) -> Iterator[Notice]:
        yield from self.typed.notices()
        if self._hidden_sheets:
            names = ", ".join(self._hidden_sheets[:_NAMED])
            more = ", and more" if len(self._hidden_sheets) > _NAMED else ""
            yield Notice("hidden-sheets", f"What its program hides was read too: the sheets {names}{more}.")
        if self._hidden_rows:
            yield Notice("hidden-rows", f"Rows that its program hides were read too: {self._hidden_rows}.")
        if self._not_calculated:
            message = (
                f"{self._not_calculated} formulas were never calculated and are shown as they are written, the first "
                f"at {self._first_not_calculated}. Open the file in its program and save it to have their results."
            )
            yield Notice("formulas-not-calculated", message)
        if self._blank:
            message = (
                f"None of the {self._blank} formulas has a result, so that their cells are blank, the first at "
                f"{self._first_blank}. Open the file in its program and save it to have them calculated."
            )
            yield Notice("formulas-not-calculated", message)
        if self.missing_sheets:
            yield Notice("sheets-missing", f"The file names sheets it does not have: {', '.join(self.missing_sheets)}.")

    def quality(self) -> dict[str, Any]:
        """The counts as `Facts.quality` has them."""
        counts = {
            "sheets": self._sheets,
            "hidden_sheets": len(self._hidden_sheets),
            "hidden_rows": self._hidden_rows,
            "tables": self._tables,
            "formulas_not_calculated": self._not_calculated + self._blank,
        }
        return {key: count for key, count in counts.items() if count or key == "sheets"}
