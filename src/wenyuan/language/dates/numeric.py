"""Dates written in digits alone: 2026-04-14, 20260414, 14/4/2026, 2026-04, 1990-1995, 2026/4/3-4/5."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wenyuan.language.dates.mentions import DateMention, PartialDate, single

_number = re.compile(r"[0-9][0-9]*+(?:[-./][0-9]++)*+")

_year_first = re.compile(
    r"(?P<year>[12][0-9]{3})(?P<mark>[-._]|(?P<slash>/))(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"(?![0-9%]|[._:][0-9]|/(?![12][0-9]{3}-)[0-9]|(?(slash)(?!)|-[0-9](?!\.?[0-9])))"
)
# 2026-04-03/2026-04-05 is an interval of ISO 8601.
_to = r"\s?(?:/(?=[12][0-9]{3}-)|到|至|~|\bto\b|\s-{1,2}\s)\s?"
# A hyphen without spaces joins only where it is not the mark within the dates.
_end_of_range = re.compile(
    rf"(?:{_to}|(?P<hyphen>-))(?:(?:(?P<year>[12][0-9]{{3}})(?P<mark>[-/._]))?(?P<month>[0-9]{{1,2}})"
    r"(?P<last_mark>[-/._]))?(?P<day>[0-9]{1,2})(?:日|号|(?![0-9a-z%:]|[-./_:][0-9]))"
)
_revision = re.compile(r"-[0-9]\.[0-9]")
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
        start, end = number.span()
        if end - start < 3 or (start > 1 and folded[start - 1] in "-/." and folded[start - 2] in "0123456789"):
            continue
        if end - start >= 4:
            yield from _read(folded, start, number[0])
        match = _slash.match(folded, start) if end - start <= 5 else None
        if match and (match["after"] or _date_before.search(folded[max(0, start - 12) : start])):
            yield from _either_order(match, None)


def _read(folded: str, start: int, run: str) -> Iterator[DateMention]:
    """The dates at `start`, where the number `run` begins with four characters or more."""
    behind_year = folded[start + 4 : start + 5]
    if not run[:4].isdigit():
        if match := _year_last.match(folded, start):
            yield from _either_order(match, int(match["year"]))
    elif behind_year.isdigit():
        match = _compact.match(folded, start) if len(run) >= 8 else None
        if match and not _code_before.search(folded[max(0, start - 1) : start]):
            yield _day(match, "compact")
    elif match := _year_first.match(folded, start):
        if match["mark"] != "." or not _code_before.search(folded[max(0, start - 1) : start]):
            day = _day(match, "iso" if match["mark"] == "-" else "year-first")
            if whole := _range_from(day, match["mark"], folded):
                yield whole
            elif not _revision.match(folded, day.end):
                yield day
    elif (behind_year in "-/." or behind_year.isspace()) and not _price_before.search(
        folded[max(0, start - 2) : start]
    ):
        if match := _month.match(folded, start):
            yield single(start, match.end(), "year-month", PartialDate(int(match["year"]), int(match["month"])))
        elif match := _years.match(folded, start):
            yield from _year_range(match)


def _day(match: re.Match[str], reading: str) -> DateMention:
    day = PartialDate(int(match["year"]), int(match["month"]), int(match["day"]))
    return single(match.start(), match.end(), reading, day)


def _range_from(day: DateMention, mark: str, folded: str) -> DateMention | None:
    """The range that begins with a day, where its end leaves out what both have in common: 2026/4/3-4/5, 2026/4/3-5."""
    end = _end_of_range.match(folded, day.end)
    if not end or any(used not in (None, mark) for used in (end["mark"], end["last_mark"])):
        return None
    if end["hyphen"] and (mark in "-_" or (mark == "." and not end["month"])):
        return None
    year, month, _ = day.first
    last = PartialDate(int(end["year"] or year or 0), int(end["month"] or month or 0), int(end["day"]))
    whole = DateMention(day.start, end.end(), "range", day.first, last)
    return whole if whole.exists and whole.days() is not None else None


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
