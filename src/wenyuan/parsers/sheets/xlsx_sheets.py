"""A sheet of an Excel workbook as a stream of rows (ECMA-376 part 1, 18.3).

The declared dimension is not looked at: programs write what they like there. What merges and links
cells stands behind the rows, but is needed with them; the part is searched for it first.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING

from wenyuan.parsers.office.xml import release
from wenyuan.parsers.office.zip_archive import ZipArchive
from wenyuan.parsers.sheets.sheet_cells import (
    LAST_COLUMN,
    LAST_ROW,
    Area,
    Cell,
    SheetRow,
    area,
    column_name,
    column_number,
)
from wenyuan.parsers.sheets.xlsx_values import CellValues, rich_text, unescaped

if TYPE_CHECKING:
    from lxml.etree import _Element

_AFTER_ROWS = re.compile(rb"<(?:\w+:)?(mergeCell|hyperlink|autoFilter)\s([^>]*)>")
_ATTRIBUTE = re.compile(r"([\w:]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LINK_FORMULA = re.compile(r'HYPERLINK\(\s*"([^"]+)"', re.I)
_LINK = re.compile(r"(?:https?|ftp|mailto):", re.I)
# What is quoted, and names of functions such as LOG10(, are no references.
_REFERENCE = re.compile(r"\"[^\"]*\"|'[^']*'|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)([0-9]{1,7})(?![\w(.])")
_LONGEST_LETTERS = 3
_TRUE = ("1", "true")


@dataclass(slots=True)
class SheetCounts:
    """What was met in a sheet that a person should know of."""

    hidden_rows: int = 0
    not_calculated: int = 0
    first_not_calculated: str = ""


@dataclass(slots=True)
class SheetTail:
    """What stands behind the rows of a sheet."""

    merged: list[Area] = field(default_factory=list)
    link_ids: dict[tuple[int, int], str] = field(default_factory=dict)
    header_rows: set[int] = field(default_factory=set)


def sheet_tail(content: bytes) -> SheetTail:
    """Look for merged cells, links and filtered tables behind the rows of a sheet."""
    found = SheetTail()
    start = max(content.rfind(b"sheetData>"), content.rfind(b"sheetData/>"), 0)
    for match in _AFTER_ROWS.finditer(content, start):
        source = match[2].decode("utf-8", "replace")
        attributes = {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(source)}
        place = area(attributes.get("ref", ""))
        if place is None:
            continue
        if match[1] == b"mergeCell":
            found.merged.append(place)
        elif match[1] == b"autoFilter":
            found.header_rows.add(place.first_row)
        else:
            link = next((value for name, value in attributes.items() if name.endswith(":id")), "")
            found.link_ids[place.first_row, place.first_column] = link
    return found


class SheetRows:
    """The rows of one sheet; `counts` is complete when they have been gone through."""

    def __init__(self, content: bytes, values: CellValues, links: dict[tuple[int, int], str]) -> None:
        self.counts = SheetCounts()
        self._content = content
        self._values = values
        self._links = links
        self._shared_formulas: dict[str, tuple[str, int, int]] = {}

    def read(self, archive: ZipArchive, part: str) -> Iterator[SheetRow]:
        """Yield the rows that have cells. Raises `FileMalformed`."""
        from lxml import etree

        events = etree.iterparse(
            io.BytesIO(self._content),
            events=("end",),
            tag="{*}row",
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            collect_ids=False,
        )
        number = 0
        try:
            for _, row in events:
                number = _whole(row.get("r"), number + 1)
                if not 1 <= number <= LAST_ROW:
                    raise archive.malformed(f"its part {part} has a row {number}")
                self.counts.hidden_rows += row.get("hidden") in _TRUE
                cells = self._cells(row, number)
                if cells and cells[-1].column > LAST_COLUMN:
                    raise archive.malformed(f"its part {part} has a cell outside of any sheet in row {number}")
                if cells:
                    yield SheetRow(number, cells)
                release(row)
        except etree.XMLSyntaxError as error:
            if getattr(error, "code", 0) == etree.ErrorTypes.ERR_NO_MEMORY:
                raise MemoryError from error
            raise archive.malformed(f"its part {part}: {error.msg}") from error

    def _cells(self, row: _Element, number: int) -> list[Cell]:
        namespace = row.tag[:-3]
        value_tag, formula_tag, inline_tag = f"{namespace}v", f"{namespace}f", f"{namespace}is"
        shown, links = self._values.shown, self._links
        cells: list[Cell] = []
        column, in_order = 0, True
        for element in row:
            place = element.get("r")
            letters = place.rstrip("0123456789") if place else ""
            before = column
            column = column_number(letters) if 0 < len(letters) <= _LONGEST_LETTERS else column + 1
            in_order = in_order and column > before
            kind = element.get("t") or "n"
            value, formula = "", None
            for child in element:
                tag = child.tag
                if tag == value_tag:
                    value = child.text or ""
                elif tag == formula_tag:
                    formula = child
                elif tag == inline_tag:
                    value = rich_text(child)
            if not value and formula is not None and kind != "str":
                cells.append(self._not_calculated(formula, number, column))
            elif value:
                text, cell_kind = shown(kind, value, element.get("s") or "")
                link = links.get((number, column)) if links else ""
                if formula is not None and not link:
                    link = _formula_link(formula)
                if link and link != text:
                    text = f"[{text}]({link})"
                if text and not text.isspace():
                    exact = float(value) if cell_kind == "number" else None
                    cells.append(Cell(column, text, cell_kind, exact))
            if formula is not None:
                self._remember(formula, number, column)
        return cells if in_order else sorted({cell.column: cell for cell in cells}.values())

    def _remember(self, formula: _Element, number: int, column: int) -> None:
        if formula.get("t") == "shared" and formula.text:
            self._shared_formulas[formula.get("si", "")] = (formula.text, number, column)

    def _not_calculated(self, formula: _Element, number: int, column: int) -> Cell:
        """A formula whose result was never written down shows itself."""
        place = f"{column_name(column)}{number}"
        self.counts.not_calculated += 1
        self.counts.first_not_calculated = self.counts.first_not_calculated or place
        text = formula.text or ""
        if not text:
            text, row, first_column = self._shared_formulas.get(formula.get("si", ""), ("", number, column))
            text = _moved(text, number - row, column - first_column)
        return Cell(column, f"={unescaped(text)}", "other")


def external_links(tail: SheetTail, targets: dict[str, str]) -> dict[tuple[int, int], str]:
    """The addresses that cells lead to, by their places; links within the workbook are none."""
    found = {place: targets.get(link, "") for place, link in tail.link_ids.items()}
    return {place: target for place, target in found.items() if _LINK.match(target)}


def _moved(formula: str, rows: int, columns: int) -> str:
    """A formula as it reads so many rows further down and columns further right; what has a `$` stays."""

    def shifted(found: re.Match[str]) -> str:
        fixed_column, letters, fixed_row, row = found.groups()
        if letters is None:
            return found[0]
        column = column_number(letters) + (0 if fixed_column else columns)
        return f"{fixed_column}{column_name(max(column, 1))}{fixed_row}{int(row) + (0 if fixed_row else rows)}"

    return _REFERENCE.sub(shifted, formula)


def _formula_link(formula: _Element) -> str:
    found = _LINK_FORMULA.search(formula.text) if formula.text and "HYPERLINK" in formula.text.upper() else None
    return found[1] if found and _LINK.match(found[1]) else ""


def _whole(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 10 else otherwise
