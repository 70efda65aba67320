"""Numbers of a spreadsheet as a person sees them, by the format codes of ECMA-376 part 1, 18.8.30-31.

Dates and times are the exception: they are written as ISO 8601, whatever their format says, and
their format only decides how exact they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

GENERAL = "General"
# fmt: off
BUILT_IN_FORMATS = {
    0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00', 12: "# ?/?", 13: "# ??/??",
    14: "yyyy-m-d", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-m-d h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: '#,##0;-#,##0;"-"', 42: '"$"#,##0;-"$"#,##0;"-"',
    43: '#,##0.00;-#,##0.00;"-"', 44: '"$"#,##0.00;-"$"#,##0.00;"-"', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss",
    48: "##0.0E+0", 49: "@",
    # What these stand for depends on the country; in China and Japan they are dates and times.
    27: "yyyy-m", 28: "m-d", 29: "m-d", 30: "m-d-yy", 31: "yyyy-m-d", 32: "h:mm", 33: "h:mm:ss", 34: "h:mm",
    35: "h:mm:ss", 36: "yyyy-m", 50: "yyyy-m", 51: "m-d", 52: "yyyy-m", 53: "m-d", 54: "m-d", 55: "h:mm",
    56: "h:mm:ss", 57: "yyyy-m", 58: "m-d",
}
# fmt: on

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?'
    r"|[\\!](?P<escaped>.)"
    r"|_(?P<space>.)|\*(?P<fill>.)"
    r"|\[(?P<bracket>[^\]]*)\]?"
    r"|(?P<general>General|G/通用格式)"
    r"|(?P<noon>AM/PM|A/P|上午/下午)"
    r"|(?P<exponent>E[+-])"
    r"|(?P<date>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?|[gG]+|e+|b+|a{3,})"
    r"|(?P<digit>[0#?])|(?P<mark>[.,%/@;])|(?P<other>.)",
    re.DOTALL,
)
_ELAPSED = re.compile(r"h+|m+|s+", re.I)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_CURRENCY = re.compile(r"\$([^-]*)")
_MOST_DIGITS = 15
_LONGEST_FORMAT = 1_000
_MOST_DECIMALS = 30
_LAST_DAY = 2_958_466
_LEAP_DAY_THAT_WAS_NONE = 60
_SECONDS_OF_DAY = 86_400
_WIDE_CONTEXT = Context(prec=400)


class Shown(NamedTuple):
    """What is shown of a number, and whether it is a moment in time."""

    text: str
    is_date: bool = False


Token = tuple[str, str]
"""Kind and text: `text`, `digit`, `.`, `,`, `%`, `/`, `@`, `exponent`, `general`."""


@dataclass(slots=True)
class _Section:
    """One of the parts of a format that semicolons separate."""

    tokens: list[Token] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    condition: tuple[str, float] | None = None

    @property
    def is_date(self) -> bool:
        return bool(self.dates) and not any(kind == "digit" for kind, _ in self.tokens)


class NumberFormat:
    """A format code, taken apart once and used for every number that has it."""

    def __init__(self, code: str) -> None:
        self._sections = list(_sections(code[:_LONGEST_FORMAT]))[:4]
        self._shown_by = [_compiled(section) for section in self._sections]
        self._has_conditions = any(section.condition for section in self._sections)
        first = self._sections[0]
        kinds = [kind for kind, _ in first.tokens]
        self._is_general = len(self._sections) == 1 and not first.dates and kinds in (["general"], ["@"], [])

    def shown(self, number: float, from_1904: bool = False) -> Shown:
        """What a person sees of `number`; dates count days from 1900, or from 1904 if the workbook says so."""
        if self._is_general:
            return Shown(general(number))
        index = self._section(number)
        if index == 1 and not self._has_conditions:
            # A section for negative numbers shows the sign itself.
            number = -number
        shown_by = self._shown_by[index]
        if isinstance(shown_by, _Moments):
            text = shown_by.shown(number, from_1904)
            return Shown(text, True) if text else Shown(general(number))
        return Shown(shown_by(number).strip())

    def _section(self, number: float) -> int:
        """Which section shows `number`."""
        count = min(len(self._sections), 3)
        if self._has_conditions:
            conditions = [section.condition for section in self._sections[:count]]
            return next((at for at, found in enumerate(conditions) if not found or _holds(found, number)), count - 1)
        if number < 0 and count > 1:
            return 1
        return 2 if number == 0 and count > 2 else 0


@lru_cache(maxsize=1024)
def number_format(code: str) -> NumberFormat:
    """The format with that code; it is taken apart only once."""
    return NumberFormat(code)


def general(number: float) -> str:
    """A number without a format: up to 15 digits, which is all that a spreadsheet keeps, and never rounded to fewer."""
    if number == int(number) and abs(number) < 10**_MOST_DIGITS:
        return str(int(number))
    text = f"{number:.{_MOST_DIGITS}g}"
    mantissa, _, exponent = text.partition("e")
    if exponent and -10 <= int(exponent) < 0:
        return f"{Decimal(text):f}"
    return f"{mantissa}E{exponent}" if exponent else text


def _sections(code: str) -> Iterator[_Section]:
    section = _Section()
    for token in _TOKEN.finditer(code):
        kind, text = token.lastgroup or "", token[token.lastgroup or 0]
        if kind == "mark" and text == ";":
            yield section
            section = _Section()
        elif kind == "bracket":
            _take_bracket(section, text)
        elif kind == "date":
            section.dates.append(text.lower())
        elif kind in ("quoted", "escaped", "other"):
            section.tokens.append(("text", text))
        elif kind in ("digit", "general", "exponent"):
            section.tokens.append((kind, text))
        elif kind == "mark":
            section.tokens.append((text, text))
    yield section


def _take_bracket(section: _Section, text: str) -> None:
    if _ELAPSED.fullmatch(text):
        section.dates.append(f"[{text[0].lower()}]")
    elif condition := _CONDITION.fullmatch(text):
        section.condition = (condition[1], float(condition[2]))
    elif (currency := _CURRENCY.match(text)) and currency[1]:
        section.tokens.append(("text", currency[1]))


def _holds(condition: tuple[str, float], number: float) -> bool:
    operator, limit = condition
    return {
        "<": number < limit,
        ">": number > limit,
        "=": number == limit,
        "<=": number <= limit,
        ">=": number >= limit,
        "<>": number != limit,
    }[operator]


# --- Moments ---


class _Moments:
    """Shows dates, times and durations in ISO 8601, as exact as the format is."""

    def __init__(self, dates: list[str]) -> None:
        has_seconds = any(part.startswith(("s", "[s")) for part in dates)
        minutes = sum(part in ("m", "mm") and _is_minutes(dates, at) for at, part in enumerate(dates))
        months = sum(part.startswith("m") for part in dates) - minutes
        has_year = any(part[0] in "yeb" for part in dates)
        has_day = any(part[0] in "da" for part in dates)
        self._is_duration = any(part.startswith("[") for part in dates)
        self._has_time = has_seconds or minutes > 0 or any(part.startswith("h") for part in dates)
        self._has_date = has_year or has_day or months > 0
        self._clock = "seconds" if has_seconds else "minutes"
        # `2024-01-15`, or as much of it as is shown.
        self._date_length = 10 if has_day or self._has_time else 7 if months else 4

    def shown(self, number: float, from_1904: bool) -> str:
        """The moment; "" for what no calendar has."""
        if not 0 <= number < _LAST_DAY:
            return ""
        seconds = round(number * _SECONDS_OF_DAY) if self._has_time or self._is_duration else int(number) * 86_400
        if self._is_duration:
            text = f"{seconds // 3600}:{seconds // 60 % 60:02}"
            return f"{text}:{seconds % 60:02}" if self._clock == "seconds" else text
        if not self._has_date:
            moment = datetime(2000, 1, 1) + timedelta(seconds=seconds % _SECONDS_OF_DAY)
            return moment.time().isoformat(self._clock)
        found = _datetime(seconds, from_1904)
        if found is None:
            return ""
        return found.isoformat(" ", self._clock) if self._has_time else found.isoformat()[: self._date_length]


def _is_minutes(dates: list[str], at: int) -> bool:
    before = dates[at - 1] if at else ""
    after = dates[at + 1] if at + 1 < len(dates) else ""
    return before.strip("[").startswith("h") or after.strip("[").startswith("s")


def _datetime(seconds: int, from_1904: bool) -> datetime | None:
    if from_1904:
        return datetime(1904, 1, 1) + timedelta(seconds=seconds)
    # The first spreadsheets took 1900 for a leap year, and all others have kept to it.
    days = seconds // _SECONDS_OF_DAY
    if days in (0, _LEAP_DAY_THAT_WAS_NONE):
        return None
    epoch = datetime(1899, 12, 31) if days < _LEAP_DAY_THAT_WAS_NONE else datetime(1899, 12, 30)
    return epoch + timedelta(seconds=seconds)


# --- Numbers ---


def _compiled(section: _Section) -> _Moments | Callable[[float], str]:
    """What shows a number by this section."""
    kinds = [kind for kind, _ in section.tokens]
    if section.is_date:
        return _Moments(section.dates)
    if "general" in kinds or "@" in kinds:
        return lambda number: "".join(
            general(number) if kind in ("general", "@") else text for kind, text in section.tokens
        )
    if "digit" not in kinds:
        words = _literal(section.tokens)
        return lambda number: f"-{words}" if number < 0 and words else words
    if "/" in kinds and "exponent" not in kinds:
        return lambda number: _fraction(section, number)
    return _Digits(section.tokens).shown


def _literal(tokens: list[Token]) -> str:
    return "".join(text for kind, text in tokens if kind in ("text", "%"))


class _Digits:
    """Shows numbers by places for digits, and what stands around and between them."""

    def __init__(self, tokens: list[Token]) -> None:
        kinds = [kind for kind, _ in tokens]
        first, last = kinds.index("digit"), len(kinds) - 1 - kinds[::-1].index("digit")
        end = last + 1
        while end < len(kinds) and kinds[end] in (",", "."):
            end += 1
        if "." in kinds[:first]:
            first = kinds.index(".")
        places = tokens[first:end]
        self._before, self._behind = _literal(tokens[:first]), _literal(tokens[end:])
        kinds = [kind for kind, _ in places]
        stop = kinds.index("exponent") if "exponent" in kinds else len(kinds)
        point = kinds.index(".") if "." in kinds[:stop] else stop
        self._whole = places[:point]
        fraction = [text for kind, text in places[point:stop] if kind == "digit"][:_MOST_DECIMALS]
        self._is_power = "exponent" in kinds
        self._decimals = len(fraction)
        self._fewest_decimals = len("".join(fraction).rstrip("#?"))
        self._step = Decimal(1).scaleb(-self._decimals)
        whole_kinds = kinds[:point]
        self._has_words_between = "text" in whole_kinds
        self._fewest_digits = len("".join(text for kind, text in self._whole if kind == "digit").lstrip("#?"))
        # A comma behind the last place, before the point or at the end, stands for a thousand left out.
        thousands = _commas_at_end(whole_kinds) + (_commas_at_end(kinds) if point < len(kinds) else 0)
        self._scale = 2 * sum(kind == "%" for kind, _ in tokens) - 3 * thousands
        self._has_thousands = "," in whole_kinds[: len(whole_kinds) - _commas_at_end(whole_kinds)]

    def shown(self, number: float) -> str:
        exact = Decimal(f"{number:.{_MOST_DIGITS}g}")
        if self._scale:
            exact = exact.scaleb(self._scale)
        size = abs(exact)
        if self._is_power:
            digits = _power(size, self._decimals)
        else:
            digits = self._in_places(size.quantize(self._step, ROUND_HALF_UP, _WIDE_CONTEXT))
        is_negative = exact < 0 and any(digit in digits for digit in "123456789")
        return f"{'-' if is_negative else ''}{self._before}{digits}{self._behind}"

    def _in_places(self, number: Decimal) -> str:
        whole, _, behind = f"{number:f}".partition(".")
        while len(behind) > self._fewest_decimals and behind.endswith("0"):
            behind = behind[:-1]
        whole = whole.lstrip("0").rjust(self._fewest_digits, "0")
        if self._has_words_between:
            whole = self._between_words(whole)
        elif self._has_thousands and whole.isdigit():
            whole = f"{int(whole):,}".rjust(len(whole), "0")
        return f"{whole}.{behind}" if behind else whole

    def _between_words(self, digits: str) -> str:
        """The digits before the point in their places, with what stands between the places."""
        parts: list[str] = []
        places = sum(kind == "digit" for kind, _ in self._whole)
        for kind, text in reversed(self._whole):
            if kind == "text":
                parts.append(text)
            elif kind == "digit":
                places -= 1
                parts.append(digits[-1:] if places else digits)
                digits = digits[:-1] if places else ""
        return "".join(reversed(parts))


def _commas_at_end(kinds: list[str]) -> int:
    return next((at for at, kind in enumerate(reversed(kinds)) if kind != ","), len(kinds))


def _power(number: Decimal, decimals: int) -> str:
    mantissa, _, exponent = f"{number:.{decimals}E}".partition("E")
    return f"{mantissa}E{exponent[0]}{exponent[1:].zfill(2)}"


def _fraction(section: _Section, number: float) -> str:
    kinds = [kind for kind, _ in section.tokens]
    slash = kinds.index("/")
    below = "".join(text for kind, text in section.tokens[slash:] if kind in ("digit", "text")).strip()
    fixed = int(below) if below.isdecimal() and 0 < int(below) < 10**6 and below[0] != "0" else 0
    whole = int(abs(number))
    rest = Fraction(abs(number) - whole)
    if fixed:
        part = (round(rest * fixed), fixed)
    else:
        nearest = rest.limit_denominator(10 ** min(max(below.count("?") + below.count("#"), 1), 4) - 1)
        part = (nearest.numerator, nearest.denominator)
    if part[0] == part[1]:
        whole, part = whole + 1, (0, 1)
    text = f"{part[0]}/{part[1]}" if part[0] else ""
    joined = f"{whole} {text}".strip() if whole or not text else text
    return f"-{joined}" if number < 0 and joined != "0" else joined
