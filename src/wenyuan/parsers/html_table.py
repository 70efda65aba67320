"""A table of an HTML page, row by row."""

from __future__ import annotations

from wenyuan.types import Anchor, Block

_ROWS_CHARACTERS = 4_000
_WIDEST_ROW = 1_000
_LONGEST_SPAN = 1_000


class HtmlTable:
    """Gathers the cells of one table and makes blocks of its rows, in Markdown.

    A cell that spans rows is repeated in each; one that spans columns is followed by empty ones. A
    header row is the context of every block but the first, which shows it.
    """

    def __init__(self, heading_path: tuple[str, ...]) -> None:
        self._heading_path = heading_path
        self._header = ""
        self._row: list[str] = []
        self._row_lines: list[int] = []
        self._row_is_header = True
        self._spanning: dict[int, tuple[int, str]] = {}
        self._rows: list[str] = []
        self._size = 0
        self._lines: list[int] = []
        self._has_given = False

    def add_cell(self, text: str, is_header: bool, rows: int, columns: int, lines: tuple[int, int]) -> None:
        """Add a cell to the open row; `lines` are the first and last line of its text."""
        self._fill_spanned()
        if len(self._row) >= _WIDEST_ROW:
            return
        text = text.replace("|", "\\|").replace("\n", " ")
        if rows > 1:
            self._spanning[len(self._row)] = (min(rows, _LONGEST_SPAN) - 1, text)
        room = _WIDEST_ROW - len(self._row)
        self._row.extend([text, *([""] * (columns - 1))][:room])
        self._row_is_header = self._row_is_header and is_header
        if text:
            self._row_lines.extend(lines)

    def end_row(self) -> list[Block]:
        """Close the open row, if there is one; return the rows before it if they are many."""
        self._fill_spanned()
        row, self._row = self._row, []
        lines, self._row_lines = self._row_lines, []
        is_header, self._row_is_header = self._row_is_header, True
        if not any(row):
            return []
        ready = self.end() if self._size >= _ROWS_CHARACTERS else []
        text = f"| {' | '.join(row)} |"
        is_first = not self._rows and not self._has_given
        self._rows.append(text)
        if is_first and is_header and len(row) > 1:
            self._header = text
            self._rows.append(f"|{' --- |' * len(row)}")
        self._size += len(text)
        self._lines.extend(lines)
        return ready

    def end(self) -> list[Block]:
        """Return the rows that were not returned yet."""
        rows, self._rows, self._size = self._rows, [], 0
        lines, self._lines = self._lines or [1], []
        if not rows:
            return []
        anchor = Anchor("lines", min(lines), max(lines))
        joiner = "\n" if self._has_given else "\n\n"
        self._has_given = True
        return [Block("table", "\n".join(rows), anchor, self._heading_path, self._header, joiner)]

    def _fill_spanned(self) -> None:
        """Repeat the cells of earlier rows that reach down to this place."""
        while (column := len(self._row)) in self._spanning and column < _WIDEST_ROW:
            rows_left, text = self._spanning[column]
            if rows_left > 1:
                self._spanning[column] = (rows_left - 1, text)
            else:
                del self._spanning[column]
            self._row.append(text)
