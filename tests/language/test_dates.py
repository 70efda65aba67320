"""Dates: every writing of a day meets every other, and what is no date is none."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wenyuan.language.date_mentions import OPEN_YEAR
from wenyuan.language.dates import find_dates, read_dates
from wenyuan.language.numerals import render_integer

MONTHS = "January February March April May June July August September October November December".split()


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 <= day <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _positional(number: int) -> str:
    return render_integer(number, "positional")


def _month_and_day(day: datetime.date) -> str:
    return f"{render_integer(day.month)}月{render_integer(day.day)}日"


def _financial(day: datetime.date) -> str:
    year = _positional(day.year).translate(str.maketrans("〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"))
    return f"{year}年{render_integer(day.month, 'financial')}月{render_integer(day.day, 'financial')}日"


def _short(day: datetime.date) -> str:
    return MONTHS[day.month - 1][:3]


WRITINGS: dict[str, Callable[[datetime.date], str]] = {
    "padded": lambda d: f"{d:%Y-%m-%d}",
    "unpadded": lambda d: f"{d.year}-{d.month}-{d.day}",
    "slashes": lambda d: f"{d.year}/{d.month}/{d.day}",
    "dots": lambda d: f"{d.year}.{d.month}.{d.day}",
    "underscores": lambda d: f"report_{d:%Y_%m_%d}.md",
    "time": lambda d: f"{d:%Y-%m-%d}T10:30:00Z",
    "日": lambda d: f"{d.year}年{d.month}月{d.day}日",
    "号": lambda d: f"{d.year} 年 {d.month} 月 {d.day} 号",
    "號": lambda d: f"{d.year}年{d.month}月{d.day}號",
    "numerals": lambda d: f"{_positional(d.year)}年{render_integer(d.month)}月{render_integer(d.day)}号",
    "zero": lambda d: (
        f"{_positional(d.year).replace('〇', '零')}年{render_integer(d.month)}月{render_integer(d.day)}日"
    ),
    "circle": lambda d: (
        f"{_positional(d.year).replace('〇', '○')}年{render_integer(d.month)}月{render_integer(d.day)}日"
    ),
    "financial": _financial,
    "full-width": lambda d: f"{d.year}年{d.month}月{d.day}日".translate({i: i + 0xFEE0 for i in range(0x30, 0x3A)}),
    "american": lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    "ordinal": lambda d: f"{MONTHS[d.month - 1]} {_ordinal(d.day)}, {d.year}",
    "british": lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year}",
    "of": lambda d: f"{_ordinal(d.day)} of {MONTHS[d.month - 1]} {d.year}",
    "short": lambda d: f"{d.day} {_short(d)} {d.year}",
    "full stop": lambda d: f"{_short(d)}. {d.day} {d.year}",
    "hyphens": lambda d: f"{d.day}-{_short(d)}-{d.year}",
    "capitals": lambda d: f"{_short(d)} {d.day}, {d.year}".upper(),
    "sentence": lambda d: f"Signed on {MONTHS[d.month - 1]} {d.day}, {d.year}.",
    "glued": lambda d: f"于{d.year}年{d.month}月{d.day}日签订",
    "era": lambda d: f"民国{d.year - 1911}年{d.month}月{d.day}日" if d.year > 1911 else f"{d:%Y-%m-%d}",
    "era, numerals": lambda d: (
        f"中華民國{render_integer(d.year - 1911)}年{_month_and_day(d)}" if d.year > 1911 else f"{d:%Y-%m-%d}"
    ),
    "reiwa": lambda d: f"令和{d.year - 2018}年{d.month}月{d.day}日" if d.year > 2019 else f"{d:%Y-%m-%d}",
    "compact": lambda d: f"IMG_{d:%Y%m%d}_1.jpg" if 1900 <= d.year < 2100 else f"{d:%Y-%m-%d}",
}
DAYS = st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31))


def days(text: str, *years: int) -> list[tuple[str, str]]:
    """The dates of a text as first and last day, those of an open year as `0004-…`."""
    spans = find_dates(text, years)
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
def test_a_day_without_a_year_lies_in_the_open_year_and_in_those_given(text: str) -> None:
    assert days(text) == [("0004-04-14", "0004-04-14")]
    assert days(text, 2026, 2025)[:2] == [("2026-04-14", "2026-04-14"), ("2025-04-14", "2025-04-14")]


def test_the_29th_of_february_lies_in_leap_years_only() -> None:
    assert days("2月29日", 2026, 2024) == [("2024-02-29", "2024-02-29"), ("0004-02-29", "0004-02-29")]


def test_a_question_for_a_day_asks_for_the_open_year_too() -> None:
    spans = read_dates("2026-04-14", (2026, 2025), asked=True).spans
    assert [datetime.date.fromordinal(span.first_day).year for span in spans] == [2026, OPEN_YEAR]
    assert len(read_dates("2026年4月", (2026, 2025), asked=True).spans) == 1


@pytest.mark.parametrize(
    "text", ["2026年2月30日", "二月三十号", "Feb 30, 2026", "2025-02-29", "2026年13月1日", "31 June 2026"]
)
def test_impossible_dates_give_no_interval_but_their_words(text: str) -> None:
    reading = read_dates(f"On {text}.")
    assert reading.spans == ()
    assert reading.impossible == (text,)


def test_an_ambiguous_order_keeps_both_days() -> None:
    assert days("03/04/2026") == [("2026-03-04", "2026-03-04"), ("2026-04-03", "2026-04-03")]
    assert days("31/12/2025") == [("2025-12-31", "2025-12-31")]
    assert days("04.04.2026") == [("2026-04-04", "2026-04-04")]


@pytest.mark.parametrize(
    "text",
    [
        "1.2.3", "0-1-0", "1-2-3", "v2026.4.1", "version 2026.4.1.2", "24/7", "3-2", "4.14", "4/14", "10:30",
        "10:30:22", "192.168.1.1", "2026.1.300", "138-1234-5678", "010-20260414", "+8620260414", "400-820-8820",
        "ISBN 978-7-2026-04-1", "ISBN 978-7-02-000220-1", "12345678901234", "20261399", "99/99/2026", "$2023.10",
        "AB20260414", "20260414元", "May the force be with you", "You may 2 of them. I", "We march 3 miles. Fine",
        "See page 14 may differ. A", "3号线", "坐4月3号线", "3个月5日", "第二十年", "三千年历史", "十年", "2000年前",
        "两年前", "2010-11 season", "1800-2000 words", "in 2000 cases", "A4 2026", "一二三四五六七八年", "12.5%", "½",
        "2026-04-14-1", "1/2026/04/14", "April 14:30", "May 10%",
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert days(text) == []


def test_a_month_that_is_also_a_verb_needs_its_capital() -> None:
    assert days("Members may 4 times a year vote. So") == []
    assert days("On May 4 we vote. So") == [("0004-05-04", "0004-05-04")]
    assert days("what happened on may 4") == [("0004-05-04", "0004-05-04")]
    assert days("It was on may 4, 2026. So") == [("2026-05-04", "2026-05-04")]


@given(st.text(st.one_of(st.characters(), st.sampled_from("0123456789-/.年月日号到至 apr may14th,民国")), max_size=80))
def test_reading_never_raises_and_spans_are_those_of_the_text(text: str) -> None:
    for span in find_dates(text, (2026,)):
        assert span.first_day <= span.last_day
        assert text[span.start : span.end] == span.text


@given(DAYS, DAYS, st.sampled_from(sorted(WRITINGS)), st.sampled_from(sorted(WRITINGS)))
def test_different_days_never_meet(one: datetime.date, other: datetime.date, first: str, second: str) -> None:
    assume(one != other)
    assert set(days(WRITINGS[first](one))).isdisjoint(days(WRITINGS[second](other)))
