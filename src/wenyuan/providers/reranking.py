"""Reranking over HTTP, in the shapes that it is served in.

That of Cohere and Jina, also spoken by SiliconFlow, Zhipu, vLLM, llama.cpp and Infinity; those of Voyage, of Text
Embeddings Inference (TEI) and of DashScope. https://docs.cohere.com/reference/rerank, https://api.jina.ai/redoc,
https://docs.voyageai.com/reference/reranker-api, https://huggingface.github.io/text-embeddings-inference,
https://help.aliyun.com/zh/model-studio/text-rerank-api
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wenyuan.errors import ConfigurationInvalid, ProviderAnswerInvalid
from wenyuan.ports import Reranker
from wenyuan.providers.http_service import Call, HttpService
from wenyuan.providers.replies import LARGEST_ERROR_BYTES, address_fault
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import JsonObject, RerankerProfile

# Some send the passages back with the scores; JSON may write a character in twelve bytes.
_BYTES_PER_CHARACTER = 12
_BYTES_PER_SCORE = 1024

Request = Callable[[ModelSettings, str, Sequence[str]], JsonObject]


@dataclass(frozen=True, slots=True)
class _Shape:
    """How one protocol words a request, and where the answer, once read as JSON, has its list of scores."""

    path: str
    request: Request
    results: tuple[str, ...]
    score: str


def _plain(more: Mapping[str, Any], count: str = "top_n") -> Request:
    def request(settings: ModelSettings, question: str, passages: Sequence[str]) -> JsonObject:
        asked = {"model": settings.model, "query": question, "documents": list(passages), count: len(passages)}
        return {**asked, **more, **settings.options}

    return request


def _tei(settings: ModelSettings, question: str, passages: Sequence[str]) -> JsonObject:
    return {"query": question, "texts": list(passages), "truncate": True, **settings.options}


def _dashscope(settings: ModelSettings, question: str, passages: Sequence[str]) -> JsonObject:
    return {
        "model": settings.model,
        "input": {"query": question, "documents": list(passages)},
        "parameters": {"top_n": len(passages), "return_documents": False, **settings.options},
    }


_COHERE = _Shape("/rerank", _plain({}), ("results",), "relevance_score")
_SHAPES: Mapping[str, _Shape] = {
    "openai-compatible": _COHERE,
    "cohere": _COHERE,
    "jina": _Shape("/rerank", _plain({"return_documents": False}), ("results",), "relevance_score"),
    "voyage": _Shape("/rerank", _plain({}, "top_k"), ("data",), "relevance_score"),
    "tei": _Shape("/rerank", _tei, (), "score"),
    "dashscope": _Shape("/text-rerank/text-rerank", _dashscope, ("output", "results"), "relevance_score"),
}


def create(settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Reranker:
    """Make the reranker that the settings describe; nothing is called yet. Raises `ConfigurationInvalid`."""
    del cache_directory, on_progress
    return RerankingService(settings)


class RerankingService:
    """Reranks with a model behind an API; safe to share between threads.

    Connections are kept open between calls. The key is resolved anew at every call. Splitting passages into
    batches is the caller's part.
    """

    def __init__(self, settings: ModelSettings, surroundings: Surroundings | None = None) -> None:
        self._shape = _SHAPES[settings.protocol]
        fault = address_fault(settings.base_url)
        if fault or not (settings.model or settings.protocol == "tei"):
            wrong, reason = ("base_url", fault) if fault else ("model", "the provider's name of the model is missing")
            raise ConfigurationInvalid(setting=f"models.{settings.name}.{wrong}", source="the settings", reason=reason)
        self._settings = settings
        self._url = settings.base_url.rstrip("/") + self._shape.path
        self._service = HttpService(
            settings.name, settings.base_url, settings.key, surroundings, allow_link_local=settings.link_local
        )

    @property
    def profile(self) -> RerankerProfile:
        settings = self._settings
        return RerankerProfile(
            name=settings.name,
            provider=settings.provider,
            protocol=settings.protocol,
            endpoint=self._url,
            model=settings.model,
            max_passages=settings.max_batch_texts,
            max_characters=settings.max_batch_characters,
        )

    def rerank(self, question: str, passages: Sequence[str], timeout: float) -> Sequence[float]:
        """Return one finite score per passage, in their order, higher is better.

        Raises `KeyMissing`, `ProviderRefused`, `ProviderAnswerInvalid`, and, worth trying again later,
        `ProviderTimeout`, `RateLimited` and `ProviderUnavailable`.
        """
        if not passages:
            return ()
        call = Call(self._url, partial(self._shape.request, self._settings, question, passages))
        characters = sum(map(len, passages))
        limit = LARGEST_ERROR_BYTES + _BYTES_PER_CHARACTER * characters + _BYTES_PER_SCORE * len(passages)
        answer = self._service.ask(call, timeout, limit)
        return _Answer(self._settings.name, self._shape).scores(answer, len(passages))

    def close(self) -> None:
        """Close the connections that are kept; the next call opens new ones."""
        self._service.close()


@dataclass(frozen=True, slots=True)
class _Answer:
    """Reads what a service answered, believing nothing of it."""

    provider: str
    shape: _Shape

    def scores(self, body: bytes, count: int) -> tuple[float, ...]:
        items = self._items(body)
        if not items:
            raise self._invalid("it holds no scores", "empty")
        if len(items) != count:
            raise self._invalid(f"{len(items)} scores for {count} passages", "wrong-length")
        scores: dict[int, float] = {}
        for item in items:
            index = item.get("index") if isinstance(item, dict) else None
            if type(index) is not int or not 0 <= index < count or index in scores:
                raise self._invalid("its indexes do not number the passages", "bad-index")
            scores[index] = self._score(item.get(self.shape.score))
        return tuple(scores[index] for index in range(count))

    def _items(self, body: bytes) -> list[Any]:
        try:
            value: Any = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        for name in self.shape.results:
            # An empty list says the same wherever it stands.
            if value == []:
                break
            value = value.get(name) if isinstance(value, dict) else None
        if not isinstance(value, list):
            raise self._invalid("it has no list of scores", "malformed")
        return value

    def _score(self, value: object) -> float:
        try:
            score = float(value) if type(value) in (int, float) else math.nan  # type: ignore[arg-type]
        except OverflowError:
            score = math.inf
        if not math.isfinite(score):
            raise self._invalid("a score is not a finite number", "not-a-number")
        return score

    def _invalid(self, reason: str, detail: str) -> ProviderAnswerInvalid:
        return ProviderAnswerInvalid(provider=self.provider, reason=reason, detail=detail)
