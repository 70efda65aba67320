"""What the cells of an Excel workbook hold: shared strings, number formats, and how a cell shows its value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from wenyuan.parsers.office.xml import part_tree, release, streamed_elements
from wenyuan.parsers.office.zip_archive import ZipArchive
from wenyuan.parsers.sheets.number_formats import BUILT_IN_FORMATS, GENERAL, NumberFormat, number_format
from wenyuan.parsers.sheets.sheet_cells import CellKind

if TYPE_CHECKING:
    from lxml.etree import _Element

# ECMA-376 part 1, 22.9.2.19: characters that XML cannot hold are written as numbers.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_RELEASED_TOGETHER = 100
_TRUTH = {"1": "TRUE", "true": "TRUE", "0": "FALSE", "false": "FALSE"}


@dataclass(frozen=True, slots=True)
class CellValues:
    """What is needed to show a cell's value."""

    strings: list[str]
    formats: list[NumberFormat]
    """By the number of the cell's style."""
    from_1904: bool

    def shown(self, kind: str, value: str, style: str) -> tuple[str, CellKind]:
        """What a person sees of a value of that type (ECMA-376 part 1, 18.18.11), and what it is."""
        if kind == "s":
            index = int(value) if value.isascii() and value.isdigit() else -1
            return (self.strings[index] if 0 <= index < len(self.strings) else ""), "text"
        if kind in ("str", "inlineStr"):
            return unescaped(value), "text"
        if kind == "b":
            return _TRUTH.get(value, value), "other"
        if kind == "e":
            return value, "other"
        if kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00"), "date"
        return self._number(value, style)

    def _number(self, value: str, style: str) -> tuple[str, CellKind]:
        try:
            number = float(value)
        except ValueError:
            return value, "text"
        if not isfinite(number):
            return value, "other"
        index = int(style) if style.isascii() and style.isdigit() else 0
        found = self.formats[index] if index < len(self.formats) else number_format(GENERAL)
        text, is_date = found.shown(number, self.from_1904)
        return text, "date" if is_date else "number"


def unescaped(text: str) -> str:
    """The text with the characters that are written as `_x000D_`."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace("\r\n", "\n")


def rich_text(element: _Element) -> str:
    """The text of runs in one format each; how it is pronounced is not said (`rPh`)."""
    if len(element) == 1 and element[0].tag.endswith("}t"):
        return unescaped(element[0].text or "")
    parts: list[str] = []
    for child in element:
        tag = child.tag.rpartition("}")[2]
        if tag == "t":
            parts.append(child.text or "")
        elif tag == "r":
            parts.extend(run.text or "" for run in child.iterchildren("{*}t"))
    return unescaped("".join(parts))


def shared_strings(archive: ZipArchive, part: str) -> list[str]:
    """The strings that cells refer to by number."""
    strings: list[str] = []
    for element in streamed_elements(archive, part, "{*}si"):
        strings.append(rich_text(element))
        # There may be millions; one by one, giving them back takes longer than reading them.
        if len(strings) % _RELEASED_TOGETHER == 0:
            release(element)
    return strings


def cell_formats(archive: ZipArchive, part: str) -> list[NumberFormat]:
    """The number format of each cell style."""
    root = part_tree(archive, part)
    codes = dict(BUILT_IN_FORMATS)
    for element in root.iterfind("{*}numFmts/{*}numFmt"):
        codes[_whole(element.get("numFmtId"))] = element.get("formatCode", GENERAL)
    return [
        number_format(codes.get(_whole(style.get("numFmtId")), GENERAL)) for style in root.iterfind("{*}cellXfs/{*}xf")
    ]


def _whole(value: str | None) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 10 else 0
