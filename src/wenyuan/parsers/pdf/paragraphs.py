"""Paragraphs, list items and tables of one column of a PDF page, from its lines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from wenyuan.parsers.pdf.characters import Font
from wenyuan.parsers.pdf.frame import Rectangle, around
from wenyuan.parsers.pdf.letters import HYPHENS, Divides, always_divides, is_wide, joined_lines, without_marks
from wenyuan.parsers.pdf.lines import Fragment, Line, lines_of
from wenyuan.parsers.pdf.tables import Table, aligned_tables

# In heights of a line.
_PARTED = 0.4
_INDENTED = 0.8
_HANGING = 0.5
_HUNG = 4.0
_FITS = 0.3
_FITS_OPEN = 1.0
_WIDE_FITS = 1.6
_WIDE_FITS_OPEN = 4.0
_OTHER_SIZE = 0.12
_WIDEST_PITCH = 2.5
_OPEN_PITCH = 1.6
_NARROW_PITCH = 1.2
_TOO_LONG = 0.1
_TITLE_SIZE = 1.3
_BULLETS = "•●○■□▪◦‣·∙–—\uf0b7\uf0a7\uf06c\uf0d8\uf0fc\uf02d"
_MARKER = re.compile(
    rf"(?:[{_BULLETS}*-]\s*|[(（](?:\d{{1,3}}|[一二三四五六七八九十]{{1,3}}|[a-z]|[ivx]{{1,4}})[)）]\s*"
    r"|\d{1,3}(?:[.)）](?!\d)\s*|、)|[a-zA-Z][.)]\s+|[①-⑳]\s*|\[\d{1,3}\]\s+)(?=\S)"
)
_NUMBERING = re.compile(r"\d{1,3}(?:\.\d{1,3})*\.?\s+\S")
_PRIVATE_BULLET = re.compile(f"^[{_BULLETS[-6:]}]")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_CLOSING = 10
_CLOSED = re.compile(r"[.!?。！？：:…][\"'”’」』）)\]]*$")


@dataclass(slots=True, eq=False)
class Paragraph:
    """Lines that are read as one. `fills` says whether its last line reaches the end of its column."""

    text: str
    rectangle: Rectangle
    font: Font
    line_count: int
    first_baseline: float = 0.0
    last_baseline: float = 0.0
    is_item: bool = False
    is_apart: bool = True
    """Whether more room stands above it than between lines."""
    is_indented: bool = False
    fills: bool = False

    @property
    def is_open(self) -> bool:
        """Whether its sentence goes on in the next column or on the next page."""
        return self.fills and (self.text[-1:] in HYPHENS or not _CLOSED.search(self.text[-_CLOSING:]))


def paragraphs(fragments: Iterable[Fragment | Table], divides: Divides = always_divides) -> list[Paragraph | Table]:
    """The paragraphs and tables of one column, from top to bottom."""
    placed = list(fragments)
    tables = [piece for piece in placed if isinstance(piece, Table)]
    found: list[Paragraph | Table] = []
    column = _Column(lines_of(piece for piece in placed if isinstance(piece, Fragment)), divides)
    run: list[Line] = []
    for piece in sorted([*aligned_tables(column.lines), *tables], key=lambda piece: piece.top):
        if isinstance(piece, Table):
            found += column.paragraphs(run)
            run = []
            found.append(piece)
        else:
            run.append(piece)
    return found + column.paragraphs(run)


class _Column:
    """What the lines of a column have in common."""

    def __init__(self, lines: list[Line], divides: Divides) -> None:
        self.lines = lines
        self._divides = divides
        self._left = min((line.left for line in lines), default=0.0)
        rights = sorted(line.right for line in lines)
        # One line in ten may be too long for the column.
        self._right = rights[-1 - int(_TOO_LONG * (len(rights) - 1))] if rights else 0.0
        self._pitch = _usual_pitch(lines)
        self._size = median(line.font.size for line in lines) if lines else 0.0

    def paragraphs(self, lines: Sequence[Line]) -> list[Paragraph]:
        found: list[Paragraph] = []
        group: list[Line] = []
        for line in lines:
            if group and self._begins(group, line):
                found.append(self._paragraph(group))
                group = []
            group.append(line)
        if group:
            found.append(self._paragraph(group))
        for above, below in itertools.pairwise(found):
            smaller = min(above.font.size, below.font.size)
            pitch = below.first_baseline - above.last_baseline
            below.is_apart = pitch > (self._pitch + _PARTED) * smaller
        return found

    def _begins(self, group: Sequence[Line], line: Line) -> bool:
        """Whether a new paragraph begins with `line`, which follows the group."""
        above = group[-1]
        height = min(above.height, line.height)
        size, size_above = line.font.size, above.font.size
        if line.baseline - above.baseline > (self._pitch + _PARTED) * min(size, size_above):
            return True
        if abs(size - size_above) > _OTHER_SIZE * max(size, size_above) or line.font.is_bold != above.font.is_bold:
            return True
        if self._is_centred_title(above, line):
            return False
        marked = _MARKER.match(line.text)
        if not marked and _NUMBERING.match(group[0].text) and 0 < line.left - group[0].left < _HUNG * height:
            # The title of a numbered section, whose number stands out.
            return False
        ends = self._ends(above, line)
        if _MARKER.match(group[0].text):
            hangs = line.left - group[0].left > _HANGING * height
            if marked:
                return not hangs or ends or marked[0][0] in _BULLETS
            return not hangs and ends
        if marked and (ends or line.left > above.left + _INDENTED * height or marked[0][0] in _BULLETS):
            return True
        if line.left - above.left > _INDENTED * height:
            return True
        if len(group) > 1 and above.left - line.left > _INDENTED * height:
            return True
        return ends

    def _is_centred_title(self, above: Line, line: Line) -> bool:
        """Whether two lines in the same large letters stand centred above each other: a title is in one piece."""
        height = min(above.height, line.height)
        if min(line.font.size, above.font.size) < _TITLE_SIZE * self._size or line.font != above.font:
            return False
        is_centred = abs(line.left + line.right - above.left - above.right) < height
        return is_centred and abs(line.left - above.left) > _INDENTED * height

    def _ends(self, above: Line, line: Line) -> bool:
        """Whether `above` is a paragraph's last line: what `line` begins with would still have fitted."""
        if above.text[-1:] in HYPHENS:
            return False
        is_closed = _CLOSED.search(above.text[-_CLOSING:]) is not None
        if is_wide(line.text[0]):
            needed = (_WIDE_FITS if is_closed else _WIDE_FITS_OPEN) * line.height
        else:
            word = line.fragments[0].words[0]
            needed = min(word.right - word.left, (self._right - self._left) / 2)
            needed += (_FITS if is_closed else _FITS_OPEN) * line.height
        return self._right - above.right > needed

    def _paragraph(self, lines: Sequence[Line]) -> Paragraph:
        text = ""
        for line in lines:
            text = joined_lines(text, line.text, self._divides)
        is_item = _MARKER.match(text) is not None
        first, last = lines[0], lines[-1]
        return Paragraph(
            _PRIVATE_BULLET.sub("•", text),
            around(line.rectangle for line in lines),
            max(lines, key=lambda line: line.right - line.left).font,
            len(lines),
            first.baseline,
            last.baseline,
            is_item=is_item,
            is_indented=first.left - self._left > _INDENTED * first.height,
            fills=self._right - last.right < _WIDE_FITS * last.height or last.text[-1:] in HYPHENS,
        )


def _usual_pitch(lines: Sequence[Line]) -> float:
    """How far apart the baselines of lines usually are, in sizes of their letters."""
    pitches = [
        (below.baseline - above.baseline) / below.font.size
        for above, below in itertools.pairwise(lines)
        if below.font.size and abs(below.font.size - above.font.size) <= _OTHER_SIZE * below.font.size
    ]
    near = [pitch for pitch in pitches if 0 < pitch < _WIDEST_PITCH]
    if not near:
        return _NARROW_PITCH
    usual = median(near)
    return usual if len(near) > 2 else min(usual, _OPEN_PITCH)


def goes_on(above: Paragraph, below: Paragraph) -> bool:
    """Whether the last paragraph of a column or page goes on in the first one of the next."""
    if not above.is_open or below.is_indented or below.is_item or above.font.is_bold != below.font.is_bold:
        return False
    if abs(above.font.size - below.font.size) > _OTHER_SIZE * above.font.size:
        return False
    first, last = below.text[:1], above.text[-1:]
    if last in HYPHENS:
        return first.isalnum()
    if not _LETTERS.search(below.text):
        return False
    return first.islower() or is_wide(first) or is_wide(last) or above.line_count + below.line_count > 2


def finished(text: str) -> str:
    """The text of a paragraph to which nothing more will be joined."""
    return without_marks(text)
