"""Excel workbooks (ECMA-376, SpreadsheetML): every sheet row by row, each at its own address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wenyuan.parsers.office.package import core_properties, main_part, related, relations
from wenyuan.parsers.office.xml import part_tree
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.parsers.sheets.sheet_cells import Sheet, area
from wenyuan.parsers.sheets.sheet_tables import SheetTables
from wenyuan.parsers.sheets.workbook_findings import WorkbookFindings
from wenyuan.parsers.sheets.xlsx_remarks import persons, relation_id, sheet_remarks
from wenyuan.parsers.sheets.xlsx_sheets import SheetRows, external_links, sheet_tail
from wenyuan.parsers.sheets.xlsx_values import CellValues, cell_formats, shared_strings
from wenyuan.types import Facts, ReadEvent

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FORMAT = "Excel workbook"
_HIDDEN = ("hidden", "veryHidden")


class XlsxParser:
    """Reads workbooks with and without macros, which are ignored."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield a block for each row. Raises `FileMalformed`, `FileOverLimit`, `FileEncrypted`."""
        with opened_archive(path, name, _FORMAT) as archive:
            metadata = core_properties(archive)
            title = metadata.pop("title", "")
            yield Facts(MEDIA_TYPE, title=title, metadata=metadata)
            findings = WorkbookFindings()
            yield from _Workbook(archive).events(findings)
            yield from findings.notices()
            yield Facts(MEDIA_TYPE, title=title, metadata=metadata, quality=findings.quality())


class _Workbook:
    """The main part of a workbook, and what all its sheets share."""

    def __init__(self, archive: ZipArchive) -> None:
        self._archive = archive
        part = main_part(archive, "xl/workbook.xml")
        self._root = part_tree(archive, part)
        self._relations = relations(archive, part)
        self._persons = persons(archive, related(self._relations, "person"))
        parts = {kind: self._existing(kind)[:1] for kind in ("sharedStrings", "styles")}
        strings = [text for found in parts["sharedStrings"] for text in shared_strings(archive, found)]
        formats = [shown for found in parts["styles"] for shown in cell_formats(archive, found)]
        properties = self._root.find("{*}workbookPr")
        from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._values = CellValues(strings, formats, from_1904)

    def _existing(self, kind: str) -> list[str]:
        return [part for part in related(self._relations, kind) if part in self._archive]

    def events(self, findings: WorkbookFindings) -> Iterator[ReadEvent]:
        for element in self._root.iterfind("{*}sheets/{*}sheet"):
            name = element.get("name", "")
            link = self._relations.get(relation_id(element))
            if link is None or link.target not in self._archive:
                findings.missing_sheets.append(name)
                continue
            yield from self._sheet(name, link.target, element.get("state") in _HIDDEN, findings)

    def _sheet(self, name: str, part: str, is_hidden: bool, findings: WorkbookFindings) -> Iterator[ReadEvent]:
        content = self._archive.read(part)
        if b"<!DOCTYPE" in content[:4096] or b"<!ENTITY" in content[:4096]:
            raise self._archive.malformed(f"its part {part} declares a document type, which no office program writes")
        found = relations(self._archive, part)
        tail = sheet_tail(content)
        links = external_links(tail, {key: link.target for key, link in found.items() if link.is_external})
        rows = SheetRows(content, self._values, links)
        headers = tail.header_rows.union(*map(self._table_header, related(found, "table")))
        remarks = sheet_remarks(self._archive, found, self._persons)
        sheet = Sheet(name, rows.read(self._archive, part), is_hidden, tail.merged, frozenset(headers), remarks)
        tables = SheetTables(sheet, findings.typed)
        yield from tables.blocks()
        findings.add(sheet, tables.tables, rows.counts.hidden_rows)
        findings.add_formulas(name, rows.counts.not_calculated, rows.counts.first_not_calculated)

    def _table_header(self, part: str) -> Iterator[int]:
        """The row in which a declared table names its columns."""
        if part not in self._archive:
            return
        root = part_tree(self._archive, part)
        place = area(root.get("ref", ""))
        if place is not None and root.get("headerRowCount", "1") != "0":
            yield place.first_row
