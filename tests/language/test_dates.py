"""Dates: every writing of a day meets every other, and what is no date is none."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.language.date_writings import WRITINGS
from wenyuan.language.aliases import aliases
from wenyuan.language.dates.resolving import find_dates

DAYS = st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31))


def days(text: str) -> list[tuple[str, str]]:
    """The dates of a text as first and last day, those of an open year as `0004-…`."""
    spans = find_dates(text)
    return [tuple(str(datetime.date.fromordinal(n)) for n in (s.first_day, s.last_day)) for s in spans]  # type: ignore[misc]


@pytest.mark.parametrize("writing", WRITINGS)
@given(day=DAYS)
def test_every_writing_of_a_day_is_that_day(writing: str, day: datetime.date) -> None:
    text = WRITINGS[writing](day)
    assert days(text) == [(str(day), str(day))], text


@given(day=DAYS, writing=st.sampled_from(sorted(WRITINGS)), before=st.sampled_from(["", "见", "（", "x ", "\n", "“"]))
def test_spans_hold_the_words_of_the_date(day: datetime.date, writing: str, before: str) -> None:
    written = WRITINGS[writing](day)
    text = f"{before}{written}。 e\u0301nd"
    (span,) = find_dates(text)
    assert text[span.start : span.end] == span.text
    assert span.start >= len(before)
    assert span.text in written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026年四月廿四日", [("2026-04-24", "2026-04-24")]),
        ("二ＯＯ六年四月十四日", [("2006-04-14", "2006-04-14")]),
        ("民国元年一月一日", [("1912-01-01", "1912-01-01")]),
        ("昭和六十四年一月七日", [("1989-01-07", "1989-01-07")]),
        ("115年4月14日", [("2026-04-14", "2026-04-14")]),
        ("98年3月8日", [("1998-03-08", "1998-03-08"), ("2098-03-08", "2098-03-08")]),
        ("2026年4月14", [("2026-04-14", "2026-04-14")]),
        ("14Apr2026", [("2026-04-14", "2026-04-14")]),
        ("20260414T103000", [("2026-04-14", "2026-04-14")]),
        ("backup-2026-04-14-001.log", [("2026-04-14", "2026-04-14")]),
        ("10 February 1663/64", [("1664-02-10", "1664-02-10")]),
        ("2026年4月", [("2026-04-01", "2026-04-30")]),
        ("二〇二六年四月份", [("2026-04-01", "2026-04-30")]),
        ("April 2026", [("2026-04-01", "2026-04-30")]),
        ("January 1663–64", [("1664-01-01", "1664-01-31")]),
        ("2026-04", [("2026-04-01", "2026-04-30")]),
        ("2026年", [("2026-01-01", "2026-12-31")]),
        ("二〇二六年度", [("2026-01-01", "2026-12-31")]),
        ("in 1998.", [("1998-01-01", "1998-12-31")]),
        ("2026年十月中旬", [("2026-10-11", "2026-10-20")]),
        ("2024年2月下旬", [("2024-02-21", "2024-02-29")]),
        ("2026年第二季度", [("2026-04-01", "2026-06-30")]),
        ("2026年下半年", [("2026-07-01", "2026-12-31")]),
        ("Q1 2026", [("2026-01-01", "2026-03-31")]),
        ("2026Q4", [("2026-10-01", "2026-12-31")]),
        ("late August 1667", [("1667-08-21", "1667-08-31")]),
        ("first week of August 1667", [("1667-08-01", "1667-08-07")]),
        ("last week of February 2024", [("2024-02-23", "2024-02-29")]),
        ("the second half of April 2026", [("2026-04-16", "2026-04-30")]),
        ("the end of April 2026", [("2026-04-21", "2026-04-30")]),
        ("mid-April 2026", [("2026-04-11", "2026-04-20")]),
        ("H1 2026", [("2026-01-01", "2026-06-30")]),
        ("2026H2", [("2026-07-01", "2026-12-31")]),
        ("Q2 of 2026", [("2026-04-01", "2026-06-30")]),
        ("second quarter of 2026", [("2026-04-01", "2026-06-30")]),
        ("the first half of 2026", [("2026-01-01", "2026-06-30")]),
        ("2026年Q2", [("2026-04-01", "2026-06-30")]),
        ("2026年第三季的新番", [("2026-01-01", "2026-12-31")]),
        ("2026年4月初", [("2026-04-01", "2026-04-10")]),
        ("2026年4月底", [("2026-04-21", "2026-04-30")]),
        ("2026年4月下半月", [("2026-04-16", "2026-04-30")]),
        ("2026年4月第一周", [("2026-04-01", "2026-04-07")]),
        ("2026年2月最后一周", [("2026-02-22", "2026-02-28")]),
        ("4月上旬", [("0004-04-01", "0004-04-10")]),
        ("3月底前提交", [("0004-03-21", "0004-03-31")]),
        ("2026年的4月", [("2026-04-01", "2026-04-30")]),
        ("贰仟零贰拾陆年肆月", [("2026-04-01", "2026-04-30")]),
        ("公元2026年4月", [("2026-04-01", "2026-04-30")]),
        ("4月3日、5日", [("0004-04-03", "0004-04-03"), ("0004-04-05", "0004-04-05")]),
        ("2026年4月3日和5日", [("2026-04-03", "2026-04-03"), ("2026-04-05", "2026-04-05")]),
        ("农历二〇二六年正月初一", [("2026-02-17", "2026-02-17")]),
        ("二〇二五年农历八月十五", [("2025-10-06", "2025-10-06")]),
        ("民国十五年正月初二", [("1926-02-14", "1926-02-14")]),
        ("2025年闰六月", [("2025-07-25", "2025-08-22")]),
        ("农历1850年八月十五", [("1850-01-01", "1850-12-31")]),
    ],
)
def test_days_months_and_parts_of_years(text: str, expected: list[tuple[str, str]]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026年4月3日到5日", ("2026-04-03", "2026-04-05")),
        ("2026年4月3-5日", ("2026-04-03", "2026-04-05")),
        ("2026年4月3日至5月8日", ("2026-04-03", "2026-05-08")),
        ("4月3日至2026年5月8日", ("2026-04-03", "2026-05-08")),
        ("2026年4月14日—2027年5月1日", ("2026-04-14", "2027-05-01")),
        ("April 3–5 2026", ("2026-04-03", "2026-04-05")),
        ("3 to 5 May 2026", ("2026-05-03", "2026-05-05")),
        ("between 13 and 16 April 1664", ("1664-04-13", "1664-04-16")),
        ("April 3 to 5 May 2026", ("2026-04-03", "2026-05-05")),
        ("December 30 to January 2, 2027", ("2026-12-30", "2027-01-02")),
        ("2026-04-03 to 2026-04-05", ("2026-04-03", "2026-04-05")),
        ("between 3 May 2026 and 5 June 2026", ("2026-05-03", "2026-06-05")),
        ("2026年3月到5月", ("2026-03-01", "2026-05-31")),
        ("1990年到1995年", ("1990-01-01", "1995-12-31")),
        ("1990-1995年", ("1990-01-01", "1995-12-31")),
        ("1990–1995", ("1990-01-01", "1995-12-31")),
        ("from 1990 to 1995", ("1990-01-01", "1995-12-31")),
        ("4月3日到5日", ("0004-04-03", "0004-04-05")),
        ("2026-04-03 至 04-05", ("2026-04-03", "2026-04-05")),
        ("2026-04-03~05", ("2026-04-03", "2026-04-05")),
        ("2026-04-03 to 04-05", ("2026-04-03", "2026-04-05")),
        ("2026-04-03/2026-04-05", ("2026-04-03", "2026-04-05")),
        ("2026/4/3-4/5", ("2026-04-03", "2026-04-05")),
        ("2026/4/3-2027/4/5", ("2026-04-03", "2027-04-05")),
        ("2026/4/3-5", ("2026-04-03", "2026-04-05")),
        ("2026.4.3-4.5", ("2026-04-03", "2026-04-05")),
        ("2026年4月底至5月初", ("2026-04-21", "2026-05-10")),
        ("12月30日到1月2日", ("0004-12-30", "0005-01-02")),
    ],
)
def test_ranges(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == [expected]


def test_two_days_joined_by_and_are_two_days() -> None:
    assert days("13 and 16 April 1664") == [("1664-04-13", "1664-04-13"), ("1664-04-16", "1664-04-16")]


@pytest.mark.parametrize(
    "text", ["四月十四号", "4月14日", "April 14", "14th of April", "on 4/14", "4/14（二）", "Apr. 14", "april 14th"]
)
def test_a_day_without_a_year_lies_in_the_open_year(text: str) -> None:
    assert days(text) == [("0004-04-14", "0004-04-14")]


@pytest.mark.parametrize(
    "text", ["2026年2月30日", "二月三十号", "Feb 30, 2026", "2025-02-29", "2026年13月1日", "31 June 2026"]
)
def test_impossible_dates_give_no_interval(text: str) -> None:
    assert days(f"On {text}.") == []


def test_an_ambiguous_order_keeps_both_days() -> None:
    assert days("03/04/2026") == [("2026-03-04", "2026-03-04"), ("2026-04-03", "2026-04-03")]
    assert days("31/12/2025") == [("2025-12-31", "2025-12-31")]
    assert days("04.04.2026") == [("2026-04-04", "2026-04-04")]


def test_a_month_that_is_also_a_verb_needs_its_capital() -> None:
    assert days("Members may 4 times a year vote. So") == []
    assert days("On May 4 we vote. So") == [("0004-05-04", "0004-05-04")]
    assert days("what happened on may 4") == [("0004-05-04", "0004-05-04")]
    assert days("It was on may 4, 2026. So") == [("2026-05-04", "2026-05-04")]


@given(st.text(st.one_of(st.characters(), st.sampled_from("0123456789-/.年月日号到至 apr may14th,民国")), max_size=80))
def test_reading_never_raises_and_spans_are_those_of_the_text(text: str) -> None:
    for span in find_dates(text):
        assert span.first_day <= span.last_day
        assert text[span.start : span.end] == span.text


@given(DAYS, DAYS, st.sampled_from(sorted(WRITINGS)), st.sampled_from(sorted(WRITINGS)))
def test_different_days_never_meet(one: datetime.date, other: datetime.date, first: str, second: str) -> None:
    assume(one != other)
    assert set(days(WRITINGS[first](one))).isdisjoint(days(WRITINGS[second](other)))


@given(DAYS, st.sampled_from(sorted(WRITINGS)), st.sampled_from(sorted(WRITINGS)))
def test_two_writings_of_a_day_share_an_alias_and_two_days_do_not(day: datetime.date, one: str, other: str) -> None:
    asked = set(aliases(WRITINGS[one](day), asked=True).tokens)
    assert asked & set(aliases(WRITINGS[other](day)).tokens)
    next_day = (
        day + datetime.timedelta(days=1) if day < datetime.date(2999, 12, 31) else day - datetime.timedelta(days=1)
    )
    of_days = {token for token in asked if not token.isascii()}
    assert not of_days & set(aliases(WRITINGS[other](next_day)).tokens)
