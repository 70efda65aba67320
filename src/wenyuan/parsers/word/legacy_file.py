"""Word 97 to 2003 files: where their texts and tables stand ([MS-DOC] 2.4 and 2.5)."""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from wenyuan.errors import FormatTooOld, LockNotOpened
from wenyuan.parsers.office.legacy_storage import Damaged, stream
from wenyuan.parsers.office.ole_storage import OleStorage

_MAGIC = 0xA5EC
_OLDEST = 0xC1
_ENCRYPTED = 0x0100
_TABLE_1 = 0x0200
_COUNTS_OF_STORIES = 8
_FIRST_COUNT = 3
_COMPRESSED = 0x40000000
_SEPARATOR_PIECES = 0x02
_PIECE = struct.Struct("<HIH")


class Piece(NamedTuple):
    """A run of characters that stands in one place of the file."""

    start: int
    end: int
    offset: int
    width: int
    """Bytes to a character: 1 or 2."""


class WordFile:
    """The streams of a Word file, with the pieces of its text put together.

    Positions count characters of all stories, one after the other, as UTF-16 code units.
    """

    def __init__(self, storage: OleStorage, name: str) -> None:
        self.main = stream(storage, "WordDocument")
        if len(self.main) < 0x22 or self._u16(0) != _MAGIC:
            raise (FormatTooOld(name=name, format="a Word 6 or older document") if self.main else Damaged("no text"))
        if self._u16(2) < _OLDEST:
            raise FormatTooOld(name=name, format="a Word 6 or Word 95 document")
        flags = self._u16(0x0A)
        if flags & _ENCRYPTED:
            raise LockNotOpened(name=name, format="a Word 97 document")
        self.table = stream(storage, "1Table" if flags & _TABLE_1 else "0Table")
        self.data = stream(storage, "Data")
        at = 0x20 + 2 + 2 * self._u16(0x20)
        counts_at, at = at + 2, at + 2 + 4 * self._u16(at)
        self._places_at = at + 2
        self._places = self._u16(at)
        counts = struct.unpack_from(f"<{_COUNTS_OF_STORIES}i", self.main, counts_at + 4 * _FIRST_COUNT)
        if min(counts) < 0:
            raise Damaged("a story has less than no characters")
        self.story_starts = [sum(counts[:number]) for number in range(_COUNTS_OF_STORIES + 1)]
        self.pieces = self._read_pieces()
        self._piece_starts = [piece.start for piece in self.pieces]
        self._by_offset = sorted(self.pieces, key=lambda piece: piece.offset)
        self._offsets = [piece.offset for piece in self._by_offset]
        self.text = "".join(map(self._piece_text, self.pieces))

    def structure(self, number: int) -> bytes:
        """The structure in the table stream whose place is that one in the file's list of places; may be empty."""
        if not 0 <= number < self._places:
            return b""
        offset, size = struct.unpack_from("<II", self.main, self._places_at + 8 * number)
        return self.table[offset : offset + size]

    def after_structure(self, number: int) -> bytes:
        """What follows that structure in the table stream."""
        offset, size = struct.unpack_from("<II", self.main, self._places_at + 8 * number)
        return self.table[offset + size :]

    def offset_of(self, position: int) -> int:
        """Where in the main stream a character stands."""
        index = bisect_right(self._piece_starts, position) - 1
        if index < 0:
            raise Damaged("a character has no place")
        piece = self.pieces[index]
        return piece.offset + (position - piece.start) * piece.width

    def positions_of(self, start: int, end: int) -> list[tuple[int, int]]:
        """Which characters stand between two places of the main stream."""
        found = []
        index = max(0, bisect_right(self._offsets, start) - 1)
        for piece in self._by_offset[index:]:
            if piece.offset >= end:
                break
            first = max(0, start - piece.offset) // piece.width
            last = min(piece.end - piece.start, -((piece.offset - end) // piece.width))
            if first < last:
                found.append((piece.start + first, piece.start + last))
        return found

    def _read_pieces(self) -> list[Piece]:
        structure = self.structure(33)
        at = 0
        while at < len(structure) and structure[at] != _SEPARATOR_PIECES:
            at += 3 + int.from_bytes(structure[at + 1 : at + 3], "little")
        size = int.from_bytes(structure[at + 1 : at + 5], "little")
        table = structure[at + 5 : at + 5 + size]
        count = (len(table) - 4) // 12
        if count < 1:
            raise Damaged("it has no table of the pieces of its text")
        positions = struct.unpack_from(f"<{count + 1}I", table)
        pieces: list[Piece] = []
        for number, (start, end) in enumerate(pairwise(positions)):
            _, place, _ = _PIECE.unpack_from(table, 4 * (count + 1) + 8 * number)
            width = 1 if place & _COMPRESSED else 2
            offset = (place & ~_COMPRESSED) // (2 if width == 1 else 1)
            whole = max(0, len(self.main) - offset) // width
            if end < start or (start and not pieces):
                raise Damaged("the pieces of its text do not follow one another")
            if end - start > whole:
                raise Damaged("a piece of its text is not in the file")
            pieces.append(Piece(start, end, offset, width))
        if pieces[-1].end > len(self.main):
            raise Damaged("its text is longer than the file")
        return pieces

    def _piece_text(self, piece: Piece) -> str:
        data = self.main[piece.offset : piece.offset + (piece.end - piece.start) * piece.width]
        if piece.width == 1:
            return "".join(map(chr, data)) if b"\x81" in data else data.decode("cp1252", "replace")
        text = data.decode("utf-16-le", "surrogatepass")
        # A character beyond the basic plane takes up two positions.
        return text if len(text) == piece.end - piece.start else "".join(map(chr, array("H", data)))

    def _u16(self, offset: int) -> int:
        return int.from_bytes(self.main[offset : offset + 2], "little")
