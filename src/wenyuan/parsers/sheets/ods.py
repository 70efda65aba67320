"""OpenDocument spreadsheets (ISO/IEC 26300): every sheet row by row, each at its own address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wenyuan.parsers.office.zip_archive import opened_archive
from wenyuan.parsers.open_document.parser import properties_of, refuse_encrypted
from wenyuan.parsers.sheets.ods_sheets import OdsSheets
from wenyuan.parsers.sheets.sheet_cells import column_name
from wenyuan.parsers.sheets.sheet_tables import SheetTables
from wenyuan.parsers.sheets.workbook_findings import WorkbookFindings
from wenyuan.types import Facts, ReadEvent

MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"


class OdsParser:
    """Reads spreadsheets of LibreOffice and others."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield a block for each row. Raises `FileMalformed`, `FileOverLimit`, `LockNotOpened`."""
        with opened_archive(path, name, "OpenDocument spreadsheet") as archive:
            refuse_encrypted(archive)
            metadata = properties_of(archive)
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, title=title, metadata=metadata)
            findings = WorkbookFindings()
            sheets = OdsSheets(archive)
            for sheet in sheets.read():
                tables = SheetTables(sheet, findings.typed)
                yield from tables.blocks()
                findings.add(sheet, tables.tables, sheets.hidden_rows)
                row, column = sheets.first_not_calculated
                findings.add_formulas(sheet.name, sheets.not_calculated, f"{column_name(column)}{row}")
            yield from findings.notices()
            yield Facts(MEDIA_TYPE, title=title, metadata=metadata, quality=findings.quality())
