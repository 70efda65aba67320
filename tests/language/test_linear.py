"""Time: no text makes the language side slow.

A reading that backtracks would take hours on texts of this length; there is nothing to assert but
that each call returns.
"""

from __future__ import annotations

import datetime

import pytest

from wenyuan.language.aliases import aliases
from wenyuan.language.coverage import CoverageReader
from wenyuan.language.dates.context import dates_below, dates_of_headings
from wenyuan.language.folding import fold
from wenyuan.language.highlights import highlights
from wenyuan.language.numerals import parse_number
from wenyuan.language.postings import read_chunk
from wenyuan.language.questions.reading import read_question
from wenyuan.types import Anchor, Chunk

NOW = datetime.date(2026, 4, 20)
PLAN = read_question("2026-04-14 健康 PPR-9087 v1.2.3", NOW)


@pytest.mark.parametrize("unit", ["1-", "1", "一", "(", "\u0301"])
def test_a_million_repetitions_are_indexed(unit: str) -> None:
    text = unit * 1_000_000
    assert read_chunk("", Chunk(0, text, 0, len(text), Anchor("lines", 1, 1)))[0].body is not None


@pytest.mark.parametrize(
    "unit",
    [
        "1.",
        "1/",
        "1,",
        "a-",
        "a_",
        "Aa",
        "1年",
        "4月3日到",
        "may 1 ",
        "may ",
        "14 and ",
        "in 1990 ",
        "#1",
        "PP ",
        "--a",
        " -a",
        "1e",
        "1,234",
        "一点",
        "3 m",
        "万",
    ],
)
def test_the_aliases_of_long_repetitions_are_read(unit: str) -> None:
    assert aliases(unit * (100_000 // len(unit)))


@pytest.mark.parametrize("unit", ["“", '"', "「", "《》", " -a", " -", "a.", "x@", "\n", "月1"])
def test_endless_questions_are_read(unit: str) -> None:
    assert read_question(unit * (100_000 // len(unit)), NOW)


@pytest.mark.parametrize("unit", ["五日\n", "\n", "- ", "1st\n", " "])
def test_long_texts_are_read_under_a_heading(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert dates_below(dates_of_headings(["2026年4月"]).context, text, fold(text)) is not None


@pytest.mark.parametrize("unit", ["a.", "a::", "a/", "@", "a-", "1,", "健", "--a "])
def test_long_texts_are_matched(unit: str) -> None:
    text = unit * (30_000 // len(unit))
    assert CoverageReader(dict.fromkeys(PLAN.tokens, 1.0)).read(text, text).matched <= set(PLAN.tokens)
    assert read_question(text, NOW) is not None


@pytest.mark.parametrize("unit", ["健", "PPR-9087 ", "e\u0301", "2026年", "a.", "a::", "一万", "——"])
def test_long_texts_are_highlighted(unit: str) -> None:
    highlights(unit * (100_000 // len(unit)), PLAN)


@pytest.mark.parametrize("unit", ["十", "9", "9,", "万", "点"])
def test_endless_numbers_are_none(unit: str) -> None:
    assert parse_number(unit * 1_000_000) is None
