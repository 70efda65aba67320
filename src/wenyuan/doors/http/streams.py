"""Server-sent events (HTML Living Standard, 9.2): one line of JSON each, with a sign of life now and then."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, TypeVar

from pydantic_core import to_json
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from wenyuan.doors.http.house import House
from wenyuan.errors import WenyuanError

Result = TypeVar("Result")

EVENT_STREAM = "text/event-stream"


def event_schema(*names: str) -> dict[str, Any]:
    """What is said of a stream: each of its events has one of these names."""
    data = {"type": "string", "contentMediaType": "application/json"}
    properties = {"id": {"type": "string"}, "event": {"type": "string", "enum": list(names)}, "data": data}
    return {EVENT_STREAM: {"schema": {"type": "object", "properties": properties}}}


ALIVE = b": alive\n\n"
_LOG = logging.getLogger("wenyuan.http")


def event(number: int, name: str, data: Any) -> bytes:
    """One event; whoever lost the connection names its number in Last-Event-ID."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), to_json(data))


class EventStream(StreamingResponse):
    """Events as they come. It holds a place among the streams that may be open, and gives it back."""

    def __init__(self, house: House, events: AsyncIterator[bytes]) -> None:
        super().__init__(events, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._house.streams:
            await super().__call__(scope, receive, send)


async def with_signs_of_life(events: AsyncIterator[bytes], seconds: float) -> AsyncIterator[bytes]:
    """The same events, with a comment whenever none came for so long; closed with it."""
    coming: asyncio.Task[bytes] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(_next(events))
            done, _ = await asyncio.wait({coming}, timeout=seconds)
            if not done:
                yield ALIVE
                continue
            piece, coming = coming.result(), None
            if not piece:
                return
            yield piece
    finally:
        if coming is not None:
            # Whoever makes the events is stopped in the middle of the next one.
            coming.cancel()
        elif isinstance(events, AsyncGenerator):
            await events.aclose()


async def _next(events: AsyncIterator[bytes]) -> bytes:
    """The next event, empty at the end."""
    try:
        return await anext(events)
    except StopAsyncIteration:
        return b""


async def or_error(asked: Coroutine[Any, Any, Result]) -> Result | WenyuanError:
    """What comes of it, or the error that a stream ends with: its answer has begun, so that no other is possible."""
    results: tuple[Result | BaseException] = await asyncio.gather(asked, return_exceptions=True)
    result = results[0]
    if isinstance(result, WenyuanError) or not isinstance(result, BaseException):
        return result
    _LOG.error("a stream failed unexpectedly", exc_info=result)
    return WenyuanError(reason=type(result).__name__)
