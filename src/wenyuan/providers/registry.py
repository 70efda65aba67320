"""From a protocol's name to the adapter that speaks it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from wenyuan.errors import ConfigurationInvalid
from wenyuan.ports import Embedder
from wenyuan.providers.settings import EmbeddingModelSettings

Progress = Callable[[str], None]
EmbedderFactory = Callable[[EmbeddingModelSettings, Path, Progress], Embedder]
"""What a `wenyuan.providers` entry point names: settings, a cache directory, where to report progress."""

ENTRY_POINT_GROUP = "wenyuan.providers"

EMBEDDER_PROTOCOLS = {
    "built-in": "wenyuan.providers.e5.model:create",
    "openai-compatible": "wenyuan.providers.openai_compatible:create",
}
"""The protocols that come with the package; they are loaded like those of other packages, when named."""


def create_embedder(
    name: str,
    settings: EmbeddingModelSettings,
    cache_directory: Path,
    on_progress: Progress = lambda _: None,
) -> Embedder:
    """Make the embedder that a model's settings describe; no weights are loaded and nothing is called yet.

    `on_progress` is told, in sentences for a person, about preparations that take seconds. Raises
    `ConfigurationInvalid` where no installed adapter speaks the protocol or its settings are wrong.
    """
    factory: EmbedderFactory = _adapter(name, settings.protocol).load()
    return factory(settings, cache_directory, on_progress)


def _adapter(name: str, protocol: str) -> EntryPoint:
    if protocol in EMBEDDER_PROTOCOLS:
        return EntryPoint(protocol, EMBEDDER_PROTOCOLS[protocol], ENTRY_POINT_GROUP)
    installed = entry_points(group=ENTRY_POINT_GROUP)
    if protocol in installed.names:
        return installed[protocol]
    known = ", ".join(sorted({*EMBEDDER_PROTOCOLS, *installed.names}))
    raise ConfigurationInvalid(
        setting=f"models.{name}.protocol",
        source="the settings",
        reason=f"{protocol!r} is not one of {known}",
    )
