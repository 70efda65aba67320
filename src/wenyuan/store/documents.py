"""Documents and their revisions: arriving, being published, switched off, deleted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from wenyuan.errors import DocumentAmbiguous, DocumentNotFound
from wenyuan.store import knowledge_bases, moves
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import DOCUMENT_COLUMNS, document_from, from_json, notices_from, problem_from, to_json
from wenyuan.types import ChunkingConfig, Document, Facts, Given, Notice, Problem, Revision, RevisionState

_REVISION = (
    "r.id, r.document_id, r.number, r.blob_sha256, r.size, r.state, r.stage, r.media_type, r.encoding, r.title, "
    "r.language, r.metadata, r.notices, r.chunk_count, r.text_length, r.problem, r.created_at, r.published_at, "
    "r.staged_by, r.given, r.quality, r.is_doubtful, r.member_count"
)
_DOCUMENT_WIDTH = DOCUMENT_COLUMNS.count(",") + 1
_RECORD_WIDTH = _DOCUMENT_WIDTH + _REVISION.count(",") + 1
_LATEST = "r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = r.document_id)"
_FIND = (
    f"SELECT {DOCUMENT_COLUMNS}, {_REVISION} FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
    f"WHERE d.owner = :principal AND d.deleted_at IS NULL AND {_LATEST}"
)

NOTHING_GIVEN = Given()

WAITS_FOR_VECTORS = "embedding"
"""The stage of a revision that was read to its end and waits to be served."""

Arrival = Literal["added", "updated", "unchanged", "retried", "blocked", "skipped", "replaced"]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document with its newest revision, which may not be the one it serves."""

    document: Document
    latest: Revision


def find_by_source(tx: Reading, knowledge_base_id: str, source: str) -> DocumentRecord | None:
    row = tx.first(
        f"SELECT {DOCUMENT_COLUMNS}, {_REVISION} FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
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
        f"SELECT {DOCUMENT_COLUMNS}, {_REVISION} FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL AND d.id > :after "
        f"AND {_LATEST} ORDER BY d.id LIMIT :limit",
        {"knowledge_base_id": knowledge_base_id, "after": after, "limit": limit},
    )
    return [_record(row) for row in rows]


def by_ids(tx: Reading, document_ids: Sequence[str]) -> list[DocumentRecord]:
    """Those of the given documents that are live, in the order of their ids."""
    rows = tx.all(
        f"SELECT {DOCUMENT_COLUMNS}, {_REVISION} FROM json_each(:ids) AS i CROSS JOIN documents AS d "
        f"CROSS JOIN revisions AS r WHERE d.id = i.value AND d.deleted_at IS NULL AND r.document_id = d.id "
        f"AND {_LATEST} ORDER BY d.id",
        {"ids": json.dumps(list(document_ids))},
    )
    return [_record(row) for row in rows]


def add_document(tx: Writing, document: Document) -> None:
    tx.run(
        "INSERT INTO documents (id, knowledge_base_id, owner, source, name, enabled, blocked_reason, "
        "serving_revision_id, created_at, updated_at, source_id, parent_id) VALUES (:id, :knowledge_base_id, :owner, "
        ":source, :name, :enabled, :blocked_reason, NULL, :now, :now, :source_id, :parent_id)",
        {
            "id": document.id,
            "knowledge_base_id": document.knowledge_base_id,
            "owner": document.owner,
            "source": document.source,
            "name": document.name,
            "enabled": int(document.enabled),
            "source_id": document.source_id,
            "parent_id": document.parent_id,
            "blocked_reason": document.blocked_reason,
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
    """A revision of a live document, with the chunking it was added under.

    The document is as this revision is to make it: in the knowledge base that it takes it to.
    """
    row = tx.first(
        f"SELECT {DOCUMENT_COLUMNS}, {_REVISION}, r.chunking, m.knowledge_base_id FROM revisions AS r "
        "JOIN documents AS d ON d.id = r.document_id LEFT JOIN moves AS m ON m.revision_id = r.id "
        "WHERE r.id = :id AND d.deleted_at IS NULL",
        {"id": revision_id},
    )
    if row is None:
        return None
    record = _record(row)
    document = record.document if row[-1] is None else replace(record.document, knowledge_base_id=row[-1])
    return document, record.latest, ChunkingConfig(**json.loads(row[-2]))


def text_length(tx: Reading, revision_id: str) -> int:
    """How many characters a revision has, as far as it was read to its end."""
    row = tx.first("SELECT text_length FROM revisions WHERE id = :id", {"id": revision_id})
    return int(row[0]) if row is not None else 0


def is_unpublished(tx: Reading, revision_id: str) -> bool:
    """Whether this is a revision that is still to be published."""
    row = tx.first(
        "SELECT 1 FROM revisions WHERE id = :id AND state IN ('pending', 'processing') AND number > 0",
        {"id": revision_id},
    )
    return row is not None


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


def begin(tx: Writing, revision_id: str, program: str, chunking: ChunkingConfig) -> None:
    """Move a revision to being read, and cut in that way; by which program, if none has read it before."""
    tx.run(
        "UPDATE revisions SET state = 'processing', stage = 'reading', problem = NULL, chunking = :chunking, "
        "staged_by = CASE WHEN staged_by = '' THEN CAST(:program AS TEXT) ELSE staged_by END "
        "WHERE id = :id AND state <> 'ready'",
        {"id": revision_id, "program": program, "chunking": to_json(chunking)},
    )


def set_staged_by(tx: Writing, revision_id: str, program: str) -> None:
    tx.run("UPDATE revisions SET staged_by = :program WHERE id = :id", {"id": revision_id, "program": program})


def publish(
    tx: Writing, revision_id: str, facts: Facts, notices: tuple[Notice, ...], chunk_count: int, text_length: int
) -> list[str]:
    """Record what is known of a revision and serve it: `record_read` and `serve` together."""
    record_read(tx, revision_id, facts, notices, chunk_count, text_length)
    return serve(tx, revision_id)


def record_read(
    tx: Writing,
    revision_id: str,
    facts: Facts,
    notices: tuple[Notice, ...],
    chunk_count: int,
    text_length: int,
    *,
    is_doubtful: bool = False,
    member_count: int = -1,
) -> None:
    """Record what is known of a revision that was read to its end; it may be served from now on."""
    parameters: dict[str, Any] = {
        "id": revision_id,
        "stage": WAITS_FOR_VECTORS,
        "media_type": facts.media_type,
        "encoding": facts.encoding,
        "title": facts.title,
        "language": facts.language,
        "metadata": to_json(facts.metadata),
        "notices": to_json(notices),
        "chunk_count": chunk_count,
        "text_length": text_length,
        "quality": to_json(facts.quality),
        "is_doubtful": int(is_doubtful),
        "member_count": member_count,
    }
    tx.run(
        "UPDATE revisions SET stage = :stage, problem = NULL, media_type = :media_type, "
        "encoding = :encoding, title = :title, language = :language, metadata = :metadata, notices = :notices, "
        "chunk_count = :chunk_count, text_length = :text_length, quality = :quality, is_doubtful = :is_doubtful, "
        "member_count = :member_count WHERE id = :id",
        parameters,
    )


def add_notice(tx: Writing, revision_id: str, notice: Notice) -> None:
    """Tell one thing more of a revision; what it was told of under the same code goes."""
    row = tx.first("SELECT notices FROM revisions WHERE id = :id", {"id": revision_id})
    if row is not None:
        others = [one for one in notices_from(row[0]) if one.code != notice.code]
        tx.run(
            "UPDATE revisions SET notices = :notices WHERE id = :id",
            {"id": revision_id, "notices": to_json([*others, notice])},
        )


def serve(tx: Writing, revision_id: str, *, without_vectors: bool = False) -> list[str]:
    """Make a revision the one its document serves, and return the revisions it supersedes.

    This one row is all that searching looks at: everything staged before becomes visible with it. A
    revision that comes too late, behind a newer one or the document's deletion, is superseded itself.
    `without_vectors` records that it takes the place of an older one before its vectors are there.
    One that takes its document to another knowledge base does so now; raises `SourceTaken`, with nothing
    changed, where that has a document of the same source meanwhile.
    """
    moves.arrive_with(tx, revision_id)
    parameters: dict[str, Any] = {"id": revision_id, "without_vectors": int(without_vectors), "now": tx.now}
    tx.run(
        "UPDATE revisions SET state = 'ready', stage = 'ready', without_vectors = :without_vectors, "
        "published_at = :now WHERE id = :id",
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


def rename(tx: Writing, document: Document, source: str, name: str) -> bool:
    """Give a live document another source and name; False where that is not possible now.

    Another document may have that source, or this one is just being read under its old name.
    """
    renamed = tx.run(
        "UPDATE documents SET source = :source, name = :name, updated_at = :now WHERE id = :id AND source = :old "
        "AND deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM documents AS o WHERE o.source = :source "
        "AND o.knowledge_base_id = :knowledge_base_id AND o.deleted_at IS NULL) AND NOT EXISTS "
        "(SELECT 1 FROM revisions AS r WHERE r.document_id = :id AND r.state = 'processing' AND r.number > 0)",
        {
            "id": document.id,
            "knowledge_base_id": document.knowledge_base_id,
            "old": document.source,
            "source": source,
            "name": name,
            "now": tx.now,
        },
    )
    if renamed:
        knowledge_bases.record_change(tx, document.knowledge_base_id, document.id, "renamed")
    return bool(renamed)


def hide(tx: Writing, document_id: str, knowledge_base_id: str) -> list[str]:
    """Delete a document from everyone's sight, forget its password, and return its revisions, to be purged."""
    tx.run("DELETE FROM file_passwords WHERE document_id = :id", {"id": document_id})
    tx.run(
        "UPDATE documents SET deleted_at = :now, serving_revision_id = NULL, updated_at = :now WHERE id = :id",
        {"id": document_id, "now": tx.now},
    )
    knowledge_bases.record_change(tx, knowledge_base_id, document_id, "deleted")
    return [str(row[0]) for row in tx.all("SELECT id FROM revisions WHERE document_id = :id", {"id": document_id})]


def unfinished_revisions(tx: Reading, document_id: str) -> list[str]:
    rows = tx.all(
        "SELECT id FROM revisions WHERE document_id = :id AND state IN ('pending', 'processing') AND number > 0",
        {"id": document_id},
    )
    return [str(row[0]) for row in rows]


def _record(row: Row) -> DocumentRecord:
    return DocumentRecord(document_from(row[:_DOCUMENT_WIDTH]), _revision(row[_DOCUMENT_WIDTH:_RECORD_WIDTH]))


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
        quality=json.loads(row[20]),
        is_doubtful=bool(row[21]),
        member_count=row[22],
    )
