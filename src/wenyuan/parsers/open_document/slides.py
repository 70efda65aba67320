"""OpenDocument presentations (ODF 1.3 part 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wenyuan.parsers.office.notices import object_notices, text_notices
from wenyuan.parsers.office.xml import release, streamed_elements
from wenyuan.parsers.office.zip_archive import opened_archive
from wenyuan.parsers.open_document.names import DRAW, OFFICE, PRESENTATION, SVG, TABLE, child
from wenyuan.parsers.open_document.parser import (
    CONTENT,
    add_styles,
    properties_of,
    refuse_encrypted,
)
from wenyuan.parsers.open_document.styles import STYLE_TAGS, DocumentStyles
from wenyuan.parsers.open_document.text import LISTS, PARAGRAPHS, SHAPES, DocumentText, within
from wenyuan.parsers.slides.places import Area, SlideNotes, in_reading_order
from wenyuan.types import Anchor, Facts, ReadEvent

if TYPE_CHECKING:
    from lxml.etree import _Element

MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"

_PAGE = f"{DRAW}page"
_GROUP = f"{DRAW}g"
_POINTS = {"cm": 72 / 2.54, "mm": 72 / 25.4, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}
_LENGTH = re.compile(r"(-?\d{1,7}(?:\.\d{1,9})?)(cm|mm|in|pt|pc|px)")
_MOVED = re.compile(r"translate\s*\(\s*([^\s,)]+)[\s,]+([^\s)]+)\s*\)")
_MARGINS = frozenset({"header", "footer", "date-time", "page-number", "page"})


class OpenDocumentSlidesParser:
    """Reads slides in the order in which they are shown: title, shapes as they stand, notes and comments."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_archive(path, name, "OpenDocument") as archive:
            refuse_encrypted(archive)
            metadata = properties_of(archive)
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, "", title, "", metadata)
            styles = DocumentStyles()
            add_styles(archive, styles)
            slides = _Slides(DocumentText(archive, styles), styles)
            for element in streamed_elements(archive, CONTENT, *STYLE_TAGS, _PAGE):
                if element.tag != _PAGE:
                    styles.add(element)
                    continue
                slides.read(element)
                release(element)
                yield from slides.text.blocks.take()
            quality = slides.quality()
            yield Facts(MEDIA_TYPE, "", title or slides.first_title, "", metadata, quality)
            yield from slides.notes.notices()
            yield from text_notices(0, slides.text.hidden)
            yield from object_notices(0, slides.text.objects)


class _Slides:
    """The slides of one file while they are read."""

    def __init__(self, text: DocumentText, styles: DocumentStyles) -> None:
        self.text = text
        self.notes = SlideNotes()
        self.first_title = ""
        self._styles = styles

    def read(self, page: _Element) -> None:
        """The next slide."""
        blocks, notes = self.text.blocks, self.notes
        number = notes.begin(is_hidden=self._styles.hides_slide(page.get(f"{DRAW}style-name", "")))
        blocks.leave_headings()
        shapes = list(within(page, SHAPES))
        for shape in shapes:
            if _role(shape) == "title":
                blocks.place = _place(number, _area(shape))
                title = " ".join(self.text.cell_text(_holder(shape)).split())
                self.first_title = self.first_title or title
                blocks.heading(title, 1)
        self._in_order(number, [shape for shape in shapes if _role(shape) != "title"])
        blocks.place = _place(number, None)
        self._notes(page)
        for annotation in page.iterchildren(f"{OFFICE}annotation"):
            self.text.comment(annotation)
        notes.end(has_text=bool(blocks.ready))

    def quality(self) -> dict[str, int | list[int]]:
        # Nearly everything on a slide is in a box.
        counts = {key: count for key, count in self.text.counts.items() if key != "text_boxes"}
        return self.notes.quality(counts | {"tables": self.text.blocks.tables})

    def _in_order(self, number: int, shapes: list[_Element]) -> None:
        for shape in in_reading_order([(_area(one), one) for one in shapes]):
            if shape.tag == _GROUP:
                self._in_order(number, list(within(shape, SHAPES)))
            elif _role(shape) not in _MARGINS:
                self.text.blocks.place = _place(number, _area(shape))
                self._shape(shape)

    def _shape(self, shape: _Element) -> None:
        description = child(shape, f"{SVG}desc")
        is_picture = child(shape, f"{DRAW}image") is not None and child(shape, f"{TABLE}table") is None
        if is_picture and description is not None:
            self.text.blocks.paragraph(" ".join((description.text or "").split()), "caption")
        self.text.block(shape)

    def _notes(self, page: _Element) -> None:
        prefix = "Notes: "
        for notes in page.iterchildren(f"{PRESENTATION}notes"):
            for frame in notes.iterchildren(f"{DRAW}frame"):
                box = child(frame, f"{DRAW}text-box")
                if _role(frame) != "notes" or box is None:
                    continue
                for paragraph in within(box, PARAGRAPHS | LISTS):
                    text = self.text.cell_text(paragraph) if paragraph.tag in LISTS else self.text.text(paragraph)
                    if text.strip():
                        self.text.blocks.paragraph(prefix + text.strip())
                        prefix = ""
        self.text.counts["notes"] += not prefix


def _role(shape: _Element) -> str:
    return shape.get(f"{PRESENTATION}class", "")


def _holder(shape: _Element) -> _Element:
    box = child(shape, f"{DRAW}text-box")
    return shape if box is None else box


def _area(shape: _Element) -> Area | None:
    if shape.tag == _GROUP:
        areas = [area for area in map(_area, within(shape, SHAPES)) if area is not None]
        if not areas:
            return None
        lefts, tops, rights, bottoms = zip(*areas, strict=True)
        return Area(min(lefts), min(tops), max(rights), max(bottoms))
    left, top = _points(shape.get(f"{SVG}x", "")), _points(shape.get(f"{SVG}y", ""))
    width, height = _points(shape.get(f"{SVG}width", "")), _points(shape.get(f"{SVG}height", ""))
    moved = _MOVED.search(shape.get(f"{DRAW}transform", ""))
    if moved is not None:
        left, top = _points(moved[1]), _points(moved[2])
    if left is None or top is None or width is None or height is None:
        return None
    return Area(left, top, left + width, top + height)


def _points(length: str) -> float | None:
    found = _LENGTH.fullmatch(length)
    return float(found[1]) * _POINTS[found[2]] if found else None


def _place(number: int, area: Area | None) -> Anchor:
    return Anchor("slide", number, number, boxes=area.boxes(number) if area is not None else ())
