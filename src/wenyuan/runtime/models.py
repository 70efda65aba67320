"""The configured models, made when first used."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import platformdirs

from wenyuan.config import Settings
from wenyuan.errors import ModelNotConfigured
from wenyuan.flows.embed import find_model
from wenyuan.flows.pacing import PacedEmbedder, Pacing
from wenyuan.ports import Embedder
from wenyuan.providers.registry import create_embedder
from wenyuan.rules.pacing import Pace, bucket_of_requests, bucket_of_tokens
from wenyuan.types import IndexGeneration

_CALL_SECONDS = 60.0
_LOG = logging.getLogger("wenyuan.models")


class Models:
    """Embedding models by name; each is made once and shared by all threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedders: dict[str, Embedder] = {}
        self._making = threading.Lock()

    def names(self) -> list[str]:
        return sorted(self._settings.models)

    def embedder(self, name: str) -> Embedder:
        """The model of that name. Raises `ModelNotConfigured` or `BuiltInModelMissing`."""
        with self._making:
            if name not in self._embedders:
                settings = self._settings.models.get(name)
                if settings is None:
                    raise ModelNotConfigured(model=name, known=", ".join(self.names()))
                self._embedders[name] = create_embedder(name, settings, cache_directory(), _LOG.info)
            return self._embedders[name]

    def model_of(self, generation: IndexGeneration) -> str:
        """The name of the model that made an index.

        Raises `IndexIncompatible` where none is the one, and what `embedder` raises.
        """
        with self._making:
            known = dict.fromkeys((*self._settings.models, *self._embedders))
        return find_model(generation, known, self.embedder)

    def paced(self, name: str, pacing: Pacing) -> Embedder:
        """The model of that name, called by a worker: within the limits of its settings. Raises as `embedder` does."""
        embedder = self.embedder(name)
        settings = self._settings.models.get(name)
        if settings is None:
            return PacedEmbedder(embedder, name, Pace(), 0, pacing)
        per_minute = settings.tokens_per_minute
        pace = Pace(
            bucket_of_requests(settings.requests_per_minute), bucket_of_tokens(per_minute), settings.concurrency
        )
        return PacedEmbedder(embedder, name, pace, per_minute, pacing)

    def bounds(self) -> dict[str, int]:
        """How many jobs that need a model may be done at once, by model; those without a limit are left out."""
        return {name: model.concurrency for name, model in self._settings.models.items() if model.concurrency}

    def call_seconds(self, name: str) -> float:
        """How long one call to the model may take."""
        settings = self._settings.models.get(name)
        return settings.timeout_seconds if settings is not None else _CALL_SECONDS

    def register(self, name: str, embedder: Embedder) -> None:
        """Use a model of your own under a name that knowledge bases may give."""
        with self._making:
            self._embedders[name] = embedder


def cache_directory() -> Path:
    """Where converted model weights are kept, shared by all libraries of a user."""
    return Path(platformdirs.user_cache_dir("wenyuan"))
