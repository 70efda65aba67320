"""Dates of the Chinese lunisolar calendar: 农历二〇二六年正月初一, 农历八月十五, 腊月廿三, 闰二月.

That a date is lunar is said by 农历 (阴历, 旧历, 夏历), by the month's name (正月, 冬月, 腊月, 闰二月)
or by the day's (初三); its year is then the lunar one. Without a year it can mean another day each
year: only a question is read so, with the years it can mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wenyuan.language.dates.chinese import UNKNOWN, YEAR_CHARACTERS, chinese_number, chinese_years
from wenyuan.language.dates.lunar_calendar import covers, lunar_day, lunar_month
from wenyuan.language.dates.mentions import DateMention, PartialDate, day_range, single

READING = "lunar"

_NUMERAL = "一二三四五六七八九十"
_CALENDAR = "[农阴旧夏]历"
# 修正月度计划 holds no 正月.
_NAME = "(?<![修更改校纠订反])正(?=月(?![度报结薪]))|[冬腊](?=月)"
# 三月初一场雪 and 三月初三学生 hold no lunar day: what follows takes the numeral for itself.
_EARLY = rf"初(?P<early>[{_NUMERAL}])(?![场次个位名些种级直定共起切般样年学生班{_NUMERAL}])"
_ANCHOR = rf"{_CALENDAR}|{_NAME}|闰(?=[{_NUMERAL}0-9]{{1,2}}月)|(?<=[{_NUMERAL}0-9])月(?={_EARLY})"
# What begins with one of a few characters is searched for fast; what they begin is asked looking back at them.
_anchor = re.compile(rf"[农阴旧夏正冬腊闰月](?<=(?={_ANCHOR}).)")
_YEAR = rf"(?:(?<![{YEAR_CHARACTERS}.])(?P<year>[{YEAR_CHARACTERS}]{{1,7}})\ ?年的?\ ?)"
_MONTH = rf"(?<![{_NUMERAL}0-9])(?:[{_NUMERAL}]{{1,2}}|[0-9]{{1,2}})"
_opening = re.compile(rf"{_YEAR}?(?:{_MONTH})?$")
_lunar = re.compile(
    rf"""
    {_YEAR}?(?:{_CALENDAR}的?\ ?{_YEAR.replace("year", "inner_year")}?)?
    (?P<leap>闰)?(?:(?P<name>{_NAME})|(?P<month>{_MONTH}))\ ?月份?\ ?
    (?:{_EARLY}|(?P<day>[{_NUMERAL}廿卅]{{1,3}}|[0-9]{{1,2}})(?:[日号]|(?![{_NUMERAL}廿卅0-9.:%年月个人场次名位多天岁])))?
    """,
    re.VERBOSE,
)
_NAMES = {"正": 1, "冬": 11, "腊": 12}
_LONGEST_OPENING = 12


def lunar_mentions(folded: str, years: Sequence[int] = ()) -> Iterator[DateMention]:
    """Every lunar date; one without a year is one of each of the lunar `years`.

    What cannot be told (without a year) and what the calendar does not have is a mention that does
    not exist, so that nothing else reads it as a date of the common calendar. A day outside of the
    years that the table holds is read as its year.
    """
    if not _has_sign(folded):
        return
    read_to = 0
    for anchor in _anchor.finditer(folded):
        if anchor.start() >= read_to:
            opening = _opening.search(folded, max(read_to, anchor.start() - _LONGEST_OPENING), anchor.start())
            if match := _lunar.match(folded, opening.start() if opening else anchor.start()):
                read_to = match.end()
                yield from _read(match, years)


def _has_sign(folded: str) -> bool:
    """Whether there is anything to read; one search after the other is much faster than a pattern for all."""
    if "历" in folded or "闰" in folded:
        return True
    return "月" in folded and ("月初" in folded or "正月" in folded or "腊月" in folded or "冬月" in folded)


def _read(match: re.Match[str], years: Sequence[int]) -> Iterator[DateMention]:
    # A year written otherwise (丙寅年正月) is not one of `years`.
    start, meant = match.start(), () if match.string.startswith("年", match.start() - 1) else tuple(years)
    for group in ("year", "inner_year"):
        if match[group]:
            begins, meant, _ = chinese_years(match.string, *match.span(group), has_month=True)
            start = min(start, begins)
    month = _NAMES[match["name"]] if match["name"] else chinese_number(match["month"]) or 0
    written_day = match["early"] or match["day"]
    day = chinese_number(written_day) or 0 if written_day else None
    span = start, match.end()
    if not meant:
        yield single(*span, UNKNOWN, PartialDate(None, 0))
        return
    dates = [date for year in meant if (date := _mention(span, year, month, day, leap=bool(match["leap"])))]
    yield from dates or [single(*span, READING, PartialDate(None, 0))]


def _mention(span: tuple[int, int], year: int, month: int, day: int | None, *, leap: bool) -> DateMention | None:
    if not covers(year):
        return single(*span, READING, PartialDate(year))
    if day is None:
        days = lunar_month(year, month, leap=leap)
        return day_range(*span, READING, *days) if days else None
    only = lunar_day(year, month, day, leap=leap)
    return day_range(*span, READING, only, only) if only else None
