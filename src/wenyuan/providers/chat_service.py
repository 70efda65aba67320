"""What all language models behind an API have in common: how a call goes on, whatever it is worded like."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any

from wenyuan.errors import ConfigurationInvalid
from wenyuan.providers.event_stream import LONGEST_EVENT_BYTES, ServerEvent, server_events
from wenyuan.providers.http_service import Call, HttpService, Incoming
from wenyuan.providers.replies import address_fault
from wenyuan.providers.retrying import Surroundings
from wenyuan.providers.settings import ModelSettings
from wenyuan.providers.stopping import Stopped, never
from wenyuan.types import GenerationEvent, GenerationRequest, GeneratorProfile, JsonObject, Message

_LARGEST_ANSWER_BYTES = 16 << 20


class ChatService(ABC):
    """A language model behind an API; safe to share between threads.

    Connections are kept open between calls. The key is resolved anew at every call.
    """

    def __init__(
        self, settings: ModelSettings, path: str, surroundings: Surroundings | None = None, key_header: str = ""
    ) -> None:
        fault = address_fault(settings.base_url)
        if fault or not settings.model:
            wrong, reason = ("base_url", fault) if fault else ("model", "the provider's name of the model is missing")
            raise ConfigurationInvalid(setting=f"models.{settings.name}.{wrong}", source="the settings", reason=reason)
        self._settings = settings
        self._url = settings.base_url.rstrip("/") + path
        self._service = HttpService(
            settings.name,
            settings.base_url,
            settings.key,
            surroundings,
            key_header,
            allow_link_local=settings.link_local,
        )

    @property
    def profile(self) -> GeneratorProfile:
        settings = self._settings
        return GeneratorProfile(
            name=settings.name,
            provider=settings.provider,
            protocol=settings.protocol,
            endpoint=self._url,
            model=settings.model,
            context_tokens=settings.context_tokens,
            max_output_tokens=settings.max_output_tokens,
            can_call_tools=settings.tools,
            can_follow_schema=settings.json_schema,
        )

    def generate(
        self, request: GenerationRequest, timeout: float, stopped: Stopped | None = None
    ) -> Iterator[GenerationEvent]:
        """Yield pieces of text as they come, and one `GenerationEnd` last; closing the iterator ends the call.

        A schema is asked for in words where the model cannot be held to one. Once `stopped` says so, the connection
        is closed, whether or not anything has come. Raises `CallStopped` then, `KeyMissing`, `ProviderRefused`,
        `ProviderAnswerInvalid`, and, worth trying again later, `ProviderTimeout`, `RateLimited` and
        `ProviderUnavailable`.
        """
        call = Call(self._url, partial(self._request, request), self._headers(), self._adjusts)
        begin = partial(self._begun, request)
        incoming, (first, rest) = self._service.stream(
            call, timeout, _LARGEST_ANSWER_BYTES, begin, stopped=stopped or never
        )
        try:
            yield first
            yield from rest
        finally:
            incoming.close()

    def close(self) -> None:
        """Close the connections that are kept; the next call opens new ones."""
        self._service.close()

    def _begun(
        self, request: GenerationRequest, incoming: Incoming
    ) -> tuple[GenerationEvent, Iterator[GenerationEvent]]:
        events = self._events(request, incoming)
        return next(events), events

    def _events(self, request: GenerationRequest, incoming: Incoming) -> Iterator[GenerationEvent]:
        if "json" in incoming.headers.get("content-type", ""):
            # Asked for a stream, some answer as a whole all the same.
            yield from self._whole(request, _object(b"".join(incoming), incoming), incoming)
            return
        too_long = partial(incoming.invalid, f"an event has more than {LONGEST_EVENT_BYTES:,} bytes")
        yield from self._streamed(request, server_events(incoming, too_long), incoming)

    @abstractmethod
    def _request(self, request: GenerationRequest) -> JsonObject:
        """The body of the request."""

    def _headers(self) -> dict[str, str]:
        return {}

    def _adjusts(self, refusal: bytes) -> bool:
        """Whether, shown a refusal, the next request will be worded differently."""
        del refusal
        return False

    @abstractmethod
    def _streamed(
        self, request: GenerationRequest, events: Iterator[ServerEvent], incoming: Incoming
    ) -> Iterator[GenerationEvent]:
        """What the events of a stream say."""

    @abstractmethod
    def _whole(self, request: GenerationRequest, answer: JsonObject, incoming: Incoming) -> Iterator[GenerationEvent]:
        """What an answer says that came as a whole."""


def read_event(event: ServerEvent, incoming: Incoming) -> JsonObject:
    """The data of an event, which is a JSON object. Raises `ProviderAnswerInvalid`."""
    return _object(event.data, incoming)


def _object(text: str | bytes, incoming: Incoming) -> JsonObject:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise incoming.invalid("it is not made of JSON objects")
    return value


def asking_for_schema(request: GenerationRequest) -> tuple[Message, ...]:
    """The messages of a request, with its schema in words for a model that cannot be held to it."""
    schema = json.dumps(request.json_schema, ensure_ascii=False)
    words = f"Answer with one JSON value that fits this JSON Schema, and with nothing else:\n{schema}"
    first, *others = request.messages
    if first.role == "system":
        return (Message("system", f"{first.text}\n\n{words}"), *others)
    return (Message("system", words), *request.messages)


def token_count(value: object) -> int | None:
    """A number of tokens as a provider states it, or None."""
    return value if type(value) is int and value >= 0 else None
