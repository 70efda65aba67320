"""Evaluation sets that a library keeps, their cases, and their runs; all of it needs admin for everything."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.answers import CaseList, DeedAnswer, RunList, SetList
from wenyuan.doors.http.bodies import NewCase, NewRun
from wenyuan.doors.http.call import Caller
from wenyuan.runtime.evaluation import Comparison, EvaluationRun
from wenyuan.runtime.granted_evaluation import Case, Deed

router = APIRouter(prefix="/evaluation", tags=["evaluation"])


@router.get("/sets", response_model=SetList)
async def list_sets(call: Caller) -> Response:
    """List the sets that the library keeps, each with its newest run."""
    return await call.reply(lambda library: SetList(library.evaluation.sets()))


@router.get("/sets/{set_name}/cases", response_model=CaseList)
async def list_cases(call: Caller, set_name: str) -> Response:
    """List the cases of a set."""
    return await call.reply(lambda library: CaseList(library.evaluation.cases(set_name)))


@router.post("/sets/{set_name}/cases", status_code=201, response_model=Case)
async def add_case(call: Caller, set_name: str, body: NewCase) -> Response:
    """Add a case to a set, which is made where there is none of this name."""
    return await call.reply(
        lambda library: library.evaluation.add_case(
            set_name,
            body.question,
            trace=body.trace,
            expect=body.expect,
            tags=body.tags,
            kb=body.knowledge_bases,
        ),
        status=201,
    )


@router.get("/runs", response_model=RunList)
async def list_runs(
    call: Caller,
    set_name: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """List stored runs of evaluation sets, newest first."""
    return await call.reply(lambda library: RunList(library.evaluation.runs(set_name, limit)))


@router.post("/runs", status_code=202, response_model=Deed)
async def begin_run(call: Caller, body: NewRun) -> Response:
    """Begin to run a set in the background, one at a time; `/evaluation/running` tells how far it is."""
    return await call.reply(
        lambda library: library.evaluation.begin(
            body.set, kb=body.knowledge_bases, sample=body.sample, cutoff=body.cutoff
        ),
        status=202,
    )


@router.get("/running", response_model=DeedAnswer)
async def get_running(call: Caller) -> Response:
    """Show the run that is being made, else the last one that was begun here; its `result` is the id of the run."""
    return await call.reply(lambda library: DeedAnswer(library.evaluation.running()))


@router.post("/running/stop", response_model=DeedAnswer)
async def stop_running(call: Caller) -> Response:
    """End the run that is being made after its next case; the cases that were finished are kept."""
    return await call.reply(lambda library: DeedAnswer(library.evaluation.stop()))


@router.get("/compare", response_model=Comparison)
async def compare_runs(
    call: Caller, before: Annotated[str, Query(max_length=100)], after: Annotated[str, Query(max_length=100)] = "last"
) -> Response:
    """Tell what changed between two stored runs, and whether it is more than luck."""
    return await call.reply(lambda library: library.evaluation.compare(before, after))


@router.get("/runs/{run}", response_model=EvaluationRun)
async def get_run(call: Caller, run: str) -> Response:
    """Show a run with its cases; `last` is the newest one."""
    return await call.reply(lambda library: library.evaluation.run(run))


@router.delete("/runs/{run}", status_code=204)
async def delete_run(call: Caller, run: str) -> Response:
    """Forget a run."""
    await call.ask(lambda library: library.evaluation.delete_run(run))
    return Response(status_code=204)
