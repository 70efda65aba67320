"""What is embedded for a chunk, and how inputs are grouped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.embedding_input import MOST_SENTENCES, batches, embedding_input, input_hash, sentence_inputs


def test_headings_and_context_stand_above_the_text() -> None:
    assert embedding_input(("手册", "休假"), "| 天数 |", "十天") == "手册 > 休假\n| 天数 |\n十天"
    assert embedding_input((), "", "十天") == "十天"
    assert embedding_input(("手册", "休假"), "", "## 休假\n\n十天") == "手册\n## 休假\n\n十天"


def test_a_hash_stands_for_one_text() -> None:
    assert input_hash("体检") == input_hash("体检")
    assert input_hash("体检") != input_hash("体检 ")
    assert len(input_hash("\ud800")) == 16


def test_each_sentence_of_a_passage_is_embedded_besides_but_no_heading_and_no_single_one() -> None:
    first, second = "员工每年有十天带薪年假，试用期内按比例折算。", "病假需要医生的证明。"
    assert sentence_inputs((), f"## 休假\n\n{first}{second}") == [first, second]
    assert sentence_inputs(("手册", "休假"), f"{first}{second}") == [f"手册 > 休假\n{one}" for one in (first, second)]
    assert sentence_inputs((), f"{second}{first}{first}") == [second + first, first], (
        "what is short says too little alone"
    )
    assert sentence_inputs((), f"## 休假\n\n{first}") == sentence_inputs((), "") == []
    assert sentence_inputs((), "## 休假\n\n员工每年有十天带薪年假。") == []
    assert sentence_inputs((), "") == []


@given(st.integers(2, 100))
def test_many_sentences_are_taken_several_together(count: int) -> None:
    sentences = [f"Sentence number {number} says something of its own." for number in range(count)]
    parts = sentence_inputs((), "\n".join(sentences))
    assert 2 <= len(parts) <= MOST_SENTENCES
    assert "\n".join(parts).split("\n") == sentences


@given(st.lists(st.integers(0, 100), max_size=60), st.integers(1, 8), st.integers(1, 150))
def test_batches_keep_the_order_and_the_limits(lengths: list[int], most: int, characters: int) -> None:
    made = list(batches(((length, length) for length in lengths), most, characters))
    assert [length for batch in made for length in batch] == lengths
    assert all(0 < len(batch) <= most for batch in made)
    assert all(len(batch) == 1 or sum(batch) <= characters for batch in made)
