"""Quantities: every number of a text with its value and its unit, in any writing.

35,000, 3万5千, 三万五千, 1.2 million, twenty-five and 百分之十二 are read, and the unit behind or before them where it
is a common one: 30 天 and `thirty days` are the same. For looking things up, see `plain_numbers`; here small numbers
count too, since an answer that says three where its source says two is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from wenyuan.language.numerals import NUMERAL, parse_number


class Quantity(NamedTuple):
    """A number at one place of a folded text; `unit` is a common unit's name, or "" where there is none."""

    start: int
    end: int
    value: Decimal
    unit: str
    is_digits: bool
    """Whether it is written in digits, which nobody does by the way."""


_UNITS = """
% percent|per cent|个百分点|百分点
yuan yuan|元|块钱|块|人民币|rmb|cny
usd 美元|美金|dollars|dollar|usd
eur 欧元|euros|euro|eur
gbp 英镑|gbp
jpy 日元|日圆|yen|jpy
hkd 港元|港币|hkd
day 天|日|days|day
workday 个工作日|工作日|working days|working day|business days|business day
week 周|星期|个星期|礼拜|weeks|week
month 个月|月|months|month
year 年|周年|岁|years|year|yrs|yr
hour 小时|个小时|钟头|个钟头|hours|hour|hrs|hr
minute 分钟|minutes|minute|mins|min
second 秒|秒钟|seconds|second|secs|sec
ms 毫秒|milliseconds|millisecond|ms
m 米|公尺|metres|metre|meters|meter|m
km 公里|千米|kilometres|kilometre|kilometers|kilometer|km
cm 厘米|公分|centimetres|centimeters|cm
mm 毫米|millimetres|millimeters|mm
mile 英里|miles|mile
foot 英尺|feet|foot|ft
inch 英寸|inches|inch
g 克|grams|gram|g
kg 公斤|千克|kilograms|kilogram|kg
tonne 吨|tonnes|tonne|tons|ton
litre 升|公升|litres|litre|liters|liter
ml 毫升|ml
m2 平方米|平米|square metres|square meters|m2
km2 平方公里|平方千米|square kilometres|square kilometers|km2
kb kb
mb mb
gb gb
tb tb
degree 度|摄氏度|degrees|degree|°c|°
decade 年代
century 世纪|centuries|century
person 人|名|位|people|persons|person
page 页|pages|page
time 次|回
"""
_CURRENCIES = {"¥": "yuan", "￥": "yuan", "$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "rmb": "yuan", "usd": "usd"}
_NAMES = {
    writing: line.split()[0] for line in _UNITS.split("\n") if line for writing in line.split(None, 1)[1].split("|")
}
_NAMES["%"] = "%"
_unit = re.compile(
    r"[ \u3000]?-?(?:"
    + "|".join(
        re.escape(name) + (r"(?![a-z])" if name[-1].isascii() and name[-1].isalpha() else "")
        for name in sorted(_NAMES, key=len, reverse=True)
    )
    + ")"
)
_currency = re.compile(r"(?:us\$|[¥￥$€£]|(?<![a-z])(?:rmb|usd))[ \u3000]?\Z")

_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_BELOW_TWENTY)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "a dozen": 12,
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "twice": 2,
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_one_word = "|".join(sorted((*_WORDS, *_SCALES), key=len, reverse=True))
_first_word = "|".join(sorted(_WORDS, key=len, reverse=True))
_in_words = re.compile(rf"(?<![a-z])(?:{_first_word})(?:(?:[ -]| and )(?:{_one_word})){{0,8}}(?![a-z])")
_word = re.compile(_one_word)

_in_digits = re.compile(
    r"[0-9](?:[0-9]|,(?=[0-9]{3}(?![0-9])))*(?:\.[0-9]+)?"
    rf"(?:[十百千万亿兆](?:[0-9{NUMERAL}万亿兆]*)|[ ][万亿]|e[+-]?[0-9]{{1,2}}(?![0-9a-z]))?"
    r"(?P<scale>[ -]?(?:hundred|thousand|million|billion|trillion)(?![a-z]))?"
)
_digits_alone = re.compile(r"[0-9](?:[0-9]|,(?=[0-9]{3}(?![0-9])))*(?:\.[0-9]+)?")
_in_chinese = re.compile(rf"[{NUMERAL}][{NUMERAL}万亿兆点]{{0,31}}")
_percent_before = "百分之"
_LONGEST = 32
_MOST_DIGITS = 200
# Words that begin with a numeral and count nothing.
_BEFORE_NO_ONE = "统唯万"
_no_number = re.compile(
    "一[些样定般直起旦切致贯向律概并同度共面方边点下会时再次]|十分|万一|千万(?=不|别|要)|百般|三明治|四处|四面|五金|九牛|七嘴|八卦"
)


def quantities(folded: str) -> Iterator[Quantity]:
    """Every number of a folded text, by position; some places are read in more than one way."""
    for match in _in_digits.finditer(folded):
        yield from _from_digits(folded, match)
    if not folded.isascii():
        for match in _in_chinese.finditer(folded):
            yield from _from_chinese(folded, match)
    for match in _in_words.finditer(folded):
        value = _value_of_words(match[0])
        unit, _ = _unit_behind(folded, match.end())
        yield Quantity(match.start(), match.end(), value, unit, is_digits=False)


def _from_digits(folded: str, match: re.Match[str]) -> Iterator[Quantity]:
    start, end, scale = match.start(), match.end(), match["scale"] or ""
    value = _parsed(match[0][: len(match[0]) - len(scale)].replace(" ", ""))
    if value is not None:
        value *= _SCALES[scale.strip(" -")] if scale else 1
        yield Quantity(start, end, value, _unit_of(folded, start, end), is_digits=True)
        return
    # What is no number as a whole is several; one longer than any that is meant counts as it stands.
    for part in _digits_alone.finditer(folded, start, end):
        digits = _parsed(part[0])
        value = Decimal(part[0].replace(",", "")[:_MOST_DIGITS]) if digits is None else digits
        yield Quantity(part.start(), part.end(), value, _unit_of(folded, part.start(), part.end()), is_digits=True)


def _from_chinese(folded: str, match: re.Match[str]) -> Iterator[Quantity]:
    start, written = match.start(), match[0].rstrip("点")
    before = folded[max(0, start - 1) : start]
    if (
        before.isdigit()
        or _no_number.match(folded, start)
        or (before in _BEFORE_NO_ONE and before and written[0] == "一")
    ):
        return
    value = _parsed(written)
    if value is not None:
        end = start + len(written)
        yield Quantity(start, end, value, _unit_of(folded, start, end), is_digits=False)


def _unit_of(folded: str, start: int, end: int) -> str:
    unit, _ = _unit_behind(folded, end)
    if unit:
        return unit
    if folded[max(0, start - 3) : start] == _percent_before:
        return "%"
    before = _currency.search(folded, max(0, start - 5), start)
    return _CURRENCIES[before[0].strip()] if before else ""


def _unit_behind(folded: str, end: int) -> tuple[str, int]:
    found = _unit.match(folded, end)
    return (_NAMES[found[0].strip(" \u3000-")], found.end()) if found else ("", end)


@lru_cache(maxsize=1 << 12)
def _parsed(written: str) -> Decimal | None:
    if len(written) > _LONGEST:
        return None
    return parse_number(written)


@lru_cache(maxsize=1 << 10)
def _value_of_words(written: str) -> Decimal:
    """Of `two hundred and fifty thousand`: groups below a thousand, each with its scale."""
    total, group = 0, 0
    for word in _word.findall(written):
        scale = _SCALES.get(word)
        if scale is None:
            group += _WORDS[word]
        elif scale == 100:
            group = max(group, 1) * 100
        else:
            total, group = total + max(group, 1) * scale, 0
    return Decimal(total + group)
