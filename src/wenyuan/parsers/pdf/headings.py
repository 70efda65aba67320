"""The headings of a PDF: what its outline names, and what stands out by size, weight or a chapter's number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from wenyuan.parsers.pdf.lines import Fragment
from wenyuan.parsers.pdf.paragraphs import Paragraph, finished
from wenyuan.rules.columns import columns

_LARGER = 1.15
_MUCH_LARGER = 1.4
_SAME_SIZE = 0.4
_LONGEST = 200
_LONGEST_BOLD = 80
_LONGEST_CHAPTER = 60
_MOST_LINES = 10
_DEEPEST = 20
_TITLE_WITHIN = 3
_KEY_LENGTH = 200
_SENTENCE = re.compile(r"[.。!！?？;；,，]$")
_CHAPTER = re.compile(r"第\s?[一二三四五六七八九十百零〇\d]{1,6}\s?[章节節編编篇部卷]")
_NUMBERING = re.compile(r"^(\d{1,3}(?:\.\d{1,3})*)[.、)]?\s*(?=\D)")
_NOT_WORD = re.compile(r"[\W_]+")
_HAS_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark: level from 0, title, and the page it leads to, from 1."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class _Open:
    title: str
    size: float
    depth: int
    level: int | None


class Headings:
    """Knows the headings that are open at a place of the document."""

    def __init__(self, outline: Iterable[OutlineEntry] = ()) -> None:
        self._outline: dict[int, list[tuple[str, int]]] = {}
        for entry in outline:
            self._outline.setdefault(entry.page, []).append((_key(entry.title), entry.level))
        self._sizes: Counter[float] = Counter()
        self._bold = 0
        self._plain = 0
        self._open: list[_Open] = []
        self.largest = ""
        """Text of the heading in the largest letters on the first pages."""
        self._largest_size = 0.0

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the open headings, outermost first."""
        return tuple(heading.title for heading in self._open)

    def learn(self, fragments: Iterable[Fragment]) -> None:
        """Take the letters of a page into account, of which most are the body's."""
        for fragment in fragments:
            count = sum([len(word.text) for word in fragment.words])
            self._sizes[round(fragment.font.size * 2) / 2] += count
            if fragment.font.is_bold:
                self._bold += count
            else:
                self._plain += count

    def take(self, paragraph: Paragraph, page: int) -> bool:
        """Say whether a paragraph is a heading, and open its section if it is."""
        level = self._outline_level(paragraph, page)
        if level is None and not self._stands_out(paragraph):
            return False
        numbering = _NUMBERING.match(paragraph.text)
        depth = numbering[1].count(".") + 1 if numbering else 0
        title = " ".join(finished(paragraph.text).split())[:_KEY_LENGTH]
        heading = _Open(title, paragraph.font.size, depth, level)
        while self._open and not _is_within(heading, self._open[-1]):
            self._open.pop()
        del self._open[_DEEPEST:]
        self._open.append(heading)
        if page <= _TITLE_WITHIN and heading.size > self._largest_size + _SAME_SIZE:
            self.largest, self._largest_size = heading.title, heading.size
        return True

    def _outline_level(self, paragraph: Paragraph, page: int) -> int | None:
        entries = self._outline.get(page)
        if not entries or paragraph.line_count > _MOST_LINES or len(paragraph.text) > _KEY_LENGTH:
            return None
        key = _key(paragraph.text)
        for number, (title, level) in enumerate(entries):
            if key and key == title:
                del entries[number]
                return level
        return None

    def _stands_out(self, paragraph: Paragraph) -> bool:
        text = paragraph.text
        width = columns(text)
        if paragraph.line_count > _MOST_LINES or width > _LONGEST or not _HAS_LETTER.search(text):
            return False
        body = self._sizes.most_common(1)[0][0] if self._sizes else paragraph.font.size
        if paragraph.font.size >= (_MUCH_LARGER if _SENTENCE.search(text) else _LARGER) * body:
            return True
        if paragraph.font.size < 0.95 * body or not paragraph.is_apart or _SENTENCE.search(text):
            return False
        if _CHAPTER.match(text):
            return width <= _LONGEST_CHAPTER
        return paragraph.font.is_bold and width <= _LONGEST_BOLD and self._bold < self._plain


def _is_within(heading: _Open, outer: _Open) -> bool:
    if heading.level is not None and outer.level is not None:
        return heading.level > outer.level
    if heading.size < outer.size - _SAME_SIZE:
        return True
    return abs(heading.size - outer.size) <= _SAME_SIZE and heading.depth > outer.depth > 0


def _key(title: str) -> str:
    """What is compared of a title: its letters and digits, without its number."""
    return _NOT_WORD.sub("", _NUMBERING.sub("", title.strip())).casefold()
