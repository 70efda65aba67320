"""What is in a knowledge base, in numbers, and when something last happened there."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.store.database import Reading


@dataclass(frozen=True, slots=True)
class Served:
    """What is served of the documents of one media type: how many, their passages, characters and bytes."""

    media_type: str
    documents: int
    passages: int
    characters: int
    bytes: int


def served(tx: Reading, knowledge_base_id: str) -> list[Served]:
    """By media type, what has most documents first."""
    rows = tx.all(
        "SELECT r.media_type, count(*), coalesce(sum(r.chunk_count), 0), coalesce(sum(r.text_length), 0), "
        "coalesce(sum(r.size), 0) FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "WHERE d.knowledge_base_id = :id AND d.deleted_at IS NULL GROUP BY r.media_type "
        "ORDER BY count(*) DESC, r.media_type",
        {"id": knowledge_base_id},
    )
    return [Served(str(row[0]), int(row[1]), int(row[2]), int(row[3]), int(row[4])) for row in rows]


def last_added(tx: Reading, knowledge_base_id: str) -> int | None:
    """When a document, or a new version of one, last came in; None where there is none."""
    row = tx.first(
        "SELECT max(r.created_at) FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
        "WHERE d.knowledge_base_id = :id AND d.deleted_at IS NULL",
        {"id": knowledge_base_id},
    )
    return int(row[0]) if row is not None and row[0] is not None else None


def last_activity(tx: Reading, knowledge_base_id: str) -> int:
    """When the knowledge base or a document in it last changed, in milliseconds since 1970."""
    row = tx.first(
        "SELECT b.updated_at, coalesce((SELECT max(d.updated_at) FROM documents AS d "
        "WHERE d.knowledge_base_id = b.id), 0) FROM knowledge_bases AS b WHERE b.id = :id",
        {"id": knowledge_base_id},
    )
    return max(int(row[0]), int(row[1])) if row is not None else 0
