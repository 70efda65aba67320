"""Sentences chosen verbatim, with exact offsets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.extraction import ScoredSentence, Sentence, choose, led_to, opening, score, sentences_of

PASSAGES = [
    "# 福利\n今年的健康体检统一安排在五月上旬。体检的全部费用都由公司统一承担。\n请提前预约。",
    "The weekly call moved to Friday afternoon. Bring the printed quarterly report.",
]


def test_sentences_are_the_passages_own_words() -> None:
    found = sentences_of(PASSAGES, 10)
    assert [one.text for one in found] == [
        "今年的健康体检统一安排在五月上旬。",
        "体检的全部费用都由公司统一承担。",
        "请提前预约。",
        "The weekly call moved to Friday afternoon.",
        "Bring the printed quarterly report.",
    ]
    assert all(PASSAGES[one.passage][one.start : one.end] == one.text for one in found)


def test_short_sentences_of_a_line_stay_together() -> None:
    found = sentences_of(["星期二 16:30。参加：沈砚秋、周牧。线上：Ruth Ackroyd。\n定了。"], 10)
    assert [one.text for one in found] == ["星期二 16:30。参加：沈砚秋、周牧。", "线上：Ruth Ackroyd。"]


def test_a_limit_is_shared_by_the_passages_and_the_first_gives_most() -> None:
    assert [one.passage for one in sentences_of(PASSAGES, 4)] == [0, 0, 0, 1]
    assert [one.passage for one in sentences_of([PASSAGES[1], PASSAGES[0]], 4)] == [0, 0, 1, 1]
    assert [one.passage for one in sentences_of(["The first of several long sentences stands here. " * 6] * 3, 7)] == [
        0,
        0,
        0,
        0,
        0,
        1,
        2,
    ]


@given(st.lists(st.text(max_size=80), max_size=4), st.integers(0, 30))
def test_offsets_hold_for_any_text(passages: list[str], limit: int) -> None:
    found = sentences_of(passages, limit)
    assert len(found) <= limit
    assert all(passages[one.passage][one.start : one.end] == one.text for one in found)


def test_meaning_leads_words_help_and_the_passage_counts() -> None:
    sentences = sentences_of(PASSAGES, 10)
    none = [False] * 5
    by_meaning = score(sentences, [0.0] * 5, [0.1, 0.9, 0.1, 0.2, 0.2], [1.0, 1.0], none, none)
    assert by_meaning[0].sentence.text == "体检的全部费用都由公司统一承担。"
    by_words = score(sentences, [0.0, 0.0, 0.0, 0.0, 1.0], None, [1.0, 1.0], none, none)
    assert by_words[0].sentence.text == "Bring the printed quarterly report."
    by_passage = score(sentences, [0.5] * 5, None, [0.2, 1.0], none, none)
    assert by_passage[0].sentence.passage == 1
    by_value = score(sentences, [0.5] * 5, None, [1.0, 1.0], [False, False, False, True, False], none)
    assert by_value[0].sentence is sentences[3]
    repeated = score(sentences, [0.9, 0.5, 0.1, 0.1, 0.1], None, [1.0, 1.0], none, [True, *none[1:]])
    assert repeated[0].sentence is sentences[1]


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


def test_an_opening_is_the_beginning_without_its_heading() -> None:
    text = "# 周会\n\n首批订六百片。首发推迟到六月。\n下次再议。"
    assert opening(3, text, 16).text == "首批订六百片。"
    whole = opening(3, text, 700)
    assert (whole.passage, whole.text) == (3, "首批订六百片。首发推迟到六月。\n下次再议。")
    assert text[whole.start : whole.end] == whole.text
    assert opening(0, "# 只有标题", 700).text == "# 只有标题"


def test_what_leads_to_something_is_quoted_with_it() -> None:
    decided = "**Decided**\n\n1. Kestrel gets the contract.\n2. The fence is green."
    text = f"Present: Ada.\n\n{decided}\n\n**Open**\n\n- The gate."

    def quoted(said: str, most: int = 200) -> str:
        start = text.index(said)
        made = led_to(Sentence(0, start, start + len(said), said), text, most)
        assert text[made.start : made.end] == made.text
        return made.text

    assert quoted("**Decided**") == decided
    assert quoted("**Decided**", 35) == "**Decided**\n\n1. Kestrel gets the contract."
    assert quoted("**Open**") == "**Open**\n\n- The gate."
    assert quoted("Present: Ada.") == "Present: Ada."
    assert led_to(Sentence(0, 0, 5, "结论如下："), "结论如下：\n一、换屏。", 99).text == "结论如下：\n一、换屏。"


@given(st.text(alphabet="ab*_:：。.\n #1", max_size=120), st.integers(0, 60))
def test_a_longer_quote_is_the_passages_own_words(text: str, most: int) -> None:
    for one in sentences_of([text], 20):
        made = led_to(one, text, most)
        assert (made.start, text[made.start : made.end]) == (one.start, made.text)
        assert made.end >= one.end
