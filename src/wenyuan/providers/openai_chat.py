"""Chat completions over HTTP as OpenAI defined them: `POST {base_url}/chat/completions`.

Spoken by OpenAI, DeepSeek, DashScope, SiliconFlow, Zhipu, Moonshot, Ollama, vLLM, llama.cpp, LM Studio and many others.
https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any, Final

from wenyuan.errors import ProviderError, ProviderUnavailable
from wenyuan.ports import Generator
from wenyuan.providers.chat_service import ChatService, asking_for_schema, read_event, token_count
from wenyuan.providers.event_stream import ServerEvent
from wenyuan.providers.http_service import Incoming
from wenyuan.providers.reasoning import ReasoningFilter
from wenyuan.providers.replies import REPEATABLE
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
    Tool,
    ToolCall,
)

_REASONS: Final[Mapping[str, GenerationEndReason]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "content_filter": "filtered",
}
_DONE = "[DONE]"
_MOST_CALLS = 128
"""So many calls of tools are heard in one answer; the others are passed over."""


def create(settings: ModelSettings, cache_directory: Path, on_progress: Callable[[str], None]) -> Generator:
    """Make the generator that the settings describe; nothing is called yet. Raises `ConfigurationInvalid`."""
    del cache_directory, on_progress
    return OpenAIChat(settings)


class OpenAIChat(ChatService):
    """Writes with a model behind an OpenAI-compatible API; thoughts that it tells of are passed over."""

    def __init__(self, settings: ModelSettings, surroundings: Surroundings | None = None) -> None:
        super().__init__(settings, "/chat/completions", surroundings)
        self._length_field = "max_tokens"
        self._takes_temperature = True
        self._takes_stream_options = True

    def _request(self, request: GenerationRequest) -> JsonObject:
        settings = self._settings
        in_words = request.json_schema is not None and not settings.json_schema
        messages = asking_for_schema(request) if in_words else request.messages
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [_message(one) for one in messages],
            "stream": True,
            self._length_field: request.max_output_tokens or settings.max_output_tokens,
        }
        if self._takes_stream_options:
            body["stream_options"] = {"include_usage": True}
        if request.temperature is not None and self._takes_temperature:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [_tool(one) for one in request.tools]
        if request.stop:
            body["stop"] = list(request.stop)
        if request.json_schema is not None and not in_words:
            is_closed = request.json_schema.get("additionalProperties") is False
            described = {"name": "answer", "schema": request.json_schema, "strict": is_closed}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        return {**body, **settings.options}

    def _adjusts(self, refusal: bytes) -> bool:
        """Newer models of OpenAI want the length under another name and no temperature; some know no options."""
        if self._length_field == "max_tokens" and b"max_completion_tokens" in refusal:
            self._length_field = "max_completion_tokens"
        elif self._takes_temperature and b"temperature" in refusal:
            self._takes_temperature = False
        elif self._takes_stream_options and b"stream_options" in refusal:
            self._takes_stream_options = False
        else:
            return False
        return True

    def _streamed(
        self, request: GenerationRequest, events: Iterator[ServerEvent], incoming: Incoming
    ) -> Iterator[GenerationEvent]:
        del request
        heard = _Heard()
        for event in events:
            if event.data.strip() == _DONE:
                break
            chunk = read_event(event, incoming)
            _check_error(chunk, incoming)
            heard.note(chunk)
            for choice in _choices(chunk):
                yield from heard.said(choice.get("delta"))
        if not heard.reason:
            raise ProviderUnavailable(provider=incoming.name, reason="its answer ended in the middle")
        yield from heard.end(self._settings.model)

    def _whole(self, request: GenerationRequest, answer: JsonObject, incoming: Incoming) -> Iterator[GenerationEvent]:
        del request
        _check_error(answer, incoming)
        heard = _Heard()
        heard.note(answer)
        choices = _choices(answer)
        if not choices or not isinstance(choices[0].get("message"), dict):
            raise incoming.invalid("it holds no message")
        yield from heard.said(choices[0]["message"])
        yield from heard.end(self._settings.model)


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    index: int | None = None


@dataclass(slots=True)
class _Heard:
    """What an answer has said so far."""

    reason: str = ""
    model: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    calls: list[_Call] = field(default_factory=list)
    thoughts: ReasoningFilter = field(default_factory=ReasoningFilter)

    def note(self, chunk: JsonObject) -> None:
        if isinstance(chunk.get("model"), str):
            # llama.cpp names the file of the weights, with its folders, which concern nobody.
            self.model = PureWindowsPath(name).name if (name := chunk["model"]).endswith(".gguf") else name
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.usage = TokenUsage(
                token_count(usage.get("prompt_tokens")), token_count(usage.get("completion_tokens"))
            )
        for choice in _choices(chunk):
            reason = choice.get("finish_reason")
            self.reason = reason if isinstance(reason, str) and reason else self.reason

    def said(self, message: object) -> Iterator[TextPiece]:
        if not isinstance(message, dict):
            return
        if text := self.thoughts.feed(_text(message.get("content"))):
            yield TextPiece(text)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call)

    def end(self, model: str) -> Iterator[GenerationEvent]:
        if text := self.thoughts.end():
            yield TextPiece(text)
        calls = tuple(
            ToolCall(call.id or f"call_{number}", call.name, "".join(call.arguments) or "{}")
            for number, call in enumerate(self.calls)
            if call.name
        )
        # Some say that they stopped where they called a tool.
        reason = _REASONS.get(self.reason, "stop")
        yield GenerationEnd(
            "tool-calls" if calls and reason == "stop" else reason, self.model or model, self.usage, calls
        )

    def _call(self, said: Mapping[str, Any]) -> None:
        """Add to the call that is meant: a number tells which; without one, an id tells that another one begins."""
        index, name_of_call = said.get("index"), said.get("id")
        name_of_call = name_of_call if isinstance(name_of_call, str) else ""
        known = [one for one in self.calls if type(index) is not int or one.index == index]
        call = known[-1] if known else None
        if call is None or (name_of_call and call.id and name_of_call != call.id):
            if len(self.calls) >= _MOST_CALLS:
                return
            call = _Call(index=index if type(index) is int else None)
            self.calls.append(call)
        function = said.get("function")
        call.id = call.id or name_of_call
        if isinstance(function, dict):
            call.name += function["name"] if isinstance(function.get("name"), str) else ""
            arguments = function.get("arguments")
            if arguments:
                call.arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))


def _choices(chunk: JsonObject) -> list[dict[str, Any]]:
    """The first alternative, which is the one that was asked for."""
    choices = chunk.get("choices")
    return [one for one in choices[:1] if isinstance(one, dict)] if isinstance(choices, list) else []


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _check_error(chunk: JsonObject, incoming: Incoming) -> None:
    error = chunk.get("error")
    if not error:
        return
    said = incoming.excerpt(json.dumps({"error": error}).encode())
    status = error.get("code") if isinstance(error, dict) else None
    raise _error(status, said, incoming)


def _error(status: object, said: str, incoming: Incoming) -> ProviderError:
    if type(status) is int and 400 <= status < 500 and status not in REPEATABLE:
        return incoming.invalid(said)
    return ProviderUnavailable(provider=incoming.name, reason=f"it broke off: {said}")


def _message(message: Message) -> dict[str, Any]:
    worded: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        worded["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        worded["content"] = message.text or None
        worded["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return worded


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
