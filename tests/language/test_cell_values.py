"""A cell is a number, a day or a truth value only where nobody would read it as anything else."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.tables.cell_values import LONGEST_CELL, cell_value, mark_of, shown_number, wanted
from wenyuan.types import Amount, Days

APRIL_14 = datetime.date(2026, 4, 14).toordinal()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-5", -5),
        ("+7", 7),
        ("1,234.50", 1234.5),
        ("(120)", -120),
        ("0.1", 0.1),
        ("1.5e5", 150000),
        ("1e-5", 0.00001),
        ("3.5万", 35000),
        (" 42 ", 42),
        ("123456789012345678", 123456789012345678),
    ],
)
def test_numbers(text: str, number: float) -> None:
    assert cell_value(text) == number
    assert type(cell_value(text)) in (int, float)


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("12%", 12, "%"),
        ("¥1,200", 1200, "¥"),
        ("￥3", 3, "¥"),
        ("1200元", 1200, "¥"),
        ("$-5", -5, "$"),
        ("-$5", -5, "$"),
        ("USD 7.25", 7.25, "$"),
        ("1.2万元", 12000, "¥"),
    ],
)
def test_amounts_have_their_unit(text: str, number: float, unit: str) -> None:
    assert cell_value(text) == Amount(number, unit)


@pytest.mark.parametrize(
    "text",
    [
        "007",
        "1.2.3",
        "A-12",
        "12e4",
        "1,23",
        "12,34,567",
        "--5",
        "1 234",
        "$5元",
        "12345678901234567890",
        "四",
        "5 kg",
        "#N/A",
    ],
)
def test_what_names_something_is_words(text: str) -> None:
    assert cell_value(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "2026-04-14",
        "2026/4/14",
        "2026.04.14",
        "2026年4月14日",
        "14 April 2026",
        "2026-04-14 08:30",
        "2026-04-14T08:30:05Z",
    ],
)
def test_days(text: str) -> None:
    assert cell_value(text) == Days(APRIL_14, APRIL_14, text)


def test_a_month_is_all_of_its_days() -> None:
    value = cell_value("2026-04")
    assert isinstance(value, Days)
    assert (value.first, value.last) == (APRIL_14 - 13, APRIL_14 + 16)


@pytest.mark.parametrize("text", ["03/04/2026", "2026-02-30", "4月14日", "昨天", "20:15"])
def test_what_could_be_another_day_or_none_is_words(text: str) -> None:
    assert cell_value(text) == text


def test_truth_and_nothing() -> None:
    assert (cell_value("TRUE"), cell_value("false"), cell_value("  "), cell_value("是")) == (True, False, None, "是")


def test_long_words_are_cut() -> None:
    assert cell_value("x" * 1000) == "x" * (LONGEST_CELL - 1) + "…"


@given(st.decimals(-(10**9), 10**9, places=2))
def test_a_number_is_exactly_what_is_written(number: Decimal) -> None:
    value = cell_value(f"{number:,}")
    assert isinstance(value, int | float)
    assert Decimal(repr(value)) == number


@given(st.text(max_size=60))
def test_whatever_stands_in_a_cell_is_read(text: str) -> None:
    value = cell_value(text)
    assert (value is None) == (not text.strip())
    wanted(text)


@pytest.mark.parametrize(
    ("shown", "number", "value"),
    [
        ("1,235", 1234.567, 1234.567),
        ("12%", 0.12, Amount(12, "%")),
        ("¥3.10", 3.1, Amount(3.1, "¥")),
        ("0.3", 0.1 + 0.2, 0.3),
        ("1E+20", 1e20, 10**20),
    ],
)
def test_a_number_of_a_sheet_is_its_value_and_not_what_its_format_shows(
    shown: str, number: float, value: object
) -> None:
    assert shown_number(shown, number) == value


@pytest.mark.parametrize("first", ["合计", "合 计", "总计：", "Total", "GRAND TOTAL", "小计", "subtotal"])
def test_rows_that_sum_up(first: str) -> None:
    assert mark_of([first, "", "5"]) == "total"
    assert mark_of(["", first, "5"]) == "total"


@pytest.mark.parametrize(
    "texts", [["totally new", "5"], ["North", "Total", "5"], ["合计划", "5"], ["", ""], ["5", "6"]]
)
def test_rows_of_data(texts: list[str]) -> None:
    assert mark_of(texts) == ""


def test_remarks_stand_alone() -> None:
    assert mark_of(["注：含税", "", ""]) == "remark"
    assert mark_of(["Note: taxed", "5"]) == ""
