"""Reciprocal rank fusion, against its formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.ranking.fusion import reciprocal_rank_fusion

ranked_lists = st.lists(st.lists(st.integers(1, 50), unique=True, max_size=20), max_size=4)


def test_scores_are_those_of_the_paper() -> None:
    fused = dict(reciprocal_rank_fusion([(1.0, [7, 8]), (1.0, [8])]))
    assert fused == {8: pytest.approx(1 / 62 + 1 / 61), 7: pytest.approx(1 / 61)}


def test_weights_count_and_ties_go_to_the_smaller_key() -> None:
    assert [key for key, _ in reciprocal_rank_fusion([(1.0, [5]), (2.0, [9])])] == [9, 5]
    assert [key for key, _ in reciprocal_rank_fusion([(1.0, [5]), (1.0, [3])])] == [3, 5]


@given(ranked_lists)
def test_every_candidate_comes_once_in_falling_order(lists: list[list[int]]) -> None:
    fused = reciprocal_rank_fusion((1.0, keys) for keys in lists)
    assert sorted(key for key, _ in fused) == sorted({key for keys in lists for key in keys})
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@given(ranked_lists)
def test_the_order_of_the_lists_does_not_matter(lists: list[list[int]]) -> None:
    forwards = dict(reciprocal_rank_fusion((1.0, keys) for keys in lists))
    backwards = dict(reciprocal_rank_fusion((1.0, keys) for keys in reversed(lists)))
    assert forwards == {key: pytest.approx(score) for key, score in backwards.items()}
