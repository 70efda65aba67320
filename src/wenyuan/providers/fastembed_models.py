"""Embedding and reranking models that run here, by the package `fastembed`, which downloads them when first used.

It comes with the extra `fastembed`. `options` of the settings are given to it, such as `specific_model_path` for a
model that lies in a folder already. https://qdrant.github.io/fastembed/
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from wenyuan.errors import (
    ConfigurationInvalid,
    DimensionMismatch,
    PackageMissing,
    ProviderAnswerInvalid,
    ProviderTimeout,
    ProviderUnavailable,
)
from wenyuan.ports import Embedder, Reranker, Vectors
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import ModelIdentity, RerankerProfile, Side

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

_ENDPOINT = "this machine"
_TEXTS_AT_ONCE = 8

Model = TypeVar("Model")


def create_embedder(settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Embedder:
    """Make the embedder that the settings describe; its weights are loaded at the first call.

    Raises `PackageMissing`, and `ConfigurationInvalid` where the settings do not say enough.
    """
    if settings.dimensions < 1:
        raise _invalid(settings, "dimensions", "the length of the model's vectors must be stated")
    return FastembedEmbedder(settings, cache_directory, on_progress)


def create_reranker(settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Reranker:
    """The same for a model that reranks."""
    return FastembedReranker(settings, cache_directory, on_progress)


class _Loaded(Generic[Model]):
    """A model that is loaded once, when it is first used."""

    def __init__(
        self,
        settings: ModelSettings,
        cache_directory: Path,
        on_progress: Callable[[str], None],
        load: Callable[..., Model],
    ) -> None:
        if importlib.util.find_spec("fastembed") is None:
            what = f"The model {settings.name}"
            raise PackageMissing(what=what, package="fastembed", install="wenyuan[fastembed]")
        self._settings = settings
        self._folder = cache_directory / "fastembed"
        self._on_progress = on_progress
        self._load = load
        self._loading = Lock()
        self._model: Model | None = None

    def get(self) -> Model:
        """The model. Raises `ProviderUnavailable` where it can be neither found nor downloaded."""
        with self._loading:
            if self._model is None:
                self._on_progress(f"{self._settings.model} is loaded; the first time it is downloaded")
                try:
                    self._model = self._load(
                        model_name=self._settings.model,
                        cache_dir=str(self._folder),
                        threads=self._settings.threads,
                        **self._settings.options,
                    )
                except _load_errors() as error:
                    reason = f"{self._settings.model} could not be loaded: {error}".split("\n", 1)[0].rstrip(".")
                    raise ProviderUnavailable(provider=self._settings.name, reason=reason) from error
            return self._model


class FastembedEmbedder:
    """Embeds with a model of fastembed; safe to share between threads."""

    def __init__(self, settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> None:
        self._settings = settings
        self._loaded: _Loaded[TextEmbedding] = _Loaded(settings, cache_directory, on_progress, _load_embedding)

    @property
    def identity(self) -> ModelIdentity:
        settings = self._settings
        return ModelIdentity(
            provider="fastembed",
            model=settings.model,
            dimensions=settings.dimensions,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
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

        Between a few texts and the next it is looked whether time is left. Raises `ProviderTimeout`,
        `ProviderUnavailable`, `ProviderAnswerInvalid` and `DimensionMismatch`.
        """
        prefix = self._settings.query_prefix if side == "query" else self._settings.passage_prefix
        inputs = [_readable(prefix + text) for text in texts]
        rows: list[Any] = []
        for group in _groups(inputs, timeout, self._settings):
            model = self._loaded.get()
            rows += list(model.query_embed(group) if side == "query" else model.passage_embed(group))
        if not inputs:
            return np.empty((0, self._settings.dimensions), np.float32)
        vectors = np.array(rows, np.float32).reshape(len(inputs), -1)
        if vectors.shape[1] != self._settings.dimensions:
            raise DimensionMismatch(
                provider=self._settings.name, actual=vectors.shape[1], expected=self._settings.dimensions
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise ProviderAnswerInvalid(provider=self._settings.name, reason="a vector has no length to divide by")
        unit: Vectors = vectors / lengths
        return unit


class FastembedReranker:
    """Reranks with a cross-encoder of fastembed; safe to share between threads."""

    def __init__(self, settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> None:
        self._settings = settings
        self._loaded: _Loaded[TextCrossEncoder] = _Loaded(settings, cache_directory, on_progress, _load_cross_encoder)

    @property
    def profile(self) -> RerankerProfile:
        settings = self._settings
        return RerankerProfile(
            name=settings.name,
            provider="fastembed",
            protocol=settings.protocol,
            endpoint=_ENDPOINT,
            model=settings.model,
            max_passages=settings.max_batch_texts,
            max_characters=settings.max_batch_characters,
        )

    def rerank(self, question: str, passages: Sequence[str], timeout: float) -> Sequence[float]:
        """Return one finite score per passage, in their order, higher is better.

        Between a few passages and the next it is looked whether time is left. Raises `ProviderTimeout`,
        `ProviderUnavailable` and `ProviderAnswerInvalid`.
        """
        scores: list[float] = []
        for group in _groups([_readable(text) for text in passages], timeout, self._settings):
            scores += [float(score) for score in self._loaded.get().rerank(_readable(question), group)]
        if len(scores) != len(passages):
            reason = f"{len(scores)} scores for {len(passages)} passages"
            raise ProviderAnswerInvalid(provider=self._settings.name, reason=reason, detail="wrong-length")
        if not np.isfinite(scores).all():
            reason = "a score is not a finite number"
            raise ProviderAnswerInvalid(provider=self._settings.name, reason=reason, detail="not-a-number")
        return scores


def _groups(texts: Sequence[str], timeout: float, settings: ModelSettings) -> Iterator[Sequence[str]]:
    until = time.monotonic() + timeout
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        if time.monotonic() >= until:
            raise ProviderTimeout(provider=settings.name, seconds=f"{timeout:g}")
        yield texts[start : start + _TEXTS_AT_ONCE]


def _readable(text: str) -> str:
    """Half of a surrogate pair, which text from broken files can hold, is nothing that a tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _load_errors() -> tuple[type[Exception], ...]:
    """What may be raised where a model is loaded, which depends on where it comes from: a name that is not known, a
    file or a network that is not there, options that it does not take, a graph that the runtime refuses.
    """
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    of_runtime = (state.Fail, state.NoSuchFile, state.InvalidProtobuf, state.InvalidGraph, state.NotImplemented)
    return (ValueError, OSError, RuntimeError, TypeError, state.RuntimeException, state.InvalidArgument, *of_runtime)


def _load_embedding(**options: Any) -> TextEmbedding:
    from fastembed import TextEmbedding

    return TextEmbedding(**options)


def _load_cross_encoder(**options: Any) -> TextCrossEncoder:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder(**options)


def _invalid(settings: ModelSettings, setting: str, reason: str) -> ConfigurationInvalid:
    return ConfigurationInvalid(setting=f"models.{settings.name}.{setting}", source="the settings", reason=reason)
