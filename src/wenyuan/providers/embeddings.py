"""Embeddings over HTTP as OpenAI defined them, `POST {base_url}/embeddings`, and as those do who differ a little.

Spoken by OpenAI, Ollama, vLLM, llama.cpp, LM Studio, DashScope, SiliconFlow and many others. Jina, Voyage and Cohere
are told besides whether a text is a question or a passage:
https://api.jina.ai/redoc, https://docs.voyageai.com/reference/embeddings-api, https://docs.cohere.com/v2/reference/embed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wenyuan.errors import ConfigurationInvalid
from wenyuan.ports import Embedder, Vectors
from wenyuan.providers.embedding_answer import read_vectors
from wenyuan.providers.http_service import Call, HttpService
from wenyuan.providers.replies import LARGEST_ERROR_BYTES, address_fault
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import ModelIdentity, Side

_LARGEST_VECTOR_BYTES = 262_144
"""More than 8,192 floats written out in full: what an answer may take for one text."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one protocol words a request. `sides` are the values of the field that tells questions from passages."""

    path: str = "/embeddings"
    texts: str = "input"
    side_field: str = ""
    sides: tuple[str, str] = ("", "")
    dimensions: str = "dimensions"
    chooses_encoding: bool = False
    more: tuple[tuple[str, Any], ...] = ()


_DIALECTS: Mapping[str, _Dialect] = {
    "openai-compatible": _Dialect(chooses_encoding=True),
    "jina": _Dialect(side_field="task", sides=("retrieval.query", "retrieval.passage")),
    "voyage": _Dialect(side_field="input_type", sides=("query", "document"), dimensions="output_dimension"),
    "cohere": _Dialect(
        "/embed",
        "texts",
        "input_type",
        ("search_query", "search_document"),
        "output_dimension",
        more=(("embedding_types", ("float",)),),
    ),
}


def create(settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Embedder:
    """Make the embedder that the settings describe; nothing is called yet.

    Raises `ConfigurationInvalid` where the settings do not say enough.
    """
    del cache_directory, on_progress
    return EmbeddingService(settings)


class EmbeddingService:
    """Embeds with a model behind an API; safe to share between threads.

    Connections are kept open between calls. The key is resolved anew at every call. Splitting
    texts into batches is the caller's part.
    """

    def __init__(self, settings: ModelSettings, surroundings: Surroundings | None = None) -> None:
        _check(settings)
        self._settings = settings
        self._dialect = _DIALECTS.get(settings.protocol, _Dialect(chooses_encoding=True))
        self._url = settings.base_url.rstrip("/") + self._dialect.path
        self._encoding = "base64"
        self._service = HttpService(
            settings.name, settings.base_url, settings.key, surroundings, allow_link_local=settings.link_local
        )

    @property
    def identity(self) -> ModelIdentity:
        settings, dialect = self._settings, self._dialect
        # Of another side, a text gets another vector, as with another prefix.
        query, passage = (f"<{side}>" if side else "" for side in dialect.sides)
        return ModelIdentity(
            provider=settings.name,
            model=settings.model,
            dimensions=settings.dimensions,
            query_prefix=query + settings.query_prefix,
            passage_prefix=passage + settings.passage_prefix,
        )

    @property
    def similarity_floor(self) -> float | None:
        return None

    @property
    def embeds_sentences(self) -> bool:
        return self._settings.sentences

    @property
    def max_batch_texts(self) -> int:
        return self._settings.max_batch_texts

    @property
    def max_batch_characters(self) -> int:
        return self._settings.max_batch_characters

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> Vectors:
        """Return one unit vector per text, float32, shape (len(texts), dimensions).

        For a question, which somebody waits for, attempts are repeated until `timeout` seconds are
        over; a passage is better put off than waited for, so that others learn of it. Raises `KeyMissing`,
        `ProviderRefused`, `ProviderAnswerInvalid`, `DimensionMismatch`, and, worth trying again
        later, `ProviderTimeout`, `RateLimited` and `ProviderUnavailable`.
        """
        prefix = self._settings.query_prefix if side == "query" else self._settings.passage_prefix
        inputs = [prefix + text for text in texts]
        answer = b'{"data": []}'
        if inputs:
            call = Call(self._url, partial(self._request, inputs, side), adjusts=self._adjusts)
            limit = LARGEST_ERROR_BYTES + len(inputs) * _LARGEST_VECTOR_BYTES
            answer = self._service.ask(call, timeout, limit, waits=side == "query")
        return read_vectors(answer, len(inputs), self._settings.dimensions, self._settings.name)

    def close(self) -> None:
        """Close the connections that are kept; the next call opens new ones."""
        self._service.close()

    def _request(self, inputs: list[str], side: Side) -> dict[str, Any]:
        dialect = self._dialect
        request: dict[str, Any] = {"model": self._settings.model, dialect.texts: inputs, **dict(dialect.more)}
        if dialect.side_field:
            request[dialect.side_field] = dialect.sides[0 if side == "query" else 1]
        if dialect.chooses_encoding:
            request["encoding_format"] = self._encoding
        if self._settings.send_dimensions:
            request[dialect.dimensions] = self._settings.dimensions
        return request

    def _adjusts(self, refusal: bytes) -> bool:
        """Some know no base64; they are asked for numbers from then on."""
        if self._encoding != "base64" or b"encoding_format" not in refusal:
            return False
        self._encoding = "float"
        return True


def _check(settings: ModelSettings) -> None:
    fault = address_fault(settings.base_url)
    if fault:
        wrong, reason = "base_url", fault
    elif settings.dimensions < 1:
        wrong, reason = "dimensions", "the length of the model's vectors must be stated"
    elif not settings.model:
        wrong, reason = "model", "the provider's name of the model must be stated"
    else:
        return
    raise ConfigurationInvalid(setting=f"models.{settings.name}.{wrong}", source="the settings", reason=reason)
