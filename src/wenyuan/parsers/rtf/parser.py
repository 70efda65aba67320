"""Rich Text Format (specification 1.9.1), as Word, WPS, LibreOffice and many others write it."""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Iterator
from copy import copy
from pathlib import Path

from wenyuan.errors import FileMalformed, FileOverLimit
from wenyuan.parsers.office.blocks import OfficeBlocks
from wenyuan.parsers.office.notices import object_notices, text_notices
from wenyuan.parsers.office.numbers import numeral
from wenyuan.parsers.office.package import cleaned_properties, margins_of
from wenyuan.parsers.office.paragraph_stream import ParagraphStream, StreamParagraph
from wenyuan.parsers.rtf.state import Flow, Paragraph, Row, State, Tables, heading_level
from wenyuan.parsers.rtf.tokens import Token, rtf_tokens, run_text
from wenyuan.parsers.rtf.words import CHARACTERS, DATES, DESTINATIONS, HEADERS, INFORMATION, SKIPPED, SYMBOLS
from wenyuan.parsers.source_file import opened
from wenyuan.parsers.text.decoding import without_surrogates
from wenyuan.types import Block, Facts, Notice, ReadEvent

MEDIA_TYPE = "application/rtf"

_DEEPEST_GROUP = 5_000
_BATCH = 200
_TYPED_LABEL = re.compile(r"([•·–▪◦*-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)])\t")
"""A number or bullet that is written as text before a hanging paragraph, and no list."""
_PARAGRAPH_ENDS = frozenset("par sect".split())


class RtfParser:
    """Reads the body in its order, with notes, comments and text boxes after the paragraph they belong to."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            document = _Document(data, name)
            yield Facts(MEDIA_TYPE)
            yield from document.events()
            yield document.facts()
            yield from document.notices()


def rtf_text_blocks(content: bytes, name: str) -> Iterator[Block]:
    """The body of a text in this format, such as a message's; see `RtfParser`. Raises `FileMalformed`."""
    for event in _Document(content, name).events():
        if isinstance(event, Block):
            yield event


class _Document:
    """One document while it is read."""

    def __init__(self, data: bytes | mmap.mmap, name: str) -> None:
        self._data = data
        self._name = name
        self._tables = Tables()
        self._stream = ParagraphStream(OfficeBlocks())
        self._state = State()
        self._stack: list[tuple[State, str]] = []
        """For each open group the state around it, and the destination that it has begun if any."""
        self._begun = ""
        self._optional = False
        self._bytes = bytearray()
        self._to_skip = 0
        self._captured: list[str] = []
        self._flow = Flow()
        self._flows: list[tuple[Flow, Paragraph]] = []
        self._paragraph = Paragraph()
        self._set_aside = Paragraph()
        self._row = Row()
        self._outer_rows: list[Row] = []
        self._font = 0
        self._style = 0
        self._style_base = -1
        self._style_level: int | None = None
        self._author = ""
        self._is_endnote = False
        self._date: dict[str, int] = {}
        self._information: dict[str, str] = {}
        self._margins: dict[str, list[str]] = {"header": [], "footer": []}
        self._counts: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()

    def events(self) -> Iterator[ReadEvent]:
        """Yield the blocks of the body."""
        if not self._data[:5].startswith(b"{\\rtf"):
            raise FileMalformed(name=self._name, format="RTF", reason="it does not begin like one")
        blocks = self._stream.blocks
        for token in rtf_tokens(self._data):
            self._take(token)
            if len(blocks.ready) >= _BATCH:
                yield from blocks.take()
        self._counts["groups_left_open"] = len(self._stack)
        while self._stack:
            self._end_group()
        self._end_paragraph()
        self._stream.close()
        yield from blocks.take()

    def facts(self) -> Facts:
        metadata = cleaned_properties(self._information)
        title = str(metadata.pop("title", "")) or self._stream.blocks.top_heading
        metadata |= margins_of(self._margins)
        counts = self._counts + Counter(
            tables=self._stream.blocks.tables, contents_entries=self._stream.contents_entries
        )
        left_out = ("hidden", "groups_left_open")
        return Facts(MEDIA_TYPE, self._tables.code_page, title, "", metadata, _without(counts, left_out))

    def notices(self) -> Iterator[Notice]:
        if self._counts["groups_left_open"] > 0:
            yield Notice("cut-short", "The file ends in the middle: what was there has been read.")
        yield from text_notices(self._counts["deletions"] + self._counts["insertions"], self._counts["hidden"])
        yield from object_notices(self._counts["embedded_objects"])

    def _take(self, token: Token) -> None:
        kind, value, number = token
        if kind == "text" or kind == "bytes":
            self._text(value)
        elif kind == "word":
            self._word(value.decode("ascii"), number)
        elif kind == "run":
            self._run(value)
        elif kind == "symbol":
            self._symbol(value)
        elif value == b"{":
            self._begin_group()
        else:
            self._end_group()

    # --- Groups and destinations ---

    def _begin_group(self) -> None:
        self._flush()
        self._to_skip = 0
        if len(self._stack) >= _DEEPEST_GROUP:
            raise FileOverLimit(name=self._name, what=f"groups more than {_DEEPEST_GROUP:,} deep")
        self._stack.append((self._state, self._begun))
        self._state = self._state.inherited()
        self._begun = ""

    def _end_group(self) -> None:
        self._flush()
        self._to_skip = 0
        self._optional = False
        if not self._stack:
            return
        if self._begun:
            self._end_destination(self._begun)
        elif self._state.destination in ("fonttbl", "stylesheet") and not self._state.skipped:
            self._end_entry()
        self._state, self._begun = self._stack.pop()

    def _begin_destination(self, name: str) -> None:
        self._flush()
        state = self._state
        if name == "upr":
            state.waits_for_unicode = state.destination
            state.skipped = True
        elif name == "ud":
            state.skipped = not state.waits_for_unicode
            state.destination = state.waits_for_unicode or state.destination
            state.waits_for_unicode = ""
        elif state.skipped:
            return
        elif name in ("footnote", "annotation", "shptxt", "dptxbxtext") or name in HEADERS:
            self._begin_flow(name)
        else:
            if name in ("listtext", "pntext"):
                self._set_aside = copy(self._paragraph)
                self._flow.label = ""
            elif name == "nesttableprops":
                self._outer_rows.append(self._row)
            if name not in ("field", "fldrslt", "result", "mmath", "moMath", "mr", "shpinst", "shp", "do"):
                state.destination = name
                self._captured = []
            self._begun = name

    def _begin_flow(self, name: str) -> None:
        if name in ("footnote", "annotation"):
            self._is_endnote = False
            self._flow.parts.append("")
        self._flows.append((self._flow, self._paragraph))
        self._flow, self._paragraph = Flow(), Paragraph()
        self._state.destination = "body"
        self._state.hidden = False
        self._begun = name

    def _end_destination(self, name: str) -> None:
        text = "".join(self._captured)
        if name in ("footnote", "annotation", "shptxt", "dptxbxtext") or name in HEADERS:
            self._end_flow(name)
        elif name in ("listtext", "pntext"):
            self._paragraph = self._set_aside
        elif name == "nesttableprops":
            self._row = self._outer_rows.pop()
        elif name in INFORMATION:
            self._information[INFORMATION[name]] = _whole(text)
        elif name in DATES:
            date = [self._date.get(unit, 0) for unit in ("yr", "mo", "dy", "hr", "min")]
            self._information[DATES[name]] = "{:04}-{:02}-{:02}T{:02}:{:02}:00".format(*date) if date[0] else ""
            self._date = {}
        elif name == "atnauthor":
            self._author = _whole(text)
        elif name in ("fonttbl", "stylesheet"):
            self._end_entry()

    def _end_flow(self, name: str) -> None:
        self._end_paragraph()
        inner = self._flow
        self._flow, self._paragraph = self._flows.pop()
        text = " ".join(" ".join(paragraph.numbered_text for paragraph in inner.paragraphs).split())
        hanging = [one for paragraph in inner.paragraphs for one in paragraph.after]
        if name in HEADERS:
            self._margins[HEADERS[name]].append(text)
        elif name == "footnote":
            kind = "endnotes" if self._is_endnote else "footnotes"
            self._notes[kind] += 1
            self._counts[kind] += 1
            number = self._notes[kind]
            mark = f"[{numeral(number, 'lowerRoman') if self._is_endnote else number}]"
            at = max(index for index, part in enumerate(self._flow.parts) if not part)
            self._flow.parts[at] = mark
            self._flow.after += [StreamParagraph(f"{mark} {text}"), *hanging]
        elif name == "annotation":
            self._counts["comments"] += bool(text)
            by = f"Comment by {self._author}: {text}" if self._author else f"Comment: {text}"
            self._flow.after += [StreamParagraph(by if text else ""), *hanging]
            self._author = ""
        else:
            self._counts["text_boxes"] += 1
            self._flow.after += inner.paragraphs

    def _end_entry(self) -> None:
        """A font or a style has been read."""
        name = "".join(self._captured)
        self._captured = []
        if self._state.destination == "fonttbl":
            self._tables.name_font(self._font, name)
        elif name.strip():
            self._tables.add_style(self._style, self._style_base, self._style_level, _whole(name))
            self._style, self._style_base, self._style_level = 0, -1, None

    # --- Text ---

    def _text(self, data: bytes) -> None:
        if self._state.skipped:
            return
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            data, self._bytes = bytes(self._bytes), bytearray()
            self._put(self._tables.decoded(data, self._state.font))

    def _put(self, text: str) -> None:
        state = self._state
        if state.skipped:
            return
        if state.deleted:
            return
        if state.destination == "body":
            if state.hidden:
                self._counts["hidden"] += len(text)
            else:
                self._flow.parts.append(text)
        elif state.destination in ("listtext", "pntext"):
            self._flow.label += text
        else:
            self._captured.append(text)

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._optional = True
        elif self._to_skip:
            self._to_skip -= 1
        elif symbol in (b"\n", b"\r"):
            self._word("par", None)
        elif symbol in SYMBOLS:
            self._flush()
            self._put(SYMBOLS[symbol])

    def _run(self, run: bytes) -> None:
        if self._state.unicode_skip != 1:
            for token in rtf_tokens(run, with_runs=False):
                self._take(token)
        elif not self._state.skipped:
            self._flush()
            self._to_skip = 0
            self._put(run_text(run))

    def _unicode(self, number: int) -> None:
        self._flush()
        self._put(chr(number % 0x10000))
        self._to_skip = self._state.unicode_skip

    # --- Control words ---

    def _word(self, word: str, number: int | None) -> None:
        optional, self._optional = self._optional, False
        if word == "u":
            self._unicode(number or 0)
            return
        self._to_skip = 0
        if word in DESTINATIONS:
            self._begin_destination(word)
        elif optional or word in SKIPPED:
            self._flush()
            self._state.skipped = True
        elif self._state.skipped:
            return
        elif word in CHARACTERS:
            self._flush()
            self._put(CHARACTERS[word])
        elif self._state.destination in ("stylesheet", "listtable", "listoverridetable", "fonttbl", *DATES):
            self._table_word(word, number if number is not None else 0)
        elif not self._character_word(word, number) and not self._paragraph_word(word, number):
            self._row_word(word, number)

    def _character_word(self, word: str, number: int | None) -> bool:
        state = self._state
        if word == "f":
            self._flush()
            state.font = number or 0
        elif word == "plain":
            self._flush()
            state.font, state.hidden, state.deleted = -1, False, False
        elif word == "v":
            self._flush()
            state.hidden = number != 0
        elif word == "deleted":
            self._flush()
            state.deleted = number != 0
            self._counts["deletions"] += state.deleted
        elif word == "revised":
            self._counts["insertions"] += number != 0
        elif word == "uc":
            state.unicode_skip = max(0, number or 0)
        elif word == "ansicpg":
            self._tables.set_code_page(number or 0)
        elif word == "deff":
            self._tables.default_font = number or 0
        elif word == "mac":
            self._tables.set_code_page(10_000)
        elif word == "object":
            self._counts["embedded_objects"] += 1
        else:
            return False
        return True

    def _paragraph_word(self, word: str, number: int | None) -> bool:
        paragraph = self._paragraph
        if word in _PARAGRAPH_ENDS:
            self._end_paragraph()
        elif word == "pard":
            self._flush()
            self._paragraph = Paragraph()
        elif word == "s":
            paragraph.set_style(number or 0, len(self._stack))
        elif word == "fi":
            paragraph.hangs = (number or 0) < 0
        elif word == "outlinelevel":
            paragraph.level = heading_level(number or 0)
        elif word == "intbl":
            paragraph.depth = max(1, paragraph.depth)
        elif word == "itap":
            paragraph.depth = max(0, number or 0)
        elif word == "ls":
            paragraph.list_id = number or 0
        elif word == "ilvl":
            paragraph.list_depth = max(0, number or 0)
        elif word == "ftnalt":
            self._is_endnote = True
        else:
            return False
        return True

    def _row_word(self, word: str, number: int | None) -> None:
        row = self._row
        if word == "trowd":
            self._row = Row()
        elif word == "trhdr":
            row.is_header = True
        elif word == "clvmrg":
            row.goes_down = True
        elif word == "clmrg":
            row.goes_across = True
        elif word == "cellx":
            row.edges.append(number or 0)
            row.down.append(row.goes_down)
            row.across.append(row.goes_across)
            row.goes_down = row.goes_across = False
        elif word in ("cell", "nestcell"):
            self._end_paragraph()
            if not self._flows:
                self._stream.end_cell(1 if word == "cell" else max(2, self._paragraph.depth))
        elif word in ("row", "nestrow"):
            self._end_paragraph()
            if not self._flows:
                self._stream.end_row(1 if word == "row" else max(2, self._paragraph.depth), row.shape())

    def _table_word(self, word: str, number: int) -> None:
        """Fonts, styles, lists and dates."""
        tables, destination = self._tables, self._state.destination
        if destination in DATES:
            self._date[word] = number
        elif destination == "fonttbl":
            if word == "f":
                self._flush()
                self._end_entry()
                self._font = number
            elif word == "fcharset":
                tables.set_charset(self._font, number)
        elif destination == "stylesheet":
            if word == "s":
                self._style = number
            elif word == "sbasedon":
                self._style_base = number
            elif word == "outlinelevel":
                self._style_level = number
        elif word == "list":
            tables.begin_list()
        elif word == "levelnfc":
            tables.add_form(number)
        elif word == "listid":
            tables.name_list(number, destination == "listoverridetable")
        elif word == "ls":
            tables.add_override(number)

    # --- Paragraphs ---

    def _end_paragraph(self) -> None:
        self._flush()
        flow, paragraph = self._flow, self._paragraph
        if not flow.parts and not flow.after:
            flow.label = ""
            return
        text = _whole("".join(flow.parts))
        label, after = flow.label.strip(), flow.after
        flow.parts, flow.label, flow.after = [], "", []
        kind, level = self._tables.role(paragraph.style)
        if paragraph.level is not None:
            level = paragraph.level if paragraph.level >= 0 else None
        if self._tables.form(paragraph.list_id, paragraph.list_depth) == "bullet":
            label = "•"
        if not text.strip() and not after:
            return
        typed = _TYPED_LABEL.match(text) if paragraph.hangs and level is None and not label else None
        if typed is not None:
            label, text = typed[1], text[typed.end() :]
        finished = StreamParagraph(text, level, kind, label, paragraph.list_depth, after)
        if self._flows:
            flow.paragraphs.append(finished)
        else:
            self._stream.paragraph(finished, paragraph.depth)


def _whole(text: str) -> str:
    """The text with characters that were written as two halves put together."""
    return without_surrogates(text).strip("\0")


def _without(counts: Counter[str], names: tuple[str, ...]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count and name not in names}
