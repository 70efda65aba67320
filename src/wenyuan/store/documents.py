"""Documents and their revisions: arriving, being published, switched off, deleted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from wenyuan.errors import DocumentAmbiguous, DocumentNotFound
from wenyuan.store import knowledge_bases
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import from_json, notices_from, problem_from, to_json
from wenyuan.types import ChunkingConfig, Document, Facts, Given, Notice, Problem, Revision, RevisionState

_DOCUMENT = (
    "d.id, d.knowledge_base_id, d.owner, d.source, d.name, d.enabled, d.serving_revision_id, d.created_at, d.updated_at"
)
_REVISION = (
    "r.id, r.document_id, r.number, r.blob_sha256, r.size, r.state, r.stage, r.media_type, r.encoding, r.title, "
    "r.language, r.metadata, r.notices, r.chunk_count, r.text_length, r.problem, r.created_at, r.published_at, "
    "r.staged_by, r.given"
)
_LATEST = "r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = r.document_id)"
_FIND = (
    f"SELECT {_DOCUMENT}, {_REVISION} FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
    f"WHERE d.owner = :principal AND d.deleted_at IS NULL AND {_LATEST}"
)

NOTHING_GIVEN = Given()

Arrival = Literal["added", "updated", "unchanged", "retried"]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document with its newest revision, which may not be the one it serves."""

    document: Document
    latest: Revision


def find_by_source(tx: Reading, knowledge_base_id: str, source: str) -> DocumentRecord | None:
    row = tx.first(
        f"SELECT {_DOCUMENT}, {_REVISION} FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
        f"WHERE d.knowledge_base_id = :knowledge_base_id AND d.source = :source AND d.deleted_at IS NULL AND {_LATEST}",
        {"knowledge_base_id": knowledge_base_id, "source": source},
    )
    return _record(row) if row is not None else None


def find(tx: Reading, principal: str, reference: str) -> DocumentRecord:
    """The live document with this id, source or name, in that order.

    Raises `DocumentNotFound`, or `DocumentAmbiguous` where more than one has that source or name.
    """
    parameters = {"principal": principal, "reference": reference}
    found = tx.all(f"{_FIND} AND d.id = :reference LIMIT 2", parameters)
    found = found or tx.all(f"{_FIND} AND d.source = :reference LIMIT 2", parameters)
    found = found or tx.all(f"{_FIND} AND d.name = :reference LIMIT 2", parameters)
    if not found:
        raise DocumentNotFound(document=reference)
    if len(found) > 1:
        raise DocumentAmbiguous(document=reference)
    return _record(found[0])


def listed(tx: Reading, knowledge_base_id: str, after: str = "", limit: int = 1000) -> list[DocumentRecord]:
    """Live documents by id, the page after the id `after`."""
    rows = tx.all(
        f"SELECT {_DOCUMENT}, {_REVISION} FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL AND d.id > :after "
        f"AND {_LATEST} ORDER BY d.id LIMIT :limit",
        {"knowledge_base_id": knowledge_base_id, "after": after, "limit": limit},
    )
    return [_record(row) for row in rows]


def add_document(tx: Writing, document: Document) -> None:
    tx.run(
        "INSERT INTO documents (id, knowledge_base_id, owner, source, name, enabled, blocked_reason, "
        "serving_revision_id, created_at, updated_at) VALUES (:id, :knowledge_base_id, :owner, :source, :name, "
        "1, '', NULL, :now, :now)",
        {
            "id": document.id,
            "knowledge_base_id": document.knowledge_base_id,
            "owner": document.owner,
            "source": document.source,
            "name": document.name,
            "now": tx.now,
        },
    )


def add_revision(
    tx: Writing,
    revision_id: str,
    document: Document,
    blob_sha256: str,
    size: int,
    chunking: ChunkingConfig,
    given: Given = NOTHING_GIVEN,
) -> None:
    """Store a document's next revision, pending."""
    tx.run(
        "INSERT INTO revisions (id, document_id, owner, number, blob_sha256, size, state, stage, media_type, encoding, "
        "title, language, metadata, notices, chunking, given, chunk_count, text_length, created_at) VALUES (:id, "
        ":document_id, :owner, (SELECT coalesce(max(number), 0) + 1 FROM revisions WHERE document_id = :document_id), "
        ":blob_sha256, :size, 'pending', 'queued', '', '', '', '', '{}', '[]', :chunking, :given, 0, 0, :now)",
        {
            "id": revision_id,
            "document_id": document.id,
            "owner": document.owner,
            "blob_sha256": blob_sha256,
            "size": size,
            "chunking": to_json(chunking),
            "given": to_json(given),
            "now": tx.now,
        },
    )


def revision(tx: Reading, revision_id: str) -> tuple[Document, Revision, ChunkingConfig] | None:
    """A revision of a live document, with the chunking it was added under."""
    row = tx.first(
        f"SELECT {_DOCUMENT}, {_REVISION}, r.chunking FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "WHERE r.id = :id AND d.deleted_at IS NULL",
        {"id": revision_id},
    )
    if row is None:
        return None
    record = _record(row)
    return record.document, record.latest, ChunkingConfig(**json.loads(row[29]))


def set_state(
    tx: Writing, revision_id: str, state: RevisionState, stage: str = "", problem: Problem | None = None
) -> None:
    """Move a revision that is not ready; a ready one stays so whatever a late worker says."""
    tx.run(
        "UPDATE revisions SET state = :state, stage = :stage, problem = :problem WHERE id = :id AND state <> 'ready'",
        {
            "id": revision_id,
            "state": state,
            "stage": stage,
            "problem": to_json(problem) if problem is not None else None,
        },
    )


def begin(tx: Writing, revision_id: str, program: str) -> None:
    """Move a revision to being read; by which program, if none has read it before."""
    tx.run(
        "UPDATE revisions SET state = 'processing', stage = 'reading', problem = NULL, "
        "staged_by = CASE WHEN staged_by = '' THEN CAST(:program AS TEXT) ELSE staged_by END "
        "WHERE id = :id AND state <> 'ready'",
        {"id": revision_id, "program": program},
    )


def set_staged_by(tx: Writing, revision_id: str, program: str) -> None:
    tx.run("UPDATE revisions SET staged_by = :program WHERE id = :id", {"id": revision_id, "program": program})


def publish(
    tx: Writing, revision_id: str, facts: Facts, notices: tuple[Notice, ...], chunk_count: int, text_length: int
) -> list[str]:
    """Make a revision the one its document serves, and return the revisions it supersedes.

    This one row is all that searching looks at: everything staged before becomes visible with it. A
    revision that comes too late, behind a newer one or the document's deletion, is superseded itself.
    """
    parameters: dict[str, Any] = {
        "id": revision_id,
        "media_type": facts.media_type,
        "encoding": facts.encoding,
        "title": facts.title,
        "language": facts.language,
        "metadata": to_json(facts.metadata),
        "notices": to_json(notices),
        "chunk_count": chunk_count,
        "text_length": text_length,
        "now": tx.now,
    }
    tx.run(
        "UPDATE revisions SET state = 'ready', stage = 'ready', problem = NULL, media_type = :media_type, "
        "encoding = :encoding, title = :title, language = :language, metadata = :metadata, notices = :notices, "
        "chunk_count = :chunk_count, text_length = :text_length, published_at = :now WHERE id = :id",
        parameters,
    )
    row = tx.first(
        "UPDATE documents SET serving_revision_id = :id, updated_at = :now "
        "WHERE id = (SELECT document_id FROM revisions WHERE id = :id) AND deleted_at IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM revisions AS s, revisions AS r WHERE s.id = documents.serving_revision_id AND r.id = :id "
        "AND s.number > r.number) RETURNING id, knowledge_base_id",
        parameters,
    )
    if row is None:
        tx.run("UPDATE revisions SET superseded_at = :now WHERE id = :id", parameters)
        return [revision_id]
    knowledge_bases.record_change(tx, row[1], row[0], "published")
    superseded = tx.all(
        "UPDATE revisions SET superseded_at = :now WHERE superseded_at IS NULL AND document_id = :document_id "
        "AND number < (SELECT number FROM revisions WHERE id = :id) RETURNING id",
        {**parameters, "document_id": row[0]},
    )
    return [str(old[0]) for old in superseded]


def switch(tx: Writing, document: Document, *, enabled: bool) -> None:
    """Let a document be found, or not, until switched again."""
    tx.run(
        "UPDATE documents SET enabled = :enabled, updated_at = :now WHERE id = :id",
        {"id": document.id, "enabled": int(enabled), "now": tx.now},
    )
    knowledge_bases.record_change(tx, document.knowledge_base_id, document.id, "enabled" if enabled else "disabled")


def hide(tx: Writing, document_id: str, knowledge_base_id: str) -> list[str]:
    """Delete a document from everyone's sight and return its revisions, to be purged."""
    tx.run(
        "UPDATE documents SET deleted_at = :now, serving_revision_id = NULL, updated_at = :now WHERE id = :id",
        {"id": document_id, "now": tx.now},
    )
    knowledge_bases.record_change(tx, knowledge_base_id, document_id, "deleted")
    return [str(row[0]) for row in tx.all("SELECT id FROM revisions WHERE document_id = :id", {"id": document_id})]


def unfinished_revisions(tx: Reading, document_id: str) -> list[str]:
    rows = tx.all(
        "SELECT id FROM revisions WHERE document_id = :id AND state IN ('pending', 'processing')", {"id": document_id}
    )
    return [str(row[0]) for row in rows]


def _record(row: Row) -> DocumentRecord:
    document = Document(
        id=row[0],
        knowledge_base_id=row[1],
        owner=row[2],
        source=row[3],
        name=row[4],
        enabled=bool(row[5]),
        serving_revision_id=row[6],
        created_at=row[7],
        updated_at=row[8],
    )
    return DocumentRecord(document, _revision(row[9:29]))


def _revision(row: Row) -> Revision:
    return Revision(
        id=row[0],
        document_id=row[1],
        number=row[2],
        blob_sha256=row[3],
        size=row[4],
        state=row[5],
        stage=row[6],
        media_type=row[7],
        encoding=row[8],
        title=row[9],
        language=row[10],
        metadata=json.loads(row[11]),
        notices=notices_from(row[12]),
        chunk_count=row[13],
        text_length=row[14],
        problem=problem_from(row[15]),
        created_at=row[16],
        published_at=row[17],
        staged_by=row[18],
        given=from_json(Given, row[19]),
    )
