"""Excel 97 workbooks and those of Excel 5 ([MS-XLS]): every sheet row by row, each at its own address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wenyuan.errors import LockNotOpened
from wenyuan.parsers.office.ole_storage import OleStorage, opened_storage
from wenyuan.parsers.office.summary_information import codec_of
from wenyuan.parsers.sheets.number_formats import BUILT_IN_FORMATS, GENERAL, number_format
from wenyuan.parsers.sheets.sheet_cells import Sheet
from wenyuan.parsers.sheets.sheet_tables import SheetTables
from wenyuan.parsers.sheets.workbook_findings import WorkbookFindings
from wenyuan.parsers.sheets.xls_records import (
    BIFF8,
    BOF,
    EOF,
    RecordsDamaged,
    StringTable,
    byte_string,
    continued,
    records,
    unicode_string,
)
from wenyuan.parsers.sheets.xls_sheets import XlsSheet, XlsValues
from wenyuan.types import Facts, ReadEvent

MEDIA_TYPE = "application/vnd.ms-excel"
_FILE_PASSWORD, _CODE_PAGE, _FROM_1904, _SHEET = 0x002F, 0x0042, 0x0022, 0x0085
_FORMAT, _STYLE, _STRINGS = 0x041E, 0x00E0, 0x00FC
_WORKSHEET = 0


class XlsParser:
    """Reads workbooks of Excel 5 to 2003; macros are ignored."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield a block for each row. Raises `FileMalformed`, `LockNotOpened`."""
        with opened_storage(path, name, "Excel 97 workbook") as storage:
            metadata = storage.properties()
            title = metadata.pop("title", "")
            yield Facts(MEDIA_TYPE, title=title, metadata=metadata)
            stream = _workbook(storage)
        workbook = _globals(stream, storage)
        findings = WorkbookFindings()
        calculated, blank = 0, list[tuple[str, int, str]]()
        for sheet_name, start, is_hidden in workbook.sheets:
            if start >= len(stream):
                findings.missing_sheets.append(sheet_name)
                continue
            source = XlsSheet(stream, start, workbook.values)
            around = source.around()
            sheet = Sheet(sheet_name, source.rows(), is_hidden, around.merged, remarks=around.remarks)
            tables = SheetTables(sheet, findings.typed)
            yield from tables.blocks()
            findings.add(sheet, tables.tables, around.hidden_rows)
            calculated += source.calculated
            blank.append((sheet_name, source.blank, source.first_blank))
        if not calculated:
            findings.add_blank_formulas(blank)
        yield from findings.notices()
        yield Facts(MEDIA_TYPE, title=title, metadata=metadata, quality=findings.quality())


@dataclass(slots=True)
class _Globals:
    """What stands before the sheets."""

    values: XlsValues
    sheets: list[tuple[str, int, bool]] = field(default_factory=list)
    """Name, offset, whether it is hidden."""


def _workbook(storage: OleStorage) -> bytes:
    for stream in ("Workbook", "Book"):
        if stream in storage:
            return storage.read(stream)
    raise storage.malformed("it holds no workbook")


def _globals(stream: bytes, storage: OleStorage) -> _Globals:
    codec, from_1904, is_biff8 = "cp1252", False, True
    codes = dict(BUILT_IN_FORMATS)
    styles: list[int] = []
    strings: list[str] = []
    sheets: list[tuple[str, int, bool]] = []
    for record in records(stream):
        kind, data = record.kind, record.data
        if kind == BOF:
            is_biff8 = int.from_bytes(data[:2], "little") >= BIFF8
        elif kind == EOF:
            break
        elif kind == _FILE_PASSWORD:
            raise LockNotOpened(name=storage.name, format="an Excel 97 workbook")
        elif kind == _CODE_PAGE:
            codec = codec_of(int.from_bytes(data[:2], "little"))
        elif kind == _FROM_1904:
            from_1904 = data[:1] == b"\x01"
        elif kind == _FORMAT and len(data) > 2:
            code = unicode_string(data, 2) if is_biff8 else byte_string(data, 2, 1, codec)
            codes[int.from_bytes(data[:2], "little")] = code
        elif kind == _STYLE:
            styles.append(int.from_bytes(data[2:4], "little"))
        elif kind == _STRINGS:
            try:
                strings = StringTable(continued(stream, record)).strings()
            except RecordsDamaged as error:
                raise storage.malformed(str(error)) from error
        elif kind == _SHEET and len(data) > 7 and data[5] == _WORKSHEET:
            name = unicode_string(data, 6, 1) if is_biff8 else byte_string(data, 6, 1, codec)
            sheets.append((name, int.from_bytes(data[:4], "little"), bool(data[4] & 3)))
    formats = [number_format(codes.get(style, GENERAL)) for style in styles]
    return _Globals(XlsValues(strings, formats, from_1904, "" if is_biff8 else codec), sheets)
