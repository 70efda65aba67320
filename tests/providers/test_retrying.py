"""Attempts within a deadline, with a clock that moves only when somebody waits."""

from __future__ import annotations

import email.utils
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import ProviderUnavailable
from wenyuan.providers.retrying import Failure, Success, Surroundings, call_with_retries, seconds_of_retry_after

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()


@given(
    failures=st.lists(st.tuples(st.floats(0, 20), st.none() | st.floats(0, 30)), max_size=10),
    timeout=st.floats(0.01, 100),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_no_attempt_begins_after_the_deadline(
    failures: list[tuple[float, float | None]], timeout: float, chance: float
) -> None:
    """Each failure takes some seconds and names others to wait; whatever they are, the deadline stands."""
    now = [0.0]
    begun: list[tuple[float, float]] = []

    def sleep(seconds: float) -> None:
        assert seconds >= 0
        now[0] += seconds

    def attempt(left: float) -> Success[str] | Failure:
        begun.append((now[0], left))
        if len(begun) > len(failures):
            return Success("done")
        took, retry_after = failures[len(begun) - 1]
        now[0] += min(took, left)
        return Failure(ProviderUnavailable(provider="p", reason=str(len(begun))), retry_after)

    surroundings = Surroundings(lambda: now[0], lambda: now[0], sleep, lambda: chance)
    try:
        assert call_with_retries(attempt, timeout, surroundings) == "done"
        assert len(begun) == len(failures) + 1
    except ProviderUnavailable as error:
        # What is raised is the last failure, not the first.
        assert error.details["reason"] == str(len(begun))  # noqa: PT017
    assert len(begun) <= 6
    assert all(start < timeout and left <= max(timeout - start, 0.001) for start, left in begun)


@given(st.integers(0, 10**6))
def test_seconds_and_dates_are_read(seconds: int) -> None:
    date = email.utils.formatdate(NOW + seconds, usegmt=True)
    assert seconds_of_retry_after(f" {seconds} ", lambda: NOW) == seconds
    assert seconds_of_retry_after(date, lambda: NOW) == seconds


def test_a_date_that_has_passed_means_now() -> None:
    assert seconds_of_retry_after("Fri, 02 Jan 2026 03:04:04 GMT", lambda: NOW) == 0


@pytest.mark.parametrize("value", [None, "", "soon", "-1", "1e9", "٣", "1.2.3", ".", "Fri, 99 Jan 2026 03:04:04 GMT"])
def test_what_is_neither_says_nothing(value: str | None) -> None:
    assert seconds_of_retry_after(value, lambda: NOW) is None


@given(st.text(max_size=40))
def test_any_header_is_read_without_failing(value: str) -> None:
    seconds = seconds_of_retry_after(value, lambda: NOW)
    assert seconds is None or seconds >= 0
