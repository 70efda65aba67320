"""Searching, retrieving, asking, chatting, and the traces of all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from fastapi import APIRouter, Response

from wenyuan.doors.http.answers import ChatAnswer
from wenyuan.doors.http.bodies import Asked, Chat, Retrieve, Search
from wenyuan.doors.http.call import Call, Caller
from wenyuan.doors.http.streams import EventStream, event, event_schema, or_error, with_signs_of_life
from wenyuan.errors import WenyuanError
from wenyuan.runtime.granted import Retrieved, Step, StepName, last
from wenyuan.types import Answer, ArmName, SearchResult

router = APIRouter(tags=["asking"])


@router.post("/search", response_model=SearchResult)
async def search(call: Caller, body: Search) -> Response:
    """Find the passages that answer a question, best first, with everything that is known of each."""
    lists: Sequence[ArmName] | None = body.lists
    return await call.reply(lambda library: library.search(body.asked(body.top_k), lists))


@router.post("/retrieve", response_model=Retrieved)
async def retrieve(call: Caller, body: Retrieve) -> Response:
    """Find evidence for a question, for programs that write the answer themselves."""
    return await call.reply(lambda library: library.retrieve(body.asked(body.top_k)))


@router.post("/ask", response_model=Answer)
async def ask(call: Caller, body: Asked) -> Response:
    """Answer a question with sentences from the documents, word for word, each with its citation."""
    return await call.reply(lambda library: library.ask(body.asked()))


@router.post(
    "/chat",
    response_model=ChatAnswer,
    responses={200: {"content": event_schema(*get_args(StepName), "error")}},
)
async def chat(call: Caller, body: Chat) -> Response:
    """Answer a question step by step, as server-sent events, or at once with `stream: false`.

    The events, each with `trace_id` and `seq`, are in this order: `router.decision`, `rag.rewrite`,
    `rag.embed`, `tool.call.start`, `tool.call.end`, `rag.sources`, `assistant.delta` any number of times, and
    one `assistant.message` or `error` at the end.
    """
    steps = await call.ask(lambda library: library.chat(body.asked(body.top_k), body.prefer))
    if not body.stream:
        return await call.reply(lambda _: last(list(steps)))
    first = await call.ask(lambda _: next(steps))
    events = with_signs_of_life(_events(call, first, steps), call.house.settings.heartbeat_seconds)
    return EventStream(call.house, events)


async def _events(call: Call, first: Step, steps: Iterator[Step]) -> AsyncIterator[bytes]:
    numbered = _Numbered(first.trace_id)
    yield numbered(first.name, first.data)
    while (step := await or_error(call.go_on(lambda _: next(steps, None)))) is not None:
        if isinstance(step, WenyuanError):
            yield numbered("error", call.told(step))
            return
        yield numbered(step.name, step.data)


@dataclass(slots=True)
class _Numbered:
    """Events of one stream, numbered from 1."""

    trace_id: str
    seq: int = 0

    def __call__(self, name: str, data: Any) -> bytes:
        self.seq += 1
        return event(self.seq, name, {"seq": self.seq, "trace_id": self.trace_id, **data})


@router.get("/traces/{trace}", response_model=dict[str, Any], tags=["traces"])
async def get_trace(call: Caller, trace: str) -> Response:
    """Show what happened to a question: every stage, list and decision."""
    return await call.reply(lambda library: library.trace(trace))
