"""The columns of a page and the order in which they are read.

A page is cut at the white gutter that most of its neighbours share (after the XY-cut of Nagy and Seth, 1984),
but only between what crosses that gutter, such as titles and wide tables; and only where both sides are filled
like columns of text, not like those of a table. What is left and right is then looked at in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Protocol, TypeVar

DEEPEST = 4
_FEWEST_PIECES = 5
_FEWEST_GAPS = 2
_MOST_GUTTERS = 6
# In heights of a line.
_NARROWEST_GUTTER = 0.7
_NARROWEST_COLUMN = 9.0
_GOES_ON = 0.8
_FRESH_START = 1.3
_FILLED = 0.55
_MOST_BESIDE = 1.4
_MOST_ACTIVE = 100


class Placed(Protocol):
    """Something on a page, in points from the top left."""

    @property
    def left(self) -> float: ...
    @property
    def top(self) -> float: ...
    @property
    def right(self) -> float: ...
    @property
    def bottom(self) -> float: ...


Piece = TypeVar("Piece", bound=Placed)


def columns(pieces: Sequence[Piece], depth: int = 0) -> list[list[Piece]]:
    """Divide a page into columns, and what spans them, in the order in which they are read.

    Every piece is in exactly one of them; within one they are from top to bottom.
    """
    ordered = sorted(pieces, key=lambda piece: (piece.top, piece.left))
    if len(ordered) >= _FEWEST_PIECES and depth < DEEPEST:
        for gutter in _gutters(ordered):
            found = _cut(ordered, gutter, depth)
            if found is not None:
                return found
    return [ordered] if ordered else []


def _cut(ordered: Sequence[Piece], gutter: float, depth: int) -> list[list[Piece]] | None:
    """The columns beside a gutter and what spans them, or None if there are no columns of text beside it."""
    found: list[list[Piece]] = []
    spanning: list[Piece] = []
    is_cut = False
    height = _height(ordered)
    for band, crosses in _bands(ordered, gutter):
        if crosses:
            spanning += band
            continue
        head, left, right, tail = _sides(band, gutter, height, bool(spanning), band[-1] is not ordered[-1])
        if not (_is_column(left, height) and _is_column(right, height)):
            spanning += band
            continue
        is_cut = True
        if spanning + head:
            found += columns(spanning + head, depth + 1)
        found += columns(left, depth + 1) + columns(right, depth + 1)
        spanning = tail
    if not is_cut:
        return None
    return found + (columns(spanning, depth + 1) if spanning else [])


def _height(pieces: Sequence[Placed]) -> float:
    return median(piece.bottom - piece.top for piece in pieces)


def _gutters(ordered: Sequence[Placed]) -> list[float]:
    """Where white stripes run between neighbours, those between most of them first."""
    least = _NARROWEST_GUTTER * _height(ordered)
    edges: list[tuple[float, int]] = []
    for left, right in _gaps(ordered):
        if right - left >= least:
            edges += ((left, 1), (right, -1))
    edges.sort()
    found: list[tuple[int, float]] = []
    depth = 0
    for (at, step), (following, next_step) in pairwise(edges):
        depth += step
        if step > 0 > next_step and depth >= _FEWEST_GAPS:
            found.append((-depth, (at + following) / 2))
    return [at for _, at in sorted(found)[:_MOST_GUTTERS]]


def _gaps(ordered: Sequence[Placed]) -> list[tuple[float, float]]:
    """The room between each piece and the next one to its right that stands at the same height."""
    nearest: dict[int, float] = {}
    active: list[int] = []
    for number, piece in enumerate(ordered):
        active = [other for other in active if ordered[other].bottom > piece.top][-_MOST_ACTIVE:]
        for other in active:
            beside = ordered[other]
            overlap = min(beside.bottom, piece.bottom) - piece.top
            if overlap <= 0:
                continue
            if beside.right <= piece.left:
                nearest[other] = min(nearest.get(other, piece.left), piece.left)
            elif piece.right <= beside.left:
                nearest[number] = min(nearest.get(number, beside.left), beside.left)
        active.append(number)
    return [(ordered[number].right, left) for number, left in nearest.items()]


def _bands(ordered: Sequence[Piece], gutter: float) -> list[tuple[list[Piece], bool]]:
    """Runs of pieces that cross the gutter and of those that do not, from top to bottom."""
    bands: list[tuple[list[Piece], bool]] = []
    for piece in ordered:
        crosses = piece.left < gutter < piece.right
        if not bands or bands[-1][1] != crosses:
            bands.append(([], crosses))
        bands[-1][0].append(piece)
    return bands


def _sides(
    band: list[Piece], gutter: float, height: float, follows: bool, leads: bool
) -> tuple[list[Piece], list[Piece], list[Piece], list[Piece]]:
    """Part a band into what still belongs to the spanning text above, left, right, and to that below.

    `follows` and `leads` say whether there is spanning text above and below.
    """
    left = [piece for piece in band if piece.right <= gutter]
    right = [piece for piece in band if piece.right > gutter]
    if not left or not right:
        return [], left, right, []
    head: list[Piece] = []
    tail: list[Piece] = []
    first, last = right[0].top, max(piece.bottom for piece in right)
    if follows and left[0].bottom <= first and len(left) > 1 and left[1].top - left[0].bottom > _GOES_ON * height:
        # The short last line of a paragraph that spans the columns.
        head = [left.pop(0)]
    if leads:
        cut = next((at for at, piece in enumerate(left) if piece.top >= last), len(left))
        above = max((piece.bottom for piece in left[:cut]), default=last)
        if 0 < cut < len(left) and left[cut].top - max(above, last) > _FRESH_START * height:
            left, tail = left[:cut], left[cut:]
    return head, left, right, tail


def _is_column(pieces: Sequence[Placed], height: float) -> bool:
    """Whether they fill their width as running text does."""
    if len(pieces) < 2:
        return False
    width = max(piece.right for piece in pieces) - min(piece.left for piece in pieces)
    if width < _NARROWEST_COLUMN * height:
        return False
    rows, filled, bottom = 0, 0.0, float("-inf")
    for piece in pieces:
        if (piece.top + piece.bottom) / 2 > bottom:
            rows += 1
            bottom = piece.bottom
        filled += piece.right - piece.left
    if rows < 2 or filled < _FILLED * rows * width:
        return False
    # Several columns of text may be left to be parted, but not a table's, whose cells are short.
    widths = (piece.right - piece.left for piece in pieces)
    long = sum(width for width in widths if width >= _NARROWEST_COLUMN * height)
    return long >= filled / 2 or len(pieces) <= _MOST_BESIDE * rows
