"""What scores do to an order: within a tier, and to nothing that has none."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import (
    LimitReached,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderPaused,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from wenyuan.rules.ranking.reranking import at_least, failure_detail, reranked
from wenyuan.rules.ranking.selection import Ranked, exact_first

TIERS = st.dictionaries(st.integers(1, 40), st.integers(0, 2), max_size=20)
SCORES = st.dictionaries(st.integers(1, 40), st.floats(-20, 20), max_size=20)


@given(TIERS, SCORES)
def test_nothing_is_lost_and_no_tier_is_left(tiers: dict[int, int], scores: dict[int, float]) -> None:
    ordered = exact_first({key: key / 40 for key in tiers}, tiers)
    found = reranked(ordered, scores)
    assert sorted(one.chunk_key for one in found) == sorted(tiers)
    assert [one.tier for one in found] == sorted(tiers.values())
    assert all(one.rerank_score == scores.get(one.chunk_key) for one in found)
    for before, after in itertools.pairwise(found):
        if before.tier == after.tier and after.rerank_score is not None:
            assert before.rerank_score is not None
            assert before.rerank_score >= after.rerank_score


@given(TIERS)
def test_without_scores_the_order_stays(tiers: dict[int, int]) -> None:
    ordered = exact_first({key: key / 40 for key in tiers}, tiers)
    assert reranked(ordered, {}) == ordered


def test_equals_stay_as_they_were() -> None:
    ordered = [Ranked(key, 0.5, 2) for key in (5, 3, 9)]
    assert [one.chunk_key for one in reranked(ordered, {5: 1.0, 3: 1.0, 9: 1.0})] == [5, 3, 9]


def test_a_threshold_drops_what_is_below_it_and_what_has_no_score() -> None:
    ordered = [Ranked(1, 0.5, 0, 0.2), Ranked(2, 0.5, 2, 0.7), Ranked(3, 0.5, 2, 0.5), Ranked(4, 0.5, 2)]
    assert [one.chunk_key for one in at_least(ordered, 0.5)] == [2, 3]
    assert at_least(ordered, 0.0) == ordered


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ProviderTimeout(provider="p", seconds="1"), "timeout"),
        (ProviderUnavailable(provider="p", reason="x", status=502), "http-502"),
        (ProviderUnavailable(provider="p", reason="x"), "unreachable"),
        (RateLimited(provider="p", status=429), "http-429"),
        (LimitReached(provider="p"), "limit-reached"),
        (ProviderRefused(provider="p", status=401, reason="x"), "http-401"),
        (ProviderPaused(provider="p", failures=5, seconds="30"), "paused"),
        (ProviderAnswerInvalid(provider="p", reason="x", detail="bad-index"), "bad-index"),
        (ProviderAnswerInvalid(provider="p", reason="x"), "malformed"),
    ],
)
def test_every_failure_has_a_name(error: ProviderError, detail: str) -> None:
    assert failure_detail(error) == detail
