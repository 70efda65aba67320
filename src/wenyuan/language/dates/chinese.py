"""Dates as they are written in Chinese: 2026年4月14日, 二〇二六年四月, 民国115年, 四月三日至五日, 4月上旬."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from wenyuan.language.dates.mentions import FIRST_YEAR, LAST_YEAR, DateMention, PartialDate, part_of_month, single
from wenyuan.language.numerals import parse_integer

# The numeral characters as they look after folding.
_DIGIT = "〇○零一二三四五六七八九壹贰叁参肆伍陆柒捌玖"
_NUMERAL = f"{_DIGIT}十拾廿卅"
YEAR_CHARACTERS = f"{_NUMERAL}百佰千仟两o0-9"
"""The inside of a character class: what a year is written with; `chinese_years` says what it can mean."""
DAY_NUMBER = rf"(?:[0-9]{{1,2}}|[{_NUMERAL}]{{1,4}})"
"""A month or a day in a regular expression over folded text."""
_YEAR = rf"(?:元|[{YEAR_CHARACTERS}]{{1,7}})"
_TO = r"\ ?(?:到|至|-{1,4}|~)\ ?"
# 3号线 and 8号楼 are a line and a building.
_DAY_MARK = "(?:日|号(?![线楼院馆店]))"

_DAYS = rf"""
    (?P<day>{DAY_NUMBER})\ ?(?:{_DAY_MARK}|(?={_TO}{DAY_NUMBER}\ ?{_DAY_MARK}))
    (?:(?:(?P<to>{_TO})|[和与、])(?P<last_day>{DAY_NUMBER})\ ?{_DAY_MARK})?
"""
NO_DAY_BEFORE = "[个年月万千百次条名人位项件台套份篇章场家天周点时分秒元块岁多余]"
"""What a number counts where it is no day: 4月14人报名."""
# 3月初中考试, 2月底薪 and 三月初一 (a lunar day) hold no part of a month.
_PART = r"""
    (?P<part>[上中下]旬|初(?![一二三四五六七八九十级步中始期赛版稿衷春夏秋冬])|底(?![线部层薪料气盘价牌])|末(?![日端位班尾页])
    |[上下]半月|第[一二三四1-4]个?(?:周|星期)|最后一?个?(?:周|星期))
"""
_dated = re.compile(
    rf"""
    (?P<year>{_YEAR})\ ?年(?:度\ ?|的(?=\ ?{DAY_NUMBER}\ ?月))?
    (?:
        \ {{0,2}}(?P<first_month>{DAY_NUMBER})\ ?月?{_TO}(?P<last_month>{DAY_NUMBER})\ ?月(?!\ ?{DAY_NUMBER}\ ?[日号])
      | \ {{0,2}}(?P<month>{DAY_NUMBER})\ ?月份?
        (?:\ {{0,2}}(?:{_DAYS}|的?{_PART}|(?P<bare_day>[0-9]{{1,2}})(?![0-9.:%]|{NO_DAY_BEFORE}|{_TO}[0-9])))?
      | \ ?第?(?P<quarter>[一二三四1-4])(?:季度|季(?=[财营业报]))
      | \ ?q(?P<short_quarter>[1-4])(?![0-9a-z])
      | \ ?(?P<half>[上下])半年
    )?
    """,
    re.VERBOSE,
)
_open = re.compile(rf"(?P<month>{DAY_NUMBER})\ ?月\ {{0,2}}(?:{_DAYS}|{_PART})", re.VERBOSE)
_years = re.compile(rf"(?P<year>[12][0-9]{{3}}){_TO}(?P<last_year>[12][0-9]{{3}})\ ?年", re.VERBOSE)

_mark = re.compile(f"[年月](?<=[{YEAR_CHARACTERS}元 ].)")
_year_before = re.compile(rf"(?<![{YEAR_CHARACTERS}万亿第.])(?P<year>{_YEAR}) ?$")
_month_before = re.compile(rf"(?<![{_NUMERAL}千百万0-9./])[{_NUMERAL}0-9]{{1,4}} ?$")
_year_and_range_mark = re.compile(rf"(?<![0-9.])[12][0-9]{{3}}{_TO}$", re.VERBOSE)
_RANGE_MARKS = frozenset(" -~到至")
_duration = re.compile("[前来后间里]|以[前来]|的?历史")

_ERAS = {"民国": 1911, "令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}
_UNITS = frozenset("百佰千仟十拾廿卅两")
_MINGUO_YEARS = range(80, 151)
_PARTS = {
    "初": "first third",
    "上旬": "first third",
    "中旬": "second third",
    "下旬": "last third",
    "底": "last third",
    "末": "last third",
    "上半月": "first half",
    "下半月": "second half",
}
_HALVES = {"上": (1, 6), "下": (7, 12)}

UNKNOWN = "unknown"
"""How a date was read that exists, but that nobody can place."""

chinese_number = lru_cache(maxsize=4096)(parse_integer)
"""`parse_integer`, remembering: the same few numbers make up all dates of a text."""


def chinese_mentions(folded: str) -> Iterator[DateMention]:
    """Every date in Chinese writing, those that do not exist included.

    A year of two digits is one of both centuries (98年3月). One of three digits with a month is
    counted from 1911, as Taiwan does (115年4月14日).
    """
    read_to = 0
    for mark in _mark.finditer(folded):
        if mark.start() >= read_to:
            read = _before_year if mark[0] == "年" else _before_month
            for mention in read(folded, mark.start()):
                read_to = max(read_to, mention.end)
                yield mention


def chinese_years(folded: str, start: int, end: int, *, has_month: bool) -> tuple[int, tuple[int, ...], str]:
    """The year written from `start` to `end`: where it starts with its era, what it can mean, how it was read."""
    written = folded[start:end]
    before = folded[max(0, start - 3) : start].rstrip(" ")
    if before and (zero := _ERAS.get(before[-2:])):
        value = 1 if written == "元" else chinese_number(written.replace("o", "0")) or 0
        counted = zero + value
        return folded.rindex(before[-2:], 0, start), ((counted,) if value and counted <= LAST_YEAR else ()), "era"
    if before.endswith("元前"):
        return start, (), UNKNOWN
    years, reading = _plain_years(written, has_month)
    return start, years, reading


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
        if match["day"]:
            yield from _read_days(match, match.start(), None, "chinese")
        else:
            yield _read_part(match, match.start(), None)


def _read_dated(match: re.Match[str]) -> Iterator[DateMention]:
    has_month = bool(match["month"] or match["first_month"])
    years: tuple[int | None, ...]
    start, years, reading = chinese_years(match.string, *match.span("year"), has_month=has_month)
    # 2000年前 is far more often two thousand years ago than before the year 2000.
    if len(match["year"]) == 4 and match["year"].endswith("000") and _duration.match(match.string, match.end()):
        return
    if not years and (match["day"] or match["part"]):
        if match["year"] in ("一", "1"):
            # 哪一年的2月14日 names no year.
            start, years = match.start("month"), (None,)
        else:
            # One that cannot be told (永历十五年) is not any year: the day must not be read without it.
            yield single(start, match.end(), UNKNOWN, PartialDate(None, 0))
    for year in years:
        if match["day"]:
            yield from _read_days(match, start, year, reading)
        elif match["part"]:
            yield _read_part(match, start, year)
        else:
            first, last = _read_period(match, year)
            yield DateMention(start, match.end(), reading, first, last)


def _read_days(match: re.Match[str], start: int, year: int | None, reading: str) -> Iterator[DateMention]:
    month, day = chinese_number(match["month"]), chinese_number(match["day"])
    last_day = chinese_number(match["last_day"]) if match["last_day"] else day
    if month is None or day is None or last_day is None:
        return
    if reading == "chinese" and not match["day"].isascii():
        reading = "chinese-numerals"
    first, last = PartialDate(year, month, day), PartialDate(year, month, last_day)
    if not match["last_day"]:
        yield single(start, match.end(), reading, first)
    elif match["to"]:
        yield DateMention(start, match.end(), "range", first, last)
    else:
        yield single(start, match.start("last_day") - 1, reading, first)
        yield single(match.start("last_day"), match.end(), reading, last)


def _read_part(match: re.Match[str], start: int, year: int | None) -> DateMention:
    month = PartialDate(year, chinese_number(match["month"]) or 0)
    written = match["part"]
    part = _PARTS.get(written)
    if part is None:
        part = "last week" if written.startswith("最后") else f"week {chinese_number(written[1])}"
    return part_of_month(start, match.end(), month, part)


def _read_period(match: re.Match[str], year: int | None) -> tuple[PartialDate, PartialDate]:
    """What follows the year, where that is neither a day nor a part of a month."""
    if match["first_month"]:
        return _months(year, chinese_number(match["first_month"]), chinese_number(match["last_month"]))
    if match["month"]:
        month = PartialDate(year, chinese_number(match["month"]) or 0)
        if match["bare_day"] and (day := month._replace(day=int(match["bare_day"]))).exists:
            return day, day
        return month, month
    if written := match["quarter"] or match["short_quarter"]:
        quarter = chinese_number(written) or 1
        return _months(year, 3 * quarter - 2, 3 * quarter)
    if match["half"]:
        return _months(year, *_HALVES[match["half"]])
    return PartialDate(year), PartialDate(year)


def _months(year: int | None, first: int | None, last: int | None) -> tuple[PartialDate, PartialDate]:
    return PartialDate(year, first or 0), PartialDate(year, last or 0)


@lru_cache(maxsize=4096)
def _plain_years(written: str, has_month: bool) -> tuple[tuple[int, ...], str]:
    """The years that are meant by a number without an era, and how it was read."""
    value = chinese_number(written.replace("o", "0"))
    reading = "chinese" if written.isascii() else "chinese-numerals"
    if value is None:
        return (), reading
    positional = _UNITS.isdisjoint(written)
    if FIRST_YEAR <= value <= LAST_YEAR and (has_month or (positional and len(written) == 4)):
        return (value,), reading
    if has_month and positional and len(written) == 2:
        return (1900 + value, 2000 + value), reading
    if has_month and positional and len(written) == 3 and value in _MINGUO_YEARS:
        return (1911 + value,), reading
    return (), reading
