"""Date mentions: what a text says about days, before it is known which year an open one means."""

from __future__ import annotations

import datetime
from calendar import monthrange
from functools import lru_cache
from typing import NamedTuple

OPEN_YEAR = 4
"""Stands for the year of a date that names none (四月十四号, April 14).

A leap year, so that 29 February fits, and one that no mention can name, since years are read from
1000 on: two dates without a year meet as intervals of days, and meet no date that has one.
"""

FIRST_YEAR, LAST_YEAR = 1000, 2999


class PartialDate(NamedTuple):
    """A year, a month or a day; `year` is None where the text names none."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def exists(self) -> bool:
        return _bounds(self, OPEN_YEAR) is not None

    @property
    def position(self) -> tuple[int, int]:
        """Where in its year the date begins."""
        return self.month or 1, self.day or 1


class DateMention(NamedTuple):
    """One way of reading one place of a folded text: from `first` to `last`, both included."""

    start: int
    end: int
    reading: str
    first: PartialDate
    last: PartialDate

    @property
    def is_open(self) -> bool:
        return self.first.year is None

    @property
    def exists(self) -> bool:
        return self.first.exists and self.last.exists

    @property
    def is_within_a_year(self) -> bool:
        """Whether it is a day, or a range of days in one year."""
        return self.first.day is not None and self.last.day is not None and self.first.year == self.last.year

    def without_year(self) -> DateMention:
        return self._replace(first=self.first._replace(year=None), last=self.last._replace(year=None))

    def days(self, open_year: int = OPEN_YEAR) -> tuple[int, int] | None:
        """First and last day as ordinals; None where there is no such day in that year."""
        first, last = _bounds(self.first, open_year), _bounds(self.last, open_year)
        if first is not None and last is not None and last[1] < first[0] and self.is_open:
            last = _bounds(self.last, open_year + 1)
        return (first[0], last[1]) if first is not None and last is not None and first[0] <= last[1] else None


# A text's dates repeat: its headings stand above many passages, and a diary names one month all along.
@lru_cache(maxsize=1 << 14)
def _bounds(date: PartialDate, open_year: int) -> tuple[int, int] | None:
    """First and last day as ordinals, an open year being `open_year`; None for a date that does not exist."""
    year = date.year if date.year is not None else open_year
    first_month, last_month = (1, 12) if date.month is None else (date.month, date.month)
    if not 1 <= year <= LAST_YEAR + 1 or not 1 <= first_month <= 12:
        return None
    days = monthrange(year, last_month)[1]
    if date.day is not None and not 1 <= date.day <= days:
        return None
    first = datetime.date(year, first_month, date.day or 1)
    last = datetime.date(year, last_month, date.day or days)
    return first.toordinal(), last.toordinal()


def single(start: int, end: int, reading: str, date: PartialDate) -> DateMention:
    return DateMention(start, end, reading, date, date)


def day_range(start: int, end: int, reading: str, first: datetime.date, last: datetime.date) -> DateMention:
    """The days from `first` to `last`, both included."""
    first_day, last_day = PartialDate(first.year, first.month, first.day), PartialDate(last.year, last.month, last.day)
    return DateMention(start, end, reading, first_day, last_day)


PARTS_OF_MONTH = {
    "first third": (1, 10),
    "second third": (11, 20),
    "last third": (21, None),
    "first half": (1, 15),
    "second half": (16, None),
    "week 1": (1, 7),
    "week 2": (8, 14),
    "week 3": (15, 21),
    "week 4": (22, 28),
    "last week": (-7, None),
}
"""First and last day; None is the month's last, a negative number counts from its end."""


def part_of_month(start: int, end: int, month: PartialDate, part: str) -> DateMention:
    """The days of a part of a month, one of `PARTS_OF_MONTH`."""
    first, last = PARTS_OF_MONTH[part]
    if not month.exists:
        return single(start, end, "part-of-month", month)
    days = monthrange(month.year or OPEN_YEAR, month.month or 1)[1]
    first = first if first > 0 else days + 1 + first
    return DateMention(start, end, "part-of-month", month._replace(day=first), month._replace(day=last or days))


def joined(earlier: DateMention, later: DateMention) -> DateMention | None:
    """The range from one mention to another, or None if they do not make one.

    A year that only one of the two names holds for both: `4月3日至2026年5月8日` lies in 2026, and
    in `December 30 to January 2, 2027` the first day is one of 2026.
    """
    first, last = earlier.first, later.last
    if (first.year is None and last.month is None) or (last.year is None and first.month is None):
        return None
    backwards = first.position > last.position
    if first.year is None and last.year is not None:
        first = first._replace(year=last.year - backwards)
    elif last.year is None and first.year is not None:
        last = last._replace(year=first.year + backwards)
    mention = DateMention(earlier.start, later.end, "range", first, last)
    return mention if mention.exists and mention.days() is not None else None
