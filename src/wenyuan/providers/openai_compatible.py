"""Embeddings over HTTP as OpenAI defined them: `POST {base_url}/embeddings`.

Spoken by OpenAI, Ollama, vLLM, llama.cpp, LM Studio, DashScope, SiliconFlow and many others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from wenyuan.errors import (
    ConfigurationInvalid,
    ProviderAnswerInvalid,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from wenyuan.ports import Embedder, Vectors
from wenyuan.providers.embedding_answer import read_vectors
from wenyuan.providers.keys import Key, resolve_key
from wenyuan.providers.replies import LARGEST_ERROR_BYTES, REPEATABLE, address_fault, excerpt, is_loopback
from wenyuan.providers.retrying import Failure, Success, Surroundings, call_with_retries, seconds_of_retry_after
from wenyuan.providers.settings import EmbeddingModelSettings
from wenyuan.types import ModelIdentity, Side

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 10.0
_CONNECTIONS = 16
_LARGEST_VECTOR_BYTES = 262_144
"""More than 8,192 floats written out in full: what an answer may take for one text."""


def create(settings: EmbeddingModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Embedder:
    """Make the embedder that the settings describe; nothing is called yet.

    Raises `ConfigurationInvalid` where the settings do not say enough.
    """
    del cache_directory, on_progress
    return OpenAICompatibleEmbedder(settings)


class OpenAICompatibleEmbedder:
    """Embeds with a model behind an OpenAI-compatible API; safe to share between threads.

    Connections are kept open between calls. The key is resolved anew at every call. Splitting
    texts into batches is the caller's part.
    """

    def __init__(self, settings: EmbeddingModelSettings, surroundings: Surroundings | None = None) -> None:
        _check(settings)
        self._settings = settings
        self._surroundings = surroundings or Surroundings()
        self._url = settings.base_url.rstrip("/") + "/embeddings"
        self._encoding = "base64"
        self._opening = Lock()
        self._opened: httpx2.Client | None = None

    @property
    def identity(self) -> ModelIdentity:
        settings = self._settings
        return ModelIdentity(
            provider=settings.name,
            model=settings.model,
            dimensions=settings.dimensions,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
        )

    @property
    def similarity_floor(self) -> float | None:
        return None

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
        if inputs:
            key = resolve_key(self._settings.key, self._settings.name)
            answer = call_with_retries(
                lambda left: self._attempt(inputs, key, left, timeout),
                timeout,
                self._surroundings,
                waits=side == "query",
            )
        else:
            answer = b'{"data": []}'
        return read_vectors(answer, len(inputs), self._settings.dimensions, self._settings.name)

    def close(self) -> None:
        """Close the connections that are kept; the next call opens new ones."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _client(self) -> httpx2.Client:
        # Loading httpx2 takes longer than a program that calls no provider may wait for.
        import httpx2

        with self._opening:
            if self._opened is None:
                self._opened = httpx2.Client(
                    limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
                    # A proxy of the environment cannot reach a model on this machine.
                    trust_env=not is_loopback(self._url),
                )
            return self._opened

    def _attempt(self, inputs: list[str], key: Key | None, left: float, timeout: float) -> Success[bytes] | Failure:
        reply = self._exchange(inputs, key, left, timeout)
        if isinstance(reply, ProviderUnavailable):
            return Failure(reply)
        if reply.status == 200:
            return Success(reply.body)
        return self._failure(reply, key)

    def _failure(self, reply: _Reply, key: Key | None) -> Failure:
        """Tell what to do about a status that is no success. Raises `ProviderRefused` for those that will not pass."""
        name, reason = self._settings.name, excerpt(reply.body, key) or reply.phrase
        later = seconds_of_retry_after(reply.retry_after, self._surroundings.wall_clock)
        if reply.status == 429:
            return Failure(RateLimited(provider=name, retry_after=later), later)
        unavailable = ProviderUnavailable(provider=name, reason=f"HTTP {reply.status}: {reason}", retry_after=later)
        if reply.status in REPEATABLE:
            return Failure(unavailable, later)
        if self._encoding == "base64" and reply.status in (400, 422) and b"encoding_format" in reply.body:
            self._encoding = "float"
            return Failure(unavailable, 0.0)
        raise ProviderRefused(provider=name, status=reply.status, reason=reason)

    def _exchange(
        self, inputs: list[str], key: Key | None, left: float, timeout: float
    ) -> _Reply | ProviderUnavailable:
        """Return the reply, or the error that stands for having none.

        The error is returned, so that it is raised outside of the `except` clauses: the exceptions
        of httpx2 hold the request, and with it the key.
        """
        import httpx2

        name = self._settings.name
        try:
            return self._post(inputs, key, left)
        except httpx2.ConnectTimeout:
            return ProviderUnavailable(provider=name, reason="no connection could be made in time")
        except (httpx2.TimeoutException, TimeoutError):
            return ProviderTimeout(provider=name, seconds=timeout)
        except (httpx2.TransportError, httpx2.DecodingError, httpx2.InvalidURL) as error:
            reason = excerpt(f"{type(error).__name__}: {error}".encode(), key)
            return ProviderUnavailable(provider=name, reason=reason)

    def _post(self, inputs: list[str], key: Key | None, left: float) -> _Reply:
        import httpx2

        deadline = self._surroundings.monotonic() + left
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        timeout = httpx2.Timeout(left, connect=min(left, _CONNECT_SECONDS))
        auth = key.authorise if key else None
        body = bytearray()
        with self._client().stream(
            "POST", self._url, content=self._request(inputs), headers=headers, auth=auth, timeout=timeout
        ) as response:
            success = response.status_code == 200
            limit = LARGEST_ERROR_BYTES + (len(inputs) * _LARGEST_VECTOR_BYTES if success else 0)
            for piece in response.iter_bytes():
                body += piece
                # A provider that sends a little again and again never meets the timeout of one read.
                if self._surroundings.monotonic() > deadline:
                    raise TimeoutError
                if len(body) > limit:
                    break
            if success and len(body) > limit:
                raise ProviderAnswerInvalid(provider=self._settings.name, reason=f"it has more than {limit} bytes")
            return _Reply(
                response.status_code, response.reason_phrase, response.headers.get("Retry-After"), bytes(body)
            )

    def _request(self, inputs: list[str]) -> bytes:
        request: dict[str, Any] = {
            "model": self._settings.model,
            "input": inputs,
            "encoding_format": self._encoding,
        }
        if self._settings.send_dimensions:
            request["dimensions"] = self._settings.dimensions
        # Half of a surrogate pair, which text from broken files can hold, has no UTF-8.
        return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    phrase: str
    retry_after: str | None
    body: bytes = field(repr=False)


def _check(settings: EmbeddingModelSettings) -> None:
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
