"""Dates written in digits alone: 2026-04-14, 20260414, 14/4/2026, 2026-04, 1990-1995."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wenyuan.language.date_mentions import DateMention, PartialDate, single

_WEEKDAY = r"\s?\((?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|周?[一二三四五六日]|星期[一二三四五六日天])\)"

# What stands before a match is looked at afterwards: a pattern that begins with a lookbehind would
# keep the search from skipping ahead to the next digit.
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
_slash = re.compile(rf"(?P<one>[0-9]{{1,2}})/(?P<two>[0-9]{{1,2}})(?![0-9/%]|\.[0-9])(?P<after>[日号]|{_WEEKDAY})?")

_number_before = re.compile(r"[0-9][-/.]?$")
_code_before = re.compile(r"[0-9a-z.+#$¥€£]$")
_price_before = re.compile(r"[$¥€£]\s?$")
_date_before = re.compile(r"(?:\b(?:on|by|since|until|before|after|due|dated?)|日期|截至|截止|[于在至])[\s:]{1,2}$")


def numeric_mentions(folded: str) -> Iterator[DateMention]:
    """Every date in digits. What is ambiguous, as 03/04/2026, is read in both ways.

    Versions (1.2.3, v2026.4.1), ratios and scores (24/7, 3-2), addresses and long numbers are none.
    """
    for match in _year_first.finditer(folded):
        dotted_version = match["mark"] == "." and _preceded(match, _code_before)
        if not _preceded(match, _number_before) and not dotted_version:
            yield _day(match, "iso" if match["mark"] == "-" else "year-first", match["month"], match["day"])
    for match in _year_last.finditer(folded):
        if not _preceded(match, _number_before):
            yield from _either_order(match, int(match["year"]))
    for match in _compact.finditer(folded):
        if not _preceded(match, _number_before) and not _preceded(match, _code_before):
            yield _day(match, "compact", match["month"], match["day"])
    for match in _month.finditer(folded):
        if not _preceded(match, _number_before) and not _preceded(match, _price_before):
            month = PartialDate(int(match["year"]), int(match["month"]))
            yield single(match.start(), match.end(), "year-month", month)
    for match in _years.finditer(folded):
        if not _preceded(match, _number_before) and not _preceded(match, _price_before):
            yield from _year_range(match)
    for match in _slash.finditer(folded):
        if not _preceded(match, _number_before) and (match["after"] or _preceded(match, _date_before)):
            yield from _either_order(match, None)


def _preceded(match: re.Match[str], pattern: re.Pattern[str]) -> bool:
    return pattern.search(match.string[max(0, match.start() - 12) : match.start()]) is not None


def _day(match: re.Match[str], reading: str, month: str, day: str) -> DateMention:
    return single(match.start(), match.end(), reading, PartialDate(int(match["year"]), int(month), int(day)))


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
