"""The configured models, made when first used."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import platformdirs

from wenyuan.config import Settings
from wenyuan.errors import ModelNotConfigured, ModelUnsuitable
from wenyuan.flows.embed import find_model
from wenyuan.flows.pacing import PacedEmbedder, Pacing
from wenyuan.flows.rerank import Reranking
from wenyuan.ports import Embedder, Generator, Reranker
from wenyuan.providers.circuit import CircuitBreaker
from wenyuan.providers.e5.weights import find_weights
from wenyuan.providers.guarding import Guard, GuardedEmbedder, GuardedGenerator, GuardedReranker
from wenyuan.providers.keys import resolve_key
from wenyuan.providers.registry import create_embedder, create_generator, create_reranker
from wenyuan.providers.settings import ROLE_TYPES, ModelSettings, ModelType, Role
from wenyuan.rules.pacing import Pace, bucket_of_requests, bucket_of_tokens
from wenyuan.types import IndexGeneration

_CALL_SECONDS = 60.0
_LOG = logging.getLogger("wenyuan.models")

PURPOSES: Final[Mapping[ModelType, str]] = {
    "embedding": "embedding",
    "chat": "writing answers",
    "rerank": "reranking",
    "image": "images",
}
"""What a type of model is for, in words."""


class Models:
    """The models of a library by name; each is made once and shared by all threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._described: dict[str, ModelSettings] = dict(settings.models)
        self._roles = _roles(settings)
        self._embedders: dict[str, Embedder] = {}
        self._generators: dict[str, Generator] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._asked: dict[str, Embedder] = {}
        self._guards: dict[str, Guard] = {}
        self._breakers: dict[tuple[str, tuple[ModelType, ...]], CircuitBreaker] = {}
        self._making = threading.RLock()

    # --- What is configured ----------------------------------------------------------------------

    def names(self, wanted: ModelType | None = None) -> list[str]:
        """The names of all models, or of those of one type."""
        return sorted(name for name, model in self._described.items() if wanted is None or wanted in model.types)

    def described(self) -> Mapping[str, ModelSettings]:
        """How each model is described, by name."""
        return dict(self._described)

    def description(self, name: str) -> ModelSettings:
        """How the model of that name is described. Raises `ModelNotConfigured`."""
        settings = self._described.get(name)
        if settings is None:
            raise ModelNotConfigured(model=name, known=", ".join(self.names()))
        return settings

    def role(self, role: Role) -> str:
        """The name of the model that was given a role; empty where none was."""
        return self._roles[role]

    def for_role(self, role: Role) -> str | None:
        """The name of the model that has a role, or None; small tasks fall to the model that answers."""
        name = self._roles[role]
        if role == "task" and not name:
            name = self._roles["answer"]
        return name or None

    def check(self, name: str, wanted: ModelType) -> ModelSettings:
        """How the model of that name is described. Raises `ModelNotConfigured`, or `ModelUnsuitable` by its type."""
        settings = self._described.get(name)
        if settings is None:
            raise ModelNotConfigured(model=name, known=", ".join(self.names(wanted)) or "none")
        if wanted not in settings.types:
            types = ", ".join(PURPOSES[one] for one in settings.types)
            known = ", ".join(self.names(wanted)) or "none"
            raise ModelUnsuitable(model=name, wanted=PURPOSES[wanted], types=types, known=known)
        return settings

    def check_usable(self, name: str) -> None:
        """Find out without a call whether the model of that name could be called as what it is there for.

        Raises `ModelNotConfigured`, `KeyMissing`, `ConfigurationInvalid`, `PackageMissing` or `BuiltInModelMissing`.
        """
        settings = self.description(name)
        if settings.protocol == "built-in":
            find_weights()
        resolve_key(settings.key, name)
        for wanted in settings.types:
            if wanted == "embedding":
                self.embedder(name)
            elif wanted == "chat":
                self.generator(name)
            elif wanted == "rerank":
                self.reranker(name)

    def configure(self, settings: Settings) -> None:
        """Go on with other settings: models that are described as before stay as they are."""
        with self._making:
            same = {name for name, model in settings.models.items() if self._described.get(name) == model}
            for made in (self._embedders, self._generators, self._rerankers, self._asked, self._guards):
                for name in [one for one in made if one in self._described and one not in same]:
                    del made[name]
            self._settings = settings
            self._described = dict(settings.models)
            self._roles = _roles(settings)

    # --- Models ----------------------------------------------------------------------------------

    def embedder(self, name: str) -> Embedder:
        """The model of that name. Raises `ModelNotConfigured`, `ModelUnsuitable` or `BuiltInModelMissing`."""
        with self._making:
            if name not in self._embedders:
                settings = self.check(name, "embedding")
                self._embedders[name] = create_embedder(name, settings, cache_directory(), _LOG.info)
            return self._embedders[name]

    def asking(self, name: str) -> Embedder:
        """The same for a question, which somebody waits for: one that keeps failing fails at once for a while."""
        with self._making:
            if name not in self._asked:
                embedder = self.embedder(name)
                self._asked[name] = (
                    GuardedEmbedder(embedder, self._guard(name)) if name in self._described else embedder
                )
            return self._asked[name]

    def generator(self, name: str) -> Generator:
        """The language model of that name. Raises `ModelNotConfigured`, `ModelUnsuitable` or `ConfigurationInvalid`."""
        with self._making:
            if name not in self._generators:
                settings = self.check(name, "chat")
                made = create_generator(name, settings, cache_directory(), _LOG.info)
                self._generators[name] = GuardedGenerator(made, self._guard(name))
            return self._generators[name]

    def generator_for(self, role: Role) -> Generator | None:
        """The language model that has a role, or None where none has it. Raises as `generator` does."""
        name = self.for_role(role)
        return self.generator(name) if name is not None and ROLE_TYPES[role] == "chat" else None

    def reranker(self, name: str) -> Reranker:
        """The reranking model of that name. Raises as `generator` does."""
        with self._making:
            if name not in self._rerankers:
                settings = self.check(name, "rerank")
                made = create_reranker(name, settings, cache_directory(), _LOG.info)
                self._rerankers[name] = GuardedReranker(made, self._guard(name))
            return self._rerankers[name]

    def reranking(self) -> Reranking:
        """How searches are reranked, as the settings say."""
        search = self._settings.search
        return Reranking(
            self.for_role("rerank") or "",
            self.reranker,
            search.rerank_candidates,
            search.rerank_seconds,
            search.rerank_top_n,
            search.rerank_threshold,
        )

    def model_of(self, generation: IndexGeneration) -> str:
        """The name of the model that made an index.

        Raises `IndexIncompatible` where none is the one, and what `embedder` raises.
        """
        with self._making:
            known = dict.fromkeys((*self.names("embedding"), *self._embedders))
        return find_model(generation, known, self.embedder)

    # --- Working within limits -------------------------------------------------------------------

    def paced(self, name: str, pacing: Pacing) -> Embedder:
        """The model of that name, called by a worker: within the limits of its settings. Raises as `embedder` does."""
        embedder = self.embedder(name)
        settings = self._described.get(name)
        if settings is None:
            return PacedEmbedder(embedder, name, Pace(), 0, pacing)
        per_minute = settings.tokens_per_minute
        pace = Pace(
            bucket_of_requests(settings.requests_per_minute), bucket_of_tokens(per_minute), settings.concurrency
        )
        return PacedEmbedder(embedder, name, pace, per_minute, pacing)

    def bounds(self) -> dict[str, int]:
        """How many jobs that need a model may be done at once, by model; those without a limit are left out."""
        return {name: model.concurrency for name, model in self._described.items() if model.concurrency}

    def call_seconds(self, name: str) -> float:
        """How long one call to the model may take."""
        settings = self._described.get(name)
        return settings.timeout_seconds if settings is not None else _CALL_SECONDS

    def register(self, name: str, embedder: Embedder) -> None:
        """Use a model of your own under a name that knowledge bases may give."""
        with self._making:
            self._embedders[name] = embedder
            self._asked.pop(name, None)

    def _guard(self, name: str) -> Guard:
        """One guard for each model. Models of one provider and type, which fail together, share what counts failures:
        that a provider is slow to rerank does not keep it from writing.
        """
        if name not in self._guards:
            settings = self._described[name]
            place = urlsplit(settings.base_url).netloc or name
            breaker = self._breakers.setdefault((place, settings.types), CircuitBreaker(place))
            self._guards[name] = Guard(name, breaker, settings.concurrency)
        return self._guards[name]


def _roles(settings: Settings) -> dict[Role, str]:
    return {
        "answer": settings.roles.answer,
        "task": settings.roles.task,
        "embedding": settings.defaults.embedding_model,
        "rerank": settings.roles.rerank,
    }


def cache_directory() -> Path:
    """Where converted model weights are kept, shared by all libraries of a user."""
    return Path(platformdirs.user_cache_dir("wenyuan"))
