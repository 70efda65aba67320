"""The way back: a cited passage where it stands, as text, as lines, as a table, and as a picture of its page."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wenyuan.errors import CitationNotFound, InvalidValue, PlaceHasNoPicture
from wenyuan.parsers.members import LISTING
from wenyuan.parsers.rendering import MOST_SCALE, can_be_shown
from wenyuan.parsers.sandbox import ReadLimits
from wenyuan.rules.tables.rows import table_of
from wenyuan.runtime.pictures import Pictures, Shown
from wenyuan.store import chunks, documents, file_passwords
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Reading
from wenyuan.types import Anchor, Chunk, Document, Revision

_CONTEXT_CHARACTERS = 400
_SEQUENCE_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Place:
    """A cited passage where it stands, with the text around it.

    `context` is what it needs to be understood alone, such as a table's header, and `table` its cells
    below those of the header, row by row, where it is rows of a table. `first_line` is the number of
    the passage's first line in its file where its lines are the file's, else None. `changed_since`
    tells that the document serves another file than the one cited.
    """

    document: Document
    revision: Revision
    anchor: Anchor
    heading_path: tuple[str, ...]
    before: str
    passage: str
    after: str
    changed_since: bool
    context: str = ""
    table: tuple[tuple[str, ...], ...] = ()
    first_line: int | None = None
    has_picture: bool = False


@dataclass(frozen=True, slots=True)
class PlacePicture:
    """A page as PNG, with the passage lit. `page` counts from 1."""

    page: int
    png: bytes


class Places:
    def __init__(self, database: Database, blobs: BlobDirectory, principal: str, limits: ReadLimits) -> None:
        self._database = database
        self._principal = principal
        self._pictures = Pictures(blobs, limits)

    def open(self, citation: str) -> Place:
        """The place a citation (`REVISION.CHUNK`) leads to. Raises `CitationNotFound`."""
        with self._database.read() as tx:
            document, revision, chunk = self._cited(tx, citation)
            start = max(0, chunk.start - _CONTEXT_CHARACTERS)
            text = chunks.revision_text(tx, revision.id, start, chunk.end + _CONTEXT_CHARACTERS)
            changed = _has_changed(tx, document, revision)
        passage = text[chunk.start - start : chunk.end - start]
        return Place(
            document,
            revision,
            chunk.anchor,
            chunk.heading_path,
            text[: chunk.start - start],
            passage,
            text[chunk.end - start :],
            changed,
            chunk.context,
            table_of(chunk.context, passage),
            _first_line(chunk.anchor, passage),
            can_be_shown(revision.media_type) and chunk.anchor.kind == "page",
        )

    def picture(self, citation: str, scale: float = 2.0, page: int | None = None) -> PlacePicture:
        """The page a passage begins on as PNG, or another `page` of its file, with what of it stands there lit.

        The file is opened in a child process.

        `scale` is how many pixels a point of a page, or a pixel of a picture, becomes. Raises
        `CitationNotFound`, `PlaceHasNoPicture`, `InvalidValue`, or `DocumentError` for the file.
        """
        _check_scale(scale)
        with self._database.read() as tx:
            document, revision, chunk = self._cited(tx, citation)
            password = file_passwords.of(tx, document.id)
        anchor, media_type = chunk.anchor, revision.media_type
        if anchor.kind != "page" or not can_be_shown(media_type):
            raise PlaceHasNoPicture(name=document.name, media_type=media_type)
        if page is None:
            page = anchor.boxes[0].page if anchor.boxes else anchor.first
        boxes = tuple(box for box in anchor.boxes if box.page == page)
        shown = Shown(revision.blob_sha256, document.name, media_type, page, boxes, scale)
        return PlacePicture(page, self._pictures.png(shown, password))

    def page(self, document_id: str, page: int, scale: float = 2.0) -> PlacePicture:
        """A page, from 1, of the revision that a document serves, else of its newest, with nothing lit.

        Raises `DocumentNotFound`, `PlaceHasNoPicture`, `InvalidValue`, or `DocumentError` for the file.
        """
        _check_scale(scale)
        with self._database.read() as tx:
            record = documents.find(tx, self._principal, document_id)
            document, latest = record.document, record.latest
            serving = document.serving_revision_id
            found = documents.revision(tx, serving) if serving is not None else None
            revision = found[1] if found is not None else latest
            password = file_passwords.of(tx, document.id)
        if not can_be_shown(revision.media_type):
            raise PlaceHasNoPicture(name=document.name, media_type=revision.media_type)
        shown = Shown(revision.blob_sha256, document.name, revision.media_type, page, (), scale)
        return PlacePicture(page, self._pictures.png(shown, password))

    def _cited(self, tx: Reading, citation: str) -> tuple[Document, Revision, Chunk]:
        revision_id, _, seq = citation.rpartition(".")
        found = documents.revision(tx, revision_id) if _SEQUENCE_NUMBER.fullmatch(seq) else None
        if found is None or found[0].owner != self._principal:
            raise CitationNotFound(citation=citation)
        cited = chunks.of_revision(tx, revision_id, int(seq), 1)
        if not cited or cited[0].seq != int(seq):
            raise CitationNotFound(citation=citation)
        return found[0], found[1], cited[0]


def _check_scale(scale: float) -> None:
    if not 0 < scale <= MOST_SCALE:
        raise InvalidValue(what="The scale", value=scale, reason=f"it must be above 0 and at most {MOST_SCALE:g}")


def _has_changed(tx: Reading, document: Document, cited: Revision) -> bool:
    """Whether the document serves another file by now; one that was only read or cut anew is the same."""
    serving = document.serving_revision_id
    if serving is None or serving == cited.id:
        return False
    found = documents.revision(tx, serving)
    return found is not None and found[1].blob_sha256 != cited.blob_sha256


def _first_line(anchor: Anchor, passage: str) -> int | None:
    is_exact = anchor.kind == "lines" and anchor.name != LISTING and passage.count("\n") == anchor.last - anchor.first
    return anchor.first if is_exact else None
