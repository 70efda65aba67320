"""What the cell of a table holds: a number with its unit, a day, a truth value, or words.

A cell is a number only where nobody would read it as anything else: 007 and 1.2.3 are words, and so are
numbers so long that they name something. Numbers are exact: what could not be written back is words.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from wenyuan.language.dates.resolving import find_dates
from wenyuan.language.folding import fold
from wenyuan.language.numerals import parse_number
from wenyuan.types import Amount, CellValue, Days, RowMark, Wanted

LONGEST_CELL = 200
"""So many characters of a cell's words are kept; nobody asks for longer ones by their words."""

_LONGEST_VALUE = 40
_MOST_DIGITS = 15
_MOST_WHOLE_DIGITS = 18

_BEFORE = {
    **{sign: sign for sign in "¥$€£₩₹฿₽"},
    "￥": "¥",
    "us$": "$",
    "usd": "$",
    "hk$": "HK$",
    "hkd": "HK$",
    "nt$": "NT$",
    "rmb": "¥",
    "cny": "¥",
    "eur": "€",
    "gbp": "£",
    "jpy": "JPY",
    "krw": "₩",
}
_BEHIND = {
    **{sign: sign for sign in "¥$€£₩₹฿₽%‰"},
    "％": "%",
    "元": "¥",
    "人民币": "¥",
    "美元": "$",
    "欧元": "€",
    "英镑": "£",
    "港元": "HK$",
    "日元": "JPY",
    "usd": "$",
    "rmb": "¥",
    "cny": "¥",
    "eur": "€",
    "gbp": "£",
    "hkd": "HK$",
    "jpy": "JPY",
    "krw": "₩",
}


def _either(words: dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_number = re.compile(
    rf"(?P<paren>\()?\s*(?P<sign>[-+−]?)\s*(?P<before>{_either(_BEFORE)})?\s*(?P<inner>[-+−]?)"
    r"(?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)(?P<power>e[+-]?[0-9]{1,2})?(?P<large>[千万亿]*)"
    rf"\s*(?P<behind>{_either(_BEHIND)})?\s*(?P<closed>\))?",
    re.IGNORECASE,
)
_moment = re.compile(
    r"(?P<year>[12][0-9]{3})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"(?:[ T]\s?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_perhaps_date = re.compile(
    r"[年月季]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|q[1-4]|[0-9]{4}-[0-9]{2}$|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]",
    re.IGNORECASE,
)
_plain = re.compile(r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,3})?")
_year = re.compile(r"[0-9]{4}|[〇零一二三四五六七八九]{4}")
_total = re.compile(
    r"(?:合\s*计|总\s*计|小\s*计|共\s*计|累\s*计|汇\s*总|总\s*和|本页小计|(?:grand |sub)?total(?:s| amount)?"
    r"|sub-total|sum)[:：]?"
)
_MARKING = frozenset("合总總小共累汇匯本注註备備说說附来來资資数數tgsnrTGSNRｔｇｓｎｒＴＧＳＮＲ")
"""What such words begin with, in every writing; most rows begin otherwise."""
_remark = re.compile(r"(?:注|备注|说明|附注|来源|资料来源|数据来源|notes?|remarks?|sources?)\s*\d*\s*[:：.]")


def cell_value(text: str) -> CellValue:
    """What a cell with that text holds; None where it shows nothing."""
    text = text.strip()
    if len(text) > _LONGEST_VALUE:
        return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
    return _value(text) if text else None


# The same short texts stand in a column again and again.
@lru_cache(maxsize=1 << 14)
def _value(text: str) -> CellValue:
    if _plain.fullmatch(text):
        return _native(Decimal(text)) if "." in text else int(text)
    if text[0].isalpha() and text.isascii() and text.upper() in ("TRUE", "FALSE"):
        return text.upper() == "TRUE"
    if text[4:5] in ("-", "/", ".") and (days := _read_days(text)) is not None:
        return days
    number = _read_number(text)
    return number if number is not None else _read_days(text) or text


def shown_number(shown: str, number: float) -> CellValue:
    """A number of which a cell shows `shown`: its exact value, and the unit that it is shown with."""
    exact = Decimal(f"{number:.{_MOST_DIGITS}g}")
    unit = ""
    if not shown.replace(",", "").replace(".", "").lstrip("-").isdigit():
        folded = shown.lower()
        signs = [unit for word, unit in _UNITS if word in folded]
        unit = signs[0] if signs else ""
    if unit in ("%", "‰"):
        exact = exact.scaleb(2 if unit == "%" else 3)
    value = _native(exact)
    return Amount(value, unit) if unit else value


_UNITS = sorted({**_BEFORE, **_BEHIND}.items(), key=lambda one: -len(one[0]))


def mark_of(values: Sequence[str]) -> RowMark:
    """What a row with these texts is besides data, judged by the first of them that shows something."""
    first = next((text for text in values if text and not text.isspace()), "").lstrip()
    if first[:1] not in _MARKING or len(first) > LONGEST_CELL:
        return ""
    folded = fold(first).strip()
    if _total.fullmatch(folded):
        return "total"
    is_alone = sum(bool(text and not text.isspace()) for text in values) == 1
    return "remark" if is_alone and len(values) > 1 and _remark.match(folded) else ""


def wanted(text: str) -> Wanted:
    """A text as a value to compare cells with, in every way that it may be meant."""
    shown = " ".join(text.split())
    value = cell_value(shown)
    number, unit, days = None, "", None
    if isinstance(value, Amount):
        number, unit = Decimal(str(value.number)), value.unit
    elif isinstance(value, Days):
        days = (value.first, value.last)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = Decimal(str(value))
    elif isinstance(value, str):
        number = parse_number(fold(value))
    return Wanted(shown, folded_words(shown), number, unit, days)


@lru_cache(maxsize=1 << 15)
def folded_words(text: str) -> str:
    """The text of a cell in the form in which cells are compared."""
    return " ".join(fold(text).split())


def _read_number(text: str) -> CellValue:
    first = text[0]
    if not ("0" <= first <= "9" or first in "-+−(" or first.lower() in _FIRST):
        return None
    match = _number.fullmatch(text)
    if match is None or bool(match["paren"]) != bool(match["closed"]):
        return None
    digits = match["digits"].replace(",", "")
    whole = digits.partition(".")[0]
    if (
        (len(whole) > 1 and whole[0] == "0")
        or (match["before"] and match["behind"])
        or (match["sign"] and match["inner"])
    ):
        return None
    power = match["power"] or ""
    if power and "." not in digits and power[1] not in "+-":
        # 12e4 names something.
        return None
    exact = Decimal(digits + power)
    if match["large"]:
        larger = parse_number(digits + match["large"])
        if larger is None:
            return None
        exact = larger
    if (match["sign"] in ("-", "−")) != (match["inner"] in ("-", "−")) or match["paren"]:
        exact = -exact
    is_long = len(digits.replace(".", "").lstrip("0")) > (_MOST_DIGITS if "." in digits else _MOST_WHOLE_DIGITS)
    if is_long or abs(exact.adjusted()) > _MOST_WHOLE_DIGITS * 5:
        return None
    value = _native(exact)
    unit = _BEFORE.get((match["before"] or "").lower()) or _BEHIND.get((match["behind"] or "").lower()) or ""
    return Amount(value, unit) if unit else value


_FIRST = frozenset(word[0] for word in _BEFORE)


def _native(number: Decimal) -> int | float:
    """As a whole number where it is one, else as the float that is written with these very digits."""
    return int(number) if number == number.to_integral_value() and number.adjusted() < 300 else float(number)


def _read_days(text: str) -> Days | None:
    if match := _moment.fullmatch(text):
        try:
            day = datetime.date(int(match["year"]), int(match["month"]), int(match["day"])).toordinal()
        except ValueError:
            return None
        return Days(day, day, text)
    if not _perhaps_date.search(text) or not _year.search(text):
        return None
    days = _read_written_days(text)
    return Days(*days, text) if days is not None else None


@lru_cache(maxsize=1 << 14)
def _read_written_days(text: str) -> tuple[int, int] | None:
    """The days of a text that is one date as a whole, which has one reading and names its year."""
    spans = find_dates(text)
    if len(spans) != 1 or (spans[0].start, spans[0].end) != (0, len(text)):
        return None
    return spans[0].first_day, spans[0].last_day
