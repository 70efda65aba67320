"""Rows of text on a page become blocks: headings with those above them, paragraphs, list items, rows of tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from wenyuan.parsers.pictures.layout import Column, PlacedLine, Row, joined_box, reading_order
from wenyuan.rules.columns import WIDE, columns
from wenyuan.types import Anchor, Block, BlockKind, Box

_TOUCHING: Final = 0.2
"""By how much of their height the boxes of cells may reach into one another."""
_HEADING_SIZE: Final = 1.22
_HEADING_COLUMNS: Final = 60
_SAME_SIZE: Final = 1.12
_INDENT: Final = 1.2
_SPARE_ROOM: Final = 1.5
_PARAGRAPH_GAP: Final = 0.75
_CHAPTER_SIZE: Final = 1.2
"""How large a numbered chapter counts at least, and by how much less each level of a dotted number."""
_DOTTED_SIZE: Final = 0.88
_WIDE_END = re.compile(rf"[{WIDE}]$")
_WIDE_START = re.compile(rf"^[{WIDE}]")
_FIRST_WORD = re.compile(rf"[{WIDE}]|[^\s{WIDE}]+")
_LIST_ITEM = re.compile(
    r"\s*(?:[•·●○■□◆▪‣*–—-]\s|[（(]?\d{1,3}[.．、)）]|[（(][一二三四五六七八九十a-zA-Z]{1,3}[)）]|[一二三四五六七八九十]{1,3}、)"
)
_CHAPTER = re.compile(
    r"(?:第[一二三四五六七八九十百零〇\d]{1,5}(?P<unit>[章节篇编部])|(?P<word>Chapter|CHAPTER|Part|PART)\s?[\dIVXivx]{1,5}\b)"
)
_UNITS = {"chapter": "章", "part": "部"}
_DOTTED = re.compile(r"\d{1,2}((?:\.\d{1,2}){1,3})\s?[^\d\s.%％]")
_SENTENCE_END = re.compile(r"[。；;，,.!?！？、:：]$")


def laid_out(lines: Sequence[PlacedLine]) -> list[Block]:
    """The blocks of a page in reading order."""
    blocks = _Blocks()
    for column in reading_order(lines):
        blocks.add(column)
    return blocks.made


class _Heading(NamedTuple):
    text: str
    size: float
    unit: str
    """Of what it bears a number, if of a chapter or the like: two of one unit are on one level, whatever their size."""

    def is_under(self, other: _Heading) -> bool:
        return other.size >= _SAME_SIZE * self.size and not (self.unit and self.unit == other.unit)


@dataclass(slots=True)
class _Blocks:
    """Blocks being made of rows, with the headings that are open."""

    made: list[Block] = field(default_factory=list)
    open_headings: list[_Heading] = field(default_factory=list)

    def add(self, column: Column) -> None:
        """Add the rows of one column."""
        rows, start = column.rows, 0
        while start < len(rows):
            end = start
            while end < len(rows) and len(rows[end].lines) > 1:
                end += 1
            if end - start > 1:
                self._add_table(rows[start:end])
            elif size := _heading_size(rows[start], column.size):
                end = start + 1
                self._add_heading(rows[start], size)
            else:
                end = _paragraph_end(column, start)
                self._add_text(rows[start:end])
            start = end

    def _add_heading(self, row: Row, size: float) -> None:
        numbered = _CHAPTER.match(row.text)
        unit = (numbered["unit"] or _UNITS[numbered["word"].lower()]) if numbered else ""
        heading = _Heading(row.text, size, unit)
        self.open_headings = list(itertools.takewhile(heading.is_under, self.open_headings))
        self._add("heading", row.text, row.box)
        self.open_headings.append(heading)

    def _add_text(self, rows: list[Row]) -> None:
        text = rows[0].text
        for row in rows[1:]:
            text = continued(text, row.text)
        self._add("list" if _LIST_ITEM.match(text) else "paragraph", text, joined_box([row.box for row in rows]))

    def _add_table(self, rows: list[Row]) -> None:
        edges = _column_edges(rows)
        header = ""
        for row in rows:
            cells: list[list[str]] = [[] for _ in edges]
            for line in row.lines:
                cells[sum(edge <= line.place.left for edge in edges[1:])].append(line.text.replace("|", "\\|"))
            text = f"| {' | '.join(' '.join(cell) for cell in cells)} |"
            self._add("table", text, row.box, header, "\n" if header else "\n\n")
            header = header or text

    def _add(self, kind: BlockKind, text: str, box: Box, context: str = "", joiner: str = "\n\n") -> None:
        path = tuple(heading.text for heading in self.open_headings)
        self.made.append(Block(kind, text, Anchor("page", box.page, box.page, boxes=(box,)), path, context, joiner))


def _heading_size(row: Row, body: float) -> float:
    """How large a heading the row is, on a page with letters of that size; 0 if it is none."""
    if len(row.lines) > 1 or columns(row.text) > _HEADING_COLUMNS:
        return 0.0
    if row.size >= _HEADING_SIZE * body:
        return row.size
    if _SENTENCE_END.search(row.text):
        return 0.0
    if _CHAPTER.match(row.text):
        return _CHAPTER_SIZE * body
    if dotted := _DOTTED.match(row.text):
        return body * _DOTTED_SIZE ** dotted[1].count(".")
    return 0.0


def _paragraph_end(column: Column, start: int) -> int:
    """How far the paragraph goes that begins there: as long as its rows are full, near and alike."""
    rows, height = column.rows, column.height
    left = min(row.place.left for row in rows)
    right = max(row.place.right for row in rows)
    end = start + 1
    while end < len(rows):
        above, row = rows[end - 1], rows[end]
        if (
            len(row.lines) > 1
            or not _runs_on(above, row, right, height)
            or row.place.left > left + _INDENT * height
            or row.place.top - above.place.bottom > _PARAGRAPH_GAP * height
            or max(row.size, above.size) > _HEADING_SIZE * min(row.size, above.size)
            or _LIST_ITEM.match(row.text)
            or _heading_size(row, column.size)
        ):
            break
        end += 1
    return end


def _runs_on(above: Row, row: Row, right: float, height: float) -> bool:
    """Whether a row goes on in the next: the first word there would not have fitted, or does not begin a sentence."""
    if row.text[:1].islower() and not _SENTENCE_END.search(above.text):
        return True
    word = _FIRST_WORD.match(row.text)
    share = columns(word[0]) / columns(row.text) if word else 0.0
    room = share * (row.place.right - row.place.left) + _SPARE_ROOM * height
    return above.place.right > right - room


def _column_edges(rows: list[Row]) -> list[float]:
    """Where the columns of a table begin: right of a gap that goes through all of its rows."""
    edges: list[float] = []
    right = float("-inf")
    for line in sorted((line for row in rows for line in row.lines), key=lambda line: line.place.left):
        if line.place.left >= right - _TOUCHING * line.height:
            edges.append(line.place.left - _TOUCHING * line.height)
        right = max(right, line.place.right)
    return edges


def continued(text: str, following: str) -> str:
    """A text and its next line: with a space between, unless one of the two ends is Han or the like."""
    if text.endswith("-") and text[-2:-1].isalpha() and following[:1].islower():
        return text[:-1] + following
    if _WIDE_END.search(text) or _WIDE_START.search(following):
        return text + following
    return f"{text} {following}"
