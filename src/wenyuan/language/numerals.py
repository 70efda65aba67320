"""Numerals: Chinese and mixed ways of writing a number, read and written.

Read are 一百二十三, positional 一二三 and 二〇二六, financial 壹佰贰拾叁, 廿三, arabic digits with
thousands separators, mixtures such as 3万5千 and 1.2亿, decimals (一点五), and the colloquial form
that leaves out the last unit (三万五 is 35000). Traditional and simplified characters count alike.
What is vague is no number: 一二万, "ten or twenty thousand", 两三百, 三两; nor is what counts tens by a
fraction: 三点五十 is a time.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

Style = Literal["plain", "financial", "positional"]

_LONGEST = 64

_DIGITS = {
    **dict(zip("〇一二三四五六七八九", range(10), strict=True)),
    **dict(zip("零壹贰叁肆伍陆柒捌玖", range(10), strict=True)),
    **dict(zip("０１２３４５６７８９", range(10), strict=True)),
    **dict(zip("○◯貳參参叄陸弌弍弎兩两", (0, 0, 2, 3, 3, 3, 6, 1, 2, 3, 2, 2), strict=True)),
}
_UNITS = (
    ("兆", 10**12),
    ("亿億", 10**8),
    ("万萬", 10**4),
    ("千仟", 1000),
    ("百佰", 100),
    ("十拾", 10),
)
_SINGLE = range(1, 10)
_TENS = {"廿": "二十", "卄": "二十", "卅": "三十", "卌": "四十"}

NUMERAL = "".join((*_DIGITS, *_TENS, "十拾百佰千仟"))
"""The characters of Chinese numbers below ten thousand, for regular-expression character classes."""

_to_ascii = str.maketrans({c: str(value) for c, value in _DIGITS.items()} | {"点": ".", "點": ".", "．": "."} | _TENS)
_arabic = re.compile(r"(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,2})?", re.IGNORECASE)
_counting = "".join(
    character for character, value in _DIGITS.items() if value and character not in "１２３４５６７８９"
)
# Two digits side by side before a unit, or beside 两, which is no digit of longer numbers or of fractions.
_approximate = re.compile(
    f"[{_counting}]{{2}}[{''.join(characters for characters, _ in _UNITS)}]"
    f"|[两兩][{_counting}1-9]|[{_counting}1-9点點.．][两兩]"
)
_decimal = re.compile(r"[0-9]*(?:\.[0-9]+)?")


def parse_number(text: str) -> Decimal | None:
    """The value of a text that is one number as a whole; None where it is not, or is absurdly long."""
    if not text or len(text) > _LONGEST or _approximate.search(text):
        return None
    # One pass for the tens, whose replacements hold digits themselves.
    plain = text.translate(_to_ascii).translate(_to_ascii)
    if _arabic.fullmatch(plain):
        return Decimal(plain.replace(",", ""))
    return _composed(plain, _UNITS, 0)


def parse_integer(text: str) -> int | None:
    """The value of a text that is one whole number, or None."""
    number = parse_number(text)
    return int(number) if number is not None and number == number.to_integral_value() else None


def render_integer(value: int, style: Style = "plain") -> str:
    """Write a whole number in Chinese: 二千零二十六, 贰仟零贰拾陆 or 二〇二六.

    A negative number, or one of ten quadrillion (10**16) or more, is written in arabic digits.
    """
    if not 0 <= value < 10**16:
        return str(value)
    if style == "positional":
        return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(value))
    if style == "financial":
        return _rendered(value, "零壹贰叁肆伍陆柒捌玖", ("兆", "亿", "万", "仟", "佰", "拾"))
    written = _rendered(value, "零一二三四五六七八九", ("兆", "亿", "万", "千", "百", "十"))
    return written[1:] if written.startswith("一十") else written


def _composed(text: str, units: tuple[tuple[str, int], ...], after: int) -> Decimal | None:
    """The value of a number written with units, all of them among `units`, largest first.

    `after` is the unit that stands right before the text, or 0: 五 after 万 means 五千.
    """
    for index, (characters, unit) in enumerate(units):
        at = max(text.rfind(character) for character in characters)
        if at >= 0:
            return _with_unit(text[:at], unit, text[at + 1 :], units[index + 1 :])
    if not text or not _decimal.fullmatch(text) or (text[0] == "." and not after):
        return None
    if after and len(text) == 1:
        return Decimal(int(text) * after // 10)
    return Decimal(text)


def _with_unit(count: str, unit: int, rest: str, smaller: tuple[tuple[str, int], ...]) -> Decimal | None:
    if not count and unit == 10:
        counted: Decimal | None = Decimal(1)
    else:
        counted = _composed(count, smaller if unit >= 10**4 else (), 0)
    if not counted or (unit == 10 and counted not in _SINGLE):
        return None
    if not rest:
        return counted * unit
    if rest[0] == "0":
        added = _composed(rest[1:], smaller, 0)
    else:
        added = _composed(rest, smaller, unit)
    if added is None or added >= unit or counted != counted.to_integral_value():
        return None
    return counted * unit + added


def _rendered(value: int, digits: str, units: tuple[str, ...]) -> str:
    if value < 10:
        return digits[value]
    size, unit = next((size, unit) for (_, size), unit in zip(_UNITS, units, strict=True) if value >= size)
    count, rest = divmod(value, size)
    written = _rendered(count, digits, units) + unit
    if rest:
        written += (digits[0] if rest < size // 10 else "") + _rendered(rest, digits, units)
    return written
