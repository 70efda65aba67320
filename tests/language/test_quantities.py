"""Every number with its value and unit, however it is written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.folding import fold
from wenyuan.language.numerals import render_integer
from wenyuan.language.quantities import quantities


def read(text: str) -> list[tuple[str, str]]:
    return [(f"{number.value.normalize():f}", number.unit) for number in quantities(fold(text))]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("35,000元", "35000", "yuan"),
        ("3万5千元", "35000", "yuan"),
        ("三万五千元", "35000", "yuan"),
        ("3.5 万元", "35000", "yuan"),
        ("叁萬伍仟元", "35000", "yuan"),
        ("３５０００元", "35000", "yuan"),
        ("¥35,000", "35000", "yuan"),
        ("35 thousand yuan", "35000", "yuan"),
        ("US$ 1.2 million", "1200000", "usd"),
        ("1.2e5", "120000", ""),
        ("12%", "12", "%"),
        ("百分之十二", "12", "%"),
        ("twelve percent", "12", "%"),
        ("三十天", "30", "day"),
        ("thirty days", "30", "day"),
        ("30-day", "30", "day"),
        ("twenty-five kilometres", "25", "km"),
        ("25公里", "25", "km"),
        ("two hundred and fifty thousand people", "250000", "person"),
        ("25万人", "250000", "person"),
        ("10个工作日", "10", "workday"),
        ("the second", "2", ""),
        ("1.50", "1.5", ""),
    ],
)
def test_a_number_is_read(text: str, value: str, unit: str) -> None:
    assert read(text) == [(value, unit)]


@pytest.mark.parametrize("text", ["一些人", "十分重要", "统一的规定", "一定", "millions of it"])
def test_what_counts_nothing_is_no_number(text: str) -> None:
    assert read(text) == []


@given(st.integers(0, 10**9))
def test_all_writings_of_a_number_meet(value: int) -> None:
    writings = (f"{value}元", f"{value:,}元", f"{render_integer(value)}元", f"{render_integer(value, 'financial')}元")
    assert {(number.value, number.unit) for text in writings for number in quantities(fold(text))} == {
        (Decimal(value), "yuan")
    }


@given(st.text(max_size=200) | st.text(alphabet="0123456789,.e万亿千百十一二三点 -%", max_size=80))
def test_digits_are_never_passed_over(text: str) -> None:
    folded = fold(text)
    found = [number for number in quantities(folded) if number.is_digits]
    covered = {place for number in found for place in range(number.start, number.end)}
    assert {place for place, character in enumerate(folded) if character in "0123456789"} <= covered
