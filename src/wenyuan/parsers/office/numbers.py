"""The numbers of lists and headings, counted and written as a word processor shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

LEVELS = 9

_DIGITS = "〇一二三四五六七八九"
_LEGAL_DIGITS = "零壹贰叁肆伍陆柒捌玖"
_UNITS = ("", "十", "百", "千")
_LEGAL_UNITS = ("", "拾", "佰", "仟")
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST_ROMAN = 4_000
_LARGEST_WRITTEN = 10_000
_MOST_LETTERS = 20
_CIRCLED = 20
_LARGEST_NUMBER = 1_000_000
_SYMBOL_SPACE = "\uf020"
_PLACE = re.compile(r"%([1-9])")


class Level(NamedTuple):
    """How one level of a list is numbered.

    `form` is a number format of WordprocessingML (ECMA-376 part 1, 17.18.59), `pattern` the label with `%1` for
    the number of the first level and so on. A `legal` level writes every number in decimals.
    """

    form: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    legal: bool = False


class ListCounter:
    """Counts the items of every list of a document."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int | None]] = {}

    def label(self, list_id: str, depth: int, levels: Sequence[Level]) -> str:
        """Count the next item of a list at `depth`, from 0, and return its label."""
        if not 0 <= depth < len(levels):
            return ""
        counts = self._counts.setdefault(list_id, [None] * LEVELS)
        for outer in range(depth):
            if counts[outer] is None:
                counts[outer] = levels[outer].start
        count = counts[depth]
        counts[depth] = levels[depth].start if count is None else count + 1
        counts[depth + 1 :] = [None] * (LEVELS - depth - 1)
        return _label(levels, depth, counts)

    def restart(self, list_id: str, depth: int, number: int) -> None:
        """Let the next item at `depth` have this number."""
        counts = self._counts.setdefault(list_id, [None] * LEVELS)
        if 0 <= depth < LEVELS:
            counts[depth] = number - 1
            counts[depth + 1 :] = [None] * (LEVELS - depth - 1)

    def forget(self, list_id: str) -> None:
        """Let the list begin anew."""
        self._counts.pop(list_id, None)


def _label(levels: Sequence[Level], depth: int, counts: Sequence[int | None]) -> str:
    level = levels[depth]
    if level.form == "bullet":
        return "•"
    if level.form == "none":
        return _PLACE.sub("", level.pattern)

    def written(place: re.Match[str]) -> str:
        index = int(place[1]) - 1
        if index > depth or index >= len(levels):
            return ""
        return numeral(counts[index] or 0, "decimal" if level.legal else levels[index].form)

    return _PLACE.sub(written, level.pattern)


def is_blank_bullet(text: str) -> bool:
    """Whether a bullet shows nothing: that is how some programs indent what goes on with an item."""
    return not text.strip(f" \xa0{_SYMBOL_SPACE}")


def numeral(number: int, form: str) -> str:
    """Write a number in a number format of WordprocessingML; one that is not known is written in decimals."""
    if not 0 <= number < _LARGEST_NUMBER:
        return str(number)
    return _FORMS.get(form, str)(number)


def _roman(number: int) -> str:
    if not 0 < number < _LARGEST_ROMAN:
        return str(number)
    text = ""
    for value, letters in _ROMAN:
        while number >= value:
            text += letters
            number -= value
    return text


def _letters(number: int) -> str:
    """a to z, then aa, bb and so on."""
    if not 0 < number <= 26 * _MOST_LETTERS:
        return str(number)
    repeats, letter = divmod(number - 1, 26)
    return chr(ord("a") + letter) * (repeats + 1)


def _chinese(number: int, digits: str = _DIGITS, units: Sequence[str] = _UNITS) -> str:
    """十二, 一百〇五, 一千二百 …; ten has no one before it unless it is written for the law."""
    if number >= _LARGEST_WRITTEN:
        return str(number)
    if number == 0:
        return digits[0]
    text = ""
    gap = False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            text += (digits[0] if gap else "") + digits[digit] + units[place]
            gap = False
        else:
            gap = bool(text)
    return text.removeprefix("一") if 10 <= number < 20 and digits is not _LEGAL_DIGITS else text


def _legal(number: int) -> str:
    return _chinese(number, _LEGAL_DIGITS, _LEGAL_UNITS)


def _digit_by_digit(number: int) -> str:
    return "".join(_DIGITS[int(digit)] for digit in str(number))


def _of(characters: str) -> Callable[[int], str]:
    return lambda number: characters[(number - 1) % len(characters)] if number else "0"


def _enclosed(first: int) -> Callable[[int], str]:
    return lambda number: chr(first + number - 1) if 0 < number <= _CIRCLED else str(number)


def _ordinal(number: int) -> str:
    teen = number // 10 % 10 == 1
    return str(number) + ("th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))


_FULL_WIDTH = {ord(str(digit)): chr(0xFF10 + digit) for digit in range(10)}
_FORMS: Mapping[str, Callable[[int], str]] = {
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerRoman": _roman,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerLetter": _letters,
    "ordinal": _ordinal,
    "decimalZero": lambda number: f"{number:02}",
    "decimalFullWidth": lambda number: str(number).translate(_FULL_WIDTH),
    "decimalFullWidth2": lambda number: str(number).translate(_FULL_WIDTH),
    "decimalEnclosedCircle": _enclosed(0x2460),
    "decimalEnclosedCircleChinese": _enclosed(0x2460),
    "decimalEnclosedParen": _enclosed(0x2474),
    "decimalEnclosedFullstop": _enclosed(0x2488),
    "ideographDigital": _digit_by_digit,
    "taiwaneseDigital": _digit_by_digit,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "japaneseCounting": _chinese,
    "chineseLegalSimplified": _legal,
    "ideographLegalTraditional": _legal,
    "ideographTraditional": _of(_STEMS),
    "ideographZodiac": _of(_BRANCHES),
    "none": lambda _: "",
}
BINARY_FORMS: Mapping[int, str] = dict(
    enumerate(
        "decimal upperRoman lowerRoman upperLetter lowerLetter ordinal decimal decimal decimal decimal "
        "ideographDigital japaneseCounting decimal decimal decimalFullWidth decimal decimal decimal "
        "decimalEnclosedCircle decimalFullWidth2 decimal decimal decimalZero bullet decimal decimal "
        "decimalEnclosedFullstop decimalEnclosedParen decimalEnclosedCircleChinese decimal ideographTraditional "
        "ideographZodiac ideographZodiac taiwaneseCounting ideographLegalTraditional taiwaneseCountingThousand "
        "taiwaneseDigital chineseCounting chineseLegalSimplified chineseCountingThousand".split()
    )
) | {255: "none"}
"""The same formats by the numbers that Word 97 and RTF give them ([MS-OSHARED] 2.2.1.3)."""
