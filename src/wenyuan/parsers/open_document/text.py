"""Paragraphs, lists, tables and shapes of OpenDocument files (ODF 1.3 part 3, 5 to 10)."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wenyuan.parsers.office.blocks import Cell, OfficeBlocks
from wenyuan.parsers.office.math import mathml_text
from wenyuan.parsers.office.numbers import ListCounter, numeral
from wenyuan.parsers.office.xml import part_tree
from wenyuan.parsers.office.zip_archive import ZipArchive
from wenyuan.parsers.open_document.names import (
    CHART,
    DC,
    DRAW,
    MATH,
    OFFICE,
    SVG,
    TABLE,
    TEXT,
    XLINK,
    child,
    number,
)
from wenyuan.parsers.open_document.styles import DocumentStyles

if TYPE_CHECKING:
    from lxml.etree import _Element

PARAGRAPHS = frozenset({f"{TEXT}p", f"{TEXT}h"})
LISTS = frozenset({f"{TEXT}list"})
TABLES = frozenset({f"{TABLE}table"})
ROWS = frozenset({f"{TABLE}table-row"})
SHAPES = frozenset(
    DRAW + name
    for name in "frame custom-shape rect ellipse circle polygon polyline path line connector caption g a".split()
)
WRAPPERS = frozenset(
    {
        *(f"{TEXT}{name}" for name in "section index-body index-title bibliography numbered-paragraph".split()),
        *(f"{TABLE}{name}" for name in "table-header-rows table-rows table-row-group".split()),
    }
)
"""What means nothing for the text in it."""
CONTENTS = frozenset(
    f"{TEXT}{name}"
    for name in "table-of-content illustration-index table-index object-index user-index alphabetical-index".split()
)

_BLOCKS = PARAGRAPHS | LISTS | TABLES | SHAPES
_SKIPPED = frozenset(
    {
        f"{TEXT}ruby-text",
        f"{TEXT}hidden-text",
        f"{TEXT}hidden-paragraph",
        f"{TEXT}tracked-changes",
        f"{OFFICE}annotation-end",
        f"{TEXT}note-citation",
    }
)
_CELLS = frozenset({f"{TABLE}table-cell", f"{TABLE}covered-table-cell"})
_SPACES = re.compile(r"[ \t\r\n]+")
_WIDEST = 1_000
_MOST_SPACES = 1_000
_ID = "{http://www.w3.org/XML/1998/namespace}id"


class DocumentText:
    """Reads elements of a document and gives their text to `blocks`."""

    def __init__(self, archive: ZipArchive, styles: DocumentStyles) -> None:
        self.blocks = OfficeBlocks()
        self.counts: Counter[str] = Counter()
        self.objects: list[str] = []
        self.hidden = 0
        self._archive = archive
        self._styles = styles
        self._hangers: list[_Element] = []
        self._notes: dict[str, int] = {}
        self._counter = ListCounter()
        self._outline = ListCounter()
        self._lists = 0
        self._list_keys: dict[str, str] = {}
        self._last_of_style: dict[str, str] = {}

    # --- Blocks ---

    def flow(self, container: _Element) -> None:
        """Everything in an element, as it comes."""
        for element in within(container, _BLOCKS):
            self.block(element)

    def block(self, element: _Element) -> None:
        """A paragraph, a list, a table or a shape."""
        tag = element.tag
        if tag in PARAGRAPHS:
            self._paragraph(element)
        elif tag in LISTS:
            self._list(element)
        elif tag in TABLES:
            self._table(element)
        else:
            self._shape(element)

    def _paragraph(self, element: _Element, label: str = "", depth: int = 0) -> None:
        text = self.text(element)
        style = self._styles.paragraph(element.get(f"{TEXT}style-name", ""))
        level = style.level
        if element.tag == f"{TEXT}h":
            level = number(element, f"{TEXT}outline-level")
            label = label if label and label != "•" else self._outline_label(element, level, bool(text.strip()))
        if level is not None:
            self.blocks.heading(f"{label} {text}" if label and label != "•" else text, level)
        elif style.kind == "contents":
            self.counts["contents_entries"] += bool(text.strip())
        elif label:
            self.blocks.item(text, depth, label)
        elif style.kind == "code":
            for line in text.split("\n"):
                self.blocks.paragraph(line, "code")
        else:
            self.blocks.paragraph(text, "caption" if style.kind == "caption" else "paragraph")
        self.hang()

    def _outline_label(self, heading: _Element, level: int, has_text: bool) -> str:
        levels = self._styles.outline
        if not levels or not has_text or heading.get(f"{TEXT}is-list-header") == "true":
            return ""
        return self._outline.label("", level - 1, levels).strip()

    # --- Lists ---

    def _list(self, element: _Element) -> None:
        style = element.get(f"{TEXT}style-name", "")
        key = self._list_keys.get(element.get(f"{TEXT}continue-list", ""), "")
        if not key and element.get(f"{TEXT}continue-numbering") == "true":
            key = self._last_of_style.get(style, "")
        if not key:
            self._lists += 1
            key = str(self._lists)
        self._last_of_style[style] = key
        if element.get(_ID):
            self._list_keys[element.get(_ID, "")] = key
        self._items(element, key, style, 0)

    def _items(self, element: _Element, key: str, style: str, depth: int) -> None:
        style = element.get(f"{TEXT}style-name") or style
        for item in element:
            is_marked = item.tag == f"{TEXT}list-item"
            start = number(item, f"{TEXT}start-value", -1)
            if start >= 0:
                self._counter.restart(key, depth, start)
            for part in within(item, _BLOCKS):
                if part.tag in LISTS:
                    self._items(part, key, style, depth + 1)
                elif part.tag in PARAGRAPHS:
                    label = self._item_label(part, key, style, depth) if is_marked else ""
                    self._paragraph(part, label, depth)
                    is_marked = False
                else:
                    self.block(part)

    def _item_label(self, paragraph: _Element, key: str, style: str, depth: int) -> str:
        if len(paragraph) == 0 and not (paragraph.text or "").strip():
            return ""
        style = style or self._styles.paragraph(paragraph.get(f"{TEXT}style-name", "")).list_style
        levels = self._styles.list_levels(style)
        if not levels:
            return "•"
        return self._counter.label(key, depth, levels).strip()

    # --- Tables ---

    def _table(self, table: _Element) -> None:
        rows = TableRows(self, table)
        for row in within(table, ROWS):
            rows.add(row)
        rows.end()

    def cell_text(self, container: _Element, inner: list[_Element] | None = None) -> str:
        """The text of everything in a cell or note as one; tables in it are put into `inner`."""
        texts: list[str] = []
        for element in within(container, _BLOCKS):
            if element.tag in PARAGRAPHS:
                texts.append(self.text(element))
            elif element.tag in LISTS:
                self._lists += 1
                texts.extend(self._item_texts(element, str(self._lists), element.get(f"{TEXT}style-name", ""), 0))
            elif inner is not None:
                inner.append(element)
        return " ".join(filter(None, map(str.strip, texts)))

    def _item_texts(self, element: _Element, key: str, style: str, depth: int) -> Iterator[str]:
        for item in element:
            for part in within(item, PARAGRAPHS | LISTS):
                if part.tag in LISTS:
                    yield from self._item_texts(part, key, part.get(f"{TEXT}style-name") or style, depth + 1)
                else:
                    label = self._item_label(part, key, style, depth)
                    yield f"{label} {self.text(part)}" if label and label != "•" else self.text(part)

    # --- Text within a paragraph ---

    def text(self, paragraph: _Element) -> str:
        """The text of a paragraph; what hangs on it is kept until `hang`."""
        if len(paragraph) == 0:
            return _SPACES.sub(" ", paragraph.text or "")
        parts: list[str] = []
        self._gather(paragraph, parts)
        return "".join(parts)

    def _gather(self, element: _Element, parts: list[str]) -> None:
        if element.text:
            parts.append(_SPACES.sub(" ", element.text))
        for inner in element:
            tag = inner.tag
            if tag == f"{TEXT}span":
                self._span(inner, parts)
            elif tag == f"{TEXT}s":
                parts.append(" " * min(number(inner, f"{TEXT}c"), _MOST_SPACES))
            elif tag == f"{TEXT}tab":
                parts.append("\t")
            elif tag == f"{TEXT}line-break":
                parts.append("\n")
            elif tag == f"{TEXT}note":
                self._note_mark(inner, parts)
            elif tag == f"{OFFICE}annotation":
                self._hangers.append(inner)
            elif tag in SHAPES:
                self._inline_shape(inner, parts)
            elif tag not in _SKIPPED:
                self._gather(inner, parts)
            if inner.tail:
                parts.append(_SPACES.sub(" ", inner.tail))

    def _span(self, span: _Element, parts: list[str]) -> None:
        if not self._styles.is_hidden(span.get(f"{TEXT}style-name", "")):
            self._gather(span, parts)
        else:
            self.hidden += sum(map(len, span.itertext()))

    def _note_mark(self, note: _Element, parts: list[str]) -> None:
        kind = note.get(f"{TEXT}note-class", "footnote")
        self._notes[kind] = self._notes.get(kind, 0) + 1
        mark = str(self._notes[kind]) if kind == "footnote" else numeral(self._notes[kind], "lowerRoman")
        note.set("shown", mark)
        parts.append(f"[{mark}]")
        self._hangers.append(note)

    def _inline_shape(self, shape: _Element, parts: list[str]) -> None:
        formula = self._formula(shape)
        if formula:
            parts.append(formula)
            return
        description = child(shape, f"{SVG}desc")
        if description is not None and child(shape, f"{DRAW}image") is not None:
            parts.append(" ".join((description.text or "").split()))
        self._hangers.append(shape)

    # --- What hangs on a paragraph ---

    def hang(self) -> None:
        """Read what hangs on the paragraphs read since the last time."""
        hangers, self._hangers = self._hangers, []
        for hanger in hangers:
            if hanger.tag == f"{TEXT}note":
                self.counts["endnotes" if hanger.get(f"{TEXT}note-class") == "endnote" else "footnotes"] += 1
                body = child(hanger, f"{TEXT}note-body")
                text = self.cell_text(body) if body is not None else ""
                self.blocks.paragraph(f"[{hanger.get('shown')}] {text}")
            elif hanger.tag == f"{OFFICE}annotation":
                self.comment(hanger)
            else:
                self._shape(hanger)

    def forget_hangers(self) -> None:
        self._hangers = []

    def comment(self, annotation: _Element) -> None:
        """A comment of a reader, with the name of its author."""
        creator = child(annotation, f"{DC}creator")
        author = (creator.text or "").strip() if creator is not None else ""
        text = self.cell_text(annotation)
        if text:
            self.counts["comments"] += 1
            self.blocks.paragraph(f"Comment by {author}: {text}" if author else f"Comment: {text}")

    def _shape(self, shape: _Element) -> None:
        """A text box, a drawn shape with text in it, a group of them, a table in a frame, or an object."""
        box = child(shape, f"{DRAW}text-box")
        if box is not None:
            self.counts["text_boxes"] += 1
            self.flow(box)
        elif child(shape, f"{DRAW}object") is not None or child(shape, f"{DRAW}object-ole") is not None:
            self._object(shape)
        else:
            self.flow(shape)

    def _object(self, frame: _Element) -> None:
        root = self._object_tree(frame)
        charts = root.iter(f"{CHART}chart") if root is not None else iter(())
        chart = next(charts, None)
        formula = self._formula(frame)
        if chart is not None:
            self._chart(chart)
        elif formula:
            self.blocks.paragraph(formula)
        elif child(frame, f"{TABLE}table") is not None:
            # A table of a presentation has a picture of itself beside it.
            self.flow(frame)
        else:
            self.counts["embedded_objects"] += 1
            self.objects.append(self._object_part(frame) or "an object")

    def _chart(self, chart: _Element) -> None:
        self.counts["charts"] += 1
        titles = [child(chart, f"{CHART}title"), *(child(axis, f"{CHART}title") for axis in chart.iter(f"{CHART}axis"))]
        words = [_all_text(title) for title in titles if title is not None]
        tables = chart.iter(f"{TABLE}table")
        rows = [row for table in tables for row in within(table, ROWS)]
        self.blocks.chart(words, ([_all_text(cell) for cell in within(row, _CELLS)] for row in rows))

    def _formula(self, frame: _Element) -> str:
        inline = next(frame.iter(f"{MATH}math"), None) if frame.tag == f"{DRAW}frame" else None
        if inline is None and child(frame, f"{DRAW}object") is not None:
            root = self._object_tree(frame)
            inline = root if root is not None and root.tag == f"{MATH}math" else None
        return mathml_text(inline).strip() if inline is not None else ""

    def _object_tree(self, frame: _Element) -> _Element | None:
        part = self._object_part(frame)
        content = posixpath.join(part, "content.xml")
        return part_tree(self._archive, content) if part and content in self._archive else None

    @staticmethod
    def _object_part(frame: _Element) -> str:
        holder = child(frame, f"{DRAW}object")
        holder = child(frame, f"{DRAW}object-ole") if holder is None else holder
        return holder.get(f"{XLINK}href", "").removeprefix("./") if holder is not None else ""


class TableRows:
    """The rows of one table, one after the other."""

    def __init__(self, text: DocumentText, table: _Element) -> None:
        columns = within(table, frozenset({f"{TABLE}table-column"}), WRAPPERS | _COLUMN_WRAPPERS)
        self._is_frame = sum(number(column, f"{TABLE}number-columns-repeated") for column in columns) == 1
        self._text = text
        self._rows_left: dict[int, int] = {}
        if not self._is_frame:
            text.blocks.begin_table()

    def add(self, row: _Element) -> None:
        """The next row of the table."""
        if self._is_frame:
            # A frame around text rather than a table of data.
            for cell in within(row, _CELLS):
                self._text.flow(cell)
            return
        inner: list[_Element] = []
        cells: list[Cell] = []
        for cell in within(row, _CELLS):
            self._put(cell, cells, inner)
        parent = row.getparent()
        self._text.blocks.row(cells, is_header=parent is not None and parent.tag == f"{TABLE}table-header-rows")
        self._text.hang()
        for element in inner:
            self._text.block(element)

    def end(self) -> None:
        """The table has no more rows."""
        if not self._is_frame:
            self._text.blocks.end_table()

    def _put(self, cell: _Element, cells: list[Cell], inner: list[_Element]) -> None:
        is_covered = cell.tag == f"{TABLE}covered-table-cell"
        text = "" if is_covered else self._text.cell_text(cell, inner)
        rows = number(cell, f"{TABLE}number-rows-spanned")
        for _ in range(min(number(cell, f"{TABLE}number-columns-repeated"), _WIDEST - len(cells))):
            column = len(cells)
            left = self._rows_left.pop(column, 0)
            if is_covered and left > 1:
                self._rows_left[column] = left - 1
            elif rows > 1:
                self._rows_left[column] = rows
            cells.append(Cell(text, goes_on=is_covered and left > 1))


_COLUMN_WRAPPERS = frozenset({f"{TABLE}table-columns", f"{TABLE}table-header-columns", f"{TABLE}table-column-group"})


def _all_text(element: _Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def within(container: _Element, tags: frozenset[str], wrappers: frozenset[str] = WRAPPERS) -> Iterator[_Element]:
    """The elements with those tags in a container, also in wrappers that mean nothing for the text."""
    for element in container:
        if element.tag in tags:
            yield element
        elif element.tag in wrappers:
            yield from within(element, tags, wrappers)
