"""Word documents (WordprocessingML, ECMA-376 part 1)."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wenyuan.errors import FileOverLimit
from wenyuan.parsers.members import in_pieces
from wenyuan.parsers.office.blocks import WIDEST_ROW, Cell, OfficeBlocks
from wenyuan.parsers.office.graphics import chart_of, diagram_items
from wenyuan.parsers.office.notices import object_notices, text_notices
from wenyuan.parsers.office.package import (
    RELATIONSHIPS,
    STRICT_RELATIONSHIPS,
    Relation,
    core_properties,
    main_part,
    margins_of,
    related,
    relations,
)
from wenyuan.parsers.office.xml import part_tree, release, streamed_elements
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.parsers.word.names import MC, attribute, both, first_child, flag
from wenyuan.parsers.word.runs import Hanger, Runs
from wenyuan.parsers.word.styles import NO_LEVEL, Lists, Styles, list_of, outline_level
from wenyuan.types import Facts, Member, Notice, ReadEvent

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_ELEMENTS = 1_000_000
"""Paragraphs, rows and tables that are read of one document: some 20,000 pages."""
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_BODY = frozenset(both("body"))
_PARAGRAPH = frozenset(both("p"))
_TABLE = frozenset(both("tbl"))
_ROW = frozenset(both("tr"))
_CELL = frozenset(both("tc"))
_FOREIGN = frozenset(both("altChunk"))
_TRANSPARENT = frozenset(
    {*both("sdt", "sdtContent", "customXml", "ins", "moveTo"), f"{MC}AlternateContent", f"{MC}Choice"}
)
_NOTE_PARTS = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
_WIDEST_SPAN = 1_000


class WordParser:
    """Reads a document's body in its order, with notes, comments and text boxes after the paragraph they belong to."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_archive(path, name, "Word") as archive:
            metadata = core_properties(archive)
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, "", title, "", metadata)
            document = _Document(archive)
            yield from document.events()
            metadata |= document.margins()
            yield Facts(MEDIA_TYPE, "", title or document.blocks.top_heading, "", metadata, document.quality())
            yield from document.notices()


class _Role(NamedTuple):
    """What a paragraph is for: the level of a heading, a kind of text, an item of a list with its label."""

    level: int | None
    kind: str
    label: str
    depth: int
    has_number: bool

    @property
    def is_numbered(self) -> bool:
        return bool(self.label) and self.has_number


class _Document:
    """One document while it is read."""

    def __init__(self, archive: ZipArchive) -> None:
        self.blocks = OfficeBlocks()
        self._archive = archive
        self._part = main_part(archive, "word/document.xml")
        self._relations = relations(archive, self._part)
        self._styles = Styles(self._tree("styles"))
        self._lists = Lists(self._tree("numbering"), self._styles)
        self._runs = Runs()
        self._carried = ""
        self._table: _Element | None = None
        self._is_frame = False
        self._notes: dict[str, dict[str, _Element]] = {}
        self._members: list[Relation] = []
        self._objects: list[str] = []
        self._counts: Counter[str] = Counter()

    def events(self) -> Iterator[ReadEvent]:
        """Yield the blocks of the body, and the files in it."""
        tags = (*_PARAGRAPH, *_ROW, *_TABLE, *_FOREIGN)
        for number, element in enumerate(streamed_elements(self._archive, self._part, *tags)):
            if number > MOST_ELEMENTS:
                raise FileOverLimit(name=self._archive.name, what=f"more than {MOST_ELEMENTS:,} paragraphs")
            tag = element.tag
            if tag in _ROW:
                table = _outside(element)
                if table.tag not in _TABLE or _outside(table).tag not in _BODY:
                    continue
                self._enter(table)
                self._row(element)
            elif _outside(element).tag not in _BODY:
                continue
            elif tag in _PARAGRAPH:
                self._paragraph(element)
            elif tag in _TABLE:
                self._leave()
            else:
                self._foreign(element)
            release(element)
            if self.blocks.ready:
                yield from self.blocks.take()
            if self._members:
                yield from self._taken_members()

    # --- Paragraphs ---

    def _paragraph(self, element: _Element) -> None:
        if len(element) == 0 and not self._carried:
            return
        text = self._carried + self._runs.text(element)
        hangers = self._runs.take_hangers()
        properties = first_child(element, "pPr")
        self._carried = text if _is_mark_deleted(properties) else ""
        if not self._carried and (text or properties is not None):
            self._give(text, properties)
        for hanger in hangers:
            self._hang(hanger)

    def _give(self, text: str, properties: _Element | None) -> None:
        role = self._role(properties, bool(text.strip()))
        if role.kind == "contents":
            self._counts["contents_entries"] += bool(text.strip())
        elif role.level is not None:
            self.blocks.heading(f"{role.label} {text}" if role.is_numbered else text, role.level)
        elif role.label:
            self.blocks.item(text, role.depth, role.label)
        elif role.kind == "code":
            for line in text.split("\n"):
                self.blocks.paragraph(line, "code")
        else:
            self.blocks.paragraph(text, "caption" if role.kind == "caption" else "paragraph")

    def _role(self, properties: _Element | None, is_counted: bool) -> _Role:
        """What its style and its own properties make of a paragraph; in its list only one with text is counted."""
        style_id, level, list_id, own_depth = self._styles.default, None, "", None
        for child in properties if properties is not None else ():
            name = child.tag.rpartition("}")[2]
            if name == "pStyle":
                style_id = attribute(child, "val")
            elif name == "numPr":
                list_id, own_depth = list_of(properties)
            elif name == "outlineLvl":
                level = outline_level(attribute(child, "val"))
        style = self._styles[style_id]
        if level is None:
            level = style.level
        label, depth, form = None, 0, ""
        list_id = list_id or style.list_id
        if list_id not in ("", "0") and is_counted:
            wanted = style.depth if own_depth is None else own_depth
            label, depth, form = self._lists.label(list_id, wanted, style_id) or (None, 0, "")
        return _Role(level if level != NO_LEVEL else None, style.kind, (label or "").strip(), depth, form != "bullet")

    # --- What hangs on a paragraph ---

    def _hang(self, hanger: Hanger) -> None:
        if hanger.kind == "box" and hanger.element is not None:
            self._counts["text_boxes"] += 1
            self._flow(hanger.element)
        elif hanger.kind in _NOTE_PARTS:
            self._note(hanger)
        else:
            relation = self._relations.get(hanger.target)
            if relation is None or relation.is_external or relation.target not in self._archive:
                return
            if hanger.kind == "chart":
                self._chart(relation.target)
            elif hanger.kind == "diagram":
                self._counts["diagrams"] += 1
                for depth, text in diagram_items(part_tree(self._archive, relation.target)):
                    self.blocks.item(text, depth, "•")
            else:
                self._embedded(relation, hanger.shown)

    def _note(self, hanger: Hanger) -> None:
        if hanger.kind not in self._notes:
            root = self._tree(_NOTE_PARTS[hanger.kind])
            self._notes[hanger.kind] = {attribute(note, "id"): note for note in root} if root is not None else {}
        note = self._notes[hanger.kind].pop(hanger.target, None)
        if note is None:
            return
        self._counts[_NOTE_PARTS[hanger.kind]] += 1
        text = self._text_within(note)
        if hanger.kind == "comment":
            author = attribute(note, "author").strip()
            self.blocks.paragraph(f"Comment by {author}: {text}" if author else f"Comment: {text}")
        else:
            self.blocks.paragraph(f"{hanger.shown} {text}")

    def _chart(self, part: str) -> None:
        self._counts["charts"] += 1
        chart = chart_of(part_tree(self._archive, part))
        self.blocks.chart((chart.title, *chart.axes), chart.rows)

    def _embedded(self, relation: Relation, program: str) -> None:
        self._counts["embedded_objects"] += 1
        base = posixpath.basename(relation.target)
        if base.endswith(".bin"):
            self._objects.append(f"{base} ({program})" if program else base)
        else:
            self._members.append(relation)

    def _foreign(self, element: _Element) -> None:
        """Another file that stands in for a part of the body (`w:altChunk`)."""
        relation_id = element.get(f"{RELATIONSHIPS}id") or element.get(f"{STRICT_RELATIONSHIPS}id") or ""
        relation = self._relations.get(relation_id)
        if relation is not None and not relation.is_external and relation.target in self._archive:
            self._members.append(relation)

    def _taken_members(self) -> Iterator[Member]:
        members, self._members = self._members, []
        for relation in members:
            yield from in_pieces(posixpath.basename(relation.target), self._archive.read(relation.target))

    # --- Tables, text boxes and notes ---

    def _flow(self, container: _Element) -> None:
        """The paragraphs and tables in an element, as they come."""
        for element in _blocks_in(container):
            if element.tag in _PARAGRAPH:
                self._paragraph(element)
            else:
                self._inner_table(element)

    def _inner_table(self, table: _Element) -> None:
        outer, is_frame = self._table, self._is_frame
        self._table = None
        self._enter(table)
        for row in _within(table, _ROW):
            self._row(row)
        self._leave()
        self._table, self._is_frame = outer, is_frame

    def _enter(self, table: _Element) -> None:
        if table is not self._table:
            self._table = table
            grid = first_child(table, "tblGrid")
            # A single column is a frame around text rather than a table of data.
            self._is_frame = grid is not None and len(grid) == 1
            if not self._is_frame:
                self.blocks.begin_table()

    def _leave(self) -> None:
        if self._table is not None and not self._is_frame:
            self.blocks.end_table()
        self._table = None

    def _row(self, row: _Element) -> None:
        properties = first_child(row, "trPr")
        if properties is not None and first_child(properties, "del") is not None:
            self._runs.deletions += 1
            return
        cells = list(islice(_within(row, _CELL), WIDEST_ROW))
        if self._is_frame:
            for cell in cells:
                self._flow(cell)
            return
        header = first_child(properties, "tblHeader")
        inner: list[_Element] = []
        values = [Cell("", _span(properties, "gridBefore"))] if _span(properties, "gridBefore", 0) else []
        values += [self._cell(cell, inner) for cell in cells]
        hangers = self._runs.take_hangers()
        self.blocks.row(values, is_header=header is not None and flag(header))
        for hanger in hangers:
            self._hang(hanger)
        for table in inner:
            self._inner_table(table)

    def _cell(self, cell: _Element, inner: list[_Element]) -> Cell:
        """One cell; the tables in it are put aside."""
        properties = first_child(cell, "tcPr")
        merged = first_child(properties, "vMerge")
        goes_on = merged is not None and attribute(merged, "val") != "restart"
        return Cell(self._text_within(cell, inner), _span(properties, "gridSpan"), goes_on)

    def _text_within(self, container: _Element, inner: list[_Element] | None = None) -> str:
        """The text of the paragraphs in a cell or note as one."""
        texts = []
        for element in _blocks_in(container):
            if element.tag in _PARAGRAPH:
                text = self._runs.text(element) if len(element) else ""
                if not text:
                    continue
                role = self._role(first_child(element, "pPr"), bool(text.strip()))
                texts.append(f"{role.label} {text}" if role.is_numbered else text)
            elif inner is not None:
                inner.append(element)
        return " ".join(filter(None, map(str.strip, texts)))

    # --- The whole ---

    def margins(self) -> dict[str, str]:
        """What stands at the top and the bottom of every page."""
        found: dict[str, list[str]] = {"header": [], "footer": []}
        for kind, texts in found.items():
            for part in related(self._relations, kind):
                if part in self._archive:
                    texts.append(self._text_within(part_tree(self._archive, part)))
        self._runs.take_hangers()
        return margins_of(found)

    def quality(self) -> dict[str, int]:
        counts = self._counts + Counter(
            tables=self.blocks.tables, insertions=self._runs.insertions, deletions=self._runs.deletions
        )
        return {key: count for key, count in counts.items() if count}

    def notices(self) -> Iterator[Notice]:
        yield from text_notices(self._runs.insertions + self._runs.deletions, self._runs.hidden)
        yield from object_notices(0, self._objects)

    def _tree(self, kind: str) -> _Element | None:
        part = next(iter(related(self._relations, kind)), "")
        return part_tree(self._archive, part) if part in self._archive else None


def _outside(element: _Element) -> _Element:
    """The element that holds another, apart from wrappers that mean nothing for the text."""
    outside = element.getparent()
    while outside is not None and outside.tag in _TRANSPARENT:
        outside = outside.getparent()
    return element if outside is None else outside


def _within(container: _Element, tags: frozenset[str]) -> Iterator[_Element]:
    """The elements with those tags in a container, also in wrappers that mean nothing for the text."""
    for child in container:
        if child.tag in tags:
            yield child
        elif child.tag in _TRANSPARENT:
            yield from _within(child, tags)


def _blocks_in(container: _Element) -> Iterator[_Element]:
    return _within(container, _PARAGRAPH | _TABLE)


def _is_mark_deleted(properties: _Element | None) -> bool:
    """Whether the end of a paragraph is deleted, so that the next one goes on with it."""
    mark = first_child(properties, "rPr")
    return mark is not None and first_child(mark, "del") is not None


def _span(properties: _Element | None, name: str, otherwise: int = 1) -> int:
    found = first_child(properties, name)
    value = attribute(found, "val") if found is not None else ""
    return min(int(value), _WIDEST_SPAN) if value.isdecimal() else otherwise
