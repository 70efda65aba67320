"""A sheet of an Excel 97 workbook as a stream of rows ([MS-XLS] 2.1.7.20.5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import isfinite
from operator import itemgetter

from wenyuan.parsers.sheets.number_formats import GENERAL, NumberFormat, number_format
from wenyuan.parsers.sheets.sheet_cells import Area, Cell, CellKind, Remark, SheetRow, column_name
from wenyuan.parsers.sheets.xls_records import BOF, CONTINUE, EOF, byte_string, continued, records, unicode_string

_LABEL_SST, _LABEL, _RICH_LABEL, _STRING = 0x00FD, 0x0204, 0x00D6, 0x0207
_NUMBER, _RK, _MANY_RK, _FORMULA, _TRUTH_OR_ERROR = 0x0203, 0x027E, 0x00BD, 0x0006, 0x0205
_ROW, _MERGED, _LINK, _NOTE, _OBJECT, _TEXT_OBJECT = 0x0208, 0x00E5, 0x01B8, 0x001C, 0x005D, 0x01B6
_SERIES_TEXT = 0x100D
_CELL_RECORDS = frozenset({_LABEL_SST, _LABEL, _RICH_LABEL, _NUMBER, _RK, _FORMULA, _TRUTH_OR_ERROR})
_HIDDEN_ROW = 0x20
_NOT_A_NUMBER = b"\xff\xff"
_BLANK = 3
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_URL_MONIKER = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")

_PLACE = struct.Struct("<HHH")
_DOUBLE = struct.Struct("<d")
_AREA = struct.Struct("<HHHH")


@dataclass(frozen=True, slots=True)
class XlsValues:
    """What the sheets of a workbook share. `codec` is that of its strings, empty for the Unicode of BIFF8."""

    strings: list[str]
    formats: list[NumberFormat]
    from_1904: bool
    codec: str


@dataclass(slots=True)
class XlsAround:
    """What a sheet holds besides its cells."""

    merged: list[Area] = field(default_factory=list)
    links: dict[tuple[int, int], str] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    hidden_rows: int = 0


class XlsSheet:
    """One sheet that begins at an offset of the workbook's stream."""

    def __init__(self, stream: bytes, start: int, values: XlsValues) -> None:
        self._stream = stream
        self._start = start
        self._values = values
        self._links: dict[tuple[int, int], str] = {}
        self.calculated = self.blank = 0
        """How many of its formulas have a result, and how many have none, or a blank one; once its rows are read."""
        self.first_blank = ""

    def around(self) -> XlsAround:
        """Go through the sheet once for everything that is not a cell."""
        found = XlsAround()
        texts: dict[int, str] = {}
        notes: list[tuple[int, int, int, str]] = []
        words: list[str] = []
        item = -1
        for kind, data, end in self._records(in_charts=True):
            if kind == _MERGED:
                found.merged.extend(_merged(data))
            elif kind == _LINK and len(data) >= _AREA.size:
                row, _, column, _ = _AREA.unpack_from(data)
                found.links[row + 1, column + 1] = _url(data)
            elif kind == _ROW and len(data) >= 14:
                found.hidden_rows += bool(data[12] & _HIDDEN_ROW)
            elif kind == _OBJECT and data[:2] == b"\x15\x00":
                item = int.from_bytes(data[6:8], "little")
            elif kind == _TEXT_OBJECT:
                texts[item] = self._object_text(data, end)
            elif kind == _NOTE and len(data) >= 8:
                row, column, _, number = struct.unpack_from("<HHHH", data)
                notes.append((row + 1, column + 1, number, self._text(data, 8)))
            elif kind == _SERIES_TEXT:
                words.append(unicode_string(data, 2, 1))
        self._links = found.links
        for row, column, number, author in notes:
            text, author = texts.pop(number, "").strip(), author.strip()
            said = text if not author or text.startswith(author) else f"{author}: {text}"
            if text:
                found.remarks.append(Remark("comment", Area(row, column, row, column), said))
        for text in [*texts.values(), "; ".join(dict.fromkeys(filter(None, words)))]:
            if text.strip():
                found.remarks.append(Remark("drawing", Area(1, 1, 1, 1), text.strip()))
        return found

    def rows(self) -> Iterator[SheetRow]:
        """Yield the rows that have cells."""
        for number, cells in groupby(self._cells(), key=itemgetter(0)):
            by_column = {cell.column: cell for _, cell in cells if cell.text and not cell.text.isspace()}
            if by_column:
                yield SheetRow(number, [by_column[column] for column in sorted(by_column)])

    def _cells(self) -> Iterator[tuple[int, Cell]]:
        waiting: tuple[int, int] | None = None
        for kind, data, _ in self._records():
            if kind == _STRING and waiting is not None:
                yield self._cell(*waiting, self._text(data, 0), "text")
                waiting = None
            elif kind == _MANY_RK and len(data) >= 6:
                row, first = struct.unpack_from("<HH", data)
                for index in range((len(data) - 6) // 6):
                    style, number = struct.unpack_from("<HI", data, 4 + 6 * index)
                    yield self._cell(row + 1, first + index + 1, *self._number(_rk(number), style))
            elif kind in _CELL_RECORDS and len(data) >= 8:
                row, column, style = _PLACE.unpack_from(data)
                if kind == _FORMULA and len(data) >= 14:
                    self._count_formula(data)
                if kind == _FORMULA and data[12:14] == _NOT_A_NUMBER and data[6] == 0:
                    waiting = row + 1, column + 1
                else:
                    yield self._cell(row + 1, column + 1, *self._shown(kind, data, style))

    def _shown(self, kind: int, data: bytes, style: int) -> tuple[str, CellKind] | tuple[str, CellKind, float]:
        if kind == _LABEL_SST:
            index = int.from_bytes(data[6:10], "little")
            return (self._values.strings[index] if index < len(self._values.strings) else ""), "text"
        if kind in (_LABEL, _RICH_LABEL):
            return self._text(data, 6), "text"
        if kind == _RK:
            return self._number(_rk(int.from_bytes(data[6:10], "little")), style)
        if kind == _TRUTH_OR_ERROR:
            return _truth_or_error(data[6], bool(data[7])), "other"
        if len(data) < 14:
            return "", "other"
        if kind == _FORMULA and data[12:14] == _NOT_A_NUMBER:
            return (_truth_or_error(data[8], data[6] == 2) if data[6] in (1, 2) else ""), "other"
        return self._number(_DOUBLE.unpack_from(data, 6)[0], style)

    def _count_formula(self, data: bytes) -> None:
        """Take note of whether a formula has a result; programs that calculate nothing leave all of them blank."""
        if data[12:14] != _NOT_A_NUMBER or data[6] != _BLANK:
            self.calculated += 1
        else:
            row, column, _ = _PLACE.unpack_from(data)
            self.first_blank = self.first_blank or f"{column_name(column + 1)}{row + 1}"
            self.blank += 1

    def _number(self, number: float, style: int) -> tuple[str, CellKind, float]:
        if not isfinite(number):
            return "", "other", 0.0
        formats = self._values.formats
        shown = (formats[style] if style < len(formats) else number_format(GENERAL)).shown(
            number, self._values.from_1904
        )
        return shown.text, "date" if shown.is_date else "number", number

    def _cell(self, row: int, column: int, text: str, kind: CellKind, number: float = 0.0) -> tuple[int, Cell]:
        link = self._links.get((row, column), "")
        text = f"[{text}]({link})" if link and link != text else text
        return row, Cell(column, text, kind, number if kind == "number" else None)

    def _text(self, data: bytes, at: int) -> str:
        codec = self._values.codec
        return byte_string(data, at, 2, codec) if codec else unicode_string(data, at)

    def _object_text(self, data: bytes, end: int) -> str:
        length = int.from_bytes(data[10:12], "little")
        following = next(records(self._stream, end), None)
        if not length or following is None or following.kind != CONTINUE:
            return ""
        # The text, then its formats, in a record of their own; a long text goes on in several.
        parts: list[str] = []
        for piece in continued(self._stream, following):
            if length <= 0 or not piece:
                break
            part = piece[1:].decode("utf-16-le" if piece[0] & 1 else "latin-1", "replace")[:length]
            parts.append(part)
            length -= len(part)
        return "".join(parts)

    def _records(self, in_charts: bool = False) -> Iterator[tuple[int, bytes, int]]:
        """The records of the sheet, with those of the charts on it or without."""
        depth = 0
        for record in records(self._stream, self._start):
            if record.kind == BOF:
                depth += 1
            elif record.kind == EOF:
                depth -= 1
                if depth <= 0:
                    return
            elif depth == 1 or (in_charts and record.kind == _SERIES_TEXT):
                yield record


def _merged(data: bytes) -> Iterator[Area]:
    count = min(int.from_bytes(data[:2], "little"), (len(data) - 2) // _AREA.size)
    for index in range(count):
        first_row, last_row, first_column, last_column = _AREA.unpack_from(data, 2 + index * _AREA.size)
        yield Area(first_row + 1, first_column + 1, last_row + 1, last_column + 1)


def _rk(number: int) -> float:
    """A number in 30 bits ([MS-XLS] 2.5.122): an integer or the upper half of a double, maybe a hundredth of it."""
    if number & 2:
        value = float((number - (1 << 32) if number >> 31 else number) >> 2)
    else:
        value = float(_DOUBLE.unpack(struct.pack("<Q", (number & ~3) << 32))[0])
    return value / 100 if number & 1 else value


def _truth_or_error(value: int, is_error: bool) -> str:
    if is_error:
        return _ERRORS.get(value, "#ERROR!")
    return "TRUE" if value else "FALSE"


def _url(data: bytes) -> str:
    at = data.find(_URL_MONIKER)
    if at < 0:
        return ""
    size = int.from_bytes(data[at + 16 : at + 20], "little")
    url = data[at + 20 : at + 20 + size].decode("utf-16-le", "replace").split("\0")[0]
    return url if url.lower().startswith(("http:", "https:", "mailto:", "ftp:")) else ""
