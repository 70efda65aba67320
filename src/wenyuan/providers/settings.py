"""How an embedding model is described in the configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

BUILT_IN_MODEL = "built-in/multilingual-e5-small"
"""Name of the embedding model that needs neither a key nor a network."""

KEY_KINDS = ("env:", "file:")


@dataclass(frozen=True, slots=True)
class EmbeddingModelSettings:
    """One embedding model. Sizes are per call to the model, times are seconds.

    `key` is a reference, `env:NAME` or `file:PATH`, never the key itself. `dimensions` of zero
    means that the model decides; an OpenAI-compatible model must state it. Raises `TypeError` or
    `ValueError` for values that cannot be meant; neither repeats what was given as a key.
    """

    name: str
    protocol: str
    """`built-in`, `openai-compatible`, or the name of an installed `wenyuan.providers` entry point."""
    model: str
    base_url: str = ""
    key: str = ""
    dimensions: int = 0
    send_dimensions: bool = False
    """Ask the provider to shorten its vectors to `dimensions`; many refuse to be asked."""
    query_prefix: str = ""
    passage_prefix: str = ""
    max_batch_texts: int = 32
    max_batch_characters: int = 60_000
    timeout_seconds: float = 60.0
    threads: int = 1
    requests_per_minute: int = 0
    """What all workers together keep to while they embed documents; 0 is no limit. Questions are not counted."""
    tokens_per_minute: int = 0
    """Counted as a third of the bytes of the texts in UTF-8, the tokenizer of a provider not being here."""
    concurrency: int = 0
    """How many calls may be under way at once, of all workers together; 0 is no limit."""

    def __post_init__(self) -> None:
        for item in fields(self):
            _check_type(item.name, str(item.type), getattr(self, item.name))
        if self.key and not self.key.startswith(KEY_KINDS):
            raise ValueError("key must be a reference, env:NAME or file:PATH, never the key itself")
        for name in ("max_batch_texts", "max_batch_characters", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("dimensions", "requests_per_minute", "tokens_per_minute", "concurrency"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} cannot be negative")
        if not (0 < self.timeout_seconds < math.inf):
            raise ValueError("timeout_seconds must be greater than 0")


_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}


def _check_type(name: str, expected: str, value: object) -> None:
    wrong_bool = isinstance(value, bool) and expected != "bool"
    if wrong_bool or not isinstance(value, _TYPES[expected]):
        raise TypeError(f"{name} must be of type {expected}, not {type(value).__name__}")
