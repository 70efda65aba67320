"""Festivals in questions: 2025年中秋, 去年国庆期间, Christmas 2025, on New Year's Day.

A festival is a date only where the question asks for a time: with a year (2025年端午节), or for its
day or days (中秋那天, 国庆期间, on Christmas Day), or names the day alone (除夕). 端午节的由来 asks about
the festival itself.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Sequence

from wenyuan.language.dates.chinese import YEAR_CHARACTERS, chinese_years
from wenyuan.language.dates.lunar_calendar import clear_and_bright, lunar_day
from wenyuan.language.dates.mentions import DateMention, day_range

READING = "festival"

Festival = Callable[[int], datetime.date | None]
"""The day of a festival in a year of the common calendar."""


def _on(month: int, day: int) -> Festival:
    return lambda year: datetime.date(year, month, day) if year > 0 else None


def _lunar(month: int, day: int, before: int = 0) -> Festival:
    def of_year(year: int) -> datetime.date | None:
        found = lunar_day(year, month, day)
        return found - datetime.timedelta(days=before) if found else None

    return of_year


_NEW_YEARS_EVE = _lunar(1, 1, before=1)
_CHINESE: dict[str, Festival] = {
    "元旦": _on(1, 1),
    "情人节": _on(2, 14),
    "妇女节": _on(3, 8),
    "植树节": _on(3, 12),
    "愚人节": _on(4, 1),
    "清明": clear_and_bright,
    "劳动节": _on(5, 1),
    "五一": _on(5, 1),
    "青年节": _on(5, 4),
    "儿童节": _on(6, 1),
    "六一": _on(6, 1),
    "建党节": _on(7, 1),
    "建军节": _on(8, 1),
    "教师节": _on(9, 10),
    "国庆": _on(10, 1),
    "万圣节": _on(10, 31),
    "双十一": _on(11, 11),
    "双11": _on(11, 11),
    "平安夜": _on(12, 24),
    "圣诞": _on(12, 25),
    "跨年夜": _on(12, 31),
    "春节": _lunar(1, 1),
    "大年初一": _lunar(1, 1),
    "元宵": _lunar(1, 15),
    "端午": _lunar(5, 5),
    "七夕": _lunar(7, 7),
    "中元": _lunar(7, 15),
    "中秋": _lunar(8, 15),
    "重阳": _lunar(9, 9),
    "除夕": _NEW_YEARS_EVE,
    "大年三十": _NEW_YEARS_EVE,
    "年三十": _NEW_YEARS_EVE,
}
_ENGLISH: dict[str, Festival] = {
    "chinese new year's eve": _NEW_YEARS_EVE,
    "lunar new year's eve": _NEW_YEARS_EVE,
    "chinese new year": _lunar(1, 1),
    "lunar new year": _lunar(1, 1),
    "spring festival": _lunar(1, 1),
    "lantern festival": _lunar(1, 15),
    "dragon boat festival": _lunar(5, 5),
    "qixi festival": _lunar(7, 7),
    "mid-autumn festival": _lunar(8, 15),
    "mid-autumn": _lunar(8, 15),
    "double ninth festival": _lunar(9, 9),
    "qingming festival": clear_and_bright,
    "tomb-sweeping day": clear_and_bright,
    "new year's eve": _on(12, 31),
    "new year's day": _on(1, 1),
    "valentine's day": _on(2, 14),
    "april fools' day": _on(4, 1),
    "may day": _on(5, 1),
    "halloween": _on(10, 31),
    "christmas eve": _on(12, 24),
    "christmas day": _on(12, 25),
    "christmas": _on(12, 25),
    "boxing day": _on(12, 26),
}
_HOLIDAYS = {"春节": (-1, 6), "国庆": (0, 6), "五一": (0, 4), "劳动节": (0, 4)}
"""Days before and after the festival that belong to its holiday."""

_DAYS_ALONE = ("除夕", "大年初一", "大年三十", "年三十")

_chinese = re.compile(
    rf"(?:(?<![{YEAR_CHARACTERS}第.])(?P<year>[{YEAR_CHARACTERS}]{{2,7}}) ?年(?:度|的)? ?)?"
    rf"(?P<name>{'|'.join(_CHINESE)})节?"
    "(?:(?P<holiday>期间|(?:小?长)?假期?|黄金周)|(?P<day>[那当][天日晚]|晚上|夜里|(?=我们?|发生|[做干去说吃]了))"
    r"|(?P<alone>$|(?=[\s,.?!;:])|的(?!由来|来历|起源|习俗|风俗|意义|含义|传说|故事|诗)))?"
)
_english = re.compile(
    rf"(?<![a-z0-9-])(?:(?P<which>last|this|next)\s|(?P<year_before>[12][0-9]{{3}})(?:'s)?\s|(?P<on>on)\s)?"
    rf"(?P<name>{'|'.join(_ENGLISH)})(?![a-z0-9-])(?:(?:\s(?:of|in)|,)?\s(?P<year>[12][0-9]{{3}})(?![0-9a-z-]))?"
)


def festival_mentions(folded: str, now: datetime.date) -> Iterator[DateMention]:
    """The days of festivals that a question asks for; without a year, this year's and last year's."""
    for match in _english.finditer(folded):
        festival = _ENGLISH[match["name"]]
        for year in _english_years(match, festival, now):
            yield from _mention(match.span(), festival(year), (0, 0))
    if folded.isascii():
        return
    for match in _chinese.finditer(folded):
        start = match.start()
        years: tuple[int, ...] = (now.year, now.year - 1) if _is_asked_for(match) else ()
        if match["year"]:
            start, years, _ = chinese_years(folded, *match.span("year"), has_month=True)
        holiday = _HOLIDAYS.get(match["name"], (0, 0)) if match["holiday"] else (0, 0)
        for year in years:
            yield from _mention((start, match.end()), _CHINESE[match["name"]](year), holiday)


def _mention(span: tuple[int, int], day: datetime.date | None, around: tuple[int, int]) -> Iterator[DateMention]:
    if day is not None:
        first, last = (day + datetime.timedelta(days=days) for days in around)
        yield day_range(*span, READING, first, last)


def _is_asked_for(match: re.Match[str]) -> bool:
    """Whether a festival without a year stands for its day."""
    alone = match["name"] in _DAYS_ALONE and match["alone"] is not None
    return alone or any(match[group] is not None for group in ("holiday", "day"))


def _english_years(match: re.Match[str], festival: Festival, now: datetime.date) -> Sequence[int]:
    if written := match["year"] or match["year_before"]:
        return (int(written),)
    this_years = festival(now.year)
    is_over = this_years is not None and this_years < now
    if match["which"] == "last":
        return (now.year if is_over else now.year - 1,)
    if match["which"] == "next":
        return (now.year + 1 if is_over else now.year,)
    if match["which"] == "this":
        return (now.year,)
    return (now.year, now.year - 1) if match["on"] else ()
