"""Folding: one character for its many writings, and the way back."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.simplified_table import PATH, module
from wenyuan.language import folding
from wenyuan.language.folding import fold, fold_with_offsets

MIXED = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "體验課合約著着乾隆Ａｂ１，。“”‘’—–-éÉñß\u0301\u3099\u200b\u00adｶﾞガ가가①ﬁ㈱⻓İ\ud800\U000e0100"
        ),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("中文合約轉換體驗課問題", "中文合约转换体验课问题"),
        ("ＰＰＲ－９０８７", "ppr-9087"),
        ("Café NAÏVE Ångström", "cafe naive angstrom"),
        ("cafe\u0301", "cafe"),
        ("“curly” ‘quotes’", "\"curly\" 'quotes'"),
        ("1659–60", "1659-60"),
        ("words—apart", "words--apart"),
        ("zero\u200bwidth soft\u00adhyphen\ufeff", "zerowidth softhyphen"),
        ("ﬁne ①㈱ ½", "fine 1(株) 1⁄2"),
        ("STRASSE straße", "strasse strasse"),
        ("ｶﾞｷﾞ か\u3099", "ガギ が"),
        ("\u1112\u1161\u11ab", "한"),
        ("Йод", "йод"),
        ("⻓安⻅⾯", "长安见面"),
        ("隨著 着 著名", "随着 着 着名"),
        ("\u3000", " "),
    ],
)
def test_one_character_for_its_many_writings(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold_with_offsets(text).text == folded


def test_traditional_and_simplified_writing_of_a_sentence_meet() -> None:
    traditional = "乾燥的頭髮裡面長著隻甚麼蟲，徵求專家瞭解與覆核這個臺灣檔案"
    simplified = "干燥的头发里面长着只甚么虫，征求专家了解与复核这个台湾档案"
    assert fold(traditional) == fold(simplified)


def test_what_is_not_looked_at_folds_to_itself() -> None:
    table = folding._table()
    rest = table.changing.sub("", "".join(map(chr, range(0x110000))))
    assert rest.translate(table) == rest


@given(st.lists(st.sampled_from("體驗著ＡÉ，。“—①İ中国话a ,Zがガ한ж𠮷"), min_size=80, max_size=120).map("".join), MIXED)
def test_long_texts_fold_like_short_ones(often: str, sometimes: str) -> None:
    for text in (often, sometimes + "没有什么可改的" * 20):
        assert folding.translated(text, folding._table(), folding._table().changing) == text.translate(folding._table())


@given(MIXED)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(MIXED, MIXED)
def test_a_passage_folds_alike_wherever_it_stands(before: str, passage: str) -> None:
    # A letter in between keeps marks at the passage's beginning from joining what stands before.
    assert fold(f"{before}x{passage}") == fold(f"{before}x") + fold(f"x{passage}")[1:]


@given(MIXED)
def test_every_folded_character_knows_its_source(text: str) -> None:
    folded = fold_with_offsets(text)
    assert folded.text == fold(text)
    assert len(folded.offsets) == len(folded.text) + 1
    assert folded.offsets[-1] == len(text)
    assert list(folded.offsets) == sorted(folded.offsets)
    for i, character in enumerate(folded.text):
        span = folded.source_span(i, i + 1)
        assert 0 <= span.start < span.end <= len(text)
        assert character in fold(text[span.start : span.end])


def test_a_span_holds_whole_characters_with_their_marks() -> None:
    text = "x ﬁe\u0301 y"
    folded = fold_with_offsets(text)
    assert folded.text == "x fie y"
    assert text[slice(*_ends(folded.source_span(2, 3)))] == "ﬁ"
    assert text[slice(*_ends(folded.source_span(3, 5)))] == "ﬁe\u0301"
    assert _ends(folded.source_span(4, 4)) == (3, 3)


def _ends(span: object) -> tuple[int, int]:
    return span.start, span.end  # type: ignore[attr-defined]


def test_threads_that_fold_first_at_the_same_time_agree() -> None:
    folding._tables.clear()
    barrier = threading.Barrier(8)
    results: list[str] = []

    def work() -> None:
        barrier.wait()
        results.append(fold("體驗課ＡＢＣé"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["体验课abce"] * 8
    assert len(folding._tables) == 1


def test_very_long_runs_of_marks_end() -> None:
    assert fold("a" + "\u0301\u0327" * 100_000) == "a"


def test_the_table_of_simplified_characters_is_what_opencc_says() -> None:
    assert PATH.read_text("utf-8") == module(), "run: python -m tests.language.simplified_table"
