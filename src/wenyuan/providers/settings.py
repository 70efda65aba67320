"""How an embedding model is described in the configuration."""

from __future__ import annotations

from dataclasses import dataclass

BUILT_IN_MODEL = "built-in/multilingual-e5-small"
"""Name of the embedding model that needs neither a key nor a network."""


@dataclass(frozen=True, slots=True)
class EmbeddingModelSettings:
    """One embedding model. Sizes are per call to the model, times are seconds.

    `key` is a reference, `env:NAME` or `file:PATH`, never the key itself. `dimensions` of zero
    means that the model decides; an OpenAI-compatible model must state it.
    """

    name: str
    protocol: str
    """`built-in`, `openai-compatible`, or the name of an installed `wenyuan.providers` entry point."""
    model: str
    base_url: str = ""
    key: str = ""
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    max_batch_texts: int = 32
    max_batch_characters: int = 60_000
    timeout_seconds: float = 60.0
    threads: int = 1


BUILT_IN_SETTINGS = EmbeddingModelSettings(
    name=BUILT_IN_MODEL,
    protocol="built-in",
    model="multilingual-e5-small",
    dimensions=384,
    query_prefix="query: ",
    passage_prefix="passage: ",
)
