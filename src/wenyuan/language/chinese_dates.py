"""Dates as they are written in Chinese: 2026年4月14日, 二〇二六年四月, 民国115年, 四月三日至五日."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wenyuan.language.date_mentions import FIRST_YEAR, LAST_YEAR, DateMention, PartialDate
from wenyuan.language.numerals import parse_integer

# The numeral characters as they look after folding.
_DIGIT = "〇○零一二三四五六七八九壹贰叁参肆伍陆柒捌玖"
_NUMERAL = f"{_DIGIT}十拾廿卅"
_YEAR = f"{_NUMERAL}百千两元o0-9"
DAY_NUMBER = rf"(?:[0-9]{{1,2}}|[{_NUMERAL}]{{1,4}})"
"""A month or a day in a regular expression over folded text."""
_TO = r"\ ?(?:到|至|-{1,4}|~)\ ?"
# 3号线 and 8号楼 are a line and a building.
_DAY_MARK = "(?:日|号(?![线楼院馆店]))"

_DAYS = rf"""
    (?P<day>{DAY_NUMBER})\ ?(?:{_DAY_MARK}|(?={_TO}{DAY_NUMBER}\ ?{_DAY_MARK}))
    (?:{_TO}(?P<last_day>{DAY_NUMBER})\ ?{_DAY_MARK})?
"""
_dated = re.compile(
    rf"""
    (?P<year>[{_YEAR}]{{1,7}})\ ?年(?:度\ ?)?
    (?:
        \ {{0,2}}(?P<first_month>{DAY_NUMBER})\ ?月?{_TO}(?P<last_month>{DAY_NUMBER})\ ?月(?!\ ?{DAY_NUMBER}\ ?[日号])
      | \ {{0,2}}(?P<month>{DAY_NUMBER})\ ?月份?
        (?:\ {{0,2}}(?:{_DAYS}|(?P<third>[上中下])旬|(?P<bare_day>[0-9]{{1,2}})(?![0-9个.:%年月万千百]|{_TO}[0-9])))?
      | \ ?第?(?P<quarter>[一二三四1-4])季度?
      | \ ?(?P<half>[上下])半年
    )?
    """,
    re.VERBOSE,
)
_open = re.compile(rf"(?P<month>{DAY_NUMBER})\ ?月\ {{0,2}}{_DAYS}", re.VERBOSE)
_years = re.compile(rf"(?P<year>[12][0-9]{{3}}){_TO}(?P<last_year>[12][0-9]{{3}})\ ?年", re.VERBOSE)

_mark = re.compile("[年月]")
_year_before = re.compile(rf"(?<![{_YEAR}万亿第.])(?P<year>[{_YEAR}]{{1,7}}) ?$")
_month_before = re.compile(rf"(?<![{_NUMERAL}千百万0-9./])[{_NUMERAL}0-9]{{1,4}} ?$")
_year_and_range_mark = re.compile(rf"(?<![0-9.])[12][0-9]{{3}}{_TO}$", re.VERBOSE)
_RANGE_MARKS = frozenset(" -~到至")
_duration = re.compile("[前来后间里]|以[前来]|的?历史")

_ERAS = {"民国": 1911, "令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}
_MINGUO_YEARS = range(80, 151)
_THIRDS = {"上": (1, 10), "中": (11, 20), "下": (21, None)}
_HALVES = {"上": (1, 6), "下": (7, 12)}


def chinese_mentions(folded: str) -> Iterator[DateMention]:
    """Every date in Chinese writing, those that do not exist included.

    A year of two digits is one of both centuries (98年3月). One of three digits with a month is
    counted from 1911, as Taiwan does (115年4月14日).
    """
    if folded.isascii():
        return
    read_to = 0
    for mark in _mark.finditer(folded):
        if mark.start() >= read_to:
            read = _before_year if mark[0] == "年" else _before_month
            for mention in read(folded, mark.start()):
                read_to = max(read_to, mention.end)
                yield mention


def _before_year(folded: str, mark: int) -> Iterator[DateMention]:
    before = _year_before.search(folded, max(0, mark - 8), mark)
    if not before:
        return
    if folded[before.start() - 1 : before.start()] in _RANGE_MARKS:
        opening = _year_and_range_mark.search(folded, max(0, before.start() - 12), before.start())
        if opening and (match := _years.match(folded, opening.start())):
            first, last = PartialDate(int(match["year"])), PartialDate(int(match["last_year"]))
            yield DateMention(match.start(), match.end(), "range", first, last)
            return
    if match := _dated.match(folded, before.start()):
        yield from _read_dated(match)


def _before_month(folded: str, mark: int) -> Iterator[DateMention]:
    before = _month_before.search(folded, max(0, mark - 5), mark)
    if before and (match := _open.match(folded, before.start())):
        yield from _read_days(match, match.start(), None, "chinese")


def _read_dated(match: re.Match[str]) -> Iterator[DateMention]:
    start, years, reading = _read_year(match)
    # 2000年前 is far more often two thousand years ago than before the year 2000.
    if len(match["year"]) == 4 and match["year"].endswith("000") and _duration.match(match.string, match.end()):
        return
    if not years:
        if match["day"]:
            yield from _read_days(match, match.start("month"), None, "chinese")
        return
    for year in years:
        if match["day"]:
            yield from _read_days(match, start, year, reading)
        else:
            first, last = _read_period(match, year)
            yield DateMention(start, match.end(), reading, first, last)


def _read_days(match: re.Match[str], start: int, year: int | None, reading: str) -> Iterator[DateMention]:
    month, day = parse_integer(match["month"]), parse_integer(match["day"])
    last_day = parse_integer(match["last_day"]) if match["last_day"] else day
    if month is not None and day is not None and last_day is not None:
        if reading == "chinese" and not match["day"].isascii():
            reading = "chinese-numerals"
        first, last = PartialDate(year, month, day), PartialDate(year, month, last_day)
        yield DateMention(start, match.end(), "range" if match["last_day"] else reading, first, last)


def _read_period(match: re.Match[str], year: int) -> tuple[PartialDate, PartialDate]:
    """What follows the year, where that is no day: months, a month, a part of it, a part of the year."""
    if match["first_month"]:
        return _months(year, parse_integer(match["first_month"]), parse_integer(match["last_month"]))
    if match["month"]:
        month = parse_integer(match["month"])
        whole = PartialDate(year, month if month is not None else 0)
        if match["third"]:
            first_day, last_day = _THIRDS[match["third"]]
            return PartialDate(year, month, first_day), PartialDate(year, month, last_day)
        if match["bare_day"] and (day := PartialDate(year, month, int(match["bare_day"]))).exists:
            return day, day
        return whole, whole
    if match["quarter"]:
        quarter = parse_integer(match["quarter"]) or 1
        return _months(year, 3 * quarter - 2, 3 * quarter)
    if match["half"]:
        return _months(year, *_HALVES[match["half"]])
    return PartialDate(year), PartialDate(year)


def _months(year: int, first: int | None, last: int | None) -> tuple[PartialDate, PartialDate]:
    return PartialDate(year, first or 0), PartialDate(year, last or 0)


def _read_year(match: re.Match[str]) -> tuple[int, tuple[int, ...], str]:
    """Where the mention starts, the years it can mean, and how they were read."""
    written = match["year"]
    before = match.string[max(0, match.start() - 3) : match.start()].rstrip(" ")
    value = 1 if written == "元" else parse_integer(written.replace("o", "0"))
    if value is None:
        return match.start(), (), ""
    for era, zero in _ERAS.items():
        if before.endswith(era):
            start = match.string.rindex(era, 0, match.start())
            return start, ((zero + value,) if value > 0 and zero + value <= LAST_YEAR else ()), "era"
    reading = "chinese" if written.isascii() else "chinese-numerals"
    return match.start(), _plain_years(written, value, bool(match["month"] or match["first_month"])), reading


def _plain_years(written: str, value: int, has_month: bool) -> tuple[int, ...]:
    positional = not any(unit in written for unit in "百千十拾廿卅两元")
    if FIRST_YEAR <= value <= LAST_YEAR and (has_month or (positional and len(written) == 4)):
        return (value,)
    if has_month and positional and len(written) == 2:
        return (1900 + value, 2000 + value)
    if has_month and positional and len(written) == 3 and value in _MINGUO_YEARS:
        return (1911 + value,)
    return ()
