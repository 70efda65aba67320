"""Where things are on a PDF page: from its own coordinates to the page as it is shown, and text lines laid level.

A page's own coordinates count from its lower left corner, upwards, before `/Rotate` turns it (ISO 32000-1,
8.3.2.3). A page as shown counts from its top left corner, downwards. Text that runs down or up such a page
is laid out in a *level* frame of its own, in which its lines run from left to right and follow downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from wenyuan.types import Box


class Rectangle(NamedTuple):
    """In points, from the top left: `top` is less than `bottom`."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def around(rectangles: Iterable[Rectangle]) -> Rectangle:
    """The smallest rectangle that holds all of them, of which there is at least one."""
    lefts, tops, rights, bottoms = zip(*rectangles, strict=True)
    return Rectangle(min(lefts), min(tops), max(rights), max(bottoms))


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The visible part of a page in its own coordinates, and how many quarters clockwise it is turned to be shown."""

    left: float
    bottom: float
    right: float
    top: float
    turns: int = 0

    @property
    def width(self) -> float:
        """Width of the page as shown."""
        return self.top - self.bottom if self.turns % 2 else self.right - self.left

    @property
    def height(self) -> float:
        """Height of the page as shown."""
        return self.right - self.left if self.turns % 2 else self.top - self.bottom

    def shown(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        """Where a rectangle of the page's own coordinates is on the page as shown."""
        match self.turns:
            case 0:
                return Rectangle(left - self.left, self.top - top, right - self.left, self.top - bottom)
            case 1:
                return Rectangle(bottom - self.bottom, left - self.left, top - self.bottom, right - self.left)
            case 2:
                return Rectangle(self.right - right, bottom - self.bottom, self.right - left, top - self.bottom)
            case _:
                return Rectangle(self.top - top, self.right - right, self.top - bottom, self.right - left)

    def level(self, shown: Rectangle, turn: int) -> Rectangle:
        """Where a rectangle is in the frame in which text turned `turn` quarters clockwise lies level.

        Vertical Chinese and Japanese text has one turn: its lines run down and follow to the left.
        """
        left, top, right, bottom = shown
        match turn:
            case 0:
                return shown
            case 1:
                return Rectangle(top, self.width - right, bottom, self.width - left)
            case 2:
                return Rectangle(self.width - right, self.height - bottom, self.width - left, self.height - top)
            case _:
                return Rectangle(self.height - bottom, left, self.height - top, right)

    def from_level(self, level: Rectangle, turn: int) -> Rectangle:
        """The opposite of `level`."""
        left, top, right, bottom = level
        match turn:
            case 0:
                return level
            case 1:
                return Rectangle(self.width - bottom, left, self.width - top, right)
            case 2:
                return Rectangle(self.width - right, self.height - bottom, self.width - left, self.height - top)
            case _:
                return Rectangle(top, self.height - right, bottom, self.height - left)

    def box(self, page: int, shown: Rectangle) -> Box:
        """The rectangle in whole points, cut off at the edges of the page."""
        across, down = math.ceil(self.width), math.ceil(self.height)
        left, top = min(max(0, math.floor(shown.left)), across), min(max(0, math.floor(shown.top)), down)
        right, bottom = min(max(left, math.ceil(shown.right)), across), min(max(top, math.ceil(shown.bottom)), down)
        return Box(page, left, top, right, bottom)
