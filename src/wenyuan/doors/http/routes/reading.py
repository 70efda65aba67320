"""Documents as a person reads them: pages as pictures, places of a text, and how they would be cut otherwise."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.bodies import Chunking
from wenyuan.doors.http.call import JSON, KNOWN, Caller
from wenyuan.doors.http.known import is_known
from wenyuan.errors import RequestInvalid
from wenyuan.runtime.chunk_previews import ChunkPreview
from wenyuan.runtime.document_contents import FoundInDocument
from wenyuan.runtime.documents import PlacePicture
from wenyuan.runtime.granted import GrantedLibrary

router = APIRouter(prefix="/documents/{document}", tags=["documents"])

_PICTURE = {"image/png": {"schema": {"type": "string", "format": "binary"}}}


@router.get(
    "/picture",
    response_class=Response,
    responses={200: {"description": "The page, as PNG.", "content": _PICTURE}, **KNOWN},
)
async def get_picture(
    call: Caller,
    document: str,
    page: Annotated[int | None, Query(ge=1, le=1 << 31, description="The page, from 1.")] = None,
    citation: Annotated[str | None, Query(max_length=200, description="A passage to be lit.")] = None,
    scale: Annotated[float, Query(gt=0, le=4, description="Pixels for each point of a page.")] = 2.0,
) -> Response:
    """Show a page of a PDF or a picture, with a cited passage lit; without a page, the one the passage begins on.

    Documents of other kinds have no pages to be shown: 422, `place-has-no-picture`.
    """

    def made(library: GrantedLibrary) -> PlacePicture:
        if citation is not None:
            return library.reading.cited_page(document, citation, scale, page)
        if page is None:
            raise RequestInvalid(where="query", reason="give a page, a citation or both")
        return library.reading.page(document, page, scale)

    shown = await call.read(made)
    tag = f'"{hashlib.sha256(shown.png).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "X-Page": str(shown.page)}
    if is_known(call.request.headers, tag):
        return Response(status_code=304, headers=headers)
    return Response(shown.png, 200, headers, "image/png")


@router.get("/find", response_model=FoundInDocument)
async def find_in_document(
    call: Caller,
    document: str,
    text: Annotated[str, Query(min_length=1, max_length=200)],
    start: Annotated[int, Query(ge=0, le=1 << 40, description="`next_start` of the answer before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Find where a text stands in a document, in any case and with any white space, and in which passages."""
    return await call.reply(lambda library: library.reading.find(document, text, start, limit))


@router.post("/preview-chunking", response_model=ChunkPreview)
async def preview_chunking(call: Caller, document: str, body: Chunking) -> Response:
    """Show how a document would be cut: how many passages, how long, and some of them. Nothing is changed."""
    seen = await call.read(lambda library: call.json(library.reading.preview_chunking(document, body.config())))
    return Response(seen, media_type=JSON)
