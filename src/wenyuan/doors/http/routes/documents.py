"""Documents: taken in, listed, shown, and what they hold."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.responses import FileResponse

from wenyuan.doors.http.answers import DocumentPage, PageAccepted, PassagePage
from wenyuan.doors.http.bodies import NewPage, NewText
from wenyuan.doors.http.call import KNOWN, Ask, Call, Caller
from wenyuan.doors.http.known import is_known
from wenyuan.doors.http.ranges import checked_range
from wenyuan.doors.http.uploads import FORM_SCHEMA, read_form
from wenyuan.runtime.document_contents import DocumentText
from wenyuan.runtime.documents import DocumentView, Place
from wenyuan.runtime.granted import GrantedLibrary, Received
from wenyuan.runtime.uploads import Upload
from wenyuan.types import RevisionState

router = APIRouter(tags=["documents"])

_IN_BASE = "/knowledge-bases/{kb}/documents"
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str, Query(max_length=100, description="`next_cursor` of the page before.")]


def location_of(document_id: str | None) -> str:
    return f"/api/v1/documents/{document_id}" if document_id is not None else ""


async def taken_in(call: Call, begin: Ask[Upload]) -> Response:
    """Answer a form with a file in it: the file is stored, as `begin` has it, with the job that reads it."""
    with call.house.uploads:
        form = await read_form(call, begin)
        try:
            digest = await call.write(form.upload.sha256)

            def make(_: GrantedLibrary) -> tuple[int, str, Received]:
                received = form.upload.finish(form.name, form.title, form.metadata)
                return 202, location_of(received.document_id), received

            return await call.create([form.name, form.title, form.metadata], make, digest.encode())
        finally:
            form.upload.discard()


# --- Taken in ------------------------------------------------------------------------------------


@router.post(f"{_IN_BASE}/upload", status_code=202, response_model=Received, openapi_extra={"requestBody": FORM_SCHEMA})
async def upload_document(call: Caller, kb: str) -> Response:
    """Upload a file. It is stored with the job that reads it before this is answered. Needs the scope write.

    `outcome` says what became of it; where it is `blocked` or `skipped`, `problem` or `duplicate_of` says why.
    """
    return await taken_in(call, lambda library: library.begin_upload(kb))


@router.post(f"{_IN_BASE}/text", status_code=202, response_model=Received)
async def add_text(call: Caller, kb: str, body: NewText) -> Response:
    """Add a text under a name of your own; the same name again replaces what it held. Needs the scope write."""

    def make(library: GrantedLibrary) -> tuple[int, str, Received]:
        received = library.add_text(body.text, body.name, kb=kb, title=body.title, metadata=body.metadata)
        return 202, location_of(received.document_id), received

    return await call.create(body, make)


@router.post(f"{_IN_BASE}/url", status_code=202, response_model=PageAccepted)
async def add_page(call: Caller, kb: str, body: NewPage) -> Response:
    """Have a page fetched, which becomes a document. Pages of private networks are refused. Needs the scope write."""
    return await call.create(body, lambda library: (202, "", PageAccepted(library.add_page(body.url, kb=kb))))


# --- Listed and shown ----------------------------------------------------------------------------


@router.get(_IN_BASE, response_model=DocumentPage)
async def list_documents(
    call: Caller,
    kb: str,
    limit: Limit = 100,
    cursor: Cursor = "",
    state: RevisionState | None = None,
    failed: bool = False,
    blocked: bool = False,
    disabled: bool = False,
) -> Response:
    """List documents, the oldest first, in pages; only those that stand in a certain way, if that is said."""

    def page(library: GrantedLibrary) -> DocumentPage:
        found = library.documents(
            kb, cursor, limit, state=state or "", failed=failed, blocked=blocked, disabled=disabled
        )
        return DocumentPage(found, found[-1].document.id if len(found) == limit else None)

    return await call.reply(page)


@router.get("/documents/{document}", response_model=DocumentView, responses=KNOWN)
async def get_document(call: Caller, document: str) -> Response:
    """Show a document and how it stands: whether it is found, what is being done, and what went wrong."""
    return await call.reply_tagged(lambda library: library.document(document))


@router.get("/documents/{document}/text", response_model=DocumentText)
async def get_document_text(
    call: Caller,
    document: str,
    start: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000_000)] = 100_000,
) -> Response:
    """Show the text that was read in a document; offsets count Unicode code points."""
    return await call.reply(lambda library: library.document_text(document, start, limit))


@router.get("/documents/{document}/chunks", response_model=PassagePage)
async def list_chunks(
    call: Caller,
    document: str,
    limit: Limit = 100,
    cursor: Annotated[int, Query(ge=0, le=1 << 40, description="`next_cursor` of the page before.")] = 0,
) -> Response:
    """List the passages of a document with their places, and which of them may be found."""

    def page(library: GrantedLibrary) -> PassagePage:
        found = library.passages(document, cursor, limit)
        return PassagePage(found, str(found[-1].chunk.seq + 1) if len(found) == limit else None)

    return await call.reply(page)


@router.get(
    "/documents/{document}/original",
    response_class=Response,
    responses={
        200: {"description": "The file.", "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}},
        206: {"description": "Part of it.", "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}},
        **KNOWN,
    },
)
async def get_original(call: Caller, document: str) -> Response:
    """Download the file that a document was made of, or a range of its bytes (RFC 9110, 14)."""
    return await _original(call, document)


async def _original(call: Call, document: str) -> Response:
    file = await call.ask(lambda library: library.original(document))
    tag = f'"{file.sha256}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if is_known(call.request.headers, tag):
        return Response(status_code=304, headers=headers)
    checked_range(call.request, tag, file.size)
    return FileResponse(file.path, headers=headers, media_type=file.media_type, filename=file.name)


@router.get("/citations/{citation}", response_model=Place, tags=["citations"])
async def get_place(call: Caller, citation: str) -> Response:
    """Show the place that a citation leads to, with the text around it."""
    return await call.reply(lambda library: library.place(citation))
