"""Searching, retrieving, asking, and the traces of all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response

from wenyuan.doors.http.bodies import Ask, Retrieve, Search
from wenyuan.doors.http.call import JSON, Caller
from wenyuan.runtime.granted import Retrieved
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
async def ask(call: Caller, body: Ask) -> Response:
    """Answer a question from the documents, as a whole, with citations; nothing of it is kept in a session."""
    asked = body.question_asked()
    return Response(await call.wait_for_model(lambda library: call.json(library.ask(asked))), media_type=JSON)


@router.get("/traces/{trace}", response_model=dict[str, Any], tags=["traces"])
async def get_trace(call: Caller, trace: str) -> Response:
    """Show what happened to a question: every stage, list and decision."""
    return await call.reply(lambda library: library.trace(trace))
