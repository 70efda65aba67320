"""Words of a PDF page put together: to fragments, which nothing wide parts, and fragments to lines of text.

Everything here is in a level frame (see `PageFrame`): lines run to the right and follow downwards.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wenyuan.parsers.pdf.characters import Font, Glue, Word
from wenyuan.parsers.pdf.frame import Rectangle
from wenyuan.parsers.pdf.letters import is_wide, without_marks

_FIRST_WIDE = "\u2e80"
_SPACE, _NONE = Glue.SPACE, Glue.NONE
_ONLY_SPACES = {Glue.SPACE}
_ITEM_MARK = re.compile(r"[(（]?\d{1,3}[.)）]|[•●○■□▪◦‣∙\uf000-\uf0ff]")
# In heights of the line. A space is about a quarter, in justified text up to two thirds.
_PARTING_GAP = 0.9
_NO_GAP = 0.1
_NEWLINE_GAP = 0.15
_WIDE_GAP = 1.0
_MIXED_GAP = 0.8
_SAME_LINE = 0.35
_SAME_BASELINE = 0.1
_INTO = 0.3
_OPEN_LINES = 4
# In sizes of the letters.
_TALLEST = 1.8
_ASCENT = 1.1
_DESCENT = 0.4
_SMALLEST = 4.0
_FAR = 3.0
_OTHER_SIZE = 1.4
# So many of the gaps between Han characters are printed spaces: then they are the printer's, not the writer's.
_CROWDED_SHARE = 0.3
_CROWDED_FEWEST = 3


class Type(NamedTuple):
    """How a word is printed: in which font, and how far down its letters stand."""

    font: Font
    baseline: float


@dataclass(slots=True, eq=False)
class Fragment:
    """Words on one line with no more than spaces between them: a line of a column, or a table's cell."""

    words: list[Word]
    left: float
    top: float
    right: float
    bottom: float
    font: Font
    baseline: float
    """How far down its letters stand."""

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def rectangle(self) -> Rectangle:
        return Rectangle(self.left, self.top, self.right, self.bottom)

    def said(self) -> str:
        """Its text."""
        return joined_words(self.words)


@dataclass(slots=True, eq=False)
class Line:
    """Fragments beside each other in one column, from left to right."""

    fragments: list[Fragment]
    left: float
    top: float
    right: float
    bottom: float
    font: Font
    """The font of its longest fragment, like its baseline."""
    baseline: float
    longest: float
    """Width of that fragment."""
    _text: str | None = field(default=None)

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def rectangle(self) -> Rectangle:
        return Rectangle(self.left, self.top, self.right, self.bottom)

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = joined_words([word for fragment in self.fragments for word in fragment.words])
        return self._text


def fragments_of(words: Iterable[Word], type_of: Callable[[Word], Type]) -> list[Fragment]:
    """Put words of one turn together, in their order; `type_of` tells how a word is printed."""
    fragments: list[Fragment] = []
    last: Fragment | None = None
    before = 0.0
    for word in words:
        left, top, right, bottom = word.left, word.top, word.right, word.bottom
        # The same height as the line so far is what nearly every word has.
        if last is not None and (
            -(bottom - top) / 2 < left - before < _PARTING_GAP * (bottom - top)
            if top == last.top and bottom == last.bottom
            else _continues(last, word)
        ):
            last.words.append(word)
            if left < last.left:
                last.left = left
            if right > last.right:
                last.right = right
            if top < last.top:
                last.top = top
            if bottom > last.bottom:
                last.bottom = bottom
            before = right
        else:
            before = right
            printed = type_of(word)
            last = Fragment([word], word.left, word.top, word.right, word.bottom, printed.font, printed.baseline)
            fragments.append(last)
    for fragment in fragments:
        if fragment.font.is_bold and len(fragment.words) > 1 and not type_of(fragment.words[-1]).font.is_bold:
            # Only its first words are, as in the first line of many a paragraph.
            fragment.font = Font(fragment.font.size, False)
        if fragment.bottom - fragment.top > _TALLEST * fragment.font.size > _TALLEST * _SMALLEST:
            _lower(fragment)
    return fragments


def _lower(fragment: Fragment) -> None:
    """Make a fragment as high as its letters: some fonts, such as those of symbols, say they are several lines high."""
    top, bottom = fragment.baseline - _ASCENT * fragment.font.size, fragment.baseline + _DESCENT * fragment.font.size
    for word in fragment.words:
        if word.top < bottom and word.bottom > top:
            word.top, word.bottom = max(word.top, top), min(word.bottom, bottom)
    fragment.top = min(word.top for word in fragment.words)
    fragment.bottom = max(word.bottom for word in fragment.words)


def _continues(fragment: Fragment, word: Word) -> bool:
    top, bottom = word.top, word.bottom
    height, fragment_height = bottom - top, fragment.bottom - fragment.top
    small, large = (height, fragment_height) if height < fragment_height else (fragment_height, height)
    if not -large / 2 < word.left - fragment.words[-1].right < _PARTING_GAP * large:
        return False
    above = top if top > fragment.top else fragment.top
    below = bottom if bottom < fragment.bottom else fragment.bottom
    return below - above > 0.5 * small


def lines_of(fragments: Iterable[Fragment]) -> list[Line]:
    """Put the fragments of one column together to its lines, from top to bottom."""
    lines: list[Line] = []
    for fragment in sorted(fragments, key=lambda fragment: (fragment.top, fragment.left)):
        line = next((line for line in reversed(lines[-_OPEN_LINES:]) if _shares_line(line, fragment)), None)
        width = fragment.right - fragment.left
        if line is None:
            rectangle = fragment.left, fragment.top, fragment.right, fragment.bottom
            lines.append(Line([fragment], *rectangle, fragment.font, fragment.baseline, width))
            continue
        line.fragments.append(fragment)
        line.left, line.right = min(line.left, fragment.left), max(line.right, fragment.right)
        line.top, line.bottom = min(line.top, fragment.top), max(line.bottom, fragment.bottom)
        if width > line.longest:
            line.font, line.baseline, line.longest = fragment.font, fragment.baseline, width
    for line in lines:
        if len(line.fragments) > 1:
            line.fragments = _side_by_side(sorted(line.fragments, key=lambda fragment: fragment.left))
    return lines


def _side_by_side(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Put fragments into one that reach into each other.

    Programs print what is in another font, such as quotation marks, after the rest of the line.
    """
    found = [fragments[0]]
    mixed: set[int] = set()
    for fragment in fragments[1:]:
        last = found[-1]
        if fragment.left >= last.right - _INTO * min(fragment.height, last.height):
            found.append(fragment)
            continue
        last.words += fragment.words
        mixed.add(id(last))
        last.right = max(last.right, fragment.right)
        last.top, last.bottom = min(last.top, fragment.top), max(last.bottom, fragment.bottom)
    for fragment in found:
        if id(fragment) in mixed:
            fragment.words.sort(key=lambda word: word.left)
    return found


def _shares_line(line: Line, fragment: Fragment) -> bool:
    small, large = sorted((line.height, fragment.height))
    overlap = min(line.bottom, fragment.bottom) - max(line.top, fragment.top)
    if overlap < 0.5 * small:
        return False
    if max(line.left - fragment.right, fragment.left - line.right) > _FAR * large and not _alike(line, fragment):
        return False
    if abs(line.baseline - fragment.baseline) < _SAME_BASELINE * fragment.font.size and _alike(line, fragment):
        return True
    middle = abs(line.top + line.bottom - fragment.top - fragment.bottom) / 2
    return middle < _SAME_LINE * large + 0.3 * (large - small)


def _alike(line: Line, fragment: Fragment) -> bool:
    return max(line.font.size, fragment.font.size) <= _OTHER_SIZE * min(line.font.size, fragment.font.size)


def joined_words(words: Sequence[Word]) -> str:
    """The text of words on one line, from left to right, with the spaces a person sees between them.

    Between Han characters there is none, unless it is wide; a hyphen's mark stays only at the very end.
    """
    if len(words) == 1:
        return words[0].text
    if {word.glue for word in words[1:]} == _ONLY_SPACES:
        text = " ".join([word.text for word in words])
        if text.isascii():
            return without_marks(text[:-1]) + text[-1]
    spaces = _spaces(words)
    parts = [words[0].text]
    for space, word in zip(spaces, words[1:], strict=True):
        parts += (space, word.text)
    text = "".join(parts)
    return without_marks(text[:-1]) + text[-1]


def _spaces(words: Sequence[Word]) -> list[str]:
    if all(len(word.text) == 1 and is_wide(word.text) for word in words):
        return _letter_spaces(words)
    spaces: list[str] = []
    printed = 0
    for before, word in itertools.pairwise(words):
        glue = word.glue
        if (
            (glue is _SPACE or word.left - before.right > _NEWLINE_GAP * (word.bottom - word.top))
            and before.text[-1] < _FIRST_WIDE
            and word.text[0] < _FIRST_WIDE
            and glue is not _NONE
        ):
            spaces.append(" ")
            continue
        space, is_printed_between_wide = _space(before, word)
        spaces.append(space)
        printed += is_printed_between_wide
    if printed >= _CROWDED_FEWEST:
        within = sum(len(word.text) - 1 for word in words if is_wide(word.text[0]))
        if printed > _CROWDED_SHARE * (printed + within):
            pairs = zip(words, words[1:], spaces, strict=False)
            return ["" if _are_wide(before, word) else space for before, word, space in pairs]
    return spaces


def _letter_spaces(words: Sequence[Word]) -> list[str]:
    """Spaces in a line that is printed character by character, such as a title drawn out over its line."""
    gaps = [word.left - before.right for before, word in itertools.pairwise(words)]
    usual = sorted(gaps)[len(gaps) // 2]
    height = max(word.bottom - word.top for word in words)
    return [" " if gap > max(2 * usual, _WIDE_GAP * height) else "" for gap in gaps]


def _are_wide(before: Word, word: Word) -> bool:
    return is_wide(before.text[-1]) and is_wide(word.text[0])


def _space(before: Word, word: Word) -> tuple[str, bool]:
    """What stands between two words, and whether it is a printed space between Han characters."""
    height = max(before.bottom - before.top, word.bottom - word.top)
    gap = word.left - before.right
    is_printed = word.glue is Glue.SPACE
    wide_before, wide_after = is_wide(before.text[-1]), is_wide(word.text[0])
    if wide_before and wide_after:
        return (" " if is_printed or gap >= _WIDE_GAP * height else ""), is_printed
    if wide_before or wide_after:
        if _ITEM_MARK.fullmatch(before.text) and gap > _NEWLINE_GAP * height:
            return " ", False
        return (" " if is_printed or gap >= _MIXED_GAP * height else ""), False
    if is_printed:
        return " ", False
    if word.glue is Glue.NONE:
        return "", False
    least = _NO_GAP if word.glue is Glue.GAP else _NEWLINE_GAP
    return (" " if gap > least * height else ""), False
