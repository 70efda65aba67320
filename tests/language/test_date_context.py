"""Dates in their context: what a heading says about the days under it."""

from __future__ import annotations

import pytest

from wenyuan.language.dates.context import dates_below, dates_of_headings
from wenyuan.language.folding import fold
from wenyuan.language.keys import date_value


def in_text(headings: list[str], text: str) -> list[str]:
    return [date_value(mention) for mention in dates_below(dates_of_headings(headings).context, text, fold(text))]


@pytest.mark.parametrize(
    ("headings", "text", "expected"),
    [
        (["一九一二年五月"], "五日 上午十一时舟抵天津。\n六日 晴。", ["1912-05-05", "1912-05-06"]),
        (["January 1659–60"], "2nd. In the morning before I went forth.", ["1660-01-02"]),
        (["2026年4月"], "- 14日：开会", ["2026-04-14"]),
        (["2026年", "四月"], "14日 开会", ["2026-04-14"]),
        (["2026年", "April"], "14th at the office", ["2026-04-14"]),
        (["2026年会议纪要"], "4月14日上午开会", ["2026-04-14"]),
        (["Diary, January 1660: Jan. 1st"], "Jan. 1st. Up early", ["1660-01-01"]),
        (["2025年", "2026年4月"], "14日 开会", ["2026-04-14"]),
        (["2026-04 日记.md"], "14日 开会", ["2026-04-14"]),
        (["2026年4月"], "截至2025年12月31日", ["2025-12-31"]),
    ],
)
def test_a_heading_gives_the_month_or_the_year(headings: list[str], text: str, expected: list[str]) -> None:
    assert in_text(headings, text) == expected


@pytest.mark.parametrize(
    ("headings", "text", "expected"),
    [
        ([], "14日 开会", []),
        (["会议纪要"], "4月14日 开会", ["--04-14"]),
        (["2026年4月"], "会议开了14日之久", []),
        (["2026年4月"], "31日 没有这一天", []),
        (["2026年"], "14日 开会", []),
        (["2026年4月"], "12月30日再议", ["--12-30"]),
        (["2024年和2025年及2026年"], "4月14日 开会", ["--04-14"]),
        (["2024-2026年"], "4月14日 开会", ["--04-14"]),
    ],
)
def test_what_the_heading_does_not_say_stays_open(headings: list[str], text: str, expected: list[str]) -> None:
    assert in_text(headings, text) == expected


def test_a_day_in_a_heading_belongs_to_the_month_above_it() -> None:
    found = dates_of_headings(["2026年4月", "14日"])
    assert [[date_value(mention) for mention in dates] for dates in found.mentions] == [["2026-04"], ["2026-04-14"]]
