"""Jobs, and what happens to them as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Annotated, get_args

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.answers import JobList
from wenyuan.doors.http.call import Call, Caller
from wenyuan.doors.http.streams import EventStream, event, event_schema, or_error, with_signs_of_life
from wenyuan.errors import InvalidValue, WenyuanError
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.jobs import EventKind, JobEvent
from wenyuan.types import Job

router = APIRouter(prefix="/jobs", tags=["jobs"])

_POLL_SECONDS = 0.25
_NAMES = [f"job.{kind}" for kind in get_args(EventKind)]


@router.get("", response_model=JobList)
async def list_jobs(call: Caller, live: bool = False, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """List jobs: those under way first, in the order they will be done, then those that ended, newest first."""
    return await call.reply(
        lambda library: JobList(library.jobs(only_live=live, limit=limit), working=library.is_working())
    )


@router.get(
    "/events",
    response_class=Response,
    responses={200: {"description": "Events.", "content": event_schema(*_NAMES, "error")}},
)
async def stream_job_events(
    call: Caller,
    after: Annotated[int | None, Query(ge=0, le=1 << 62, description="Number of the last event seen.")] = None,
) -> Response:
    """Follow jobs by server-sent events, each with the number `seq`.

    It goes on behind the number in Last-Event-ID, or in `after`; without, it begins with the jobs under
    way. A job that changed several times meanwhile is told of once, as it stands.
    """
    seen = _last_seen(call, after)
    if seen is None:
        newest, begun = await call.ask(lambda library: library.begun_jobs())
        begun = [one for one in begun if one.number <= newest]
    else:
        newest, begun = seen, []
        await call.ask(lambda library: library.job_events(newest))
    events = with_signs_of_life(_events(call, newest, begun), call.house.settings.heartbeat_seconds)
    return EventStream(call.house, events)


def _last_seen(call: Call, after: int | None) -> int | None:
    named = call.request.headers.get("last-event-id")
    if named is None:
        return after
    if not (named.isascii() and named.isdigit() and len(named) < 19):
        raise InvalidValue(what="Last-Event-ID", value=named[:40], reason="it is the number of an event")
    return int(named)


async def _events(call: Call, newest: int, begun: Sequence[JobEvent]) -> AsyncIterator[bytes]:
    for one in begun:
        yield _event(call, one)
    while not call.house.is_stopping:
        told = await or_error(call.go_on(partial(_since, newest)))
        if isinstance(told, WenyuanError):
            yield event(newest, "error", call.told(told))
            return
        after, (newest, found) = newest, told
        for one in found:
            yield _event(call, one)
        if newest == after:
            await asyncio.sleep(_POLL_SECONDS)


def _since(after: int, library: GrantedLibrary) -> tuple[int, list[JobEvent]]:
    return library.job_events(after)


def _event(call: Call, one: JobEvent) -> bytes:
    data = {
        "seq": one.number,
        "kind": one.kind,
        "job": one.job,
        "document": one.document,
        "document_id": one.document_id,
        "knowledge_base": one.knowledge_base,
        "size": one.size,
        "rate": one.rate,
        "seconds_left": one.seconds_left,
    }
    return event(one.number, f"job.{one.kind}", call.in_language(data))


@router.get("/{job}", response_model=Job)
async def get_job(call: Caller, job: str) -> Response:
    """Show a job."""
    return await call.reply(lambda library: library.job(job))


@router.post("/{job}/cancel", response_model=Job)
async def cancel_job(call: Caller, job: str) -> Response:
    """Cancel a job: at once where it waits, within one batch where it runs. Needs the scope write."""
    return await call.reply(lambda library: library.cancel_job(job))
