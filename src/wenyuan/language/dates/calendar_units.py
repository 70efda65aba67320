"""Calendar units counted from a given day: the week, month, quarter or year so many before or after its own.

Weeks begin on Monday (ISO 8601). Units are closed intervals of days.
"""

from __future__ import annotations

import datetime
from calendar import monthrange
from typing import Literal, NamedTuple

from wenyuan.language.dates.mentions import PartialDate

Unit = Literal["day", "week", "month", "quarter", "year"]

READING = "relative"
"""How a date is read that is counted from the day of the question."""

MOST_UNITS: dict[Unit, int] = {"day": 999, "week": 99, "month": 99, "quarter": 20, "year": 20}
"""How far people count from now; who speaks of longer times means others (1989年以前, his past 40 years)."""


class Days(NamedTuple):
    first: datetime.date
    last: datetime.date


class Replacement(NamedTuple):
    """Words that stand for a year, quarter or month, how that is written, and its first and last part."""

    span: tuple[int, int]
    written: str
    meaning: tuple[PartialDate, PartialDate]


def replaced_by(span: tuple[int, int], written: str, days: Days, unit: Unit) -> Replacement:
    """The replacement of words by the year, or by the months, of `days`."""
    dates = (PartialDate(day.year, None if unit == "year" else day.month) for day in days)
    first, last = dates
    return Replacement(span, written, (first, last))


def unit_at(now: datetime.date, unit: Unit, steps: int) -> Days | None:
    """The unit `steps` after the one that holds `now`, or before it if negative; None beyond the calendar's ends."""
    try:
        if unit == "day":
            day = now + datetime.timedelta(days=steps)
            return Days(day, day)
        if unit == "week":
            monday = now - datetime.timedelta(days=now.weekday()) + datetime.timedelta(weeks=steps)
            return Days(monday, monday + datetime.timedelta(days=6))
        months = {"month": 1, "quarter": 3, "year": 12}[unit]
        number = (now.year * 12 + now.month - 1) // months + steps
        first = _first_of_month(number * months)
        return Days(first, _first_of_month((number + 1) * months) - datetime.timedelta(days=1))
    except (ValueError, OverflowError):
        return None


def since(now: datetime.date, unit: Unit, count: int) -> Days | None:
    """From the day `count` units before `now` to `now`: `最近三个月` from the same day of the third month before."""
    try:
        if unit in ("day", "week"):
            return Days(now - datetime.timedelta(days=count * (7 if unit == "week" else 1)), now)
        months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        month = _first_of_month(now.year * 12 + now.month - 1 - months)
        return Days(month.replace(day=min(now.day, monthrange(month.year, month.month)[1])), now)
    except (ValueError, OverflowError):
        return None


def weekday_of(week: Days, weekday: int) -> datetime.date:
    """A day of a week, Monday being 0."""
    return week.first + datetime.timedelta(days=weekday)


def _first_of_month(number: int) -> datetime.date:
    return datetime.date(number // 12, number % 12 + 1, 1)
