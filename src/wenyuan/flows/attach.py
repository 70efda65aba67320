"""Files attached to a session: documents of a knowledge base that is the session's own and goes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.flows.remove import hide_documents
from wenyuan.store import documents, indexes, knowledge_bases, sessions
from wenyuan.store.database import Database, Reading, Writing
from wenyuan.store.documents import DocumentRecord
from wenyuan.types import ChunkingConfig, KnowledgeBase, Problem, RevisionState

RagMode = Literal["inline", "session-retrieval"]
IndexStatus = Literal["pending", "indexing", "ready", "failed", "cancelled"]
Availability = Literal["allowed", "blocked"]

_STATUS: dict[RevisionState, IndexStatus] = {
    "pending": "pending",
    "processing": "indexing",
    "ready": "ready",
    "failed": "failed",
    "cancelled": "cancelled",
}
_MOST_ATTACHMENTS = 1000
_SWEPT_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a session, and how it stands. Its id is that of its document.

    `rag_mode` says how a conversation is to use it: whole, where its text fits the budget, else by
    searching it; None until its text is known. `chunks_embedded` of `chunks` have their vectors.
    """

    id: str
    session_id: str
    name: str
    size: int
    media_type: str
    rag_mode: RagMode | None
    index_status: IndexStatus
    stage: str
    chunks: int
    chunks_embedded: int
    availability: Availability
    reason: str
    problem: Problem | None
    created_at: int

    @property
    def is_usable(self) -> bool:
        return self.index_status == "ready" and self.availability == "allowed"


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that an answer does not rest on, and why: `indexing`, `blocked: …` or an error's code."""

    attachment: Attachment
    why: str


def usable(attached: Sequence[Attachment]) -> tuple[tuple[Attachment, ...], tuple[Unread, ...]]:
    """What may be handed to a search, and what it has not read; to be asked anew before each answer."""
    return (
        tuple(one for one in attached if one.is_usable),
        tuple(Unread(one, _why(one)) for one in attached if not one.is_usable),
    )


def _why(attachment: Attachment) -> str:
    if attachment.availability == "blocked":
        return f"blocked: {attachment.reason}"
    return attachment.problem.code if attachment.problem is not None else attachment.index_status


def attachments(tx: Reading, session_id: str, inline_characters: int) -> list[Attachment]:
    """What is attached to a session, in the order in which it came."""
    base = knowledge_bases.of_session(tx, session_id)
    if base is None:
        return []
    blocked = sessions.blocked(tx, base.id)
    return [
        _attachment(tx, session_id, record, blocked.get(record.document.id, ""), inline_characters)
        for record in documents.listed(tx, base.id, limit=_MOST_ATTACHMENTS)
    ]


def _attachment(
    tx: Reading, session_id: str, record: DocumentRecord, reason: str, inline_characters: int
) -> Attachment:
    document, latest = record.document, record.latest
    reached = indexes.progress(tx, latest.id, "vector")
    known = latest.state == "ready"
    mode: RagMode = "inline" if latest.text_length <= inline_characters else "session-retrieval"
    return Attachment(
        id=document.id,
        session_id=session_id,
        name=document.name,
        size=latest.size,
        media_type=latest.media_type,
        rag_mode=mode if known else None,
        index_status=_STATUS[latest.state],
        stage=latest.stage,
        chunks=latest.chunk_count,
        chunks_embedded=reached.done if reached is not None else 0,
        availability="blocked" if reason else "allowed",
        reason=reason,
        problem=latest.problem,
        created_at=document.created_at,
    )


def own_knowledge_base(
    tx: Writing, new_id: Callable[[str], str], session: sessions.Session, chunking: ChunkingConfig, model: str
) -> KnowledgeBase:
    """The knowledge base that holds what is attached to a session, made when the first file comes.

    Raises `SessionNotFound` where the session was deleted meanwhile.
    """
    sessions.touch(tx, session.id)
    existing = knowledge_bases.of_session(tx, session.id)
    if existing is not None:
        return existing
    made = KnowledgeBase(
        id=new_id("kb"),
        owner=session.owner,
        name=session.id,
        description="",
        state="active",
        is_default=False,
        persona="",
        scenario="",
        tags=(),
        chunking=chunking,
        embedding_model=model,
        change_number=0,
        created_at=tx.now,
        updated_at=tx.now,
        session_id=session.id,
    )
    knowledge_bases.add(tx, made)
    return made


def forget(tx: Writing, new_id: Callable[[str], str], session_id: str) -> None:
    """Delete a session with its turns and with all that is attached to it: hidden at once, purged by jobs."""
    base = knowledge_bases.of_session(tx, session_id)
    if base is not None:
        _hide(tx, new_id, base)
    sessions.delete(tx, session_id)


def sweep(database: Database, new_id: Callable[[str], str]) -> int:
    """Hide what is attached to sessions that are gone, and return how many sessions those were, up to a bound."""
    with database.read() as tx:
        orphans = knowledge_bases.without_session(tx, _SWEPT_AT_ONCE)
    if orphans:
        with database.write(durable=False) as tx:
            for base in knowledge_bases.without_session(tx, _SWEPT_AT_ONCE):
                _hide(tx, new_id, base)
    return len(orphans)


def _hide(tx: Writing, new_id: Callable[[str], str], base: KnowledgeBase) -> None:
    hide_documents(tx, new_id, knowledge_bases.hide(tx, base), base.id, base.owner)
