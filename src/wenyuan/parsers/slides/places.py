"""Where things stand on a slide and in what order a reader takes them in; what is remarkable about slides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from wenyuan.types import Box, Notice

EMU_PER_POINT = 12_700
"""English metric units, in which office drawings are measured."""

_MOST_SORTED_IN_PARTS = 1_000
_MOST_NAMED = 100
_SLACK = 2
"""Points by which two things may overlap and still stand apart."""

Thing = TypeVar("Thing")


class Area(NamedTuple):
    """A rectangle on a slide, in points from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def boxes(self, slide: int) -> tuple[Box, ...]:
        """The part of it that is on the slide, if any."""
        if self.right <= 0 or self.bottom <= 0:
            return ()
        return (Box(slide, *(max(0, round(value)) for value in self)),)


class SlideNotes:
    """Counts slides, and remembers what is remarkable about them."""

    def __init__(self) -> None:
        self._count = 0
        self._hidden: list[int] = []
        self._silent: list[int] = []
        self._missing: list[int] = []

    def begin(self, is_hidden: bool) -> int:
        """Return the number of the next slide."""
        self._count += 1
        if is_hidden:
            self._hidden.append(self._count)
        return self._count

    def end(self, has_text: bool) -> None:
        """The slide has been read."""
        if not has_text:
            self._silent.append(self._count)

    def miss(self) -> None:
        """The next slide is not in the file."""
        self._count += 1
        self._missing.append(self._count)

    def quality(self, counts: Mapping[str, int]) -> dict[str, int | list[int]]:
        """The facts about the slides, and those of the `counts` that are not 0."""
        numbers: dict[str, int | list[int]] = {"slides": self._count}
        numbers |= {key: count for key, count in counts.items() if count}
        for key, slides in (("hidden_slides", self._hidden), ("slides_without_text", self._silent)):
            if slides:
                numbers[key] = slides[:_MOST_NAMED]
        return numbers

    def notices(self) -> Iterator[Notice]:
        if self._hidden:
            yield Notice("hidden-slides", f"Not shown in the presentation, but read: {_named(self._hidden)}.")
        if self._silent:
            yield Notice("slides-without-text", f"No text, at most pictures: {_named(self._silent)}.")
        if self._missing:
            yield Notice("slides-missing", f"Not in the file, though they should be: {_named(self._missing)}.")


def _named(slides: list[int]) -> str:
    shown = ", ".join(map(str, slides[:_MOST_NAMED]))
    return f"slide {shown}" if len(slides) == 1 else f"slides {shown}"


class Frame(NamedTuple):
    """How the coordinates within a group become those of the slide: what is added after what is multiplied."""

    left: float = 0.0
    top: float = 0.0
    across: float = 1.0
    down: float = 1.0

    def placed(self, left: float, top: float, width: float, height: float) -> Area:
        """A rectangle given in this frame's own coordinates."""
        x, y = self.left + left * self.across, self.top + top * self.down
        return Area(x, y, x + width * self.across, y + height * self.down)


def in_reading_order(things: Sequence[tuple[Area | None, Thing]]) -> list[Thing]:
    """Rows from top to bottom, in each the columns from left to right, in each column rows again, and so on.

    That is the recursive XY cut (Nagy and Seth, 1984). What has no place comes last, in the order given.
    """
    placed = [(area, index) for index, (area, _) in enumerate(things) if area is not None]
    unplaced = [index for index, (area, _) in enumerate(things) if area is None]
    if len(placed) > _MOST_SORTED_IN_PARTS:
        order = [index for area, index in sorted(placed, key=lambda one: (one[0].top, one[0].left))]
    else:
        order = _cut(placed)
    return [things[index][1] for index in order + unplaced]


def _cut(placed: list[tuple[Area, int]]) -> list[int]:
    order: list[int] = []
    waiting = [(placed, 0)]
    while waiting:
        part, failures = waiting.pop()
        if len(part) < 2 or failures == 2:
            part.sort(key=lambda one: (round(one[0].top), one[0].left, one[1]))
            order.extend(index for _, index in part)
            continue
        # Rows first; then columns, rows within them and so on, until neither parts anything.
        pieces = _rows(part) if failures == 0 else _columns(part)
        if len(pieces) == 1:
            waiting.append((part, failures + 1))
        else:
            waiting.extend((piece, 1 if failures == 0 else 0) for piece in reversed(pieces))
    return order


def _rows(part: list[tuple[Area, int]]) -> list[list[tuple[Area, int]]]:
    return _apart(sorted(part, key=lambda one: one[0].top), [(area.top, area.bottom) for area, _ in part])


def _columns(part: list[tuple[Area, int]]) -> list[list[tuple[Area, int]]]:
    return _apart(sorted(part, key=lambda one: one[0].left), [(area.left, area.right) for area, _ in part])


def _apart(ordered: list[tuple[Area, int]], extents: list[tuple[float, float]]) -> list[list[tuple[Area, int]]]:
    """Part what comes in order wherever nothing reaches from one side to the other."""
    extents.sort()
    pieces: list[list[tuple[Area, int]]] = [[]]
    reach = extents[0][1]
    for one, (start, end) in zip(ordered, extents, strict=True):
        if pieces[-1] and start > reach - _SLACK:
            pieces.append([])
        pieces[-1].append(one)
        reach = max(reach, end)
    return pieces
