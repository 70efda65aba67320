"""PDF files: text in reading order, headings, lists, tables, form fields and notes, each with its place on the page.

A few pages are read ahead, by which headers and footers are known; what a page needs is let go with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2

from wenyuan.errors import NeedsOcr
from wenyuan.parsers.passwords import given_password
from wenyuan.parsers.pdf.blocks import BlockMaker
from wenyuan.parsers.pdf.facts import document_language, document_metadata, document_outline
from wenyuan.parsers.pdf.headings import Headings
from wenyuan.parsers.pdf.hyphenation import Hyphenation
from wenyuan.parsers.pdf.layout import edges_of, page_items, without_running_heads
from wenyuan.parsers.pdf.opening import opened_pdf
from wenyuan.parsers.pdf.page import PageContent, read_page
from wenyuan.parsers.pdf.running_heads import WINDOW, Edges
from wenyuan.parsers.pictures.recognition import allowance
from wenyuan.parsers.pictures.recognition_notices import scan_notices
from wenyuan.types import Block, Facts, Notice, ReadEvent

MEDIA_TYPE = "application/pdf"

_PAGES_PER_OPENING = 400
"""PDFium keeps what it has read of a file; opening it anew frees that."""

_NAMED_PAGES = 20


class PdfParser:
    """Reads PDF files page by page."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield blocks with `page` anchors. Raises `FileEncrypted`, `PasswordWrong`, `FileMalformed`, `NeedsOcr`."""
        pages = _Pages(path, name)
        try:
            yield from _Reading(pages).events()
        finally:
            pages.close()


class _Pages:
    """The pages of a file, which is opened anew from time to time."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.damaged: list[int] = []
        self._path = path
        self.document = self._opened()

    def __len__(self) -> int:
        return len(self.document)

    def close(self) -> None:
        self.document.close()

    def __iter__(self) -> Iterator[PageContent]:
        for number in range(1, len(self) + 1):
            if number > 1 and number % _PAGES_PER_OPENING == 1:
                self.document.close()
                self.document = self._opened()
            try:
                yield read_page(self.document, number, self.name)
            except pypdfium2.PdfiumError:
                self.damaged.append(number)

    def _opened(self) -> pypdfium2.PdfDocument:
        return opened_pdf(self._path, self.name, given_password.get())


@dataclass(slots=True)
class _Counts:
    running_heads: int = 0
    without_text: list[int] = field(default_factory=list)
    recognised: int = 0
    is_unread: bool = False
    """Whether a page without text was not given to text recognition, because there is none."""
    has_text: bool = False


class _Reading:
    """One pass over the pages: each is laid out when the pages after it are known."""

    def __init__(self, pages: _Pages) -> None:
        self._pages = pages
        self._counts = _Counts()
        self._headings = Headings(document_outline(pages.document))
        self._hyphenation = Hyphenation()
        self._maker = BlockMaker(self._headings, self._hyphenation.divides)
        self._language = document_language(pages.document)
        self._metadata = document_metadata(pages.document)
        self._title = self._metadata.pop("title", "")

    def events(self) -> Iterator[ReadEvent]:
        if self._title:
            yield self._facts()
        for content, edges, neighbours in self._with_neighbours():
            self._counts.running_heads += without_running_heads(content, edges, neighbours)
            yield from self._noted(self._blocks(content))
        yield from self._noted(self._maker.rest())
        yield from self._notices()
        yield self._facts()

    def _with_neighbours(self) -> Iterator[tuple[PageContent, Edges, list[Edges]]]:
        """Yield each page with the edges of those before and after it."""
        waiting: deque[tuple[PageContent, Edges]] = deque()
        edges: deque[Edges] = deque(maxlen=2 * WINDOW + 1)
        for content in self._pages:
            for fragments in content.fragments.values():
                self._headings.learn(fragments)
            self._hyphenation.learn(content.text)
            content.text = ""
            found = edges_of(content)
            waiting.append((content, found))
            edges.append(found)
            if len(waiting) > WINDOW:
                yield (*waiting.popleft(), list(edges))
        while waiting:
            content, found = waiting.popleft()
            yield content, found, [other for other in edges if abs(other.page - content.number) <= WINDOW]

    def _blocks(self, content: PageContent) -> Iterator[Block]:
        if content.lacks_text and not content.recognised:
            self._counts.without_text.append(content.number)
            self._counts.is_unread = self._counts.is_unread or content.recognised is None
        if content.recognised:
            self._counts.recognised += 1
            yield from self._maker.recognised(content.recognised)
        yield from self._maker.page(content.number, content.frame, page_items(content, self._hyphenation.divides))
        if content.remarks:
            yield from self._maker.remarks(content.number, content.frame, content.remarks)

    def _noted(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            self._counts.has_text = self._counts.has_text or not block.text.isspace()
            yield block

    def _notices(self) -> Iterator[Notice]:
        without = self._counts.without_text
        if without and not self._counts.has_text and self._counts.is_unread:
            raise NeedsOcr(name=self._pages.name)
        if without:
            message = f"{_named(without)} no text, only a picture or unreadable letters; they are not searched."
            yield Notice("pages-without-text", message)
        yield from scan_notices(allowance())
        if self._pages.damaged:
            yield Notice("pages-damaged", f"{_named(self._pages.damaged)} damage and could not be read.")

    def _facts(self) -> Facts:
        quality = {
            "pages": len(self._pages),
            "pages_without_text": len(self._counts.without_text),
            "pages_recognised": self._counts.recognised,
            "tables": self._maker.tables,
            "headers_removed": self._counts.running_heads,
        }
        title = self._title or self._headings.largest
        return Facts(MEDIA_TYPE, "", title, self._language, self._metadata, quality)


def _named(pages: list[int]) -> str:
    if len(pages) == 1:
        return f"Page {pages[0]} has"
    named = ", ".join(map(str, pages[:_NAMED_PAGES]))
    return f"Pages {named}{' and others' if len(pages) > _NAMED_PAGES else ''} have"
