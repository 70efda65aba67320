"""Messages over HTTP as Anthropic defined them: `POST {base_url}/messages`. https://docs.anthropic.com/en/api/messages"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from wenyuan.errors import ProviderError, ProviderUnavailable
from wenyuan.ports import Generator
from wenyuan.providers.chat_service import ChatService, asking_for_schema, read_event, token_count
from wenyuan.providers.event_stream import ServerEvent
from wenyuan.providers.http_service import Incoming
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import (
    GenerationEnd,
    GenerationEndReason,
    GenerationEvent,
    GenerationRequest,
    JsonObject,
    Message,
    TextPiece,
    TokenUsage,
    ToolCall,
)

_VERSION = "2023-06-01"
_ANSWER_TOOL = "answer"
"""The tool whose arguments are the answer where a schema is asked for: a model is held to those of a tool."""
_REASONS: Final[Mapping[str, GenerationEndReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "refusal": "filtered",
}
_PASSING_ERRORS = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})


def create(settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Generator:
    """Make the generator that the settings describe; nothing is called yet. Raises `ConfigurationInvalid`."""
    del cache_directory, on_progress
    return AnthropicChat(settings)


class AnthropicChat(ChatService):
    """Writes with a model behind the API of Anthropic; thoughts that it tells of are passed over."""

    def __init__(self, settings: ModelSettings, surroundings: Surroundings | None = None) -> None:
        super().__init__(settings, "/messages", surroundings, key_header="x-api-key")
        self._takes_temperature = True

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": _VERSION}

    def _request(self, request: GenerationRequest) -> JsonObject:
        settings = self._settings
        by_tool = self._answers_by_tool(request)
        in_words = request.json_schema is not None and not by_tool
        messages = asking_for_schema(request) if in_words else request.messages
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": _conversation(messages),
            "stream": True,
            "max_tokens": request.max_output_tokens or settings.max_output_tokens,
        }
        if system := "\n\n".join(one.text for one in messages if one.role == "system" and one.text):
            body["system"] = system
        if request.temperature is not None and self._takes_temperature:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop_sequences"] = list(request.stop)
        if request.tools:
            body["tools"] = [_tool(one.name, one.description, one.parameters) for one in request.tools]
        if by_tool and request.json_schema is not None:
            body["tools"] = [_tool(_ANSWER_TOOL, "Gives the answer.", request.json_schema)]
            body["tool_choice"] = {"type": "tool", "name": _ANSWER_TOOL}
        return {**body, **settings.options}

    def _answers_by_tool(self, request: GenerationRequest) -> bool:
        """The arguments of a tool are always an object."""
        schema = request.json_schema
        return schema is not None and schema.get("type") == "object" and self._settings.json_schema

    def _adjusts(self, refusal: bytes) -> bool:
        if not (self._takes_temperature and b"temperature" in refusal):
            return False
        self._takes_temperature = False
        return True

    def _streamed(
        self, request: GenerationRequest, events: Iterator[ServerEvent], incoming: Incoming
    ) -> Iterator[GenerationEvent]:
        heard = _Heard(self._answers_by_tool(request))
        for event in events:
            data = read_event(event, incoming)
            kind = data.get("type")
            if kind == "error":
                raise _error(data.get("error"), incoming)
            yield from heard.hear(str(kind), data)
            if kind == "message_stop":
                break
        if not heard.reason:
            raise ProviderUnavailable(provider=incoming.name, reason="its answer ended in the middle")
        yield heard.end(self._settings.model)

    def _whole(self, request: GenerationRequest, answer: JsonObject, incoming: Incoming) -> Iterator[GenerationEvent]:
        if answer.get("type") == "error":
            raise _error(answer.get("error"), incoming)
        content = answer.get("content")
        if not isinstance(content, list):
            raise incoming.invalid("it holds no content")
        heard = _Heard(self._answers_by_tool(request))
        yield from heard.hear("message_start", {"message": answer})
        for block in content:
            yield from heard.hear("content_block_start", {"content_block": block})
            yield from heard.hear("content_block_stop", {})
        yield from heard.hear("message_delta", {"delta": answer, "usage": answer.get("usage")})
        yield heard.end(self._settings.model)


@dataclass(slots=True)
class _Heard:
    """What an answer has said so far; the arguments of a tool are its text where it answers by one."""

    by_tool: bool
    reason: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: list[ToolCall] = field(default_factory=list)
    _block: JsonObject = field(default_factory=dict)
    _arguments: list[str] = field(default_factory=list)

    def hear(self, kind: str, data: JsonObject) -> Iterator[TextPiece]:
        if kind == "message_start":
            self._begin(_object(data.get("message")))
        elif kind == "content_block_start":
            self._block, self._arguments = _object(data.get("content_block")), []
            yield from _pieces(self._block.get("text") if self._block.get("type") == "text" else "")
        elif kind == "content_block_delta":
            yield from self._more(_object(data.get("delta")))
        elif kind == "content_block_stop":
            yield from self._close_block()
        elif kind == "message_delta":
            reason = _object(data.get("delta")).get("stop_reason")
            self.reason = reason if isinstance(reason, str) else self.reason
            self.output_tokens = token_count(_object(data.get("usage")).get("output_tokens"))

    def end(self, model: str) -> GenerationEnd:
        usage = TokenUsage(self.input_tokens, self.output_tokens)
        reason: GenerationEndReason = _REASONS.get(self.reason, "stop")
        if reason == "tool-calls" and not self.calls:
            reason = "stop"
        return GenerationEnd(reason, self.model or model, usage, tuple(self.calls))

    def _begin(self, message: JsonObject) -> None:
        if isinstance(message.get("model"), str):
            self.model = message["model"]
        usage = _object(message.get("usage"))
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        counts = [count for count in (token_count(usage.get(name)) for name in names) if count is not None]
        self.input_tokens = sum(counts) if counts else None

    def _more(self, delta: JsonObject) -> Iterator[TextPiece]:
        if delta.get("type") == "text_delta":
            yield from _pieces(delta.get("text"))
        elif delta.get("type") == "input_json_delta" and isinstance(delta.get("partial_json"), str):
            self._arguments.append(delta["partial_json"])
            if self.by_tool:
                yield from _pieces(delta["partial_json"])

    def _close_block(self) -> Iterator[TextPiece]:
        block, self._block = self._block, {}
        if block.get("type") != "tool_use":
            return
        arguments = "".join(self._arguments)
        if not arguments:
            arguments = json.dumps(_object(block.get("input")), ensure_ascii=False)
            if self.by_tool:
                yield TextPiece(arguments)
        if not self.by_tool:
            self.calls.append(ToolCall(str(block.get("id", "")), str(block.get("name", "")), arguments))


def _pieces(text: object) -> Iterator[TextPiece]:
    if isinstance(text, str) and text:
        yield TextPiece(text)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _error(error: object, incoming: Incoming) -> ProviderError:
    said = incoming.excerpt(json.dumps({"error": error}).encode())
    if _object(error).get("type") in _PASSING_ERRORS:
        return ProviderUnavailable(provider=incoming.name, reason=f"it broke off: {said}")
    return incoming.invalid(said)


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages but the system's; what is said by one side in a row, results of tools included, is one message."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message) if message.role != "system" else []
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.text}]
    # A text without a letter is refused.
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = (
        {"type": "tool_use", "id": one.id, "name": one.name, "input": _arguments(one)} for one in message.tool_calls
    )
    return [*blocks, *calls]


def _arguments(call: ToolCall) -> JsonObject:
    """What was called for, as an object: what a model wrote that is none has no other place here."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": call.arguments}


def _tool(name: str, description: str, parameters: JsonObject) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": parameters}
