"""What was said in a session: read, judged, exported, and made cases of an evaluation set."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.bodies import Judged, TurnCase
from wenyuan.doors.http.call import Caller
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.granted_conversations import Turn, TurnPage
from wenyuan.runtime.granted_evaluation import Case

router = APIRouter(prefix="/sessions/{session}", tags=["sessions"])
_MARKDOWN, _JSON = "text/markdown", "application/json"
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The session.",
        "content": {_MARKDOWN: {"schema": {"type": "string"}}, _JSON: {"schema": {"type": "object"}}},
    }
}


@router.get("/turns", response_model=TurnPage)
async def list_turns(
    call: Caller,
    session: str,
    before: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """List what was said last, oldest first; `next_before` is given as `before` to get what was said before that.

    Questions that were asked anew are among it, with the answers to them: `replaced_by` is the number of the question
    that took their place. An answer that was cut off has the finish reason `interrupted`.
    """
    return await call.reply(lambda library: library.conversations.turns(session, before, limit))


@router.put("/turns/{number}/feedback", response_model=Turn)
async def judge_answer(call: Caller, session: str, number: int, body: Judged) -> Response:
    """Say whether an answer is good, and why."""
    return await call.reply(lambda library: library.conversations.judge(session, number, body.value, body.note))


@router.post("/turns/{number}/case", status_code=201, response_model=Case)
async def add_case_of_turn(call: Caller, session: str, number: int, body: TurnCase) -> Response:
    """Make a case of an evaluation set of the question that an answer was given to, by the answer's number."""

    def make(library: GrantedLibrary) -> tuple[int, str, Case]:
        return 201, "", library.conversations.add_case(session, number, body.set, body.expect)

    return await call.create(body, make)


@router.get("/export", response_class=Response, responses=_EXPORTED)
async def export_session(call: Caller, session: str, format: Literal["markdown", "json"] = "markdown") -> Response:
    """Hand over a whole session: as Markdown what holds now, or as JSON all there is."""
    text = await call.ask(lambda library: library.conversations.export(session, format))
    suffix = "md" if format == "markdown" else "json"
    headers = {"Content-Disposition": f'attachment; filename="{session}.{suffix}"'}
    return Response(text, 200, headers, _MARKDOWN if format == "markdown" else _JSON)
