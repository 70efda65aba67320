"""Documents on their way to another knowledge base: which revision takes them there when it is published."""

from __future__ import annotations

from wenyuan.errors import SourceTaken
from wenyuan.store import knowledge_bases
from wenyuan.store.database import Reading, Writing


def begin(tx: Writing, revision_id: str, document_id: str, knowledge_base_id: str) -> None:
    """Let this revision take its document to another knowledge base, and no other revision any more."""
    abandon(tx, document_id)
    tx.run(
        "INSERT INTO moves (revision_id, document_id, knowledge_base_id, created_at) "
        "VALUES (:revision_id, :document_id, :knowledge_base_id, :now)",
        {
            "revision_id": revision_id,
            "document_id": document_id,
            "knowledge_base_id": knowledge_base_id,
            "now": tx.now,
        },
    )


def abandon(tx: Writing, document_id: str) -> None:
    """Let a document stay where it is."""
    tx.run("DELETE FROM moves WHERE document_id = :id", {"id": document_id})


def destination(tx: Reading, document_id: str) -> str | None:
    """The id of the knowledge base a document is moving to, None where it is not, or where that is gone."""
    row = tx.first(
        "SELECT m.knowledge_base_id FROM moves AS m JOIN knowledge_bases AS b ON b.id = m.knowledge_base_id "
        "WHERE m.document_id = :id AND b.deleted_at IS NULL AND b.state = 'active'",
        {"id": document_id},
    )
    return str(row[0]) if row is not None else None


def destination_of_revision(tx: Reading, revision_id: str) -> str | None:
    """The id of the knowledge base that a revision takes its document to, None for any other revision."""
    row = tx.first("SELECT knowledge_base_id FROM moves WHERE revision_id = :id", {"id": revision_id})
    return str(row[0]) if row is not None else None


def refuse_taken(tx: Reading, knowledge_base_id: str, document_id: str, source: str) -> None:
    """Raise `SourceTaken` where another live document of a knowledge base has this one's source."""
    row = tx.first(
        "SELECT b.name FROM documents AS d JOIN knowledge_bases AS b ON b.id = d.knowledge_base_id "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.source = :source AND d.deleted_at IS NULL "
        "AND d.id <> :id",
        {"knowledge_base_id": knowledge_base_id, "source": source, "id": document_id},
    )
    if row is not None:
        raise SourceTaken(name=row[0], source=source)


def arrive(tx: Writing, document_id: str, from_id: str, to_id: str) -> bool:
    """Put a live document into another knowledge base; False where it is gone or elsewhere by now.

    To be called in the transaction that publishes what it is to serve there.
    """
    moved = tx.run(
        "UPDATE documents SET knowledge_base_id = :to_id, updated_at = :now WHERE id = :id "
        "AND knowledge_base_id = :from_id AND deleted_at IS NULL",
        {"id": document_id, "from_id": from_id, "to_id": to_id, "now": tx.now},
    )
    if moved:
        knowledge_bases.record_change(tx, from_id, document_id, "moved")
        tx.run("DELETE FROM former_sources WHERE document_id = :id", {"id": document_id})
        abandon(tx, document_id)
    return bool(moved)


def arrive_with(tx: Writing, revision_id: str) -> None:
    """Put the document of a revision that is about to be served where that takes it; nothing for any other revision.

    Nothing either where a newer one is served. Raises `SourceTaken`.
    """
    row = tx.first(
        "SELECT d.id, d.knowledge_base_id, d.source, m.knowledge_base_id FROM moves AS m "
        "JOIN documents AS d ON d.id = m.document_id JOIN revisions AS r ON r.id = m.revision_id "
        "LEFT JOIN revisions AS s ON s.id = d.serving_revision_id "
        "WHERE m.revision_id = :id AND d.deleted_at IS NULL AND (s.number IS NULL OR s.number < r.number)",
        {"id": revision_id},
    )
    if row is not None:
        document_id, home, source, target = row
        refuse_taken(tx, target, document_id, source)
        arrive(tx, document_id, home, target)


def supersede_all(tx: Writing, document_id: str) -> list[str]:
    """Make every revision of a document that serves none one that was replaced, and return them, to be purged."""
    tx.run(
        "UPDATE revisions SET state = 'cancelled' WHERE document_id = :id AND state IN ('pending', 'processing')",
        {"id": document_id},
    )
    rows = tx.all(
        "UPDATE revisions SET superseded_at = :now WHERE document_id = :id AND superseded_at IS NULL RETURNING id",
        {"id": document_id, "now": tx.now},
    )
    return [str(row[0]) for row in rows]


def let_go(tx: Writing, revision_id: str) -> None:
    """Make a revision that is not served one that was replaced long ago, of which a purge leaves nothing."""
    tx.run("UPDATE revisions SET superseded_at = 1 WHERE id = :id", {"id": revision_id})
