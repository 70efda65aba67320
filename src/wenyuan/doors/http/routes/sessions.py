"""Sessions, and the files that belong to one of them alone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.answers import AttachmentList, SessionList
from wenyuan.doors.http.bodies import Attached, ChangedSession, NewSession
from wenyuan.doors.http.call import Caller
from wenyuan.doors.http.routes.documents import location_of, taken_in
from wenyuan.doors.http.uploads import FORM_SCHEMA
from wenyuan.runtime.granted import GrantedLibrary, Received
from wenyuan.runtime.granted_conversations import Keep
from wenyuan.runtime.sessions import Session

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get("", response_model=SessionList)
async def list_sessions(call: Caller, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """List the sessions that were begun with this key, those used last first."""
    return await call.reply(lambda library: SessionList(library.sessions(limit)))


@router.post("", status_code=201, response_model=Session)
async def create_session(call: Caller, body: NewSession) -> Response:
    """Begin a session that asks the named knowledge bases, or all that the key is granted."""

    def make(library: GrantedLibrary) -> tuple[int, str, Session]:
        made = library.create_session(body.title, body.knowledge_bases)
        return 201, f"/api/v1/sessions/{made.id}", made

    return await call.create(body, make)


@router.get("/{session}", response_model=Session)
async def get_session(call: Caller, session: str) -> Response:
    """Show a session."""
    return await call.reply(lambda library: library.session(session))


@router.patch("/{session}", response_model=Session)
async def change_session(call: Caller, session: str, body: ChangedSession) -> Response:
    """Give a session another title, or other knowledge bases to ask."""
    kb = body.knowledge_bases if body.names_bases else Keep.AS_IT_IS
    return await call.reply(lambda library: library.conversations.change(session, body.title, kb))


@router.delete("/{session}", status_code=204)
async def delete_session(call: Caller, session: str) -> Response:
    """Delete a session with all that is attached to it."""
    await call.ask(lambda library: library.delete_session(session))
    return Response(status_code=204)


@router.get("/{session}/attachments", response_model=AttachmentList)
async def list_attachments(call: Caller, session: str) -> Response:
    """List what is attached to a session, and how it stands."""
    return await call.reply(lambda library: AttachmentList(library.attachments(session)))


@router.post("/{session}/attachments/text", status_code=202, response_model=Received)
async def attach_text(call: Caller, session: str, body: Attached) -> Response:
    """Attach a text: it is found within the session alone, and goes with it."""

    def make(library: GrantedLibrary) -> tuple[int, str, Received]:
        received = library.attach_text(session, body.text, body.name)
        return 202, location_of(received.document_id), received

    return await call.create(body, make)


@router.post(
    "/{session}/attachments/upload",
    status_code=202,
    response_model=Received,
    openapi_extra={"requestBody": FORM_SCHEMA},
)
async def upload_attachment(call: Caller, session: str) -> Response:
    """Attach a file."""
    return await taken_in(call, lambda library: library.begin_attachment(session))


@router.delete("/{session}/attachments/{attachment}", status_code=204)
async def detach(call: Caller, session: str, attachment: str) -> Response:
    """Take an attachment, by id or name, out of a session."""
    await call.ask(lambda library: library.detach(session, attachment))
    return Response(status_code=204)
