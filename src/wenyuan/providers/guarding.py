"""Models as they are called while somebody waits: no more calls at once than allowed, and none to one that is down."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore

from wenyuan.errors import LimitReached
from wenyuan.ports import Embedder, Generator, Reranker, Vectors
from wenyuan.providers.circuit import CircuitBreaker
from wenyuan.providers.stopping import GLANCE_SECONDS, Stopped, check, never
from wenyuan.types import (
    GenerationEvent,
    GenerationRequest,
    GeneratorProfile,
    ModelIdentity,
    RerankerProfile,
    Side,
)


class Guard:
    """What stands before one model: `concurrency` calls may be under way at once (0 for any number)."""

    def __init__(self, name: str, breaker: CircuitBreaker, concurrency: int) -> None:
        self._name = name
        self._breaker = breaker
        self._places = BoundedSemaphore(concurrency) if concurrency else None

    @contextmanager
    def call(self, timeout: float, stopped: Stopped = never) -> Iterator[float]:
        """Make one call within, and say how many of the seconds are left for it.

        Raises `LimitReached` where no place became free in time, `ProviderPaused`, and `CallStopped`.
        """
        began = time.monotonic()
        if self._places is not None and not _has_place(self._places, began + timeout, stopped):
            raise LimitReached(provider=self._name)
        try:
            with self._breaker.call():
                yield max(timeout - (time.monotonic() - began), 0.0)
        finally:
            if self._places is not None:
                self._places.release()


def _has_place(places: BoundedSemaphore, deadline: float, stopped: Stopped) -> bool:
    """Wait for a place until the deadline, on the monotonic clock; whether there was one."""
    while True:
        left = max(deadline - time.monotonic(), 0.0)
        if places.acquire(timeout=min(left, GLANCE_SECONDS)):
            return True
        check(stopped)
        if left <= GLANCE_SECONDS:
            return False


class GuardedEmbedder:
    """Embeds with another embedder. Raises what it does, and what `Guard.call` does."""

    def __init__(self, embedder: Embedder, guard: Guard) -> None:
        self._embedder = embedder
        self._guard = guard

    @property
    def identity(self) -> ModelIdentity:
        return self._embedder.identity

    @property
    def similarity_floor(self) -> float | None:
        return self._embedder.similarity_floor

    @property
    def embeds_sentences(self) -> bool:
        return self._embedder.embeds_sentences

    @property
    def max_batch_texts(self) -> int:
        return self._embedder.max_batch_texts

    @property
    def max_batch_characters(self) -> int:
        return self._embedder.max_batch_characters

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> Vectors:
        with self._guard.call(timeout) as left:
            return self._embedder.embed(texts, side, left)


class GuardedReranker:
    """Reranks with another reranker. Raises what it does, and what `Guard.call` does."""

    def __init__(self, reranker: Reranker, guard: Guard) -> None:
        self._reranker = reranker
        self._guard = guard

    @property
    def profile(self) -> RerankerProfile:
        return self._reranker.profile

    def rerank(self, question: str, passages: Sequence[str], timeout: float) -> Sequence[float]:
        with self._guard.call(timeout) as left:
            return self._reranker.rerank(question, passages, left)


class GuardedGenerator:
    """Writes with another generator. Raises what it does, and what `Guard.call` does."""

    def __init__(self, generator: Generator, guard: Guard) -> None:
        self._generator = generator
        self._guard = guard

    @property
    def profile(self) -> GeneratorProfile:
        return self._generator.profile

    def generate(
        self, request: GenerationRequest, timeout: float, stopped: Stopped | None = None
    ) -> Iterator[GenerationEvent]:
        with self._guard.call(timeout, stopped or never) as left:
            yield from self._generator.generate(request, left, stopped)
