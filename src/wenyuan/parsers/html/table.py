"""A table of an HTML page, row by row."""

from __future__ import annotations

from wenyuan.types import Anchor, Block

_WIDEST_ROW = 1_000
_LONGEST_SPAN = 1_000


class HtmlTable:
    """Gathers the cells of one table and makes a block of every row, in Markdown.

    A cell that spans rows is repeated in each; one that spans columns is followed by empty ones. A
    header row is the context of the rows after it.
    """

    def __init__(self, heading_path: tuple[str, ...]) -> None:
        self._heading_path = heading_path
        self._header = ""
        self._joiner = "\n\n"
        self._row: list[str] = []
        self._lines: list[int] = []
        self._is_header = True
        self._spanning: dict[int, tuple[int, str]] = {}

    def add_cell(self, text: str, is_header: bool, rows: int, columns: int, lines: tuple[int, int]) -> None:
        """Add a cell to the open row; `lines` are the first and last line of its text."""
        self._fill_spanned()
        if len(self._row) >= _WIDEST_ROW:
            return
        text = text.replace("|", "\\|").replace("\n", " ")
        if rows > 1:
            self._spanning[len(self._row)] = (min(rows, _LONGEST_SPAN) - 1, text)
        empty = min(columns, _WIDEST_ROW - len(self._row)) - 1
        self._row.extend([text, *([""] * empty)])
        self._is_header = self._is_header and is_header
        if text:
            self._lines.extend(lines)

    def end_row(self) -> Block | None:
        """Close the open row and return it, unless there is nothing in it."""
        if not self._row:
            return None
        self._fill_spanned()
        row, self._row = self._row, []
        lines, self._lines = self._lines, []
        is_header, self._is_header = self._is_header, True
        if not lines:
            return None
        text = f"| {' | '.join(row)} |"
        anchor = Anchor("lines", min(lines), max(lines))
        block = Block("table", text, anchor, self._heading_path, self._header, self._joiner)
        if is_header and len(row) > 1 and self._joiner == "\n\n":
            self._header = text
        self._joiner = "\n"
        return block

    def _fill_spanned(self) -> None:
        """Repeat the cells of earlier rows that reach down to this place."""
        while (column := len(self._row)) in self._spanning and column < _WIDEST_ROW:
            rows_left, text = self._spanning.pop(column)
            if rows_left > 1:
                self._spanning[column] = (rows_left - 1, text)
            self._row.append(text)
