"""The lines of a page in the order in which they are read: its columns, and the rows in each.

What runs from top to bottom is laid on its side first, so that it is read like any other line. Columns are found where
a gap goes through many rows, as in the XY cut of G. Nagy and S. Seth (1984), but between long lines alone: cells of a
table are short, and are read row by row.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from wenyuan.parsers.pictures.view import Rectangle
from wenyuan.rules.columns import columns
from wenyuan.types import Box

_TALL: Final = 1.5
# Boxes of lines reach a little into one another.
_PADDING: Final = 0.2
_GUTTER: Final = 0.8
"""Least width of the gap between two columns or cells, in heights of a line."""
_COLUMN_TEXT: Final = 14
"""Mean width in characters, Han counting two, below which lines are cells of a table."""


@dataclass(slots=True)
class PlacedLine:
    """A line, where it stands on the page as it is read, and where on the page as it is shown."""

    text: str
    place: Rectangle
    shown: Box

    @property
    def height(self) -> float:
        return self.place.bottom - self.place.top

    @property
    def size(self) -> float:
        """The size of its letters, told by the width of the line: Han are square, others half as wide in the mean.

        The height of a box has an uncertain margin.
        """
        return min(self.height, 2 * (self.place.right - self.place.left) / max(1, columns(self.text)))

    @property
    def middle(self) -> float:
        return (self.place.top + self.place.bottom) / 2


@dataclass(slots=True)
class Row:
    """What stands on one level, from left to right."""

    lines: list[PlacedLine]

    @property
    def place(self) -> Rectangle:
        place = self.lines[0].place
        for line in self.lines[1:]:
            place = place.joined(line.place)
        return place

    @property
    def size(self) -> float:
        return statistics.median(line.size for line in self.lines)

    @property
    def text(self) -> str:
        return "  ".join(line.text for line in self.lines)

    @property
    def box(self) -> Box:
        return joined_box([line.shown for line in self.lines])


class Column(NamedTuple):
    """What is read from top to bottom, on a page with lines so high and letters so large."""

    rows: list[Row]
    height: float
    size: float


def reading_order(lines: Sequence[PlacedLine]) -> Iterator[Column]:
    """The columns of a page one after the other: those of what runs across it, then what runs down."""
    across, down = _by_direction(lines)
    if across:
        height, size = statistics.median(line.height for line in across), body_size(across)
        for column in _columns(across, height):
            yield Column(_rows(column), height, size)
    if down:
        yield Column(_rows(down), statistics.median(line.height for line in down), body_size(down))


def body_size(lines: Sequence[PlacedLine]) -> float:
    """The size of most letters: that of the one in the middle, all of them sorted by it."""
    by_size = sorted(lines, key=lambda line: line.size)
    total, before = sum(len(line.text) for line in lines), 0
    for line in by_size:
        before += len(line.text)
        if 2 * before >= total:
            return line.size
    return by_size[-1].size


def _by_direction(lines: Sequence[PlacedLine]) -> tuple[list[PlacedLine], list[PlacedLine]]:
    """The lines that run across the page, and those that run down, laid on their side: the rightmost is the first."""
    tall = [line.height > _TALL * (line.place.right - line.place.left) for line in lines]
    down = [line for line, is_tall in zip(lines, tall, strict=True) if is_tall]
    # A single letter is high as well.
    if sum(len(line.text) for line in down) < max(8, 0.1 * sum(len(line.text) for line in lines)):
        return list(lines), []
    across = [line for line, is_tall in zip(lines, tall, strict=True) if not is_tall]
    return across, [_on_its_side(line) for line in down]


def _on_its_side(line: PlacedLine) -> PlacedLine:
    left, top, right, bottom = line.place
    return PlacedLine(line.text, Rectangle(top, -right, bottom, -left), line.shown)


# --- Columns and rows -------------------------------------------------------------------------------


def _columns(lines: list[PlacedLine], height: float) -> Iterator[list[PlacedLine]]:
    """Parts of the page, each to be read from top to bottom before the next."""
    waiting = [lines]
    while waiting:
        part = waiting.pop()
        if len(part) < 4:
            yield part
            continue
        bands = _bands(part)
        zones = list(_zones(bands, height))
        if len(zones) == 1 and zones[0][1] is not None:
            gutter = zones[0][1]
            waiting += [
                [line for line in part if _centre(line) > gutter],
                [line for line in part if _centre(line) <= gutter],
            ]
        elif len(zones) == 1:
            yield part
        else:
            waiting += [zone for zone, _ in reversed(zones)]


def _zones(bands: list[list[PlacedLine]], height: float) -> Iterator[tuple[list[PlacedLine], float | None]]:
    """Bands one below the other that share a gap between columns, or share that they have none."""
    zone: list[PlacedLine] = []
    gaps: list[tuple[float, float]] | None = None
    plain: list[PlacedLine] = []
    start = 0
    while start < len(bands):
        zone, gaps, end = list(bands[start]), _gaps(bands[start], height), start + 1
        while gaps and end < len(bands):
            shared = _shared(gaps, zone, bands[end], height)
            if not shared or _is_tabular(bands[end : end + 2], len(shared), height):
                break
            gaps, zone, end = shared, zone + bands[end], end + 1
        gutter = next(
            (sum(gap) / 2 for gap in sorted(gaps, key=lambda gap: gap[0] - gap[1]) if _parts_text(zone, gap)), None
        )
        if gutter is None:
            plain += bands[start]
            start += 1
            continue
        if plain:
            yield plain, None
            plain = []
        yield zone, gutter
        start = end
    if plain:
        yield plain, None


def _bands(lines: list[PlacedLine]) -> list[list[PlacedLine]]:
    """The lines from top to bottom, those together that overlap in height."""
    bands: list[list[PlacedLine]] = []
    bottom = float("-inf")
    for line in sorted(lines, key=lambda line: line.place.top):
        padding = _PADDING * line.height
        if line.place.top + padding >= bottom:
            bands.append([])
        bands[-1].append(line)
        bottom = max(bottom, line.place.bottom - padding)
    return bands


def _gaps(lines: Sequence[PlacedLine], height: float) -> list[tuple[float, float]]:
    """The gaps that go through all of the lines, with something on both sides."""
    gaps = []
    right = float("inf")
    for line in sorted(lines, key=lambda line: line.place.left):
        if line.place.left - right >= _GUTTER * height:
            gaps.append((right, line.place.left))
        right = line.place.right if right == float("inf") else max(right, line.place.right)
    return gaps


def _shared(
    gaps: list[tuple[float, float]], zone: list[PlacedLine], band: list[PlacedLine], height: float
) -> list[tuple[float, float]]:
    """Those gaps of a zone that go on through one band more."""
    return [gap for gap in _gaps([*zone, *band], height) if any(gap[0] < old[1] and gap[1] > old[0] for old in gaps)]


def _is_tabular(bands: list[list[PlacedLine]], gaps: int, height: float) -> bool:
    """Whether the next two bands have more cells than there are columns."""
    return len(bands) == 2 and all(len(_gaps(band, height)) > gaps for band in bands)


def _parts_text(lines: list[PlacedLine], gap: tuple[float, float]) -> bool:
    """Whether there are some lines on both sides of the gap, and long ones, as in columns of text."""
    sides = [[line for line in lines if _centre(line) <= gap[0]], [line for line in lines if _centre(line) >= gap[1]]]
    return all(
        len(side) >= 2 and statistics.mean(columns(line.text) for line in side) >= _COLUMN_TEXT for side in sides
    )


def _centre(line: PlacedLine) -> float:
    return (line.place.left + line.place.right) / 2


def _rows(lines: Sequence[PlacedLine]) -> list[Row]:
    rows: list[Row] = []
    for line in sorted(lines, key=lambda line: line.middle):
        row = rows[-1] if rows else None
        if row and abs(line.middle - row.lines[0].middle) < 0.5 * min(line.height, row.lines[0].height):
            row.lines.append(line)
        else:
            rows.append(Row([line]))
    for row in rows:
        row.lines.sort(key=lambda line: line.place.left)
    return rows


def joined_box(boxes: Sequence[Box]) -> Box:
    """The smallest box around all of them."""
    return Box(
        boxes[0].page,
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )
