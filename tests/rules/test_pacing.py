"""Token buckets: whatever is asked for and whenever, no minute sees more than the limit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.rules.pacing import (
    UNLIMITED,
    Bucket,
    Pace,
    backoff_seconds,
    bucket_of_requests,
    bucket_of_tokens,
    estimated_tokens,
    largest_batch,
)

_PAUSES = st.lists(st.sampled_from([0.0, 0.001, 0.3, 1.0, 7.0, 61.0]) | st.floats(0, 90), max_size=60)


def _taken(bucket: Bucket, amounts: Sequence[float], pauses: Sequence[float]) -> list[tuple[float, float]]:
    """Someone who always takes as soon as may be, then pauses: (when, how much)."""
    now, taken, since, calls = 0.0, 0.0, 0.0, []
    for amount, pause in zip(amounts, pauses, strict=False):
        taken = bucket.after(taken, now - since)
        since = now
        wait = bucket.wait(taken, amount)
        now += wait
        taken, since = bucket.after(taken, wait) + amount, now
        calls.append((now, amount))
        now += pause
    return calls


def _busiest_minute(calls: Sequence[tuple[float, float]]) -> float:
    return max(
        (sum(amount for at, amount in calls if begin <= at < begin + 60 - 1e-6) for begin, _ in calls), default=0.0
    )


@given(st.integers(1, 100), _PAUSES)
def test_no_minute_has_more_requests_than_its_limit(limit: int, pauses: list[float]) -> None:
    greedy = pauses + [0.0] * (2 * limit)
    assert _busiest_minute(_taken(bucket_of_requests(limit), [1] * len(greedy), greedy)) <= limit


@given(st.integers(100, 1_000_000), st.lists(st.floats(0, 1), min_size=1, max_size=60), _PAUSES)
def test_no_minute_has_more_tokens_than_its_limit(limit: int, shares: list[float], pauses: list[float]) -> None:
    bucket = bucket_of_tokens(limit)
    amounts = [share * bucket.capacity for share in shares] * 2
    greedy = pauses + [0.0] * len(amounts)
    assert _busiest_minute(_taken(bucket, amounts, greedy)) <= limit * (1 + 1e-9)


@pytest.mark.parametrize("limit", [1, 7, 60, 3000])
def test_a_limit_is_made_use_of(limit: int) -> None:
    calls = _taken(bucket_of_requests(limit), [1] * 5 * limit, [0.0] * 5 * limit)
    assert calls[-1][0] < 5 * 60 * 1.12


def test_more_than_a_bucket_holds_waits_for_a_full_one_and_is_paid_off() -> None:
    bucket = bucket_of_tokens(600)
    assert bucket.wait(0, 10_000) == 0
    assert bucket.wait(30, 10_000) == pytest.approx(30 / 9)
    assert bucket.wait(10_000, 1) == pytest.approx((10_000 + 1 - 60) / 9)


def test_no_limit_lets_everything_through() -> None:
    assert bucket_of_requests(0) == bucket_of_tokens(0) == UNLIMITED
    taken = 0.0
    for _ in range(1000):
        assert UNLIMITED.wait(taken, 1e9) == 0
        taken = UNLIMITED.after(taken, 0) + 1e9
    assert not Pace().is_limited
    assert Pace(at_once=1).is_limited


def test_time_that_ran_backwards_gives_nothing_back() -> None:
    assert bucket_of_requests(60).after(5, -3600) == 5


@given(st.lists(st.text(), max_size=8), st.integers(10, 1_000_000))
def test_a_batch_of_the_largest_size_fits_into_the_bucket(texts: list[str], limit: int) -> None:
    characters = "".join(texts)[: largest_batch(limit)]
    assert estimated_tokens([characters]) <= bucket_of_tokens(limit).capacity + 1


def test_tokens_are_estimated_from_bytes() -> None:
    assert estimated_tokens(["水文站", "abc"]) == 4
    assert estimated_tokens([]) == 0
    assert estimated_tokens(["\ud83d"]) == 1


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_a_backoff_doubles_up_to_a_bound(failures: int, chance: float) -> None:
    seconds = backoff_seconds(failures, chance, 600)
    assert 0.5 * min(2.0 ** (failures - 1 if failures < 40 else 40), 600) <= seconds <= 900
