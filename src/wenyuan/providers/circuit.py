"""A provider that keeps failing is left alone for a while, so that nobody waits for it in vain ("circuit breaker").

Closed, calls go through. After some failures in a row it opens: calls fail at once. After a pause a single call is
let through to see (half-open): if it succeeds the circuit closes, if not the pause begins anew. It is kept in this
process. See M. Nygard, "Release It!", chapter 5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Literal

from wenyuan.errors import ProviderError, ProviderPaused, ProviderUnavailable

CircuitState = Literal["closed", "open", "half-open"]

FAILURES = 5
"""So many failures in a row open the circuit."""
PAUSE_SECONDS = 30.0


class CircuitBreaker:
    """Guards the calls to one provider, which `name` tells in errors; threads share it."""

    def __init__(self, name: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._monotonic = monotonic
        self._lock = Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> CircuitState:
        with self._lock:
            if self._opened_at is None:
                return "closed"
            return "open" if self._left() > 0 else "half-open"

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make one call within; a failure that may pass counts, a refusal says that the provider is there.

        Raises `ProviderPaused` at once where the circuit is open, or another call is finding out whether it still
        has to be.
        """
        self._enter()
        try:
            yield
        except ProviderUnavailable:
            self._count_failure()
            raise
        except ProviderError:
            self._close()
            raise
        except BaseException:
            # A key that is not there, or that nobody waits any more: this says nothing of the provider.
            self._let_go()
            raise
        self._close()

    def _left(self) -> float:
        assert self._opened_at is not None
        return self._opened_at + PAUSE_SECONDS - self._monotonic()

    def _enter(self) -> None:
        with self._lock:
            if self._opened_at is None:
                return
            left = self._left()
            if left <= 0 and not self._probing:
                self._probing = True
                return
            seconds = max(round(left, 1), 0.1)
            raise ProviderPaused(
                provider=self._name, failures=self._failures, seconds=f"{seconds:g}", retry_after=seconds
            )

    def _count_failure(self) -> None:
        with self._lock:
            self._failures += 1
            self._probing = False
            if self._failures >= FAILURES:
                self._opened_at = self._monotonic()

    def _let_go(self) -> None:
        with self._lock:
            self._probing = False

    def _close(self) -> None:
        with self._lock:
            self._failures, self._opened_at, self._probing = 0, None, False
