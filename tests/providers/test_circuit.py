"""A provider that keeps failing is left alone for a while; and no more calls are under way than may be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from wenyuan.errors import (
    KeyMissing,
    LimitReached,
    ProviderError,
    ProviderPaused,
    ProviderRefused,
    ProviderUnavailable,
    WenyuanError,
)
from wenyuan.providers.circuit import FAILURES, PAUSE_SECONDS, CircuitBreaker
from wenyuan.providers.guarding import Guard, GuardedGenerator, GuardedReranker
from wenyuan.types import (
    GenerationEnd,
    GenerationEvent,
    GenerationRequest,
    GeneratorProfile,
    Message,
    RerankerProfile,
    TextPiece,
    TokenUsage,
)

DOWN = ProviderUnavailable(provider="p", reason="it is down")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("p", clock)


def state_of(breaker: CircuitBreaker) -> str:
    return breaker.state


def fail(breaker: CircuitBreaker, error: WenyuanError = DOWN, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(type(error)), breaker.call():
            raise error


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.call():
        pass


def test_failures_in_a_row_open_it_and_calls_fail_at_once(breaker: CircuitBreaker) -> None:
    fail(breaker, times=FAILURES - 1)
    assert state_of(breaker) == "closed"
    fail(breaker)
    assert state_of(breaker) == "open"
    with pytest.raises(ProviderPaused, match=f"p failed {FAILURES} times") as caught, breaker.call():
        pytest.fail("the provider was called")
    assert caught.value.retry_after == PAUSE_SECONDS


def test_a_success_between_begins_the_count_anew(breaker: CircuitBreaker) -> None:
    for _ in range(3):
        fail(breaker, times=FAILURES - 1)
        succeed(breaker)
    assert state_of(breaker) == "closed"


@pytest.mark.parametrize("error", [ProviderRefused(provider="p", status=401, reason="no"), ProviderError(reason="x")])
def test_a_refusal_says_that_the_provider_is_there(breaker: CircuitBreaker, error: ProviderError) -> None:
    fail(breaker, times=FAILURES - 1)
    fail(breaker, error)
    fail(breaker, times=FAILURES - 1)
    assert state_of(breaker) == "closed"


def test_a_key_that_is_missing_says_nothing_of_the_provider(breaker: CircuitBreaker) -> None:
    fail(breaker, times=FAILURES - 1)
    fail(breaker, KeyMissing(provider="p", reference="env:K"))
    fail(breaker)
    assert state_of(breaker) == "open"


def test_after_a_pause_one_call_finds_out(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, times=FAILURES)
    clock.now += PAUSE_SECONDS
    assert state_of(breaker) == "half-open"
    with breaker.call(), pytest.raises(ProviderPaused), breaker.call():
        pytest.fail("two at once")
    assert state_of(breaker) == "closed"
    succeed(breaker)


def test_where_that_call_fails_the_pause_begins_anew(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, times=FAILURES)
    clock.now += PAUSE_SECONDS
    fail(breaker)
    assert state_of(breaker) == "open"
    clock.now += PAUSE_SECONDS
    succeed(breaker)
    assert state_of(breaker) == "closed"


def test_where_nobody_waits_for_that_call_another_one_finds_out(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, times=FAILURES)
    clock.now += PAUSE_SECONDS
    with pytest.raises(KeyboardInterrupt), breaker.call():
        raise KeyboardInterrupt
    assert state_of(breaker) == "half-open"
    succeed(breaker)
    assert state_of(breaker) == "closed"


class Words:
    """Writes two pieces, and fails after the first where it is to."""

    profile = GeneratorProfile("w", "p", "x", "here", "m", 10, 10, can_call_tools=False, can_follow_schema=False)

    def __init__(self) -> None:
        self.fails = False
        self.timeouts: list[float] = []

    def generate(
        self, request: GenerationRequest, timeout: float, stopped: Callable[[], bool] | None = None
    ) -> Iterator[GenerationEvent]:
        del request, stopped
        self.timeouts.append(timeout)
        yield TextPiece("one")
        if self.fails:
            raise DOWN
        yield GenerationEnd("stop", "m", TokenUsage())


HELLO = GenerationRequest((Message("user", "hello"),))


def test_an_answer_that_breaks_off_counts_and_one_that_is_closed_does_not(breaker: CircuitBreaker) -> None:
    words = Words()
    guarded = GuardedGenerator(words, Guard("w", breaker, 0))
    for _ in range(2 * FAILURES):
        events = guarded.generate(HELLO, 5.0)
        next(events)
        events.close()  # type: ignore[attr-defined]  # an iterator that is made by a generator
    assert state_of(breaker) == "closed"
    words.fails = True
    for _ in range(FAILURES):
        with pytest.raises(ProviderUnavailable):
            list(guarded.generate(HELLO, 5.0))
    assert state_of(breaker) == "open"
    called = len(words.timeouts)
    with pytest.raises(ProviderPaused):
        list(guarded.generate(HELLO, 5.0))
    assert len(words.timeouts) == called


def test_a_place_is_kept_while_an_answer_is_written_and_free_afterwards(breaker: CircuitBreaker) -> None:
    guarded = GuardedGenerator(Words(), Guard("w", breaker, 1))
    events = guarded.generate(HELLO, 5.0)
    next(events)
    with pytest.raises(LimitReached):
        list(guarded.generate(HELLO, 0.01))
    events.close()  # type: ignore[attr-defined]  # an iterator that is made by a generator
    assert len(list(guarded.generate(HELLO, 5.0))) == 2
    assert state_of(breaker) == "closed"


class Judge:
    """Counts how many calls are under way at once."""

    profile = RerankerProfile("j", "p", "x", "here", "m", 10, 1000)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self.most = 0
        self.both = threading.Barrier(2, timeout=10)

    def rerank(self, question: str, passages: Sequence[str], timeout: float) -> Sequence[float]:
        del question, timeout
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
        self.both.wait()
        with self._lock:
            self._inside -= 1
        return [0.0] * len(passages)


def test_as_many_calls_are_under_way_as_may_be(breaker: CircuitBreaker) -> None:
    judge = Judge()
    guarded = GuardedReranker(judge, Guard("j", breaker, 2))
    threads = [threading.Thread(target=guarded.rerank, args=("q", ["a"], 30.0)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert judge.most == 2
