"""PowerPoint 97 to 2003 files: records, and where the current version of each slide stands ([MS-PPT] 2.1 to 2.4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wenyuan.errors import FileOverLimit, FormatTooOld, LockNotOpened
from wenyuan.parsers.office.legacy_storage import Damaged, stream
from wenyuan.parsers.office.ole_storage import OleStorage

DOCUMENT, DOCUMENT_ATOM, SLIDE, SLIDE_ATOM, NOTES = 0x03E8, 0x03E9, 0x03EE, 0x03EF, 0x03F0
SLIDE_LIST, SLIDE_PERSIST, SHOW_INFO, DRAWING = 0x0FF0, 0x03F3, 0x03F9, 0x040C
OUTLINE_REFERENCE, TEXT_HEADER, TEXT_CHARACTERS, TEXT_BYTES, TEXT_STYLE = 0x0F9E, 0x0F9F, 0x0FA0, 0x0FA8, 0x0FA1
DRAWING_CONTAINER, GROUP, SHAPE, TEXT_BOX = 0xF002, 0xF003, 0xF004, 0xF00D

_USER_EDIT, _PERSIST_DIRECTORY = 0x0FF5, 0x1772
_ENCRYPTED = 0xF3D1C4DF
_CONTAINER = 0xF
_MOST_EDITS = 10_000
_HEADER = struct.Struct("<HHI")
_MOST_READINGS = 4


class Record(NamedTuple):
    """A record of a file: its type, its instance and what is in it."""

    kind: int
    instance: int
    content: bytes

    def number(self, offset: int, size: int = 4) -> int:
        """A number in it; 0 where it is too short."""
        return int.from_bytes(self.content[offset : offset + size], "little")


def records(content: bytes) -> Iterator[Record]:
    """Yield the records in a container; one that reaches beyond its end is cut there."""
    at = 0
    while at + _HEADER.size <= len(content):
        version, kind, size = _HEADER.unpack_from(content, at)
        at += _HEADER.size
        yield Record(kind, version >> 4, content[at : at + size])
        at += size


def first(content: bytes, *kinds: int) -> Record | None:
    """The first record of that kind in a container, the first of the next kind in that, and so on."""
    found: Record | None = None
    for kind in kinds:
        found = next((record for record in records(content) if record.kind == kind), None)
        if found is None:
            return None
        content = found.content
    return found


class SlidesFile:
    """The main stream of a PowerPoint file; what has been written over is not seen."""

    def __init__(self, storage: OleStorage, name: str) -> None:
        self._name = name
        self._stream = stream(storage, "PowerPoint Document")
        user = stream(storage, "Current User")
        if not user or not self._stream:
            raise FormatTooOld(name=name, format="a PowerPoint 95 or older presentation")
        if int.from_bytes(user[12:16], "little") == _ENCRYPTED:
            raise LockNotOpened(name=name, format="a PowerPoint 97 presentation")
        self._left = _MOST_READINGS * len(self._stream)
        self._places: dict[int, int] = {}
        self.document = self._read_edits(int.from_bytes(user[16:20], "little"))

    def persistent(self, identifier: int) -> Record | None:
        """The object of that number. Raises `FileOverLimit` where a file shows the same over and over."""
        offset = self._places.get(identifier)
        if offset is None:
            return None
        record = self._record(offset)
        self._left -= len(record.content)
        if self._left < 0:
            raise FileOverLimit(name=self._name, what="slides that stand for one another")
        return record

    def _read_edits(self, offset: int) -> Record:
        """Follow the edits from the last to the first; what is newer goes before."""
        document = 0
        seen: set[int] = set()
        while offset not in seen and len(seen) < _MOST_EDITS:
            seen.add(offset)
            edit = self._record(offset)
            if edit.kind != _USER_EDIT:
                raise Damaged("its list of edits is broken")
            document = document or edit.number(16)
            self._read_directory(edit.number(12))
            offset = edit.number(8)
            if not offset:
                break
        found = self.persistent(document)
        if found is None or found.kind != DOCUMENT:
            raise Damaged("it has no document")
        return found

    def _read_directory(self, offset: int) -> None:
        directory = self._record(offset)
        if directory.kind != _PERSIST_DIRECTORY:
            raise Damaged("its list of objects is broken")
        at = 0
        while at + 4 <= len(directory.content):
            entry = directory.number(at)
            first_identifier, count = entry & 0xFFFFF, entry >> 20
            for number in range(min(count, (len(directory.content) - at - 4) // 4)):
                self._places.setdefault(first_identifier + number, directory.number(at + 4 + 4 * number))
            at += 4 + 4 * count

    def _record(self, offset: int) -> Record:
        if offset + _HEADER.size > len(self._stream):
            raise Damaged("a record stands beyond its end")
        version, kind, size = _HEADER.unpack_from(self._stream, offset)
        start = offset + _HEADER.size
        return Record(kind, version >> 4, self._stream[start : start + size])
