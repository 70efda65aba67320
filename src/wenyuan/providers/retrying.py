"""Calls that may fail for a while: attempts within one deadline.

Waits grow exponentially and are spread at random over their whole length, so that workers that
failed together do not return together ("full jitter"). A provider's Retry-After (RFC 9110, section
10.2.3) is kept where it fits into the deadline; otherwise the caller is told of it.
"""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from wenyuan.errors import ProviderUnavailable

Answer = TypeVar("Answer")

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 8.0
_ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where time and chance come from: seconds that only grow, seconds since 1970, a number in [0, 1)."""

    monotonic: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed and may be repeated, `attempts` in all; `error` is what to raise if it is not."""

    error: ProviderUnavailable
    retry_after: float | None = None
    attempts: int = _ATTEMPTS


@dataclass(frozen=True, slots=True)
class Success(Generic[Answer]):
    answer: Answer


def call_with_retries(
    attempt: Callable[[float], Success[Answer] | Failure],
    timeout: float,
    surroundings: Surroundings,
    *,
    waits: bool = True,
) -> Answer:
    """Call `attempt` with the seconds that are left until it succeeds; all of it takes at most `timeout`.

    Raises the last failure's error once no further attempt fits, or after as many as it allows; unless it
    `waits`, before the first attempt that would have to be waited for.
    """
    deadline = surroundings.monotonic() + timeout
    attempts = 0
    while True:
        outcome = attempt(max(deadline - surroundings.monotonic(), 0.001))
        if isinstance(outcome, Success):
            return outcome.answer
        attempts += 1
        wait = outcome.retry_after
        if wait is None:
            longest = min(_FIRST_WAIT_SECONDS * 2 ** (attempts - 1), _LONGEST_WAIT_SECONDS)
            wait = longest * surroundings.chance()
        if attempts >= outcome.attempts or (wait and not waits) or surroundings.monotonic() + wait >= deadline:
            raise outcome.error
        surroundings.sleep(wait)


def seconds_of_retry_after(value: str | None, wall_clock: Callable[[], float]) -> float | None:
    """Read a Retry-After header: a number of seconds, or a date; None where there is nothing to read."""
    if value is None:
        return None
    value = value.strip()
    # RFC 9110 knows whole seconds; some providers send fractions.
    if value.replace(".", "", 1).isdecimal() and value.isascii():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(moment - wall_clock(), 0.0)
