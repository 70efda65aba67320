"""The lunisolar calendar: known days, and the shape that every year has."""

from __future__ import annotations

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.dates.lunar_calendar import clear_and_bright, covers, lunar_day, lunar_month, lunar_year_of

YEARS = st.integers(1900, 2100)
ONE_DAY = datetime.timedelta(days=1)


@pytest.mark.parametrize(
    ("year", "month", "day", "expected"),
    [
        (1900, 1, 1, "1900-01-31"),
        (1911, 8, 19, "1911-10-10"),
        (1912, 1, 1, "1912-02-18"),
        (1949, 8, 10, "1949-10-01"),
        (1984, 1, 1, "1984-02-02"),
        (2000, 1, 1, "2000-02-05"),
        (2008, 1, 1, "2008-02-07"),
        (2020, 8, 15, "2020-10-01"),
        (2023, 1, 1, "2023-01-22"),
        (2024, 5, 5, "2024-06-10"),
        (2025, 1, 1, "2025-01-29"),
        (2025, 8, 15, "2025-10-06"),
        (2026, 1, 1, "2026-02-17"),
        (2026, 5, 5, "2026-06-19"),
        (2033, 11, 1, "2033-11-22"),
        (2057, 9, 1, "2057-09-28"),
        (2100, 1, 1, "2100-02-09"),
    ],
)
def test_known_days(year: int, month: int, day: int, expected: str) -> None:
    assert str(lunar_day(year, month, day)) == expected


@pytest.mark.parametrize(
    ("year", "month", "first"),
    [(2020, 4, "2020-05-23"), (2023, 2, "2023-03-22"), (2025, 6, "2025-07-25"), (2033, 11, "2033-12-22")],
)
def test_known_leap_months(year: int, month: int, first: str) -> None:
    found = lunar_month(year, month, leap=True)
    assert found is not None
    assert str(found[0]) == first
    assert [other for other in range(1, 13) if lunar_month(year, other, leap=True)] == [month]


@given(YEARS)
def test_months_follow_each_other_without_a_gap(year: int) -> None:
    months = [
        days
        for month in range(1, 13)
        for days in (lunar_month(year, month), lunar_month(year, month, leap=True))
        if days is not None
    ]
    assert len(months) in (12, 13)
    assert all((last - first).days + 1 in (29, 30) for first, last in months)
    assert all(before[1] + ONE_DAY == after[0] for before, after in pairwise(months))
    next_year = lunar_month(year + 1, 1)
    assert next_year is None or months[-1][1] + ONE_DAY == next_year[0]


@given(YEARS)
def test_the_year_begins_between_21_january_and_21_february(year: int) -> None:
    first = lunar_day(year, 1, 1)
    assert first is not None
    assert datetime.date(year, 1, 21) <= first <= datetime.date(year, 2, 21)
    assert lunar_year_of(first) == year
    assert lunar_year_of(first - ONE_DAY) == year - 1


@pytest.mark.parametrize(
    ("year", "expected"),
    [
        (1900, 5),
        (1943, 6),
        (1949, 5),
        (1976, 4),
        (2000, 4),
        (2008, 4),
        (2023, 5),
        (2024, 4),
        (2025, 4),
        (2026, 5),
        (2100, 5),
    ],
)
def test_clear_and_bright(year: int, expected: int) -> None:
    assert clear_and_bright(year) == datetime.date(year, 4, expected)


@pytest.mark.parametrize(
    ("year", "month", "day"),
    [(1899, 1, 1), (2101, 1, 1), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 31), (2026, 2, 30)],
)
def test_days_that_do_not_exist_are_none(year: int, month: int, day: int) -> None:
    assert lunar_day(year, month, day) is None
    assert lunar_day(2026, 6, 1, leap=True) is None


def test_years_beyond_the_table_are_not_covered() -> None:
    assert not covers(1899)
    assert not covers(2101)
    assert clear_and_bright(2101) is None
    assert lunar_year_of(datetime.date(1850, 1, 1)) == 1850
