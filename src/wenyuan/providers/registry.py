"""From a protocol's name to the adapter that speaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from wenyuan.errors import ConfigurationInvalid
from wenyuan.ports import Embedder, Generator, Reranker
from wenyuan.providers.settings import ModelSettings

Progress = Callable[[str], None]
EmbedderFactory = Callable[[ModelSettings, Path, Progress], Embedder]
"""What an entry point names: settings, a cache directory, where to report progress."""
GeneratorFactory = Callable[[ModelSettings, Path, Progress], Generator]
RerankerFactory = Callable[[ModelSettings, Path, Progress], Reranker]


@dataclass(frozen=True, slots=True)
class _Adapters:
    """The adapters for models of one type: ours by protocol, and the group in which other packages name theirs."""

    group: str
    ours: Mapping[str, str]


_EMBEDDERS = _Adapters(
    "wenyuan.providers",
    {
        "built-in": "wenyuan.providers.e5.model:create",
        "openai-compatible": "wenyuan.providers.embeddings:create",
        "jina": "wenyuan.providers.embeddings:create",
        "voyage": "wenyuan.providers.embeddings:create",
        "cohere": "wenyuan.providers.embeddings:create",
        "fastembed": "wenyuan.providers.fastembed_models:create_embedder",
    },
)
_GENERATORS = _Adapters(
    "wenyuan.generators",
    {
        "openai-compatible": "wenyuan.providers.openai_chat:create",
        "anthropic": "wenyuan.providers.anthropic_chat:create",
    },
)
_RERANKERS = _Adapters(
    "wenyuan.rerankers",
    {
        **dict.fromkeys(
            ("openai-compatible", "jina", "cohere", "voyage", "tei", "dashscope"), "wenyuan.providers.reranking:create"
        ),
        "fastembed": "wenyuan.providers.fastembed_models:create_reranker",
    },
)

PROTOCOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "embedding": tuple(_EMBEDDERS.ours),
    "chat": tuple(_GENERATORS.ours),
    "rerank": tuple(_RERANKERS.ours),
}
"""The protocols that come with the package, by type of model; they are loaded when named, as those of others are."""


def create_embedder(
    name: str, settings: ModelSettings, cache_directory: Path, on_progress: Progress = lambda _: None
) -> Embedder:
    """Make the embedder that a model's settings describe; no weights are loaded and nothing is called yet.

    `on_progress` is told, in sentences for a person, about preparations that take seconds. Raises
    `ConfigurationInvalid` where no installed adapter speaks the protocol or its settings are wrong.
    """
    factory: EmbedderFactory = _adapter(_EMBEDDERS, name, settings.protocol)
    return factory(settings, cache_directory, on_progress)


def create_generator(
    name: str, settings: ModelSettings, cache_directory: Path, on_progress: Progress = lambda _: None
) -> Generator:
    """The same for a language model."""
    factory: GeneratorFactory = _adapter(_GENERATORS, name, settings.protocol)
    return factory(settings, cache_directory, on_progress)


def create_reranker(
    name: str, settings: ModelSettings, cache_directory: Path, on_progress: Progress = lambda _: None
) -> Reranker:
    """The same for a model that reranks."""
    factory: RerankerFactory = _adapter(_RERANKERS, name, settings.protocol)
    return factory(settings, cache_directory, on_progress)


def _adapter(adapters: _Adapters, name: str, protocol: str) -> Any:
    if protocol in adapters.ours:
        return EntryPoint(protocol, adapters.ours[protocol], adapters.group).load()
    installed = entry_points(group=adapters.group)
    if protocol in installed.names:
        return installed[protocol].load()
    known = ", ".join(sorted({*adapters.ours, *installed.names}))
    raise ConfigurationInvalid(
        setting=f"models.{name}.protocol",
        source="the settings",
        reason=f"{protocol!r} is not one of {known}",
    )
