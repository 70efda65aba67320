"""Highlights: where a text says what was asked for."""

from __future__ import annotations

import datetime
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.folding import fold
from wenyuan.language.highlights import highlights
from wenyuan.language.questions.reading import read_question
from wenyuan.language.words import index_tokens, located_words, term_token

NOW = datetime.date(2026, 4, 20)


def marked(text: str, question: str) -> list[str]:
    return [text[span.start : span.end] for span in highlights(text, read_question(question, NOW))]


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("每年安排健康體檢一次", "健康体检", ["健康體檢"]),
        ("每年安排健康體檢一次", "检", ["檢"]),
        ("Two Cafés opened", "cafe", ["Cafés"]),
        ("Running pumps", "run pump", ["Running", "pumps"]),
        ("用redis-cli连接", "cli", ["cli"]),
        ("用redis-cli连接", "redis-cli", ["redis-cli"]),
        ("见 PPR_9087 与 PPR-1044", "ppr 9087", ["PPR_9087", "PPR"]),
        ("见 PPR_9087 与 ppr9087", "PPR-9087", ["PPR_9087", "ppr9087"]),
        ("from v1.2.3 to 1.2.4", "版本1.2.3", ["v1.2.3"]),
        ("see message_history", "MessageHistory", ["message_history"]),
        ("会议于二零二六年四月十四号举行", "2026-04-14", ["二零二六年四月十四号"]),
        ("会议于四月十四号举行", "2026-04-14", ["四月十四号"]),
        ("4月3日到5日、4月9日", "2026年4月", []),
        ("2026年4月3日到5日、2025年4月9日", "2026年4月", ["2026年4月3日到5日"]),
        ("ＰＰＲ－９０８７", "ppr9087", ["ＰＰＲ－９０８７"]),
        ("共1,234,567元", "1234567", ["1,234,567"]),
        ("约12万人，十二萬", "120000", ["12万", "十二萬"]),
        ("tar -xzf a.tgz", "-x", ["-xzf"]),
        ("see https://www.example.com/a", "example.com", ["example.com"]),
        ("C:\\data\\a.txt", "data/a.txt", ["data\\a.txt"]),
        ("……健康——體檢", "健康 体检", ["健康", "體檢"]),
        ("カタカナ カ", "カ", ["カ"]),
        ("nothing here", "健康", []),
        ("the skies above; a sky", "sky", ["skies", "sky"]),
        ("they flew\nflying families", "family fly", ["flying", "families"]),
        ("1,234-a and 12,34", "1234", ["1,234-a"]),
        ("a-b a.b (b) xb bx", "b", ["b", "b", "b"]),
        ("", "健康", []),
    ],
)
def test_what_matched_is_marked(text: str, question: str, expected: list[str]) -> None:
    assert marked(text, question) == expected


def test_terms_of_the_vocabulary_are_marked_whole() -> None:
    text = "轉換體驗課與large\nlanguage models"
    plan = replace(read_question("课", NOW), tokens=(term_token("转换体验课"), term_token("large language model")))
    assert [text[span.start : span.end] for span in highlights(text, plan)] == ["轉換體驗課", "large\nlanguage model"]


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("健康體檢2026年4月14日PPR-9087 v1.2.3é\u0301ﬁ")), max_size=80),
    st.sampled_from(["健康体检 2026年4月14日", "PPR-9087 v1.2.3", "fi e 检"]),
)
def test_spans_are_sorted_apart_and_within_the_text(text: str, question: str) -> None:
    spans = highlights(text, read_question(question, NOW))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(one.end < other.start for one, other in pairwise(spans))


_FRAGMENTS = [
    *"健康體檢 studies study skies sky flying e.g. a::b::c os.path.join".split(),
    *"C:\\data 1,234 12,345-x c++ it's カタ 안녕".split(),
    *" ,.-/:@_'sy1i",
    "\n",
    "\u3000",
    "x" * 70,
    "ꭰ",
]


@given(
    st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join), st.lists(st.sampled_from(_FRAGMENTS), max_size=3)
)
def test_every_word_is_found_that_reading_them_all_would_find(text: str, asked: list[str]) -> None:
    folded = fold(text)
    tokens = frozenset(index_tokens(" ".join(asked)))
    plan = replace(read_question("?", NOW), tokens=tuple(sorted(tokens)), aliases=())
    marked_places = {place for span in highlights(folded, plan) for place in range(span.start, span.end)}
    expected = {place for start, end in located_words(folded, tokens) for place in range(start, end)}
    assert expected <= marked_places
