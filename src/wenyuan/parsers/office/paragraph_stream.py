"""Paragraphs that come one after the other with marks where cells and rows of tables end.

That is how both Word 97 files and RTF keep tables; what becomes of them is the same as with newer formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wenyuan.parsers.office.blocks import Cell, OfficeBlocks

_DEEPEST_TABLE = 20
_MOST_HELD_ROWS = 2_000
_EDGE_SLACK = 30
"""Twips (1/20 point) by which the edges of one column may differ between rows."""


@dataclass(slots=True)
class StreamParagraph:
    """A paragraph and what it is for; `after` are notes, comments and text boxes that belong to it."""

    text: str
    level: int | None = None
    kind: str = ""
    label: str = ""
    depth: int = 0
    after: list[StreamParagraph] = field(default_factory=list)

    @property
    def numbered_text(self) -> str:
        is_number = self.label != "•"
        return f"{self.label} {self.text}" if self.label and is_number else self.text


class RowShape(NamedTuple):
    """Where the cells of a row end, in twips; which of them go on with the one above or the one before."""

    edges: Sequence[int] = ()
    down: Sequence[bool] = ()
    across: Sequence[bool] = ()
    is_header: bool = False


@dataclass(slots=True)
class _Row:
    cells: list[list[StreamParagraph]]
    shape: RowShape
    inner: list[_Level]


@dataclass(slots=True)
class _Level:
    """A table that is open: its rows, the cells of its last row, and what is in the last of those."""

    rows: list[_Row] = field(default_factory=list)
    cells: list[list[StreamParagraph]] = field(default_factory=list)
    cell: list[StreamParagraph] = field(default_factory=list)
    inner: list[_Level] = field(default_factory=list)
    has_begun: bool = False
    edges: list[int] = field(default_factory=list)


class ParagraphStream:
    """Takes paragraphs and marks, and gives blocks to `blocks`."""

    def __init__(self, blocks: OfficeBlocks) -> None:
        self.blocks = blocks
        self.contents_entries = 0
        self._levels: list[_Level] = []

    def paragraph(self, paragraph: StreamParagraph, depth: int = 0) -> None:
        """The next paragraph, in so many tables."""
        depth = min(depth, _DEEPEST_TABLE)
        self._go_to(depth)
        if depth:
            self._levels[-1].cell.append(paragraph)
        else:
            self._give(paragraph)

    def end_cell(self, depth: int) -> None:
        """The cell ends in which the last paragraphs were."""
        self._go_to(max(1, min(depth, _DEEPEST_TABLE)))
        level = self._levels[-1]
        level.cells.append(level.cell)
        level.cell = []

    def end_row(self, depth: int, shape: RowShape) -> None:
        """The row ends in which the last cells were."""
        self._go_to(max(1, min(depth, _DEEPEST_TABLE)))
        level = self._levels[-1]
        if level.cell:
            self.end_cell(depth)
        if level.cells:
            level.rows.append(_Row(level.cells, shape, level.inner))
        level.cells, level.inner = [], []
        if len(self._levels) == 1 and len(level.rows) >= _MOST_HELD_ROWS:
            self._give_rows(level)

    def close(self) -> None:
        """Nothing follows."""
        self._go_to(0)

    def _go_to(self, depth: int) -> None:
        while len(self._levels) > depth:
            level = self._levels.pop()
            if level.cell or level.cells or level.inner:
                # A row that was never ended.
                level.cells.append(level.cell)
                level.rows.append(_Row(level.cells, RowShape(), level.inner))
            if self._levels:
                self._levels[-1].inner.append(level)
            else:
                self._give_table(level)
        while len(self._levels) < depth:
            self._levels.append(_Level())

    # --- Giving ---

    def _give(self, paragraph: StreamParagraph) -> None:
        text = paragraph.text
        if paragraph.kind == "contents":
            self.contents_entries += bool(text.strip())
        elif paragraph.level is not None:
            self.blocks.heading(paragraph.numbered_text, paragraph.level)
        elif paragraph.label:
            self.blocks.item(text, paragraph.depth, paragraph.label)
        elif paragraph.kind == "code":
            for line in text.split("\n"):
                self.blocks.paragraph(line, "code")
        else:
            self.blocks.paragraph(text, "caption" if paragraph.kind == "caption" else "paragraph")
        for following in paragraph.after:
            self._give(following)

    def _give_table(self, level: _Level) -> None:
        self._give_rows(level)
        if level.has_begun:
            self.blocks.end_table()

    def _give_rows(self, level: _Level) -> None:
        rows, level.rows = level.rows, []
        if not level.has_begun and all(len(row.cells) <= 1 for row in rows):
            # A frame around text rather than a table of data.
            for row in rows:
                for paragraph in (paragraph for cell in row.cells for paragraph in cell):
                    self._give(paragraph)
                for inner in row.inner:
                    self._give_table(inner)
            return
        if not level.has_begun:
            level.has_begun = True
            self.blocks.begin_table()
        level.edges = _grid([edge for row in rows for edge in row.shape.edges], level.edges)
        for row in rows:
            self._give_row(row, level.edges)

    def _give_row(self, row: _Row, grid: list[int]) -> None:
        spans = _spans(row.shape.edges, grid)
        cells = []
        for at, paragraphs in enumerate(row.cells):
            text = " ".join(filter(None, (paragraph.numbered_text.strip() for paragraph in paragraphs)))
            goes_on = at < len(row.shape.down) and row.shape.down[at]
            is_covered = at < len(row.shape.across) and row.shape.across[at]
            cells.append(Cell("" if is_covered else text, spans[at] if at < len(spans) else 1, goes_on))
        self.blocks.row(cells, row.shape.is_header)
        for paragraphs in row.cells:
            for paragraph in paragraphs:
                for following in paragraph.after:
                    self._give(following)
        for inner in row.inner:
            self._give_table(inner)


def _grid(edges: list[int], known: list[int]) -> list[int]:
    """The edges of all columns, those that hardly differ as one."""
    grid: list[int] = []
    for edge in sorted({*edges, *known}):
        if not grid or edge - grid[-1] > _EDGE_SLACK:
            grid.append(edge)
    return grid


def _spans(edges: Sequence[int], grid: list[int]) -> list[int]:
    """How many columns of the grid each cell of a row takes up."""
    spans = []
    start = None
    for edge in edges:
        within = [at for at in grid if at <= edge + _EDGE_SLACK and (start is None or at > start + _EDGE_SLACK)]
        spans.append(max(1, len(within)))
        start = edge
    return spans
