"""The seams: what the house asks of readers and models. An adapter is one file that keeps one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wenyuan.types import (
    GenerationEvent,
    GenerationRequest,
    GeneratorProfile,
    ModelIdentity,
    ReadEvent,
    RerankerProfile,
    Side,
)

Vectors = NDArray[np.float32]


class Parser(Protocol):
    """Turns the bytes of one file into blocks with anchors."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield the file's blocks in reading order, and its facts and notices.

        `name` is the file's own name, a hint to its type; `path` may point to stored bytes that
        carry no name. Raises `errors.DocumentError` where the file cannot be read.
        """
        ...


class Converter(Protocol):
    """Has files converted elsewhere, into answers that a parser of this program reads."""

    @property
    def label(self) -> str:
        """What people call it: the name in the configuration, and what kind of service it is."""
        ...

    @property
    def falls_back(self) -> bool:
        """Whether a file that it cannot convert is to be read by this program alone."""
        ...

    def convert(
        self, path: Path, name: str, media_type: str, write: Callable[[bytes], None], on_wait: Callable[[], None]
    ) -> str:
        """Hand the answer for the file at `path` to `write`, piece by piece, and return its media type.

        `on_wait` is called several times a second while there is nothing else to do; what it or
        `write` raises ends the conversion. Raises `errors.DocumentError` for what the service will never
        convert, `errors.ProviderError`, whose subclass `ProviderUnavailable` is worth trying again
        later, and `errors.KeyMissing`.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> ModelIdentity:
        """What decides which vector a text gets; cheap, and available without loading weights."""
        ...

    @property
    def similarity_floor(self) -> float | None:
        """Cosine similarity below which a passage has nothing to do with a question, where known."""
        ...

    @property
    def embeds_sentences(self) -> bool:
        """Whether each sentence of a passage is to be embedded too; that takes as long again as the passages."""
        ...

    @property
    def max_batch_texts(self) -> int: ...

    @property
    def max_batch_characters(self) -> int: ...

    def embed(self, texts: Sequence[str], side: Side, timeout: float) -> Vectors:
        """Return one unit-length float32 row per text, shape (len(texts), dimensions).

        `timeout` is in seconds and covers every retry. Raises `errors.ProviderError`; its
        subclass `ProviderUnavailable` is worth trying again later.
        """
        ...


class Reranker(Protocol):
    """Judges passages against a question."""

    @property
    def profile(self) -> RerankerProfile: ...

    def rerank(self, question: str, passages: Sequence[str], timeout: float) -> Sequence[float]:
        """Return one finite score per passage, in their order, higher is better.

        `timeout` is in seconds and covers every retry. Raises `errors.ProviderError` where the service fails or
        its answer is not one score for each passage.
        """
        ...


class CallStopped(Exception):
    """A call to a model was ended, as nobody wants its answer any more. This says nothing of the model."""


class Generator(Protocol):
    """Writes text from messages, piece by piece."""

    @property
    def profile(self) -> GeneratorProfile: ...

    def generate(
        self, request: GenerationRequest, timeout: float, stopped: Callable[[], bool] | None = None
    ) -> Iterator[GenerationEvent]:
        """Yield pieces of text as they come, and one `GenerationEnd` last; closing the iterator ends the call.

        `timeout` is in seconds and covers the whole call with its retries. What fails before the first piece is
        tried again within it; after that nothing is, so that no text comes twice. While the model says nothing,
        `stopped` is asked every moment; once it is true the call is ended and `CallStopped` raised. Raises
        `errors.ProviderError`.
        """
        ...
