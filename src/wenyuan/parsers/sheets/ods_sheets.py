"""The sheets of an OpenDocument spreadsheet as a stream of rows (OpenDocument 1.3 part 3, chapter 9).

Programs fill a sheet to its last row and column by repeating empty ones: those cost nothing here.
What a cell shows is written beside its value, and that is what is read; only dates are taken from
the value, which has them in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING

from wenyuan.parsers.office.xml import part_tree, release, streamed_elements
from wenyuan.parsers.office.zip_archive import ZipArchive
from wenyuan.parsers.sheets.sheet_cells import LAST_COLUMN, LAST_ROW, Area, Cell, CellKind, Remark, Sheet, SheetRow

if TYPE_CHECKING:
    from lxml.etree import _Element

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
DC = "{http://purl.org/dc/elements/1.1/}"
CHART = "{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}"
XLINK = "{http://www.w3.org/1999/xlink}"

_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_HIDDEN = ("collapse", "filter")
_MOST_COPIES = 1_000
"""Rows and cells that are not empty are repeated so often at most; nobody fills more of them with the same."""
_NOT_SHOWN = frozenset({f"{OFFICE}annotation", f"{TEXT}ruby-text", f"{DRAW}frame", f"{TEXT}tracked-changes"})
_PARAGRAPHS = (f"{TEXT}p", f"{TEXT}h")
_KINDS: dict[str, CellKind] = {
    "float": "number",
    "currency": "number",
    "percentage": "number",
    "date": "date",
    "time": "date",
    "boolean": "other",
}


class OdsSheets:
    """The sheets of one document, each to be gone through before the next."""

    def __init__(self, archive: ZipArchive) -> None:
        self.hidden_rows = 0
        self.not_calculated = 0
        self.first_not_calculated: tuple[int, int] = (0, 0)
        self._archive = archive
        self._hidden_styles: set[str] = set()
        self._row = 0

    def read(self) -> Iterator[Sheet]:
        """Yield the sheets in their order. Raises `FileMalformed`, `FileOverLimit`."""
        for table, rows in groupby(self._rows(), key=itemgetter(0)):
            sheet = Sheet(table.get(f"{TABLE}name", ""))
            sheet.is_hidden = table.get(f"{TABLE}style-name", "") in self._hidden_styles
            self._row = self.hidden_rows = self.not_calculated = 0
            self._add_drawings(sheet, table)
            sheet.rows = self._sheet_rows(sheet, rows)
            yield sheet

    def _rows(self) -> Iterator[tuple[_Element, _Element]]:
        """Every row with the sheet it belongs to. Tables within cells are none of a spreadsheet's sheets."""
        found = streamed_elements(self._archive, "content.xml", f"{TABLE}table-row", f"{STYLE}style")
        for element in found:
            if element.tag == f"{STYLE}style":
                properties = element.find(f"{STYLE}table-properties")
                if properties is not None and properties.get(f"{TABLE}display") == "false":
                    self._hidden_styles.add(element.get(f"{STYLE}name", ""))
                continue
            table = next(element.iterancestors(f"{TABLE}table"), None)
            holder = table.getparent() if table is not None else None
            if table is not None and holder is not None and holder.tag == f"{OFFICE}spreadsheet":
                yield table, element

    def _sheet_rows(self, sheet: Sheet, rows: Iterator[tuple[_Element, _Element]]) -> Iterator[SheetRow]:
        for _, row in rows:
            yield from self._copies(sheet, row)

    def _copies(self, sheet: Sheet, row: _Element) -> Iterator[SheetRow]:
        number = self._row + 1
        count = _count(row.get(f"{TABLE}number-rows-repeated"), LAST_ROW)
        self._row += count
        holder = row.getparent()
        if holder is not None and holder.tag == f"{TABLE}table-header-rows":
            sheet.header_rows |= {number}
        is_hidden = row.get(f"{TABLE}visibility") in _HIDDEN
        cells = self._cells(sheet, row, number)
        release(row)
        if not cells:
            return
        self.hidden_rows += count if is_hidden else 0
        for at in range(number, min(number + min(count, _MOST_COPIES), LAST_ROW + 1)):
            yield SheetRow(at, cells)

    def _cells(self, sheet: Sheet, row: _Element, number: int) -> list[Cell]:
        cells: list[Cell] = []
        column = 1
        for element in row.iterchildren(*_CELLS):
            count = _count(element.get(f"{TABLE}number-columns-repeated"), LAST_COLUMN)
            if column > LAST_COLUMN:
                break
            if len(element) or element.get(f"{OFFICE}value-type") or element.get(f"{TABLE}formula"):
                text, kind = self._shown(element, number, column)
                if text:
                    last = min(column + min(count, _MOST_COPIES), LAST_COLUMN + 1)
                    value = _number(element.get(f"{OFFICE}value")) if kind == "number" else None
                    cells.extend(Cell(at, text, kind, value) for at in range(column, last))
                self._note_around(sheet, element, number, column)
            column += count
        return cells

    def _shown(self, cell: _Element, row: int, column: int) -> tuple[str, CellKind]:
        value_type = cell.get(f"{OFFICE}value-type", "")
        kind = _KINDS.get(value_type, "text")
        if value_type == "date":
            date = cell.get(f"{OFFICE}date-value", "").replace("T", " ")
            return date.removesuffix(" 00:00:00"), kind
        text = "\n".join(_paragraph(child) for child in cell.iterchildren(*_PARAGRAPHS)).strip()
        if value_type == "time" and text[1:2] == ":":
            text = f"0{text}"
        formula = cell.get(f"{TABLE}formula", "")
        if not text and formula and not value_type:
            self.not_calculated += 1
            if self.not_calculated == 1:
                self.first_not_calculated = (row, column)
            return "=" + formula.partition("=")[2].replace("[.", "").replace("]", "").replace(":.", ":"), "other"
        return text or cell.get(f"{OFFICE}value", ""), kind

    def _note_around(self, sheet: Sheet, cell: _Element, row: int, column: int) -> None:
        """Note what belongs to a cell besides its text: how far it reaches, comments, charts."""
        rows = _count(cell.get(f"{TABLE}number-rows-spanned"), LAST_ROW)
        columns = _count(cell.get(f"{TABLE}number-columns-spanned"), LAST_COLUMN)
        place = Area(row, column, row + rows - 1, column + columns - 1)
        if rows > 1 or columns > 1:
            sheet.merged.append(place)
        for note in cell.iterchildren(f"{OFFICE}annotation"):
            author = note.findtext(f"{DC}creator") or ""
            text = "\n".join(_paragraph(child) for child in note.iterchildren(*_PARAGRAPHS)).strip()
            if text:
                sheet.remarks.append(Remark("comment", place, f"{author}: {text}" if author else text))
        self._add_frames(sheet, cell, place)

    def _add_drawings(self, sheet: Sheet, table: _Element) -> None:
        for shapes in table.iterchildren(f"{TABLE}shapes"):
            self._add_frames(sheet, shapes, Area(1, 1, 1, 1))

    def _add_frames(self, sheet: Sheet, holder: _Element, place: Area) -> None:
        for child in holder:
            if not str(child.tag).startswith(DRAW):
                continue
            words = [_paragraph(paragraph) for paragraph in child.iter(*_PARAGRAPHS)]
            for link in child.iter(f"{DRAW}object"):
                part = link.get(f"{XLINK}href", "").removeprefix("./") + "/content.xml"
                if part in self._archive:
                    words.append(_chart_titles(part_tree(self._archive, part)))
            text = "\n".join(filter(None, words))
            if text:
                sheet.remarks.append(Remark("drawing", place, text))


def _chart_titles(root: _Element) -> str:
    titles = root.iter(f"{CHART}title", f"{CHART}subtitle")
    said = (" ".join(_paragraph(text) for text in title.iterchildren(*_PARAGRAPHS)) for title in titles)
    return "; ".join(text for text in said if text.strip())


def _paragraph(element: _Element) -> str:
    """The text of a paragraph, without what is not shown in it; libxml2 bounds how deep it is."""
    parts = [element.text or ""]
    for child in element:
        tag = child.tag
        if tag == f"{TEXT}s":
            parts.append(" " * min(_count(child.get(f"{TEXT}c"), _MOST_COPIES), _MOST_COPIES))
        elif tag == f"{TEXT}tab":
            parts.append(" ")
        elif tag == f"{TEXT}line-break":
            parts.append("\n")
        elif tag == f"{TEXT}a":
            parts.append(_linked(child))
        elif tag not in _NOT_SHOWN:
            parts.append(_paragraph(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _linked(element: _Element) -> str:
    text, target = "".join(map(str, element.itertext())), element.get(f"{XLINK}href", "")
    is_address = target.startswith(("http:", "https:", "mailto:", "ftp:"))
    return f"[{text}]({target})" if is_address and target != text else text


def _number(value: str | None) -> float | None:
    """The value of a cell, None where its file does not say it or it is none that could be shown."""
    try:
        number = float(value or "nan")
    except ValueError:
        return None
    return number if isfinite(number) else None


def _count(value: str | None, most: int) -> int:
    """How often something is repeated: once if nothing is said."""
    if not value or not value.isascii() or not value.isdigit() or len(value) > 9:
        return 1
    return max(1, min(int(value), most))
