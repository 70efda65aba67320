"""The Chinese lunisolar calendar from 1900 to 2100: which day a lunar date is.

A month begins on the day of a new moon in China, a year on the second new moon after the winter
solstice as a rule, and a leap month has the number of the one before it (GB/T 33661-2017). The table
was computed by two independent programs and compared month by month; where the moment of the new
moon lies within seconds of midnight (in 2057), it follows Reingold and Dershowitz, Calendrical
Calculations, as other corrected tables do.
"""

from __future__ import annotations

import datetime
from calendar import leapdays
from functools import cache

_FIRST_YEAR = 1900
_FIRST_NEW_YEAR = datetime.date(1900, 1, 31).toordinal()

# One number a year. The lowest four bits: the month that is followed by its leap month, or 0. Above
# them one bit for each month in order, the leap month among them: whether it has 30 days, not 29.
# fmt: off
_YEARS = (
    0x16D28, 0x07520, 0x0EA50, 0x164A5, 0x064B0, 0x0A9B0, 0x15564, 0x056A0, 0x0B590, 0x17522, 0x07520, 0x1B256,
    0x0B250, 0x0A4B0, 0x14AB5, 0x02AD0, 0x056B0, 0x0B692, 0x0DA90, 0x1D927, 0x0E920, 0x0D250, 0x1A4D5, 0x0A560,
    0x02B60, 0x15B54, 0x06D40, 0x0EA90, 0x1E922, 0x0E920, 0x0D266, 0x052B0, 0x0A570, 0x12B65, 0x0B5A0, 0x06D40,
    0x0EC93, 0x07490, 0x16937, 0x0A930, 0x052B0, 0x0A5B6, 0x0AAD0, 0x056A0, 0x1B554, 0x0BA40, 0x0B490, 0x1A932,
    0x0A950, 0x152D7, 0x05360, 0x0AAD0, 0x15AA5, 0x05B20, 0x0DA50, 0x1D4A3, 0x0D4A0, 0x0A958, 0x0A970, 0x05560,
    0x0AB56, 0x0AD50, 0x06D20, 0x0EA54, 0x0EA50, 0x064A0, 0x0C973, 0x0A9B0, 0x155A7, 0x056A0, 0x0B690, 0x17525,
    0x0B520, 0x0B250, 0x164B4, 0x0A4B0, 0x14AB8, 0x02AD0, 0x056D0, 0x0B696, 0x0DA90, 0x0D920, 0x1D254, 0x0D250,
    0x1A4DA, 0x0A560, 0x02B60, 0x05B56, 0x06D50, 0x0EA90, 0x1E925, 0x0E920, 0x0D260, 0x0A563, 0x0A570, 0x14D68,
    0x035A0, 0x06D50, 0x16C95, 0x07490, 0x06930, 0x152B4, 0x052B0, 0x0A5B0, 0x155A2, 0x056A0, 0x1B557, 0x0BA40,
    0x0B490, 0x1A935, 0x0A950, 0x052D0, 0x0AAD4, 0x0AB50, 0x15AA9, 0x05D20, 0x0DA50, 0x1D4A6, 0x0D4A0, 0x0C950,
    0x152E4, 0x05560, 0x0AB50, 0x15B22, 0x06D20, 0x0EA56, 0x07250, 0x064B0, 0x0C975, 0x0CAB0, 0x055A0, 0x0AD63,
    0x0B690, 0x1752B, 0x0B520, 0x0B250, 0x1A4B6, 0x0A4B0, 0x04AB0, 0x055B5, 0x05AD0, 0x0B6A0, 0x1B522, 0x0D920,
    0x1D257, 0x0D250, 0x0A550, 0x14AD5, 0x04B60, 0x05B50, 0x0DAA3, 0x0EC90, 0x1E928, 0x0E920, 0x0D260, 0x0A566,
    0x0A570, 0x05560, 0x06D54, 0x07550, 0x07490, 0x0E933, 0x06930, 0x152B7, 0x052B0, 0x0A5B0, 0x155A5, 0x056A0,
    0x0B650, 0x174A4, 0x0B4A0, 0x1A958, 0x0A950, 0x052D0, 0x0AAD6, 0x0AB50, 0x05AA0, 0x0BA54, 0x0DA50, 0x0D4A0,
    0x1C953, 0x0C960, 0x194E7, 0x05560, 0x0AB50, 0x15B25, 0x06D20, 0x0EA50, 0x0E4A4, 0x068B0, 0x0C978, 0x04AB0,
    0x055B0, 0x0AD66, 0x0B6A0, 0x07520, 0x17254, 0x0B450, 0x0A8B0, 0x149B2, 0x04AB0,
)
# fmt: on


def lunar_day(year: int, month: int, day: int, *, leap: bool = False) -> datetime.date | None:
    """The day of a lunar date; None where the calendar has no such day, or the table no such year.

    `leap` asks for the leap month that follows the month of that number.
    """
    days = lunar_month(year, month, leap=leap)
    if days is None or not 1 <= day <= (days[1] - days[0]).days + 1:
        return None
    return days[0] + datetime.timedelta(days=day - 1)


def lunar_month(year: int, month: int, *, leap: bool = False) -> tuple[datetime.date, datetime.date] | None:
    """First and last day of a lunar month; None where there is no such month."""
    if not covers(year) or not 1 <= month <= 12:
        return None
    coded = _YEARS[year - _FIRST_YEAR]
    leap_month = coded & 15
    if leap and month != leap_month:
        return None
    index = month - 1 + (leap or 0 < leap_month < month)
    first = _new_years()[year - _FIRST_YEAR] + sum(_month_lengths(coded)[:index])
    last = first + _month_lengths(coded)[index] - 1
    return datetime.date.fromordinal(first), datetime.date.fromordinal(last)


def covers(year: int) -> bool:
    """Whether the table holds the lunar year that begins in January or February of `year`."""
    return 0 <= year - _FIRST_YEAR < len(_YEARS)


def lunar_year_of(day: datetime.date) -> int:
    """The lunar year that `day` lies in; outside of the table, the common year."""
    month = lunar_month(day.year, 1)
    return day.year - 1 if month is not None and day < month[0] else day.year


def clear_and_bright(year: int) -> datetime.date | None:
    """清明, the day on which the sun reaches 15° of ecliptic longitude in China; None outside of 1900 to 2100."""
    if not covers(year):
        return None
    # The moment moves on by 0.2422 days a year and back by one in each leap year; that this gives the
    # day holds for every year of the table and for no others.
    day = int(5.59 + 0.2422 * (year - 1900)) - leapdays(1901, year + 1)
    return datetime.date(year, 4, day)


@cache
def _new_years() -> list[int]:
    """The first day of each year of the table."""
    firsts = [_FIRST_NEW_YEAR]
    for coded in _YEARS:
        firsts.append(firsts[-1] + sum(_month_lengths(coded)))
    return firsts


def _month_lengths(coded: int) -> list[int]:
    months = 13 if coded & 15 else 12
    return [29 + (coded >> 4 + month & 1) for month in range(months)]
