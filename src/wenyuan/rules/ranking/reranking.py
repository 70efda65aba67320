"""What a reranking model's scores do to an order, and how its failures are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wenyuan.errors import (
    ProviderAnswerInvalid,
    ProviderError,
    ProviderPaused,
    ProviderRefused,
    ProviderTimeout,
    RateLimited,
)
from wenyuan.rules.ranking.selection import Ranked


def reranked(ordered: Sequence[Ranked], scores: Mapping[int, float]) -> list[Ranked]:
    """Order candidates by their scores, by chunk key, within each tier of exactness.

    What has no score follows what has one, as it was; equals stay as they were.
    """
    scored = [replace(one, rerank_score=scores.get(one.chunk_key)) for one in ordered]
    return sorted(scored, key=lambda one: (one.tier, one.rerank_score is None, -(one.rerank_score or 0.0)))


def at_least(ordered: Sequence[Ranked], threshold: float) -> list[Ranked]:
    """Those of a reranked order that the model scored at least so high; 0 keeps all."""
    if threshold == 0:
        return list(ordered)
    return [one for one in ordered if one.rerank_score is not None and one.rerank_score >= threshold]


def failure_detail(error: ProviderError) -> str:
    """A stable name for how a call failed: `http-STATUS`, `timeout`, `paused`, `unreachable`, or what is wrong with the
    answer: `empty`, `wrong-length`, `bad-index`, `not-a-number`, `malformed`.
    """
    if isinstance(error, ProviderTimeout):
        return "timeout"
    if isinstance(error, ProviderAnswerInvalid):
        return str(error.details.get("detail", "malformed"))
    if isinstance(error, ProviderPaused):
        return "paused"
    status = error.details.get("status")
    if isinstance(error, RateLimited) and status is None:
        return "limit-reached"
    if status is not None or isinstance(error, ProviderRefused):
        return f"http-{status}"
    return "unreachable"
