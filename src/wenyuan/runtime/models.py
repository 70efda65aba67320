"""The configured models, made when first used."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import platformdirs

from wenyuan.config import Settings
from wenyuan.errors import ModelNotConfigured
from wenyuan.ports import Embedder
from wenyuan.providers.registry import create_embedder

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
