"""The text of a picture: straightened, turned upright, its lines recognised and put in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from PIL import Image

from wenyuan.parsers.pictures.blocks import laid_out
from wenyuan.parsers.pictures.layout import PlacedLine
from wenyuan.parsers.pictures.recognition import RecognisedLine, Recognition
from wenyuan.parsers.pictures.view import Rectangle, View
from wenyuan.types import Block, Box

DOUBTFUL: Final = 0.85
"""A page read with less confidence is full of mistakes."""

_ILLEGIBLE: Final = 0.5
# Marks without a letter or a digit are mostly spots and lines.
_LIKELY: Final = 0.8
# How much surer a turned picture must be read to be the right one.
_BETTER: Final = 1.01
_TALL: Final = 1.5
_FEWEST_LETTERS: Final = 4


@dataclass(slots=True)
class PictureText:
    """What was read; the confidence, from 0 to 1, is the mean over its characters."""

    blocks: list[Block] = field(default_factory=list)
    confidence: float = 0.0
    characters: int = 0
    is_complete: bool = True
    """Whether all of it was looked at, or the pages of the file were used up."""
    has_illegible: bool = False
    """Whether there are marks on it that look like writing but cannot be read."""

    @property
    def is_doubtful(self) -> bool:
        """Whether mistakes must be expected."""
        return bool(self.blocks) and self.confidence < DOUBTFUL


@dataclass(slots=True)
class _Read:
    """A view and the lines on it, in its pixels."""

    view: View
    lines: list[RecognisedLine]

    @property
    def confidence(self) -> float:
        return confidence(self.lines)

    @property
    def weight(self) -> float:
        return sum(len(line.text) * line.confidence**2 for line in self.lines)

    @property
    def is_mostly_tall(self) -> bool:
        tall = sum(len(line.text) for line in self.lines if is_tall(line))
        return 2 * tall > sum(len(line.text) for line in self.lines)


def text_of(picture: Image.Image, recognition: Recognition, page: int, scale: float = 1.0) -> PictureText:
    """Read an RGB picture that is shown as page `page`. Its boxes are pixels times `scale`."""
    view = View(picture).reduced().straightened()
    pieces = list(view.pieces())
    found = PictureText()
    lines: list[RecognisedLine] = []
    for piece in pieces:
        read = _read(piece, recognition)
        if read is None:
            found.is_complete = False
            break
        if len(pieces) == 1:
            read = _upright(read, recognition)
        legible = [line for line in read.lines if _is_legible(line)]
        found.has_illegible = found.has_illegible or any(_looks_written(line) for line in read.lines)
        found.blocks += laid_out([_placed(line, read.view, page, scale) for line in legible])
        lines += legible
    found.confidence = confidence(lines)
    found.characters = sum(len(line.text) for line in lines)
    return found


def confidence(lines: Sequence[RecognisedLine]) -> float:
    """The mean over their characters."""
    return sum(len(line.text) * line.confidence for line in lines) / max(1, sum(len(line.text) for line in lines))


def is_tall(line: RecognisedLine) -> bool:
    return line.bottom - line.top > _TALL * (line.right - line.left)


def _read(view: View, recognition: Recognition) -> _Read | None:
    recogniser = recognition.for_a_page()
    return None if recogniser is None else _Read(view, recogniser.recognise(view.picture))


def _upright(read: _Read, recognition: Recognition) -> _Read:
    """The same picture turned the way in which it can be read.

    A line that runs down the picture is read from its top, so of a page that lies on its side the one half is read as
    it is; the other, and what stands on its head, is turned half a turn first. Text written from top to bottom is
    read as well as it stands as on its side.
    """
    best = read
    if read.lines and read.confidence < DOUBTFUL:
        best = _better(best, best.view.turned(180), recognition)
    if best.is_mostly_tall:
        best = _better(best, best.view.turned(90), recognition)
    return best


def _better(read: _Read, other: View, recognition: Recognition) -> _Read:
    again = _read(other, recognition)
    return again if again is not None and again.weight > _BETTER * read.weight else read


def _is_legible(line: RecognisedLine) -> bool:
    if line.confidence < _ILLEGIBLE or not line.text.strip():
        return False
    return line.confidence >= _LIKELY or any(map(str.isalnum, line.text))


def _looks_written(line: RecognisedLine) -> bool:
    """Whether an illegible line is writing all the same; a letter or two are seen in any pattern."""
    return not _is_legible(line) and sum(map(str.isalnum, line.text)) >= _FEWEST_LETTERS


def _placed(line: RecognisedLine, view: View, page: int, scale: float) -> PlacedLine:
    shown = view.shown(Rectangle(line.left, line.top, line.right, line.bottom))
    left, top, right, bottom = (max(0, round(scale * distance)) for distance in shown)
    return PlacedLine(line.text.strip(), Rectangle(*line[1:5]), Box(page, left, top, right, bottom))
