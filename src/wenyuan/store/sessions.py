"""Sessions: conversations that know which knowledge bases they ask, and may have files of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wenyuan.errors import SessionNotFound
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import to_json

_COLUMNS = "id, owner, title, knowledge_bases, created_at, updated_at"


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. `knowledge_bases` are the names it asks; None means all of its owner's."""

    id: str
    owner: str
    title: str
    knowledge_bases: tuple[str, ...] | None
    created_at: int
    updated_at: int


def add(tx: Writing, session_id: str, owner: str, title: str, knowledge_bases: tuple[str, ...] | None) -> Session:
    tx.run(
        f"INSERT INTO sessions ({_COLUMNS}) VALUES (:id, :owner, :title, :knowledge_bases, :now, :now)",
        {
            "id": session_id,
            "owner": owner,
            "title": title,
            "knowledge_bases": to_json(knowledge_bases),
            "now": tx.now,
        },
    )
    return Session(session_id, owner, title, knowledge_bases, tx.now, tx.now)


def find(tx: Reading, principal: str, session_id: str) -> Session:
    """Raises `SessionNotFound`, for another's session as for one that does not exist."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM sessions WHERE owner = :principal AND id = :id",
        {"principal": principal, "id": session_id},
    )
    if row is None:
        raise SessionNotFound(session=session_id)
    return _session(row)


def listed(tx: Reading, principal: str, limit: int) -> list[Session]:
    """Those used last come first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM sessions WHERE owner = :principal ORDER BY updated_at DESC, id DESC LIMIT :limit",
        {"principal": principal, "limit": limit},
    )
    return [_session(row) for row in rows]


def rename(tx: Writing, session: Session, title: str) -> None:
    tx.run(
        "UPDATE sessions SET title = :title, updated_at = :now WHERE id = :id",
        {"id": session.id, "title": title, "now": tx.now},
    )


def give_title(tx: Writing, session_id: str, title: str) -> None:
    """Give a title to a session that has none."""
    tx.run("UPDATE sessions SET title = :title WHERE id = :id AND title = ''", {"id": session_id, "title": title})


def ask_others(tx: Writing, session: Session, knowledge_bases: tuple[str, ...] | None) -> None:
    """Let a session ask other knowledge bases from now on."""
    tx.run(
        "UPDATE sessions SET knowledge_bases = :knowledge_bases, updated_at = :now WHERE id = :id",
        {"id": session.id, "knowledge_bases": to_json(knowledge_bases), "now": tx.now},
    )


def touch(tx: Writing, session_id: str) -> None:
    """Say that a session was used now. Raises `SessionNotFound` where it was deleted meanwhile."""
    if not tx.run("UPDATE sessions SET updated_at = :now WHERE id = :id", {"id": session_id, "now": tx.now}):
        raise SessionNotFound(session=session_id)


def delete(tx: Writing, session_id: str) -> None:
    """Delete a session and its turns; what is attached to it is the caller's to hide first."""
    tx.run("DELETE FROM turns WHERE session_id = :id", {"id": session_id})
    tx.run("DELETE FROM sessions WHERE id = :id", {"id": session_id})


def _session(row: Row) -> Session:
    asked = json.loads(row[3])
    return Session(row[0], row[1], row[2], None if asked is None else tuple(asked), row[4], row[5])


def blocked(tx: Reading, knowledge_base_id: str) -> dict[str, str]:
    """Why documents of a session may not be used, by document id."""
    rows = tx.all(
        "SELECT id, blocked_reason FROM documents WHERE knowledge_base_id = :id AND deleted_at IS NULL "
        "AND blocked_reason <> ''",
        {"id": knowledge_base_id},
    )
    return {str(document_id): str(reason) for document_id, reason in rows}
