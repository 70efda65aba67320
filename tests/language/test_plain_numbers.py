"""Plain numbers: however a number is written, its plain digits are a word that finds it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wenyuan.language.aliases import aliases
from wenyuan.language.dates.resolving import date_mentions
from wenyuan.language.folding import fold
from wenyuan.language.numerals import render_integer
from wenyuan.language.plain_numbers import number_words
from wenyuan.language.words import decode_token, index_tokens, query_tokens


def read(text: str) -> list[str]:
    folded = fold(text)
    return number_words(folded, date_mentions(text, folded))


def tokens(text: str, *, asked: bool = False) -> set[str]:
    words = query_tokens(text) if asked else index_tokens(text)
    return {decode_token(token) for token in (*words, *aliases(text, asked=asked).tokens)}


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("一千二百三十四点五", "1234.5"),
        ("１，２３４．５０", "1234.5"),
        ("5234.50", "5234.5"),
        ("12万", "120000"),
        ("十二萬", "120000"),
        ("3万5千", "35000"),
        ("三万五", "35000"),
        ("1.2亿元", "120000000"),
        ("一点二億", "120000000"),
        ("1.2e5", "120000"),
        ("2.0E-3", "0.002"),
        ("1.2 million", "1200000"),
        ("3 billion", "3000000000"),
        ("壹佰贰拾叁元", "123"),
        ("第一百三十三条", "133"),
        ("第三十六條", "36"),
        ("九一八事变", "918"),
        ("代号〇〇七", "007"),
        ("廿三", "23"),
    ],
)
def test_numbers_are_read(text: str, digits: str) -> None:
    assert read(text) == [digits]


@pytest.mark.parametrize(
    "text",
    [
        *("1234 12 0.5 3.11 3.10 10.10 2023.10 v1.20 1.2.30 1,234 12,34 PPR-1,2345".split()),
        *("三 一 万一 千万 百万 十几万 几十万 数十万 上百万 二三十 两三百 三百余人 一百多 一二 七八个".split()),
        *("三点五十分 8点30 三点零五分 十点二十".split()),
        *("二〇二六年 2026年4月14日 二零二六年四月十四号 1e5f 1e5.2".split()),
    ],
)
def test_what_is_written_plainly_or_means_something_else_is_left_alone(text: str) -> None:
    assert read(text) == []


INTEGERS = st.integers(100, 10**12)
INTEGER_WRITINGS = [
    str,
    lambda value: f"{value:,}",
    render_integer,
    lambda value: render_integer(value, "financial"),
    lambda value: f"共{render_integer(value)}元",
    lambda value: f"（{value:,}）".translate({ord(str(d)): 0xFF10 + d for d in range(10)}),
]


@given(INTEGERS, st.sampled_from(INTEGER_WRITINGS), st.sampled_from(INTEGER_WRITINGS))
def test_every_writing_of_an_integer_meets_every_other(value, first, second) -> None:  # type: ignore[no-untyped-def]
    assert str(value) in tokens(first(value), asked=True) & tokens(second(value))


@given(INTEGERS, INTEGERS, st.sampled_from(INTEGER_WRITINGS[:4]), st.sampled_from(INTEGER_WRITINGS[:4]))
def test_different_integers_never_meet(one, other, first, second) -> None:  # type: ignore[no-untyped-def]
    assume(one != other)
    assert str(one) not in tokens(second(other))
    assert read(first(one)) != read(second(other)) or read(first(one)) == []


@given(st.decimals(100, 10**6, places=2), st.booleans())
def test_every_writing_of_a_decimal_meets_every_other(value: Decimal, asked: bool) -> None:
    plain = f"{value:f}".rstrip("0").rstrip(".")
    assume(not 1000 <= value < 3000)
    assert plain in tokens(f"{value:,}", asked=asked) & tokens(f"{value}", asked=not asked)


@given(st.integers(1, 999), st.sampled_from(["万", "亿", "萬", "億"]))
def test_arabic_digits_with_a_chinese_unit_are_the_number(count: int, unit: str) -> None:
    value = count * (10**4 if unit in "万萬" else 10**8)
    assert read(f"{count}{unit}") == [str(value)]
    assert read(f"{render_integer(count)}{unit}") == [str(value)]


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("0123456789,.点一二十百千万亿零e+-年月日 million")), max_size=60)
)
def test_any_text_is_read_and_its_numbers_are_digits(text: str) -> None:
    for word in read(text):
        assert word.replace(".", "").isdigit()
        assert len(word) < 60
