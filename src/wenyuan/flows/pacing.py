"""Calling a model no more often than it may be called, however many workers there are.

What cannot be embedded now raises an error at once, so that the worker does other work meanwhile, and
a model that asks to be left alone is left alone by all.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wenyuan.errors import LimitReached, ProviderUnavailable, RateLimited
from wenyuan.ports import Embedder, Vectors
from wenyuan.rules.pacing import Pace, backoff_seconds, estimated_tokens, largest_batch
from wenyuan.store import limits, queue
from wenyuan.store.database import Database
from wenyuan.types import ModelIdentity, Side

_LONGEST_BACKOFF_SECONDS = 600.0
# A provider may ask for any delay; a person should still see the work go on some day.
_LONGEST_DELAY_SECONDS = 86_400.0
_LEASE_MARGIN_SECONDS = 15.0
# A job that must wait no longer is not worth letting go of, where there is no other.
_SHORT_WAIT_MS = 1_000


@dataclass(frozen=True, slots=True)
class Pacing:
    """What keeping a pace needs: where it is kept for all workers, and which of them this is."""

    database: Database
    worker: str
    new_id: Callable[[str], str]
    randomness: random.Random


class PacedEmbedder:
    """Embeds with another embedder, at its pace."""

    def __init__(self, embedder: Embedder, name: str, pace: Pace, tokens_per_minute: int, pacing: Pacing) -> None:
        self._embedder = embedder
        self._name = name
        self._pace = pace
        self._pacing = pacing
        self._largest = largest_batch(tokens_per_minute) if tokens_per_minute else embedder.max_batch_characters

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
        return min(self._largest, self._embedder.max_batch_characters)

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> Vectors:
        """Embed texts now, or raise `LimitReached`, `RateLimited` or `ProviderUnavailable` at once.

        Their `retry_after` says when the model may be called again.
        """
        call_id = self._pacing.new_id("call")
        began_at = self._begin(call_id, texts, timeout)
        try:
            vectors = self._embedder.embed(texts, side, timeout)
        except ProviderUnavailable as error:
            self._fail(call_id, began_at, error)
            raise
        except BaseException:
            self._end(call_id)
            raise
        self._end(call_id)
        return vectors

    def _begin(self, call_id: str, texts: Sequence[str], timeout: float) -> int:
        """Enter the call where there are limits; without, nothing is written. Returns when it began."""
        closed, now = self._enter(call_id, texts, timeout)
        while closed is not None:
            if not self._is_worth_waiting_for(closed, now):
                raise _refusal(closed, now)
            time.sleep((closed.until - now) / 1000)
            closed, now = self._enter(call_id, texts, timeout)
        return now

    def _enter(self, call_id: str, texts: Sequence[str], timeout: float) -> tuple[limits.Closed | None, int]:
        database, worker = self._pacing.database, self._pacing.worker
        if not self._pace.is_limited:
            with database.read() as tx:
                return limits.closed(tx).get(self._name), tx.now
        problem = LimitReached(provider=self._name).problem("embedding")
        lease_ms = int((timeout + _LEASE_MARGIN_SECONDS) * 1000)
        tokens = estimated_tokens(texts)
        with database.write(durable=False) as tx:
            closed = limits.begin_call(tx, call_id, self._name, worker, self._pace, tokens, lease_ms, problem)
            return closed, tx.now

    def _is_worth_waiting_for(self, closed: limits.Closed, now: int) -> bool:
        if closed.until - now > _SHORT_WAIT_MS or closed.problem is None or closed.problem.code != LimitReached.code:
            return False
        with self._pacing.database.read() as tx:
            return queue.is_idle(tx)

    def _end(self, call_id: str) -> None:
        database = self._pacing.database
        with database.read() as tx:
            has_failed = limits.failures(tx, self._name) > 0
        if has_failed or self._pace.at_once:
            with database.write(durable=False) as tx:
                limits.end_call(tx, call_id, self._name)

    def _fail(self, call_id: str, began_at: int, error: ProviderUnavailable) -> None:
        """Tell all workers, and whoever catches the error, how long the model is left alone."""
        asked = error.retry_after
        chance = self._pacing.randomness.random()

        def delay_ms(failures: int) -> int:
            guessed = backoff_seconds(failures, chance, _LONGEST_BACKOFF_SECONDS)
            return int(1000 * min(guessed if asked is None else asked, _LONGEST_DELAY_SECONDS))

        is_told = asked is not None or isinstance(error, RateLimited)
        with self._pacing.database.write(durable=False) as tx:
            closed = limits.fail_call(
                tx, call_id, self._name, began_at, error.problem("embedding"), delay_ms, is_told=is_told
            )
            error.details |= {"gate": self._name, "retry_after": (closed.until - tx.now) / 1000}


def _refusal(closed: limits.Closed, now: int) -> ProviderUnavailable:
    details = {"provider": closed.model, "gate": closed.model, "retry_after": (closed.until - now) / 1000}
    match closed.problem.code if closed.problem is not None else "":
        case LimitReached.code:
            return LimitReached(**details)
        case RateLimited.code:
            return RateLimited(**details)
        case _:
            return ProviderUnavailable(**details, reason="it has just failed, and is left alone for a while")
