"""multilingual-e5-small behind the `Embedder` port."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import ConfigurationInvalid, ProviderTimeout
from wenyuan.ports import Embedder, Vectors
from wenyuan.providers.e5.blocks import dequantise
from wenyuan.providers.e5.centring import centred, means_identity
from wenyuan.providers.e5.convert import (
    GRAPH_FILE,
    POSITIONS_FILE,
    WEIGHTS_IDENTITY,
    WORDS_FILE,
    Progress,
    converted_folder,
)
from wenyuan.providers.e5.tokenizer import Tokenizer
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import ModelIdentity, Side

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

DIMENSIONS = 384
LONGEST_INPUT = 512
"""Tokens; what a text has beyond them does not reach its vector."""

SIMILARITY_FLOOR = 0.25
"""Centred cosine similarity below which a passage has nothing to do with a question."""

PREFIXES: dict[Side, str] = {"query": "query: ", "passage": "passage: "}

_IDENTITY_NAMES = ("built-in", "multilingual-e5-small")


def create(settings: ModelSettings, cache_directory: Path, on_progress: Progress) -> Embedder:
    """Make the built-in embedder; nothing is read or converted until it is first used.

    Raises `ConfigurationInvalid` where the settings name a model that is not built in.
    """
    if settings.model != _IDENTITY_NAMES[1]:
        raise ConfigurationInvalid(
            setting=f"models.{settings.name}.model",
            source="the settings",
            reason=f"the only built-in model is {_IDENTITY_NAMES[1]}",
        )
    return E5Embedder(
        cache_directory,
        threads=settings.threads,
        sentences=settings.sentences,
        max_batch_texts=settings.max_batch_texts,
        max_batch_characters=settings.max_batch_characters,
        on_progress=on_progress,
    )


class E5Embedder:
    """Embeds on this machine, without a network; safe to share between threads.

    Every text is run alone, so its vector depends on nothing but itself, and no time goes into
    padding. The first call converts the weights (seconds, once per cache directory) and loads
    them; `prepare` does the same ahead of time.
    """

    def __init__(
        self,
        cache_directory: Path,
        *,
        threads: int = 1,
        sentences: bool = True,
        max_batch_texts: int = 32,
        max_batch_characters: int = 60_000,
        on_progress: Progress = lambda _: None,
    ) -> None:
        self._cache_directory = cache_directory
        self._threads = threads
        self._sentences = sentences
        self._max_batch_texts = max_batch_texts
        self._max_batch_characters = max_batch_characters
        self._on_progress = on_progress
        self._network: _Network | None = None
        self._loading = Lock()

    @property
    def identity(self) -> ModelIdentity:
        provider, model = _IDENTITY_NAMES
        return ModelIdentity(
            provider=provider,
            model=model,
            dimensions=DIMENSIONS,
            query_prefix=PREFIXES["query"],
            passage_prefix=PREFIXES["passage"],
            means=means_identity(),
            weights=WEIGHTS_IDENTITY,
        )

    @property
    def similarity_floor(self) -> float | None:
        return SIMILARITY_FLOOR

    @property
    def embeds_sentences(self) -> bool:
        return self._sentences

    @property
    def max_batch_texts(self) -> int:
        return self._max_batch_texts

    @property
    def max_batch_characters(self) -> int:
        return self._max_batch_characters

    def prepare(self) -> None:
        """Convert and load the model if that has not happened yet.

        Raises `BuiltInModelMissing` where its weights are not installed or are damaged, or where
        the cache directory cannot be written, and `DiskFull`.
        """
        self._loaded()

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> Vectors:
        """Return one centred unit vector per text, float32, shape (len(texts), 384).

        `timeout` does not count the one conversion and loading. Raises `ProviderTimeout`, and
        what `prepare` raises.
        """
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        if not texts:
            return vectors
        network = self._loaded()
        deadline = time.monotonic() + timeout
        for row, text in enumerate(texts):
            if time.monotonic() > deadline:
                raise ProviderTimeout(provider="/".join(_IDENTITY_NAMES), seconds=timeout)
            vectors[row] = centred(network.vector(PREFIXES[side] + text), text, side)
        return vectors

    def embed_uncentred(self, texts: Sequence[str], side: Side) -> Vectors:
        """Return the model's own unit vectors, from which the means of `centring` are computed."""
        network = self._loaded()
        return np.array([network.vector(PREFIXES[side] + text) for text in texts], np.float32).reshape(-1, DIMENSIONS)

    def _loaded(self) -> _Network:
        with self._loading:
            if self._network is None:
                self._network = _Network(converted_folder(self._cache_directory, self._on_progress), self._threads)
            return self._network


class _Network:
    """The converted model, opened."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._tokenizer = Tokenizer(folder)
        self._words: NDArray[np.uint8] = np.load(folder / WORDS_FILE, mmap_mode="r")
        self._positions: NDArray[np.float32] = np.load(folder / POSITIONS_FILE)
        self._session = _session(folder / GRAPH_FILE, threads)

    def vector(self, text: str) -> NDArray[np.float32]:
        tokens = self._tokenizer.encode(text, LONGEST_INPUT)
        embedded = dequantise(self._words[tokens]) + self._positions[: len(tokens)]
        (output,) = self._session.run(None, {"embedded_tokens": embedded[None]})
        vector: NDArray[np.float32] = output[0]
        return vector


def _session(graph: Path, threads: int) -> InferenceSession:
    # Loading onnxruntime takes longer than everything else a program does when it starts.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The arena keeps what the longest text needed for ever; without it memory use halves.
    options.enable_cpu_mem_arena = False
    # Threads that spin while they wait take the processor from everything else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # More optimisation would fuse additions into the slow operator that the graph avoids.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
