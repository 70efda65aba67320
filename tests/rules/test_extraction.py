"""Sentences chosen verbatim, with exact offsets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.extraction import ScoredSentence, Sentence, choose, score, sentences_of

PASSAGES = ["体检安排在五月。费用由公司承担。\n请提前预约。", "The call moved to Friday. Bring the report."]


def test_sentences_are_the_passages_own_words() -> None:
    found = sentences_of(PASSAGES, 10)
    assert [one.text for one in found] == [
        "体检安排在五月。",
        "费用由公司承担。",
        "请提前预约。",
        "The call moved to Friday.",
        "Bring the report.",
    ]
    assert all(PASSAGES[one.passage][one.start : one.end] == one.text for one in found)


def test_a_limit_is_shared_by_the_passages() -> None:
    assert [one.passage for one in sentences_of(PASSAGES, 2)] == [0, 1]


@given(st.lists(st.text(max_size=80), max_size=4), st.integers(0, 30))
def test_offsets_hold_for_any_text(passages: list[str], limit: int) -> None:
    found = sentences_of(passages, limit)
    assert len(found) <= limit
    assert all(passages[one.passage][one.start : one.end] == one.text for one in found)


def test_meaning_leads_words_help_and_the_passage_counts() -> None:
    sentences = sentences_of(PASSAGES, 10)
    by_meaning = score(sentences, [0.0] * 5, [0.1, 0.9, 0.1, 0.2, 0.2], [1.0, 1.0])
    assert by_meaning[0].sentence.text == "费用由公司承担。"
    by_words = score(sentences, [0.0, 0.0, 0.0, 0.0, 1.0], None, [1.0, 1.0])
    assert by_words[0].sentence.text == "Bring the report."
    by_passage = score(sentences, [0.5] * 5, None, [0.2, 1.0])
    assert by_passage[0].sentence.passage == 1


def test_only_what_is_nearly_as_good_is_chosen_and_nothing_twice() -> None:
    def scored(text: str, value: float) -> ScoredSentence:
        return ScoredSentence(Sentence(0, 0, len(text), text), value)

    ranked = [
        scored("最好的一句。", 1.0),
        scored("最好的一句。", 1.0),
        scored("差不多好。", 0.9),
        scored("差得远。", 0.3),
    ]
    assert [one.sentence.text for one in choose(ranked, 3)] == ["最好的一句。", "差不多好。"]
    assert choose([], 3) == []
