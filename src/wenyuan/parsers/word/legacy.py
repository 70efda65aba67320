"""Word 97 to 2003 documents ([MS-DOC]), read as they are: nothing has to be installed for them."""

from __future__ import annotations

import re
import struct
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from wenyuan.parsers.office.blocks import OfficeBlocks
from wenyuan.parsers.office.legacy_storage import opened_legacy
from wenyuan.parsers.office.notices import text_notices
from wenyuan.parsers.office.numbers import numeral
from wenyuan.parsers.office.package import margins_of
from wenyuan.parsers.office.paragraph_stream import ParagraphStream, StreamParagraph
from wenyuan.parsers.text.decoding import without_surrogates
from wenyuan.parsers.word.legacy_file import WordFile
from wenyuan.parsers.word.legacy_properties import (
    DEPTH,
    IN_TABLE,
    INNER_CELL,
    INNER_ROW_END,
    LIST,
    LIST_LEVEL,
    OUTLINE,
    ROW_END,
    ParagraphProperties,
    ParagraphTable,
    marked_characters,
    row_shape,
)
from wenyuan.parsers.word.legacy_styles import WordLists, WordStyles, heading_level
from wenyuan.parsers.word.symbols import symbol
from wenyuan.types import Facts, Notice, ReadEvent

MEDIA_TYPE = "application/msword"

_BATCH = 200
_MAIN, _FOOTNOTES, _HEADERS, _COMMENTS, _ENDNOTES, _BOXES = 0, 1, 2, 4, 5, 6
_CELL_MARK = "\x07"
_ENDS = re.compile("[\r\x07\x0c]")
# Field codes, anchors of notes, pictures and drawings, and marks that show nothing.
_FIELD_BEGINS, _FIELD_RESULT, _FIELD_ENDS = "\x13", "\x14", "\x15"
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x12\x16-\x1d\x1f]")
_SHOWN = {0x0B: "\n", 0x1E: "-", 0xA0: " "}
_HEADER_KINDS = ("header", "header", "footer", "footer", "header", "footer")
_SEPARATORS = 6


class _Reference(NamedTuple):
    """Where in the body a note or comment is referred to."""

    kind: str
    shown: str
    text: str


class LegacyWordParser:
    """Reads the body in its order: notes and comments after the paragraph they belong to, text boxes at the end."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_legacy(path, name, "Word 97") as storage:
            file = WordFile(storage, name)
            metadata = dict(storage.properties())
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, "", title, "", metadata)
            document = _Document(file)
            yield from document.events()
            metadata |= document.margins()
            title = title or document.blocks.top_heading
            yield Facts(MEDIA_TYPE, "", title, "", metadata, document.quality())
            yield from document.notices()


class _Document:
    """One document while it is read."""

    def __init__(self, file: WordFile) -> None:
        self.blocks = OfficeBlocks()
        self._file = file
        self._paragraphs = ParagraphTable(file)
        self._styles = WordStyles(file)
        self._lists = WordLists(file)
        self._marked = marked_characters(file)
        self._left_out = sorted(self._marked.hidden + self._marked.deleted)
        self._fields: list[bool] = []
        self._stream = ParagraphStream(self.blocks)
        self._counts: Counter[str] = Counter()
        self._references = self._read_references()
        self._specials = sorted({*self._references, *self._marked.symbols})

    def events(self) -> Iterator[ReadEvent]:
        """Yield the blocks of the body, then those of text boxes."""
        for story in (_MAIN, _BOXES):
            start, end = self._file.story_starts[story : story + 2]
            for found in _ENDS.finditer(self._file.text, start, end):
                self._paragraph(start, found.start(), found[0])
                start = found.end()
                if len(self.blocks.ready) >= _BATCH:
                    yield from self.blocks.take()
            self._paragraph(start, end, "\r")
            self._stream.close()
            self._fields.clear()
        yield from self.blocks.take()

    def quality(self) -> dict[str, int]:
        counts = self._counts + Counter(
            tables=self.blocks.tables,
            contents_entries=self._stream.contents_entries,
            insertions=self._marked.insertions,
            deletions=len(self._marked.deleted),
        )
        return {key: count for key, count in counts.items() if count}

    def notices(self) -> Iterator[Notice]:
        hidden = sum(end - start for start, end in self._marked.hidden)
        yield from text_notices(len(self._marked.deleted) + self._marked.insertions, hidden)

    # --- Paragraphs ---

    def _paragraph(self, start: int, end: int, mark: str) -> None:
        text = self._shown(start, end)
        references = [self._references.get(position) for position in self._specials_in(start, end)]
        after = [StreamParagraph(f"{one.shown} {one.text}") for one in references if one is not None]
        if end >= len(self._file.text):
            properties = ParagraphProperties(0, {})
        else:
            properties = self._paragraphs.at(self._file.offset_of(end))
        depth = properties.number(DEPTH, 1) if properties.number(IN_TABLE) or properties.number(DEPTH) else 0
        if depth and (properties.number(ROW_END) or properties.number(INNER_ROW_END)):
            self._stream.end_row(depth, row_shape(properties))
            return
        if text.strip() or after:
            self._stream.paragraph(self._with_role(text, properties, after), depth)
        if depth and (mark == _CELL_MARK or properties.number(INNER_CELL)):
            self._stream.end_cell(depth)

    def _with_role(self, text: str, properties: ParagraphProperties, after: list[StreamParagraph]) -> StreamParagraph:
        style = self._styles[properties.style]
        level = style.level
        if OUTLINE in properties.own:
            level = heading_level(properties.number(OUTLINE))
        list_number = properties.number(LIST, style.list_number)
        depth = properties.number(LIST_LEVEL, style.depth)
        label = self._lists.label(list_number, depth) if text.strip() else ""
        return StreamParagraph(text, level, style.kind, label, depth, after)

    def _shown(self, start: int, end: int) -> str:
        """The text between two positions as it is shown."""
        parts = []
        for first, last in self._kept(start, end):
            begin = first
            for position in self._specials_in(first, last):
                parts.append(self._file.text[begin:position])
                parts.append(self._special(position))
                begin = position + 1
            parts.append(self._file.text[begin:last])
        text = "".join(parts)
        if self._fields or _FIELD_BEGINS in text:
            text = self._without_field_codes(text)
        return without_surrogates(_NO_TEXT.sub("", text).translate(_SHOWN))

    def _specials_in(self, start: int, end: int) -> list[int]:
        """The positions where something else is shown than what the text holds."""
        return self._specials[bisect_left(self._specials, start) : bisect_left(self._specials, end)]

    def _special(self, position: int) -> str:
        reference = self._references.get(position)
        if reference is None:
            _, code = self._marked.symbols[position]
            return symbol("symbol", f"{code:x}")
        return reference.shown if reference.kind != "comment" else ""

    def _kept(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        index = max(0, bisect_right(self._left_out, (start, start)) - 1)
        for first, last in self._left_out[index:]:
            if first >= end:
                break
            if start < first:
                yield start, first
            start = max(start, last)
        if start < end:
            yield start, end

    def _without_field_codes(self, text: str) -> str:
        """Of a field only its result is shown; fields may stand within fields, and go on in the next paragraph."""
        shown = []
        for piece in re.split("([\x13\x14\x15])", text):
            if piece == _FIELD_BEGINS:
                self._fields.append(False)
            elif piece == _FIELD_RESULT and self._fields:
                self._fields[-1] = True
            elif piece == _FIELD_ENDS and self._fields:
                self._fields.pop()
            elif all(self._fields):
                shown.append(piece)
        return "".join(shown)

    # --- Notes, comments, margins ---

    def _read_references(self) -> dict[int, _Reference]:
        found: dict[int, _Reference] = {}
        authors = self._authors()
        for kind, story, references, extents, extra in (
            ("footnote", _FOOTNOTES, 2, 3, 2),
            ("endnote", _ENDNOTES, 46, 47, 2),
            ("comment", _COMMENTS, 4, 5, 30),
        ):
            structure = self._file.structure(references)
            count = max(0, len(structure) - 4) // (4 + extra)
            places = struct.unpack_from(f"<{count}I", structure)
            texts = self._stories(story, extents)
            for number, (place, text) in enumerate(zip(places, texts, strict=False), 1):
                self._counts[f"{kind}s"] += 1
                if kind == "comment":
                    at = 4 * (count + 1) + extra * (number - 1) + 20
                    author = authors.get(int.from_bytes(structure[at : at + 2], "little"), "")
                    found[place] = _Reference(kind, f"Comment by {author}:" if author else "Comment:", text)
                else:
                    shown = str(number) if kind == "footnote" else numeral(number, "lowerRoman")
                    found[place] = _Reference(kind, f"[{shown}]", text)
        return found

    def _stories(self, story: int, structure: int) -> list[str]:
        """The texts that one story of the file holds, one after the other."""
        extents = self._file.structure(structure)
        count = len(extents) // 4
        bounds = struct.unpack_from(f"<{count}I", extents)
        start, end = self._file.story_starts[story : story + 2]
        texts = []
        for first, last in pairwise(bounds):
            if start + last <= end and first <= last:
                shown = (self._shown_plain(start + first, start + last)).split()
                texts.append(" ".join(shown))
        return texts

    def _shown_plain(self, start: int, end: int) -> str:
        text = self._without_field_codes(self._file.text[start:end])
        self._fields.clear()
        return without_surrogates(_NO_TEXT.sub(" ", text).translate(_SHOWN))

    def _authors(self) -> dict[int, str]:
        structure = self._file.structure(36)
        authors: dict[int, str] = {}
        at = 0
        while at + 2 <= len(structure):
            size = 2 * int.from_bytes(structure[at : at + 2], "little")
            authors[len(authors)] = structure[at + 2 : at + 2 + size].decode("utf-16-le", "replace")
            at += 2 + size
        return authors

    def margins(self) -> dict[str, str]:
        """What stands at the top and the bottom of every page."""
        found: dict[str, list[str]] = {}
        for number, text in enumerate(self._stories(_HEADERS, 11)[_SEPARATORS:]):
            found.setdefault(_HEADER_KINDS[number % len(_HEADER_KINDS)], []).append(text)
        return margins_of(found)
