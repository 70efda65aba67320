"""Connection presets: what is known of a provider, so that a model's table need say only what is its own.

A preset names, for each type of model, the protocol and the base URL; the usual reference to a key; and what the
provider's language models can do. Whatever a model's table says itself outranks its preset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Connection:
    """Where models of one type are, and how they are spoken to."""

    protocol: str
    base_url: str


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of one provider. `connections` are by the type of model; `key` is a reference, or empty.

    `context_tokens` is what the smallest of its current language models takes, 0 where they differ too much.
    """

    connections: Mapping[str, Connection]
    key: str = ""
    tools: bool = False
    json_schema: bool = False
    context_tokens: int = 0


def _compatible(base_url: str, *types: str) -> dict[str, Connection]:
    return {one: Connection("openai-compatible", base_url) for one in types}


_DASHSCOPE = Preset(
    {
        **_compatible("https://dashscope.aliyuncs.com/compatible-mode/v1", "chat", "embedding"),
        "rerank": Connection("dashscope", "https://dashscope.aliyuncs.com/api/v1/services/rerank"),
    },
    "env:DASHSCOPE_API_KEY",
    tools=True,
    context_tokens=32_000,
)

PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "openai": Preset(
            _compatible("https://api.openai.com/v1", "chat", "embedding"),
            "env:OPENAI_API_KEY",
            tools=True,
            json_schema=True,
            context_tokens=128_000,
        ),
        "anthropic": Preset(
            {"chat": Connection("anthropic", "https://api.anthropic.com/v1")},
            "env:ANTHROPIC_API_KEY",
            tools=True,
            json_schema=True,
            context_tokens=200_000,
        ),
        "deepseek": Preset(
            _compatible("https://api.deepseek.com/v1", "chat"),
            "env:DEEPSEEK_API_KEY",
            tools=True,
            context_tokens=64_000,
        ),
        "dashscope": _DASHSCOPE,
        "qwen": _DASHSCOPE,
        "siliconflow": Preset(
            _compatible("https://api.siliconflow.cn/v1", "chat", "embedding", "rerank"),
            "env:SILICONFLOW_API_KEY",
            tools=True,
        ),
        "zhipu": Preset(
            _compatible("https://open.bigmodel.cn/api/paas/v4", "chat", "embedding", "rerank"),
            "env:ZHIPU_API_KEY",
            tools=True,
        ),
        "moonshot": Preset(_compatible("https://api.moonshot.cn/v1", "chat"), "env:MOONSHOT_API_KEY", tools=True),
        "jina": Preset(
            {one: Connection("jina", "https://api.jina.ai/v1") for one in ("embedding", "rerank")}, "env:JINA_API_KEY"
        ),
        "cohere": Preset(
            {
                **_compatible("https://api.cohere.ai/compatibility/v1", "chat"),
                **{one: Connection("cohere", "https://api.cohere.com/v2") for one in ("embedding", "rerank")},
            },
            "env:COHERE_API_KEY",
            tools=True,
        ),
        "voyage": Preset(
            {one: Connection("voyage", "https://api.voyageai.com/v1") for one in ("embedding", "rerank")},
            "env:VOYAGE_API_KEY",
        ),
        # Programs that serve models on one's own machine, at the ports that they take unless told otherwise.
        "ollama": Preset(_compatible("http://127.0.0.1:11434/v1", "chat", "embedding"), json_schema=True),
        "lm-studio": Preset(_compatible("http://127.0.0.1:1234/v1", "chat", "embedding"), json_schema=True),
        "vllm": Preset(_compatible("http://127.0.0.1:8000/v1", "chat", "embedding", "rerank"), json_schema=True),
        "llama.cpp": Preset(_compatible("http://127.0.0.1:8080/v1", "chat", "embedding", "rerank"), json_schema=True),
        "infinity": Preset(_compatible("http://127.0.0.1:7997", "embedding", "rerank")),
        "tei": Preset(
            {
                **_compatible("http://127.0.0.1:8080/v1", "embedding"),
                "rerank": Connection("tei", "http://127.0.0.1:8080"),
            }
        ),
    }
)


def with_preset(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a model's table, with what its preset says of all that is not in them.

    Raises `TypeError` or `ValueError` for a preset that is not known, or has no models of these types.
    """
    name = values.get("preset", "")
    if not name:
        return values
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        raise ValueError(f"preset must be one of {', '.join(sorted(PRESETS))}")
    types = values.get("types", tuple(preset.connections))
    if "types" not in values and len(types) > 1:
        raise ValueError(f"types must say which of {', '.join(types)} the model is for")
    if not isinstance(types, (list, tuple)) or not all(isinstance(one, str) for one in types):
        raise TypeError("types must be a list of texts")
    connections = {preset.connections.get(one) for one in types}
    if None in connections:
        raise ValueError(f"{name} has models for {', '.join(preset.connections)} alone")
    if len(connections) > 1 and not {"protocol", "base_url"} <= values.keys():
        raise ValueError(f"{name} serves these types at different places: give each type a table of its own")
    filled: dict[str, Any] = {"types": types, "tools": preset.tools, "json_schema": preset.json_schema}
    if preset.context_tokens:
        filled["context_tokens"] = preset.context_tokens
    for connection in filter(None, connections):
        filled.update(protocol=connection.protocol, base_url=connection.base_url)
    if values.get("base_url", filled.get("base_url")) == filled.get("base_url"):
        # A provider's key is nothing that another address is sent without being told so.
        filled["key"] = preset.key
    return {**filled, **values}
