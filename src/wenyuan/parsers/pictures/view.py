"""A picture as it is looked at: made smaller, straightened, turned; and the way back to the picture as it is shown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_MOST_SHORT_SIDE: Final = 2600
_MOST_PIXELS: Final = 12_000_000
_THUMBNAIL_SIDE: Final = 1000
_MOST_POINTS: Final = 40_000
_EDGE: Final = 40
_WIDEST_SKEW: Final = 10.0
_LEAST_SKEW: Final = 0.2
# A page of straight lines has several times the score at its own angle; a photo has about the same at all.
_CLEAR_SKEW: Final = 1.15
_TALLEST: Final = 2.5
_PIECE: Final = 1.5
_QUIET_SHARE: Final = 60


class Rectangle(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def joined(self, other: Rectangle) -> Rectangle:
        """The smallest one around both."""
        return Rectangle(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


@dataclass(frozen=True, slots=True)
class View:
    """A picture made of another one, and where its points lie on that: at (ax + by + c, dx + ey + f)."""

    picture: Image.Image
    to_shown: tuple[float, float, float, float, float, float] = (1, 0, 0, 0, 1, 0)

    def reduced(self) -> View:
        """The same with no more pixels than text needs to be read."""
        width, height = self.picture.size
        factor = max(min(width, height) / _MOST_SHORT_SIDE, 1.0)
        if max(width, height) < _TALLEST * min(width, height):
            factor = max(factor, math.sqrt(width * height / _MOST_PIXELS))
        if factor <= 1:
            return self
        size = (max(1, round(width / factor)), max(1, round(height / factor)))
        smaller = self.picture.resize(size, Image.Resampling.BOX if factor >= 2 else Image.Resampling.BILINEAR)
        return View(smaller, self._after((width / size[0], 0, 0, 0, height / size[1], 0)))

    def turned(self, degrees: float) -> View:
        """The same turned anticlockwise; what comes into the corners has the colour of the picture's border."""
        turned = self.picture.rotate(
            degrees, Image.Resampling.BILINEAR, expand=True, fillcolor=_border_colour(self.picture)
        )
        (from_x, from_y), (to_x, to_y) = _middle(self.picture), _middle(turned)
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        return View(
            turned,
            self._after(
                (
                    *(cosine, -sine, from_x - cosine * to_x + sine * to_y),
                    *(sine, cosine, from_y - sine * to_x - cosine * to_y),
                )
            ),
        )

    def straightened(self) -> View:
        angle = skew(self.picture)
        return self.turned(angle) if angle else self

    def pieces(self) -> Iterator[View]:
        """The whole, or if it is a long strip, pieces of it from top to bottom, cut where there is least."""
        width, height = self.picture.size
        if height <= _TALLEST * width:
            yield self
            return
        quiet = _activity(self.picture)
        top = 0
        while height - top > _PIECE * width * 1.2:
            first, last = top + int(width), top + int(_PIECE * width)
            cut = first + int(np.argmin(quiet[first:last]))
            yield self._part(top, cut)
            top = cut
        yield self._part(top, height)

    def shown(self, box: Rectangle) -> Rectangle:
        """The rectangle around what stands in that box, in the picture as it is shown."""
        a, b, c, d, e, f = self.to_shown
        corners = [(x, y) for x in (box.left, box.right) for y in (box.top, box.bottom)]
        across = [a * x + b * y + c for x, y in corners]
        down = [d * x + e * y + f for x, y in corners]
        return Rectangle(min(across), min(down), max(across), max(down))

    def _part(self, top: int, bottom: int) -> View:
        part = self.picture.crop((0, top, self.picture.width, bottom))
        return View(part, self._after((1, 0, 0, 0, 1, top)))

    def _after(self, first: tuple[float, ...]) -> tuple[float, float, float, float, float, float]:
        a, b, c, d, e, f = self.to_shown
        p, q, r, s, t, u = first
        return (a * p + b * s, a * q + b * t, a * r + b * u + c, d * p + e * s, d * q + e * t, d * r + e * u + f)


def skew(picture: Image.Image) -> float:
    """By how many degrees the picture must be turned anticlockwise for its lines of text to be level.

    At the right angle the edges of letters fall into few rows (or columns, where lines run down): the sum of the
    squares of how many fall into each is largest, as in W. Postl's patent on skew detection (US 4,723,297).
    """
    down, across = _edges(picture)
    if down.size == 0:
        return 0.0
    best, clearness = 0.0, _CLEAR_SKEW
    for along, over in ((down, across), (across, -down)):
        coarse = np.arange(-_WIDEST_SKEW, _WIDEST_SKEW + 0.25, 0.5)
        scores = np.array([_order(along, over, angle) for angle in coarse])
        ratio = float(scores.max() / np.median(scores))
        if ratio > clearness:
            near = coarse[int(np.argmax(scores))] + np.arange(-0.5, 0.55, 0.1)
            best, clearness = float(max(near, key=lambda angle: _order(along, over, angle))), ratio
    return best if abs(best) >= _LEAST_SKEW else 0.0


def _edges(picture: Image.Image) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows and columns of the places where a small copy of the picture changes sharply from one pixel to the next."""
    small = picture.convert("L")
    small.thumbnail((_THUMBNAIL_SIDE, _THUMBNAIL_SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.int16)
    if min(pixels.shape) < 2:
        return np.empty(0, np.float32), np.empty(0, np.float32)
    changes = np.abs(np.diff(pixels, axis=0))[:, :-1] + np.abs(np.diff(pixels, axis=1))[:-1]
    down, across = np.nonzero(changes > _EDGE)
    step = 1 + down.size // _MOST_POINTS
    return down[::step].astype(np.float32), across[::step].astype(np.float32)


def _order(along: NDArray[np.float32], over: NDArray[np.float32], degrees: float) -> float:
    angle = math.radians(degrees)
    rows = (along * math.cos(angle) - over * math.sin(angle)).astype(np.int32)
    counts = np.bincount(rows - rows.min()).astype(np.float64)
    return float(counts @ counts)


def _activity(picture: Image.Image) -> NDArray[np.int64]:
    """How much changes along each row of pixels and the few above and below it."""
    pixels = np.asarray(picture.convert("L"), np.int16)
    each = np.abs(np.diff(pixels, axis=1)).sum(axis=1, dtype=np.int64)
    return np.convolve(each, np.ones(1 + picture.width // _QUIET_SHARE, np.int64), "same")


def _middle(picture: Image.Image) -> tuple[float, float]:
    return picture.width / 2, picture.height / 2


def _border_colour(picture: Image.Image) -> tuple[int, ...]:
    pixels = np.asarray(picture)
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return tuple(int(value) for value in np.median(border, axis=0))
