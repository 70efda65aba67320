"""PowerPoint 97 to 2003 presentations ([MS-PPT]), read as they are: nothing has to be installed for them."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wenyuan.parsers.office.blocks import Cell, OfficeBlocks
from wenyuan.parsers.office.legacy_storage import opened_legacy
from wenyuan.parsers.office.notices import object_notices
from wenyuan.parsers.slides.legacy_file import (
    DRAWING,
    DRAWING_CONTAINER,
    GROUP,
    NOTES,
    OUTLINE_REFERENCE,
    SHAPE,
    SHOW_INFO,
    SLIDE,
    SLIDE_ATOM,
    SLIDE_LIST,
    SLIDE_PERSIST,
    TEXT_BOX,
    Record,
    SlidesFile,
    first,
    records,
)
from wenyuan.parsers.slides.legacy_text import LISTS, TITLES, SlideText, texts_in
from wenyuan.parsers.slides.legacy_text import NOTES as NOTES_TEXT
from wenyuan.parsers.slides.places import Area, Frame, SlideNotes, in_reading_order
from wenyuan.types import Anchor, Facts, Notice, ReadEvent

MEDIA_TYPE = "application/vnd.ms-powerpoint"

_POINTS_PER_UNIT = 1 / 8
_SLIDE = Frame(across=_POINTS_PER_UNIT, down=_POINTS_PER_UNIT)
_GROUP_FRAME, _CHILD_ANCHOR, _ANCHOR, _CLIENT_DATA, _PLACEHOLDER = 0xF009, 0xF00F, 0xF010, 0xF011, 0x0BC3
_MORE_PROPERTIES = (0xF121, 0xF122)
_TABLE_PROPERTIES = 0x039F
_MARGINS = frozenset(range(0x05, 0x0C))
_HIDDEN = 0x4
_TAGS, _TAG, _TAG_CONTENT, _COMMENT, _STRING = 0x1388, 0x138A, 0x138B, 0x2EE0, 0x0FBA
_OBJECTS, _EMBEDDED = 0x0409, 0x0FCC
_DEEPEST_GROUP = 50
_SLACK = 1.0


class _Shape(NamedTuple):
    """A shape with text, or a group of shapes."""

    area: Area | None
    texts: list[SlideText]
    members: list[_Shape]
    is_table: bool


class LegacySlidesParser:
    """Reads slides in the order in which they are shown: title, shapes as they stand, notes and comments."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_legacy(path, name, "PowerPoint 97") as storage:
            file = SlidesFile(storage, name)
            metadata = dict(storage.properties())
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, "", title, "", metadata)
            slides = _Slides(file)
            yield from slides.events()
            quality = slides.notes.quality(slides.counts)
            yield Facts(MEDIA_TYPE, "", title or slides.first_title, "", metadata, quality)
            yield from slides.notices()


class _Slides:
    """The slides of one file while they are read."""

    def __init__(self, file: SlidesFile) -> None:
        self.first_title = ""
        self.notes = SlideNotes()
        self.counts: Counter[str] = Counter()
        self._file = file
        self._blocks = OfficeBlocks()
        self._number = 0
        lists = {record.instance: record for record in records(file.document.content) if record.kind == SLIDE_LIST}
        self._slides = list(_listed(lists.get(0)))
        self._notes_by_id = {identifier: place for place, identifier, _ in _listed(lists.get(2))}

    def events(self) -> Iterator[ReadEvent]:
        """Yield the blocks of every slide."""
        for place, _, texts in self._slides:
            slide = self._file.persistent(place)
            if slide is None or slide.kind != SLIDE:
                self.notes.miss()
                continue
            info = first(slide.content, SHOW_INFO)
            self._number = self.notes.begin(info is not None and bool(info.number(10, 2) & _HIDDEN))
            self._slide(slide, texts)
            self.notes.end(bool(self._blocks.ready))
            yield from self._blocks.take()
        objects = first(self._file.document.content, _OBJECTS)
        if objects is not None:
            self.counts["embedded_objects"] = sum(record.kind == _EMBEDDED for record in records(objects.content))
        self.counts["tables"] = self._blocks.tables

    def notices(self) -> Iterator[Notice]:
        yield from self.notes.notices()
        yield from object_notices(self.counts["embedded_objects"])

    def _slide(self, slide: Record, texts: list[SlideText]) -> None:
        self._blocks.leave_headings()
        shapes = _shapes(slide, texts)
        titles = [shape for shape in shapes if any(text.kind in TITLES for text in shape.texts)]
        for shape in titles:
            self._place(shape.area)
            title = " ".join(paragraph.text for text in shape.texts for paragraph in text.paragraphs)
            self.first_title = self.first_title or " ".join(title.split())
            self._blocks.heading(title, 1)
        self._in_order([shape for shape in shapes if shape not in titles])
        self._place(None)
        self._notes(slide)
        self._comments(slide)

    def _in_order(self, shapes: list[_Shape]) -> None:
        for shape in in_reading_order([(one.area, one) for one in shapes]):
            self._place(shape.area)
            if shape.is_table:
                self._table(shape)
            elif shape.members:
                self._in_order(shape.members)
            for text in shape.texts:
                self._text(text)

    def _text(self, text: SlideText) -> None:
        for paragraph in text.paragraphs:
            by_style = text.kind in LISTS or paragraph.level > 0
            if by_style if paragraph.has_bullet is None else paragraph.has_bullet:
                self._blocks.item(paragraph.text, paragraph.level, "•")
            else:
                self._blocks.paragraph(paragraph.text)

    def _table(self, table: _Shape) -> None:
        """The cells of a table are shapes; their edges say which rows and columns they take up."""
        cells = [cell for cell in table.members if cell.area is not None and cell.texts]
        tops = _edges([cell.area.top for cell in cells if cell.area is not None])
        lefts = _edges([cell.area.left for cell in cells if cell.area is not None])
        grid: list[list[Cell]] = [[Cell("") for _ in lefts] for _ in tops]
        for cell in cells:
            assert cell.area is not None
            text = " ".join(paragraph.text for one in cell.texts for paragraph in one.paragraphs)
            column = _index(lefts, cell.area.left)
            for number in range(_index(tops, cell.area.top), len(tops)):
                if tops[number] < cell.area.bottom - _SLACK:
                    grid[number][column] = Cell(text)
        self._blocks.begin_table()
        for number, row in enumerate(grid):
            if table.area is not None:
                bottom = tops[number + 1] if number + 1 < len(tops) else table.area.bottom
                self._place(table.area._replace(top=tops[number], bottom=bottom))
            self._blocks.row(row)
        self._blocks.end_table()

    def _notes(self, slide: Record) -> None:
        atom = first(slide.content, SLIDE_ATOM)
        place = self._notes_by_id.get(atom.number(16)) if atom is not None else None
        notes = self._file.persistent(place) if place is not None else None
        prefix = "Notes: "
        for shape in _shapes(notes, []) if notes is not None and notes.kind == NOTES else ():
            for text in shape.texts:
                for paragraph in text.paragraphs if text.kind == NOTES_TEXT else ():
                    self._blocks.paragraph(prefix + paragraph.text.strip())
                    prefix = ""
        self.counts["notes"] += not prefix

    def _comments(self, slide: Record) -> None:
        tags = first(slide.content, _TAGS)
        for tag in records(tags.content) if tags is not None else ():
            content = first(tag.content, _TAG_CONTENT) if tag.kind == _TAG else None
            for comment in records(content.content) if content is not None else ():
                if comment.kind == _COMMENT:
                    strings = {one.instance: one.content for one in records(comment.content) if one.kind == _STRING}
                    author, text = (strings.get(number, b"").decode("utf-16-le", "replace") for number in (0, 1))
                    self.counts["comments"] += 1
                    self._blocks.paragraph(f"Comment by {author}: {text}" if author else f"Comment: {text}")

    def _place(self, area: Area | None) -> None:
        boxes = area.boxes(self._number) if area is not None else ()
        self._blocks.place = Anchor("slide", self._number, self._number, boxes=boxes)


def _listed(slides: Record | None) -> Iterator[tuple[int, int, list[SlideText]]]:
    """Yield the place, the identifier and the texts of each slide in a list of them."""
    found: list[Record] = []
    entry: Record | None = None
    for record in records(slides.content) if slides is not None else ():
        if record.kind != SLIDE_PERSIST:
            found.append(record)
            continue
        if entry is not None:
            yield entry.number(0), entry.number(12), texts_in(found)
        entry, found = record, []
    if entry is not None:
        yield entry.number(0), entry.number(12), texts_in(found)


def _shapes(slide: Record, texts: list[SlideText]) -> list[_Shape]:
    """The shapes on a slide; `texts` are those that are kept apart from it."""
    top = first(slide.content, DRAWING, DRAWING_CONTAINER, GROUP)
    return _members(top, _SLIDE, texts, 0) if top else []


def _members(group: Record, frame: Frame, texts: list[SlideText], depth: int) -> list[_Shape]:
    found = []
    for number, record in enumerate(records(group.content)):
        if record.kind == GROUP and depth < _DEEPEST_GROUP:
            found.append(_group(record, frame, texts, depth))
        elif record.kind == SHAPE and number:
            # The first shape of a group is the group itself.
            found.append(_Shape(_area(record, frame), _texts(record, texts), [], False))
    return found


def _group(group: Record, frame: Frame, texts: list[SlideText], depth: int) -> _Shape:
    itself = first(group.content, SHAPE)
    area = _area(itself, frame) if itself is not None else None
    inner = frame
    bounds = first(itself.content, _GROUP_FRAME) if itself is not None else None
    if area is not None and bounds is not None and len(bounds.content) >= 16:
        left, top, right, bottom = struct.unpack_from("<4i", bounds.content)
        if right > left and bottom > top:
            across, down = (area.right - area.left) / (right - left), (area.bottom - area.top) / (bottom - top)
            inner = Frame(area.left - left * across, area.top - top * down, across, down)
    is_table = itself is not None and any(map(_says_table, records(itself.content)))
    return _Shape(area, [], _members(group, inner, texts, depth + 1), is_table)


def _says_table(properties: Record) -> bool:
    if properties.kind not in _MORE_PROPERTIES:
        return False
    return any(properties.number(6 * at, 2) & 0x3FFF == _TABLE_PROPERTIES for at in range(properties.instance))


def _area(shape: Record, frame: Frame) -> Area | None:
    anchor = first(shape.content, _ANCHOR)
    if anchor is not None:
        form = "<4h" if len(anchor.content) < 16 else "<4i"
        if len(anchor.content) < struct.calcsize(form):
            return None
        top, left, right, bottom = struct.unpack_from(form, anchor.content)
        return _SLIDE.placed(left, top, right - left, bottom - top)
    anchor = first(shape.content, _CHILD_ANCHOR)
    if anchor is None or len(anchor.content) < 16:
        return None
    left, top, right, bottom = struct.unpack_from("<4i", anchor.content)
    return frame.placed(left, top, right - left, bottom - top)


def _texts(shape: Record, apart: list[SlideText]) -> list[SlideText]:
    """The texts in a shape, but for those that only repeat a date, a number or a footer."""
    placeholder = first(shape.content, _CLIENT_DATA, _PLACEHOLDER)
    if placeholder is not None and placeholder.number(4, 1) in _MARGINS:
        return []
    box = first(shape.content, TEXT_BOX)
    if box is None:
        return []
    found = list(records(box.content))
    reference = next((record.number(0) for record in found if record.kind == OUTLINE_REFERENCE), None)
    if reference is not None:
        return [apart[reference]] if reference < len(apart) else []
    return texts_in(found)


def _edges(values: list[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > _SLACK:
            edges.append(value)
    return edges


def _index(edges: list[float], value: float) -> int:
    return min(range(len(edges)), key=lambda at: abs(edges[at] - value))
