"""Numerals: Chinese and mixed numbers, read and written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.numerals import NUMERAL, Style, parse_integer, parse_number, render_integer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", "10"),
        ("十五", "15"),
        ("二十", "20"),
        ("一百零五", "105"),
        ("一百二", "120"),
        ("三万五", "35000"),
        ("3万5千", "35000"),
        ("1.2亿", "120000000"),
        ("12亿3000万", "1230000000"),
        ("一万亿", "1000000000000"),
        ("二零二六", "2026"),
        ("二〇二六", "2026"),
        ("二○二六", "2026"),
        ("貳零貳陸", "2026"),
        ("壹仟贰佰叁拾肆", "1234"),
        ("廿四", "24"),
        ("卅一", "31"),
        ("两千", "2000"),
        ("1,234.50", "1234.5"),
        ("１２３４．５", "1234.5"),
        ("一千二百三十四点五", "1234.5"),
        ("三点五万", "35000"),
        ("十点五", "10.5"),
        ("1.2e5", "120000"),
        ("零", "0"),
        ("两百", "200"),
        ("一万零两百", "10200"),
        ("两万三百", "20300"),
        ("三点五百万", "3500000"),
        ("3.5千", "3500"),
        ("三十二万", "320000"),
    ],
)
def test_numbers_are_read(text: str, value: str) -> None:
    assert parse_number(text) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["", "百", "万", "二十十", "一亿一亿", "一百零", "一二万", "1,23", "三月", "12个", "点五", "十" * 70, "9" * 70,
     "两三百", "兩三百", "三两百", "三五千", "贰叁佰", "一千二三百", "两三", "三两", "一点两", "1.两", "3两", "两三万",
     "三点五十", "三點五十", "三点五十分", "三点二十五", "三点十五", "三点廿", "3.5十", "12十", "一十二十"],
)  # fmt: skip
def test_what_is_no_number_is_none(text: str) -> None:
    assert parse_number(text) is None
    assert parse_integer(text) is None


def test_only_whole_numbers_are_integers() -> None:
    assert parse_integer("三点五") is None
    assert parse_integer("三点五万") == 35000


@given(st.integers(0, 10**16 - 1), st.sampled_from(["plain", "financial", "positional"]))
def test_what_is_written_is_read_back(value: int, style: Style) -> None:
    assert parse_integer(render_integer(value, style)) == value


@pytest.mark.parametrize(
    ("value", "plain", "financial", "positional"),
    [
        (2026, "二千零二十六", "贰仟零贰拾陆", "二〇二六"),
        (14, "十四", "壹拾肆", "一四"),
        (0, "零", "零", "〇"),
        (10**16, "1" + "0" * 16, "1" + "0" * 16, "1" + "0" * 16),
        (-3, "-3", "-3", "-3"),
    ],
)
def test_numbers_are_written(value: int, plain: str, financial: str, positional: str) -> None:
    assert render_integer(value) == plain
    assert render_integer(value, "financial") == financial
    assert render_integer(value, "positional") == positional


@given(st.text(st.sampled_from(NUMERAL + "万亿兆点.,e0123456789 个"), max_size=70))
def test_reading_never_raises(text: str) -> None:
    number = parse_number(text)
    assert number is None or number >= 0
