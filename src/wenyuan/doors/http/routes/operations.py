"""Looking after a server: is it alive, is it ready, what has it done; its models, and runs of evaluation sets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic_core import to_json
from starlette.requests import Request

from wenyuan.doors.http.answers import Health, ModelList, RunList
from wenyuan.doors.http.call import JSON, Caller
from wenyuan.doors.http.house import House
from wenyuan.doors.http.metrics import CONTENT_TYPE
from wenyuan.errors import ServerNotReady
from wenyuan.runtime.evaluation import EvaluationRun
from wenyuan.runtime.granted import ModelTest

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
    jobs = await call.ask(lambda library: library.job_counts())
    gauges = {
        "http_requests_at_work": house.pool.taken,
        "http_streams_open": house.streams.inside,
        "http_uploads_open": house.uploads.inside,
        "worker_up": float(not house.worker_problem),
    }
    return Response(house.metrics.text(gauges, jobs), headers={"Content-Type": CONTENT_TYPE})


@router.get("/models", response_model=ModelList, tags=["models"])
async def list_models(call: Caller) -> Response:
    """List the embedding models that are configured."""
    return await call.reply(lambda library: ModelList(library.models()))


@router.post("/models/{model:path}/test", response_model=ModelTest, tags=["models"])
async def test_model(call: Caller, model: str) -> Response:
    """Have a model embed a word, to see that it can be used. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: library.test_model(model))


@router.get("/evaluation/runs", response_model=RunList, tags=["evaluation"])
async def list_runs(
    call: Caller,
    set_name: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """List stored runs of evaluation sets, newest first. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: RunList(library.evaluation_runs(set_name, limit)))


@router.get("/evaluation/runs/{run}", response_model=EvaluationRun, tags=["evaluation"])
async def get_run(call: Caller, run: str) -> Response:
    """Show a run with its cases; `last` is the newest one. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: library.evaluation_run(run))
