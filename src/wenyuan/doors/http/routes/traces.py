"""What was asked lately."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.call import Caller
from wenyuan.runtime.granted_traces import TracePage

router = APIRouter(prefix="/traces", tags=["traces"])


@router.get("", response_model=TracePage)
async def list_traces(
    call: Caller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str, Query(max_length=120, description="`next_cursor` of the page before.")] = "",
) -> Response:
    """List the questions that were asked of what is granted, newest first, in pages. Needs the scope admin."""
    return await call.reply(lambda library: library.traces.page(cursor, limit))
