"""Paragraphs are broken where Chinese and English may be broken, and fit."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wenyuan.doors.cli.wrapping import breaks

CLOSING = "，。、；：？！）》」』】”’"
WORDS = st.sampled_from(
    ["体检", "公司每年十月安排", "，", "。", "（", "）", " ", "PPR-9087", "in April", "1.0.10", "…"]
)


def lines(paragraph: str, width: int) -> list[str]:
    places = [0, *breaks(paragraph, width), len(paragraph)]
    return [paragraph[start:end].rstrip() for start, end in pairwise(places)]


def test_chinese_breaks_anywhere_but_before_its_punctuation() -> None:
    assert lines("公司每年十月安排全员体检一次，费用由公司承担。", 12) == [
        "公司每年十月",
        "安排全员体检",
        "一次，费用由",
        "公司承担。",
    ]
    assert lines("全员体检一次，费用", 12) == ["全员体检一", "次，费用"]
    assert lines("每年十月体检（全员）", 12) == ["每年十月体检", "（全员）"]


def test_english_breaks_between_words() -> None:
    assert lines("- 修复：the gateway keeps its clock", 14) == ["- 修复：the", "gateway keeps", "its clock"]


def test_a_word_wider_than_the_line_is_broken() -> None:
    assert lines("see abcdefghijkl now", 8) == ["see abcd", "efghijkl", "now"]


@given(st.lists(WORDS, max_size=30), st.integers(20, 60))
def test_every_line_fits_and_nothing_is_lost(words: list[str], width: int) -> None:
    paragraph = "".join(words)
    places = breaks(paragraph, width)
    assert places == sorted(set(places))
    assert all(0 < place < len(paragraph) for place in places)
    assert all(cell_len(line) <= width for line in lines(paragraph, width))


@given(st.text(max_size=80), st.integers(20, 60))
def test_any_text_fits(paragraph: str, width: int) -> None:
    assert all(cell_len(line) <= width for line in lines(paragraph.replace("\n", " "), width))
