"""The styles and lists of Word 97 files ([MS-DOC] 2.9.271, 2.9.131, 2.9.147)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from wenyuan.parsers.office.blocks import TITLE_LEVEL
from wenyuan.parsers.office.numbers import BINARY_FORMS, LEVELS, Level, ListCounter, is_blank_bullet
from wenyuan.parsers.office.styles import role_of_style
from wenyuan.parsers.word.legacy_file import WordFile
from wenyuan.parsers.word.legacy_properties import LIST, LIST_LEVEL, OUTLINE, modifiers

_PARAGRAPH_STYLE = 1
_DEEPEST_BASE = 50
_BODY_TEXT = 9
_TITLE, _CAPTION = 62, 34
_CONTENTS = range(19, 28)
_HEADINGS = range(1, 10)
_LIST_BYTES, _LEVEL_BYTES, _OVERRIDE_BYTES = 28, 28, 16
_SIMPLE = 1


class Style(NamedTuple):
    """What a style says of its paragraphs: a kind of text, the level of a heading, a list by its number from 1."""

    kind: str = ""
    level: int | None = None
    list_number: int = 0
    depth: int = 0


class WordStyles:
    """The styles of a file by their numbers, each with what it inherits."""

    def __init__(self, file: WordFile) -> None:
        self._entries: dict[int, tuple[Style, int, bool]] = {}
        self._known: dict[int, Style] = {}
        sheet = file.structure(1)
        size = int.from_bytes(sheet[:2], "little")
        count, base_bytes = int.from_bytes(sheet[2:4], "little"), int.from_bytes(sheet[4:6], "little")
        at = 2 + size
        for number in range(count):
            length = int.from_bytes(sheet[at : at + 2], "little")
            if length:
                self._add(number, sheet[at + 2 : at + 2 + length], base_bytes)
            at += 2 + length

    def __getitem__(self, number: int) -> Style:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._resolved(number)
        return known

    def _add(self, number: int, entry: bytes, base_bytes: int) -> None:
        identifier, kind_and_base = struct.unpack_from("<HH", entry)
        if kind_and_base & 0xF != _PARAGRAPH_STYLE:
            return
        length = int.from_bytes(entry[base_bytes : base_bytes + 2], "little")
        at = base_bytes + 2 + 2 * length + 2
        name = entry[base_bytes + 2 : at - 2].decode("utf-16-le", "replace")
        size = int.from_bytes(entry[at : at + 2], "little")
        own = dict(modifiers(entry[at + 4 : at + 2 + size]))
        style, has_level = _own_style(identifier & 0xFFF, name, own)
        self._entries[number] = (style, kind_and_base >> 4, has_level)

    def _resolved(self, number: int) -> Style:
        kind, level, list_number, depth = "", None, 0, 0
        has_level = False
        for _ in range(_DEEPEST_BASE):
            if number not in self._entries:
                break
            own, base, says_level = self._entries[number]
            kind = kind or own.kind
            if says_level and not has_level:
                level, has_level = own.level, True
            if own.list_number and not list_number:
                list_number, depth = own.list_number, own.depth
            number = base
        return Style(kind, level, list_number, depth)


def _own_style(identifier: int, name: str, own: dict[int, bytes]) -> tuple[Style, bool]:
    """What a style says itself, and whether that is something about headings."""
    kind, level = role_of_style(name.partition(",")[0])
    if identifier in _HEADINGS:
        level = identifier
    elif identifier in _CONTENTS:
        kind = "contents"
    elif identifier == _TITLE:
        level = TITLE_LEVEL
    elif identifier == _CAPTION:
        kind = "caption"
    if own.get(OUTLINE):
        level = heading_level(own[OUTLINE][0])
        return Style(kind, level, *_list_of(own)), True
    return Style(kind, level, *_list_of(own)), level is not None


def heading_level(outline: int) -> int | None:
    """The level of a heading by an outline level, which counts from 0; None for body text."""
    return outline + 1 if outline < _BODY_TEXT else None


def _list_of(own: dict[int, bytes]) -> tuple[int, int]:
    return int.from_bytes(own.get(LIST, b""), "little"), int.from_bytes(own.get(LIST_LEVEL, b""), "little")


class WordLists:
    """The lists of a file and their counters."""

    def __init__(self, file: WordFile) -> None:
        self._counter = ListCounter()
        self._lists = _read_lists(file)
        self._numbers: list[int] = []
        self._restarts: dict[int, dict[int, int]] = {}
        self._read_overrides(file.structure(74))

    def label(self, list_number: int, depth: int) -> str:
        """Count the next item and return its label; "•" for any bullet, "" where there is no such list."""
        if not 0 < list_number <= len(self._numbers):
            return ""
        identifier = self._numbers[list_number - 1]
        levels = self._lists.get(identifier, [])
        if not 0 <= depth < len(levels):
            return ""
        start = self._restarts.get(list_number, {}).pop(depth, None)
        if start is not None:
            self._counter.restart(str(identifier), depth, start)
        label = self._counter.label(str(identifier), depth, levels)
        return "•" if levels[depth].form == "bullet" else label.strip()

    def _read_overrides(self, structure: bytes) -> None:
        count = int.from_bytes(structure[:4], "little")
        count = min(count, max(0, len(structure) - 4) // _OVERRIDE_BYTES)
        sizes = []
        for number in range(count):
            at = 4 + _OVERRIDE_BYTES * number
            self._numbers.append(int.from_bytes(structure[at : at + 4], "little"))
            sizes.append(structure[at + 12])
        at = 4 + _OVERRIDE_BYTES * count
        for number, size in enumerate(sizes, 1):
            at += 4
            for _ in range(size):
                start = int.from_bytes(structure[at : at + 4], "little", signed=True)
                flags = int.from_bytes(structure[at + 4 : at + 8], "little")
                at += 8
                if flags >> 4 & 1:
                    self._restarts.setdefault(number, {})[flags & 0xF] = start
                if flags >> 5 & 1:
                    _, at = _level(structure, at)


def _read_lists(file: WordFile) -> dict[int, list[Level]]:
    structure = file.structure(73)
    count = int.from_bytes(structure[:2], "little")
    count = min(count, max(0, len(structure) - 2) // _LIST_BYTES)
    levels = file.after_structure(73) if count else b""
    lists: dict[int, list[Level]] = {}
    at = 0
    for number in range(count):
        entry = structure[2 + _LIST_BYTES * number : 2 + _LIST_BYTES * (number + 1)]
        found = []
        for _ in range(1 if entry[26] & _SIMPLE else LEVELS):
            level, at = _level(levels, at)
            found.append(level)
        lists[int.from_bytes(entry[:4], "little")] = found
    return lists


def _level(data: bytes, at: int) -> tuple[Level, int]:
    """One level of a list, and where the next one begins."""
    fixed = data[at : at + _LEVEL_BYTES]
    if len(fixed) < _LEVEL_BYTES:
        return Level("none", ""), at
    start, form = struct.unpack_from("<iB", fixed)
    at += _LEVEL_BYTES + fixed[24] + fixed[25]
    length = int.from_bytes(data[at : at + 2], "little")
    text = data[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
    pattern = "".join(f"%{ord(one) + 1}" if ord(one) < LEVELS else one for one in text)
    name = BINARY_FORMS.get(form, "decimal")
    if name == "bullet" and is_blank_bullet(text):
        name = "none"
    return Level(name, pattern, max(0, start)), at + 2 + 2 * length
