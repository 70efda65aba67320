"""The calls to language models that one answer takes: within one deadline, counted and recorded."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from wenyuan import ports
from wenyuan.errors import ProviderTimeout, WenyuanError
from wenyuan.ports import CallStopped
from wenyuan.rules.whole_characters import whole_characters
from wenyuan.types import GenerationEnd, GenerationEvent, GenerationRequest, JsonObject, TextPiece

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Usage:
    """What the calls came to in tokens, as far as providers say, and how many there were."""

    input_tokens: int | None
    output_tokens: int | None
    calls: int


class ModelCalls:
    """Calls of one conversation; `clock` gives seconds that never go back, and `seconds` is what they may take.

    Where there is a `stopped` to be asked, a call ends without an end soon after that is true, and so does the model's
    own work, whether or not it has said anything.
    """

    def __init__(self, clock: Callable[[], float], seconds: float, stopped: Callable[[], bool] | None = None) -> None:
        self._clock = clock
        self._stopped = stopped
        self._seconds = seconds
        self._began = clock()
        self._deadline = self._began + seconds
        self._records: list[dict[str, Any]] = []

    def stream(
        self, generator: ports.Generator, purpose: str, request: GenerationRequest
    ) -> Generator[GenerationEvent, None, None]:
        """The events of one call; closed early, it ends the call. Raises `ProviderError`."""
        profile = generator.profile
        left = self._deadline - self._clock()
        if left <= 0:
            raise ProviderTimeout(provider=profile.name, seconds=self._seconds)
        record: dict[str, Any] = {
            "purpose": purpose,
            "name": profile.name,
            "provider": profile.provider,
            "protocol": profile.protocol,
            "endpoint": profile.endpoint,
            "model": profile.model,
            "start_ms": self._since(self._began),
            "first_ms": None,
        }
        self._records.append(record)
        began = self._clock()
        events = generator.generate(request, left, self._stopped)
        try:
            for event in events:
                if self.is_stopped:
                    return
                if record["first_ms"] is None and isinstance(event, TextPiece):
                    record["first_ms"] = self._since(began)
                if isinstance(event, GenerationEnd):
                    event = _storable(event)
                    record.update(
                        reason=event.reason,
                        model=event.model or profile.model,
                        input_tokens=event.usage.input_tokens,
                        output_tokens=event.usage.output_tokens,
                    )
                yield event
        except CallStopped:
            record["reason"] = "stopped"
        except WenyuanError as error:
            record["error"] = error.code
            raise
        finally:
            _close(events)
            record["ms"] = self._since(began)

    def text(self, generator: ports.Generator, purpose: str, request: GenerationRequest) -> str:
        """All that one call says. Raises `ProviderError`."""
        with closing(self.stream(generator, purpose, request)) as events:
            return "".join(event.text for event in events if isinstance(event, TextPiece))

    @property
    def is_stopped(self) -> bool:
        return self._stopped is not None and self._stopped()

    @property
    def records(self) -> tuple[JsonObject, ...]:
        """What is kept of each call: which model, where, how long and how much; never what was said."""
        return tuple(self._records)

    @property
    def usage(self) -> Usage:
        return Usage(self._sum("input_tokens"), self._sum("output_tokens"), len(self._records))

    def _sum(self, name: str) -> int | None:
        counted = [record[name] for record in self._records if record.get(name) is not None]
        return sum(counted) if counted else None

    def _since(self, began: float) -> float:
        return round((self._clock() - began) * 1000, 1)


def _storable(end: GenerationEnd) -> GenerationEnd:
    """The same end, the names in it such as can be kept: they are whatever the provider said."""
    calls = tuple(replace(call, name=_name(call.name)) for call in end.tool_calls)
    return replace(end, model=_name(end.model), tool_calls=calls)


def _name(said: str) -> str:
    return whole_characters(said[:_LONGEST_NAME])


def _close(events: Iterator[GenerationEvent]) -> None:
    # An adapter may return any iterator; one that is a generator holds a connection.
    if isinstance(events, Generator):
        events.close()
