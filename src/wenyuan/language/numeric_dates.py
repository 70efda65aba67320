"""Dates written in digits alone: 2026-04-14, 20260414, 14/4/2026, 2026-04, 1990-1995."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wenyuan.language.date_mentions import DateMention, PartialDate, single

_number = re.compile(r"[0-9]++(?:[-./][0-9]++)*+")

_year_first = re.compile(
    r"(?P<year>[12][0-9]{3})(?P<mark>[-/._])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"(?![0-9%]|[./_:][0-9]|-[0-9](?![0-9]))"
)
_year_last = re.compile(
    r"(?P<one>[0-9]{1,2})(?P<mark>[-/.])(?P<two>[0-9]{1,2})(?P=mark)(?P<year>[12][0-9]{3})(?![0-9%]|[-./_:][0-9])"
)
_compact = re.compile(
    r"(?P<year>(?:19|20)[0-9]{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12][0-9]|3[01])"
    r"(?![0-9a-su-z%]|[-./:][0-9]|\s?[元万亿个])"
)
_month = re.compile(
    r"(?P<year>(?:19|20)[0-9]{2})[-/.](?P<month>0[1-9]|1[0-2])"
    r"(?![0-9a-z%]|[-./_:][0-9]|\s?(?:season|academic|fiscal|school|赛季|学年|财年|[元万亿]))"
)
_years = re.compile(
    r"(?P<year>(?:1[89]|20)[0-9]{2})\s?-{1,2}\s?(?P<last_year>(?:1[89]|20)[0-9]{2})(?![0-9a-z%]|[-./:][0-9])"
)
_weekday = r"\s?\((?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|周?[一二三四五六日]|星期[一二三四五六日天])\)"
_slash = re.compile(rf"(?P<one>[0-9]{{1,2}})/(?P<two>[0-9]{{1,2}})(?![0-9/%]|\.[0-9])(?P<after>[日号]|{_weekday})?")

_number_before = re.compile(r"[0-9][-/.]?$")
_code_before = re.compile(r"[0-9a-z.+#$¥€£]$")
_price_before = re.compile(r"[$¥€£]\s?$")
_date_before = re.compile(r"(?:\b(?:on|by|since|until|before|after|due|dated?)|日期|截至|截止|[于在至])[\s:]{1,2}$")


def numbers(folded: str) -> list[re.Match[str]]:
    """Every run of digits with single marks between them, where dates in digits begin."""
    return list(_number.finditer(folded))


def numeric_mentions(folded: str, found: Iterable[re.Match[str]]) -> Iterator[DateMention]:
    """Every date in digits among the numbers found. What is ambiguous (03/04/2026) is read both ways.

    Versions (1.2.3, v2026.4.1), ratios and scores (24/7, 3-2), addresses and long numbers are none.
    """
    for number in found:
        start, length = number.start(), number.end() - number.start()
        if length < 3:
            continue
        before = folded[max(0, start - 12) : start]
        if _number_before.search(before):
            continue
        if length >= 4:
            yield from _read(folded, start, before)
        if length <= 5 and (match := _slash.match(folded, start)) and (match["after"] or _date_before.search(before)):
            yield from _either_order(match, None)


def _read(folded: str, start: int, before: str) -> Iterator[DateMention]:
    if match := _year_first.match(folded, start):
        if match["mark"] != "." or not _code_before.search(before):
            yield _day(match, "iso" if match["mark"] == "-" else "year-first")
    elif match := _year_last.match(folded, start):
        yield from _either_order(match, int(match["year"]))
    elif match := _compact.match(folded, start):
        if not _code_before.search(before):
            yield _day(match, "compact")
    elif not _price_before.search(before):
        if match := _month.match(folded, start):
            yield single(start, match.end(), "year-month", PartialDate(int(match["year"]), int(match["month"])))
        elif match := _years.match(folded, start):
            yield from _year_range(match)


def _day(match: re.Match[str], reading: str) -> DateMention:
    day = PartialDate(int(match["year"]), int(match["month"]), int(match["day"]))
    return single(match.start(), match.end(), reading, day)


def _either_order(match: re.Match[str], year: int | None) -> Iterator[DateMention]:
    one, two = int(match["one"]), int(match["two"])
    readings = {"month-day": PartialDate(year, one, two), "day-month": PartialDate(year, two, one)}
    existing = {date: reading for reading, date in readings.items() if date.exists}
    for date, reading in existing.items():
        yield single(match.start(), match.end(), reading, date)


def _year_range(match: re.Match[str]) -> Iterator[DateMention]:
    first, last = int(match["year"]), int(match["last_year"])
    # Round numbers more often bound an amount (1800-2000 words).
    if first < last and (first % 50 or last % 50):
        yield DateMention(match.start(), match.end(), "range", PartialDate(first), PartialDate(last))
