"""The properties of paragraphs and characters in Word 97 files ([MS-DOC] 2.6, 2.8.5, 2.8.6, 2.9.33)."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from wenyuan.parsers.office.paragraph_stream import RowShape
from wenyuan.parsers.word.legacy_file import WordFile

_PAGE = 512
_PAGE_NUMBER = 0x3FFFFF
_SIZES = (1, 1, 2, 4, 2, 2, -1, 3)
_TABLE_DEFINITION = 0xD608
_TAB_CHANGES = 0xC615
_HUGE = (0x6645, 0x6646)

IN_TABLE, ROW_END, DEPTH, INNER_CELL, INNER_ROW_END = 0x2416, 0x2417, 0x6649, 0x244B, 0x244C
STYLE, LIST_LEVEL, LIST, OUTLINE = 0x4600, 0x260A, 0x460B, 0x2640
TABLE_HEADER = 0x3404
_VANISHED, _DELETED, _INSERTED, _SYMBOL = 0x083C, 0x0800, 0x0801, 0x6A09
_MERGED_DOWN = 1
_CELL_BYTES = 20


Run = tuple[int, int, bytes]
"""Where it starts and ends in the main stream, and what its properties are."""


class ParagraphProperties(NamedTuple):
    """The number of a paragraph's style, and its own properties by their codes."""

    style: int
    own: dict[int, bytes]

    def number(self, code: int, otherwise: int = 0) -> int:
        operand = self.own.get(code)
        return int.from_bytes(operand, "little", signed=len(operand) > 1) if operand else otherwise


def modifiers(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the code and the operand of each property modifier in a list of them."""
    at = 0
    while at + 2 < len(data):
        code = int.from_bytes(data[at : at + 2], "little")
        at += 2
        size = _SIZES[code >> 13]
        if code == _TABLE_DEFINITION:
            size = int.from_bytes(data[at : at + 2], "little") + 1
        elif size < 0:
            size = data[at] + 1
            if code == _TAB_CHANGES and size == _PAGE // 2:
                return
        yield code, data[at : at + size]
        at += size


class ParagraphTable:
    """The properties of every paragraph, found by where its end stands in the main stream."""

    def __init__(self, file: WordFile) -> None:
        self._data = file.data
        self._runs = sorted(_runs(file, 13, _paragraph_entries))
        self._starts = [start for start, _, _ in self._runs]

    def at(self, offset: int) -> ParagraphProperties:
        """The properties of the paragraph whose end stands there."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or not self._runs[index][0] <= offset < self._runs[index][1]:
            return ParagraphProperties(0, {})
        content = self._runs[index][2]
        own = dict(modifiers(content[2:]))
        for code in _HUGE:
            if code in own:
                place = int.from_bytes(own[code], "little")
                size = int.from_bytes(self._data[place : place + 2], "little")
                own |= dict(modifiers(self._data[place + 2 : place + 2 + size]))
        style = int.from_bytes(content[:2], "little")
        return ParagraphProperties(int.from_bytes(own[STYLE], "little") if STYLE in own else style, own)


class Marked(NamedTuple):
    """Characters that are not read as they stand."""

    hidden: list[tuple[int, int]]
    deleted: list[tuple[int, int]]
    symbols: dict[int, tuple[int, int]]
    """By position the font and the code of a character from a symbol font."""
    insertions: int


def marked_characters(file: WordFile) -> Marked:
    """Find what is hidden, deleted, inserted, or a symbol."""
    marked = Marked([], [], {}, 0)
    insertions = 0
    for start, end, content in _runs(file, 12, _character_entries):
        for code, operand in modifiers(content):
            if code == _VANISHED and operand[:1] == b"\1":
                marked.hidden.extend(file.positions_of(start, end))
            elif code == _DELETED and operand[:1] == b"\1":
                marked.deleted.extend(file.positions_of(start, end))
            elif code == _INSERTED and operand[:1] == b"\1":
                insertions += 1
            elif code == _SYMBOL and len(operand) == 4:
                font, character = struct.unpack("<HH", operand)
                for first, last in file.positions_of(start, end):
                    marked.symbols.update(dict.fromkeys(range(first, last), (font, character)))
    return marked._replace(insertions=insertions)


def row_shape(properties: ParagraphProperties) -> RowShape:
    """The shape of the row that ends with this paragraph."""
    operand = properties.own.get(_TABLE_DEFINITION, b"")
    count = operand[2] if len(operand) > 2 else 0
    is_header = bool(properties.number(TABLE_HEADER))
    if len(operand) < 3 + 2 * (count + 1):
        return RowShape(is_header=is_header)
    edges = struct.unpack_from(f"<{count + 1}h", operand, 3)
    cells = operand[3 + 2 * (count + 1) :]
    flags = [int.from_bytes(cells[at : at + 2], "little") for at in range(0, _CELL_BYTES * count, _CELL_BYTES)]
    down = tuple(flag >> 5 & 3 == _MERGED_DOWN for flag in flags)
    across = tuple(flag & 3 == _MERGED_DOWN for flag in flags)
    return RowShape(edges[1:], down, across, is_header)


def _runs(
    file: WordFile, structure: int, entries: Callable[[bytes], Iterator[tuple[int, int, bytes]]]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield every run of the pages that a list of pages names."""
    table = file.structure(structure)
    count = (len(table) - 4) // 8
    seen: set[int] = set()
    for number in range(max(0, count)):
        place = 4 * (count + 1) + 4 * number
        page_number = int.from_bytes(table[place : place + 4], "little") & _PAGE_NUMBER
        page = file.main[_PAGE * page_number : _PAGE * (page_number + 1)]
        if len(page) == _PAGE and page_number not in seen:
            seen.add(page_number)
            yield from entries(page)


def _paragraph_entries(page: bytes) -> Iterator[Run]:
    count = min(page[-1], (_PAGE - 5) // 17)
    places = struct.unpack_from(f"<{count + 1}I", page)
    for number in range(count):
        at = 2 * page[4 * (count + 1) + 13 * number]
        size = 2 * page[at] - 1 if page[at] else 2 * page[at + 1]
        at += 1 if page[at] else 2
        yield places[number], places[number + 1], page[at : at + size]


def _character_entries(page: bytes) -> Iterator[Run]:
    count = min(page[-1], (_PAGE - 5) // 5)
    places = struct.unpack_from(f"<{count + 1}I", page)
    for number in range(count):
        at = 2 * page[4 * (count + 1) + number]
        if at:
            yield places[number], places[number + 1], page[at + 1 : at + 1 + page[at]]
