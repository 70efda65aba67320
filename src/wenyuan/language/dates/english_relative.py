"""Relative dates in English questions: yesterday, last Tuesday, two weeks ago, the past three months."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from wenyuan.language.dates.calendar_units import (
    MOST_UNITS,
    READING,
    Days,
    Replacement,
    Unit,
    replaced_by,
    since,
    unit_at,
    weekday_of,
)
from wenyuan.language.dates.english import MONTH_NAMES
from wenyuan.language.dates.mentions import DateMention, PartialDate, day_range, single

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = tuple(word for word in MONTH_NAMES if len(word) > 4 or word in ("may", "june", "july"))
_NAMES_OF_MONTHS = {MONTH_NAMES[word]: word for word in _MONTHS}
_COUNTS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
} | {"a": 1, "an": 1}
_STEPS = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1}
_STARTS = r"(?<![a-z0-9'-])"
_ENDS = r"(?![a-z0-9-])"

# The last week of April and the last year of the contract are no weeks and years before now.
_NOT_OF_SOMETHING = r"(?!\s(?:of|in)\b)"
_year_or_month = re.compile(
    rf"{_STARTS}(?<!the )(?P<which>last|previous|this|next)\s(?P<unit>month|year){_ENDS}{_NOT_OF_SOMETHING}"
)
_week_or_quarter = re.compile(
    rf"{_STARTS}(?<!the )(?P<which>last|previous|this|next)\s(?P<unit>weekend|week|quarter){_ENDS}{_NOT_OF_SOMETHING}"
)

_DAYS = {"day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1} | {
    "day after tomorrow": 2
}
_day = re.compile(rf"{_STARTS}(?<!usa )(?:{'|'.join(_DAYS)}){_ENDS}")

# `today` is as often the present as a day: it is one where something happens on it.
_happening = re.compile(
    r"\b(?:i|we|my|our|us|happen\w*|meetings?|agenda|schedul\w+|due|stand-?up|diary|minutes|as\sof\stoday|news)\b"
    r"|\b(?:to|until|till|through|and|since|sent|added|changed|released|uploaded|received|posted|decided)\stoday|^today$|today's"
)

_weekday = re.compile(
    rf"{_STARTS}(?:(?:on\s)?(?P<which>last|this\spast|past|this|next)\s|(?P<bare>on|by|since|until|before|after|from)\s)?"
    rf"(?P<day>{'|'.join(_WEEKDAYS)}){_ENDS}(?P<what>'s\s|\s(?:meeting|morning|afternoon|evening|night|minutes|notes|call))?"
)
_date_before = re.compile(r"(?:[0-9](?:st|nd|rd|th)?|black|good|ash|super|palm|holy|easter)[\s,(]{1,3}$")
_date_after = re.compile(
    rf"[\s,(]{{1,3}}(?:the\s)?(?:[0-9]|(?:{'|'.join(MONTH_NAMES)})\b)"
    rf"|\s?(?:-{{1,4}}|to|through|until|and)\s?(?:{'|'.join(_WEEKDAYS)})"
)
_beside_weekday = re.compile(rf"(?:{'|'.join(_WEEKDAYS)})\s?(?:-{{1,4}}|to|through|until|and)\s$|(?:every|each)\s$")
_recurring = re.compile(r"\b(?:every|each|open|opening|closed?|hours|weekly|usually|always|business days?|weekdays?)\b")

_month = re.compile(
    rf"{_STARTS}(?P<which>last|this\spast|past|this|next)\s(?P<month>{'|'.join(_MONTHS)}){_ENDS}(?!\s[0-9])"
)
_ago = re.compile(
    rf"{_STARTS}(?P<count>[0-9]{{1,4}}|{'|'.join(_COUNTS)})\s(?P<unit>day|week|month|quarter|year)s?\sago{_ENDS}"
)
_window = re.compile(
    rf"{_STARTS}(?:(?:the\s)?(?:past|last|previous)\s(?P<count>[0-9]{{1,4}}|{'|'.join(_COUNTS)})"
    r"\s(?P<units>day|week|month|quarter|year)s?|(?:the\s(?:past|last)|past)\s(?P<unit>day|week|month|quarter|year))"
    rf"{_ENDS}{_NOT_OF_SOMETHING}"
)


def english_replacements(folded: str, now: datetime.date) -> Iterator[Replacement]:
    """The words for months and years, and how the month or year is written."""
    for match in _year_or_month.finditer(folded):
        unit: Unit = "month" if match["unit"] == "month" else "year"
        if days := unit_at(now, unit, _STEPS[match["which"]]):
            month = f"{_NAMES_OF_MONTHS[days.first.month]} " if unit == "month" else ""
            yield replaced_by(match.span(), f"{month}{days.first.year}", days, unit)


def english_relative_mentions(folded: str, now: datetime.date) -> Iterator[DateMention]:
    """Days, weeks, months and stretches of time that are counted from `now`."""
    happens = _happening.search(folded) is not None
    for match in _day.finditer(folded):
        if match[0] != "today" or happens:
            yield from _mention(match, unit_at(now, "day", _DAYS[match[0]]))
    for match in _week_or_quarter.finditer(folded):
        yield from _mention(match, _week_or_quarter_at(now, match))
    recurs = _recurring.search(folded) is not None
    for match in _weekday.finditer(folded):
        if not recurs or match["which"]:
            yield from _on_weekday(match, now)
    for match in _month.finditer(folded):
        yield from _in_month(match, now)
    for match in _ago.finditer(folded):
        count, unit = _counted(match["count"], match["unit"])
        yield from _mention(match, unit_at(now, unit, -count) if count <= MOST_UNITS[unit] else None)
    for match in _window.finditer(folded):
        count, unit = _counted(match["count"] or "one", match["units"] or match["unit"])
        yield from _mention(match, since(now, unit, count) if count <= MOST_UNITS[unit] else None)


def _mention(match: re.Match[str], days: Days | None) -> Iterator[DateMention]:
    if days is not None:
        yield day_range(*match.span(), READING, *days)


def _counted(count: str, unit: str) -> tuple[int, Unit]:
    units: dict[str, Unit] = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year"}
    return _COUNTS.get(count) or int(count), units[unit]


def _week_or_quarter_at(now: datetime.date, match: re.Match[str]) -> Days | None:
    steps = _STEPS[match["which"]]
    if match["unit"] == "quarter":
        return unit_at(now, "quarter", steps)
    week = unit_at(now, "week", steps)
    return Days(weekday_of(week, 5), week.last) if week and match["unit"] == "weekend" else week


def _on_weekday(match: re.Match[str], now: datetime.date) -> Iterator[DateMention]:
    """The days a weekday can mean; none where it only labels a date, or recurs (open on Sunday, Monday to Friday)."""
    text, which = match.string, (match["which"] or "").removeprefix("this ")
    before = text[max(0, match.start("day") - 20) : match.start("day")]
    if _date_before.search(before) or _beside_weekday.search(before) or _date_after.match(text, match.end("day")):
        return
    if not which and not match["bare"] and not match["what"]:
        return
    end = match.end("day")
    for day in _weekdays_meant(_WEEKDAYS.index(match["day"]), which, now):
        yield day_range(match.start(), end, READING, day, day)


def _weekdays_meant(weekday: int, which: str, now: datetime.date) -> list[datetime.date]:
    """`last Tuesday` is the latest one or last week's; a bare one is this week's or, if to come, last week's."""
    of_weeks = [weekday_of(week, weekday) for steps in (-1, 0, 1) if (week := unit_at(now, "week", steps))]
    if len(of_weeks) < 3:
        return []
    before, this, after = of_weeks
    if which in ("last", "past"):
        return [this, before] if this < now else [before]
    if which == "next":
        return [this, after] if this > now else [after]
    return [this] if which == "this" or this <= now else [this, before]


def _in_month(match: re.Match[str], now: datetime.date) -> Iterator[DateMention]:
    """`last April` is the latest one that is over, or last year's; `next April` the coming one."""
    month, which = MONTH_NAMES[match["month"]], match["which"].removeprefix("this ")
    years = {
        "last": (now.year, now.year - 1) if month < now.month else (now.year - 1,),
        "past": (now.year if month < now.month else now.year - 1,),
        "this": (now.year,),
        "next": (now.year if month > now.month else now.year + 1,),
    }
    for year in years[which]:
        yield single(match.start(), match.end(), READING, PartialDate(year, month))
