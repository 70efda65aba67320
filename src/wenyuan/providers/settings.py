"""How a model is described in the configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Literal

from wenyuan.providers.presets import PRESETS
from wenyuan.types.key_references import KEY_KINDS

BUILT_IN_MODEL = "built-in/multilingual-e5-small"
"""Name of the embedding model that needs neither a key nor a network."""


ModelType = Literal["embedding", "chat", "rerank", "image"]
MODEL_TYPES: Final[tuple[ModelType, ...]] = ("embedding", "chat", "rerank", "image")

Role = Literal["answer", "task", "embedding", "rerank"]
ROLE_TYPES: Final[Mapping[Role, ModelType]] = MappingProxyType(
    {"answer": "chat", "task": "chat", "embedding": "embedding", "rerank": "rerank"}
)
"""The type of model that each role takes."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One model. Sizes are per call to the model, times are seconds.

    `key` is a reference, `env:NAME`, `file:PATH` or `keyring:SERVICE/NAME`, never the key itself. `dimensions` of
    zero means that the model decides; an embedding model behind an API must state it. Raises `TypeError` or
    `ValueError` for values that cannot be meant; neither repeats what was given as a key.
    """

    name: str
    protocol: str
    """`built-in`, `openai-compatible`, `anthropic`, `jina`, `cohere`, `voyage`, `tei`, `dashscope`, `fastembed`, or
    the name of an installed entry point; it must be said where no preset says it."""
    model: str
    """The provider's name of the model."""
    base_url: str = ""
    link_local: bool = False
    """Whether it may be at a link-local address, or at one where clouds hand out credentials of the machine."""
    key: str = ""
    types: tuple[ModelType, ...] = ("embedding",)
    """What the model is for: `embedding`, `chat`, `rerank`, `image`."""
    preset: str = ""
    """The provider whose protocol, base URL, key reference and abilities hold where the table says nothing."""
    dimensions: int = 0
    send_dimensions: bool = False
    """Ask the provider to shorten its vectors to `dimensions`; many refuse to be asked."""
    sentences: bool = False
    """Whether the sentences of passages are embedded too, and questions compared with each. Answers are found better,
    most of all in another language, and embedding takes twice as long. The built-in model does, unless it is told not
    to."""
    query_prefix: str = ""
    passage_prefix: str = ""
    max_batch_texts: int = 32
    """How many texts, or passages to rerank, go into one call."""
    max_batch_characters: int = 60_000
    context_tokens: int = 8192
    """How much a language model takes in and gives out together."""
    max_output_tokens: int = 2048
    """How long its answer may be."""
    tools: bool = False
    """Whether a language model can call tools; one that cannot is asked to write what it wants to look up."""
    json_schema: bool = False
    """Whether a language model can be held to a JSON Schema."""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What a language or reranking model is told besides, such as `{enable_thinking = false}`."""
    timeout_seconds: float = 60.0
    threads: int = 1
    requests_per_minute: int = 0
    """What all workers together keep to while they embed documents; 0 is no limit. Questions are not counted."""
    tokens_per_minute: int = 0
    """Counted as a third of the bytes of the texts in UTF-8, the tokenizer of a provider not being here."""
    concurrency: int = 0
    """How many calls may be under way at once: of all workers together, and of all questions; 0 is no limit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", _checked_types(self.types))
        if not isinstance(self.options, Mapping):
            raise TypeError("options must be a table")
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        for item in fields(self):
            if item.name not in ("types", "options"):
                _check_type(item.name, str(item.type), getattr(self, item.name))
        if self.key and not self.key.startswith(KEY_KINDS):
            raise ValueError(
                "key must be a reference, env:NAME, file:PATH or keyring:SERVICE/NAME, never the key itself"
            )
        if self.preset and self.preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(sorted(PRESETS))}")
        for name in ("max_batch_texts", "max_batch_characters", "threads", "context_tokens", "max_output_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("dimensions", "requests_per_minute", "tokens_per_minute", "concurrency"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} cannot be negative")
        if not (0 < self.timeout_seconds < math.inf):
            raise ValueError("timeout_seconds must be greater than 0")

    @property
    def provider(self) -> str:
        """Whose model it is, as far as the settings say so."""
        return self.preset or self.protocol


def _checked_types(types: object) -> tuple[ModelType, ...]:
    if not isinstance(types, (list, tuple)) or not all(isinstance(one, str) for one in types):
        raise TypeError("types must be a list of texts")
    known = tuple(one for one in MODEL_TYPES if one in types)
    if not known or len(known) != len(types):
        raise ValueError(f"types must name each once, of {', '.join(MODEL_TYPES)}")
    return known


_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}


def _check_type(name: str, expected: str, value: object) -> None:
    wrong_bool = isinstance(value, bool) and expected != "bool"
    if wrong_bool or not isinstance(value, _TYPES[expected]):
        raise TypeError(f"{name} must be of type {expected}, not {type(value).__name__}")
