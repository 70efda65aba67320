"""A passage says in the other language what the question says, as far as everyday words tell."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.bilingual_words import WORDS
from wenyuan.language.folding import fold
from wenyuan.language.translation import Translation
from wenyuan.language.words import query_tokens


def covered(question: str, language: str, passage: str, weights: dict[str, float] | None = None) -> float:
    known = dict.fromkeys(query_tokens(question), 1.0) if weights is None else weights
    return Translation(fold(question), language, known).covered(fold(passage))


@pytest.mark.parametrize(
    ("question", "language", "passage"),
    [
        ("how to delete a file", "en", "删除文件用 rm"),
        ("How are users notified?", "en", "系統會通知用戶。"),
        ("怎么删除文件？", "zh", "Deletes the files given."),
        ("請問如何刪除訂單", "zh", "Orders are deleted by mail"),
        ("公司的历史", "zh", "histories of companies"),
    ],
)
def test_a_passage_that_says_it_all(question: str, language: str, passage: str) -> None:
    assert covered(question, language, passage) == pytest.approx(1.0)


def test_a_passage_that_says_a_part() -> None:
    assert covered("delete a file", "en", "文件的大小") == pytest.approx(0.5)
    assert covered("删除文件", "zh", "the size of a file") == pytest.approx(0.5)


def test_a_word_counts_as_much_as_it_weighs() -> None:
    weights = {"delet": 3.0, "file": 1.0}
    assert covered("delete file", "en", "删除目录", weights) == pytest.approx(0.75)


def test_only_whole_english_words_count() -> None:
    assert covered("文件", "zh", "profile, filed, a defile") == 0.0


def test_what_no_word_translates_is_left_out() -> None:
    assert covered("delete zyxwv", "en", "删除它") == pytest.approx(1.0)
    assert covered("zyxwv", "en", "删除它") == 0.0
    assert covered("", "zh", "anything") == 0.0


def test_other_languages_have_no_words() -> None:
    translation = Translation("supprimer un fichier", "other", {"fichier": 1.0})
    assert (translation.language, translation.covered("删除文件")) == ("", 0.0)


@given(st.text(max_size=60), st.sampled_from(["zh", "en", "other"]), st.text(max_size=200))
def test_it_is_a_share(question: str, language: str, passage: str) -> None:
    assert 0.0 <= covered(question, language, passage) <= 1.0 + 1e-9


def test_each_word_is_there_once() -> None:
    entries = [entry.split() for entry in WORDS.split(",")]
    assert fold(WORDS) == WORDS
    assert len(entries) > 2000
    english = [entry[0] for entry in entries]
    assert english == sorted(set(english))
    for word, *chinese in entries:
        assert re.fullmatch("[a-z]+", word)
        assert chinese
        assert len(chinese) == len(set(chinese)), word
        assert all(re.fullmatch("[\u4e00-\u9fff]+", one) for one in chinese), word
