"""Writes compound files ([MS-CFB] version 3), so that messages of Outlook can be made for tests."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_FREE, _END, _FAT, _NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


@dataclass
class _Entry:
    name: str
    kind: int
    content: bytes = b""
    children: list[int] = field(default_factory=list)
    start: int = _END
    size: int = 0


def compound_file(streams: dict[str, bytes]) -> bytes:
    """A compound file with these streams; `/` in a name leads into a storage."""
    entries = [_Entry("Root Entry", 5)]
    numbers: dict[str, int] = {"": 0}
    for path, content in streams.items():
        *folders, name = path.split("/")
        parent = ""
        for folder in folders:
            inner = f"{parent}/{folder}" if parent else folder
            if inner not in numbers:
                numbers[inner] = len(entries)
                entries[numbers[parent]].children.append(len(entries))
                entries.append(_Entry(folder, 1))
            parent = inner
        entries[numbers[parent]].children.append(len(entries))
        entries.append(_Entry(name, 2, content, size=len(content)))
    sectors: list[bytes] = []
    fat: list[int] = []
    mini = b""
    mini_fat: list[int] = []
    for entry in entries[1:]:
        if entry.kind == 2 and entry.content:
            if entry.size < _CUTOFF:
                count = -(-entry.size // _MINI)
                entry.start = len(mini_fat)
                mini_fat += [*range(entry.start + 1, entry.start + count), _END]
                mini += entry.content.ljust(count * _MINI, b"\0")
            else:
                entry.start = _add(sectors, fat, entry.content)
    root = entries[0]
    root.size = len(mini)
    root.start = _add(sectors, fat, mini) if mini else _END
    mini_start = _add(sectors, fat, b"".join(struct.pack("<I", found) for found in mini_fat), b"\xff")
    directory = b"".join(_directory_entry(entry, entries) for entry in entries)
    directory_start = _add(sectors, fat, directory)
    fat_sectors = 1
    while fat_sectors * 128 < len(fat) + fat_sectors:
        fat_sectors += 1
    first_fat = len(sectors)
    fat += [_FAT] * fat_sectors
    table = b"".join(struct.pack("<I", found) for found in fat).ljust(fat_sectors * _SECTOR, b"\xff")
    difat = [first_fat + number for number in range(fat_sectors)]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, fat_sectors, directory_start, 0, _CUTOFF, mini_start,
                          -(-len(mini_fat) * 4 // _SECTOR), _END, 0, difat[0])  # fmt: skip
    header += struct.pack(f"<{len(difat) - 1}I", *difat[1:])
    return header.ljust(_SECTOR, b"\xff") + b"".join(sectors) + table


def _add(sectors: list[bytes], fat: list[int], content: bytes, filler: bytes = b"\0") -> int:
    if not content:
        return _END
    start, count = len(sectors), -(-len(content) // _SECTOR)
    padded = content.ljust(count * _SECTOR, filler)
    sectors += [padded[at : at + _SECTOR] for at in range(0, len(padded), _SECTOR)]
    fat += [*range(start + 1, start + count), _END]
    return start


def _directory_entry(entry: _Entry, entries: list[_Entry]) -> bytes:
    name = entry.name.encode("utf-16-le")
    left, right = _NONE, _NONE
    for parent in entries:
        ordered = sorted(parent.children, key=lambda number: (len(entries[number].name), entries[number].name.upper()))
        number = next((found for found in ordered if entries[found] is entry), None)
        if number is not None and ordered.index(number) + 1 < len(ordered):
            # A tree that leans to one side is a tree.
            right = ordered[ordered.index(number) + 1]
    ordered = sorted(entry.children, key=lambda number: (len(entries[number].name), entries[number].name.upper()))
    child = ordered[0] if ordered else _NONE
    packed = name.ljust(64, b"\0") + struct.pack("<HBBIII", len(name) + 2, entry.kind, 1, left, right, child)
    return packed + bytes(36) + struct.pack("<IQ", entry.start, entry.size)
