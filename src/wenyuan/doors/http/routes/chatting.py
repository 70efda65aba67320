"""Chatting: an answer step by step, taken up again, stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, get_args

from fastapi import APIRouter, Response

from wenyuan.doors.http.answers import ChatAnswer
from wenyuan.doors.http.bodies import Chat
from wenyuan.doors.http.call import JSON, Call, Caller
from wenyuan.doors.http.following import Following
from wenyuan.doors.http.streams import EventStream, event, event_schema, with_signs_of_life
from wenyuan.errors import AnswerInterrupted, RequestInvalid, TraceNotFound, WenyuanError
from wenyuan.runtime.granted import GrantedLibrary, StepName, last
from wenyuan.runtime.granted_conversations import Turn
from wenyuan.runtime.running_answers import RunningAnswer

router = APIRouter(tags=["asking"])
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Events.", "content": event_schema(*get_args(StepName), "error")}
}


@router.post("/chat", response_model=ChatAnswer, responses=_STREAM)
async def chat(call: Caller, body: Chat) -> Response:
    """Answer a question step by step, as server-sent events, or at once with `stream: false`.

    The events, each with `trace_id` and `seq`, are in this order: `router.decision`, `rag.rewrite`,
    `rag.embed`, `tool.call.start`, `tool.call.end`, `rag.sources`, `assistant.delta` any number of times, and
    one `assistant.message` or `error` at the end. What a model looks up while it writes repeats those between with
    another `round`. An `error` in the middle holds what was `saved`: the text so far, and its turn.
    """
    following = Following(await call.ask(lambda library: _begun(call, library, body)))
    is_streamed = False
    try:
        # What cannot be asked at all is refused before anything is streamed.
        await following.begun(call.until_left)
        is_streamed = body.stream
        if is_streamed:
            return _stream(call, following, 0)
        whole = last(await following.all_steps(call.until_left))
        # What has been made is not refused for want of room.
        return Response(await call.go_on(lambda _: call.json(whole)), 200, media_type=JSON)
    finally:
        if not is_streamed:
            following.leave()


@router.get("/chat/{trace}", response_class=Response, responses=_STREAM)
async def resume_chat(call: Caller, trace: str) -> Response:
    """Take up the stream of an answer again, after the event that Last-Event-ID names, or from the beginning.

    That is possible while the answer is given and some minutes after; later, and after a crash, the stream is one
    `assistant.message` with what a session has kept, or the `error` `interrupted` with what was saved.
    """
    seq = _last_event(call)
    found = await call.ask(lambda library: _running(call, library, trace))
    if isinstance(found, RunningAnswer):
        return _stream(call, Following(found), seq)
    return EventStream(call.house, _kept(call, found, seq))


@router.delete("/chat/{trace}", status_code=204)
async def stop_chat(call: Caller, trace: str) -> Response:
    """Stop an answer: its stream ends with what was said until then, and that is kept."""

    def stop(library: GrantedLibrary) -> None:
        found = _running(call, library, trace)
        if isinstance(found, RunningAnswer):
            found.stop()

    await call.ask(stop)
    return Response(status_code=204)


def _begun(call: Call, library: GrantedLibrary, body: Chat) -> RunningAnswer:
    asked = body.question_asked()
    return call.house.answers.begin(library.caller.key_id, lambda stopped: library.chat(asked, body.prefer, stopped))


def _running(call: Call, library: GrantedLibrary, trace: str) -> RunningAnswer | Turn:
    """The answer that is being given under a trace, or else the turn that has kept it. Raises `TraceNotFound`."""
    running = call.house.answers.find(library.caller.key_id, trace)
    found = running if running is not None else library.conversations.answer_of_trace(trace)
    if found is None:
        raise TraceNotFound(trace=trace)
    return found


def _last_event(call: Call) -> int:
    text = call.request.headers.get("last-event-id", "0").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise RequestInvalid(where="Last-Event-ID", reason="it must be the number of an event")
    return int(text)


def _stream(call: Call, following: Following, seq: int) -> Response:
    events = with_signs_of_life(_events(call, following, seq), call.house.settings.heartbeat_seconds)
    return EventStream(call.house, events)


async def _events(call: Call, following: Following, seq: int) -> AsyncIterator[bytes]:
    trace_id = following.running.trace_id
    try:
        while True:
            told = await following.after(seq)
            for step in told.steps:
                seq += 1
                yield event(seq, step.name, {"seq": seq, "trace_id": trace_id, **call.in_language(step.data)})
            if told.is_over and not following.running.after(seq).steps:
                if told.error is not None:
                    yield _error(call, seq + 1, trace_id, told.error)
                elif not _is_whole(following.running):
                    yield _error(call, seq + 1, trace_id, AnswerInterrupted())
                return
    finally:
        following.leave()


def _is_whole(running: RunningAnswer) -> bool:
    steps = running.after(0).steps
    return bool(steps) and steps[-1].name == "assistant.message"


def _error(call: Call, seq: int, trace_id: str, error: WenyuanError) -> bytes:
    saved = {"saved": error.details["saved"]} if "saved" in error.details else {}
    return event(seq, "error", {"seq": seq, "trace_id": trace_id, **call.told(error), **saved})


async def _kept(call: Call, turn: Turn, seq: int) -> AsyncIterator[bytes]:
    """The end of an answer that this process does not remember."""
    answer = turn.answer or {}
    if answer.get("finish_reason") == "interrupted":
        yield _error(call, seq + 1, turn.trace_id, AnswerInterrupted(saved={"text": turn.text, "turn": turn.number}))
        return
    data = {"seq": seq + 1, "trace_id": turn.trace_id, **answer, "text": turn.text, "turn": turn.number}
    yield event(seq + 1, "assistant.message", data)
