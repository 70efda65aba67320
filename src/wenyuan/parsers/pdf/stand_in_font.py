"""A font for the Chinese, Japanese and Korean letters of PDF files that bring none, on machines that have none either.

PDFium takes the size of each letter from the font, and leaves out what has no size: of a file that names a font
without bringing it, vertical text and letters that are printed one by one would be lost without a word. In the font
made here each such letter is a box as wide and high as they all are, which is also what is drawn for it, as
is usual for letters that no font has.
"""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

_FIRST, _LAST = 0x2E80, 0xFFEE
_EM, _ASCENT, _DESCENT = 1000, 880, -120

_CHARSETS = frozenset(
    (
        pdfium.FXFONT_SHIFTJIS_CHARSET,
        pdfium.FXFONT_HANGEUL_CHARSET,
        pdfium.FXFONT_GB2312_CHARSET,
        pdfium.FXFONT_CHINESEBIG5_CHARSET,
    )
)
_HANDLE = 1
"""Stands for the font; PDFium's own handles are addresses of objects, which are never odd."""


@cache
def offer_stand_in_font() -> None:
    """Offer the font to PDFium from now on; it is taken only where no font of the machine will do."""
    _StandIn().setup()


class _StandIn(pypdfium2.PdfSysfontBase):  # type: ignore[misc]
    """What PDFium asks for fonts."""

    def MapFont(self, _: Any, weight: int, italic: int, charset: int, pitch: int, face: Any, exact: Any) -> Any:  # noqa: N802 - PDFium's name
        found = self.default.MapFont(self.default, weight, italic, charset, pitch, face, exact)
        return found or (_HANDLE if charset in _CHARSETS else None)

    def GetFontData(self, _: Any, font: Any, table: int, buffer: Any, size: int) -> int:  # noqa: N802 - PDFium's name
        if font != _HANDLE:
            return int(self.default.GetFontData(self.default, font, table, buffer, size))
        data = font_file() if table == 0 else b""
        if buffer and size >= len(data):
            ctypes.memmove(buffer, data, len(data))
        return len(data)

    def GetFaceName(self, _: Any, font: Any, buffer: Any, size: int) -> int:  # noqa: N802 - PDFium's name
        return 0 if font == _HANDLE else int(self.default.GetFaceName(self.default, font, buffer, size))

    def GetFontCharset(self, _: Any, font: Any) -> int:  # noqa: N802 - PDFium's name
        return 1 if font == _HANDLE else int(self.default.GetFontCharset(self.default, font))

    def DeleteFont(self, _: Any, font: Any) -> None:  # noqa: N802 - PDFium's name
        if font != _HANDLE:
            self.default.DeleteFont(self.default, font)


@cache
def font_file() -> bytes:
    """The font as an OpenType file (ISO/IEC 14496-22): an empty letter, and a box that is every other one."""
    box = struct.pack(">hhhhhHH4B", 1, 0, _DESCENT, _EM, _ASCENT, 3, 0, 1, 1, 1, 1)
    box += struct.pack(">8h", 0, _EM, 0, -_EM, _DESCENT, 0, _EM, 0)
    tables = {
        b"cmap": struct.pack(">HHHHI", 0, 1, 3, 1, 12) + _character_map(),
        b"glyf": box,
        b"head": struct.pack(
            ">IIIIHHqqhhhhHHhhh",
            1 << 16,
            1 << 16,
            0,
            0x5F0F3CF5,
            0,
            _EM,
            0,
            0,
            0,
            _DESCENT,
            _EM,
            _ASCENT,
            0,
            8,
            2,
            1,
            0,
        ),
        b"hhea": struct.pack(">IhhhHhhhhhh8xhH", 1 << 16, _ASCENT, _DESCENT, 0, _EM, 0, 0, _EM, 1, 0, 0, 0, 1),
        b"hmtx": struct.pack(">Hhh", _EM, 0, 0),
        b"loca": struct.pack(">III", 0, 0, len(box)),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 1 << 16, 2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    }
    directory, contents = b"", b""
    start = 12 + 16 * len(tables)
    for tag, table in sorted(tables.items()):
        directory += tag + struct.pack(">III", 0, start + len(contents), len(table))
        contents += table + bytes(-len(table) % 4)
    return struct.pack(">IHHHH", 1 << 16, len(tables), 64, 2, 48) + directory + contents


def _character_map() -> bytes:
    """Every letter is the box: a subtable of format 4, of two segments."""
    letters = struct.pack(">H", 1) * (_LAST - _FIRST + 1)
    segments = struct.pack(">HHHHHhhHH", _LAST, 0xFFFF, 0, _FIRST, 0xFFFF, 0, 1, 4, 0)
    return struct.pack(">HHHHHHH", 4, 0xFFFF, 0, 4, 4, 1, 0) + segments + letters
