"""Documents: switched, retried, cancelled, moved, deleted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from wenyuan.doors.http.answers import PassagesSwitched
from wenyuan.doors.http.bodies import Move, Retry
from wenyuan.doors.http.call import Caller
from wenyuan.runtime.documents import DocumentView

router = APIRouter(prefix="/documents/{document}", tags=["documents"])

Number = Annotated[int, Path(ge=0, le=1 << 31)]


@router.post("/enable", response_model=DocumentView)
async def enable_document(call: Caller, document: str) -> Response:
    """Let a document be found again. Needs the scope write, as everything here."""
    return await call.reply(lambda library: library.switch_document(document, enabled=True))


@router.post("/disable", response_model=DocumentView)
async def disable_document(call: Caller, document: str) -> Response:
    """Keep a document out of every search until it is enabled again."""
    return await call.reply(lambda library: library.switch_document(document, enabled=False))


@router.post("/chunks/{number}/enable", response_model=PassagesSwitched)
async def enable_chunk(call: Caller, document: str, number: Number) -> Response:
    """Let a passage be found again, in every revision that has its words."""
    return await call.reply(lambda library: PassagesSwitched(library.switch_passage(document, number, enabled=True)))


@router.post("/chunks/{number}/disable", response_model=PassagesSwitched)
async def disable_chunk(call: Caller, document: str, number: Number) -> Response:
    """Keep a passage out of every search, in every revision that has its words."""
    return await call.reply(lambda library: PassagesSwitched(library.switch_passage(document, number, enabled=False)))


@router.post("/retry", status_code=202, response_model=DocumentView)
async def retry_document(call: Caller, document: str, body: Retry | None = None) -> Response:
    """Put a failed or cancelled document, or its failed vectors, back to work; a password opens its file."""
    password = body.password if body is not None else ""
    return await call.reply(lambda library: library.retry_document(document, password), status=202)


@router.post("/cancel", response_model=DocumentView)
async def cancel_document(call: Caller, document: str) -> Response:
    """Stop the work on a document's newest revision; what it served before goes on serving."""
    return await call.reply(lambda library: library.cancel_document(document))


@router.post("/move", status_code=202, response_model=DocumentView)
async def move_document(call: Caller, document: str, body: Move) -> Response:
    """Move a document to another knowledge base; it is found where it is until it is ready there."""
    return await call.reply(lambda library: library.move_document(document, body.knowledge_base), status=202)


@router.delete("", status_code=204)
async def delete_document(call: Caller, document: str) -> Response:
    """Delete a document: out of sight at once, purged by a job."""
    await call.ask(lambda library: library.delete_document(document))
    return Response(status_code=204)
