"""What the policy of a knowledge base is decided by: how many documents it has, of which types and sizes, and which

bytes it has already.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.store import knowledge_bases
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import from_json
from wenyuan.types import Document, Given

_STANDING = "d.id, d.knowledge_base_id, d.source, d.name, r.media_type, r.size, d.blocked_reason, r.given"
_NEWEST = "r.document_id = d.id AND r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id)"


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a document's newest file, and why the document may not be found now.

    A type that was given goes before what was read; it is empty while nothing is known.
    """

    document_id: str
    knowledge_base_id: str
    source: str
    name: str
    media_type: str
    size: int
    blocked_reason: str


def count_documents(tx: Reading, knowledge_base_id: str) -> int:
    row = tx.first(
        "SELECT count(*) FROM documents WHERE knowledge_base_id = :id AND deleted_at IS NULL",
        {"id": knowledge_base_id},
    )
    return int(row[0]) if row is not None else 0


def standings(tx: Reading, knowledge_base_id: str, after: str, limit: int) -> list[Standing]:
    """Live documents by source, the page after the source `after`."""
    rows = tx.all(
        f"SELECT {_STANDING} FROM documents AS d CROSS JOIN revisions AS r WHERE d.knowledge_base_id = :id "
        f"AND d.deleted_at IS NULL AND d.source > :after AND {_NEWEST} ORDER BY d.source LIMIT :limit",
        {"id": knowledge_base_id, "after": after, "limit": limit},
    )
    return [_standing(row) for row in rows]


def standing(tx: Reading, document_id: str) -> Standing | None:
    """How one live document stands."""
    row = tx.first(
        f"SELECT {_STANDING} FROM documents AS d CROSS JOIN revisions AS r WHERE d.id = :id AND d.deleted_at IS NULL "
        f"AND {_NEWEST}",
        {"id": document_id},
    )
    return _standing(row) if row is not None else None


def set_blocked(tx: Writing, knowledge_base_id: str, reasons: Sequence[tuple[str, str]]) -> None:
    """Say why documents may not be found, each as (id, reason), or with an empty reason that they may again."""
    tx.run_many(
        "UPDATE documents SET blocked_reason = :reason, updated_at = :now WHERE id = :id",
        [{"id": document_id, "reason": reason, "now": tx.now} for document_id, reason in reasons],
    )
    for document_id, reason in reasons:
        knowledge_bases.record_change(tx, knowledge_base_id, document_id, "blocked" if reason else "allowed")


def twin(tx: Reading, knowledge_base_id: str, sha256: str) -> tuple[str, str] | None:
    """The id and source of the oldest live document whose newest file has these bytes, and lies in no other."""
    row = tx.first(
        "SELECT d.id, d.source FROM revisions AS r CROSS JOIN documents AS d WHERE r.blob_sha256 = :sha256 "
        "AND d.id = r.document_id AND d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL "
        "AND d.parent_id = '' AND r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id) "
        "ORDER BY d.id LIMIT 1",
        {"knowledge_base_id": knowledge_base_id, "sha256": sha256},
    )
    return (str(row[0]), str(row[1])) if row is not None else None


def leave(tx: Writing, document: Document) -> None:
    """Remember where a document is, which is about to take another place."""
    tx.run(
        "INSERT INTO former_sources (knowledge_base_id, source, document_id) VALUES (:knowledge_base_id, :source, :id) "
        "ON CONFLICT (knowledge_base_id, source) DO UPDATE SET document_id = excluded.document_id",
        {"knowledge_base_id": document.knowledge_base_id, "source": document.source, "id": document.id},
    )


def has_left(tx: Reading, knowledge_base_id: str, source: str, document_id: str) -> bool:
    """Whether this is where the document was before it took the place it has."""
    row = tx.first(
        "SELECT 1 FROM former_sources WHERE knowledge_base_id = :knowledge_base_id AND source = :source "
        "AND document_id = :id",
        {"knowledge_base_id": knowledge_base_id, "source": source, "id": document_id},
    )
    return row is not None


def forget_former_sources(tx: Writing, document_id: str) -> None:
    tx.run("DELETE FROM former_sources WHERE document_id = :id", {"id": document_id})


def held_back(tx: Reading, document_ids: Sequence[str]) -> list[tuple[str, str, int]]:
    """Of the given documents, the newest revisions that nobody has begun to read, as (id, owner, size)."""
    rows = tx.all(
        "SELECT r.id, r.owner, r.size FROM json_each(:ids) AS i CROSS JOIN documents AS d CROSS JOIN revisions AS r "
        f"WHERE d.id = i.value AND {_NEWEST} AND r.state = 'pending'",
        {"ids": json.dumps(list(document_ids))},
    )
    return [(str(revision), str(owner), int(size)) for revision, owner, size in rows]


def _standing(row: Row) -> Standing:
    return Standing(
        document_id=row[0],
        knowledge_base_id=row[1],
        source=row[2],
        name=row[3],
        media_type=from_json(Given, row[7]).media_type or row[4],
        size=row[5],
        blocked_reason=row[6],
    )
