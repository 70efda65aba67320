"""Date mentions: what a text says about days, before it is known which year an open one means."""

from __future__ import annotations

import datetime
from calendar import monthrange
from dataclasses import dataclass, replace

OPEN_YEAR = 4
"""Stands for the year of a date that names none (四月十四号, April 14).

A leap year, so that 29 February fits, and one that no mention can name, since years are read from
1000 on: two dates without a year meet as intervals of days, and meet no date that has one.
"""

FIRST_YEAR, LAST_YEAR = 1000, 2999


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A year, a month or a day; `year` is None where the text names none."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def exists(self) -> bool:
        if self.month is not None and not 1 <= self.month <= 12:
            return False
        return self.day is None or 1 <= self.day <= monthrange(self.year or OPEN_YEAR, self.month or 1)[1]

    @property
    def position(self) -> tuple[int, int]:
        """Where in its year the date begins."""
        return self.month or 1, self.day or 1

    def days(self, open_year: int) -> tuple[int, int]:
        """First and last day as ordinals, an open year being `open_year`.

        Raises ValueError for a date that does not exist in that year.
        """
        year = self.year or open_year
        first = datetime.date(year, self.month or 1, self.day or 1)
        month = self.month or 12
        last = datetime.date(year, month, self.day or monthrange(year, month)[1])
        return first.toordinal(), last.toordinal()


@dataclass(frozen=True, slots=True)
class DateMention:
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
        return replace(self, first=replace(self.first, year=None), last=replace(self.last, year=None))

    def days(self, open_year: int = OPEN_YEAR) -> tuple[int, int] | None:
        """First and last day as ordinals; None where there is no such day in that year."""
        try:
            first, _ = self.first.days(open_year)
            _, last = self.last.days(open_year)
            if last < first and self.is_open:
                _, last = self.last.days(open_year + 1)
        except ValueError:
            return None
        return (first, last) if first <= last else None


def single(start: int, end: int, reading: str, date: PartialDate) -> DateMention:
    return DateMention(start, end, reading, date, date)


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
        first = replace(first, year=last.year - backwards)
    elif last.year is None and first.year is not None:
        last = replace(last, year=first.year + backwards)
    mention = DateMention(earlier.start, later.end, "range", first, last)
    return mention if mention.exists and mention.days() is not None else None
