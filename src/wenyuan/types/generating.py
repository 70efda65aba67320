"""What a language model is asked, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wenyuan.types.reading import JsonObject

MessageRole = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model asks for. `arguments` is the JSON text as the model wrote it, which may be no JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model; a `tool` message answers the call named in `tool_call_id`."""

    role: MessageRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may ask for. `parameters` is a JSON Schema of the arguments."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """Messages, oldest first, and how they are to be answered.

    With a `json_schema` the answer is to be one JSON value of that shape. `max_output_tokens` of 0 leaves the
    length to the model's settings; a `temperature` of None leaves it to the provider.
    """

    messages: tuple[Message, ...]
    max_output_tokens: int = 0
    tools: tuple[Tool, ...] = ()
    json_schema: JsonObject | None = None
    stop: tuple[str, ...] = ()
    temperature: float | None = 0.0


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What a call came to, as the provider counts; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


GenerationEndReason = Literal["stop", "length", "tool-calls", "filtered"]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of a text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class GenerationEnd:
    """The last event of a generation. `model` is the one that answered, as the provider names it."""

    reason: GenerationEndReason
    model: str
    usage: TokenUsage
    tool_calls: tuple[ToolCall, ...] = ()


GenerationEvent = TextPiece | GenerationEnd


@dataclass(frozen=True, slots=True)
class GeneratorProfile:
    """What a language model is and can do. Sizes are in tokens."""

    name: str
    """The name in the configuration."""
    provider: str
    protocol: str
    endpoint: str
    model: str
    context_tokens: int
    max_output_tokens: int
    can_call_tools: bool
    can_follow_schema: bool


@dataclass(frozen=True, slots=True)
class RerankerProfile:
    """What a reranking model is, and how many passages of how many characters it takes in one call."""

    name: str
    provider: str
    protocol: str
    endpoint: str
    model: str
    max_passages: int
    max_characters: int
