"""Texts of PowerPoint 97 files: paragraphs with their levels and bullets ([MS-PPT] 2.9)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wenyuan.parsers.slides.legacy_file import TEXT_BYTES, TEXT_CHARACTERS, TEXT_HEADER, TEXT_STYLE, Record
from wenyuan.parsers.text.decoding import without_surrogates

TITLES = frozenset({0, 6})
LISTS = frozenset({1, 7, 8})
NOTES = 2

# The sizes of what a set of paragraph properties may hold, in the order in which they come: bits of the mask, bytes.
_PROPERTIES = (
    *((0x000F, 2), (0x0080, 2), (0x0010, 2), (0x0040, 2), (0x0020, 4), (0x0800, 2), (0x1000, 2)),
    *((0x2000, 2), (0x4000, 2), (0x0100, 2), (0x0400, 2), (0x8000, 2), (0x100000, -1), (0x10000, 2)),
    *((0xE0000, 2), (0x200000, 2)),
)
_HAS_BULLET = 0x0001
_DEEPEST = 4


class SlideParagraph(NamedTuple):
    """A paragraph; `has_bullet` is None where its style decides."""

    text: str
    level: int
    has_bullet: bool | None


class SlideText(NamedTuple):
    """A text and what kind it is: a title, a body, notes and so on ([MS-PPT] 2.13.33)."""

    kind: int
    paragraphs: list[SlideParagraph]


def texts_in(found: Iterable[Record]) -> list[SlideText]:
    """The texts in a row of records; each begins with a header."""
    texts: list[SlideText] = []
    kind, text = -1, ""
    style = b""
    for record in found:
        if record.kind == TEXT_HEADER:
            if kind >= 0:
                texts.append(SlideText(kind, list(_paragraphs(text, style))))
            kind, text, style = record.number(0), "", b""
        elif record.kind == TEXT_CHARACTERS:
            text = record.content.decode("utf-16-le", "replace")
        elif record.kind == TEXT_BYTES:
            text = record.content.decode("latin-1")
        elif record.kind == TEXT_STYLE:
            style = record.content
    if kind >= 0:
        texts.append(SlideText(kind, list(_paragraphs(text, style))))
    return texts


def _paragraphs(text: str, style: bytes) -> Iterator[SlideParagraph]:
    runs = _runs(style)
    covered, level = 0, 0
    has_bullet: bool | None = None
    position = 0
    for paragraph in text.split("\r"):
        while position >= covered:
            run = next(runs, None)
            if run is None:
                covered = len(text) + 1
                break
            covered, level, has_bullet = covered + run[0], run[1], run[2]
        position += len(paragraph) + 1
        if paragraph.strip():
            yield SlideParagraph(without_surrogates(paragraph.replace("\v", "\n")), level, has_bullet)


def _runs(style: bytes) -> Iterator[tuple[int, int, bool | None]]:
    """Yield how many characters each set of paragraph properties is for, its level and whether it has a bullet."""
    at = 0
    while at + 10 <= len(style):
        count, level, mask = struct.unpack_from("<IHI", style, at)
        at += 10
        has_bullet: bool | None = None
        for bits, size in _PROPERTIES:
            if not mask & bits:
                continue
            if bits == 0x000F and mask & _HAS_BULLET:
                has_bullet = bool(int.from_bytes(style[at : at + 2], "little") & _HAS_BULLET)
            at += size if size > 0 else 2 + 4 * int.from_bytes(style[at : at + 2], "little")
        if not count:
            return
        yield count, min(level, _DEEPEST), has_bullet
