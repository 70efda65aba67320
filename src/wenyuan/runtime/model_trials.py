"""Whether a model answers, found out by calling it once for each type that it is there for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from wenyuan.errors import (
    ConfigurationError,
    DimensionMismatch,
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    WenyuanError,
)
from wenyuan.providers.replies import is_loopback
from wenyuan.providers.settings import ModelSettings, ModelType
from wenyuan.runtime.models import Models
from wenyuan.types import GenerationEnd, GenerationRequest, Message, Problem, TextPiece

Advice = Literal[
    "",
    "start-server",
    "check-network",
    "check-key",
    "set-key",
    "check-model",
    "check-address",
    "check-dimensions",
    "check-protocol",
    "wait",
    "raise-timeout",
    "install",
    "check-settings",
]
"""What is to be done where a model does not answer, as a name that never changes."""

TEST_SECONDS = 20.0
_TEXT, _OTHER = "When does the ferry leave?", "A parliament was elected in 1949."
_PASSAGES = ("The ferry leaves at nine.", _OTHER)
_SAID_CHARACTERS = 80
_TEST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class ModelTest:
    """That a model answers as one of its types, or why not and what to do.

    Times are in milliseconds. `dimensions` are those of an embedding model; `first_piece_ms`, `said` and the tokens
    are a language model's; `scores` a reranking model's, of a passage that answers a question and of one that does not.
    """

    name: str
    type: ModelType
    ok: bool
    protocol: str
    model: str
    endpoint: str
    milliseconds: float
    dimensions: int | None = None
    first_piece_ms: float | None = None
    said: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    scores: tuple[float, ...] = ()
    problem: Problem | None = None
    advice: Advice = ""


def try_model(models: Models, name: str, timeout: float) -> list[ModelTest]:
    """Call a model once for each of its types; what fails is told. Raises `ModelNotConfigured`."""
    settings = models.description(name)
    return [
        _tested(name, kind, settings, lambda kind=kind: _CALLS[kind](models, name, timeout))  # type: ignore[misc]
        for kind in settings.types
        if kind in _CALLS
    ]


def _tested(name: str, kind: ModelType, settings: ModelSettings, call: Callable[[], Mapping[str, Any]]) -> ModelTest:
    began = time.perf_counter()
    found: Mapping[str, Any] = {}
    error: WenyuanError | None = None
    try:
        found = call()
    except (ProviderError, ConfigurationError) as failure:
        error = failure
    return ModelTest(
        name=name,
        type=kind,
        ok=error is None,
        protocol=settings.protocol,
        model=settings.model,
        endpoint=settings.base_url or "this machine",
        milliseconds=_since(began),
        problem=error.problem() if error is not None else None,
        advice=_advice(error, settings) if error is not None else "",
        **found,
    )


def _embedding(models: Models, name: str, timeout: float) -> Mapping[str, Any]:
    vectors = models.embedder(name).embed([_TEXT], "query", timeout)
    return {"dimensions": int(vectors.shape[1])}


def _chat(models: Models, name: str, timeout: float) -> Mapping[str, Any]:
    request = GenerationRequest((Message("user", "Say the word: ready"),), max_output_tokens=_TEST_TOKENS)
    began = time.perf_counter()
    first: float | None = None
    said = ""
    tokens: dict[str, int | None] = {}
    for event in models.generator(name).generate(request, timeout):
        if isinstance(event, TextPiece):
            first = _since(began) if first is None else first
            said += event.text
        elif isinstance(event, GenerationEnd):
            tokens = {"input_tokens": event.usage.input_tokens, "output_tokens": event.usage.output_tokens}
    return {"first_piece_ms": first, "said": said[:_SAID_CHARACTERS], **tokens}


def _rerank(models: Models, name: str, timeout: float) -> Mapping[str, Any]:
    return {"scores": tuple(models.reranker(name).rerank(_TEXT, _PASSAGES, timeout))}


_CALLS: Final[Mapping[ModelType, Callable[[Models, str, float], Mapping[str, Any]]]] = {
    "embedding": _embedding,
    "chat": _chat,
    "rerank": _rerank,
}

_BY_ERROR: Final[tuple[tuple[type[WenyuanError], Advice], ...]] = (
    (KeyMissing, "set-key"),
    (DimensionMismatch, "check-dimensions"),
    (RateLimited, "wait"),
    (ProviderTimeout, "raise-timeout"),
    (ProviderAnswerInvalid, "check-protocol"),
    (ConfigurationError, "check-settings"),
)
_BY_STATUS: Final[Mapping[int, Advice]] = {
    401: "check-key",
    403: "check-key",
    402: "check-key",
    404: "check-address",
    405: "check-address",
    400: "check-model",
    422: "check-model",
}


def _advice(error: WenyuanError, settings: ModelSettings) -> Advice:
    if error.code == "package-missing":
        return "install"
    if isinstance(error, ProviderRefused):
        return _BY_STATUS.get(error.details.get("status", 0), "check-settings")
    for kind, advice in _BY_ERROR:
        if isinstance(error, kind):
            return advice
    if isinstance(error, ProviderUnavailable) and "status" not in error.details:
        return "start-server" if settings.base_url and is_loopback(settings.base_url) else "check-network"
    return "wait"


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)
