"""One deed done to many documents."""

from __future__ import annotations

from fastapi import APIRouter, Response

from wenyuan.doors.http.answers import BulkAnswer
from wenyuan.doors.http.bodies import Bulk
from wenyuan.doors.http.call import Caller

router = APIRouter(prefix="/documents", tags=["documents"])


@router.post("/bulk", response_model=BulkAnswer)
async def change_documents(call: Caller, body: Bulk) -> Response:
    """Enable, disable, retry, cancel, delete or move up to 500 documents; each is done or refused by itself.

    Needs the scope write.
    """
    return await call.reply(lambda library: BulkAnswer(library.bulk.change(body.ids, body.action, body.to)))
