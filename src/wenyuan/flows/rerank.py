"""The best candidates are put in order by a model that reads each together with the question, if there is one.

Nothing depends on it: whatever fails, the order stays that of retrieval, no score is made up, and the record says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wenyuan.errors import ConfigurationError, ProviderError, ProviderTimeout, WenyuanError
from wenyuan.ports import Reranker
from wenyuan.rules.embedding_input import batches, embedding_input
from wenyuan.rules.observer import Observer
from wenyuan.rules.ranking.reranking import at_least, failure_detail, reranked
from wenyuan.rules.ranking.selection import Ranked
from wenyuan.types import Passage, RerankFinish, RerankRecord

# More candidates are weighed than are wanted; see `flows/weigh.py`.
_SPARE_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Reranking:
    """Which model reranks, how many candidates, and what is made of its scores; an empty `model` is none.

    Of those reranked, `top_n` at most become hits, and none that is scored below `threshold`; 0 is no bound.
    """

    model: str = ""
    reranker_for: Callable[[str], Reranker] | None = None
    candidates: int = 30
    seconds: float = 4.0
    top_n: int = 0
    threshold: float = 0.0

    def wanted(self, top_k: int) -> int:
        """For how many hits candidates are looked for, so that there are enough to rerank."""
        return max(top_k, self.candidates - _SPARE_CANDIDATES) if self.model else top_k


@dataclass(frozen=True, slots=True)
class Reranked:
    """An order, and what became of reranking it."""

    ordered: Sequence[Ranked]
    record: RerankRecord
    most: int | None = None
    """How many hits there may be at most, where reranking sets that."""


def rerank(
    reranking: Reranking,
    observe: Observer,
    question: str,
    passages: Mapping[int, Passage],
    ordered: Sequence[Ranked],
    not_wanted: str,
) -> Reranked:
    """Reorder the first candidates within their tiers of exactness, by a model's scores.

    `not_wanted` says why this question is not to be reranked, if so.
    """
    reranker_for = reranking.reranker_for
    if not reranking.model or reranker_for is None:
        return Reranked(ordered, _record(reranking, "fallback-no-config"))
    if not_wanted or not ordered:
        return Reranked(ordered, _record(reranking, "fallback-disabled", not_wanted or "no-candidates"))
    began = observe.elapsed_ms()
    endpoint = ""
    with observe.stage("rerank") as stage:
        try:
            reranker = reranker_for(reranking.model)
            endpoint = reranker.profile.endpoint
            stage.details.update(
                provider=reranker.profile.provider,
                protocol=reranker.profile.protocol,
                model=reranker.profile.model,
                endpoint=endpoint,
            )
            scores = _scores(reranking, reranker, observe, question, passages, ordered)
            error: WenyuanError | None = None
        except (ProviderError, ConfigurationError) as failure:
            error = failure
        stage.count = 0 if error is not None else len(scores)
    milliseconds = round(observe.elapsed_ms() - began, 1)
    if error is not None:
        return Reranked(ordered, _failed(reranking, observe, error, endpoint, milliseconds))
    record = RerankRecord(
        applied=True,
        degraded=False,
        finish_reason="applied",
        model=reranking.model,
        endpoint=endpoint,
        parameters=_parameters(reranking),
        ms=milliseconds,
        reranked=len(scores),
        best_score=max(scores.values(), default=None),
    )
    return Reranked(at_least(reranked(ordered, scores), reranking.threshold), record, reranking.top_n or None)


def _scores(
    reranking: Reranking,
    reranker: Reranker,
    observe: Observer,
    question: str,
    passages: Mapping[int, Passage],
    ordered: Sequence[Ranked],
) -> dict[int, float]:
    """Scores by chunk key. A passage without words is not sent: some services pass over it, and count wrong then."""
    texts = {one.chunk_key: _text(passages[one.chunk_key]) for one in ordered if one.chunk_key in passages}
    keys = [key for key, text in texts.items() if text.strip()][: reranking.candidates]
    profile = reranker.profile
    until = observe.elapsed_ms() + reranking.seconds * 1000
    scores: dict[int, float] = {}
    for batch in batches(((key, len(texts[key])) for key in keys), profile.max_passages, profile.max_characters):
        left = (until - observe.elapsed_ms()) / 1000
        if left <= 0:
            raise ProviderTimeout(provider=profile.name, seconds=f"{reranking.seconds:g}")
        given = reranker.rerank(question, [texts[key] for key in batch], left)
        scores.update(zip(batch, given, strict=True))
    return scores


def _text(passage: Passage) -> str:
    chunk = passage.chunk
    return embedding_input(chunk.heading_path, chunk.context, chunk.text) if chunk.text.strip() else ""


def _failed(
    reranking: Reranking, observe: Observer, error: WenyuanError, endpoint: str, milliseconds: float
) -> RerankRecord:
    reason: RerankFinish = "fallback-missing-provider-or-model"
    detail = error.code
    if isinstance(error, ProviderError):
        reason, detail = "fallback-provider-call-failed", failure_detail(error)
    observe.degrade(f"rerank: {reason}", error.message)
    return _record(reranking, reason, detail, degraded=True, endpoint=endpoint, ms=milliseconds)


def _record(
    reranking: Reranking,
    reason: RerankFinish,
    detail: str = "",
    *,
    degraded: bool = False,
    endpoint: str = "",
    ms: float = 0.0,
) -> RerankRecord:
    return RerankRecord(
        applied=False,
        degraded=degraded,
        finish_reason=reason,
        detail=detail,
        model=reranking.model,
        endpoint=endpoint,
        parameters=_parameters(reranking) if reranking.model else {},
        ms=ms,
    )


def _parameters(reranking: Reranking) -> dict[str, float]:
    return {
        "candidates": reranking.candidates,
        "top_n": reranking.top_n,
        "score_threshold": reranking.threshold,
        "seconds": reranking.seconds,
    }
