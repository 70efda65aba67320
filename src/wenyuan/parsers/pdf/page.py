"""One page of a PDF, read while it is open: its fragments of text, ruling lines and annotations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pypdfium2
import pypdfium2.raw as pdfium

from wenyuan.parsers.pdf.characters import PageText, Word, garbled_share, page_words, visible_count
from wenyuan.parsers.pdf.fields import Annotations, Link, Remark, page_annotations
from wenyuan.parsers.pdf.frame import PageFrame, Rectangle
from wenyuan.parsers.pdf.letters import HYPHENS
from wenyuan.parsers.pdf.lines import Fragment, Type, fragments_of
from wenyuan.parsers.pdf.rulings import Ruling, has_picture, page_rulings
from wenyuan.parsers.pdf.scans import recognised_page
from wenyuan.types import Block

_MOSTLY = 0.5
_FEW_CHARACTERS = 25
_PICTURE_SHARE = 0.05
# More objects than a blank form has: its letters may be drawn as outlines.
_MANY_OBJECTS = 200


@dataclass(slots=True)
class PageContent:
    """What was found on a page; nothing in it needs the page to stay open."""

    number: int
    """1-based."""
    frame: PageFrame
    fragments: dict[int, list[Fragment]] = field(default_factory=dict)
    """By the turn of their words, each in the level frame of that turn."""
    text: str = ""
    """As PDFium has it, in its order."""
    rulings: list[Ruling] = field(default_factory=list)
    remarks: tuple[Remark, ...] = ()
    recognised: list[Block] | None = None
    """What text recognition made of the page instead."""
    lacks_text: bool = False
    """Whether there is something to be read on it that is not text."""

    @property
    def main_turn(self) -> int:
        """The turn that most of its text has."""
        sizes = {turn: sum(len(fragment.words) for fragment in found) for turn, found in self.fragments.items()}
        return max(sizes, key=lambda turn: (sizes[turn], -turn), default=0)


def read_page(document: pypdfium2.PdfDocument, number: int, name: str) -> PageContent:
    """Read page `number`, from 1. Raises `pypdfium2.PdfiumError` for a page that cannot be loaded."""
    page = document[number - 1]
    try:
        return _content(document, page, number, name)
    finally:
        page.close()


def page_frame(page: pypdfium2.PdfPage) -> PageFrame:
    """The visible part of a page."""
    left, bottom, right, top = page.get_bbox()
    return PageFrame(left, bottom, right, top, page.get_rotation() // 90 % 4)


def _content(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, number: int, name: str) -> PageContent:
    content = PageContent(number, page_frame(page))
    form = document.formenv.raw if document.formenv else None
    annotations = page_annotations(document.raw, page.raw, form, content.frame)
    content.remarks = annotations.remarks
    text_page = page.get_textpage()
    try:
        text = PageText(text_page.raw)
        words = page_words(text, content.frame)
        content.lacks_text = _lacks_text(page, content.frame, words)
        if content.lacks_text:
            content.recognised = recognised_page(page, number, name)
            if garbled_share(words) > _MOSTLY:
                words = []
        if not content.recognised:
            content.text = text.text
            _add_text(content, text, words, annotations)
            content.rulings = page_rulings(page.raw, content.frame) if words else []
    finally:
        text_page.close()
    return content


def _lacks_text(page: pypdfium2.PdfPage, frame: PageFrame, words: list[Word]) -> bool:
    count = visible_count(words)
    if not count:
        many = pdfium.FPDFPage_CountObjects(page.raw) > _MANY_OBJECTS
        return many or has_picture(page.raw, frame, _PICTURE_SHARE)
    if count < _FEW_CHARACTERS and has_picture(page.raw, frame, _MOSTLY):
        return True
    return garbled_share(words) > _MOSTLY


def _add_text(content: PageContent, text: PageText, words: list[Word], annotations: Annotations) -> None:
    by_turn: dict[int, list[Word]] = {0: words} if words else {}
    if any(word.turn for word in words):
        by_turn = {}
        for word in words:
            by_turn.setdefault(word.turn, []).append(word)
    if annotations.links:
        _add_addresses(annotations.links, words, content.frame)

    def type_of(word: Word) -> Type:
        across, up = text.origin(word.first)
        return Type(
            text.font(word.first), content.frame.level(content.frame.shown(across, up, across, up), word.turn).top
        )

    content.fragments = {turn: fragments_of(found, type_of) for turn, found in by_turn.items()}


def _add_addresses(links: Iterable[Link], words: list[Word], frame: PageFrame) -> None:
    """Write the address of a link behind its last word, unless the words are the address."""
    merged: list[tuple[str, list[Word]]] = []
    for link in links:
        inside = [word for word in words if _is_inside(word, link.rectangle, frame)]
        if merged and merged[-1][0] == link.address:
            merged[-1][1].extend(inside)
        else:
            merged.append((link.address, inside))
    for address, inside in merged:
        bare = address.partition(":")[2].strip("/")
        shown = "".join(word.text for word in inside).strip(HYPHENS)
        if inside and bare not in shown and inside[-1].text[-1] not in HYPHENS:
            inside[-1].text += f" ({address})"


def _is_inside(word: Word, rectangle: Rectangle, frame: PageFrame) -> bool:
    shown = frame.from_level(Rectangle(word.left, word.top, word.right, word.bottom), word.turn)
    across, down = (shown.left + shown.right) / 2, (shown.top + shown.bottom) / 2
    return rectangle.left <= across <= rectangle.right and rectangle.top <= down <= rectangle.bottom
