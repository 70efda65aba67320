"""Tables of a PDF page: ruled ones, cell by cell between their lines, and others by how their cells align."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wenyuan.parsers.forms import is_form
from wenyuan.parsers.pdf.characters import Word
from wenyuan.parsers.pdf.frame import Rectangle, around
from wenyuan.parsers.pdf.letters import joined_lines, without_marks
from wenyuan.parsers.pdf.lines import Fragment, Line, Type, fragments_of, lines_of
from wenyuan.parsers.pdf.rulings import Ruling, merged

_TOUCH = 3.0
_NARROWEST = 4.0
_MOST_CROSSINGS = 100_000
_FEWEST_ROWS = 3
_FEWEST_OPEN_ROWS = 2
# In pieces of lines.
_LONGEST_OPEN_CELL = 8
_FEWEST_ROWS_OF_MANY = 2
_MANY_COLUMNS = 4
_CROSSING_SHARE = 0.1
_FILLED_SHARE = 0.8
_MOST_SKIPPED = 3
_OTHER_SIZE = 1.25
# In heights of a line.
_WIDEST_ROW_GAP = 2.5
_NARROWEST_GUTTER = 0.8
_NARROWEST_GUTTER_OF_FEW = 1.4
_REST_GAP = 0.5
_ALIGNED = 0.3
_MARKER = re.compile(r"[•●○■□▪◦‣·∙*–—-]|[(（]?\w{1,3}[.)、）]|\[\d{1,3}\]")
_NUMBER = re.compile(r"[-+−±]?[$¥€£]?[\d.,\s]*\d\s?[%‰]?")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table; a cell may be empty."""

    cells: tuple[str, ...]
    rectangle: Rectangle

    @property
    def markdown(self) -> str:
        cells = (" ".join(cell.split()).replace("|", "\\|") for cell in self.cells)
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows under each other, all with the same number of cells."""

    rows: tuple[Row, ...]
    rectangle: Rectangle
    edges: tuple[float, ...] = ()
    """Where its columns begin, by which the rest of it is known on the next page."""

    @property
    def left(self) -> float:
        return self.rectangle.left

    @property
    def top(self) -> float:
        return self.rectangle.top

    @property
    def right(self) -> float:
        return self.rectangle.right

    @property
    def bottom(self) -> float:
        return self.rectangle.bottom

    @property
    def has_header(self) -> bool:
        """Whether the first row names the columns: several of them, none by a number."""
        cells = [cell.strip() for cell in self.rows[0].cells]
        if sum(map(bool, cells)) < 2 or any(_NUMBER.fullmatch(cell) for cell in cells):
            return False
        return not is_form(cells, self.rows[1].cells if len(self.rows) > 1 else ())


# --- Ruled tables --------------------------------------------------------------------------------------


class _Grid:
    """Lines that cross, and the cells between them."""

    def __init__(self, level: Sequence[Ruling], upright: Sequence[Ruling]) -> None:
        self.xs = _distinct(line.at for line in upright)
        self.ys = _distinct(line.at for line in level)
        self._level = _by_place(level, self.ys)
        self._upright = _by_place(upright, self.xs)

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of the grid at a point."""
        row, column = bisect_right(self.ys, y) - 1, bisect_right(self.xs, x) - 1
        inside = 0 <= row < len(self.ys) - 1 and 0 <= column < len(self.xs) - 1
        return (row, column) if inside else None

    def origin(self, row: int, column: int) -> tuple[int, int]:
        """The first cell of the merged one that this is a part of."""
        middle = (self.ys[row] + self.ys[row + 1]) / 2
        while column and not _is_ruled(self._upright[column], middle):
            column -= 1
        middle = (self.xs[column] + self.xs[column + 1]) / 2
        while row and not _is_ruled(self._level[row], middle):
            row -= 1
        return row, column


def _by_place(lines: Iterable[Ruling], places: Sequence[float]) -> list[list[Ruling]]:
    """The lines at each of the places, in their order."""
    found: list[list[Ruling]] = [[] for _ in places]
    for line in lines:
        at = bisect_right(places, line.at) - 1
        for near in (at, at + 1):
            if 0 <= near < len(places) and abs(places[near] - line.at) <= _NARROWEST:
                found[near].append(line)
    return found


def _is_ruled(lines: Iterable[Ruling], across: float) -> bool:
    return any(line.start <= across <= line.end for line in lines)


def ruled_tables(rulings: Sequence[Ruling], fragments: Sequence[Fragment]) -> tuple[list[Table], list[Fragment]]:
    """The tables that lines rule, and the fragments that stand in none of them."""
    tables: list[Table] = []
    rest = list(fragments)
    for grid in _grids(rulings, fragments):
        inside = [fragment for fragment in rest if _is_within(fragment, grid)]
        table = _table(grid, inside)
        if table is not None:
            tables.append(table)
            taken = set(map(id, inside))
            rest = [fragment for fragment in rest if id(fragment) not in taken]
    return tables, rest


def _grids(rulings: Iterable[Ruling], fragments: Sequence[Fragment]) -> list[_Grid]:
    """Rulings that cross or touch each other, where they make at least two columns."""
    rulings = list(rulings)
    level = merged((ruling for ruling in rulings if ruling.is_level), _TOUCH)
    upright = merged((ruling for ruling in rulings if not ruling.is_level), _TOUCH)
    if len(level) < 2 or not upright or len(level) * len(upright) > _MOST_CROSSINGS:
        return []
    lines = level + upright
    group = list(range(len(lines)))

    def leader(number: int) -> int:
        while group[number] != number:
            group[number] = group[group[number]]
            number = group[number]
        return number

    for number, across in enumerate(level):
        for other, down in enumerate(upright, len(level)):
            if _touch(across, down):
                group[leader(number)] = leader(other)
    members: dict[int, list[Ruling]] = {}
    for number, line in enumerate(lines):
        members.setdefault(leader(number), []).append(line)
    return [grid for group_lines in members.values() if (grid := _grid(group_lines, fragments))]


def _touch(across: Ruling, down: Ruling) -> bool:
    return (
        across.start - _TOUCH <= down.at <= across.end + _TOUCH
        and down.start - _TOUCH <= across.at <= down.end + _TOUCH
    )


def _grid(lines: list[Ruling], fragments: Sequence[Fragment]) -> _Grid | None:
    level, upright = [line for line in lines if line.is_level], [line for line in lines if not line.is_level]
    if level and upright:
        upright += _open_sides(level, upright, fragments)
    grid = _Grid(level, upright)
    return grid if len(grid.xs) > 2 and len(grid.ys) > 1 else None


def _open_sides(level: Sequence[Ruling], upright: Sequence[Ruling], fragments: Sequence[Fragment]) -> list[Ruling]:
    """The sides of a table that has no lines there: its first and its last line both end beyond all upright ones."""
    first, last = min(level, key=lambda line: line.at), max(level, key=lambda line: line.at)
    left, right = min(line.at for line in upright), max(line.at for line in upright)
    sides: list[Ruling] = []
    start, end = min(first.start, last.start), max(first.end, last.end)
    if abs(first.start - last.start) <= _TOUCH and start < left - _NARROWEST:
        sides += [Ruling(False, start, first.at, last.at)] if _holds_cells(level, start, left, fragments) else []
    if abs(first.end - last.end) <= _TOUCH and end > right + _NARROWEST:
        sides += [Ruling(False, end, first.at, last.at)] if _holds_cells(level, right, end, fragments) else []
    return sides


def _holds_cells(level: Sequence[Ruling], left: float, right: float, fragments: Sequence[Fragment]) -> bool:
    """Whether words stand there row by row: not none, as beside a framed table, nor whole columns of a page."""
    ys = _distinct(line.at for line in level)
    rows: Counter[int] = Counter()
    for fragment in fragments:
        row = bisect_right(ys, (fragment.top + fragment.bottom) / 2)
        if 0 < row < len(ys) and left < (fragment.left + fragment.right) / 2 < right:
            rows[row] += 1
    return len(rows) >= _FEWEST_OPEN_ROWS and max(rows.values()) <= _LONGEST_OPEN_CELL


def _distinct(values: Iterable[float]) -> list[float]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _NARROWEST:
            found.append(value)
    return found


def _is_within(fragment: Fragment, grid: _Grid) -> bool:
    return grid.cell_at((fragment.left + fragment.right) / 2, (fragment.top + fragment.bottom) / 2) is not None


def _table(grid: _Grid, fragments: Iterable[Fragment]) -> Table | None:
    cells: dict[tuple[int, int], list[Word]] = {}
    types: dict[int, Type] = {}
    for fragment in fragments:
        for word in fragment.words:
            place = grid.cell_at((word.left + word.right) / 2, (word.top + word.bottom) / 2)
            if place is not None:
                cells.setdefault(grid.origin(*place), []).append(word)
                types[word.first] = Type(fragment.font, fragment.baseline)
    texts = {place: _cell_text(fragments_of(words, lambda word: types[word.first])) for place, words in cells.items()}
    columns = sorted({column for _, column in texts})
    if len(columns) < 2 or len(texts) < 3:
        return None
    rows = []
    for row in sorted({row for row, _ in texts}):
        rectangle = Rectangle(grid.xs[0], grid.ys[row], grid.xs[-1], grid.ys[row + 1])
        rows.append(Row(tuple(texts.get((row, column), "") for column in range(len(grid.xs) - 1)), rectangle))
    edges = tuple(round(x) for x in grid.xs)
    return Table(tuple(rows), Rectangle(grid.xs[0], grid.ys[0], grid.xs[-1], grid.ys[-1]), edges)


def _cell_text(fragments: Iterable[Fragment]) -> str:
    text = ""
    for line in lines_of(fragments):
        text = joined_lines(text, line.text)
    return without_marks(text)


# --- Tables without upright lines ------------------------------------------------------------------------


def aligned_tables(lines: Sequence[Line]) -> list[Line | Table]:
    """Put in a table's place the lines, top to bottom in one column, whose cells stand under each other."""
    found: list[Line | Table] = []
    start = 0
    while start < len(lines):
        end = _run_end(lines, start)
        table, skipped, end = _table_within(lines, start, end)
        found += lines[start:skipped]
        if table is not None:
            found.append(table)
        start = end
    return found


def _table_within(lines: Sequence[Line], start: int, end: int) -> tuple[Table | None, int, int]:
    """The table in a run of lines without what precedes or follows it, and where it begins and ends.

    Without a table, the run's lines are skipped; one at least is.
    """
    for first in range(start, min(start + _MOST_SKIPPED, end)):
        for last in range(end, max(end - _MOST_SKIPPED, first + 1), -1):
            table = _aligned(lines[first:last])
            if table is not None:
                return table, first, last
    end = max(end, start + 1)
    return None, end, end


def _run_end(lines: Sequence[Line], start: int) -> int:
    """Where the run of lines with several cells, or with the rest of one, ends that begins here."""
    end = start
    while end < len(lines):
        gap = lines[end].top - lines[end - 1].bottom if end > start else 0.0
        if gap > _WIDEST_ROW_GAP * lines[end].height or (end > start and not _alike(lines[end], lines[end - 1])):
            break
        if len(_cells(lines[end])) < 2 and not (end > start and _is_rest(lines[end], lines[end - 1])):
            break
        end += 1
    return end


def _alike(line: Line, above: Line) -> bool:
    return max(line.font.size, above.font.size) <= _OTHER_SIZE * min(line.font.size, above.font.size)


def _is_rest(line: Line, above: Line) -> bool:
    """Whether a line is the rest of a cell, not the first, of the line above."""
    near = line.top - above.bottom < _REST_GAP * line.height
    aligned = any(abs(cell[0].left - line.left) < _ALIGNED * line.height for cell in _cells(above)[1:])
    return near and len(_cells(line)) == 1 and aligned


def _cells(line: Line) -> list[list[Fragment]]:
    """The fragments of a line, together where no more than a space parts them."""
    cells: list[list[Fragment]] = []
    for fragment in line.fragments:
        if cells and fragment.left - cells[-1][-1].right < _NARROWEST_GUTTER * line.height:
            cells[-1].append(fragment)
        else:
            cells.append([fragment])
    return cells


def _aligned(lines: Sequence[Line]) -> Table | None:
    columns = _column_spans(lines)
    groups: list[list[Line]] = []
    for line in lines:
        if groups and len(_cells(line)) == 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    needed = _FEWEST_ROWS_OF_MANY if len(columns) >= _MANY_COLUMNS else _FEWEST_ROWS
    if len(columns) < 2 or len(groups) < needed:
        return None
    rows = [Row(_row_cells(group, columns), around(line.rectangle for line in group)) for group in groups]
    if len(columns) == 2 and all(not row.cells[0] or _MARKER.fullmatch(row.cells[0]) for row in rows):
        return None
    filled = [sum(map(bool, row.cells)) for row in rows]
    if min(filled[0], filled[-1]) < 2 or sum(count > 1 for count in filled) < _FILLED_SHARE * len(rows):
        return None
    edges = tuple(round(left) for left, _ in columns)
    return Table(tuple(rows), around(row.rectangle for row in rows), edges)


def _column_spans(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Left and right of each column: what stays when at most a few cells cross a stripe between two of them."""
    gutter = _NARROWEST_GUTTER if len(lines) > _FEWEST_ROWS else _NARROWEST_GUTTER_OF_FEW
    least = gutter * min(line.height for line in lines)
    most_crossing = int(_CROSSING_SHARE * len(lines))
    edges = sorted(
        edge for line in lines for cell in _cells(line) for edge in ((cell[0].left, 0, 1), (cell[-1].right, 1, -1))
    )
    spans: list[tuple[float, float]] = []
    depth, left, free_from = 0, 0.0, float("-inf")
    for at, _, step in edges:
        was_in = depth > most_crossing
        depth += step
        is_in = depth > most_crossing
        if is_in and not was_in:
            if spans and at - free_from < least:
                left = spans.pop()[0]
            else:
                left = at
        elif was_in and not is_in:
            spans.append((left, at))
            free_from = at
    return spans


def _row_cells(lines: Sequence[Line], columns: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    words: list[list[Word]] = [[] for _ in columns]
    types: dict[int, Type] = {}
    for line in lines:
        for cell in _cells(line):
            left, right = cell[0].left, cell[-1].right
            overlaps = [min(right, end) - max(left, start) for start, end in columns]
            for fragment in cell:
                words[overlaps.index(max(overlaps))] += fragment.words
                types |= {word.first: Type(fragment.font, fragment.baseline) for word in fragment.words}
    return tuple(_cell_text(fragments_of(cell, lambda word: types[word.first])) for cell in words)
