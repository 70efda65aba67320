"""The characters of a PDF page, as words with their boxes.

PDFium finds the characters, their order, the spaces between them and the ends of lines. Its text comes in
one call; boxes cost a call each, so they are asked for only at the ends of each word, hundreds at once.
"""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import pairwise, repeat
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from wenyuan.parsers.pdf.frame import PageFrame, Rectangle
from wenyuan.parsers.pdf.letters import HYPHENS, plain_letters, with_ligatures

_WORD = re.compile(f"[^\\s{HYPHENS}\\x00]+[{HYPHENS}]?|[{HYPHENS}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_BOLD = re.compile(rb"bold|black|heavy|demi|bx\d|simhei|hei-?ti", re.I)
_GARBLED = re.compile("[\x00\x01\x03-\x08\x0b-\x1f\ufffd\ue000-\uf8ff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = frozenset("\r\n")
_LINE_FEED, _CARRIAGE_RETURN = ord("\n"), ord("\r")
# A comma with a letter right behind it is hardly written by anybody: PDFium has missed a space there, and others too.
_RUN_TOGETHER = re.compile("[a-z]{2},[a-z]{2}")
_SHORTEST_RUN = 4
_SPACE_WITHIN = 0.18
_FONT_NAME_BYTES = 96
# Printed letter by letter: so many single letters on a line, and such a part of its words.
_FEWEST_LETTERS = 3
_LETTERS_SHARE = 0.3
_ALIKE = 0.2
_SAME_PLACE = 1.5
_FEWEST_STACKED = 3
_STACKED = 0.3


class Glue(IntEnum):
    """What stands before a word."""

    NEWLINE = 0
    """The end of a line, as PDFium sees it."""
    GAP = 1
    """Only room, which PDFium took for a space."""
    SPACE = 2
    """A space, printed as such."""
    NONE = 3
    """Nothing: the word before it ends with a hyphen, or its parts are printed apart."""


@dataclass(slots=True)
class Word:
    """Characters between two spaces. The rectangle is in the level frame of its turn, see `PageFrame`."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    turn: int
    glue: Glue
    first: int
    """Index of its first character on the text page."""


class Font(NamedTuple):
    """Size in points as shown, and whether the letters are bold."""

    size: float
    is_bold: bool


class PageText:
    """The text layer of one page that is open; for the time it is open."""

    def __init__(self, handle: Any) -> None:
        """`handle` is PDFium's text page, an `FPDF_TEXTPAGE`."""
        self._handle = handle
        self._address = ctypes.cast(handle, ctypes.c_void_p).value
        self._boxes, self._is_generated = _calls()
        self._matrix = pdfium.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self.text = _whole_text(handle)

    def boxes(self, indexes: Sequence[int]) -> list[float]:
        """Left, top, right and bottom of each character, in the page's own coordinates, one after the other."""
        flat: list[float] = self.box_rows(indexes).ravel().tolist()
        return flat

    def box_rows(self, indexes: Sequence[int]) -> NDArray[np.float64]:
        """The same as an array of shape (characters, 4)."""
        # A character that has no box leaves its row as it is.
        values = np.zeros((len(indexes), 4), np.float32)
        start = values.ctypes.data
        deque(map(self._boxes, repeat(self._address), indexes, range(start, start + values.nbytes, 16)), 0)
        return values.astype(np.float64)

    def origin(self, index: int) -> tuple[float, float]:
        """Where the character stands on its baseline, in the page's own coordinates."""
        pdfium.FPDFText_GetCharOrigin(self._handle, index, self._x, self._y)
        return self._x.value, self._y.value

    def is_upside_down(self, index: int, frame: PageFrame) -> bool:
        """Whether the character stands on its head on the page as shown."""
        quarters = round(pdfium.FPDFText_GetCharAngle(self._handle, index) / (math.pi / 2))
        return bool((quarters - frame.turns) % 4 == 2)

    def generated(self, indexes: Sequence[int]) -> list[int]:
        """For each character whether PDFium made it up: 1 if it did."""
        return list(map(self._is_generated, repeat(self._address), indexes))

    def font(self, index: int) -> Font:
        """The font in which the character is shown."""
        pdfium.FPDFText_GetMatrix(self._handle, index, self._matrix)
        matrix = self._matrix
        scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        pdfium.FPDFText_GetFontInfo(self._handle, index, self._name, _FONT_NAME_BYTES, None)
        size = pdfium.FPDFText_GetFontSize(self._handle, index) * scale
        return Font(round(size, 1), _BOLD.search(self._name.value) is not None)


@cache
def _calls() -> tuple[Callable[..., int], Callable[..., int]]:
    """FPDFText_GetLooseCharBox and FPDFText_IsGenerated, with addresses for pointers: a third of ctypes' usual cost."""

    def prototype(function: Any, *arguments: Any) -> Callable[..., int]:
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        made: Callable[..., int] = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *arguments)(address)
        return made

    return prototype(pdfium.FPDFText_GetLooseCharBox, ctypes.c_void_p), prototype(pdfium.FPDFText_IsGenerated)


def _whole_text(handle: Any) -> str:
    """The text, one character for each UTF-16 unit, so that an index into it is PDFium's index.

    Characters beyond the BMP therefore stand as two surrogates.
    """
    count = pdfium.FPDFText_CountChars(handle)
    if count <= 0:
        return ""
    units = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(handle, 0, count, units) - 1
    if written != count:
        # It leaves out what has no Unicode; asked one by one each character keeps its place.
        codes = map(pdfium.FPDFText_GetUnicode, repeat(handle), range(count))
        return with_ligatures("".join([chr(code) if 0 < code <= 0xFFFF else "\ufffd" for code in codes]))
    data = bytes(memoryview(units).cast("B")[: 2 * count])
    text = data.decode("utf-16-le", "surrogatepass")
    return with_ligatures(text if len(text) == count else "".join(map(chr, units[:count])))


def page_words(page: PageText, frame: PageFrame) -> list[Word]:
    """The words of a page in PDFium's order, each once where it was printed twice; those off the page left out."""
    words = _placed_words(page, frame)
    if _seem_repeated(words):
        words = list(_once(words))
    if len([word for word in words if word.glue is Glue.GAP and len(word.text) == 1]) >= _FEWEST_LETTERS:
        for line in _lettered_lines(words):
            _respace(line, page)
    if not frame.turns and _RUN_TOGETHER.search(page.text):
        words = list(_parted(words, page, frame))
    _settle_turns(words)
    for word in words:
        if word.turn:
            level = frame.level(Rectangle(word.left, word.top, word.right, word.bottom), word.turn)
            word.left, word.top, word.right, word.bottom = level
    return words


def _placed_words(page: PageText, frame: PageFrame) -> list[Word]:
    """The words on the page as shown; the turn of those with one character is not known yet, and -1."""
    text = page.text
    spans = [match.span() for match in _WORD.finditer(text)]
    if not spans:
        return []
    said = [text[first:end] for first, end in spans]
    if _SURROGATE.search(text) is not None:
        said = [one.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for one in said]
    if not text.isascii():
        said = [one if one.isascii() else plain_letters(one) for one in said]
    firsts, ends = (np.array(one) for one in zip(*spans, strict=True))
    sides, across, down = _places(page, firsts, ends, frame)
    # Nearly every word is level and in plain sight, so that all are made in one go, and the others looked at again.
    is_level = (across > 0) & (across >= down) & (down >= -across) & (ends - firsts > 1)
    turns = np.where(is_level, 0, -1).tolist()
    words = list(map(Word, said, *sides.tolist(), turns, _glues(page, firsts, ends), firsts.tolist()))
    lefts, tops, rights, bottoms = sides
    is_whole = rights.min() > 0 and bottoms.min() > 0 and lefts.max() < frame.width and tops.max() < frame.height
    if is_whole and is_level.all():
        return words
    directions = zip(across.tolist(), down.tolist(), strict=True)
    return list(_looked_at_again(words, is_level.tolist(), directions, spans, page, frame))


def _looked_at_again(
    words: Sequence[Word],
    is_level: Sequence[bool],
    directions: Iterable[tuple[float, float]],
    spans: Sequence[tuple[int, int]],
    page: PageText,
    frame: PageFrame,
) -> Iterator[Word]:
    """The same words without those off the page, and with the turns of those that are not level."""
    width, height = frame.width, frame.height
    for word, level, (across, down), (first, end) in zip(words, is_level, directions, spans, strict=True):
        if word.right <= 0 or word.bottom <= 0 or word.left >= width or word.top >= height:
            continue
        if not level:
            word.turn = _turn(word.text, across, down)
            if word.turn == 2 and not page.is_upside_down(first, frame):
                yield from _letter_by_letter(first, end, page, frame, word.glue)
                continue
        yield word


def _seem_repeated(words: Sequence[Word]) -> bool:
    """Whether some word seems to stand twice at its place: a quick look that misses a few of the single ones."""
    step = 4 * _SAME_PLACE
    return len({(word.text, word.left // step, word.top // step) for word in words}) < len(words)


def _once(words: Sequence[Word]) -> Iterator[Word]:
    """Each word once that was printed several times at its place, as shadows and false bold are."""
    counts = Counter([word.text for word in words])
    seen: dict[tuple[str, int], list[float]] = {}
    step = 2 * _SAME_PLACE
    for word in words:
        text, top, left = word.text, word.top, word.left
        if counts[text] > 1:
            near = seen.get((text, int(top // step)))
            if near is not None and _is_near(left, near):
                continue
            # Noted under both steps that a place less than half a step above or below can be in.
            for row in {int((top - _SAME_PLACE) // step), int((top + _SAME_PLACE) // step)}:
                insort(seen.setdefault((text, row), []), left)
        yield word


def _is_near(place: float, others: Sequence[float]) -> bool:
    """Whether one of the others, which are sorted, is at nearly the same place."""
    at = bisect_left(others, place - _SAME_PLACE)
    return at < len(others) and abs(place - others[at]) <= _SAME_PLACE


def _places(
    page: PageText, firsts: NDArray[np.int64], ends: NDArray[np.int64], frame: PageFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of all words the four sides on the page as shown, and how far the last character is right of and below the first.

    Twice as far, to be precise; only the direction matters.
    """
    boxes = page.box_rows(np.stack((firsts, ends - 1), axis=1).ravel().tolist())
    left, top = frame.left, frame.top
    if frame.turns:
        left = top = 0.0
        for row, (its_left, its_top, its_right, its_bottom) in enumerate(boxes.tolist()):
            shown = frame.shown(its_left, its_bottom, its_right, its_top)
            # As if it were upright on a page that begins at the top left.
            boxes[row] = shown.left, -shown.top, shown.right, -shown.bottom
    first, last = boxes[0::2].T, boxes[1::2].T
    nearer, farther = np.minimum(first, last), np.maximum(first, last)
    sides = np.stack((nearer[0] - left, top - farther[1], farther[2] - left, top - nearer[3]))
    return sides, last[0] + last[2] - first[0] - first[2], first[1] + first[3] - last[1] - last[3]


def _glues(page: PageText, firsts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[Glue]:
    """What stands before each word."""
    text = page.text
    before = np.concatenate(([0], ends[:-1]))
    # What parts most words is a single character that is no line's end.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)[before]
    is_followed = (firsts == before + 1) & (codes != _CARRIAGE_RETURN) & (codes != _LINE_FEED)
    glues = [Glue.SPACE] * len(firsts)
    for number in np.flatnonzero(~is_followed).tolist():
        start, first = int(before[number]), int(firsts[number])
        if first == start:
            glues[number] = Glue.NONE if start else Glue.NEWLINE
        elif not start or not _LINE_END.isdisjoint(text[start:first]):
            glues[number] = Glue.NEWLINE
    followed = np.flatnonzero(is_followed).tolist()
    for number, is_generated in zip(followed, page.generated(before[is_followed].tolist()), strict=True):
        if is_generated == 1:
            glues[number] = Glue.GAP
    return glues


def _turn(text: str, across: float, down: float) -> int:
    """Quarters clockwise that a word is turned, or -1 if it has one character only."""
    if len(text) < 2:
        return -1
    if abs(across) >= abs(down):
        return 0 if across >= 0 or _RIGHT_TO_LEFT.match(text) else 2
    return 1 if down > 0 else 3


def _letter_by_letter(first: int, end: int, page: PageText, frame: PageFrame, glue: Glue) -> Iterator[Word]:
    """A word whose characters were not printed from left to right, as words of one character."""
    boxes = page.boxes(range(first, end))
    for number, character in enumerate(page.text[first:end]):
        left, top, right, bottom = boxes[4 * number : 4 * number + 4]
        if not _SURROGATE.match(character):
            text = plain_letters(character)
            yield Word(text, *frame.shown(left, bottom, right, top), 0, Glue.NONE if number else glue, first + number)


def _settle_turns(words: list[Word]) -> None:
    """Give words of one character, from which no direction is seen, that of those printed before and after them.

    Where they stand close under each other, they are vertical text, which PDFium has taken for lines.
    """
    run: list[Word] = []
    # What is level stands in no column with anything, and knows its own turn.
    for word in words:
        if word.turn == 0:
            if run:
                _settle(run)
                run = []
        elif run and not _goes_down(run[-1], word):
            _settle(run)
            run = [word]
        else:
            run.append(word)
    if run:
        _settle(run)


def _settle(run: list[Word]) -> None:
    known = next((word.turn for word in run if word.turn > 0), 0)
    turn = known or (1 if len(run) >= _FEWEST_STACKED else 0)
    for word in run:
        if word.turn < 0:
            word.turn = turn


def _goes_down(word: Word, after: Word) -> bool:
    """Whether a word stands in the same column as the one after it and close; neither of them is printed level."""
    overlap = min(word.right, after.right) - max(word.left, after.left)
    distance = max(word.top, after.top) - min(word.bottom, after.bottom)
    narrow, wide = sorted((word.right - word.left, after.right - after.left))
    return overlap > narrow / 2 and -wide / 2 < distance < _STACKED * wide


def _lettered_lines(words: list[Word]) -> Iterator[list[Word]]:
    """Lines, as PDFium sees them, of which many words are single letters with only room between them."""
    start = letters = 0
    for at, word in enumerate(words):
        if word.glue is Glue.NEWLINE:
            if letters >= _FEWEST_LETTERS:
                yield words[start:at]
            start, letters = at, 0
        elif len(word.text) == 1 and word.glue is Glue.GAP and word.text.isalpha():
            letters += 1
    if letters >= _FEWEST_LETTERS:
        yield words[start:]


def _respace(line: list[Word], page: PageText) -> None:
    """Find the spaces of a line anew whose letters are printed so far apart that gaps were taken for spaces."""
    letters = sum(len(word.text) == 1 for word in line)
    if letters < _LETTERS_SHARE * len(line) or any(word.glue is Glue.SPACE or word.text[0] > "\u2e7f" for word in line):
        return
    indexes = [word.first + offset for word in line for offset in range(len(word.text))]
    boxes = page.boxes(indexes)
    lefts, rights = boxes[0::4], boxes[2::4]
    pitches = [following - left for left, following in pairwise(lefts)]
    gaps = [following - right for right, following in zip(rights, lefts[1:], strict=False)]
    usual = _usual(pitches)
    distances = pitches if usual else gaps
    usual = usual or _usual(gaps)
    if not usual:
        return
    at = 0
    for before, word in pairwise(line):
        at += len(before.text)
        if distances[at - 1] < 1.3 * usual:
            word.glue = Glue.NONE


def _parted(words: Iterable[Word], page: PageText, frame: PageFrame) -> Iterator[Word]:
    """The words of an upright page, divided where there is room for a space within them.

    PDFium misses the space where a program moves on by itself, after letters that are kerned (groff's PostScript).
    """
    for word in words:
        size = len(word.text)
        plain = word.turn == 0 and size >= _SHORTEST_RUN and word.text[1:].isascii()
        if not plain or page.text[word.first : word.first + size] != word.text:
            yield word
            continue
        boxes = page.boxes(range(word.first, word.first + size))
        least = _SPACE_WITHIN * (word.bottom - word.top)
        cuts = [at for at in range(1, size) if boxes[4 * at] - boxes[4 * at - 2] > least]
        if not cuts or 2 * len(cuts) > size:
            yield word
            continue
        for start, end in pairwise([0, *cuts, size]):
            left, right = boxes[4 * start] - frame.left, boxes[4 * end - 2] - frame.left
            glue = Glue.GAP if start else word.glue
            yield Word(word.text[start:end], left, word.top, right, word.bottom, 0, glue, word.first + start)


def _usual(distances: list[float]) -> float:
    """The distance that most of them have, or 0."""
    middle = median(distances)
    alike = sum(abs(distance - middle) <= _ALIKE * abs(middle) for distance in distances)
    return middle if middle > 0 and alike >= 0.7 * len(distances) else 0.0


def garbled_share(words: Iterable[Word]) -> float:
    """Which part of the characters say nothing: replacement characters, private use, control characters."""
    text = "".join([word.text for word in words])
    return len(_GARBLED.findall(text)) / len(text) if text else 0.0


def visible_count(words: Iterable[Word]) -> int:
    """How many characters the words have."""
    return sum([len(word.text) for word in words])
