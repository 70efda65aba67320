"""What every reranker keeps, whatever is behind it. An adapter's tests subclass it and provide `reranker`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from wenyuan.errors import ProviderUnavailable
from wenyuan.ports import Reranker

PASSAGES = [
    "The ferry leaves the pier at nine.",
    "图书馆九点开门。",
    "half of a pair: \ud83d",
    "null \x00 and bell \x07",
    "a",
    "word " * 500,
    "A parliament was elected in 1949.",
]
QUESTION = "When does the ferry leave the pier?"
SECONDS = 60.0


class RerankerContract:
    @pytest.fixture
    def reranker(self) -> Reranker:
        raise NotImplementedError

    def test_every_passage_gets_one_finite_score(self, reranker: Reranker) -> None:
        scores = reranker.rerank(QUESTION, PASSAGES, SECONDS)
        assert len(scores) == len(PASSAGES)
        assert all(isinstance(score, float) and math.isfinite(score) for score in scores)

    def test_the_passage_that_answers_is_scored_highest(self, reranker: Reranker) -> None:
        scores = reranker.rerank(QUESTION, PASSAGES, SECONDS)
        assert max(scores) == scores[0]

    def test_scores_stay_with_their_passages(self, reranker: Reranker) -> None:
        forwards = reranker.rerank(QUESTION, PASSAGES, SECONDS)
        backwards = reranker.rerank(QUESTION, PASSAGES[::-1], SECONDS)
        assert list(forwards) == pytest.approx(list(backwards)[::-1], abs=1e-4)

    def test_no_passages_get_no_scores(self, reranker: Reranker) -> None:
        assert list(reranker.rerank(QUESTION, [], SECONDS)) == []

    def test_threads_may_share_it(self, reranker: Reranker) -> None:
        expected = reranker.rerank(QUESTION, PASSAGES, SECONDS)

        def ask(_: int) -> Sequence[float]:
            return reranker.rerank(QUESTION, PASSAGES, SECONDS)

        with ThreadPoolExecutor(3) as pool:
            for scores in pool.map(ask, range(3)):
                assert list(scores) == pytest.approx(list(expected), abs=1e-4)

    def test_it_says_what_it_is_before_anything_is_called(self, reranker: Reranker) -> None:
        profile = reranker.profile
        assert profile.name
        assert profile.provider
        assert profile.protocol
        assert profile.model
        assert profile.max_passages >= 1
        assert profile.max_characters >= 1

    def test_no_time_at_all_is_worth_trying_again_later(self, reranker: Reranker) -> None:
        with pytest.raises(ProviderUnavailable):
            reranker.rerank(QUESTION, PASSAGES, 0.0)
