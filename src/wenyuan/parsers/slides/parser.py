"""Presentations (PresentationML, ECMA-376 part 1)."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wenyuan.parsers.members import in_pieces
from wenyuan.parsers.office.blocks import Cell, OfficeBlocks
from wenyuan.parsers.office.graphics import chart_of, diagram_items, drawn_text
from wenyuan.parsers.office.notices import object_notices
from wenyuan.parsers.office.package import (
    RELATIONSHIPS,
    STRICT_RELATIONSHIPS,
    Relation,
    core_properties,
    main_part,
    related,
    relations,
)
from wenyuan.parsers.office.xml import part_tree
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.parsers.slides.places import EMU_PER_POINT, Area, SlideNotes, in_reading_order
from wenyuan.parsers.slides.shapes import Areas, Group, Shape, child, local, placeholder_areas, shapes_of
from wenyuan.parsers.slides.text import paragraphs_of, plain_text
from wenyuan.types import Anchor, Facts, Notice, ReadEvent

if TYPE_CHECKING:
    from lxml.etree import _Element

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

_TITLES = frozenset({"title", "ctrTitle"})
_LISTS = frozenset({"body", "obj"})
_MARGINS = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)", re.IGNORECASE)


class SlidesParser:
    """Reads slides in the order in which they are shown: title, shapes as they stand, notes and comments."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_archive(path, name, "PowerPoint") as archive:
            metadata = core_properties(archive)
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, "", title, "", metadata)
            presentation = _Presentation(archive)
            yield from presentation.events()
            title = title or presentation.first_title
            yield Facts(MEDIA_TYPE, "", title, "", metadata, presentation.quality())
            yield from presentation.notices()


class _Presentation:
    """The slides of one file while they are read."""

    def __init__(self, archive: ZipArchive) -> None:
        self.first_title = ""
        self._archive = archive
        self._part = main_part(archive, "ppt/presentation.xml")
        self._relations = relations(archive, self._part)
        self._layouts: dict[str, list[Areas]] = {}
        self._authors: dict[str, str] = {}
        self._notes = SlideNotes()
        self._objects: list[str] = []
        self._counts: Counter[str] = Counter()

    def events(self) -> Iterator[ReadEvent]:
        """Yield the blocks of every slide, and the files in them."""
        self._read_authors()
        for part in self._slide_parts():
            if part not in self._archive:
                self._notes.miss()
                continue
            slide = _Slide(self._archive, part, self._inherited, self._authors)
            number = self._notes.begin(slide.is_hidden)
            yield from slide.events(number)
            self._notes.end(not slide.is_silent)
            self.first_title = self.first_title or slide.title
            self._counts += slide.counts
            self._objects += slide.objects

    def quality(self) -> dict[str, int | list[int]]:
        return self._notes.quality(self._counts)

    def notices(self) -> Iterator[Notice]:
        yield from self._notes.notices()
        yield from object_notices(0, self._objects)

    def _slide_parts(self) -> Iterator[str]:
        slides = child(part_tree(self._archive, self._part), "sldIdLst")
        for entry in slides if slides is not None else ():
            relation = self._relations.get(_id(entry, "id"))
            yield relation.target if relation is not None else ""

    def _read_authors(self) -> None:
        for kind in ("commentAuthors", "authors"):
            for part in related(self._relations, kind):
                if part in self._archive:
                    for author in part_tree(self._archive, part):
                        self._authors[author.get("id", "")] = author.get("name", "")

    def _inherited(self, found: dict[str, Relation]) -> list[Areas]:
        """Where the placeholders of a slide's layout stand, and those of that layout's master."""
        layout = next(iter(related(found, "slideLayout")), "")
        if layout not in self._layouts:
            areas: list[Areas] = []
            part = layout
            while part in self._archive and len(areas) < 2:
                tree = child(part_tree(self._archive, part), "cSld", "spTree")
                areas.append(placeholder_areas(tree) if tree is not None else {})
                part = next(iter(related(relations(self._archive, part), "slideMaster")), "")
            self._layouts[layout] = areas
        return self._layouts[layout]


class _Slide:
    """One slide while it is read."""

    def __init__(
        self,
        archive: ZipArchive,
        part: str,
        inherited: Callable[[dict[str, Relation]], list[Areas]],
        authors: dict[str, str],
    ) -> None:
        self.title = ""
        self.counts: Counter[str] = Counter()
        self.objects: list[str] = []
        self._archive = archive
        self._number = 0
        self._relations = relations(archive, part)
        self._authors = authors
        self._blocks = OfficeBlocks()
        self._members: list[str] = []
        root = part_tree(archive, part)
        self.is_hidden = root.get("show") in ("0", "false")
        tree = child(root, "cSld", "spTree")
        self._shapes = shapes_of(tree, inherited(self._relations)) if tree is not None else []
        self.is_silent = False

    def events(self, number: int) -> Iterator[ReadEvent]:
        """Yield the blocks of the slide, which is the one of that number, and the files in it."""
        self._number = number
        titles, others = _parted(self._shapes)
        for shape in titles:
            self._place(shape.area)
            text = plain_text(child(shape.element, "txBody"))
            self.title = self.title or text
            self._blocks.heading(text, 1)
        self._members_in_order(others)
        self._notes()
        self._comments()
        self.is_silent = not self._blocks.ready
        yield from self._blocks.take()
        for part in self._members:
            yield from in_pieces(posixpath.basename(part), self._archive.read(part))

    def _members_in_order(self, members: list[Shape | Group]) -> None:
        for member in in_reading_order([(one.area, one) for one in members]):
            if isinstance(member, Group):
                self._members_in_order(member.members)
            elif member.placeholder is None or member.placeholder.kind not in _MARGINS:
                self._place(member.area)
                self._shape(member)

    def _shape(self, shape: Shape) -> None:
        if shape.kind == "graphicFrame":
            self._graphic(shape)
        elif shape.kind == "pic":
            if shape.description and not _FILE_NAME.fullmatch(shape.description):
                self._blocks.paragraph(" ".join(shape.description.split()), "caption")
        else:
            is_list = shape.placeholder is not None and shape.placeholder.kind in _LISTS
            for paragraph in paragraphs_of(child(shape.element, "txBody")):
                label = "•" if paragraph.label is None and (is_list or paragraph.level) else paragraph.label
                if label:
                    self._blocks.item(paragraph.text, paragraph.level, label)
                else:
                    self._blocks.paragraph(paragraph.text)

    def _graphic(self, shape: Shape) -> None:
        data = child(shape.element, "graphic", "graphicData")
        for element in data if data is not None else ():
            kind = local(element)
            if kind == "tbl":
                self._table(element, shape.area)
            elif kind == "chart":
                self._chart(self._target(element, "id"))
            elif kind == "relIds":
                self._diagram(self._target(element, "dm"))
            else:
                self._objects_in(element)

    def _table(self, table: _Element, area: Area | None) -> None:
        properties = child(table, "tblPr")
        has_header = properties is not None and properties.get("firstRow") in ("1", "true")
        self._blocks.begin_table()
        self.counts["tables"] += 1
        top = area.top if area is not None else 0.0
        for number, row in enumerate(one for one in table if local(one) == "tr"):
            height = row.get("h", "0")
            bottom = top + (int(height) / EMU_PER_POINT if height.isdecimal() else 0.0)
            self._place(area._replace(top=top, bottom=bottom) if area is not None and bottom > top else area)
            cells = [
                Cell(plain_text(child(cell, "txBody")), goes_on=cell.get("vMerge") in ("1", "true"))
                for cell in row
                if local(cell) == "tc"
            ]
            self._blocks.row(cells, is_header=has_header and number == 0)
            top = bottom
        self._blocks.end_table()

    def _chart(self, part: str) -> None:
        if not part:
            return
        self.counts["charts"] += 1
        chart = chart_of(part_tree(self._archive, part))
        self._blocks.chart((chart.title, *chart.axes), chart.rows)

    def _diagram(self, part: str) -> None:
        if part:
            self.counts["diagrams"] += 1
            for depth, text in diagram_items(part_tree(self._archive, part)):
                self._blocks.item(text, depth, "•")

    def _objects_in(self, element: _Element) -> None:
        for one in element.iter():
            if local(one) == "oleObj":
                part = self._target(one, "id")
                name = posixpath.basename(part)
                if part and part not in self._members and name not in self.objects:
                    self.counts["embedded_objects"] += 1
                    if name.endswith(".bin"):
                        self.objects.append(name)
                    else:
                        self._members.append(part)

    def _notes(self) -> None:
        for part in related(self._relations, "notesSlide"):
            tree = child(part_tree(self._archive, part), "cSld", "spTree") if part in self._archive else None
            self._place(None)
            prefix = "Notes: "
            for shape in shapes_of(tree, []) if tree is not None else ():
                if isinstance(shape, Group) or shape.placeholder is None or shape.placeholder.kind != "body":
                    continue
                for paragraph in paragraphs_of(child(shape.element, "txBody")):
                    self._blocks.paragraph(prefix + paragraph.text.strip())
                    prefix = ""
            self.counts["notes"] += not prefix

    def _comments(self) -> None:
        for part in related(self._relations, "comments"):
            for comment in part_tree(self._archive, part) if part in self._archive else ():
                written = child(comment, "text")
                text = written.text or "" if written is not None else drawn_text(comment)
                author = self._authors.get(comment.get("authorId", ""), "")
                if text.strip():
                    self.counts["comments"] += 1
                    self._blocks.paragraph(f"Comment by {author}: {text}" if author else f"Comment: {text}")

    def _target(self, element: _Element, name: str) -> str:
        relation = self._relations.get(_id(element, name))
        known = relation is not None and not relation.is_external and relation.target in self._archive
        return relation.target if relation is not None and known else ""

    def _place(self, area: Area | None) -> None:
        boxes = area.boxes(self._number) if area is not None else ()
        self._blocks.place = Anchor("slide", self._number, self._number, boxes=boxes)


def _parted(members: list[Shape | Group]) -> tuple[list[Shape], list[Shape | Group]]:
    """The titles, and all else."""
    titles: list[Shape] = []
    others: list[Shape | Group] = []
    for member in members:
        if isinstance(member, Shape) and member.placeholder is not None and member.placeholder.kind in _TITLES:
            titles.append(member)
        else:
            others.append(member)
    return titles, others


def _id(element: _Element, name: str) -> str:
    return element.get(RELATIONSHIPS + name) or element.get(STRICT_RELATIONSHIPS + name) or ""
