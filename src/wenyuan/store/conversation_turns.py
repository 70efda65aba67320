"""What is said in sessions: questions and their answers, in order, never taken back.

A question and the row of its answer are made together, so that an answer always follows its question
and nothing comes between the two. Until it is finished, an answer is one that was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.errors import TurnNotFound
from wenyuan.store import erasures, sessions
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import JsonObject

Feedback = Literal["", "up", "down"]
TurnRole = Literal["person", "assistant"]

INTERRUPTED, ERASED = "interrupted", "erased"
"""How an answer ended that was never finished, and one whose documents were deleted."""

_COLUMNS = "number, role, text, trace_id, created_at, replaced_by, answer, attachments, feedback, note"


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One turn of a session. `answer` is what is known of an answer besides its text; None of a question.

    `attachments` are the ids of what was attached when a question was asked.
    """

    number: int
    role: TurnRole
    text: str
    trace_id: str
    created_at: int
    replaced_by: int | None
    answer: JsonObject | None
    attachments: tuple[str, ...]
    feedback: Feedback
    note: str


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document that an answer names, and whether it quotes it."""

    session_id: str
    number: int
    document_id: str
    is_quoted: bool


def begin(
    tx: Writing, session_id: str, question: str, trace_id: str, attachments: Sequence[str], replaces: int | None
) -> int:
    """Keep a question and the place of its answer, and return the question's number; the answer's is one more.

    `replaces` is the number of a question that this one takes the place of, with all that followed it.
    Raises `SessionNotFound`, or `TurnNotFound` where no such question is in force.
    """
    # Whoever writes a turn holds the session's row, so that no two get the same number.
    sessions.touch(tx, session_id)
    row = tx.first("SELECT coalesce(max(number), 0) FROM turns WHERE session_id = :id", {"id": session_id})
    number = (row[0] if row is not None else 0) + 1
    if replaces is not None:
        _replace(tx, session_id, replaces, number)
    common = {"session": session_id, "trace": trace_id, "now": tx.now}
    tx.run_many(
        "INSERT INTO turns (session_id, number, role, text, trace_id, created_at, answer, attachments) "
        "VALUES (:session, :number, :role, :text, :trace, :now, :answer, :attachments)",
        [
            {
                **common,
                "number": number,
                "role": "person",
                "text": question,
                "answer": "{}",
                "attachments": to_json(attachments),
            },
            {
                **common,
                "number": number + 1,
                "role": "assistant",
                "text": "",
                "answer": to_json({"finish_reason": INTERRUPTED}),
                "attachments": "[]",
            },
        ],
    )
    return number


def _replace(tx: Writing, session_id: str, replaces: int, by: int) -> None:
    found = find(tx, session_id, replaces)
    if found.role != "person" or found.replaced_by is not None:
        raise TurnNotFound(session=session_id, turn=replaces)
    tx.run(
        "UPDATE turns SET replaced_by = :by WHERE session_id = :session AND number >= :replaces "
        "AND replaced_by IS NULL",
        {"by": by, "session": session_id, "replaces": replaces},
    )


def save_text(tx: Writing, session_id: str, number: int, text: str) -> None:
    """Save what was said so far; nothing where the session was deleted meanwhile."""
    tx.run(
        "UPDATE turns SET text = :text WHERE session_id = :session AND number = :number",
        {"text": text, "session": session_id, "number": number},
    )


def finish(tx: Writing, session_id: str, number: int, text: str, answer: JsonObject, named: Mapping[str, bool]) -> bool:
    """Save a whole answer; whether it was: not where the session was deleted meanwhile.

    `named` are the ids of the documents that it names, and whether it quotes them. What was deleted meanwhile
    is erased at once.
    """
    parameters = {"session": session_id, "number": number}
    changed = tx.run(
        "UPDATE turns SET text = :text, answer = :answer WHERE session_id = :session AND number = :number",
        {"text": text, "answer": to_json(answer), **parameters},
    )
    if not changed:
        return False
    tx.run_many(
        "INSERT INTO turn_documents (document_id, session_id, number, is_quoted) "
        "VALUES (:document, :session, :number, :quoted) ON CONFLICT DO NOTHING",
        [{"document": one, "quoted": int(is_quoted), **parameters} for one, is_quoted in named.items()],
    )
    gone = erasures.not_live(tx, list(named))
    for document_id in sorted(gone):
        erase(tx, NamedDocument(session_id, number, document_id, named[document_id]))
    return True


def find(tx: Reading, session_id: str, number: int) -> StoredTurn:
    """Raises `TurnNotFound`."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM turns WHERE session_id = :session AND number = :number",
        {"session": session_id, "number": number},
    )
    if row is None:
        raise TurnNotFound(session=session_id, turn=number)
    return _turn(row)


def page(tx: Reading, session_id: str, before: int | None, limit: int) -> list[StoredTurn]:
    """The last `limit` turns, or the last ones before the number `before`, oldest first; replaced ones among them."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM turns WHERE session_id = :session AND number < :before "
        "ORDER BY number DESC LIMIT :limit",
        {"session": session_id, "before": _HIGHEST if before is None else before, "limit": limit},
    )
    return [_turn(row) for row in reversed(rows)]


def in_force(tx: Reading, session_id: str, before: int, limit: int) -> list[StoredTurn]:
    """The last `limit` turns before a number that nothing has replaced, oldest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM turns WHERE session_id = :session AND number < :before AND replaced_by IS NULL "
        "ORDER BY number DESC LIMIT :limit",
        {"session": session_id, "before": before, "limit": limit},
    )
    return [_turn(row) for row in reversed(rows)]


def of_trace(tx: Reading, trace_id: str) -> tuple[str, StoredTurn] | None:
    """The session and the turn of the answer that was given under a trace, where there is one."""
    row = tx.first(
        f"SELECT {_COLUMNS}, session_id FROM turns WHERE trace_id = :trace AND role = 'assistant'",
        {"trace": trace_id},
    )
    return (row[10], _turn(row)) if row is not None else None


def judge(tx: Writing, session_id: str, number: int, value: Feedback, note: str) -> None:
    """Record what a person thinks of an answer. Raises `TurnNotFound` where there is no such answer."""
    changed = tx.run(
        "UPDATE turns SET feedback = :value, note = :note WHERE session_id = :session AND number = :number "
        "AND role = 'assistant'",
        {"value": value, "note": note, "session": session_id, "number": number},
    )
    if not changed:
        raise TurnNotFound(session=session_id, turn=number)


# --- Documents that are deleted ------------------------------------------------------------------


def naming(tx: Reading, document_ids: Sequence[str], limit: int) -> list[NamedDocument]:
    """Answers that name any of the documents, up to a bound."""
    rows = tx.all(
        "SELECT t.session_id, t.number, t.document_id, t.is_quoted FROM json_each(:ids) AS i "
        "CROSS JOIN turn_documents AS t WHERE t.document_id = i.value "
        "ORDER BY t.session_id, t.number, t.document_id LIMIT :limit",
        {"ids": json.dumps(list(document_ids)), "limit": limit},
    )
    return [NamedDocument(row[0], row[1], row[2], bool(row[3])) for row in rows]


def erase(tx: Writing, named: NamedDocument) -> None:
    """Take a deleted document out of an answer: all of the answer where it quotes it, else its place among the sources.

    The question stays, and so does what the person thought of the answer.
    """
    parameters: dict[str, object] = {"session": named.session_id, "number": named.number}
    if named.is_quoted:
        tx.run(
            "UPDATE turns SET text = '', answer = :answer WHERE session_id = :session AND number = :number",
            {"answer": to_json({"finish_reason": ERASED}), **parameters},
        )
        tx.run("DELETE FROM turn_documents WHERE session_id = :session AND number = :number", parameters)
        return
    row = tx.first("SELECT answer FROM turns WHERE session_id = :session AND number = :number", parameters)
    if row is not None:
        kept = _without(json.loads(row[0]), named.document_id)
        tx.run(
            "UPDATE turns SET answer = :answer WHERE session_id = :session AND number = :number",
            {"answer": to_json(kept), **parameters},
        )
    tx.run(
        "DELETE FROM turn_documents WHERE session_id = :session AND number = :number AND document_id = :document",
        {"document": named.document_id, **parameters},
    )


def _without(answer: JsonObject, document_id: str) -> JsonObject:
    kept = dict(answer)
    for member in ("sources", "unread"):
        if member in kept:
            kept[member] = [one for one in kept[member] if one.get("document_id") != document_id]
    return kept


_HIGHEST = 1 << 31
"""More turns than a session has."""


def _turn(row: Row) -> StoredTurn:
    is_answer = row[1] == "assistant"
    return StoredTurn(
        number=row[0],
        role=row[1],
        text=row[2],
        trace_id=row[3] or "",
        created_at=row[4],
        replaced_by=row[5],
        answer=json.loads(row[6]) if is_answer else None,
        attachments=tuple(json.loads(row[7])),
        feedback=row[8],
        note=row[9],
    )
