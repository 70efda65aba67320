"""The records of an Excel 97 workbook ([MS-XLS], BIFF8) and of Excel 5 before it (BIFF5): their bytes and strings."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

BOF = 0x0809
EOF = 0x000A
CONTINUE = 0x003C
BIFF8 = 0x0600

_WIDE, _PHONETIC, _RICH = 0x01, 0x04, 0x08
_HEAD = struct.Struct("<HH")


class Record(NamedTuple):
    """A record: its type, its data without that of the records that continue it, and where it ends."""

    kind: int
    data: bytes
    end: int


class RecordsDamaged(ValueError):
    """The records do not hold what they must."""


def records(stream: bytes, start: int = 0) -> Iterator[Record]:
    """Yield the records from an offset to the end of the stream; what is cut off at its end is no record."""
    at, size = start, len(stream)
    while at + 4 <= size:
        kind, length = _HEAD.unpack_from(stream, at)
        at += 4
        yield Record(kind, stream[at : at + length], at + length)
        at += length


def continued(stream: bytes, record: Record) -> list[bytes]:
    """The data of a record and of those that continue it."""
    pieces = [record.data]
    for following in records(stream, record.end):
        if following.kind != CONTINUE:
            break
        pieces.append(following.data)
    return pieces


def unicode_string(data: bytes, at: int, length_bytes: int = 2) -> str:
    """A string of BIFF8 that lies within one record: its length in characters, flags, characters."""
    length = int.from_bytes(data[at : at + length_bytes], "little")
    flags = data[at + length_bytes] if len(data) > at + length_bytes else 0
    start = at + length_bytes + 1 + (2 if flags & _RICH else 0) + (4 if flags & _PHONETIC else 0)
    if flags & _WIDE:
        return data[start : start + 2 * length].decode("utf-16-le", "replace")
    return data[start : start + length].decode("latin-1")


def byte_string(data: bytes, at: int, length_bytes: int, codec: str) -> str:
    """A string of BIFF5: its length in bytes, and the bytes."""
    length = int.from_bytes(data[at : at + length_bytes], "little")
    return data[at + length_bytes : at + length_bytes + length].decode(codec, "replace")


class StringTable:
    """Reads the shared strings, which go on across records wherever one is full (SST, 2.4.265 and 2.5.293)."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self._piece = 0
        self._at = 8

    def strings(self) -> list[str]:
        """All strings, without their formats and how they are pronounced. Raises `RecordsDamaged`."""
        count = int.from_bytes(self._pieces[0][4:8], "little")
        found: list[str] = []
        while len(found) < count and self._has_more():
            found.append(self._string())
        return found

    def _has_more(self) -> bool:
        while self._piece < len(self._pieces) and self._at >= len(self._pieces[self._piece]):
            self._piece, self._at = self._piece + 1, 0
        return self._piece < len(self._pieces)

    def _taken(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size and self._has_more():
            part = self._pieces[self._piece][self._at : self._at + size]
            parts.append(part)
            self._at += len(part)
            size -= len(part)
        if size:
            raise RecordsDamaged("the shared strings end too early")
        return b"".join(parts)

    def _string(self) -> str:
        length = int.from_bytes(self._taken(2), "little")
        flags = self._taken(1)[0]
        runs = int.from_bytes(self._taken(2), "little") if flags & _RICH else 0
        phonetic = int.from_bytes(self._taken(4), "little") if flags & _PHONETIC else 0
        text = self._characters(length, flags)
        self._taken(4 * runs)
        self._taken(phonetic)
        return text

    def _characters(self, length: int, flags: int) -> str:
        parts: list[str] = []
        while length:
            if self._at >= len(self._pieces[self._piece]) if self._piece < len(self._pieces) else True:
                # Where a record ends within a string, the next begins with how wide its characters are.
                if not self._has_more():
                    raise RecordsDamaged("the shared strings end too early")
                flags = self._taken(1)[0]
            width = 2 if flags & _WIDE else 1
            room = len(self._pieces[self._piece]) - self._at
            count = min(length, room // width)
            if not count:
                raise RecordsDamaged("a character is cut in two")
            data = self._taken(count * width)
            parts.append(data.decode("utf-16-le", "surrogatepass") if width > 1 else data.decode("latin-1"))
            length -= count
        return "".join(parts)
