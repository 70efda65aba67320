"""Looking after a server: is it alive, is it ready, what has it done."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic_core import to_json
from starlette.requests import Request

from wenyuan.doors.http.answers import Health
from wenyuan.doors.http.call import JSON, Caller
from wenyuan.doors.http.house import House
from wenyuan.doors.http.metrics import CONTENT_TYPE
from wenyuan.errors import ServerNotReady

router = APIRouter()


@router.get("/health", response_model=Health, tags=["operations"])
async def health() -> Response:
    """Answer, which shows that the server is alive. Needs no key."""
    return Response(to_json(Health("ok")), media_type=JSON)


@router.get("/ready", response_model=Health, tags=["operations"])
async def ready(request: Request) -> Response:
    """Answer where the library can be asked and its work is done. Needs no key."""
    house: House = request.app.state.house
    if house.is_stopping or house.worker_problem:
        raise ServerNotReady(reason=house.worker_problem or "it is being stopped")
    await house.pool.run(lambda: house.library.knowledge_bases.find(None), house.settings.request_seconds)
    return Response(to_json(Health("ok")), media_type=JSON)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    tags=["operations"],
)
async def metrics(call: Caller) -> Response:
    """Show what was asked and how long it took, for Prometheus. Needs admin for all knowledge bases."""
    house = call.house
    # What tells that there is too much to do is not refused for that.
    jobs = await call.go_on(lambda library: library.upkeep.job_counts())
    gauges = {
        "http_requests_at_work": house.pool.taken,
        "http_streams_open": house.streams.inside,
        "http_uploads_open": house.uploads.inside,
        "http_connections_open": len(house.connections),
        "answers_under_way": house.answers.under_way,
        "worker_up": float(not house.worker_problem),
    }
    return Response(house.metrics.text(gauges, jobs), headers={"Content-Type": CONTENT_TYPE})
