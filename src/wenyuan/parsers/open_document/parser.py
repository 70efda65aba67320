"""OpenDocument texts (ODF 1.3 part 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wenyuan.errors import FileOverLimit, LockNotOpened
from wenyuan.parsers.office.notices import object_notices, text_notices
from wenyuan.parsers.office.package import cleaned_properties, margins_of
from wenyuan.parsers.office.xml import part_tree, release, streamed_elements
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.parsers.open_document.names import DC, META, OFFICE, STYLE, TEXT
from wenyuan.parsers.open_document.styles import STYLE_TAGS, DocumentStyles
from wenyuan.parsers.open_document.text import (
    CONTENTS,
    LISTS,
    PARAGRAPHS,
    ROWS,
    SHAPES,
    TABLES,
    WRAPPERS,
    DocumentText,
    TableRows,
    within,
)
from wenyuan.types import Facts, Notice, ReadEvent

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_ELEMENTS = 1_000_000
"""Paragraphs, lists, rows and tables that are read of one document: some 20,000 pages."""
MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
CONTENT = "content.xml"

_STYLES = "styles.xml"
_META = "meta.xml"
_MANIFEST = "META-INF/manifest.xml"
_CHANGE = f"{TEXT}changed-region"
_PROPERTIES = {
    f"{DC}title": "title",
    f"{DC}creator": "author",
    f"{META}initial-creator": "author",
    f"{DC}subject": "subject",
    f"{DC}description": "description",
    f"{META}keyword": "keywords",
    f"{META}creation-date": "created",
    f"{DC}date": "modified",
}


class OpenDocumentParser:
    """Reads a text's body in its order, with notes, comments and text boxes after the paragraph they belong to."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_archive(path, name, "OpenDocument") as archive:
            refuse_encrypted(archive)
            metadata = properties_of(archive)
            title = str(metadata.pop("title", ""))
            yield Facts(MEDIA_TYPE, "", title, "", metadata)
            styles = DocumentStyles()
            document = _Document(archive, styles)
            metadata |= document.margins(add_styles(archive, styles))
            yield from document.events()
            title = title or document.text.blocks.top_heading
            yield Facts(MEDIA_TYPE, "", title, "", metadata, document.quality())
            yield from document.notices()


class _Document:
    """One text while it is read."""

    def __init__(self, archive: ZipArchive, styles: DocumentStyles) -> None:
        self.text = DocumentText(archive, styles)
        self._archive = archive
        self._styles = styles
        self._table: _Element | None = None
        self._rows: TableRows | None = None
        self._changes: Counter[str] = Counter()

    def events(self) -> Iterator[ReadEvent]:
        """Yield the blocks of the body."""
        tags = (*STYLE_TAGS, *PARAGRAPHS, *LISTS, *TABLES, *ROWS, *SHAPES, *CONTENTS, _CHANGE)
        for number, element in enumerate(streamed_elements(self._archive, CONTENT, *tags)):
            if number > MOST_ELEMENTS:
                raise FileOverLimit(name=self._archive.name, what=f"more than {MOST_ELEMENTS:,} paragraphs")
            tag = element.tag
            if tag in STYLE_TAGS:
                self._styles.add(element)
                continue
            if tag in ROWS:
                table = _outside(element)
                if table.tag not in TABLES or _outside(table).tag != f"{OFFICE}text":
                    continue
                self._row(table, element)
            elif tag == _CHANGE:
                self._changes += Counter(child.tag for child in element)
            elif _outside(element).tag != f"{OFFICE}text":
                continue
            elif tag in TABLES:
                if self._rows is not None:
                    self._rows.end()
                self._table = self._rows = None
            elif tag in CONTENTS:
                self.text.counts["contents_entries"] += sum(1 for _ in within(element, PARAGRAPHS))
            else:
                self.text.block(element)
            release(element)
            if self.text.blocks.ready:
                yield from self.text.blocks.take()

    def _row(self, table: _Element, row: _Element) -> None:
        if self._rows is None or table is not self._table:
            self._table, self._rows = table, TableRows(self.text, table)
        self._rows.add(row)

    def margins(self, styles: _Element | None) -> dict[str, str]:
        """What stands at the top and the bottom of every page."""
        found: dict[str, list[str]] = {"header": [], "footer": []}
        for kind, texts in found.items():
            for element in styles.iter(f"{STYLE}{kind}") if styles is not None else ():
                texts.append(self.text.cell_text(element))
        self.text.forget_hangers()
        return margins_of(found)

    def quality(self) -> dict[str, int]:
        insertions, deletions = self._changes[f"{TEXT}insertion"], self._changes[f"{TEXT}deletion"]
        counts = self.text.counts + Counter(tables=self.text.blocks.tables, insertions=insertions, deletions=deletions)
        return {key: count for key, count in counts.items() if count}

    def notices(self) -> Iterator[Notice]:
        yield from text_notices(self._changes.total(), self.text.hidden)
        yield from object_notices(0, self.text.objects)


def refuse_encrypted(archive: ZipArchive) -> None:
    """Raises `LockNotOpened` for a file that is protected with a password."""
    if _MANIFEST in archive and b"encryption-data" in archive.read(_MANIFEST):
        raise LockNotOpened(name=archive.name, format="an OpenDocument file")


def add_styles(archive: ZipArchive, styles: DocumentStyles) -> _Element | None:
    """Take the styles that are not automatic, and return the root of their part."""
    if _STYLES not in archive:
        return None
    root = part_tree(archive, _STYLES)
    for element in root.iter(*STYLE_TAGS):
        styles.add(element)
    return root


def properties_of(archive: ZipArchive) -> dict[str, Any]:
    """What the document says of itself, under the names that all readers use; dates in ISO 8601."""
    found: dict[str, str] = {}
    for element in part_tree(archive, _META).iter(*_PROPERTIES) if _META in archive else ():
        key, text = _PROPERTIES[element.tag], (element.text or "").strip()
        if key == "keywords" and key in found:
            found[key] += f", {text}"
        elif key != "author" or element.tag == f"{META}initial-creator" or key not in found:
            found[key] = text or found.get(key, "")
    return cleaned_properties(found)


def _outside(element: _Element) -> _Element:
    """The element that holds another, apart from wrappers that mean nothing for the text."""
    outside = element.getparent()
    while outside is not None and outside.tag in WRAPPERS:
        outside = outside.getparent()
    return element if outside is None else outside
