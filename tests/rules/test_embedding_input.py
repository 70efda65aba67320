"""What is embedded for a chunk, and how inputs are grouped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.embedding_input import batches, embedding_input, input_hash


def test_headings_and_context_stand_above_the_text() -> None:
    assert embedding_input(("手册", "休假"), "| 天数 |", "十天") == "手册 > 休假\n| 天数 |\n十天"
    assert embedding_input((), "", "十天") == "十天"
    assert embedding_input(("手册", "休假"), "", "## 休假\n\n十天") == "手册\n## 休假\n\n十天"


def test_a_hash_stands_for_one_text() -> None:
    assert input_hash("体检") == input_hash("体检")
    assert input_hash("体检") != input_hash("体检 ")
    assert len(input_hash("\ud800")) == 16


@given(st.lists(st.integers(0, 100), max_size=60), st.integers(1, 8), st.integers(1, 150))
def test_batches_keep_the_order_and_the_limits(lengths: list[int], most: int, characters: int) -> None:
    made = list(batches(((length, length) for length in lengths), most, characters))
    assert [length for batch in made for length in batch] == lengths
    assert all(0 < len(batch) <= most for batch in made)
    assert all(len(batch) == 1 or sum(batch) <= characters for batch in made)
