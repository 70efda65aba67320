"""Headers and footers: what stands at the same place at the edges of neighbouring pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from wenyuan.parsers.pdf.frame import Rectangle

WINDOW = 6
"""How many pages before and after a page are compared with it."""

_MARGIN = 0.2
_SAME_HEIGHT = 3.0
_LONGEST = 200
_MOST_PIECES = 300
_MOST_ROWS = 3
_FEWEST_ROWS = 4
_APART = 1.6
_LARGEST_OFFSET = 50
_LARGEST_NUMBER_LENGTH = 6
_NUMBER = re.compile(r"\d+")
_FOR_NUMBER = "\0"
_SPACE = re.compile(r"\s+")
_ROMAN = re.compile(r"[-–—\s]*([ivxlc]{1,7}|[IVXLC]{1,7})[-–—\s]*")
_NAMES_PAGE = re.compile(r"page|seite|\bp\.|页|頁", re.I)
_HAS_LETTER = re.compile(r"[^\W\d_]")


class Edge(NamedTuple):
    """A piece of text near the upper or lower edge of a page; `pattern` is its text with NUL for numbers."""

    key: int
    is_upper: bool
    top: float
    pattern: str
    numbers: tuple[str, ...]
    names_page: bool


@dataclass(frozen=True, slots=True)
class Edges:
    """The pieces of text near the edges of one page, and the page's number."""

    page: int
    pieces: tuple[Edge, ...]


def page_edges(page: int, height: float, pieces: Iterable[tuple[int, Callable[[], str], Rectangle]]) -> Edges:
    """Find what might be running heads; each piece has a key by which `running` names it, and says its text."""
    upper, lower = _MARGIN * height, (1 - _MARGIN) * height
    found = [
        _edge(key, rectangle.bottom <= upper, rectangle.top, text())
        for key, text, rectangle in pieces
        if rectangle.bottom <= upper or rectangle.top >= lower
    ]
    if len(found) > _MOST_PIECES:
        return Edges(page, ())
    return Edges(page, tuple(edge for edge in found if 0 < len(edge.pattern) <= _LONGEST))


def _edge(key: int, is_upper: bool, top: float, text: str) -> Edge:
    names_page = _NAMES_PAGE.search(text) is not None
    if _ROMAN.fullmatch(text):
        return Edge(key, is_upper, top, "roman", (), names_page)
    return Edge(
        key, is_upper, top, _SPACE.sub("", _NUMBER.sub(_FOR_NUMBER, text)), tuple(_NUMBER.findall(text)), names_page
    )


def running(page: Edges, neighbours: Iterable[Edges]) -> set[int]:
    """Keys of the pieces on `page` that are headers or footers.

    They stand at the same height on at least two of the neighbours (one, if there is no other), with the
    same words and the same numbers, or numbers that count pages; and nothing else stands further out.
    """
    others = [other for other in neighbours if other.page != page.page]
    needed = min(2, len(others))
    if not needed:
        return set()
    by_pattern = [(other.page - page.page, _by_pattern(other)) for other in others]
    found = {piece.key: piece for piece in page.pieces if _recurs_on(piece, page.page, by_pattern, needed)}
    numbers = [piece.top for piece in found.values() if not _HAS_LETTER.search(piece.pattern)]
    # What stands beside a page's number changes with the chapter.
    beside = {piece.key for piece in page.pieces if any(abs(piece.top - top) <= _SAME_HEIGHT for top in numbers)}
    heads = beside | set(found)
    upper = sorted((piece for piece in page.pieces if piece.is_upper), key=lambda piece: piece.top)
    lower = sorted((piece for piece in page.pieces if not piece.is_upper), key=lambda piece: -piece.top)
    for side in (upper, lower):
        heads |= _rest_of_row(side, found.keys())
    return _outermost(upper, heads) | _outermost(lower, heads)


def _rest_of_row(pieces: Sequence[Edge], found: Collection[int]) -> set[int]:
    """What stands beside a recurring chapter in the row furthest out, such as a section that changes with every page.

    Only where that row stands apart from the rows that follow, as one of a table does not.
    """
    rows: list[list[Edge]] = []
    for piece in pieces:
        if rows and abs(piece.top - rows[-1][0].top) <= _SAME_HEIGHT:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    if len(rows) < _FEWEST_ROWS or not any(one.key in found and _HAS_LETTER.search(one.pattern) for one in rows[0]):
        return set()
    first, *pitches = (abs(below[0].top - above[0].top) for above, below in pairwise(rows))
    return {piece.key for piece in rows[0]} if first >= _APART * median(pitches) else set()


def _outermost(pieces: Iterable[Edge], heads: set[int]) -> set[int]:
    """Those in the first rows, counted from the edge, as far as nothing but heads stands there."""
    found: set[int] = set()
    row: list[Edge] = []
    rows = 0
    for piece in (*pieces, None):
        if piece is not None and (not row or abs(piece.top - row[0].top) <= _SAME_HEIGHT):
            row.append(piece)
            continue
        if rows == _MOST_ROWS or not all(other.key in heads for other in row):
            return found
        found.update(other.key for other in row)
        rows += 1
        row = [piece] if piece is not None else []
    return found


def _by_pattern(edges: Edges) -> dict[str, list[Edge]]:
    patterns: dict[str, list[Edge]] = {}
    for piece in edges.pieces:
        patterns.setdefault(piece.pattern, []).append(piece)
    return patterns


def _recurs_on(piece: Edge, page: int, by_pattern: Sequence[tuple[int, dict[str, list[Edge]]]], needed: int) -> bool:
    """Whether a piece recurs on so many of the pages."""
    spare = len(by_pattern) - needed
    for distance, patterns in by_pattern:
        if _recurs(piece, page, distance, patterns):
            needed -= 1
            if not needed:
                return True
        else:
            spare -= 1
            if spare < 0:
                return False
    return False


def _recurs(piece: Edge, page: int, distance: int, patterns: dict[str, list[Edge]]) -> bool:
    top = piece.top
    for other in patterns.get(piece.pattern, ()):
        if -_SAME_HEIGHT <= top - other.top <= _SAME_HEIGHT and _counts_pages(piece, other, page, distance):
            return True
    return False


def _counts_pages(piece: Edge, other: Edge, page: int, distance: int) -> bool:
    """Whether each number is the same on both pages, or counts them."""
    pairs = list(zip(piece.numbers, other.numbers, strict=True))
    others = [(number, following) for number, following in pairs if number != following]
    for number, following in others:
        if max(len(number), len(following)) > _LARGEST_NUMBER_LENGTH or int(following) - int(number) != distance:
            return False
    if not pairs:
        return True
    if not _HAS_LETTER.search(piece.pattern):
        # A number alone that stays is a table's or a date's.
        return len(others) == len(pairs) or len(pairs) > 1
    return piece.names_page or all(abs(int(number) - page) <= _LARGEST_OFFSET for number, _ in others)
