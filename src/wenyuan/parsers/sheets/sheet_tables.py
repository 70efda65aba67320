"""From the rows of a sheet to blocks: which rows are headers, which titles, and where one table ends.

Every row is a block with the header above it as context, as the rows of a CSV file are. What a person
sees between blank rows is one table; single cells above a table are its title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from wenyuan.parsers.forms import is_form
from wenyuan.parsers.sheets.sheet_cells import LAST_ROW, Cell, MergedCells, Remark, Sheet, SheetRow, column_name
from wenyuan.parsers.sheets.typed_rows import TypedRows
from wenyuan.parsers.typed_tables import TypedTables
from wenyuan.types import Anchor, Block, BlockKind, Notice, TableRows

_YEAR = re.compile(r"(?:19|20)\d\d")
_NAME_OF_NO_MEANING = re.compile(r"(?:Sheet|工作表|表)[ _]?\d*|Table \d+", re.I)
_LONGEST_TITLE = 200
_MOST_TITLE_ROWS = 6
_WIDEST_BELOW_TITLE = 3
_MOST_HEADER_ROWS = 3
_WIDEST_HEADER = 400
_LONGEST_PART = 400
_WIDEST_GAP = 20
_MOST_WAITING = 5_000
_MOST_REMEMBERED_ROWS = 1_000


class SheetTables:
    """Makes the blocks of one sheet, in one pass over its rows."""

    def __init__(self, sheet: Sheet, typed: TypedTables, merged: MergedCells | None = None) -> None:
        self.tables = 0
        self._sheet = sheet
        self._merged = merged or MergedCells(sheet.merged)
        self._is_main = merged is None
        self._base: tuple[str, ...] = () if _NAME_OF_NO_MEANING.fullmatch(sheet.name) else (sheet.name,)
        self._path: tuple[str, ...] = self._base
        self._last_row = 0
        self._titles: list[SheetRow] = []
        self._is_open = False
        self._header: list[SheetRow] = []
        self._header_text = ""
        self._names: dict[int, str] = {}
        """What stands above each column, for headers that are too wide to go with every row."""
        self._left = 0
        self._rows_below = 0
        self._joiner = "\n\n"
        self._aside: SheetTables | None = None
        self._waiting: list[Block | TableRows] = []
        self._typed = TypedRows(typed, sheet.name)
        self._remarked: set[int] = set()
        self._remarks_seen = 0
        self._remarks_given = 0
        self._remembered: dict[int, str] = {}

    def blocks(self) -> Iterator[Block | Notice | TableRows]:
        """Yield the rows, then what else stands on the sheet, and a notice if there is next to nothing."""
        has_rows = False
        self._sheet.remarks.sort(key=lambda remark: remark.area.first_row)
        rows = (self._merged.filled(row) for row in self._sheet.rows if row.cells)
        for row, following in pairwise(chain(rows, [None])):
            assert row is not None, "only the last has no cells"
            has_rows = True
            yield from self._take(row, following)
        is_header_only = bool(self._header) and not self._rows_below
        yield from self._end()
        if is_header_only:
            yield Notice("header-only", f"The table on the sheet {self._sheet.name} has a header but no rows.")
        yield from self._remarks(LAST_ROW)
        if not has_rows and not self._sheet.remarks:
            yield Notice("empty-sheet", f"The sheet {self._sheet.name} is empty.")

    # --- Tables side by side ---

    def _take(self, row: SheetRow, following: SheetRow | None) -> Iterator[Block | TableRows]:
        """Take a row; what belongs to a table right of this one waits until this one ends."""
        own, beside = self._parted(row)
        if beside.cells:
            if self._aside is None:
                self._aside = SheetTables(self._sheet, self._typed.file, self._merged)
            below = self._parted(following)[1] if following is not None else None
            self._waiting.extend(self._aside._take(beside, below if below and below.cells else None))
        if own.cells:
            if self._begins(own) or len(self._waiting) > _MOST_WAITING:
                yield from self._end_aside()
            yield from self._row(own, following)
            self._last_row = own.number

    def _parted(self, row: SheetRow) -> tuple[SheetRow, SheetRow]:
        """The cells of the open table, and those of one beside it, with a blank column between them."""
        if not self._is_open or not self._header or row.cells[-1].column <= self._header[0].cells[-1].column + 1:
            return row, SheetRow(row.number, [])
        edge = self._header[0].cells[-1].column
        for index, cell in enumerate(row.cells):
            before = max(edge, row.cells[index - 1].column) if index else edge
            is_table = self._aside is not None or len(row.cells) - index > 1
            if cell.column > before + 1 and is_table:
                return SheetRow(row.number, row.cells[:index]), SheetRow(row.number, row.cells[index:])
        return row, SheetRow(row.number, [])

    def _end_aside(self) -> Iterator[Block | TableRows]:
        if self._aside is not None:
            yield from self._waiting
            yield from self._aside._end()
            self.tables += self._aside.tables
            self._aside, self._waiting = None, []

    def _end(self) -> Iterator[Block | TableRows]:
        yield from self._end_titles()
        yield from self._end_aside()
        yield from self._typed.end()

    # --- Rows ---

    def _row(self, row: SheetRow, following: SheetRow | None) -> Iterator[Block | TableRows]:
        if self._begins(row):
            if self._is_main:
                yield from self._remarks(self._last_row)
            if self.tables or _is_title(row) or row.number > self._last_row + _WIDEST_BELOW_TITLE:
                yield from self._end_titles()
            self._is_open = False
            self._joiner = "\n\n"
        if self._is_open and row.number not in self._sheet.header_rows:
            if self._goes_on_header(row):
                self._add_header(row)
                yield from self._blocks_of(row, context="")
            else:
                yield from self._body(row)
        elif _is_title(row) and row.number not in self._sheet.header_rows:
            self._titles.append(row)
            if len(self._titles) > _MOST_TITLE_ROWS:
                yield from self._end_titles()
        else:
            yield from self._begin_table(row, following)

    def _begins(self, row: SheetRow) -> bool:
        """Whether a blank row parts this one from what is above."""
        between = self._last_row + 1
        return not self._last_row or (row.number > between and not self._merged.reaches(between))

    def _begin_table(self, row: SheetRow, following: SheetRow | None) -> Iterator[Block | TableRows]:
        is_declared = row.number in self._sheet.header_rows
        is_header = is_declared or (_is_header(row) and self._differs(row, following) and not _is_form(row, following))
        goes_on = bool(self._header) and not is_header and not self._titles and self._is_within_header(row)
        self._is_open = True
        if not goes_on:
            self._header, self._header_text, self._names = [], "", {}
            self._left = row.cells[0].column
            self._rows_below = 0
            self.tables += 1
            yield from self._typed.end()
            yield from self._give_titles()
        if is_header:
            self._add_header(row)
            yield from self._blocks_of(row, context="")
        else:
            yield from self._body(row)

    def _differs(self, row: SheetRow, following: SheetRow | None) -> bool:
        """Whether a row of words is a header, and not the next row of the table above it."""
        if not self._header or self._titles or not self._is_within_header(row):
            return True
        return following is not None and any(cell.kind != "text" for cell in following.cells)

    def _is_within_header(self, row: SheetRow) -> bool:
        above = self._header[0].cells
        return above[0].column <= row.cells[0].column and row.cells[-1].column <= above[-1].column

    def _goes_on_header(self, row: SheetRow) -> bool:
        """Whether this is another row of the header: the one above it has groups that this one divides."""
        if not self._header or self._rows_below or len(self._header) >= _MOST_HEADER_ROWS or not _is_header(row):
            return False
        above = self._header[-1]
        has_groups = any(left.text == right.text for left, right in pairwise(above.cells))
        return (has_groups and row.number == above.number + 1) or self._merged.reaches(row.number)

    def _add_header(self, row: SheetRow) -> None:
        self._header.append(row)
        for cell in row.cells:
            known = self._names.get(cell.column, "")
            name = _shown(cell)
            if name not in known.split(" / "):
                self._names[cell.column] = f"{known} / {name}" if known else name
        self._header_text = "\n".join(_line(header.cells, self._left) for header in self._header)

    def _body(self, row: SheetRow) -> Iterator[Block | TableRows]:
        self._rows_below += 1
        yield from self._typed.take(row, self._path[len(self._base) :], self._names, self._header)
        if len(self._header_text) > _WIDEST_HEADER:
            yield from self._wide(row)
        else:
            yield from self._blocks_of(row, self._header_text)

    def _wide(self, row: SheetRow) -> Iterator[Block]:
        """A row of a very wide table in parts, each value with the name of its column, each with the row's first."""
        key, parts, size = self._named(row.cells[0]), list[Cell](), 0
        for cell in row.cells:
            if size > _LONGEST_PART:
                yield self._wide_part(row.number, parts, key)
                parts, size = [], 0
            parts.append(cell)
            size += len(cell.text) + len(self._names.get(cell.column, ""))
        yield self._wide_part(row.number, parts, key)

    def _wide_part(self, number: int, cells: list[Cell], key: str) -> Block:
        text = "; ".join(map(self._named, cells))
        return self._block(text, number, cells, "" if text.startswith(key) else key)

    def _named(self, cell: Cell) -> str:
        name = self._names.get(cell.column, "")
        return f"{name}: {_shown(cell)}" if name else _shown(cell)

    def _blocks_of(self, row: SheetRow, context: str) -> Iterator[Block]:
        """The row as one block, or several where its cells stand far apart."""
        start = 0
        for index in range(1, len(row.cells) + 1):
            is_end = index == len(row.cells)
            if is_end or row.cells[index].column - row.cells[index - 1].column > _WIDEST_GAP:
                cells = row.cells[start:index]
                left = self._left if 0 <= cells[0].column - self._left <= _WIDEST_GAP else cells[0].column
                yield self._block(_line(cells, left), row.number, cells, context)
                start = index

    def _block(self, text: str, number: int, cells: list[Cell], context: str) -> Block:
        remarks = self._sheet.remarks
        if len(remarks) > self._remarks_seen:
            self._remarked.update(remark.area.first_row for remark in remarks[self._remarks_seen :])
            self._remarks_seen = len(remarks)
        if number in self._remarked and len(self._remembered) < _MOST_REMEMBERED_ROWS:
            self._remembered.setdefault(number, text)
        joiner, self._joiner = self._joiner, "\n"
        return Block("table", text, self._place(number, cells), self._path, context, joiner)

    def _place(self, number: int, cells: list[Cell]) -> Anchor:
        return Anchor("cells", number, number, self._sheet.name, (cells[0].column, cells[-1].column))

    # --- Titles ---

    def _give_titles(self) -> Iterator[Block]:
        """The single cells above a table: the first is its title, the others say more about it."""
        titles, self._titles = self._titles, []
        if not titles:
            self._path = self._base
            return
        title = " ".join(titles[0].cells[0].text.split())
        is_heading = len(title) <= _LONGEST_TITLE
        self._path = (*self._base, title) if is_heading else self._base
        for row in titles:
            kind: BlockKind = "heading" if is_heading and row is titles[0] else "paragraph"
            yield Block(kind, row.cells[0].text.strip(), self._place(row.number, row.cells), self._path)

    def _end_titles(self) -> Iterator[Block]:
        """Single cells without a table below them are plain text."""
        titles, self._titles = self._titles, []
        if titles:
            # What stands below is no longer the table from above.
            self._header, self._header_text, self._names = [], "", {}
        for row in titles:
            joiner, self._joiner = self._joiner, "\n"
            yield Block(
                "paragraph", row.cells[0].text.strip(), self._place(row.number, row.cells), self._base, joiner=joiner
            )

    # --- What else is on the sheet ---

    def _remarks(self, last_row: int) -> Iterator[Block]:
        """What stands beside the rows so far, below the table it belongs to."""
        remarks = self._sheet.remarks
        while self._remarks_given < len(remarks) and remarks[self._remarks_given].area.first_row <= last_row:
            yield self._remark(remarks[self._remarks_given])
            self._remarks_given += 1

    def _remark(self, remark: Remark) -> Block:
        row, column = remark.area.first_row, remark.area.first_column
        place = Anchor("cells", row, remark.area.last_row, self._sheet.name, (column, remark.area.last_column))
        if remark.kind == "comment":
            text = f"[{column_name(column)}{row}] {remark.text}"
            return Block("paragraph", text, place, self._path, self._remembered.get(row, ""))
        return Block("caption", remark.text, place, self._path)


def _is_title(row: SheetRow) -> bool:
    """Whether the row shows one thing only, and that is words."""
    return len(row.cells) == 1 and row.cells[0].kind == "text"


def _is_header(row: SheetRow) -> bool:
    words = sum(cell.kind == "text" for cell in row.cells)
    others = [cell for cell in row.cells if cell.kind != "text"]
    return len(row.cells) > 1 and words > 0 and all(_YEAR.fullmatch(cell.text) for cell in others)


def _is_form(row: SheetRow, following: SheetRow | None) -> bool:
    below = following.cells if following is not None and following.number == row.number + 1 else []
    return is_form([cell.text for cell in row.cells], [cell.text for cell in below])


def _shown(cell: Cell) -> str:
    text = cell.text
    return (" ".join(text.split()) if "\n" in text else text.strip()).replace("|", "\\|")


def _line(cells: Iterable[Cell], left: int) -> str:
    """The cells as a row of a Markdown table that begins in the column `left`."""
    parts: list[str] = []
    column = left
    for cell in cells:
        parts.extend([""] * (cell.column - column))
        parts.append(_shown(cell))
        column = cell.column + 1
    return f"| {' | '.join(parts)} |"
