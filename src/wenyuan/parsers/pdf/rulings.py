"""The ruling lines of a PDF page: level and upright strokes, thin bars and the edges of rectangles."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from wenyuan.parsers.pdf.frame import PageFrame, Rectangle

MOST_RULINGS = 3000
"""A page with more of them is a drawing, in which no table is looked for."""

_MOST_OBJECTS = 50_000
_MOST_SEGMENTS = 2000
_THICKEST = 3.0
_SHORTEST = 4.0
_LEVEL = 0.5


class Ruling(NamedTuple):
    """A straight line on the page as shown: `at` is its height or, upright, its distance from the left."""

    is_level: bool
    at: float
    start: float
    end: float


def page_rulings(page: Any, frame: PageFrame) -> list[Ruling]:
    """The ruling lines of an open page, an `FPDF_PAGE`; none if there are too many to be a table's."""
    rulings: list[Ruling] = []
    count = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
    for index in range(count):
        item = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_PATH:
            rulings += _path_rulings(item, frame)
            if len(rulings) > MOST_RULINGS:
                return []
    return rulings


def has_picture(page: Any, frame: PageFrame, share: float) -> bool:
    """Whether pictures cover that part of the page, as on a scanned one."""
    covered = 0.0
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_IMAGE:
            pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top)
            covered += abs(right.value - left.value) * abs(top.value - bottom.value)
    return covered >= share * frame.width * frame.height


def _path_rulings(item: Any, frame: PageFrame) -> Iterator[Ruling]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
        return
    bounds = frame.shown(left.value, bottom.value, right.value, top.value)
    if bounds.width < _SHORTEST and bounds.height < _SHORTEST:
        return
    if bounds.height <= _THICKEST or bounds.width <= _THICKEST:
        yield from _bar(bounds)
        return
    filled, stroked = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(item, filled, stroked)
    if stroked.value:
        yield from _segment_rulings(item, frame)


def _bar(bounds: Rectangle) -> Iterator[Ruling]:
    """A line, or a rectangle so thin that it is seen as one."""
    if bounds.width >= max(_SHORTEST, bounds.height):
        yield Ruling(True, (bounds.top + bounds.bottom) / 2, bounds.left, bounds.right)
    elif bounds.height >= _SHORTEST:
        yield Ruling(False, (bounds.left + bounds.right) / 2, bounds.top, bounds.bottom)


def _segment_rulings(item: Any, frame: PageFrame) -> Iterator[Ruling]:
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, matrix):
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    start = before = (0.0, 0.0)
    for number in range(min(pdfium.FPDFPath_CountSegments(item), _MOST_SEGMENTS)):
        segment = pdfium.FPDFPath_GetPathSegment(item, number)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _between(before, point, frame)
        before = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield from _between(before, start, frame)
            before = start


def _between(one: tuple[float, float], other: tuple[float, float], frame: PageFrame) -> Iterator[Ruling]:
    (x1, y1), (x2, y2) = one, other
    bounds = frame.shown(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
    if min(bounds.width, bounds.height) <= _LEVEL:
        yield from _bar(bounds)


def merged(rulings: Iterable[Ruling], tolerance: float) -> list[Ruling]:
    """Rulings of one direction, pieces of one line joined: those at one place that touch or overlap."""
    found: list[Ruling] = []
    clusters: list[list[Ruling]] = []
    for ruling in sorted(rulings, key=lambda ruling: ruling.at):
        if not clusters or ruling.at - clusters[-1][-1].at > tolerance:
            clusters.append([])
        clusters[-1].append(ruling)
    for cluster in clusters:
        at = sum(ruling.at for ruling in cluster) / len(cluster)
        start: float | None = None
        end = 0.0
        for ruling in sorted(cluster, key=lambda ruling: ruling.start):
            if start is not None and ruling.start <= end + tolerance:
                end = max(end, ruling.end)
                continue
            if start is not None:
                found.append(Ruling(ruling.is_level, at, start, end))
            start, end = ruling.start, ruling.end
        if start is not None:
            found.append(Ruling(cluster[0].is_level, at, start, end))
    return found
