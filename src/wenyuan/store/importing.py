"""A knowledge base that is being imported: hidden as if it were deleted, until all of it is there.

Its job is held by whoever imports it. Should that end before the import does, the job is taken up by
a worker, as any job is, and what was staged is purged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wenyuan.store import knowledge_bases, queue
from wenyuan.store.database import Reading, Writing
from wenyuan.store.job_rows import COLUMNS, job_from, next_change
from wenyuan.store.rows import to_json
from wenyuan.types import ChunkingConfig, Facts, Given, KnowledgeBase, Lease, Notice, Problem

SUBJECT = "knowledge_base"

_ROWS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class NewDocument:
    id: str
    knowledge_base_id: str
    owner: str
    source: str
    name: str
    enabled: bool
    blocked_reason: str
    created_at: int
    updated_at: int
    parent_id: str = ""


@dataclass(frozen=True, slots=True)
class NewRevision:
    id: str
    document_id: str
    owner: str
    number: int
    sha256: str
    size: int
    state: str
    facts: Facts
    notices: Sequence[Notice]
    chunking: ChunkingConfig
    given: Given
    staged_by: str
    problem: Problem | None
    created_at: int
    published_at: int | None
    chunk_count: int
    text_length: int
    is_doubtful: bool = False


def begin(tx: Writing, knowledge_base: KnowledgeBase, job_id: str, priority: int, worker: str, lease_ms: int) -> Lease:
    """Make a hidden knowledge base, and the job of importing it, held by a worker.

    Raises `KnowledgeBaseExists` where its name is taken.
    """
    knowledge_bases.add(tx, knowledge_base)
    parameters = {"id": knowledge_base.id, "now": tx.now}
    tx.run("UPDATE knowledge_bases SET deleted_at = :now WHERE id = :id", parameters)
    base_id, owner = knowledge_base.id, knowledge_base.owner
    queue.enqueue(tx, job_id, "import", SUBJECT, base_id, base_id, owner, priority)
    row = tx.first(
        "UPDATE jobs SET state = 'running', worker = :worker, fence = fence + 1, attempts = attempts + 1, "
        "lease_until = :until, started_at = :now, stage = 'importing', change_number = :change, changed_at = :now "
        f"WHERE id = :id RETURNING {COLUMNS}",
        {"id": job_id, "worker": worker, "until": tx.now + lease_ms, "now": tx.now, "change": next_change(tx)},
    )
    if row is None:
        raise LookupError(f"the job {job_id} was not stored")
    job = job_from(row)
    return Lease(job, worker, job.fence, tx.continuity)


def has_source(tx: Reading, owner: str, knowledge_base_id: str, source: str) -> bool:
    row = tx.first(
        "SELECT 1 FROM documents WHERE owner = :owner AND source = :source AND knowledge_base_id = :id LIMIT 1",
        {"owner": owner, "source": source, "id": knowledge_base_id},
    )
    return row is not None


def name_lost_bytes(tx: Writing, sha256: str, size: int) -> None:
    """Name bytes that nobody has any more, so that a revision may name them."""
    tx.run(
        "INSERT INTO blobs (sha256, size, created_at) VALUES (:sha256, :size, :now) ON CONFLICT DO NOTHING",
        {"sha256": sha256, "size": size, "now": tx.now},
    )


def add_documents(tx: Writing, documents: Iterable[NewDocument]) -> None:
    """Store hidden documents."""
    now = tx.now
    tx.run_many(
        "INSERT INTO documents (id, knowledge_base_id, owner, source, name, enabled, blocked_reason, "
        "serving_revision_id, created_at, updated_at, deleted_at, parent_id) VALUES (:id, :knowledge_base_id, :owner, "
        ":source, :name, :enabled, :blocked_reason, NULL, :created_at, :updated_at, :now, :parent_id)",
        (
            {
                "id": one.id,
                "knowledge_base_id": one.knowledge_base_id,
                "owner": one.owner,
                "source": one.source,
                "name": one.name,
                "enabled": int(one.enabled),
                "blocked_reason": one.blocked_reason,
                "created_at": one.created_at,
                "updated_at": one.updated_at,
                "parent_id": one.parent_id,
                "now": now,
            }
            for one in documents
        ),
    )


def add_revisions(tx: Writing, revisions: Iterable[NewRevision]) -> None:
    tx.run_many(
        "INSERT INTO revisions (id, document_id, owner, number, blob_sha256, size, state, stage, media_type, encoding, "
        "title, language, metadata, notices, chunking, given, staged_by, problem, chunk_count, text_length, "
        "created_at, published_at, quality, is_doubtful) VALUES (:id, :document_id, :owner, :number, :sha256, :size, "
        ":state, :state, :media_type, :encoding, :title, :language, :metadata, :notices, :chunking, :given, "
        ":staged_by, :problem, :chunk_count, :text_length, :created_at, :published_at, :quality, :is_doubtful)",
        (
            {
                "id": one.id,
                "document_id": one.document_id,
                "owner": one.owner,
                "number": one.number,
                "sha256": one.sha256,
                "size": one.size,
                "state": one.state,
                "media_type": one.facts.media_type,
                "encoding": one.facts.encoding,
                "title": one.facts.title,
                "language": one.facts.language,
                "metadata": to_json(one.facts.metadata),
                "notices": to_json(one.notices),
                "chunking": to_json(one.chunking),
                "given": to_json(one.given),
                "staged_by": one.staged_by,
                "problem": to_json(one.problem) if one.problem is not None else None,
                "chunk_count": one.chunk_count,
                "text_length": one.text_length,
                "created_at": one.created_at,
                "published_at": one.published_at,
                "quality": to_json(one.facts.quality),
                "is_doubtful": int(one.is_doubtful),
            }
            for one in revisions
        ),
    )


def disable_passages(tx: Writing, document_id: str, hashes: Sequence[bytes]) -> None:
    now = tx.now
    tx.run_many(
        "INSERT INTO disabled_passages (document_id, text_hash, created_at) VALUES (:document, :hash, :now) "
        "ON CONFLICT DO NOTHING",
        ({"document": document_id, "hash": one, "now": now} for one in hashes),
    )


def show(tx: Writing, knowledge_base_id: str, served: Iterable[tuple[str, str | None]]) -> None:
    """Make an imported knowledge base visible, with its documents, as (id, id of the revision that is served)."""
    tx.run(
        "UPDATE knowledge_bases SET deleted_at = NULL, created_at = :now, updated_at = :now WHERE id = :id",
        {"id": knowledge_base_id, "now": tx.now},
    )
    tx.run_many(
        "UPDATE documents SET deleted_at = NULL, serving_revision_id = :revision WHERE id = :id",
        ({"id": document, "revision": revision} for document, revision in served),
    )
    # One change stands for all: nobody has seen anything of it before.
    knowledge_bases.record_change(tx, knowledge_base_id, "", "imported")


def staged_revisions(tx: Reading, owner: str, knowledge_base_id: str, after: str) -> list[tuple[str, str]]:
    """Revisions of hidden documents, a page of documents at a time, as (document, revision)."""
    rows = tx.all(
        "WITH page AS (SELECT id FROM documents WHERE owner = :owner AND knowledge_base_id = :base "
        "AND deleted_at IS NOT NULL AND id > :after ORDER BY id LIMIT :limit) SELECT d.id, r.id FROM page AS d "
        "CROSS JOIN revisions AS r WHERE r.document_id = d.id ORDER BY d.id, r.number",
        {"owner": owner, "base": knowledge_base_id, "after": after, "limit": _ROWS_AT_ONCE},
    )
    return [(str(document), str(revision)) for document, revision in rows]
